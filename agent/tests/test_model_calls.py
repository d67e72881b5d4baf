"""The rows of requests to the model: what one has cost stands on it and on its turn, or on neither."""

from typing import Any

import pytest
from django.db import transaction

from agent import client, endings, model_calls
from agent.drafts import Draft
from agent.models import ModelCall, Turn
from agent.tests.helpers import hear, hold, meanwhile, newest_turn, talk
from agent.turns import holding
from orders.models import Order
from orders.tests import cast
from orders.tests.race import wait_until_blocked


@pytest.fixture
def order(transactional_db: None) -> Order:
    order = cast.order_5531()
    hear(order)
    return order


@pytest.mark.parametrize(("is_stand_in", "name"), [(True, "offline-script"), (False, "claude-opus-5-5")])
def test_a_request_bears_the_name_of_who_is_asked_before_anybody_has_answered(
    order: Order, settings: Any, is_stand_in: bool, name: str
) -> None:
    settings.AGENT_MODEL, settings.AGENT_IS_STAND_IN = "claude-opus-5-5", is_stand_in
    with holding(hold(order)) as (conversation, turn):
        assert model_calls.begin(conversation, turn).model == name


def test_a_worker_that_dies_while_it_keeps_a_failure_leaves_no_cost_without_its_turn(order: Order) -> None:
    with holding(hold(order)) as (conversation, turn):
        call = model_calls.begin(conversation, turn)
    used = client.Usage(model="claude-sonnet-5-5", fresh=1000, written=0, cached=0, output=10)
    failure = client.ModelFailed(endings.BY_NAME["passing_fault"])
    failure.usage = used
    draft = Draft(talk(order), key="t1")
    with meanwhile(lambda: model_calls.broke(call, failure, draft)) as worker:
        with transaction.atomic():
            Turn.objects.select_for_update(no_key=True).get(pk=newest_turn(order).pk)
            worker.begin()
            wait_until_blocked(1)
            # What whoever comes next would find if the worker were killed here.
            assert ModelCall.objects.values_list("ending", "cost_micro").get() == ("", 0)
        worker.result()
    kept = ModelCall.objects.get()
    assert (kept.ending, kept.ended_at is not None) == ("passing_fault", True)
    assert newest_turn(order).cost_micro == kept.cost_micro > 0
