"""The tasks cover what the desk meets, and a task that cannot be played is refused with its name."""

from pathlib import Path

import pytest

from backoffice.evals.grading import grade
from backoffice.evals.plan import part_of, plan
from backoffice.evals.seen import Seen
from backoffice.evals.statistics import pass_hat, sign_test, wilson
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import ACT, CHINESE, ENGLISH, REFRAIN, BadTask, all_tasks, chosen, original
from backoffice.evals.toolsets import TOOLSETS

SITUATIONS = {
    "unshipped", "packed_in_between", "shipped_late", "delivered", "over_window", "already_refunded", "no_coupon",
    "percent", "bundle", "shipping_due", "second_return", "partial_quantity", "two_payments", "same_name",
    "other_order", "changed_mind", "expired_quote", "more_money", "injected", "wants_person", "nothing_to_refund",
}  # fmt: skip
TASKS = all_tasks()


def test_there_are_enough_in_both_languages_and_a_third_is_held_out() -> None:
    chinese = [task for task in TASKS if task.language == CHINESE]
    twins = [task for task in TASKS if task.language == ENGLISH]
    assert len(chinese) >= 40
    assert len(twins) >= 10
    assert {original(task.id) for task in twins} <= {task.id for task in chinese}
    for some in (chinese, twins):
        assert round(3 * sum(task.held_out for task in some) / len(some)) == 1


def test_a_twin_is_held_out_as_its_original_is_and_english_is_measured_there_too() -> None:
    held_out = {task.id for task in TASKS if task.held_out}
    twins = [task for task in TASKS if task.language == ENGLISH]
    assert len([task for task in twins if task.held_out]) >= 3
    assert all((task.id in held_out) == (original(task.id) in held_out) for task in twins)


def test_every_task_says_whether_it_is_right_to_do_nothing() -> None:
    """By the grader itself: an agent that neither does nor says anything."""
    for task in TASKS:
        assert grade(task, Seen(), Talk()).is_right == (REFRAIN in task.tags) == (ACT not in task.tags), task.id


def test_where_the_window_is_over_a_person_is_to_be_called() -> None:
    over = chosen(TASKS, ["over_window"])
    assert len(over) == 4
    assert all(end.person for task in over for end in task.expect)


def test_every_situation_is_there_and_not_only_among_those_held_out() -> None:
    assert {tag for task in TASKS for tag in task.tags} >= SITUATIONS
    assert {tag for task in TASKS if not task.held_out for tag in task.tags} >= SITUATIONS


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("expect: {refund: []}", "expect: unknown fields"),
        ("never: {pay: true}\n    expect: {}", "never: unknown fields"),
        ("colour: red\n    expect: {}", "unknown fields"),
        ("expect: {refunds: [{goods: {li_1: 1}}]}", "amount"),
    ],
)
def test_a_task_that_cannot_be_read_is_refused_by_name(tmp_path: Path, change: str, fault: str) -> None:
    text = f"tasks:\n  - id: odd\n    tags: []\n    order: {{}}\n    talk: [{{says: 好}}]\n    {change}\n"
    (tmp_path / "odd.yaml").write_text(text)
    with pytest.raises(BadTask, match=f"odd: .*{fault}"):
        all_tasks(tmp_path)


def test_tasks_are_chosen_by_name_and_by_situation() -> None:
    assert [task.id for task in chosen(TASKS, ["wants_a_person"])] == ["wants_a_person"]
    assert {"bundle_is_broken_up", "bundle_is_still_earned"} <= {task.id for task in chosen(TASKS, ["bundle"])}


def test_the_plan_follows_from_the_seed_and_keeps_pairs_together() -> None:
    jobs, again, other = (plan(TASKS, toolsets=TOOLSETS, repetitions=3, seed=seed, model=None) for seed in (1, 1, 2))
    assert jobs == again != other
    assert len({job.number for job in jobs}) == len(jobs) == len(TASKS) * 3 * len(TOOLSETS)
    first = jobs[: len(TOOLSETS)]
    assert len({(job.task.id, job.repetition, job.model) for job in first}) == 1
    assert len({part_of(TASKS[0], repetition, 1) for repetition in range(3)}) == 3


def test_intervals_and_tests_are_those_of_the_books() -> None:
    low, high = wilson(8, 10)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert wilson(0, 0) == (0.0, 1.0)
    assert sign_test(9, 1) == pytest.approx(0.0215, abs=1e-4)
    assert sign_test(0, 0) == sign_test(3, 3) == 1.0
    assert pass_hat([(3, 3), (2, 3)], 2) == pytest.approx((1 + 1 / 3) / 2)
    assert pass_hat([(1, 1)], 2) is None
