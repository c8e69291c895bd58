"""Awaiting several things at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def all_done(works: Iterable[Awaitable[T]]) -> list[T]:
    """Return what works come to; where some raise, the first of those is raised after all ended."""
    found = list[T]()
    for outcome in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
        found.append(outcome)
    return found
