"""Answers of the API about alerts and the comparison of books, for the OpenAPI page, and the body that settles one."""

from rest_framework import serializers

from orders.strict import StrictBody
from refunds.bodies import NoteText
from refunds.states import AlertKind


class AlertNoteBody(StrictBody):
    """What was done about it; needed."""

    note = NoteText()


class AlertAnswer(serializers.Serializer):
    """Something that staff must see to. `subject` makes it one; `facts` say what it is about."""

    alert_id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=AlertKind.choices)
    kind_text = serializers.CharField()
    subject = serializers.CharField()
    provider = serializers.CharField(allow_blank=True)
    order_number = serializers.CharField(allow_null=True)
    refund_id = serializers.CharField(allow_null=True)
    facts = serializers.DictField()
    raised_at = serializers.DateTimeField()
    settled_at = serializers.DateTimeField(allow_null=True)
    settled_by = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_blank=True)


class BooksAnswer(serializers.Serializer):
    """One comparison of our books with a provider's list, from `since` until before `until`."""

    provider = serializers.CharField()
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    made_at = serializers.DateTimeField()
    checked = serializers.IntegerField()
    differences = serializers.ListField(child=serializers.DictField())
