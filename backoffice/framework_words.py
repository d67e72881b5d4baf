"""Sentences that REST framework shows and its own Chinese catalogue lacks: marked here, translated with ours.

Django looks a sentence up in every catalogue, so nothing has to read this list.
"""

from typing import Final

from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext_lazy

SENTENCES: Final = (
    # its part of the records
    _("Auth Token"),
    _("Token"),
    _("Tokens"),
    # its answers
    _("A server error occurred."),
    _("Authentication credentials were not provided."),
    _("Could not satisfy the request Accept header."),
    _("Datetime has wrong format. Use one of these formats instead: {format}."),
    _("Datetime value out of range."),
    _("Ensure that there are no more than {max_decimal_places} decimal places."),
    _("Ensure that there are no more than {max_digits} digits in total."),
    _("Ensure that there are no more than {max_whole_digits} digits before the decimal point."),
    _("Ensure this field has at least {min_length} elements."),
    _("Ensure this field has no more than {max_length} elements."),
    _('Expected a dictionary of items but got type "{input_type}".'),
    _('Expected a list of items but got type "{input_type}".'),
    _("Incorrect authentication credentials."),
    _('Invalid datetime for the timezone "{timezone}".'),
    _("Invalid data. Expected a dictionary, but got {datatype}."),
    _("Invalid input."),
    _("Invalid token."),
    _("Invalid token header. No credentials provided."),
    _("Invalid token header. Token string should not contain invalid characters."),
    _("Invalid token header. Token string should not contain spaces."),
    _("Malformed request."),
    _('Method "{method}" not allowed.'),
    _("Must be a valid boolean."),
    _("No data provided"),
    _("Not a valid string."),
    _("Request was throttled."),
    _("This dictionary may not be empty."),
    _("This field may not be blank."),
    _("This field may not be null."),
    _("This field is required."),
    _("This list may not be empty."),
    _("This value does not match the required pattern."),
    _('Unsupported media type "{media_type}" in request.'),
)
# Django has it in Chinese as 14 分, which reads as a score or a share.
MINUTES: Final = ngettext_lazy("%(num)d minute", "%(num)d minutes", "num")
