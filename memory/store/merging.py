"""Several run files put into one: every row once, its places renumbered, nothing else changed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.digests import canonical_json, digest, read_body, write_body
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.connection import (
    PAGE_BYTES,
    StoreReader,
    blaming,
    connect,
    real_file,
    sync_folder,
    wal_of,
)
from videoautoarena.memory.store.migrations import migrate

Row = tuple[Any, ...]
OnPage = Callable[[int, int], None]

LOCAL = "local/"
"""Beginning of the names of texts that are of one machine: a run's caps, where its videos lay."""
_AT_ONCE = 2048
"""Rows that are copied in one go."""
_CACHE_KB = 200_000
"""Page cache of the target: keys of calls are random, so their index should stay in memory."""


class MergedPart(NamedTuple):
    """Where the slots of one run stand in the one it was merged into."""

    first_ordinal: int
    slots: int
    first_block: int


class _Table(NamedTuple):
    """How the rows of a table come together."""

    columns: tuple[str, ...]
    """All columns except places that are numbered anew."""
    key: tuple[str, ...] = ()
    """Columns whose values only one row may have; empty where every row counts."""
    what: str = ""
    """What a message calls one of its rows."""


_BODY = ("body",)
_CALL = ("key", "scope", "role", "generation", "ordinal", "model")
TABLES: dict[str, _Table] = {
    "files": _Table(("name", "digest", "text"), ("name",), "the text"),
    "videos": _Table(("id", "sha256", "body"), ("id",), "the video"),
    "skipped": _Table(_BODY, _BODY, "the skipped file"),
    "slots": _Table(("ordinal", "id", "video", "body"), ("id",), "the slot"),
    "frames": _Table(("video", "body"), ("video",), "the frames of the video"),
    "draws": _Table(("slot", "body"), ("slot",), "the draw of slot"),
    "battles": _Table(("id", "body"), ("id",), "the battle"),
    "calls": _Table((*_CALL, "body"), ("key",), "the call"),
    "sessions": _Table(("began_at_s", "worked_s")),
    "lost": _Table(("model", "tries", "usd", "tokens")),
    "labels": _Table(("battle", "labeller", "body"), ("battle", "labeller"), "the label of"),
    "trials": _Table(("id", "body"), ("id",), "the trial"),
    "samples": _Table(_BODY),
    "intents": _Table(
        (*_CALL, "attempt", "usd", "tokens", "is_left_over"),
    ),
    "batches": _Table(
        (
            *("id", "protocol", "model", "endpoint", "began_at_s", "calls", "state"),
            *("server_id", "answered"),
        ),
        ("id",),
        "the batch",
    ),
    "batch_calls": _Table((*_CALL, "batch", "usd", "tokens"), ("key",), "the batched call"),
    "batch_witnesses": _Table(("batch", "name"), ("batch",), "the batch's witness"),
    "tags": _Table(("id", "body"), ("id",), "the tag"),
    "votes": _Table(("task", "subject", "labeller", "body", "is_superseded")),
}
"""The tables that are merged; a table comes after those that its rows refer to."""
OWN = (
    "manifest",
    "claims",
    "deliveries",
    "places",
    "outlines",
    "sent",
    "call_ends",
    "marked_battles",
)
"""The other tables: they are about one run file alone, or triggers derive them from the rest."""


def merge_files(
    sources: Sequence[Path],
    target: Path,
    manifest_of: Callable[[Sequence[MergedPart]], dict[str, Any]],
    *,
    texts: Mapping[str, str] = {},
    on_page: OnPage = lambda _done, _total: None,
) -> list[MergedPart]:
    """Write the rows of several run files into a new one, whole or not at all.

    Slots keep their ids and generations; ordinals and blocks follow those of the runs before. A
    call that two runs hold under one key is kept once, the first's reply. What a process may have
    paid for without a reply stays listed.

    Args:
        sources: run files, at least one; none is changed.
        target: the new file.
        manifest_of: what the new run says of itself, given where each run's slots came to stand.
        texts: by name, what the new run holds in place of the runs' own texts of those names.
        on_page: called with how many pages of rows are copied, and of how many.

    Raises:
        StoreError: the target is there, a file is damaged, or two runs say different things of the
            same video, slot or trial.
    """
    target = real_file(target)
    if target.exists():
        raise StoreError(f"{target} exists already; pass another {option('to')}")
    draft = target.with_name(f"{target.name}.new")
    with blaming(target):
        # A log without its file would be taken for the log of the new one.
        for left_over in (draft, wal_of(target)):
            left_over.unlink(missing_ok=True)
    try:
        with blaming(draft), closing(connect(draft, "mode=rwc")) as connection:
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            # Nobody relies on a draft, so no page of it is synced; all of it is, once, before it
            # takes its name.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
            migrate(connection)
            parts = _copied(connection, sources, texts, on_page)
            body = canonical_json(manifest_of(parts))
            connection.execute("INSERT INTO manifest (id, body) VALUES (1, ?)", (body,))
        with blaming(target):
            with draft.open("rb") as file:
                # After a power cut the name must never stand for a file whose pages were not
                # written.
                os.fsync(file.fileno())
            os.replace(draft, target)
            sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    return parts


