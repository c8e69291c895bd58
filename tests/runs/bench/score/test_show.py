"""A set as a list, and an item in full: every word, every reply, what it came to; none is live."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.judged import bench_of
from tests.support.played import invoke
from tests.support.task_sets import choice, free, write_set
from tests.support.traps import NAME
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    DialogueResult,
    Result,
    RoundLine,
    Ruling,
    TaskLine,
    TaskResult,
    write_result,
)
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.score.show import list_items, show_item


@pytest.fixture
def bench(tmp_path: Path) -> OpenBench[DialogueItem]:
    items = [dialogue(f"film{k}", k, spans=[(1.0, 2.5)]) for k in range(2)]
    return write_dialogues(tmp_path / "set", items)


def hand_in(bench: OpenBench[DialogueItem], model: str, judge: str = "judge") -> None:
    first, other = bench.items
    wanted = [one.expected for one in first.rounds[1].checklist]
    wrong = ["no" if one == "yes" else "yes" for one in wanted[:1]] + wanted[1:]
    lines = [
        RoundLine(qid=first.qid, round=2, end="answered", response="Blue.\n\x1b[2JAll of it.",
                  answers=wrong),
        RoundLine(qid=first.qid, round=3, end="forfeit", reason="timed out"),
        RoundLine(qid=other.qid, round=2, end="answered", response="Elsewhere.", answers=wanted),
    ]  # fmt: skip
    made = {"bench": bench.bench, "model": model, "judge": judge, "how": "run", "lines": lines}
    write_result(bench, DialogueResult.model_validate(made))


def test_a_dialogue_is_shown_with_every_reply_and_what_it_missed(
    bench: OpenBench[DialogueItem],
) -> None:
    hand_in(bench, "able")
    item = bench.items[0]
    lines = show_item(bench, item.qid[:12]).as_lines()
    assert lines[0] == f"{item.qid}: object reference, of film0, 1.0-2.5 s"
    told = "\n".join(lines)
    for one in item.rounds:
        assert f"  user: {one.user}\n  reference: {one.reference}" in told
        for place, check in enumerate(one.checklist, 1):
            assert f"  {place}. {check.text} [{check.expected}]" in lines
    assert next(line for line in lines if line.startswith("round ")) == "round 1, not scored"
    many = len(item.rounds[1].checklist)
    at = lines.index(f"  able, {many - 1} of {many}, missed 1: Blue.")
    assert lines[at + 1] == "    \\x1b[2JAll of it."
    assert lines[-1] == "  able, forfeit (timed out): -"
    assert "Elsewhere." not in told


def test_several_judges_are_named_and_no_text_is_live(bench: OpenBench[DialogueItem]) -> None:
    hand_in(bench, NAME, "strict")
    hand_in(bench, NAME, "kind")
    done = invoke("bench", "show", bench.folder, bench.items[0].qid)
    assert " by strict, " in done.stdout
    assert " by kind, " in done.stdout
    assert "\x1b" not in done.stdout
    found = json.loads(invoke("bench", "show", bench.folder, bench.items[0].qid, "--json").stdout)
    assert list(found) == ["schema", "bench", "dialogue", "results"]
    assert [list(one) for one in found["results"]] == [["model", "judge", "history", "lines"]] * 2
    assert [[line["round"] for line in one["lines"]] for one in found["results"]] == [[2, 3]] * 2


def test_what_is_not_one_dialogue_is_said_in_a_line(
    bench: OpenBench[DialogueItem], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=f"matches 2 dialogues, such as {bench.items[0].qid}, "):
        show_item(bench, "")
    with pytest.raises(BadInput, match=f'has no dialogue "zz"; there are {bench.items[0].qid}'):
        show_item(bench, "zz")
    said = invoke("bench", "show", bench_of(tmp_path / "other", 1).folder, "zz")
    assert 'has no question "zz"; there are ' in str(said.exception)


def test_a_set_of_any_kind_is_listed_an_item_a_line(
    bench: OpenBench[DialogueItem], tmp_path: Path
) -> None:
    lines = invoke("bench", "show", bench.folder).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [item.qid for item in bench.items]
    assert all(len(line) <= 80 for line in lines)
    tasks = write_set(tmp_path / "tasks", [choice("film1.mp4", k) for k in range(3)])
    lines = list_items(tasks).as_lines(columns=100)
    for line, item in zip(lines, tasks.items, strict=True):
        assert line == f"{item.qid}  needle  film1.mp4  {item.question}"
    preferences = bench_of(tmp_path / "other", 2)
    found = json.loads(invoke("bench", "show", preferences.folder, "--json").stdout)
    assert list(found) == ["schema", "bench", "items"]
    for listed, item in zip(found["items"], preferences.items, strict=True):
        assert (listed["qid"], listed["question"]) == (item.qid, item.question)


def test_a_task_is_shown_with_its_key_and_what_each_reply_came_to(tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "tasks", [choice("film1.mp4"), free("film1.mp4")])
    first, other = tasks.items
    about = {"bench": tasks.bench, "model": "able", "judge": "strict", "how": "run"}
    lines = [
        TaskLine(qid=first.qid, end="answered", response="(C)\x1b[2J"),
        TaskLine(qid=other.qid, end="answered", response="A dog.", points=[2, 5],
                 scores={"accuracy": 4, "relevance": 5}),
    ]  # fmt: skip
    assert "no model has a result" in show_item(tasks, first.qid).as_lines()[-1]
    write_result(tasks, TaskResult.model_validate({**about, "lines": lines}))
    told = show_item(tasks, first.qid[:10]).as_lines()
    assert told[2:6] == ["  (A) a cat", "  (B) a dog [right]", "  (C) a boat", "  (D) a lamp"]
    assert told[-2:] == ["able: wrong, chose (C)", "  (C)\\x1b[2J"]
    told = show_item(tasks, other.qid).as_lines()
    assert f"  answer: {other.answer}" in told
    assert told[-2].startswith("able, judged by strict: scored, accuracy 4, relevance 5, points 2")


def test_a_question_is_shown_with_both_answers_and_every_verdict(tmp_path: Path) -> None:
    preferences = bench_of(tmp_path / "set", 2)
    item = preferences.items[0]
    rulings = [
        Ruling(qid=item.qid, against="selected", verdict="loss", seats="ab", response="So.\nYes."),
        Ruling(qid=item.qid, against="rejected", verdict="void", reason="no verdict"),
    ]
    write_result(
        preferences,
        Result(bench=preferences.bench, model=NAME, judge="strict", how="run", rulings=rulings),
    )
    told = invoke("bench", "show", preferences.folder, item.qid).stdout
    words = " ".join(told.split())
    for text in (item.question, item.selected_answer, item.rejected_answer):
        assert " ".join(text.split()) in words
    assert "  against selected, read second: loss\n  against rejected: void (no verdict)\n" in told
    assert told.endswith("  So.\n    Yes.\n")
    assert "\x1b" not in told
