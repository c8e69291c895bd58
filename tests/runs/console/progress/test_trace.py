"""The full words of a run: stories for people, JSON lines for programs."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.events import HOSTILE, begun, call, judged
from tests.support.small_runs import TRIO, battles_of
from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Draw
from videoautoarena.memory.store.journal import Journal
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import simulate
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    CallsDraining,
    PairDrawn,
    RunEnded,
    VideoWatched,
)
from videoautoarena.runs.console.progress.listeners import audience
from videoautoarena.runs.console.progress.trace import Stories, TraceFile
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, object]]]:
    place = tmp_path_factory.mktemp("traced")
    videos = draw_folder(place / "videos", 1, seconds=2)
    flags = RunRequest(models=TRIO, rounds=2, until="battles=99")
    with audience(quiet=True, trace=str(place / "trace")) as listeners:
        run_async(
            simulate(
                flags.model_copy(update={"videos": videos, "out": place / "out"}),
                say=listeners.say,
                hear=listeners.hear,
            )
        )
    return place / "out", [json.loads(line) for line in (place / "trace").read_text().splitlines()]


def test_the_file_holds_every_call_and_every_battle(
    traced: tuple[Path, list[dict[str, object]]],
) -> None:
    out, lines = traced
    with Store.open(out / RUN_FILE, write=False) as store:
        calls = store.journal.calls()
        assert Journal.after(store.journal, 0)[1] == calls
        assert store.journal.after(len(calls) - 1)[1] == calls[-1:]
    ended = [line for line in lines if line["event"] == "finished"]
    assert sorted(str(line["text"]) for line in ended) == sorted(row.reply or "" for row in calls)
    settled = {line["battle"]["id"]: line["battle"] for line in lines if line["event"] == "settled"}  # type: ignore[index]
    dumped = {b.id: b.model_dump(mode="json", by_alias=True) for b in battles_of(out)}
    assert settled == dumped


def test_the_file_tells_what_a_stopping_rule_saw(
    traced: tuple[Path, list[dict[str, object]]],
) -> None:
    seen = [line["reading"] for line in traced[1] if line["event"] == "looked"]
    assert {k: v for k, v in seen[-1].items() if k in ("rule", "wave", "battles", "is_met")} == {  # type: ignore[attr-defined]
        "rule": "battles=99",
        "wave": 1,
        "battles": 6,
        "is_met": False,
    }


def test_the_file_begins_with_the_run_and_ends_with_its_end(
    traced: tuple[Path, list[dict[str, object]]],
) -> None:
    _, lines = traced
    assert {line["schema"] for line in lines} == {1}
    assert (lines[0]["event"], lines[0]["slots"]) == ("begun", 6)
    assert (lines[-1]["event"], lines[-1]["interrupted"]) == ("ended", False)


def test_every_event_is_one_harmless_line_that_holds_the_words(tmp_path: Path) -> None:
    file = TraceFile(tmp_path / "trace", clock=lambda: 12.0)
    events = [
        begun(videos={"v0": f"{HOSTILE}\udce9"}),
        VideoWatched("v0"),
        call("started", "v0", "examiner"),
        call("retry", "v0", "examiner", fault="timeout", seconds=2.0),
        call("finished", "v0", "examiner", text=HOSTILE),
        PairDrawn(Draw(slot="v0-p1-r0", model_a="a", model_b="b", propensity=None)),
        BattleSettled(judged("v0-p1-r0", question=HOSTILE)),
        CallsDraining(3),
        RunEnded(True),
    ]
    for event in events:
        file.hear(event)
    lines = (tmp_path / "trace").read_text().splitlines()
    assert len(lines) == len(events)
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert json.loads(lines[4])["text"] == HOSTILE
    assert json.loads(lines[3])["pause_s"] == 2.0
    file.close()


@pytest.mark.parametrize("path", [".", "no/such/folder/trace"])
def test_a_file_that_cannot_be_written_is_said(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        TraceFile(tmp_path / path)


def test_a_file_that_is_full_holds_whole_lines_and_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    said = list[str]()
    file = TraceFile(path, clock=lambda: 12.0, say=said.append)
    file.hear(VideoWatched("v0"))
    whole = path.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 9, before[1]))
    try:
        file.hear(VideoWatched("v1"))
        file.hear(VideoWatched("v2"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    file.hear(VideoWatched("v3"))
    file.close()
    assert path.read_bytes() == whole
    assert [line.partition(" cannot be written")[0] for line in said] == [str(path)]


def told(*events: object) -> list[str]:
    said: list[str] = []
    stories = Stories(said.append, columns=100)
    for event in (begun(), *events):
        stories.hear(event)  # type: ignore[arg-type]
    return said


def test_a_story_is_told_whole_and_its_user_introduced_once() -> None:
    later = judged("v0-p1-r1", "b", words="B it is.").model_copy(update={"round": 1})
    first, second = told(BattleSettled(judged("v0-p1-r0", persona=1)), BattleSettled(later))
    order = ["Persona 1", "What is thrown?", "A  offline:hawk", "accuracy: A is right", "Verdict"]
    places = [first.index(words) for words in order]
    assert places == sorted(places)
    assert "Persona 1" not in second


def test_nothing_is_told_of_a_battle_before_it_is_settled() -> None:
    calls = [call(kind, "v0-p1-r0", "judge", text="x") for kind in ("started", "finished")]
    assert told(*calls) == []


def test_what_the_examiner_saw_is_told_even_where_it_is_no_brief() -> None:
    reply = '{"account": "A heron.", "category": "STEM", "scenes": []}'
    good, bad = told(*(call("finished", "v0", "examiner", text=t) for t in (reply, HOSTILE)))
    assert "A heron. (STEM)" in good
    assert "Why\\x1b[2J" in bad


def test_hostile_words_are_harmless_in_a_story() -> None:
    battle = judged(
        "v0-p1-r0", words=HOSTILE, question=HOSTILE, answer_a=HOSTILE, persona_text=HOSTILE
    )
    failed: CallEvent = call("finished", "v0", "examiner", fault="failed", text=HOSTILE)
    for text in told(failed, BattleSettled(battle)):
        assert all(line.isprintable() for line in text.split("\n"))
