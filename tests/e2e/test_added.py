"""A newcomer over HTTP: outages, caps and kills cost it nothing that was paid for."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_cap import brain, write_arena
from tests.support.clips import draw_folder
from tests.support.forks import started
from tests.support.loopback import Loopback, serving
from tests.support.manners import Manners, Mishap
from tests.support.small_runs import battles_of, play, play_again
from tests.support.whole_runs import KEY, battles, command, committed_keys, environment
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.graph.slot_ids import is_newcomer
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.api.add import AddRequest, add
from videoautoarena.runs.api.simulate import Finished, resume
from videoautoarena.runs.cli.program.ending import ending, run_async
from videoautoarena.runs.console.progress.events import Listeners, nobody
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS

ALWAYS = 10**6
NEW = "terse"


class Ground:
    """One clip, two rounds, three models behind a server, and a fourth that is not in the run."""

    def __init__(self, place: Path, port: int = 0) -> None:
        self.place = place
        self.out = place / "run"
        self.port = port
        self.said = list[str]()
        self.config = place / "arena.toml"

    def play(self) -> None:
        clips = draw_folder(self.place / "clips", 1, seconds=2)
        with self.served():
            cast: dict[str, Any] = {"models": ("hawk", "owl", "mole"), "judge": ("judge",)}
            cast["examiner"] = "examiner"
            play(clips, self.out, config=self.config, pairing="uniform", **cast)

    def copied(self, to: Path) -> Ground:
        """Return the same run, nobody else's to change, whose server is where it was."""
        to.mkdir(exist_ok=True)
        shutil.copytree(self.out, to / "run")
        return Ground(to, self.port)

    def served(self, *mishaps: Mishap, latency_s: float = 0.0) -> Any:
        manners = Manners(mishaps=mishaps, latency_s=(latency_s, latency_s))
        number = len(list(self.place.glob("log*")))
        server = serving(self.place / f"log{number}", manners, brain=brain, port=self.port)
        return _Noted(self, server)

    def write(self, server: Loopback) -> None:
        self.port = server.port
        write_arena(self.config, server.openai_url, 2.0)
        text = self.config.read_text()
        mole = text[text.index("[models.mole]") : text.index("[models.examiner]")]
        self.config.write_text(text + mole.replace("mole", NEW))

    def add(self, caps: SpendCaps = NO_CAPS, **limits: Any) -> Finished:
        told = Listeners(self.said.append, nobody)
        request = AddRequest(
            out=self.out,
            model=NEW,
            config=self.config,
            max_usd=caps.usd,
            max_tokens=caps.tokens,
            **limits,
        )
        return run_async(add(request, say=told.say, hear=told.hear))

    def resume(self, *, retry_failed: bool = False) -> Finished:
        told = Listeners(self.said.append, nobody)
        request = RunRequest(out=self.out, retry_failed=retry_failed)
        return run_async(resume(request, say=told.say, hear=told.hear))

    def guests(self) -> list[Battle]:
        return [battle for battle in battles_of(self.out) if is_newcomer(battle.id)]


class _Noted:
    """A server whose address the ground's arena.toml gets."""

    def __init__(self, ground: Ground, server: Any) -> None:
        self.ground = ground
        self.server = server

    def __enter__(self) -> Loopback:
        running: Loopback = self.server.__enter__()
        self.ground.write(running)
        return running

    def __exit__(self, *gone: Any) -> None:
        self.server.__exit__(*gone)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    with pytest.MonkeyPatch.context() as env:
        env.setenv("LOOPBACK_KEY", KEY)
        ground = Ground(tmp_path_factory.mktemp("played"))
        ground.play()
    return ground


@pytest.fixture
def ground(played: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    return played.copied(tmp_path)


@pytest.mark.slow
def test_an_outage_makes_forfeits_and_voids_that_are_played_again_alone(ground: Ground) -> None:
    with ground.served(Mishap("status", NEW, times=2, status=400)) as server:
        ground.add(concurrency=1)
        assert {row["model"] for row in server.events("arrived")} == {NEW, "judge"}
    lost = [b for b in ground.guests() if b.verdict.startswith("forfeit")]
    assert len(lost) == 2
    for battle in lost:
        loser = battle.model_a if battle.verdict == "forfeit_a" else battle.model_b
        assert loser == NEW
    before = committed_keys(ground.out)
    with ground.served() as server:
        ground.resume(retry_failed=True)
        sent = server.events("arrived")
        assert len(sent) >= 4
        assert not {row["key"] for row in sent} & before
        assert {row["model"] for row in sent} == {NEW, "judge"}
    again = [b for b in ground.guests() if "~" in b.id]
    assert len(again) == 2
    assert {b.id.partition("~")[0] for b in again} == {b.id for b in lost}
    assert all(not b.verdict.startswith("forfeit") for b in again)
    found = play_again(ground.out)
    assert (found.others, found.differences) == (0, [])


@pytest.mark.slow
def test_a_cap_stops_it_with_exit_code_four_and_a_higher_one_ends_it(ground: Ground) -> None:
    with ground.served():
        spent = ground.add(caps=SpendCaps(0.0001, None)).spent.usd
        capped = ground.add(caps=SpendCaps(spent * 1.25, None))
        assert capped.is_capped
        assert capped.spent.usd <= spent * 1.25
        assert ending(capped, ground.out) == 4
        done = ground.add(caps=SpendCaps(float("inf"), None))
    assert ending(done, ground.out) == 0
    assert done.settled == done.total == 12
    assert play_again(ground.out).others == 0


@pytest.mark.slow
def test_a_newcomer_that_is_killed_pays_nothing_twice_and_ends_the_same(
    played: Ground, ground: Ground, tmp_path: Path
) -> None:
    killed = played.copied(tmp_path / "killed")
    with ground.served():
        ground.add()
    with killed.served(latency_s=0.05) as server:
        line = command("arena", "add", killed.out, "--model", NEW, "--config", killed.config, "-q")
        looks = []
        for kill in range(2):
            process = started(line, env=environment(), stderr=subprocess.DEVNULL)
            server.after(8 * (kill + 1))
            process.send_signal(signal.SIGKILL)
            process.wait()
            looks.append((committed_keys(killed.out), len(server.events("arrived"))))
        killed.add()
        sent = [row["key"] for row in server.events("arrived")]
    assert all(not kept & set(sent[arrived:]) for kept, arrived in looks)
    assert battles(killed.out) == battles(ground.out)
    assert play_again(killed.out).others == 0
