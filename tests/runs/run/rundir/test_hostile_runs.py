"""A genuine run that somebody has changed: every command says one line, or shows what is sound."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_runs import TRIO, altered, play
from tests.support.typed import Terminal
from tests.support.whole_runs import folder_bytes
from videoautoarena.runs.run.rundir.reader import RUN_FILE

HUGE = "<b>x</b>\x1b[2J" * 100_000
DEEP = "[" * 100_000 + "]" * 100_000
Change = Callable[[sqlite3.Connection], object]


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("genuine")
    play(draw_folder(place / "videos", 1, seconds=2), place / "out", rounds=1)
    return place / "out"


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


def each(table: str, change: str, *values: object) -> Change:
    return lambda file: file.execute(f"UPDATE {table} SET {change}", values)


def rename(file: sqlite3.Connection) -> None:
    for table in ("manifest", "draws", "battles", "calls"):
        huge = json.dumps(HUGE), json.dumps(TRIO[0])
        file.execute(f"UPDATE {table} SET body = replace(body, ?2, ?1)", huge)


def numbers(value: str) -> Change:
    def change(file: sqlite3.Connection) -> None:
        for name in ("input_tokens", "output_tokens"):
            file.execute(
                f'UPDATE calls SET body = replace(body, \'"{name}":\', \'"{name}":{value},"x":\')'
            )

    return change


def without_triggers(change: Change) -> Change:
    """Return a change that the file's own bookkeeping does not see."""

    def changed(file: sqlite3.Connection) -> None:
        found = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = found.fetchall()
        for name, _ in triggers:
            file.execute(f"DROP TRIGGER {name}")
        change(file)
        for _, sql in triggers:
            file.execute(sql)

    return changed


def fill(table: str, columns: str, values: str) -> Change:
    """Return a change that adds rows of markup."""
    rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
    sql = f"{rows} INSERT INTO {table} ({columns}) SELECT {values} FROM n"
    return lambda file: file.execute(sql, ("<img src=x>\x1b[2J",))


CHANGES: dict[str, Change] = {
    "a trigger": lambda file: file.execute(
        "CREATE TRIGGER spy AFTER INSERT ON calls BEGIN DELETE FROM battles; END"
    ),
    "a huge name": rename,
    "a path out of the folder": each("videos", "body = json_set(body, '$.path', ?)", "../../x"),
    "a path of escapes": each("videos", "body = json_set(body, '$.path', ?)", "\x1b[2J\u202e.mp4"),
    "a huge path": each("videos", "body = json_set(body, '$.path', ?)", HUGE),
    "a huge persona": each("battles", "body = json_set(body, '$.persona_text', ?)", HUGE),
    "deep battles": without_triggers(each("battles", "body = ?", DEEP)),
    "deep calls": without_triggers(each("calls", "body = ?", DEEP)),
    "deep videos": each("videos", "body = ?", DEEP),
    "a deep manifest": each("manifest", "body = ?", DEEP),
    "bytes for battles": without_triggers(each("battles", "body = ?", b"\xff{")),
    "endless numbers": without_triggers(numbers("1e999")),
    "impossible sizes": each("videos", "body = json_set(body, '$.size_bytes', ?)", 2**63 - 1),
    "a negative duration": each("battles", "body = json_set(body, '$.duration_s', ?)", -7.0),
    "a negative ordinal": each("slots", "ordinal = -1 WHERE ordinal = 1"),
    "a huge ordinal": each("slots", "ordinal = 9223372036854775807 WHERE ordinal = 1"),
    "labels of markup": fill("labels", "battle, labeller, body", "?1, i, ?1"),
    "votes of markup": fill("votes", "task, subject, labeller, body", "'battle', i, ?1, ?1"),
    "files of markup": fill("files", "name, digest, text", "i || ?1, ?1, ?1"),
    "sessions of markup": fill("sessions", "began_at_s, worked_s", "?1, ?1"),
}
COMMANDS = {
    "status": (),
    "leaderboard": (),
    "battles": ("--contains=a", "--sort=hardest"),
    "show": ("BATTLE",),
    "audit": (),
    "report": ("--to", "report.html", "--thumbs", "2"),
    "freeze": ("--to", "bench"),
    "export": ("--to", "calls.jsonl"),
    "merge": ("GENUINE", "--to", "merged"),
    "replay": (),
    "resume": (),
}
FAST = {"a trigger": "status", "a path of escapes": "status", "deep battles": "resume"}
ONE_OF = 1 if "WHOLE_TABLE" in os.environ else 4
"""Each command meets every so-manieth change, and each change as many commands, unless asked."""
EACH = [
    pytest.param(change, name, marks=[] if FAST.get(change) == name else pytest.mark.slow)
    for row, change in enumerate(CHANGES)
    for column, name in enumerate(COMMANDS)
    if FAST.get(change) == name or (row + column) % ONE_OF == 0
]


@pytest.mark.parametrize(("change", "name"), EACH)
def test_a_changed_run_makes_one_line_or_a_bounded_result(
    genuine: Path, tmp_path: Path, typed: Terminal, change: str, name: str
) -> None:
    out = Path(shutil.copytree(genuine, tmp_path / "out"))
    with altered(out) as file:
        (battle,) = file.execute("SELECT id FROM battles").fetchone()
        CHANGES[change](file)
    places = {"BATTLE": battle, "GENUINE": str(genuine)}
    words = [
        places.get(word, word if word.startswith("-") or word.isdigit() else str(tmp_path / word))
        for word in COMMANDS[name]
    ]
    before = folder_bytes(genuine.parent)
    said = typed.arena(name, out, *words)
    assert said.code in (0, 1), said.err[-3000:]
    assert "\x1b[2J" not in said.out + said.err
    # A replay that came to other battles shows them as its result.
    if said.code and (said.err or name != "replay"):
        assert said.err.splitlines()[-1].startswith("arena: ")
        assert len(said.err) < 6000
    if change == "a trigger":
        assert "run.sqlite holds the trigger 'spy'" in said.err
    assert len(said.out) < 100_000 or (change, name) == ("a huge persona", "show")
    assert folder_bytes(genuine.parent).keys() == before.keys()
    assert (genuine / RUN_FILE).read_bytes() == before[f"out/{RUN_FILE}"]
