"""Ids of slots: which video, persona, round and generation they are of, or which newcomer."""

from __future__ import annotations

PERSONAS = (1, 2, 3)
"""Every video gets three users."""
DIVERSE_ASKS = 3
"""Most times that users are invented for one video, if the run looks for users that are alike."""


def lineage_id(video: str, persona: int) -> str:
    """Return the id that all slots of one lineage begin with."""
    return f"{video}-p{persona}"


def slot_id(video: str, persona: int, round_: int) -> str:
    """Return the id of a lineage's first slot in a round, which is the scope of all its asks."""
    return f"{lineage_id(video, persona)}-r{round_}"


def superseding_id(base: str, generation: int) -> str:
    """Return the id of the slot that is played in place of `base` in a later generation."""
    return f"{base}~{generation}"


def base_of(slot: str) -> str:
    """Return the id of the first slot in the place of `slot`."""
    return slot.partition("~")[0]


def newcomer_id(place: str, generation: int) -> str:
    """Return the id of the slot in which a newcomer meets an answer that is stored in a place."""
    return f"{place}+{generation}"


def is_newcomer(slot: str) -> bool:
    """Return whether a newcomer meets a stored answer in this slot."""
    return "+" in slot


def place_of(slot: str) -> str:
    """Return the id of the first slot in the place that a newcomer's question came from."""
    return base_of(slot).partition("+")[0]


def joining_of(slot: str) -> int:
    """Return the generation that a newcomer's slot was added in, whichever superseded it."""
    return int(base_of(slot).partition("+")[2])


def generation_of(slot: str) -> int:
    """Return in which generation a slot asks: 0 for the first in its place."""
    return int(slot.partition("~")[2] or 0)
