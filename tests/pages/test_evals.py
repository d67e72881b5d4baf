"""What the pages of evaluations show, and what they take no notice of."""

import json
from typing import Any

import pytest

from agent.models import EvalCase, EvalRun
from backoffice.evals.verdict_words import sentence
from tests.pages.visiting import signed_in

pytestmark = pytest.mark.django_db
TALK = [
    {"who": "customer", "text": "耳機殼取消"},
    {"who": "tool", "name": "create_refund", "input": {"amount": 344}, "result": {"code": "no"}, "is_error": True},
]


def a_run(*outcomes: tuple[str, str, str], **more: Any) -> EvalRun:
    """`outcomes` are (task, toolset, outcome)."""
    facts = {"model": "stand-in", "is_stand_in": True, "seed": 1, "repetitions": 1, "toolsets": ["task", "raw"]}
    facts |= {"tasks_digest": "tasks", "wording": "words", "plays_planned": len(outcomes), "state": "done"}
    run = EvalRun.objects.create(**{**facts, **more})
    for task, toolset, outcome in outcomes:
        faults = [] if outcome == "right" else [{"kind": outcome, "text": "344 refunded, which was not to be"}]
        EvalCase.objects.create(
            run=run,
            task=task,
            toolset=toolset,
            repetition=1,
            language="zh-hant",
            tags=["unshipped"],
            held_out=task == "kept",
            model="claude-stand-in-sharer",
            outcome=outcome,
            wrong_money=outcome == "wrong_money",
            detail={"faults": faults, "told": [], "seen": {"refunds": []}, "talk": TALK},
        )
    return run


def table(response: Any, title: str) -> list[Any]:
    return [list(row) for each in response.context["tables"] if each.title == title for row in each.rows]


def test_a_run_shows_each_toolset_and_what_was_held_out_apart() -> None:
    run = a_run(("one", "task", "right"), ("one", "raw", "wrong_money"), ("kept", "raw", "stuck"))
    page = signed_in("supervisor", language="en").get(f"/staff/evals/{run.pk}/")
    rows = {row[0]: row[1:4] for row in table(page, "Open tasks")}
    assert rows == {"our tools": ["1", "1", "100%"], "raw calls": ["1", "0", "0%"]}
    assert table(page, "Held-out tasks")[1][1:4] == ["1", "0", "0%"]
    assert "A script was measured here, and no model." in page.content.decode()
    assert [each["case"].task for each in page.context["cases"]] == ["one"]
    apart = signed_in("supervisor", language="en").get(f"/staff/evals/{run.pk}/?held_out=1&outcome=stuck")
    assert [each["case"].task for each in apart.context["cases"]] == ["kept"]
    assert "Whoever changes wording after reading these" in apart.content.decode()
    assert "held_out=1#plays" in page.content.decode()
    assert ">kept" not in page.content.decode(), "a held-out task is not named before it is asked for"
    assert ">kept" in apart.content.decode()


def test_the_list_of_runs_tells_the_shares_of_open_tasks() -> None:
    a_run(("one", "task", "right"), ("kept", "task", "stuck"))
    (row,) = signed_in("supervisor", language="en").get("/staff/evals/").context["rows"]
    assert row["shares"] == [("our tools", "100%"), ("raw calls", "–")]


def test_every_task_is_there_with_every_toolset_for_who_unfolds_it() -> None:
    run = a_run(("one", "task", "right"), ("one", "raw", "wrong_money"))
    page = signed_in("supervisor", language="en").get(f"/staff/evals/{run.pk}/")
    rows = {(row[0], row[1]): row[2:4] for row in table(page, "Open tasks, one by one")}
    assert rows == {("one", "our tools"): ["1/1", "–"], ("one", "raw calls"): ["0/1", "wrong money moved 1"]}
    assert "<summary>Show 2 rows</summary>" in page.content.decode()


