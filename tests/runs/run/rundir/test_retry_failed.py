"""What failed for a call is played again, nothing that was paid for is paid for twice."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.lives import Life
from tests.support.loopback import Loopback, serving
from tests.support.manners import Manners, Mishap
from tests.support.small_runs import alter, battles_of, play_again
from tests.support.typed import Said, Terminal
from tests.support.whole_runs import KEY, battles, command, committed_keys, write_config
from videoautoarena.memory.records.records import DECIDED, Slot
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.run.rundir.failures import failed_slots, supersede
from videoautoarena.runs.run.rundir.reader import RUN_FILE, open_run

ALWAYS = 10**6
OUTAGES = {"judge": 401, "mole": 400, "examiner": 403}
"""Who fails for good, and how."""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ground")
    draw_folder(place / "videos", 1, seconds=3)
    return place


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    return Terminal(capsys)


class House:
    """One run over HTTP, served well or badly; its pairs look at no result that may be missing."""

    def __init__(self, terminal: Terminal, place: Path, videos: Path, *, concurrency: int) -> None:
        place.mkdir()
        self.terminal = terminal
        self.place = place
        self.out = place / "out"
        self.videos = videos
        self.concurrency = str(concurrency)
        self.servers = self.port = 0

    @contextmanager
    def served(self, *mishaps: Mishap, latency_s: float = 0.0) -> Iterator[Loopback]:
        self.servers += 1
        manners = Manners(mishaps=mishaps, latency_s=(latency_s, latency_s))
        with serving(self.place / f"log{self.servers}", manners, port=self.port) as server:
            self.port = server.port
            write_config(self.place / "arena.toml", "openai", server)
            yield server

    def line(self, *more: str, rounds: int) -> list[str | Path]:
        config = self.place / "arena.toml"
        fixed: list[str | Path] = [
            "--videos",
            self.videos,
            "--out",
            self.out,
            "--config",
            config,
            "-q",
            "--pairing=uniform",
        ]
        return [*fixed, "--rounds", str(rounds), "--concurrency", self.concurrency, *more]

    def play(
        self, *more: str, rounds: int, broken: tuple[Mishap, ...] = ()
    ) -> tuple[Said, set[str]]:
        """Play on and return what was said, and the keys of the calls that were sent."""
        with self.served(*broken) as server:
            said = self.terminal.simulate(*self.line(*more, rounds=rounds))
            return said, {row["key"] for row in server.events("arrived")}

    def copied_to(self, place: Path) -> House:
        """Return a copy of this house, served at the same address."""
        house = House(self.terminal, place, self.videos, concurrency=int(self.concurrency))
        house.port = self.port
        shutil.copytree(self.out, house.out)
        shutil.copy(self.place / "arena.toml", place)
        return house


def outage(who: str) -> tuple[Mishap, ...]:
    return (Mishap("status", who, times=ALWAYS, status=OUTAGES[who]),)


def current(out: Path) -> dict[str, str]:
    """Return the battles that count by the ids of their places, with generations taken out."""
    with open_run(out) as run:
        ids = run.lineup.ids
    return {
        re.sub(r"~\d+", "", id_): re.sub(r"~\d+", "", body)
        for id_, body in battles(out).items()
        if id_ in ids
    }


def failed(out: Path) -> list[str]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return sorted(failed_slots(store))


def slots_of(out: Path) -> list[Slot]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return store.slots()


Ended = Callable[[int], dict[str, str]]
"""The battles of a run of so many rounds in which nothing failed, played one call at a time."""


@pytest.fixture
def undisturbed(terminal: Terminal, ground: Path) -> Ended:
    def ended(rounds: int) -> dict[str, str]:
        place = ground / f"calm{rounds}"
        if not place.exists():
            house = House(terminal, place, ground / "videos", concurrency=1)
            assert house.play(rounds=rounds)[0].code == 0
        return current(place / "out")

    return ended


@pytest.fixture(scope="module")
def judged_by_nobody(ground: Path) -> list[House]:
    """One house whose three battles failed at the judge, once it is asked for."""
    return []


@pytest.fixture
def failing(terminal: Terminal, ground: Path, judged_by_nobody: list[House]) -> House:
    """A run of one round whose battles all failed at the judge; copy, never change."""
    if not judged_by_nobody:
        house = House(terminal, ground / "failing", ground / "videos", concurrency=16)
        house.play(rounds=1, broken=outage("judge"))
        judged_by_nobody.append(house)
    judged_by_nobody[0].terminal = terminal
    return judged_by_nobody[0]


@pytest.fixture
def house(failing: House, tmp_path: Path) -> House:
    """A copy of the run whose battles all failed at the judge."""
    return failing.copied_to(tmp_path / "house")


@pytest.mark.parametrize(
    ("who", "rounds"),
    [("mole", 1), pytest.param("judge", 2, marks=pytest.mark.slow)],
)
def test_after_an_outage_a_run_ends_as_if_there_had_been_none(
    terminal: Terminal,
    ground: Path,
    tmp_path: Path,
    undisturbed: Ended,
    who: str,
    rounds: int,
) -> None:
    house = House(terminal, tmp_path / "house", ground / "videos", concurrency=16)
    if rounds > 1:
        assert house.play(rounds=1)[0].code == 0
    house.play(rounds=rounds, broken=outage(who))
    before = battles(house.out)
    committed = committed_keys(house.out)
    said, sent = house.play("--retry-failed", rounds=rounds)
    assert said.code == 0
    assert "that failed for a call" in said.err
    assert not sent & committed
    assert current(house.out) == undisturbed(rounds)
    assert before.items() <= battles(house.out).items()
    assert all(b.verdict in DECIDED for b in battles_of(house.out) if "~" in b.id)
    assert board_of(house.out).to_json()["settings"]["totals"]["battles"] == 3 * rounds
    found = play_again(house.out)
    assert (found.battles, found.differences) == (len(battles(house.out)), [])


@pytest.mark.slow
def test_equal_histories_hold_equal_bytes_at_any_concurrency(
    terminal: Terminal, ground: Path, tmp_path: Path
) -> None:
    ends = []
    for concurrency in (1, 16):
        house = House(
            terminal, tmp_path / str(concurrency), ground / "videos", concurrency=concurrency
        )
        house.play(rounds=1, broken=outage("mole"))
        house.play("--retry-failed", rounds=1, broken=outage("judge"))
        house.play("--retry-failed", rounds=2)
        ends.append(battles(house.out))
        assert play_again(house.out).differences == []
    assert ends[0] == ends[1]
    assert {id_.partition("~")[2] for id_ in ends[0]} == {"", "1", "2"}


@pytest.mark.slow
def test_replies_that_were_no_use_are_asked_for_again(
    terminal: Terminal,
    ground: Path,
    tmp_path: Path,
    undisturbed: Ended,
) -> None:
    house = House(terminal, tmp_path / "house", ground / "videos", concurrency=16)
    house.play(rounds=1, broken=(Mishap("prose", "judge", times=ALWAYS),))
    assert len(failed(house.out)) == 3
    _, sent = house.play("--retry-failed", rounds=1)
    assert len(sent) == sum(len(b.verdicts) for b in battles_of(house.out) if "~" in b.id)
    assert current(house.out) == undisturbed(1)


def test_resuming_repairs_as_well_and_then_nothing_is_left_to_repair(
    terminal: Terminal, house: House
) -> None:
    with house.served() as server:
        assert terminal.arena("resume", house.out, "-q").code == 3
        assert terminal.arena("resume", house.out, "-q", "--retry-failed").code == 0
        status = json.loads(terminal.arena("status", house.out, "--json").out)
        assert (status["decided"], status["failed"]) == (3, 0)
        before = slots_of(house.out)
        asked = len(server.events("arrived"))
        said = terminal.arena("resume", house.out, "-q", "--retry-failed")
        assert "there is nothing to play again" in said.err
        assert (said.code, slots_of(house.out)) == (0, before)
        assert len(server.events("arrived")) == asked


def test_what_would_come_to_the_same_is_not_played_again(house: House) -> None:
    first, *others = failed(house.out)
    told = "UPDATE battles SET body = replace(body, :failed, :abstained) WHERE id = :id"
    words = {"failed": '"verdict":"failed"', "abstained": '"verdict":"abstain"'}
    alter(house.out, told, id=first, **words)
    assert failed(house.out) == others
    alter(house.out, "DELETE FROM frames")
    assert failed(house.out) == []


@pytest.mark.slow
def test_a_video_that_was_given_up_halfway_is_repaired_whole(
    terminal: Terminal, ground: Path, tmp_path: Path, undisturbed: Ended
) -> None:
    house = House(terminal, tmp_path / "house", ground / "videos", concurrency=16)
    house.play(rounds=2, broken=outage("examiner"))
    alter(house.out, "DELETE FROM battles WHERE id NOT LIKE '%-p1-r0'")
    said, _ = house.play("--retry-failed", rounds=2)
    assert "1 battle that failed for a call is played again" in said.err
    assert current(house.out) == undisturbed(2)
    found = play_again(house.out)
    assert (found.battles, found.differences) == (7, [])


@pytest.mark.slow
def test_rounds_and_videos_grow_before_and_after_a_repair(
    terminal: Terminal, ground: Path, tmp_path: Path, undisturbed: Ended
) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    (videos / "a.mp4").write_bytes((ground / "videos" / "clip00.mp4").read_bytes())
    house = House(terminal, tmp_path / "house", videos, concurrency=16)
    house.play(rounds=1, broken=outage("judge"))
    house.play("--retry-failed", rounds=1)
    house.play(rounds=2)
    assert current(house.out) == undisturbed(2)
    (videos / "b.mp4").write_bytes(
        draw_folder(tmp_path / "more", 1, seconds=2).joinpath("clip00.mp4").read_bytes()
    )
    house.play(rounds=2, broken=outage("mole"))
    house.play("--retry-failed", rounds=3)
    found = play_again(house.out)
    assert (found.others, found.differences) == (0, [])
    assert len(current(house.out)) == 18
    assert undisturbed(2).items() <= current(house.out).items()
    assert [slot.ordinal for slot in slots_of(house.out)] == list(range(len(slots_of(house.out))))


def answered(server: Loopback, since: int) -> int:
    return sum(row["event"] == "sent" for row in server.events()[since:])


@pytest.mark.slow
def test_a_repair_that_is_killed_ends_as_one_that_is_not(
    terminal: Terminal, ground: Path, tmp_path: Path, undisturbed: Ended
) -> None:
    house = House(terminal, tmp_path / "house", ground / "videos", concurrency=4)
    house.play(rounds=2, broken=outage("judge"))
    with house.served(latency_s=0.1) as server:
        line = command("simulate", *house.line("--retry-failed", rounds=2))
        for _ in range(2):
            committed = committed_keys(house.out)
            born = len(server.events())
            with Life(line) as life:
                life.until(lambda: answered(server, born) > 2)  # noqa: B023
            # A request that was cut off by the kill may be in the log without one.
            sent = {row["key"] for row in server.events()[born:] if "key" in row}
            assert not committed & sent
    house.play("--retry-failed", rounds=2)
    assert current(house.out) == undisturbed(2)
    assert {id_.partition("~")[2] for id_ in battles(house.out)} == {"", "1"}
    assert play_again(house.out).differences == []


def test_slots_that_were_added_before_a_kill_are_played_without_asking_for_it(
    terminal: Terminal, house: House
) -> None:
    with Store.open(house.out / RUN_FILE, write=True) as store:
        told = supersede(store, failed_slots(store))
    assert told == "3 battles that failed for a call are played again"
    status = json.loads(terminal.arena("status", house.out, "--json").out)
    assert (status["slots"], status["settled"]) == (3, 0)
    house.play(rounds=1)
    status = json.loads(terminal.arena("status", house.out, "--json").out)
    assert (status["slots"], status["decided"]) == (3, 3)


def test_a_plan_of_a_repair_counts_what_is_played_again_and_writes_nothing(
    terminal: Terminal, failing: House
) -> None:
    before = slots_of(failing.out)
    plans = []
    for more in ((), ("--retry-failed",)):
        line = failing.line("--plan", "--json", *more, rounds=1)
        plans.append(json.loads(terminal.simulate(*line).out))
    assert [plan["battles"] for plan in plans] == [0, 3]
    called = {line["role"] for line in plans[1]["lines"] if line["calls"] >= 1}
    assert called - {"contestant"} == {"judge"}
    assert slots_of(failing.out) == before


def test_a_status_says_how_much_can_be_played_again(terminal: Terminal, failing: House) -> None:
    told = terminal.arena("status", failing.out).out
    assert f"3 battles failed because of a call; to repeat: arena resume {failing.out}" in told
    stands = json.loads(terminal.arena("status", failing.out, "--json").out)
    assert stands["next"] == f"arena resume {failing.out} --retry-failed"


@pytest.mark.slow
def test_a_repair_reaches_the_end_under_fsync_too(
    terminal: Terminal, ground: Path, tmp_path: Path
) -> None:
    house = House(terminal, tmp_path / "house", ground / "videos", concurrency=16)
    house.play("--fsync", rounds=1, broken=outage("mole"))
    assert house.play("--fsync", "--retry-failed", rounds=1)[0].code == 0
    assert play_again(house.out).differences == []