def _copied(
    connection: sqlite3.Connection,
    sources: Sequence[Path],
    texts: Mapping[str, str],
    on_page: OnPage,
) -> list[MergedPart]:
    told = [(name, digest(text), text) for name, text in texts.items()]
    connection.executemany("INSERT INTO files (name, digest, text) VALUES (?, ?, ?)", told)
    parts: list[MergedPart] = []
    first_ordinal = first_block = done = 0
    total = sum(map(_count_pages, sources))
    for source in sources:
        reader = StoreReader(real_file(source))
        try:
            part = MergedPart(first_ordinal, _count(reader, "slots"), first_block)
            for name, table in TABLES.items():
                for page in _pages(reader, name, table):
                    rows = _moved(page, part) if name == "slots" else page
                    if name == "files":
                        rows = [r for r in rows if r[0] not in texts and not r[0].startswith(LOCAL)]
                    connection.execute("BEGIN")
                    _insert(connection, name, table, rows=rows, source=source)
                    connection.execute("COMMIT")
                    done += 1
                    on_page(done, total)
        finally:
            reader.close()
        parts.append(part)
        (ordinal, block) = connection.execute(
            "SELECT max(ordinal), max(json_extract(body, '$.block')) FROM slots"
        ).fetchone()
        first_ordinal = first_ordinal if ordinal is None else ordinal + 1
        first_block = first_block if block is None else block + 1
    return parts


def _count(reader: StoreReader, table: str) -> int:
    return int((reader.row(f"SELECT count(*) FROM {table}") or ("0",))[0])


def _count_pages(source: Path) -> int:
    reader = StoreReader(real_file(source))
    try:
        return sum(-(-_count(reader, name) // _AT_ONCE) for name in TABLES)
    finally:
        reader.close()


def _pages(reader: StoreReader, name: str, table: _Table) -> Iterator[list[Row]]:
    sql = (
        f"SELECT rowid, {', '.join(table.columns)} FROM {name} "
        "WHERE rowid > ? ORDER BY rowid LIMIT ?"
    )
    for page in reader.pages(sql, -1, _AT_ONCE):
        yield [row[1:] for row in page]


def _moved(rows: Sequence[Row], part: MergedPart) -> list[Row]:
    """Return rows of slots with their ordinals and blocks in the merged run."""
    moved = []
    for _, id_, video, body in rows:
        slot = read_body(Slot, body)
        place = slot.ordinal + part.first_ordinal
        update = {"ordinal": place, "block": slot.block + part.first_block}
        moved.append((place, id_, video, write_body(slot.model_copy(update=update))))
    return moved


def _insert(
    connection: sqlite3.Connection, name: str, table: _Table, *, rows: list[Row], source: Path
) -> None:
    marks = ", ".join("?" * len(table.columns))
    sql = f"INSERT INTO {name} ({', '.join(table.columns)}) VALUES ({marks})"
    if not table.key:
        connection.executemany(sql, rows)
        return
    for row in rows:
        kept = connection.execute(
            f"{sql} ON CONFLICT ({', '.join(table.key)}) DO NOTHING", row
        ).rowcount
        # Two runs may hold different replies to one call, both of them true: the first one is kept.
        if not kept and name != "calls":
            _refuse_other(connection, name, table, row=row, source=source)


def _refuse_other(
    connection: sqlite3.Connection, name: str, table: _Table, *, row: Row, source: Path
) -> None:
    """Raise StoreError where another run says something else under the same key."""
    key = [row[table.columns.index(column)] for column in table.key]
    where = " AND ".join(f"{column} = ?" for column in table.key)
    columns = ", ".join(table.columns)
    (there,) = connection.execute(f"SELECT {columns} FROM {name} WHERE {where}", key).fetchall()
    if tuple(there) != tuple(row):
        said = str(key[0])[:80]
        raise StoreError(
            f"{source} says other things of {table.what} {said!a} than a run before it"
        )
