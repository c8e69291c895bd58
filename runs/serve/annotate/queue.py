"""Hands one labeller what to vote on, one thing after another, and keeps the votes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from videoautoarena.memory.store.evidence import BattleVote, RankingVote, VoteLog

V = TypeVar("V", BattleVote, RankingVote)
TICKET_BYTES = 12


class StaleVote(Exception):
    """A vote on something other than what is out now."""


class QueueProgress(NamedTuple):
    """How far a labeller is."""

    done: int
    skipped: int
    """Skipped ones among these, where the labeller could not tell."""
    total: int


class VoteQueue(Generic[V]):
    """Hands out one thing at a time under a random ticket, which is good for one vote.

    What it hands out follows from the order and the votes that stand, so that a labeller goes on
    where the last session ended.
    """

    def __init__(
        self,
        votes: VoteLog,
        order: Sequence[str],
        cast: Iterable[V],
        *,
        elsewhere: Collection[str] = (),
    ) -> None:
        """Begin where `cast`, this labeller's votes, end; `elsewhere` was labelled in a file."""
        known = set(order)
        self._votes = votes
        self._order = order
        self._cast: dict[str, V] = {of.subject: of for of in cast if of.subject in known}
        self._elsewhere = known.intersection(elsewhere)
        # Between the check of a ticket and the next one lies
        # a write, in which a double click would pass.
        self._gate = asyncio.Lock()
        self._next()

    def _next(self) -> None:
        done = self._cast.keys() | self._elsewhere
        self.subject = next((one for one in self._order if one not in done), None)
        # A new one each time, so that a vote that is sent twice is stale the second time.
        self.ticket = secrets.token_hex(TICKET_BYTES)

    @property
    def progress(self) -> QueueProgress:
        """Return how far the labeller is."""
        done = self._cast.keys() | self._elsewhere
        skipped = sum(_is_skipped(vote) for vote in self._cast.values())
        return QueueProgress(len(done), skipped, len(self._order))

    @property
    def can_undo(self) -> bool:
        """Return whether there is a vote to take back."""
        return bool(self._cast)

    def holder(self, ticket: str) -> str | None:
        """Return what is out under a ticket; None for any other ticket."""
        return self.subject if secrets.compare_digest(*_bytes(ticket, self.ticket)) else None

    async def vote(self, ticket: str, make: Callable[[str], V]) -> None:
        """Keep the vote that `make` gives for what is out, then go on to the next.

        Raises:
            StaleVote: something else is out by now, or nothing.
            StoreError: it could not be written; then the same stays out.
        """
        async with self._gate:
            subject = self.holder(ticket)
            if subject is None:
                raise StaleVote
            vote = make(subject)
            await self._votes.put(vote)
            self._cast[subject] = vote
            self._next()

    async def undo(self, ticket: str) -> None:
        """Take the last vote back, and hand out what it was of.

        Raises:
            StaleVote: something other than the ticket says is out by now, or there is no vote.
            StoreError: it could not be written; then the vote stands.
        """
        async with self._gate:
            if not self._cast or not secrets.compare_digest(*_bytes(ticket, self.ticket)):
                raise StaleVote
            # A dictionary keeps its order: the last key is of the vote that was cast last.
            subject = next(reversed(self._cast))
            await self._votes.withdraw(self._cast[subject])
            del self._cast[subject]
            self._next()


def _is_skipped(vote: BattleVote | RankingVote) -> bool:
    return (vote.verdict if isinstance(vote, BattleVote) else vote.ranks) is None


def _bytes(*texts: str) -> tuple[bytes, bytes]:
    one, two = (text.encode("utf-8", "replace") for text in texts)
    return one, two
