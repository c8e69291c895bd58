"""A run through all that a server does wrong: every battle comes, or a line says what is other."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_gone import free_port
from tests.support.clips import draw_folder
from tests.support.loopback import Loopback, serving_apart
from tests.support.manners import Limits, written
from tests.support.small_runs import battles_of, play, play_again
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY
from videoautoarena.agents.calls import retry
from videoautoarena.agents.limits import outages
from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.reader import RUN_FILE

BIG, SMALL = ("hawk", "owl", "windbag"), ("mole", "terse")
"""Who is behind the server that does well, and behind the one that does not."""
FRAMES = 16
LIMIT = 900
TOOK = 2500
DOWN_S = 6.0
HASTE = 10
"""Waits are shorter by so much than they are elsewhere."""
ROUNDS = 3


MISHAPS = [
    {"do": "empty", "model": "mole", "nth": 5},
    {"do": "no-choice", "model": "terse", "nth": 5},
]
FIRST = (
    *("--latency-s", "0.2", "0.4", "--mishaps", json.dumps(MISHAPS)),
    *("--limits", written(Limits(images=1, unknown_field="max_tokens"))),
)
SECOND = (
    *("--takes", str(TOOK)),
    *("--limits", written(Limits(images=8, unknown_field="max_completion_tokens"))),
)


class Ground:
    """Three videos, two servers, and runs over them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.clips = draw_folder(place / "clips", 3, seconds=3)
        self.ports = free_port(), free_port()
        self.logs = 0

    @contextmanager
    def served(self, which: int, *options: str) -> Iterator[Loopback]:
        self.logs += 1
        place = ("--port", str(self.ports[which]))
        with serving_apart(self.place / f"log{self.logs}", *place, *options) as server:
            yield server

    def play(self, out: str) -> tuple[Any, list[str]]:
        said: list[str] = []
        cast = {"models": (*BIG, *SMALL), "examiner": "examiner", "judge": ("judge",)}
        found = play(
            self.clips,
            self.place / out,
            said=said,
            config=self.config(),
            rounds=ROUNDS,
            pairing="uniform",
            max_usd=100.0,
            **cast,
        )
        return found, said

    def config(self) -> Path:
        lines = []
        for name in (*BIG, *SMALL, "examiner", "judge"):
            url = f"http://127.0.0.1:{self.ports[name in SMALL]}/v1"
            lines += [f'[models.{name}]\nmodel = "openai:{name}"\nbase_url = "{url}"']
            lines += [f'key_env = "LOOPBACK_KEY"\nmax_frames = {FRAMES}\nframe_tokens = 10']
            lines += ["price = { input_usd = 1.0, output_usd = 1.0 }"]
            lines += [f"parameters = {{ max_tokens = {LIMIT} }}"]
        path = self.place / "arena.toml"
        path.write_text("\n".join(lines) + "\n")
        return path


class Unsteady(threading.Thread):
    """A server in its two lives, with a pause between."""

    def __init__(self, ground: Ground, calls: int) -> None:
        super().__init__()
        self.ground = ground
        self.calls = calls
        self.is_over = threading.Event()
        self.lives: list[list[dict[str, Any]]] = []

    def run(self) -> None:
        """Serve until so many calls came, be gone, then serve until all is over."""
        with self.ground.served(1, *FIRST) as server:
            server.after(self.calls)
            self.lives.append(server.events("arrived"))
        time.sleep(DOWN_S)
        with self.ground.served(1, *SECOND) as server:
            self.is_over.wait()
            self.lives.append(server.events("arrived"))


def sent_frames(out: Path) -> dict[str, list[tuple[int | None, str]]]:
    """Return of each slot or video how many frames its calls were answered from, in order."""
    found: dict[str, list[tuple[int | None, str]]] = {}
    with Store.open(out / RUN_FILE, write=False) as store:
        for row in sorted(store.journal.calls(), key=lambda row: (row.nonce.role, row.key)):
            found.setdefault(base_of(row.nonce.scope), []).append((row.frames, row.nonce.role))
    return found


def lineage(slot: str) -> list[str]:
    """Return a slot and those before it that it hangs on."""
    place, _, last = slot.rpartition("-r")
    return [f"{place}-r{round_}" for round_ in range(int(last) + 1)]


def same_so_far(slot: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether all that led to a battle was made from as many frames in both runs."""
    scopes = [slot.partition("-")[0], *lineage(slot)]
    return all(sorted(map(str, one[s])) == sorted(map(str, other[s])) for s in scopes)


@pytest.mark.slow
def test_a_run_through_all_that_a_server_does_wrong_comes_out_or_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    for of, name in ((retry, "FIRST_PAUSE_S"), (outages, "FIRST_GAP_S"), (outages, "UNPROVEN_S")):
        monkeypatch.setattr(of, name, getattr(of, name) / HASTE)
    ground = Ground(tmp_path)
    terminal = Terminal(capsys)
    with ground.served(0), ground.served(1):
        calm, _ = ground.play("calm")
    unsteady = Unsteady(ground, calls=22)
    with ground.served(0):
        unsteady.start()
        try:
            found, said = ground.play("run")
        finally:
            unsteady.is_over.set()
            unsteady.join()
    out = tmp_path / "run"
    assert (found.settled, found.voids, found.gone) == (found.total, 0, None) == (27, 0, None)
    assert not [b for b in battles_of(out) if b.verdict.startswith("forfeit")]
    address = f"127.0.0.1:{ground.ports[1]}"
    for words in (
        *(f"{name} is sent at most 1 image a request from now on" for name in SMALL),
        *(f"{name} is sent max_completion_tokens from now on" for name in SMALL),
        *(f"{name} is sent max_tokens from now on" for name in SMALL),
        *(f"does not keep {name} to the {LIMIT} output tokens" for name in SMALL),
        f"for {address}: it cannot be reached",
        f"{address} is back after ",
    ):
        assert sum(words in line for line in said) == 1, (words, said)
    # One refusal a model, and what was under way beside it; none of what came later.
    first, second = unsteady.lives
    assert all(call["images"] <= 1 for call in second)
    assert found.spent.usd <= 100.0
    short = json.loads(terminal.arena("status", out, "--json").out)["frames_short"]
    assert {row["model"] for row in short} == set(SMALL)
    flags = json.loads(terminal.arena("leaderboard", out, "--json").out)["models"]
    saw = {row["model"]: [f for f in row["flags"] if f.startswith("saw")] for row in flags}
    assert saw == {
        **{name: [] for name in BIG},
        **{n: [f"saw 1 of {FRAMES} frames"] for n in SMALL},
    }
    here = sent_frames(out)
    there = sent_frames(tmp_path / "calm")
    undisturbed = {battle.id: battle for battle in battles_of(tmp_path / "calm")}
    same = [b for b in battles_of(out) if same_so_far(b.id, here, there)]
    assert same
    assert all(battle == undisturbed[battle.id] for battle in same)
    few_saw = {b.id for b in battles_of(out) if {b.model_a, b.model_b} & set(SMALL)}
    others = [b.id for b in battles_of(out) if b not in same]
    assert all(few_saw & set(lineage(slot)) for slot in others)
    assert play_again(out).differences == []
    assert calm.settled == 27
    with capsys.disabled():
        told = f"{len(same)} of 27 battles with equal frames, all equal; {len(first)} calls before"
        print(f"\n{told}, {len(second)} after {DOWN_S:.0f} s")  # noqa: T201
