"""Tasks are written and checked in one form, and whoever checks knows nothing of what was meant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.asking import MODEL, Pages, Script, frames_of, load_bytes, run
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.prompting.contracts import OptionCheckerReply, PointCheckerReply
from videoautoarena.agents.prompting.fences import attacked, attacks, open_fences
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.write_tasks import TaskProposal, WatchedKind, Watcher, WrittenTasks
from videoautoarena.memory.records.errors import CallFailed

PLOT = {
    "start_s": 3, "end_s": 4.5, "question": "What is\n carried away?", "answer": "A  red chair",
    "distractors": ["A table", "A lamp", "A\tbed"],
}  # fmt: skip
SUMMARY = {
    "question": "Sum it up.",
    "reference": "A man\nwalks.",
    "points": ["He walks", "He  sits"],
}


def watcher(*lines: Any) -> tuple[Watcher, Script]:
    script = Script([line if isinstance(line, Exception) else json.dumps(line) for line in lines])
    asker = Asker(Pages(), load_bytes, make_client=script)
    return Watcher(Prompter(asker, PromptSet.load(writers=True)), MODEL, frames_of(4)), script


def written(kind: WatchedKind, *lines: Any, count: int = 3) -> tuple[WrittenTasks, Script]:
    one, script = watcher(*lines)
    return run(one.write(kind, count=count, asked=["Who sings?"], slot="tasks-x", ask=0)), script


def blocks_of(script: Script, call: int = 0) -> dict[str, str]:
    return open_fences(script.seen[call].text)[1]


def test_tasks_are_read_with_their_blanks_folded_and_no_more_than_were_wanted() -> None:
    found, script = written("plot", {"items": [PLOT, {**PLOT, "question": "Two"}, PLOT]}, count=2)
    wrong = ("A table", "A lamp", "A bed")
    first = TaskProposal("What is carried away?", "A red chair", wrong, moment=(3.0, 4.5))
    assert found.proposals == (first, first._replace(question="Two"))
    assert found.times == (0.0, 0.5, 1.0, 1.5)
    assert blocks_of(script) == {"count": "2", "asked": '["Who sings?"]'}
    summed, script = written("summary", {"items": [SUMMARY]})
    assert summed.proposals == (
        TaskProposal("Sum it up.", "A man walks.", (), ("He walks", "He sits")),
    )
    assert blocks_of(script) == {"asked": '["Who sings?"]'}


@pytest.mark.parametrize(
    "reply",
    [
        {"items": [{**PLOT, "distractors": ["A table", "A lamp"]}]},
        {"items": [{**PLOT, "start_s": -1}]},
        {"items": [{key: PLOT[key] for key in PLOT if key != "end_s"}]},
        {"items": [{**PLOT, "answer": " "}]},
        {"items": [{**PLOT, "key": "A"}]},
        {"items": PLOT},
        [PLOT],
        "I would rather not say.",
    ],
)
def test_what_is_not_in_form_is_asked_for_again_once_and_then_is_a_failure(reply: Any) -> None:
    found, script = written("plot", reply, {"items": [PLOT]})
    assert len(found.proposals) == 1
    assert set(blocks_of(script, 1)) == {"count", "asked", "reply", "error"}
    with pytest.raises(CallFailed, match="plot_writer gave no usable reply twice"):
        written("plot", reply, reply)


def test_a_second_ask_sees_neither_what_was_meant_nor_where() -> None:
    one, script = watcher({"analysis": "b", "moments": [], "answer": "b", "names": "No"})
    options = ("A lamp", "A red chair", "A table", "A bed")
    checked = run(one.check_options("What is carried away?", options, slot="tasks-x:1"))
    assert isinstance(checked.reply, OptionCheckerReply)
    assert (checked.reply.answer, checked.has_names, checked.moments) == ("B", False, [])
    lettered = "(A) A lamp\n(B) A red chair\n(C) A table\n(D) A bed"
    assert blocks_of(script) == {"question": "What is carried away?", "options": lettered}
    assert script.seen[0].frames == frames_of(4)


def test_points_are_checked_one_by_one_and_each_has_its_word() -> None:
    shown = [{"analysis": "so", "shown": word} for word in ("yes", "NO")]
    form = {"moments": [], "reference": shown[0], "names": "yes"}
    said = TaskProposal("Sum it up.", "A man walks.", (), ("He walks", "He sits"))
    one, script = watcher({**form, "points": shown[:1]}, {**form, "points": shown})
    checked = run(one.check_points(said, slot="tasks-x:2"))
    assert isinstance(checked.reply, PointCheckerReply)
    assert [point.shown for point in checked.reply.points] == ["yes", "no"]
    assert checked.has_names
    assert len(script.seen) == 2
    blocks = {name: blocks_of(script)[name] for name in ("reference", "points")}
    assert blocks == {"reference": "A man walks.", "points": "1. He walks\n2. He sits"}


@pytest.mark.parametrize("said", ["maybe", "", True, None, 1])
def test_a_point_is_shown_or_it_is_not(said: Any) -> None:
    shown = {"analysis": "so", "shown": said}
    form = {"moments": [], "points": [shown], "reference": shown, "names": "no"}
    one, _ = watcher(form, form)
    with pytest.raises(CallFailed):
        run(one.check_points(TaskProposal("Sum it up.", "A.", (), ("He walks",)), slot="x"))


def test_no_text_of_a_task_leaves_its_fence() -> None:
    plain = {"analysis": "so", "moments": [], "answer": "none", "names": "no"}
    for attack in attacks():
        text = attacked("A chair", attack, question="What is carried?")
        one, script = watcher(plain)
        run(one.check_options(text, (text, "A table", "A lamp", "A bed"), slot="x"))
        outside, blocks = open_fences(script.seen[0].text)
        assert blocks["question"] == text
        assert "chair" not in outside
