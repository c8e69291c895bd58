"""A run at a provider that caches prompts: kills while calls wait for first ones change nothing."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.bodies import HttpReply, Kept, keeping
from tests.support.clips import draw_folder
from tests.support.forks import ended, started
from tests.support.loopback import ROOT
from tests.support.prompt_caches import PromptCache
from tests.support.whole_runs import battles, committed_keys

pytestmark = pytest.mark.slow

DEATHS = (4, 9, 25)
"""Calls of a life at whose arrival it is killed: among the first ones of a prefix, and later."""


@dataclass
class Witness:
    """What comes to a server, by the keys of calls."""

    cache: PromptCache = field(default_factory=lambda: PromptCache(latency_s=0.1))
    keys: list[str] = field(default_factory=list)
    kill_at: int | None = None
    kill: Callable[[], object] = int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Kept) -> HttpReply:
        """Answer a request, unless its arrival is what kills the run."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        with self._lock:
            self.keys.append(headers["idempotency-key"])
            is_last = len(self.keys) == self.kill_at
        if is_last:
            self.kill()
        return self.cache(request)


def line_of(clips: Path, out: Path, url: str) -> list[str]:
    names = ("--models", "openai:gpt-4o,openai:gpt-4.1,openai:gpt-5")
    referee = ("--examiner", "openai:gpt-5.5", "--judge", "openai:gpt-5.5")
    shape = ("--videos", str(clips), "--rounds", "2", "--out", str(out), "-q", "--seed", "3")
    return [sys.executable, "-m", "tests.support.prompt_caches", url, *names, *referee, *shape]


def test_a_run_killed_while_calls_wait_for_others_ends_the_same(tmp_path: Path) -> None:
    clips = draw_folder(tmp_path / "clips", 2, seconds=3)
    env = {**os.environ, "OPENAI_API_KEY": "loopback-key"}
    paid_again = set[str]()
    with keeping(script=(whole := Witness())) as book:
        line = line_of(clips, tmp_path / "whole", book.url)
        assert ended(line, cwd=ROOT, env=env).returncode == 0
    with keeping(script=(killed := Witness())) as book:
        out = tmp_path / "killed"
        line = line_of(clips, out, book.url)
        for death in DEATHS:
            kept = committed_keys(out)
            born = len(killed.keys)
            killed.kill_at = born + death
            with started(line, cwd=ROOT, env=env) as life:
                killed.kill = lambda life=life: life.send_signal(signal.SIGKILL)
            assert life.returncode == -signal.SIGKILL
            paid_again |= kept & set(killed.keys[born:])
        assert ended(line, cwd=ROOT, env=env).returncode == 0
    assert not paid_again
    assert battles(out) == battles(tmp_path / "whole")
    assert set(killed.keys) == set(whole.keys)
    assert max(Counter(whole.keys).values()) == 1
    assert set(whole.cache.misses.values()) == {1}
