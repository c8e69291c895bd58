"""Making that is killed again and again gives the same set, and pays for nothing twice."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.deaths import Deaths
from tests.support.faulty_disk import Disk
from tests.support.killed_runs import Program, program
from tests.support.loopback import Loopback, serving_apart
from tests.support.serverlog import arrivals
from tests.support.whole_runs import folder_bytes, write_config
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.making.tasks.drafting import CALLS

pytestmark = pytest.mark.slow

IS_WHOLE = "WHOLE_TABLE" in os.environ
KILLS = 20 if IS_WHOLE else 6
AT_LEAST_IN_FLIGHT = 10 if IS_WHOLE else 2
LATE = 62 if IS_WHOLE else 130
"""At about which write a life ends amid its calls."""
IMPORTED = (
    "langchain_openai",
    "videoautoarena.runs.cli.sets.making",
    "videoautoarena.runs.making.dialogues.make",
)


@pytest.fixture(scope="module")
def children() -> Iterator[Program]:
    with program(*IMPORTED) as running:
        yield running


def made(children: Program, place: Path, to: Path, server: Loopback) -> Deaths:
    """Return how a set is made in many lives."""
    config = write_config(place / f"{to.name}.toml", "openai", server)
    typed = ("dialogues", "make", place / "videos", "--to", to, "--config", config, "-q")
    draft = to.with_name(f".{to.name}.writing") / CALLS
    says = Path(f"{to}.says")
    journals = [draft, to / "results" / CALLS]
    return Deaths(children, server, (*typed, "--concurrency", 6), says, journals)


def kill_at(number: int) -> int:
    """Return at which write a life ends: of the first few as it begins, later amid its calls."""
    return 14 + 9 * number if number < KILLS // 5 else LATE + number % 5


def test_kills_give_the_same_set_and_pay_for_nothing_twice(
    children: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_folder(tmp_path / "videos", 3)
    with serving_apart(tmp_path / "calm.log") as server:
        calm = made(children, tmp_path, tmp_path / "calm", server)
        assert calm.live(Disk()) == 0, calm.said
    with serving_apart(tmp_path / "log", "--latency-s", "0.02", "0.12") as server:
        lives = made(children, tmp_path, tmp_path / "killed", server)
        for number in range(KILLS):
            disk = Disk(kill_at=kill_at(number), is_torn=number % 2 == 0)
            assert lives.live(disk) == -signal.SIGKILL, lives.said
        assert lives.live(Disk()) == 0, lives.said
    with capsys.disabled():
        print("", lives.account(), sep="\n")  # noqa: T201
    for to in (tmp_path / "calm", tmp_path / "killed"):
        (to / "results" / CALLS).rename(to.with_suffix(".sqlite"))
    assert folder_bytes(tmp_path / "killed") == folder_bytes(tmp_path / "calm")
    assert not lives.paid_again
    again = Counter(arrivals_of(lives)) - Counter(set(arrivals_of(lives)))
    with Store.open(tmp_path / "killed.sqlite", write=False) as store:
        assert {row.key for row in store.journal.calls()} == calm_keys(tmp_path / "calm.sqlite")
        listed = Counter(intent.key for intent in store.journal.intents())
    # What came twice was in flight when its life ended, each time, and is listed for that.
    assert again
    assert f"possibly paid: {listed.total()} attempts of unknown cost" in lives.said
    assert not again - listed
    assert sum(map(bool, lives.in_flight)) >= AT_LEAST_IN_FLIGHT


def arrivals_of(lives: Deaths) -> list[str]:
    """Return the keys of all requests that came to the server."""
    return arrivals(lives.log.events)


def calm_keys(file: Path) -> set[str]:
    """Return the keys of the calls of a making that nobody disturbed."""
    with Store.open(file, write=False) as store:
        return {row.key for row in store.journal.calls()}
