"""Batches: calls that were handed to a provider together, from before that until each has a row.

A batch and its calls are on disk before it is posted. Until a provider's list has told whether it
was taken, and until every reply is read, its calls may have been paid for: none is sent again.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from videoautoarena.memory.records.batches import BatchIntent, BatchState, OpenBatch
from videoautoarena.memory.records.records import Intent, Nonce
from videoautoarena.memory.store.connection import StoreReader
from videoautoarena.memory.store.writer import RunTables, Writes, needed

_CALL = "key, scope, role, generation, ordinal, model, usd, tokens"
_INTEND = (
    "INSERT INTO batches (id, protocol, model, endpoint, began_at_s, calls, state) "
    "VALUES (?, ?, ?, ?, ?, ?, 'intended')"
)
# A call whose reply did not come moves from an earlier batch to the next one.
_INTEND_CALL = (
    f"INSERT INTO batch_calls (batch, {_CALL}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET batch = excluded.batch, usd = excluded.usd, "
    "tokens = excluded.tokens"
)
_WITNESS = "INSERT INTO batch_witnesses (batch, name) VALUES (?, ?)"
_WITNESS_OF = "SELECT name FROM batch_witnesses WHERE batch = ?"
_POSTED = "UPDATE batches SET server_id = ?, state = 'posted' WHERE id = ?"
_NOTED = "UPDATE batches SET answered = ?, state = ? WHERE id = ?"
_WITHDRAW = "DELETE FROM batches WHERE id = ?"
_WITHDRAW_CALLS = "DELETE FROM batch_calls WHERE batch = ?"
_FORGET_WITNESS = "DELETE FROM batch_witnesses WHERE batch = ?"
RECORDED = "DELETE FROM batch_calls WHERE key = ?"
"""Takes a call out of its batch: it has a row now, or none is to come."""
# Of what a batch never brought nobody knows whether it was paid for.
_LEFT_OVER = (
    "INSERT INTO intents (key, scope, role, generation, ordinal, model, attempt, usd, tokens, "
    "is_left_over) SELECT key, scope, role, generation, ordinal, model, 1, usd, tokens, 1 "
    "FROM batch_calls WHERE key = ?"
)
_OPEN = (
    "SELECT b.id, b.protocol, b.model, b.endpoint, b.began_at_s, b.calls, b.state, b.server_id, "
    "b.answered, count(*), CASE WHEN count(c.usd) = count(*) THEN total(c.usd) END, "
    "total(c.tokens) FROM batches b JOIN batch_calls c ON c.batch = b.id GROUP BY b.id "
    "ORDER BY b.place"
)
_SERVER_IDS = "SELECT server_id FROM batches WHERE server_id IS NOT NULL"
_CALLS = f"SELECT {_CALL} FROM batch_calls WHERE batch = ? ORDER BY key"
_KEYS = "SELECT key, batch FROM batch_calls"


class Batches(RunTables):
    """The batches of one run."""

    def __init__(self, reader: StoreReader, writer: Writes | None = None) -> None:
        super().__init__(reader, writer)
        found = reader.rows(_KEYS) if writer is not None else ()
        self.keys: dict[str, str] = {str(key): str(batch) for key, batch in found}
        """Call to the batch it waits in; empty where nothing can be written."""

    async def intend(self, batch: BatchIntent) -> None:
        """Keep that a batch is about to be posted, with all its calls: committed on return."""
        head = (batch.id, batch.protocol, batch.model, batch.endpoint, batch.began_at_s)
        rows = [
            (
                batch.id,
                one.key,
                one.nonce.scope,
                one.nonce.role,
                one.nonce.generation,
                one.nonce.ordinal,
                one.model,
                one.usd,
                one.tokens,
            )
            for one in batch.calls
        ]
        self.keys |= {one.key: batch.id for one in batch.calls}
        writer = needed(self._writer, "no batch can be posted")
        await writer.write_all(
            (_INTEND, [(*head, len(batch.calls))]),
            (_INTEND_CALL, rows),
            (_WITNESS, [(batch.id, batch.witness)]),
        )

    async def posted(self, batch: str, server_id: str) -> None:
        """Keep what the provider calls a batch that it has taken."""
        await needed(self._writer).write_all(
            (_POSTED, [(server_id, batch)]),
            (_FORGET_WITNESS, [(batch,)]),
        )

    async def note(self, batch: str, answered: int, *, is_ended: bool) -> None:
        """Keep how far a batch is."""
        state: BatchState = "ended" if is_ended else "posted"
        await needed(self._writer).write(_NOTED, (answered, state, batch))

    async def withdraw(self, batch: str) -> None:
        """Take back a batch that its provider surely never took; its calls cost nothing."""
        self.keys = {key: other for key, other in self.keys.items() if other != batch}
        statements = (_WITHDRAW, _WITHDRAW_CALLS, _FORGET_WITNESS)
        await needed(self._writer).write_all(*((one, [(batch,)]) for one in statements))

    async def lose(self, keys: Collection[str]) -> None:
        """Let calls be sent again that may have been paid for; that is counted for ever."""
        for key in keys:
            self.keys.pop(key, None)
        rows = [(key,) for key in keys]
        await needed(self._writer).write_all((_LEFT_OVER, rows), (RECORDED, rows))

    def open(self) -> list[OpenBatch]:
        """Return the batches with calls that have no row, in the order in which they began."""
        rows: list[Any] = self._reader.rows(_OPEN)
        return [OpenBatch._make((*row[:-1], int(row[-1]))) for row in rows]

    def calls_of(self, batch: str) -> list[Intent]:
        """Return the calls of a batch that have no row, by key."""
        rows: list[Any] = self._reader.rows(_CALLS, batch)
        found = []
        for row in rows:
            key, scope, role, generation, ordinal, model, usd, tokens = row
            nonce = Nonce(scope=scope, role=role, generation=generation, ordinal=ordinal)
            found.append(Intent(key, nonce, model, 1, usd, tokens))
        return found

    def witness_of(self, batch: str) -> str:
        """Return the witness of a batch whose POST was not answered; empty if it has none."""
        rows: list[Any] = self._reader.rows(_WITNESS_OF, batch)
        return str(rows[0][0]) if rows else ""

    def server_ids(self) -> frozenset[str]:
        """Return what providers call the batches of this run, those that ended among them."""
        return frozenset(str(name) for (name,) in self._reader.rows(_SERVER_IDS))
