"""The caps of a run: how they were given last, in its file, and in words."""

from __future__ import annotations

import json
import math
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from videoautoarena.agents.limits.caps import Caps
from videoautoarena.memory.store.store import Store

CAPS_FILE = "local/caps"
"""The caps that were given last; no part of the run."""
NO_CAPS = Caps()
_Cap = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
_CAPS = TypeAdapter(dict[Literal["usd", "tokens"], _Cap])


def kept_caps(store: Store) -> Caps:
    """Return the caps that were given last: they hold until others are."""
    return Caps(**(store.file_as(_CAPS, CAPS_FILE) or {}))


def merged_caps(kept: Caps, asked: Caps) -> Caps:
    """Return the caps that hold from now on; an infinite one lifts what was kept."""
    both = (old if new is None else new for old, new in zip(kept, asked, strict=True))
    return Caps(*(None if cap is None or math.isinf(cap) else cap for cap in both))


def describe_caps(caps: Caps) -> str:
    """Return caps in words: `$2.00 and 5,000 tokens`."""
    usd = [f"${caps.usd:,.2f}"] if caps.usd is not None else []
    tokens = [f"{caps.tokens:,.0f} tokens"] if caps.tokens is not None else []
    return " and ".join(usd + tokens)


def keep_caps(store: Store, caps: Caps) -> None:
    """Write down which caps hold from now on."""
    if caps != kept_caps(store):
        store.put_file(CAPS_FILE, json.dumps(caps._asdict()), replace=True)
