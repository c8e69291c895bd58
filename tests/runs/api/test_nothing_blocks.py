"""Nothing that plays, resumes or freezes a run stops an event loop, by the rules of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster, BlockingError

from tests.support.clips import draw_folder
from tests.support.collector import collecting
from tests.support.whole_runs import battles, committed_keys
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import arena
from videoautoarena.runs.console.progress.otlp import FOR_ALL
from videoautoarena.runs.run.rundir.reader import run_file

LET_BE = (
    *("os.stat", "os.listdir", "os.remove", "threading.Lock.acquire"),
    *("io.BufferedReader.read", "io.BufferedWriter.write"),
    *("io.TextIOWrapper.read", "io.TextIOWrapper.write"),
)
"""What `langgraph dev` lets be, besides all of `os.path`."""
CAST = ("offline:hawk", "offline:mole", "offline:parrot")


@contextmanager
def detecting() -> Iterator[None]:
    """Raise BlockingError where code of an event loop stands still, by the rules of the server."""
    detector = BlockBuster()
    for name in [*detector.functions]:
        if name in LET_BE or name.startswith("os.path."):
            detector.functions.pop(name)
    detector.activate()
    try:
        yield
    finally:
        detector.deactivate()


def test_a_run_is_played_goes_on_and_is_frozen_without_stopping_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than a block, so that videos are decoded ahead of their turn.
    clips = draw_folder(tmp_path / "clips", 4, seconds=2)
    out = tmp_path / "out"
    asked = {"videos": clips, "out": out, "models": CAST, "block": 1}

    # A server loads its graphs before its loop turns.
    whole = arena()

    async def play() -> list[Any]:
        with detecting():
            first = await whole.ainvoke({}, context={**asked, "rounds": 1})
            bench = tmp_path / "bench"
            again = await whole.ainvoke({}, context={**asked, "rounds": 2, "freeze": bench})
        return [first, again]

    with collecting() as collector:
        monkeypatch.setenv(FOR_ALL, collector.url)
        first, again = asyncio.run(play())
    assert (first["settled"], again["settled"]) == (12, 24)
    assert len(battles(out)) == collector.kinds["battles"] == 24
    assert collector.kinds["calls"] == len(committed_keys(out))
    assert collector.kinds["whole"] == 2
    assert (tmp_path / "bench" / "questions.jsonl").is_file()


def test_the_detector_sees_a_run_that_is_read_where_the_loop_is(tmp_path: Path) -> None:
    clips = draw_folder(tmp_path / "clips", 1, seconds=2)
    asked = {"videos": clips, "out": tmp_path / "out", "models": CAST, "rounds": 1}
    asyncio.run(arena().ainvoke({}, context=asked))

    async def look() -> None:
        with Store.open(run_file(tmp_path / "out"), write=False) as store, detecting():
            store.videos()

    with pytest.raises(BlockingError, match="sqlite3"):
        asyncio.run(look())
