"""How each model behaved, beside how it fared: refusals, forfeits, voids, both bad, length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from videoautoarena.graph.state import base_of
from videoautoarena.memory.records.records import DECIDED
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.rating.finding import figure_of
from videoautoarena.runs.rating.leaderboard import SHARES, Behaviour
from videoautoarena.runs.rating.method import Rated
from videoautoarena.runs.text.refusals import is_refusal
from videoautoarena.runs.text.style import count_words
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.proportions import measure_mean, measure_share

MARKED = "refusal"
"""Kind of a failed call whose reply the provider marked as a refusal."""
Seat = tuple[str, int]
"""Id of the first slot in a place, and 0 or 1."""


class Asked(NamedTuple):
    """What the journal knows of a contestant's call."""

    tokens: int | None
    """Of its answer, without what was thought; None where the provider did not say."""
    is_refusal: bool
    """The provider marked the reply as one."""


NOBODY: Mapping[Seat, Asked] = MappingProxyType({})


def asked_contestants(store: Store) -> dict[Seat, Asked]:
    """Return what the journal knows of every contestant's call; the one that answered binds."""
    found: dict[Seat, Asked] = {}
    for said in store.journal.answers():
        seat = (base_of(said.scope), said.ordinal // 2)
        if said.is_answered or seat not in found:
            out, thought = said.output_tokens, said.reasoning_tokens or 0
            tokens = max(0, out - thought) if said.is_answered and out is not None else None
            found[seat] = Asked(tokens, said.failure_kind == MARKED)
    return found


def measure_behaviour(
    battles: Sequence[Rated], names: Iterable[str], asked: Mapping[Seat, Asked] = NOBODY
) -> dict[str, Behaviour]:
    """Return for each model its shares and the length of its answers.

    - refusals: of the questions it answered or refused, those refused, be it marked by the provider
      or in plain words as `runs.text.traits` knows them
    - forfeits: of the slots in which it was asked, those in which it gave no answer
    - voids: of the slots it was drawn for, those that ended void
    - both bad: of its decided battles, those in which both answers were called bad
    - tokens: mean of its answers, as the provider counted them where it did so for all, else words
      and signs

    Each has its 95 % interval, clustered by video. A stored answer that a newcomer met again is
    counted where it was given.
    """
    seen = {name: _Seen() for name in names}
    videos: dict[str, int] = {}
    for battle in battles:
        video = videos.setdefault(battle.video, len(videos))
        for seat, name in enumerate((battle.model_a, battle.model_b)):
            if name is not None:
                _look(seen.setdefault(name, _Seen()), battle, seat, video=video, asked=asked)
    return {name: of.measured() for name, of in seen.items()}


class _Seen:
    """What was seen of one model: hits and the video of each, by figure."""

    def __init__(self) -> None:
        self.found: dict[str, list[tuple[float, int]]] = {name: [] for name in (*SHARES, "tokens")}
        self.answers: list[tuple[str, int]] = []

    def add(self, figure: str, value: float, video: int) -> None:
        self.found[figure].append((value, video))

    def measured(self) -> Behaviour:
        shares = {name: figure_of(measure_share(*_columns(self.found[name]))) for name in SHARES}
        lengths, known = self.found["tokens"], len(self.found["tokens"]) == len(self.answers)
        if not known:
            lengths = [(count_words(answer), video) for answer, video in self.answers]
        return Behaviour(
            **shares,
            mean_tokens=figure_of(measure_mean(*_columns(lengths))),
            counted_by="provider" if known else "words and signs",
        )


def _columns(found: Sequence[tuple[float, int]]) -> tuple[Floats, Ints]:
    values, videos = zip(*found, strict=True) if found else ((), ())
    return np.array(values, dtype=np.float64), np.array(videos, dtype=np.int64)


def _look(
    seen: _Seen, battle: Rated, seat: int, *, video: int, asked: Mapping[Seat, Asked]
) -> None:
    """Add what one battle says of the model in one of its seats."""
    verdict = battle.verdict
    seen.add("void_share", verdict == "void", video)
    if verdict in DECIDED:
        seen.add("both_bad_share", verdict == "tie_bad", video)
    borrowed = getattr(battle, "borrowed", None)
    if borrowed is not None and borrowed.seat == "ab"[seat]:
        return
    call = asked.get((base_of(getattr(battle, "id", "")), seat))
    seen.add("forfeit_share", verdict == f"forfeit_{'ab'[seat]}", video)
    answer = getattr(battle, ("answer_a", "answer_b")[seat], None)
    if answer is not None:
        seen.add("refusal_share", is_refusal(answer), video)
        seen.answers.append((answer, video))
        if call is not None and call.tokens is not None:
            seen.add("tokens", call.tokens, video)
    elif call is not None and call.is_refusal:
        seen.add("refusal_share", True, video)