def test_talks_are_found_by_their_outcome_and_shown_step_by_step() -> None:
    run = a_run(("one", "task", "right"), ("one", "raw", "wrong_money"))
    browser = signed_in("auditor", language="en")
    listed = browser.get(f"/staff/evals/{run.pk}/?outcome=wrong_money&toolset=raw").context["cases"]
    (case,) = [each["case"] for each in listed]
    page = browser.get(f"/staff/evals/{run.pk}/plays/{case.pk}/").content.decode()
    for text in ("耳機殼取消", "create_refund", "344 refunded, which was not to be"):
        assert text in page
    assert browser.get(f"/staff/evals/{run.pk + 1}/plays/{case.pk}/").status_code == 404


def test_what_happened_beside_the_talk_is_told_in_the_readers_language() -> None:
    case = a_run(("one", "task", "right")).cases.get()
    packs = {"who": "world", "text": "The warehouse packs.", "name": "packs", "input": {"goods": "li_2 × 1"}}
    case.detail["talk"] = [packs, {"who": "world", "text": "time", "name": "time"}, {"who": "world", "text": "kept so"}]
    case.save()
    page = signed_in("auditor").get(f"/staff/evals/{case.run_id}/plays/{case.pk}/").content.decode()
    for text in ("倉庫開始包裝 li_2 × 1。", "時間過去了", "kept so"):
        assert text in page


def test_a_verdict_is_read_in_the_readers_language_and_an_old_one_as_it_was_kept() -> None:
    run = a_run(("one", "raw", "wrong_money"))
    case = run.cases.get()
    kept = [{"kind": "wrong_money", **sentence("refunded_too_much", amount="344").as_dict()}]
    case.detail |= {"faults": kept, "told": ["says more than is so", sentence("claims", words="<b>已退</b>").as_dict()]}
    case.save()
    path = f"/staff/evals/{run.pk}/plays/{case.pk}/"
    chinese = signed_in("auditor").get(path).content.decode()
    assert "<li>退了 344，這筆不該退</li>" in chinese
    assert "<li>說了「&lt;b&gt;已退&lt;/b&gt;」，資料裡卻沒有這回事</li>" in chinese
    assert '<li lang="en">says more than is so</li>' in chinese
    assert "was refunded" not in chinese
    english = signed_in("auditor", language="en").get(path).content.decode()
    assert "<li>344 was refunded, which was not to be</li>" in english


def test_two_runs_are_compared_task_by_task() -> None:
    before = a_run(("one", "task", "stuck"), ("two", "task", "right"))
    now = a_run(("one", "task", "right"), ("two", "task", "right"), tasks_digest="others")
    browser = signed_in("supervisor", language="en")
    page = browser.get(f"/staff/evals/{now.pk}/compare/?with={before.pk}")
    assert [(each.task, each.before, each.now, each.is_better) for each in page.context["differences"]] == [
        ("one", "0/1", "1/1", True)
    ]
    (shown,) = page.context["tables"]
    assert list(shown.rows[0])[:5] == ["our tools", "2", "50%", "100%", "+50"]
    assert list(shown.rows[0])[6:9] == ["1", "0", "1"]
    assert "The tasks are not the same." in page.content.decode()
    for nothing in ("", "?with=x", "?with=99999", "?with=²"):
        assert browser.get(f"/staff/evals/{now.pk}/compare/{nothing}").status_code == 404


def test_a_run_is_taken_away_as_json_and_as_markdown() -> None:
    run = a_run(("one", "task", "right"), ("one", "raw", "wrong_money"))
    browser = signed_in("supervisor", language="en")
    data = json.loads(browser.get(f"/staff/evals/{run.pk}.json").content)
    assert data["summary"]["open"]["toolsets"][1]["wrong_money"] == 1
    assert data["plays"][0]["detail"]["talk"] == TALK
    told = browser.get(f"/staff/evals/{run.pk}.md").content.decode()
    assert "**A script was measured here, and no model.**" in told
    assert "| raw " in told
    assert signed_in("staff").get(f"/staff/evals/{run.pk}.json").status_code == 403
