"""Ctrl-C and SIGTERM end a command inside of one long query, wherever it is made."""

from __future__ import annotations

import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.lives import Life
from tests.support.played import lineage, play, video
from tests.support.small_runs import put_back

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    film = video()
    return play(tmp_path_factory.mktemp("long") / "out", lineage(film), videos=[film])


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Let commands hear what a shell has ignored for what runs in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def asking(query: str, *arguments: object) -> Life:
    child = (sys.executable, "-m", "tests.support.endless_queries", query)
    return Life([*child, *map(str, arguments)], cwd=ROOT)


QUERIES = {
    "the main thread": ("FROM outlines", "status"),
    "the loop, which hears signals": ("FROM calls WHERE place > ?", "status", "--follow"),
    "the loop, which does not yet": ("SELECT body FROM manifest", "resume"),
    "a thread of the loop": ("id, body FROM videos", "frames", "1", "--run"),
}


BOTH = (signal.SIGINT, signal.SIGTERM)
EACH = [
    pytest.param(where, BOTH[place % 2], marks=pytest.mark.slow if place else [])
    for place, where in enumerate(QUERIES)
]


@pytest.mark.parametrize(("where", "number"), EACH)
def test_a_signal_ends_a_query_that_has_no_end(out: Path, where: str, number: int) -> None:
    query, *words = QUERIES[where]
    with asking(query, *words, out) as life:
        life.until(life.has_said("asking"))
        life.interrupt(number)
        assert life.end() == 130
    assert "interrupted, and nothing is lost" in life.last_line
    assert (life.noise, "answered" in life.said) == ([], False)


CALLS = 400_000
"""Of which an older layout keeps no sums: each is read to tell how calls ended."""


@pytest.mark.slow
def test_a_signal_ends_the_reading_of_a_large_genuine_run(out: Path, tmp_path: Path) -> None:
    large = tmp_path / "out"
    large.mkdir()
    (large / "run.sqlite").write_bytes((out / "run.sqlite").read_bytes())
    with closing(sqlite3.connect(large / "run.sqlite")) as file, file:
        put_back(file, 7)
        file.execute(
            "INSERT INTO calls (key, scope, role, generation, ordinal, model, body) "
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) "
            "SELECT printf('%064x', i), 'v-p1-r0', 'judge', 0, 0, 'offline:judge', ? FROM n",
            (CALLS, '{"alias":"judge","reply":"yes","x":"%s"}' % ("y" * 400)),
        )
    with asking("=call_ends", "status", large) as life:
        life.until(life.has_said("asking"))
        life.interrupt(signal.SIGTERM)
        assert life.end() == 130
    assert "answered" not in life.said
