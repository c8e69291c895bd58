"""Whole runs in the test's own process, with offline models or with any brain over the client."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.config.run_config import Flags
from videoautoarena.runs.rundir.reader import RUN_FILE
from videoautoarena.runs.tournament.replay import Replayed, replay
from videoautoarena.runs.tournament.simulate import Finished, simulate

TRIO = ("offline:hawk", "offline:mole", "offline:parrot")


def play(videos: Path, out: Path, *, said: list[str] | None = None, **flags: Any) -> Finished:
    """Play a run of two rounds with three offline models, unless the flags say otherwise."""
    typed = Flags(**{"models": TRIO, "rounds": 2, **flags})
    heard = [] if said is None else said
    return run_async(simulate(videos, out, flags=typed, say=heard.append))


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


def forget_outlines(file: sqlite3.Connection) -> None:
    """Take from a run's file what older layouts did not keep of battles and calls."""
    tables, events = ("slots", "battles", "calls", "frames"), ("insert", "delete", "update")
    for table, event in product(tables, events):
        file.execute(f"DROP TRIGGER {table}_{event}")
    for table, event in product(("calls", "battles"), events):
        file.execute(f"DROP TRIGGER {table}_{event}_ends")
    for table in ("places", "outlines", "sent", "call_ends", "marked_battles"):
        file.execute(f"DROP TABLE {table}")


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
