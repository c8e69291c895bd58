"""`arena view` and `arena annotate` as processes of their own, as a person starts and ends them."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.forks import started
from tests.support.whole_runs import command, environment
from videoautoarena.runs.run.rundir.reader import RUN_FILE


@contextmanager
def serving(name: str, *words: str | Path) -> Iterator[list[str]]:
    """Run a command that serves pages; give the links it prints, and end it as Ctrl-C does."""
    count = max(1, list(map(str, words)).count("--labeller"))
    line = command("arena", name, *words)
    pipe = subprocess.PIPE
    process = started(line, env=environment(), stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    try:
        links = [process.stdout.readline().strip() for _ in range(count)]
        if not all(links):
            raise AssertionError(process.communicate()[1])
        yield [link.rpartition(" ")[2] for link in links]
    finally:
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    assert "Traceback" not in complaints


@contextmanager
def playing(out: Path, clips: Path) -> Iterator[None]:
    """Play the demo meanwhile, from when its run is there; it must end well."""
    # Behind whoever watches, so that the pages of a busy machine see it grow.
    line = [
        "nice",
        "-n",
        "19",
        *command("arena", "demo", "--out", out, "--clips", clips, "--quiet"),
    ]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(line, env=environment(), stdout=quiet, stderr=quiet)
    try:
        while not (out / RUN_FILE).exists():
            with suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"the demo ended with {process.wait(0.05)}")
        yield
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
