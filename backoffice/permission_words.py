"""What permissions are called, in the reader's language. Django keeps their names in the database, in English."""

from collections.abc import Mapping
from typing import Final

from django.contrib.auth.models import Permission
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

# The four that Django makes for every kind of record, by how their codes begin.
USUAL: Final[Mapping[str, object]] = {
    "add": gettext_lazy("may add: %(record)s"),
    "change": gettext_lazy("may change: %(record)s"),
    "delete": gettext_lazy("may delete: %(record)s"),
    "view": gettext_lazy("may look at: %(record)s"),
}
# Those of this product, as they stand beside their models.
OWN: Final = (
    gettext_noop("Can approve or reject a refund"),
    gettext_noop("Can ask for an exception to the rules of refunds"),
    gettext_noop("Can ask what a refund comes to"),
    gettext_noop("Can change where an order is sent"),
    gettext_noop("Can confirm a refund for a customer"),
    gettext_noop("Can issue and revoke tool tokens"),
    gettext_noop("Can make and revoke a customer's link to an order"),
    gettext_noop("Can pack, ship and deliver goods"),
    gettext_noop("Can propose a compensation"),
    gettext_noop("Can publish a refund policy that somebody else has drafted"),
    gettext_noop("Can record refunds that were made elsewhere"),
    gettext_noop("Can search the history of all orders"),
    gettext_noop("Can see the evaluations"),
    gettext_noop("Can see the reports"),
    gettext_noop("Can send a refused refund again"),
    gettext_noop("Can use the staff's copilot"),
    gettext_noop("Can take over a conversation and answer in it"),
    gettext_noop("Can write and retire ready-made answers"),
    gettext_noop("Can write drafts of refund policies"),
)


def permission_name(permission: Permission) -> str:
    """“Refunds | refund | Can send a refused refund again”: the app, the kind of record, what may be done."""
    kind = permission.content_type
    model = kind.model_class()
    record = str(model._meta.verbose_name) if model else kind.model
    app = str(model._meta.app_config.verbose_name) if model else kind.app_label
    return f"{app} | {record} | {_what(permission, record)}"


def _what(permission: Permission, record: str) -> str:
    verb, _underline, model = permission.codename.partition("_")
    if verb in USUAL and model == permission.content_type.model:
        return str(USUAL[verb]) % {"record": record}
    return _(permission.name)
