"""A session of labelling: one process, the lock of the run, and a link for each labeller."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.annotated import Person, annotating, votes
from tests.support.labelled import rows, season
from tests.support.played import battle, play, slot, video
from tests.support.served import Visitor
from videoautoarena.memory.records.errors import BadInput, RunLocked, WrongArgument
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.label_import import import_labels
from videoautoarena.runs.run.rundir.reader import RunReader
from videoautoarena.runs.serve.annotate.session import AnnotateRequest, prepare


@pytest.fixture
def run(tmp_path: Path) -> Path:
    season(tmp_path / "out", videos=2, rounds=2)
    return tmp_path / "out"


def drawn(out: Path) -> list[str]:
    with Store.open(out / "run.sqlite", write=False) as store:
        return [id_ for sample in store.evidence.samples() for id_ in sample.drawn]


def held(work: Any) -> Any:
    return asyncio.run(work)


def test_a_run_that_somebody_writes_is_refused_in_a_line(run: Path) -> None:
    async def session() -> None:
        async with annotating(run):
            pass

    with Store.open(run / "run.sqlite", write=True), pytest.raises(RunLocked) as wrong:
        held(session())
    assert "is being run by process" in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_session_keeps_others_from_writing_the_run(run: Path, tmp_path: Path) -> None:
    async def session() -> None:
        async with annotating(run):
            import_labels(run, rows(tmp_path / "l.csv", (drawn(run)[0], "anna", "a")))

    with pytest.raises(RunLocked):
        held(session())


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("anna", " anna "), "anna was given twice"),
        (("",), "labeller is missing"),
        (("x" * 101,), "longer than 100"),
    ],
)
def test_labellers_have_names_of_their_own(run: Path, names: tuple[str, ...], why: str) -> None:
    async def session() -> None:
        async with annotating(run, *names):
            pass

    with pytest.raises(WrongArgument, match=why):
        held(session())


def test_a_run_with_nothing_to_vote_on_is_refused(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdict="void", reason="gone")])

    async def session() -> None:
        async with annotating(out):
            pass

    with pytest.raises(BadInput, match="no battle is decided yet"):
        held(session())


def test_a_run_of_fewer_battles_than_were_asked_for_names_both_numbers(run: Path) -> None:
    no_films: Any = None
    with Store.open(run / "run.sqlite", write=True) as store:
        asked = AnnotateRequest(run, 2000, ("anna",))
        _, (note,) = prepare(RunReader(run, store), asked, names=asked.labellers, films=no_films)
    assert note.endswith("decided battles in the run, fewer than the 2000 (--n) asked for")


SESSION = """
import asyncio, sys
from pathlib import Path
from videoautoarena.runs.serve.annotate.session import AnnotateRequest, annotate

def begun(session):
    print(session.links["anna"], flush=True)

asyncio.run(annotate(AnnotateRequest(Path(sys.argv[1]), 40, ("anna",)), begun))
"""


@pytest.mark.slow
def test_a_session_that_is_killed_loses_no_vote_that_was_answered(run: Path) -> None:
    async def killed() -> None:
        command = [sys.executable, "-c", SESSION, str(run)]
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        try:
            link = (await process.stdout.readline()).decode().strip()
            anna = Person(Visitor(int(link.split(":")[2].partition("/")[0])))
            await anna.visitor.enter(link)
            for _ in range(3):
                await anna.vote("tie_good")
        finally:
            process.kill()
            await process.wait()

    async def resumed() -> Any:
        async with annotating(run) as (anna,):
            state = await anna.state()
            await anna.vote("tie_bad")
            return state["tasks"]["battle"]["done"]

    held(killed())
    assert len(votes(run)) == 3
    assert held(resumed()) == 3
    assert [cast.vote.battle for cast in votes(run)] == drawn(run)[:4]
