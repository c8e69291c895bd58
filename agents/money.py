"""Money as calls see it: sums of it, and who says whether a call may be sent."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from agents.layout import Request
from agents.models import Model
from memory.records import Attempt, CallRow, Nonce

NANO = 1_000_000_000


class Sum(NamedTuple):
    """Money in billionths of a dollar, since those add up exactly, and tokens."""

    nano: int = 0
    tokens: int = 0

    def plus(self, other: Sum) -> Sum:
        """Return both together."""
        return Sum(self.nano + other.nano, self.tokens + other.tokens)

    def minus(self, other: Sum) -> Sum:
        """Return what is left."""
        return Sum(self.nano - other.nano, self.tokens - other.tokens)

    def times(self, count: int) -> Sum:
        """Return it so many times."""
        return Sum(self.nano * count, self.tokens * count)

    def most(self, other: Sum) -> Sum:
        """Return the more of either, money and tokens each for itself."""
        return Sum(max(self.nano, other.nano), max(self.tokens, other.tokens))

    def least(self, other: Sum) -> Sum:
        """Return the less of either, money and tokens each for itself."""
        return Sum(min(self.nano, other.nano), min(self.tokens, other.tokens))


NOTHING = Sum()


def summed(usd: float | None, tokens: int) -> Sum:
    """Return money and tokens as a sum, rounded up; an unknown cost is left out."""
    return Sum(math.ceil((usd or 0.0) * NANO), tokens)


class Hold(Protocol):
    """Money set aside for one call under way."""


class Purse(Protocol):
    """What may be spent, and on what first."""

    async def hold(self, model: Model, request: Request) -> Hold | None:
        """Set aside what a call may cost at most, once there is enough; None: the cap is reached.

        Waits while calls under way hold what is missing, since most cost less than they may.
        """

    async def renew(self, hold: Hold, attempt: Attempt) -> bool:
        """Set as much aside for another try, and count what the last one cost, or may have.

        Waits like `hold`; False where the cap is reached.
        """

    def is_enough(self, hold: Hold, model: Model, request: Request) -> bool:
        """Return whether a call may be sent with what is set aside, as far as is known now."""

    async def enlarge(self, hold: Hold, model: Model, request: Request) -> bool:
        """Set aside what a call may cost by what is known now; waits and ends like `renew`."""

    def settle(self, hold: Hold, row: CallRow | None) -> None:
        """Take what a call did cost and free the rest; None: it was never sent, or cut off."""

    def rank(self, nonce: Nonce) -> int:
        """Return which calls go first: those of a lower rank, and of equal ones who came first."""


class Boundless:
    """A purse without a bottom."""

    async def hold(self, model: Model, request: Request) -> Hold | None:  # noqa: ARG002
        """Return at once."""
        return self

    async def renew(self, hold: Hold, attempt: Attempt) -> bool:  # noqa: ARG002
        """Return at once."""
        return True

    def is_enough(self, hold: Hold, model: Model, request: Request) -> bool:  # noqa: ARG002
        """Return that it is."""
        return True

    async def enlarge(self, hold: Hold, model: Model, request: Request) -> bool:  # noqa: ARG002
        """Return at once."""
        return True

    def settle(self, hold: Hold, row: CallRow | None) -> None:
        """Count nothing."""

    def rank(self, nonce: Nonce) -> int:  # noqa: ARG002
        """Return the same for all calls."""
        return 0
