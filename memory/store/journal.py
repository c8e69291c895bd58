"""The journal: every model call that was paid for, found again by its key and never paid twice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from videoautoarena.memory.records.digests import canonical_json, read_body, write_body
from videoautoarena.memory.records.records import (
    Attempt,
    CallEnds,
    CallRow,
    Intent,
    Nonce,
    Role,
    UnansweredTries,
)
from videoautoarena.memory.store.batches import RECORDED, Batches
from videoautoarena.memory.store.connection import StoreReader
from videoautoarena.memory.store.writer import RunTables, Writes, needed

_COLUMNS = "key, scope, role, generation, ordinal, model, body"
_IN_COLUMNS = frozenset({"key", "nonce", "model"})
# Not INSERT OR IGNORE, which would also swallow rows that break another constraint.
_RECORD = (
    f"INSERT INTO calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
)
# Floats hold every whole number up to here; what claims more, in whatever file, is no count.
_MOST = 2**53


def _value(name: str, body: str) -> str:
    return f"json_extract({body}, '$.{name}')"


def _number(name: str, body: str = "body") -> str:
    """Return SQL for a number of a call; NULL for one that no call can have."""
    value = _value(name, body)
    return f"iif({value} BETWEEN 0 AND {_MOST}, {value}, NULL)"


def _spent(number: Callable[..., str]) -> str:
    # A call's row holds its last try, and its attempts those before it.
    return (
        "WITH tries (is_last, try) AS (SELECT 1, body FROM calls WHERE model NOT GLOB ?1 UNION ALL "
        "SELECT 0, each.value FROM calls, json_each(body, '$.attempts') AS each "
        "WHERE model NOT GLOB ?1) "
        "SELECT total(is_last), total(usd), total(is_last AND usd IS NULL), total(tokens_in), "
        f"total(tokens_out) FROM (SELECT is_last, {number('cost_usd', 'try')} AS usd, "
        f"{number('usage.input_tokens', 'try')} AS tokens_in, "
        f"{number('usage.output_tokens', 'try')} AS tokens_out FROM tries)"
    )


_FRAMES = (
    f"SELECT model, max({_number('usage.input_tokens')} * 1.0 / "
    f"{_number('frames')}) AS most FROM calls WHERE {_number('frames')} >= ? "
    "GROUP BY model HAVING most IS NOT NULL"
)
_ANSWERS = (
    "SELECT place, scope, ordinal, json_extract(body, '$.reply') IS NOT NULL, "
    f"{_number('usage.output_tokens')}, {_number('usage.reasoning_tokens')}, "
    "json_extract(body, '$.failure_kind') FROM calls WHERE place > ? AND role = 'contestant' "
    "ORDER BY place LIMIT ?"
)
_ANSWERED = (
    "SELECT place, scope, json_extract(body, '$.alias'), role FROM calls "
    "WHERE place > ? AND json_extract(body, '$.reply') IS NOT NULL ORDER BY place LIMIT ?"
)
_SENT = (
    f"SELECT alias, role, shown, frames, calls FROM sent WHERE calls BETWEEN 1 AND {_MOST} "
    f"AND shown BETWEEN 0 AND {_MOST} AND frames BETWEEN 0 AND {_MOST} "
    "ORDER BY alias, role, shown, frames"
)
_ENDS = (
    "SELECT alias, role, is_answered, ending, failure, is_late, is_blind, calls FROM call_ends "
    f"WHERE calls BETWEEN 1 AND {_MOST} ORDER BY alias, role, ending"
)
_SENT_ABOUT = (
    "SELECT json_extract(body, '$.alias'), role, json_extract(body, '$.frames') AS frames, "
    "count(*) FROM calls WHERE scope >= ? AND scope < ? || '~' AND substr(scope, 1, 12) = ? "
    f"AND frames BETWEEN 0 AND {_MOST} AND json_type(body, '$.reply') = 'text' GROUP BY 1, 2, 3"
)
_TAKEN = (
    "SELECT place, scope, role, generation, model, json_extract(body, '$.alias'), "
    f"json_extract(body, '$.reply') IS NOT NULL, {_number('frames')}, {_number('text_chars')}, "
    f"{_number('latency_s')}, {_number('cost_usd')}, {_number('usage.input_tokens')}, "
    f"{_number('usage.output_tokens')}, {_number('usage.cached_tokens')}, "
    "json_extract(body, '$.batch') IS NOT NULL, json_extract(body, '$.attempts') "
    "FROM calls WHERE place > ? ORDER BY place LIMIT ?"
)
_HAS_ANSWERED = (
    "SELECT 1 FROM calls WHERE json_extract(body, '$.endpoint') = ? "
    "AND json_extract(body, '$.reply') IS NOT NULL LIMIT 1"
)
# Every call of a server without a price is of unknown cost, and there may be 100,000 of them: one
# whose tokens were counted says nothing that `_spent` does not.
_LOOSE = (
    f"SELECT place, {_COLUMNS} FROM calls WHERE place > ?1 AND model NOT GLOB ?3 AND "
    "(json_array_length(body, '$.attempts') > 0 OR "
    "json_extract(body, '$.usage.input_tokens') IS NULL OR "
    "json_extract(body, '$.usage.output_tokens') IS NULL OR "
    "json_extract(body, '$.cost_usd') IS NULL AND "
    "(json_extract(body, '$.may_have_cost_usd') IS NOT NULL OR "
    "json_extract(body, '$.alias') NOT IN (SELECT value FROM json_each(?4)))) "
    "ORDER BY place LIMIT ?2"
)
_INTENT_COLUMNS = "key, scope, role, generation, ordinal, model, attempt, usd, tokens"
_INTEND = f"INSERT INTO intents ({_INTENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ENDED = "DELETE FROM intents WHERE key = ? AND NOT is_left_over"
_WITHDRAW = f"{_ENDED} AND attempt = ?"
_LEAVE_OVER = "UPDATE intents SET is_left_over = 1 WHERE NOT is_left_over"
_LEAVE_OVER_OF = f"{_LEAVE_OVER} AND key = ?"
_LEAVE_OVER_ONE = f"{_LEAVE_OVER_OF} AND attempt = ?"
# Layouts before 4 kept in `lost` what stopped calls may have cost; such rows still count.
_LOST = (
    "SELECT total(tries), sum(usd), total(tokens) FROM (SELECT tries, usd, tokens FROM lost "
    "WHERE model NOT GLOB ?1 UNION ALL SELECT 1, usd, tokens FROM intents "
    "WHERE model NOT GLOB ?1 AND (is_left_over OR ?2) UNION ALL SELECT 1, usd, tokens "
    "FROM batch_calls WHERE model NOT GLOB ?1 AND ?3)"
)
_FIND = f"SELECT {_COLUMNS} FROM calls WHERE key = ?"

_AT_ONCE = 256
"""Calls that are read in one go."""
_ROWS_AT_ONCE = 4096
"""The same, where no text is read with them."""


NO_TRIES = UnansweredTries()


_ATTEMPTS = TypeAdapter(tuple[Attempt, ...])


class CallTotals(NamedTuple):
    """What all calls of a run cost and took, in all its processes."""

    calls: int = 0
    usd: float = 0.0
    """Known cost of all tries, those that came back without a reply among them."""
    unknown: int = 0
    """Calls whose last try is of unknown cost."""
    input_tokens: int = 0
    output_tokens: int = 0
    lost: UnansweredTries = NO_TRIES
    """Tries without an answer, which no figure above counts."""


NO_CALLS = CallTotals()


class AnswerOutcome(NamedTuple):
    """What came of a contestant's call, without its words."""

    scope: str
    ordinal: int
    is_answered: bool
    output_tokens: int | None
    reasoning_tokens: int | None
    failure_kind: str | None


