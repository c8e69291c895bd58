"""Whole runs from outside: the commands as a person types them, and what they leave behind."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.forks import ended
from tests.support.loopback import Loopback
from videoautoarena.agents.offline import KINDS

ROSTER = ("hawk", "owl", "mole", "terse")
KEY = "loopback-key"


def write_config(
    path: Path, provider: str, server: Loopback | None = None, *, timeout_s: float | None = None
) -> Path:
    """Write an arena.toml in which every model goes by its bare name, whoever provides it."""
    lines = [f'[roles]\nmodels = {list(ROSTER)}\nexaminer = "examiner"\njudge = "judge"']
    for kind in (*ROSTER, "examiner", "judge"):
        lines += [f"[models.{kind}]", f'model = "{provider}:{kind}"']
        lines += [f"max_frames = {KINDS[kind]}"]
        if server is not None:
            url = server.openai_url if provider == "openai" else server.gemini_url
            lines += [f'base_url = "{url}"', 'key_env = "LOOPBACK_KEY"']
        if timeout_s is not None:
            lines += [f"timeout_s = {timeout_s}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def command(name: str, *arguments: str | Path) -> list[str]:
    """Return the command line of one of the project's commands."""
    return [str(Path(sys.executable).with_name(name)), *map(str, arguments)]


def environment() -> dict[str, str]:
    """Return this process's environment with the key that a loopback server may ask for."""
    return {**os.environ, "LOOPBACK_KEY": KEY}


def end_well(line: list[str]) -> str:
    """Run a command line to its good end and return its stdout."""
    done = ended(line, env=environment())
    assert done.returncode == 0, f"{line} ended with {done.returncode}:\n{done.stderr[-3000:]}"
    return done.stdout


@contextmanager
def opened(out: Path, name: str = "run.sqlite") -> Iterator[sqlite3.Connection]:
    """Give a copy of a run's file, so that looking at it leaves the run as it was."""
    with tempfile.TemporaryDirectory() as folder:
        for file in out.glob(f"{name}*"):
            shutil.copy(file, folder)
        connection = sqlite3.connect(Path(folder) / name)
        try:
            yield connection
        finally:
            connection.close()


def battles(out: Path) -> dict[str, str]:
    """Return each battle's bytes by its id."""
    with opened(out) as file:
        return dict(file.execute("SELECT id, body FROM battles ORDER BY id"))


def committed_keys(out: Path, name: str = "run.sqlite") -> set[str]:
    """Return the keys of all calls that a run has written down; none before it has a file."""
    if not (out / name).exists():
        return set()
    with opened(out, name) as file:
        return {key for (key,) in file.execute("SELECT key FROM calls")}


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
