"""What calls took in past runs on this machine, by kind: sums alone, in a file of its state.

No text, no name of a video and no key stands in it. A run or a job adds what its calls took when it
ends or drains; a plan reads it where the run itself has no such calls yet.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import CallRow, Role
from videoautoarena.memory.store.journal import Journal
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.disclosure import frames_of
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.state_files import read_state, rewriting, state_file
from videoautoarena.runs.tournament.measures import (
    SIZE,
    CallMeasure,
    CallVector,
    taken_by,
    video_of,
    whole_of,
)

FILE = "calls.json"
"""The file in this machine's state."""
MOST_CALLS = 4_000.0
"""Calls of a kind that count; older ones weigh less the more of newer ones there are."""
MOST_KINDS = 500
"""Kinds that are kept: those that were measured last."""
LATEST = 20_000
"""The most calls of one process that are measured."""
_DRAWS = frozenset(
    {"temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "stream"}
)
"""Parameters that make no reply much longer or shorter."""
_DIGITS = 12
_AT_ONCE = 256
_MOST = 1e30
"""More than any sum: squares of the most tokens that a server may state come to 1e18 a call."""


class CallKind(NamedTuple):
    """What calls are measured together."""

    model: str
    """`provider:model`."""
    endpoint: str
    """Where it is served: servers count tokens by rules of their own."""
    role: Role
    frames: int
    """About how many frames a call carries at most; fewer of a video that has no more."""
    settings: str
    """Digest of what else decides what tokens it takes: size of frames, limits, thinking, cache."""


def kind_of(config: RunConfig, model: Model, role: Role, frames: float) -> CallKind:
    """Return the kind of a model's calls in a role; numbers of frames within a fifth are one."""
    steps = round(2 * math.log2(frames)) if frames >= 1 else None
    drawn = {name: value for name, value in model.sampling(role).items() if name not in _DRAWS}
    size = config.sampling.size_px if frames >= 1 else None
    # Where nothing is kept in a cache, the same tokens are taken in another way.
    looks = (size, model.detail, model.cache_breakpoint)
    settings = digest(repr((*looks, sorted(drawn.items()))))[:_DIGITS]
    about = 0 if steps is None else round(2 ** (steps / 2))
    return CallKind(model.resolved, model.endpoint, role, about, settings)


@dataclass(frozen=True)
class PastCalls:
    """What calls of past runs on this machine took."""

    kinds: Mapping[CallKind, CallMeasure] = field(default_factory=dict)
    damage: str = ""
    """Why the file was passed over, in a line, if it was."""

    @classmethod
    def read(cls) -> PastCalls:
        """Return what the file says; nothing where there is none, or one that is no use."""
        try:
            file = state_file(FILE)
        # Where there is no home, Path.home() raises RuntimeError.
        except RuntimeError:
            return cls()
        try:
            held = _CallsFile.model_validate_json(read_state(file))
        except FileNotFoundError:
            return cls()
        except (OSError, ValidationError):
            return cls(
                damage=f"{safe(str(file))} cannot be read and was passed over; the next run "
                "writes it anew"
            )
        return cls({one.kind: one.measure for one in held.kinds})


def remember_calls(
    journal: Journal, config: RunConfig, *, after: int, as_sent: bool = False
) -> str:
    """Add what calls behind a place of a journal took; return why it could not be kept, or "".

    `as_sent` as `measured_kinds` has it.
    """
    if all(entry.is_offline for entry in config.cast.values()):
        return ""
    # The latest alone: a run may have millions, and reading each takes some time.
    first = max(after, journal.last_place() - LATEST)
    found = measured_kinds(_behind(journal, first), config, as_sent=as_sent)
    return keep_kinds(found) if found else ""


def keep_kinds(found: Mapping[CallKind, CallMeasure]) -> str:
    """Add measures to those of this machine; return why they could not be kept, or ""."""
    try:
        with rewriting(state_file(FILE)) as new:
            # Read under the lock: another process may have added to it since.
            kept = dict(PastCalls.read().kinds)
            for kind, measure in found.items():
                # Taken out first, so that it stands among the latest.
                kept[kind] = _merged(kept.pop(kind, None), measure)
            latest = list(kept.items())[-MOST_KINDS:]
            held = [{**kind._asdict(), **measure.to_json()} for kind, measure in latest]
            new.write_text(json.dumps({"schema": 1, "kinds": held}), encoding="utf-8")
    # Where there is no home, Path.home() raises RuntimeError.
    except (OSError, RuntimeError) as why:
        return f"what calls took could not be kept for later plans: {safe(str(why))}"
    return ""


def measured_kinds(
    rows: Iterable[CallRow], config: RunConfig, *, as_sent: bool = False
) -> dict[CallKind, CallMeasure]:
    """Return what calls took, by kind; those of stand-ins are left out.

    A call belongs to the most frames that the settings allow it, or, with `as_sent`, to those that
    it was sent: on a bench, calls of one model may be allowed different ones.
    """
    # Looked for once: there are thousands of calls, and a handful of kinds.
    model_of = cache(config.model_of)

    @cache
    def kind(alias: str, role: Role, sent: int | None) -> CallKind:
        frames = frames_of(config, alias, role) if sent is None else sent
        return kind_of(config, model_of(alias), role, frames)

    vectors: dict[CallKind, list[tuple[str, CallVector]]] = defaultdict(list)
    for row in rows:
        if row.alias not in config.cast or row.model.startswith("offline:"):
            continue
        taken = taken_by(row)
        model = model_of(row.alias)
        # The name may have stood for another model, or another place, when the call was made.
        if taken is None or (model.resolved, model.endpoint) != (row.model, row.endpoint):
            continue
        sent = (row.frames or 0) if as_sent else None
        found = kind(row.alias, row.nonce.role, sent)
        vectors[found].append((video_of(row.nonce.scope), taken))
    return {kind: CallMeasure.of(found) for kind, found in vectors.items()}


def _behind(journal: Journal, place: int) -> Iterator[CallRow]:
    """Yield the calls behind a place, a few in memory at a time."""
    while True:
        place, rows = journal.after(place, most=_AT_ONCE)
        yield from rows
        if len(rows) < _AT_ONCE:
            return


def _merged(old: CallMeasure | None, new: CallMeasure) -> CallMeasure:
    if old is None:
        return new
    room = max(MOST_CALLS - new.calls, 0.0)
    return new.plus(old.weighed(min(1.0, room / old.calls)))


_Sum = Annotated[float, Field(ge=0, le=_MOST, allow_inf_nan=False)]


class _KindTable(BaseModel):
    """A kind in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(max_length=500)
    endpoint: str = Field(max_length=500)
    role: Role
    frames: int = Field(ge=0, le=100_000)
    settings: str = Field(max_length=_DIGITS)
    calls: Annotated[float, Field(gt=0, le=_MOST, allow_inf_nan=False)]
    videos: Annotated[float, Field(gt=0, le=_MOST, allow_inf_nan=False)]
    squares: _Sum
    sums: list[_Sum] = Field(min_length=SIZE, max_length=SIZE)
    products: list[_Sum] = Field(min_length=SIZE * (SIZE + 1) // 2, max_length=15)
    between: list[_Sum] = Field(min_length=SIZE * (SIZE + 1) // 2, max_length=15)

    @property
    def kind(self) -> CallKind:
        return CallKind(self.model, self.endpoint, self.role, self.frames, self.settings)

    @property
    def measure(self) -> CallMeasure:
        return CallMeasure(
            self.calls,
            self.videos,
            self.squares,
            np.array(self.sums),
            whole_of(self.products),
            whole_of(self.between),
        )


class _CallsFile(BaseModel):
    """The file of what calls took."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = Field(alias="schema")
    kinds: list[_KindTable] = Field(max_length=MOST_KINDS)


Basis = Literal["run", "machine", "guess"]
"""Where an expectation is from: this run's own calls, those of past runs here, or no calls."""


@dataclass(frozen=True)
class KnownCalls:
    """What is known of calls before more of them are made."""

    run: Mapping[tuple[str, Role], CallMeasure] = field(default_factory=dict)
    """What calls of this run took, by the model's name and role."""
    past: PastCalls = field(default_factory=PastCalls)

    @classmethod
    def of(cls, rows: Iterable[CallRow], past: PastCalls) -> KnownCalls:
        """Measure the calls of a run, tries included."""
        vectors: dict[tuple[str, Role], list[tuple[str, CallVector]]] = defaultdict(list)
        for row in rows:
            taken = taken_by(row)
            # A server that counts no tokens teaches nothing about them.
            if taken is not None:
                vectors[row.alias, row.nonce.role].append((video_of(row.nonce.scope), taken))
        return cls({who: CallMeasure.of(found) for who, found in vectors.items()}, past)

    def of_kind(
        self, config: RunConfig, model: Model, role: Role, *, frames: float
    ) -> tuple[CallMeasure, Basis] | None:
        """Return what such calls took and where that is from; None where nobody knows."""
        own = self.run.get((model.alias, role))
        if own is not None:
            return own, "run"
        if model.is_offline:
            return None
        found = self.past.kinds.get(kind_of(config, model, role, frames))
        return None if found is None else (found, "machine")


def weakest(bases: Mapping[Basis, float]) -> Basis | None:
    """Return what a whole rests on, by how much of it rests on what; None if it is nothing.

    A tenth of it is enough to call it a guess, or that of other runs.
    """
    total = sum(bases.values())
    order: tuple[Basis, ...] = ("guess", "machine", "run")
    present = [one for one in order if one in bases]
    counts = (one for one in present if bases[one] >= total / 10)
    return next(counts, None) if present else None
