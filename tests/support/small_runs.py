"""Whole runs in the test's own process, with offline models or with any brain over the client."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.migrations import MIGRATIONS, migrate
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import Finished, simulate
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.tournament.replay import Replayed, replay

TRIO = ("offline:hawk", "offline:mole", "offline:parrot")


def play(videos: Path, out: Path, *, said: list[str] | None = None, **flags: Any) -> Finished:
    """Play a run of two rounds with three offline models, unless the flags say otherwise."""
    typed = RunRequest(**{"models": TRIO, "rounds": 2, **flags})
    heard = [] if said is None else said
    return run_async(
        simulate(typed.model_copy(update={"videos": videos, "out": out}), say=heard.append)
    )


def play_again(out: Path) -> Replayed:
    """Replay a run."""
    return run_async(replay(out))


def battles_of(out: Path) -> list[Battle]:
    """Return a run's battles in the order of their slots."""
    with Store.open(out / RUN_FILE, write=False) as store:
        return store.battles()


@contextmanager
def altered(out: Path, name: str = RUN_FILE) -> Iterator[sqlite3.Connection]:
    """Give a run's file to change it behind the program's back."""
    connection = sqlite3.connect(out / name)
    try:
        yield connection
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def put_back(file: sqlite3.Connection, layout: int) -> None:
    """Take from a run's file all that layouts after this one keep."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as then:
        migrate(then, MIGRATIONS[:layout])
        kept = set(then.execute(_MADE))
    made = set(file.execute(_MADE)) - kept
    for kind, name in sorted(made, reverse=True):
        file.execute(f"DROP {kind} IF EXISTS {name}")
    file.execute(f"PRAGMA user_version = {layout}")


_MADE = "SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL"


def alter(out: Path, sql: str, **values: Any) -> None:
    """Change one thing in a run's file; it must be there."""
    with altered(out) as file:
        assert file.execute(sql, values).rowcount > 0


def toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Return models' tables of an arena.toml."""
    lines = []
    for name, table in tables.items():
        lines += [f"[models.{name}]", *(f"{key} = {value!r}" for key, value in table.items())]
    return "\n".join(lines) + "\n"
