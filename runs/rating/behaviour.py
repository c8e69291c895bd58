"""How each model behaved, beside how it fared: refusals, forfeits, voids, both bad, length."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.records.records import DECIDED
from videoautoarena.memory.store.journal import AnswerOutcome
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.rating.finding import figure_of
from videoautoarena.runs.rating.leaderboard import SHARES, AnswerLength, Behaviour
from videoautoarena.runs.rating.method import RateableBattle
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.proportions import measure_mean, measure_share
from videoautoarena.scoring.texts.refusals import is_refusal
from videoautoarena.scoring.texts.style import count_words

_NOBODY, _UNKNOWN = -2, -1
"""Stand-ins for the tokens of a seat that was never asked, and of an answer nobody counted."""
MARKED = "refusal"
"""Kind of a failed call whose reply the provider marked as a refusal."""
Answers = tuple[str | None, ...]
Seat = tuple[str, int]
"""Id of the first slot in a place, and 0 or 1."""


class ContestantCall(NamedTuple):
    """What the journal knows of a contestant's call."""

    tokens: int | None
    """Tokens of its answer, without reasoning; None if the provider did not say."""
    is_refusal: bool
    """The provider marked the reply as one."""


NOBODY: Mapping[Seat, ContestantCall] = MappingProxyType({})


class ContestantCalls(Mapping[Seat, ContestantCall]):
    """What the journal knows of every contestant's call, two numbers a seat."""

    def __init__(self, store: Store) -> None:
        self._slots = store.slots()
        # Arrays over slots, since a run may have a million battles: a record for each call would
        # fill the memory with objects.
        self._tokens = np.full((len(self._slots), 2), _NOBODY, dtype=np.int64)
        self._is_refusal = np.zeros((len(self._slots), 2), dtype=np.bool_)
        for said in store.journal.each_answer():
            self._note(said)

    def _note(self, said: AnswerOutcome) -> None:
        """Keep what came of a call; the one that answered binds."""
        row = self._slots.find(base_of(said.scope))
        # The ordinal of a nonce is twice the request, here the seat, plus one for its repair round.
        seat = said.ordinal // 2
        if row is None or (self._tokens[row, seat] != _NOBODY and not said.is_answered):
            return
        out = said.output_tokens
        thought = said.reasoning_tokens or 0
        is_known = said.is_answered and out is not None
        self._tokens[row, seat] = max(0, (out or 0) - thought) if is_known else _UNKNOWN
        self._is_refusal[row, seat] = said.failure_kind == MARKED

    def __getitem__(self, seat: Seat) -> ContestantCall:
        id_, place = seat
        row = self._slots.find(id_)
        tokens = _NOBODY if row is None else int(self._tokens[row, place])
        if row is None or tokens == _NOBODY:
            raise KeyError(seat)
        is_refusal = bool(self._is_refusal[row, place])
        return ContestantCall(None if tokens == _UNKNOWN else tokens, is_refusal)

    def __len__(self) -> int:
        return int((self._tokens != _NOBODY).sum())

    def __iter__(self) -> Iterator[Seat]:
        for row, place in np.argwhere(self._tokens != _NOBODY).tolist():
            yield self._slots.id(row), place


def asked_contestants(store: Store) -> Mapping[Seat, ContestantCall]:
    """Return what the journal knows of every contestant's call; the one that answered binds."""
    return ContestantCalls(store)


def measure_behaviour(
    battles: Iterable[RateableBattle],
    names: Iterable[str],
    asked: Mapping[Seat, ContestantCall] = NOBODY,
) -> dict[str, Behaviour]:
    """Return for each model its shares and the length of its answers.

    - refusals: share refused of the questions it answered or refused, whether the provider marked
      the refusal or `scoring.texts.refusals` knows its plain words
    - forfeits: share without an answer of the slots in which it was asked
    - voids: share that ended void of the slots it was drawn for
    - both bad: share of its decided battles in which both answers were called bad
    - tokens: mean of its answers, as the provider counted them where it did so for all, else words
      and signs

    Each has its 95 % interval, clustered by video. A stored answer that a newcomer met again is
    counted where it was given.
    """
    seen = {name: _Seen() for name in names}
    videos: dict[str, int] = {}
    for battle, answers, borrowed in _told(battles):
        video = videos.setdefault(battle.video, len(videos))
        for seat, name in enumerate((battle.model_a, battle.model_b)):
            if name is not None:
                of = seen[name] if name in seen else seen.setdefault(name, _Seen())
                _look(of, battle, seat, answers, borrowed, video=video, asked=asked)
    return {name: of.measured() for name, of in seen.items()}


def _told(
    battles: Iterable[RateableBattle],
) -> Iterator[tuple[RateableBattle, Answers, str | None]]:
    """Yield each battle with its answers and the seat whose answer is borrowed, if one is."""
    fields, outlines = (getattr(battles, name, None) for name in ("fields", "outlines"))
    if fields is None or outlines is None:
        for battle in battles:
            answers = tuple(getattr(battle, f"answer_{seat}", None) for seat in "ab")
            yield battle, answers, getattr(getattr(battle, "borrowed", None), "seat", None)
        return
    # Of a run's battles nothing else is read.
    for outline, (a, b, borrowed) in zip(
        outlines, fields("answer_a", "answer_b", "borrowed"), strict=True
    ):
        yield outline, (a, b), borrowed["seat"] if borrowed else None


class _Seen:
    """What was seen of one model: hits and the video of each, by figure; no text."""

    def __init__(self) -> None:
        figures = (*SHARES, "tokens", "words")
        self.found = {name: (array("d"), array("l")) for name in figures}

    def add(self, figure: str, value: float, video: int) -> None:
        values, videos = self.found[figure]
        values.append(value)
        videos.append(video)

    def measured(self) -> Behaviour:
        shares = {name: figure_of(measure_share(*_columns(self.found[name]))) for name in SHARES}
        # One unit for all answers of a model: a mean over tokens of some and words of others would
        # measure who counted.
        known = len(self.found["tokens"][0]) == len(self.found["words"][0])
        lengths = self.found["tokens" if known else "words"]
        return Behaviour(
            **shares,
            mean_tokens=AnswerLength(
                *figure_of(measure_mean(*_columns(lengths))),
                counted_by="provider" if known else "words and signs",
            ),
        )


def _columns(found: tuple[array[float], array[int]]) -> tuple[Floats, Ints]:
    return np.array(found[0], dtype=np.float64), np.array(found[1], dtype=np.int64)


def _look(
    seen: _Seen,
    battle: RateableBattle,
    seat: int,
    answers: Answers,
    borrowed: str | None,
    *,
    video: int,
    asked: Mapping[Seat, ContestantCall],
) -> None:
    """Add what one battle says of the model in one of its seats."""
    verdict = battle.verdict
    seen.add("void_share", verdict == "void", video)
    if verdict in DECIDED:
        seen.add("both_bad_share", verdict == "tie_bad", video)
    if borrowed == "ab"[seat]:
        return
    call = asked.get((base_of(getattr(battle, "id", "")), seat))
    seen.add("forfeit_share", verdict == f"forfeit_{'ab'[seat]}", video)
    answer = answers[seat]
    if answer is not None:
        seen.add("refusal_share", is_refusal(answer), video)
        # Whether providers counted every answer shows at the end alone.
        seen.add("words", count_words(answer), video)
        if call is not None and call.tokens is not None:
            seen.add("tokens", call.tokens, video)
    elif call is not None and call.is_refusal:
        seen.add("refusal_share", True, video)
