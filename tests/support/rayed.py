"""A Ray cluster as a test sees it: where it is, which processes play on it, and how they die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.whole_runs import environment

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".venv-ray"
OWNER = "ray::RunOwner"
LENDER = "ray::Lender"
WORKER = "ray::ClusterWorker"
PATIENCE_S = 120.0
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Has Ray take 127.0.0.1 for the machine's address, as it does where it fears a firewall."""


def require() -> None:
    """Skip the test where there is no Ray, or fail it where CI is set."""
    if not (ENVIRONMENT / ".installed").exists():
        why = "make slow makes .venv-ray"
        if os.environ.get("CI"):
            pytest.fail(f"NO RAY: {why}")
        pytest.skip(why)


def command(name: str, *arguments: str | Path) -> list[str]:
    """Return the command line of one of the project's commands, with Ray beside it."""
    return [str(ENVIRONMENT / "bin" / name), *map(str, arguments)]


class Rayed:
    """A cluster that is up."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = str(self._answer()["address"])

    def tell(self, do: str, **facts: Any) -> None:
        """Have the cluster do something, and wait until it has."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **facts}) + "\n")
        self._process.stdin.flush()
        assert self._answer()["did"] == do

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the cluster has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def processes(self, title: str) -> list[int]:
        """Return the processes of this cluster whose title begins so."""
        return sorted(titled(title, self._process.pid))

    def kill(self, title: str, which: int = 0, number: int = signal.SIGKILL) -> int:
        """Send a signal to one of these processes, and return which it was."""
        end = time.monotonic() + PATIENCE_S
        while len(found := self.processes(title)) <= which:
            assert time.monotonic() < end, f"there is no {title}"
            time.sleep(0.05)
        os.kill(found[which], number)
        return found[which]

    def die(self) -> None:
        """Send SIGKILL to all there is of it, the head first, as a power cut would."""
        own = self._process.pid
        for pid in [own, *titled("", own)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()


def go_on(process: int) -> None:
    """Let a process go on that was stopped, and wait until it has ended, or a while."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)
    end = time.monotonic() + 20
    while Path(f"/proc/{process}").exists() and time.monotonic() < end:
        time.sleep(0.05)


def titled(title: str, ancestor: int) -> Iterator[int]:
    """Yield the processes below another one whose title begins so."""
    parents = {}
    titles = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            pid = int(folder.name)
            stat = (folder / "stat").read_text()
            parents[pid] = int(stat.rpartition(")")[2].split()[1])
            titles[pid] = (folder / "cmdline").read_text()
    for pid, said in titles.items():
        if said.startswith(title) and ancestor in _ancestors(pid, parents):
            yield pid


def _ancestors(pid: int, parents: dict[int, int]) -> set[int]:
    found = set()
    while pid in parents and pid not in found:
        found.add(pid)
        pid = parents[pid]
    return found


@contextmanager
def cluster(nodes: int = 3, *, token: str | None = None) -> Iterator[Rayed]:
    """Give a cluster of a head and so many nodes while the block lasts; it may ask for a token."""
    line = [str(ENVIRONMENT / "bin" / "python"), "-m", "tests.support.cluster_process", str(nodes)]
    pipe = subprocess.PIPE
    env = {**environment(), **LOOPBACK}
    if token is not None:
        env |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    with subprocess.Popen(
        line, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=env
    ) as process:
        try:
            yield Rayed(process)
        finally:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            process.kill()
