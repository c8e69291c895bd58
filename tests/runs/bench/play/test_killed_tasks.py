"""A set whose playing is killed again and again pays for nothing twice: tasks, or dialogues."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.deaths import Deaths
from tests.support.dialogue_sets import spoken, write_dialogues
from tests.support.faulty_disk import Disk
from tests.support.killed_runs import Program, program
from tests.support.loopback import Loopback, serving_apart
from tests.support.serverlog import arrivals
from tests.support.task_sets import choice, free, write_set
from tests.support.whole_runs import write_config
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.video.folder.find import find_videos

pytestmark = pytest.mark.slow

IS_WHOLE = "WHOLE_TABLE" in os.environ
KILLS = 20 if IS_WHOLE else 6
AT_LEAST_IN_FLIGHT = 10 if IS_WHOLE else 2
LATE = 72 if IS_WHOLE else 130
"""At about which write a life ends amid its calls."""
ITEMS = 40
"""Of choice as many as of free text."""
DIALOGUES = 100 if IS_WHOLE else 40
"""Each with one scored round."""
LATENCY_S = ("0.02", "0.12")
CONCURRENCY = 6
IMPORTED = (
    "langchain_openai",
    "videoautoarena.runs.cli.sets.bench",
    "videoautoarena.runs.cli.sets.bench",
)


@pytest.fixture(scope="module")
def children() -> Iterator[Program]:
    with program(*IMPORTED) as running:
        yield running


def played(children: Program, place: Path, bench: Path, server: Loopback) -> Deaths:
    """Return how a set is played in many lives."""
    config = write_config(place / f"{bench.name}.toml", "openai", server)
    cast = ("--model", "hawk,owl", "--config", config, "--concurrency", CONCURRENCY)
    typed = ("bench", "run", bench, "--videos", place / "videos", *cast, "-q")
    return Deaths(children, server, typed, Path(f"{bench}.says"), [bench / "results" / CALLS])


def results(bench: Path) -> dict[str, bytes]:
    """Return the bytes of each model's result."""
    return {file.name: file.read_bytes() for file in (bench / "results").glob("*.jsonl")}


@pytest.fixture(scope="module", params=["scene_marker", "checklist_marker"])
def marker(request: pytest.FixtureRequest) -> str:
    """Who marks: the free text of tasks, or the replies in dialogues."""
    return str(request.param)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory, marker: str) -> Path:
    """Clips, and a set about them: of choices and free text, or of dialogues."""
    place = tmp_path_factory.mktemp("killed")
    videos = find_videos(draw_folder(place / "videos", 4, seconds=2)).videos
    if marker == "checklist_marker":
        spans = {0: [], 1: [(0.2, 1.4)]}
        dialogues = [
            spoken(video.id, k, spans=spans[k % 2], last_alone=True)
            for video in videos
            for k in range(DIALOGUES // len(videos))
        ]
        write_dialogues(place / "set", dialogues, videos=place / "videos")
        return place
    each = range(ITEMS // len(videos) // 2)
    items = [make(video.id, k) for video in videos for k in each for make in (choice, free)]
    write_set(place / "set", items, videos=place / "videos")
    return place


def kill_at(number: int) -> int:
    """Return at which write a life ends: of the first few as it begins, later amid its calls."""
    return 20 + 6 * number if number < KILLS // 4 else LATE + number % 4


def test_kills_pay_for_no_answer_and_no_marking_twice(
    children: Program, ground: Path, marker: str, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = Path(shutil.copytree(ground / "set", ground / "killed"))
    with serving_apart(ground / "calm.log") as server:
        calm = played(children, ground, ground / "set", server)
        assert calm.live(Disk()) == 0, calm.said
    with serving_apart(ground / "log", "--latency-s", *LATENCY_S) as server:
        lives = played(children, ground, killed, server)
        for number in range(KILLS):
            disk = Disk(kill_at=kill_at(number), is_torn=number % 2 == 0)
            assert lives.live(disk) == -signal.SIGKILL, lives.said
        assert lives.live(Disk()) == 0, lives.said
    with capsys.disabled():
        print("", lives.account(), sep="\n")  # noqa: T201
    assert results(killed) == results(ground / "set")
    assert results(killed)
    assert not lives.paid_again
    again = Counter(arrivals(lives.log.events)) - Counter(lives.kept)
    at_death = Counter(key for keys in lives.in_flight for key in keys)
    with Store.open(killed / "results" / CALLS, write=False) as store:
        roles = {row.key: row.nonce.role for row in store.journal.calls()}
        listed = Counter(intent.key for intent in store.journal.intents())
    # What came twice was in flight when its life ended, each time, and is listed for that; a
    # request may be seen to come only when whoever sent it is dead.
    assert not again - listed
    assert not at_death - again
    assert f"possibly paid: {listed.total()} attempts of unknown cost" in lives.said
    assert sum(map(bool, lives.in_flight)) >= AT_LEAST_IN_FLIGHT
    assert {roles[key] for key in at_death} == {"contestant", marker}