class CallFigures(NamedTuple):
    """What one call took, without a word of it; tokens and cost are those of its last try."""

    scope: str
    role: Role
    generation: int
    model: str
    alias: str
    is_answered: bool
    frames: int
    text_chars: int
    latency_s: float
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    attempts: tuple[Attempt, ...]
    """The tries before the last one."""
    is_batched: bool = False
    """Whether a batch brought it."""


class FramesSent(NamedTuple):
    """How many answered calls of a model in a role were sent how many of a video's frames."""

    alias: str
    role: Role
    shown: int
    """Frames that the run uses of the video."""
    frames: int
    calls: int


class Journal(RunTables):
    """The calls of one run."""

    def __init__(
        self, reader: StoreReader, writer: Writes | None = None, *, is_alone: bool = True
    ) -> None:
        """Take what is read and written; not `is_alone` where others have calls under way.

        With `is_alone`, intents that are still open were left over by a process that is gone.
        """
        super().__init__(reader, writer)
        self.batches = Batches(reader, writer)
        self._intended: set[str] = set()
        """Keys of calls that are under way."""
        self._held: dict[str, dict[str, CallRow]] = {}
        """Finished calls of the scopes that are held in memory, by scope and key."""
        if writer is not None and is_alone and self.intents():
            writer.write_now(_LEAVE_OVER, ())

    def find(self, key: str, scope: str | None = None) -> CallRow | None:
        """Return the finished call with this key, be it a reply or a failure for good.

        With the scope of the call, no file is read for one that is held in memory.
        """
        if scope is not None and (held := self._held.get(scope)) is not None:
            return held.get(key)
        row = self._reader.row(_FIND, key)
        return _call(row) if row else None

    def hold(self, scopes: Collection[str]) -> None:
        """Keep the calls of these scopes in memory, and what is recorded of them, until `release`.

        What one of them asks is then found without a look at the file.
        """
        found: dict[str, dict[str, CallRow]] = {scope: {} for scope in scopes}
        among = "WHERE scope IN (SELECT value FROM json_each(?))"
        for row in self._calls(among, canonical_json(sorted(scopes))):
            found[row.nonce.scope][row.key] = row
        self._held |= found

    def release(self, scopes: Iterable[str]) -> None:
        """Let go of the calls of these scopes."""
        for scope in scopes:
            self._held.pop(scope, None)

    async def record(self, row: CallRow) -> None:
        """Keep a finished call, committed when this returns; a key that is there stays as it is."""
        writer = needed(self._writer, "no call can be recorded")
        nonce = row.nonce
        body = write_body(row, without=_IN_COLUMNS, defaults=False)
        columns = (row.key, nonce.scope, nonce.role, nonce.generation, nonce.ordinal, row.model)
        record = _RECORD, [(*columns, body)]
        ended = []
        # The row holds all tries of this process. In one transaction: a kill between the two would
        # count a paid try twice, or lose it.
        if row.key in self._intended:
            ended.append((_ENDED, [(row.key,)]))
        if row.key in self.batches.keys:
            ended.append((RECORDED, [(row.key,)]))
        await writer.write_all(record, *ended)
        self._intended.discard(row.key)
        self.batches.keys.pop(row.key, None)
        if (held := self._held.get(nonce.scope)) is not None:
            held.setdefault(row.key, row)

    async def intend(self, intent: Intent) -> None:
        """Keep that a try is about to be sent: committed when this returns.

        It stands until its call is recorded or it is withdrawn. One left over by a process that is
        gone stands for ever: its key is sent again, and both tries may be paid for.
        """
        writer = needed(self._writer, "no call can be sent")
        nonce = intent.nonce
        place = (intent.key, nonce.scope, nonce.role, nonce.generation, nonce.ordinal)
        most = (intent.model, intent.attempt, intent.usd, intent.tokens)
        # A call that begins again was cut off before, and nobody waits for what it had sent.
        again = intent.attempt == 1 and intent.key in self._intended
        before = [(_LEAVE_OVER_OF, [(intent.key,)])] if again else []
        self._intended.add(intent.key)
        await writer.write_all(*before, (_INTEND, [(*place, *most)]))

    def withdraw(self, key: str, attempt: int) -> None:
        """Take back the intent of a try that was not sent, or surely not paid; returns at once."""
        # Called from tasks that are being cancelled, which cannot wait for a commit.
        needed(self._writer, "no call can be sent").write_soon(_WITHDRAW, (key, attempt))

    def leave_over(self, key: str, attempt: int) -> None:
        """Let the intent of a try stand for ever, as if its process were gone; returns at once.

        What it may have cost is no longer that of its call's row.
        """
        needed(self._writer, "no call can be sent").write_soon(_LEAVE_OVER_ONE, (key, attempt))

    def intents(self) -> list[Intent]:
        """Return the tries that have no reply, in the order in which they were to be sent."""
        sql = f"SELECT {_INTENT_COLUMNS}, is_left_over FROM intents ORDER BY place"
        found: list[Any] = self._reader.rows(sql)
        intents = []
        for (
            key,
            scope,
            role,
            generation,
            ordinal,
            model,
            attempt,
            usd,
            tokens,
            is_left_over,
        ) in found:
            nonce = Nonce(scope=scope, role=role, generation=generation, ordinal=ordinal)
            intents.append(Intent(key, nonce, model, attempt, usd, tokens, bool(is_left_over)))
        return intents

    def lost(
        self, *, besides: str = "", in_flight: bool = True, in_batches: bool = True
    ) -> UnansweredTries:
        """Return what all tries without a reply may have cost, as far as it is known of each.

        Tries of models that match the pattern `besides` are left out, and, without `in_flight`,
        those that a process still waits for; without `in_batches`, calls whose batch may still
        bring their reply.
        """
        asked = (besides, int(in_flight), int(in_batches))
        tries, usd, tokens = self._reader.row(_LOST, *asked) or (0, None, 0)
        known = None if usd is None else float(usd)
        return UnansweredTries(int(tries), known, int(tokens)) if tries else NO_TRIES

    def calls(self, scope: str | None = None) -> list[CallRow]:
        """Return all calls, or those of one scope, in the order in which they were recorded."""
        which, *values = ("",) if scope is None else ("WHERE scope = ?", scope)
        return self._calls(f"{which} ORDER BY place", *values)

    def _calls(self, which: str, *values: str | int) -> list[CallRow]:
        found = self._reader.rows(f"SELECT {_COLUMNS} FROM calls {which}", *values)
        return [_call(row) for row in found]

    def spent(self, *, besides: str = "") -> CallTotals:
        """Return what all calls cost and took, except those of models that match `besides`."""
        # Checking each number takes a third longer. Sums in range show that there was no need.
        for number in (_value, _number):
            row = self._reader.row(_spent(number), besides)
            calls, usd, unknown, tokens_in, tokens_out = row or (0, 0, 0, 0, 0)
            if all(0 <= float(one) <= _MOST for one in (usd, tokens_in, tokens_out)):
                break
        counted = (int(calls), float(usd), int(unknown), int(tokens_in), int(tokens_out))
        return CallTotals(*counted, self.lost(besides=besides))

    def count(self, *, besides: str = "") -> int:
        """Return how many calls are finished, except those whose scope matches a pattern."""
        row = self._reader.row("SELECT count(*) FROM calls WHERE scope NOT GLOB ?", besides)
        return int((row or ("0",))[0])

    def each_loose(self, *, besides: str = "", unpriced: Collection[str] = ()) -> Iterator[CallRow]:
        """Yield the calls that `spent` may not cover: of unknown cost, uncounted, or tried again.

        Calls of models that match `besides` are left out; those of `unpriced` names in the cast
        are no news by their unknown cost alone. A few are in memory at a time.
        """
        names = canonical_json(sorted(unpriced))
        for page in self._reader.pages(_LOOSE, 0, _AT_ONCE, besides, names):
            yield from (_call(row[1:]) for row in page)

    def has_answered(self, endpoint: str) -> bool:
        """Return whether any finished call has a reply from an address."""
        return self._reader.row(_HAS_ANSWERED, endpoint) is not None

    def latest(self, count: int) -> list[CallRow]:
        """Return the `count` calls that were recorded last, the last one first."""
        return self._calls("ORDER BY place DESC LIMIT ?", count)

    def each_answered(self) -> Iterator[tuple[str, str, str]]:
        """Yield scope, alias and role of every answered call, with a few in memory at a time."""
        for page in self._reader.pages(_ANSWERED, 0, _AT_ONCE):
            yield from ((scope, alias, role) for _, scope, alias, role in page)

    def each_taken(self) -> Iterator[CallFigures]:
        """Yield what every call took, in the order in which they were recorded."""
        for page in self._reader.pages(_TAKEN, 0, _ROWS_AT_ONCE):
            yield from map(_taken, page)

    def each_answer(self) -> Iterator[AnswerOutcome]:
        """Yield what came of every contestant's call, in the order in which they were recorded."""
        for page in self._reader.pages(_ANSWERS, 0, _ROWS_AT_ONCE):
            yield from (
                AnswerOutcome(scope, k, bool(reply), *rest) for _, scope, k, reply, *rest in page
            )

    def frame_tokens(self, frames: int) -> dict[str, float]:
        """Return each model's most input tokens per frame, in calls of at least so many frames."""
        found = self._reader.rows(_FRAMES, frames)
        return {model: float(tokens) for model, tokens in found}

    def sent_about(self, video: str) -> list[FramesSent]:
        """Return how many frames answered calls about one video had; `shown` is always 0."""
        found: list[Any] = self._reader.rows(_SENT_ABOUT, video, video, video)
        return [FramesSent(alias, role, 0, frames, calls) for alias, role, frames, calls in found]

    def sent_frames(self) -> list[FramesSent]:
        """Return how many frames answered calls were made from; those of trials are left out."""
        found: list[Any] = self._reader.rows(_SENT)
        return [FramesSent(*row) for row in found]

    def ends(self) -> list[CallEnds]:
        """Return how calls ended, summed by what they share; those of trials and tags left out."""
        found: list[Any] = self._reader.rows(_ENDS)
        return [
            CallEnds(alias, role, bool(reply), ending, failure, bool(late), bool(blind), calls)
            for alias, role, reply, ending, failure, late, blind, calls in found
        ]

    def last_place(self) -> int:
        """Return the place of the call that was recorded last; 0 before any."""
        return int((self._reader.row("SELECT max(place) FROM calls") or (None,))[0] or 0)

    def after(self, place: int, *, most: int = -1) -> tuple[int, list[CallRow]]:
        """Return calls behind a place, 0 for the first, and the place of the last of them."""
        sql = f"SELECT place, {_COLUMNS} FROM calls WHERE place > ? ORDER BY place LIMIT ?"
        found = self._reader.rows(sql, place, most)
        return int(found[-1][0]) if found else place, [_call(row[1:]) for row in found]


def _taken(row: tuple[Any, ...]) -> CallFigures:
    _, *whose, is_answered, frames, chars, latency_s, usd, read, wrote, cached, batched, tries = row
    scope, role, generation, model, alias = whose
    return CallFigures(
        *(scope, role, generation, model, alias, bool(is_answered)),
        frames=frames or 0,
        text_chars=chars or 0,
        latency_s=latency_s or 0.0,
        cost_usd=usd,
        input_tokens=read,
        output_tokens=wrote,
        cached_tokens=cached,
        attempts=_ATTEMPTS.validate_json(tries) if tries else (),
        is_batched=bool(batched),
    )


def _call(row: tuple[str, ...]) -> CallRow:
    key, scope, role, generation, ordinal, model, body = row
    nonce = {"scope": scope, "role": role, "generation": generation, "ordinal": ordinal}
    return read_body(CallRow, body, key=key, nonce=nonce, model=model)
