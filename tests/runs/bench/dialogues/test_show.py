"""One dialogue in full: every word of it, every reply, and what each missed; no text is live."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.judged import bench_of
from tests.support.played import invoke
from tests.support.traps import NAME
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.dialogues.show import show_dialogue
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import DialogueItem


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
    lines = show_dialogue(bench, item.qid[:12]).as_lines()
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
        show_dialogue(bench, "")
    with pytest.raises(BadInput, match=f'has no dialogue "zz"; there are {bench.items[0].qid}'):
        show_dialogue(bench, "zz")
    said = invoke("bench", "show", bench_of(tmp_path / "other", 1).folder, "a")
    assert "is a set of kind preference; only dialogues are shown" in str(said.exception)
