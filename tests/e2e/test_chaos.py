"""Servers at their worst: every battle is there once, and nothing that is known is asked again."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.forks import Process, started
from tests.support.loopback import Loopback, serving_apart
from tests.support.manners import Chaos, written
from tests.support.serverlog import Log, arrivals, mean_at_once, most_at_once
from tests.support.typed import Said, Terminal, run
from tests.support.whole_runs import KEY, battles, command, committed_keys, environment, opened
from videoautoarena.memory.records.digests import unit_interval

CHAOS = Chaos(
    seed=4,
    rate_429=0.10,
    rate_5xx=0.05,
    rate_timeout=0.03,
    rate_broken=0.03,
    rate_malformed=0.05,
)
ROSTER = {"one": "openai", "two": "openai", "three": "google_genai", "four": "google_genai"}
PLAYERS = {**ROSTER, "helper": "google_genai", "referee": "openai"}
LIFE_S = (1.0, 4.0)
"""How long a life lasts after its first call."""
MOST_LIVES = 100
ROUNDS = 3 if "WHOLE_TABLE" in os.environ else 2
"""The second one is drawn by what the first came to."""
VOID_OR_FORFEIT = ("void", "forfeit_a", "forfeit_b")


def write_cast(path: Path, server: Loopback, *, timeout_s: float) -> Path:
    """Write an arena.toml whose models look at two frames and are given up after `timeout_s`.

    Those of either protocol share one endpoint.
    """
    lines = [f'[roles]\nmodels = {list(ROSTER)}\nexaminer = "helper"\njudge = "referee"']
    urls = {"openai": server.openai_url, "google_genai": server.others[0].gemini_url}
    for name, provider in PLAYERS.items():
        url = urls[provider]
        lines += [f'[models.{name}]\nmodel = "{provider}:{name}"\nbase_url = "{url}"']
        lines += [f'key_env = "LOOPBACK_KEY"\nmax_frames = 2\ntimeout_s = {timeout_s}']
    path.write_text("\n".join(lines) + "\n")
    return path


@dataclass
class Trial:
    """A folder of clips, and runs over it against a server in chaos."""

    place: Path
    clips: int
    rounds: int
    timeout_s: float
    latency_s: tuple[str, str]
    """Where it is long, many calls are under way without a great machine."""
    chaos: Chaos = CHAOS

    @property
    def slots(self) -> int:
        """How many battles a run has."""
        return self.clips * 3 * self.rounds

    @contextmanager
    def server(self, log: str) -> Iterator[Loopback]:
        """Serve chaos; equal calls meet equal mishaps in every such server."""
        options = ("--chaos", written(self.chaos), "--latency-s", *self.latency_s, "--canned")
        options += ("--ports", "2")
        with serving_apart(self.place / log, *options) as server:
            yield server

    def words(self, server: Loopback, out: str) -> list[str | Path]:
        """Return what `simulate` is told for a run into `out`."""
        config = write_cast(self.place / "arena.toml", server, timeout_s=self.timeout_s)
        fixed = ["--videos", self.place / "videos", "--config", config, "--concurrency", "64"]
        return [*fixed, "--out", self.place / out, "--rounds", str(self.rounds), "-q"]

    def live_and_die(self, line: list[str], out: Path, log: Log, number: int) -> int | None:
        """Let a run live for a while and kill it; return its exit code if it ended by itself.

        No key may arrive that the lives before had written down.
        """
        before = committed_keys(out)
        log.read_on()
        born = len(log.events)
        with started(line, env=environment(), stderr=subprocess.PIPE) as life:
            code = self._until(life, log, born, number)
            life.kill()
        log.read_on()
        assert not before & set(arrivals(log.events[born:])), f"life {number} asked again"
        return code

    def _until(self, life: Process, log: Log, born: int, number: int) -> int | None:
        low, high = LIFE_S
        while len(log.events) == born and life.poll() is None:
            _glance(life, 0.02)
            log.read_on()
        return _glance(life, low + (high - low) * unit_interval(0, "life", number))


def _glance(life: Process, seconds: float) -> int | None:
    """Return the exit code of a life that has ended, after so many seconds at most."""
    with suppress(subprocess.TimeoutExpired):
        life.communicate(timeout=seconds)
    return life.poll()


def kept(out: Path) -> dict[str, int]:
    """Return how many tries each call took that a run has written down."""
    with opened(out) as file:
        found = file.execute("SELECT key, json_array_length(body, '$.attempts') FROM calls")
        return {key: 1 + (attempts or 0) for key, attempts in found}


def check(trial: Trial, out: Path, done: Said) -> Counter[str]:
    """Hold a run to its word: every battle once, decided or with a reason, counted and told."""
    found = [json.loads(body) for body in battles(out).values()]
    assert len(found) == trial.slots, done.err[-3000:]
    verdicts = Counter(battle["verdict"] for battle in found)
    assert [b["id"] for b in found if b["verdict"] in VOID_OR_FORFEIT and not b["reason"]] == []
    lost = verdicts["void"] > 0.05 * trial.slots or any(map(faulty(found), ROSTER))
    assert done.code == (3 if lost else 0), done.err[-3000:]
    told = json.loads(run("arena", "status", out, "--json"))
    assert (told["slots"], told["settled"]) == (trial.slots, trial.slots)
    assert told["verdicts"] == dict(verdicts)
    return verdicts


def faulty(found: list[dict[str, str]]) -> Callable[[str], bool]:
    """Return what tells whether a contestant forfeits more often than is accepted."""

    def is_faulty(name: str) -> bool:
        drawn = [
            b for b in found if name in (b["model_a"], b["model_b"]) and b["verdict"] != "void"
        ]
        seats = (("forfeit_a", "model_a"), ("forfeit_b", "model_b"))
        lost = sum((b["verdict"], b[seat]) == (how, name) for b in drawn for how, seat in seats)
        return lost >= 3 and lost > 0.05 * len(drawn)

    return is_faulty


def run_through(trial: Trial, terminal: Terminal, *, crowd: int = 0) -> tuple[Path, str]:
    """Let a run go through chaos to its end, and hold the server's log against its journal.

    Also returns what is to be said of it. So many calls stand in the server at once at some moment,
    and a sixth of them on average, though the last battles have it for themselves.
    """
    out = trial.place / "undisturbed"
    with trial.server("undisturbed.log") as server:
        done = terminal.simulate(*trial.words(server, out.name))
        tries = kept(out)
        arrived = Counter(arrivals(server.events()))
    verdicts = check(trial, out, done)
    # A try may end before it has reached the server; none comes that the journal does not tell of.
    assert arrived.keys() == tries.keys()
    assert {key: times for key, times in arrived.items() if times > tries[key]} == {}
    met = Counter(str(e.get("did", "good")) for e in server.events("sent"))
    assert set(met) >= {"good", "status", "silent"}
    most = most_at_once(server.events())
    mean = mean_at_once(server.events())
    assert most >= crowd
    assert mean >= crowd / 6
    told = f"{len(tries)} calls, {arrived.total()} tries, {most} at once, {mean:.0f} on average"
    return out, f"{trial.slots} battles: {dict(verdicts)}; {told}: {dict(met)}"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)


@pytest.mark.slow
def test_chaos_and_kills_change_no_battle(
    terminal: Terminal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_folder(tmp_path / "videos", 12, seconds=2.0)
    trial = Trial(tmp_path, clips=12, rounds=ROUNDS, timeout_s=2.0, latency_s=("0.5", "1.3"))
    calm, told = run_through(trial, terminal, crowd=24)
    out = tmp_path / "killed"
    log = Log(tmp_path / "killed.log")
    # What a life is worth is decided by when it ends, not by how many calls are under way.
    trial = replace(trial, latency_s=("0.02", "0.1"))
    with trial.server(log.path.name) as server:
        line = command("simulate", *trial.words(server, out.name))
        lives = range(MOST_LIVES)
        ended = (trial.live_and_die(line, out, log, number) for number in lives)
        codes = list(takewhile(lambda code: code is None, ended))
    with capsys.disabled():
        print(f"\n{told}; killed {len(codes)} times")  # noqa: T201
    assert 3 <= len(codes) < MOST_LIVES
    assert battles(out) == battles(calm)
    assert f"{trial.slots} battles are identical" in run("arena", "replay", out)
