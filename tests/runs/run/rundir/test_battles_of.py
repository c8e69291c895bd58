"""The battles of a run are read as they are asked for, and none is kept."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.played import battle, invoke, play, slot, video
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.battles.listing import listing
from videoautoarena.runs.run.rundir.reader import open_run

FILMS = [video(f"film {k}".encode(), path=f"{k}.mp4") for k in range(150)]
MOST_ALIVE = 300
"""Battles that are read in one go, and a few."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ends = ("a", "b", "tie", "a", "void")
    battles = [
        battle(
            slot(film, k),
            verdict=ends[(k + n) % 5],
            reason="lost: it" if (k + n) % 5 == 4 else None,
        )
        for n, film in enumerate(FILMS)
        for k in range(3)
    ]
    return play(tmp_path_factory.mktemp("many") / "out", battles, videos=FILMS)


class Alive:
    """Counts how many battles there are at most while a run is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.most = 0
        real = Store.each_battle

        def each(store: Store, *given: Any) -> Iterator[Battle]:
            for number, found in enumerate(real(store, *given)):
                if number % 100 == 99:
                    self.most = max(self.most, self.count())
                yield found

        monkeypatch.setattr(Store, "each_battle", each)

    @staticmethod
    def count() -> int:
        return sum(type(found) is Battle for found in gc.get_objects())


@pytest.mark.parametrize(
    "line",
    [
        "leaderboard OUT --by standard --json",
        "audit OUT --json",
        "battles OUT --jsonl",
        "battles OUT --sort surprise",
        "export OUT --what rounds",
        *(
            pytest.param(line, marks=pytest.mark.slow)
            for line in (
                "leaderboard OUT --by format",
                "battles OUT --sort hardest --contains PAN --jsonl",
                "show OUT",
                "export OUT --what preferences",
            )
        ),
    ],
)
def test_a_command_holds_few_battles_at_once(
    out: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    gc.collect()
    before = Alive.count()
    alive = Alive(monkeypatch)
    invoke(*line.replace("OUT", str(out)).split())
    assert alive.most - before <= MOST_ALIVE


def test_a_part_is_what_the_rows_of_a_list_are(out: Path) -> None:
    with open_run(out) as run:
        every = list(run.battles)
        rows = np.array([0, 5, 6, 449])
        assert list(run.battles.where(rows)) == [every[row] for row in rows]
        assert len(run.battles) == len(every) == 450
        assert run.battles.find(every[3].id) == every[3]
        assert run.battles.find("nothing") is None
        assert every[3] in run.battles


def test_fields_and_answers_are_those_of_the_records(out: Path) -> None:
    with open_run(out) as run:
        every = list(run.battles)
        assert list(run.battles.answers()) == [(b.answer_a, b.answer_b) for b in every]
        said = [[b.question, b.difficulty] for b in every]
        assert list(run.battles.fields("question", "difficulty")) == said


def test_battles_that_end_otherwise_are_read_so(out: Path) -> None:
    with open_run(out) as run:
        ended = run.battles.where(np.arange(4)).ended(["tie"] * 4)
        assert [one.verdict for one in ended] == ["tie"] * 4


def test_a_list_in_one_array_is_json_as_it_was_printed_whole(out: Path) -> None:
    with open_run(out) as run:
        whole = json.dumps([json.loads(line) for line in listing(out, "jsonl")], indent=2)
        assert "\n".join(listing(out, "json")) == whole
        assert len(run.settled) == 450


def test_a_list_of_nothing_is_an_empty_array(tmp_path: Path) -> None:
    assert list(listing(play(tmp_path / "out", []), "json")) == ["[]"]
