"""What a person asks of a bench, and the questions that this leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from videoautoarena.agents.prompting.languages import LANGUAGES, UNKNOWN, asked_language
from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.analysis.categories.topics import topics_of
from videoautoarena.runs.bench.format.schema import (
    COLUMN,
    QUESTION_CATEGORY,
    Item,
    part_of,
    parts_of,
)
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.inputs.facts import plain_licence
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.texts.traits import near_duplicates

Strata = Sequence[tuple[str, ...]]
"""The part of each item by every dimension, such as its duration bucket and category."""


def draw_evenly(strata: Strata, size: int, sides: Sequence[int] | None = None) -> list[int]:
    """Return the places of at most `size` items, even over the parts of every dimension.

    Each next item comes from the cell (a combination of parts) whose parts have been drawn least,
    measured by the parts' even share: a step down the squares of how far all parts are from it. A
    part that has too few items gives all it has. Cost: cells x size.

    Args:
        strata: of all items, which stand in the order of preference.
        size: how many are wanted.
        sides: of each item 1, -1 or 0; as many of either are drawn, which may take an item or more
            away from `size`. None for no sides.

    Returns:
        Places in the order in which they were drawn.
    """
    cells = _SelectionCells(strata, size, sides)
    while len(cells.drawn) < min(size, len(strata)) and cells.take(size):
        pass
    return cells.balanced()


class _SelectionCells:
    """What is left in each cell, and what was drawn of each part."""

    def __init__(self, strata: Strata, size: int, sides: Sequence[int] | None) -> None:
        self._sides = [0] * len(strata) if sides is None else list(sides)
        waiting: dict[tuple[object, ...], list[int]] = {}
        for place, parts in enumerate(strata):
            waiting.setdefault((*parts, self._sides[place]), []).append(place)
        # Reversed, so that pop takes the most preferred first.
        self._waiting = [places[::-1] for places in waiting.values()]
        self._side = np.array([key[-1] for key in waiting], dtype=np.int64)
        self._next = np.array([places[-1] for places in self._waiting], dtype=np.float64)
        self._parts: list[Ints] = []
        self._costs: list[Floats] = []
        self._steps: list[float] = []
        for dimension in range(len(strata[0]) if strata else 0):
            codes = {part: k for k, part in enumerate(dict.fromkeys(s[dimension] for s in strata))}
            self._parts.append(np.array([codes[str(key[dimension])] for key in waiting]))
            even = size / len(codes)
            # The first of a part costs 1 / even, each next 2 / even more.
            self._costs.append(np.full(len(codes), 1 / even))
            self._steps.append(2 / even)
        self._last = max(1, len(strata))
        self.drawn: list[int] = []
        self._neither = self._sides.count(0) if any(self._sides) else 0
        """How many of side 0 are left; moot where there are no sides."""
        self._ahead = 0
        """How many more of side 1 than of side -1 were drawn: never more than one."""

    def take(self, size: int) -> bool:
        """Draw one more; False if nothing is left that may be drawn."""
        # Below any step of a part's cost: preference decides among cells that are equally far
        # behind.
        cost = 1e-6 * self._next / self._last
        for parts, costs in zip(self._parts, self._costs, strict=True):
            cost = cost + costs[parts]
        cost[~self._allowed(size)] = np.inf
        # argmin raises for an empty array, which is what an empty pool gives.
        cell = int(np.argmin(cost)) if len(cost) else 0
        if not len(cost) or not np.isfinite(cost[cell]):
            return False
        self.drawn.append(self._waiting[cell].pop())
        self._ahead += int(self._side[cell])
        self._neither -= self._side[cell] == 0
        self._next[cell] = self._waiting[cell][-1] if self._waiting[cell] else np.inf
        for parts, costs, step in zip(self._parts, self._costs, self._steps, strict=True):
            costs[parts[cell]] += step
        return True

    def _allowed(self, size: int) -> NDArray[np.bool_]:
        """Return which cells may be drawn from without tipping the balance for good."""
        left = size - len(self.drawn)
        if self._ahead:
            allowed = np.asarray(self._side * self._ahead <= 0)
        # The last one of a side would have nothing of the other side against it.
        elif left == 1 and self._side.any():
            allowed = np.asarray(self._side == 0)
        else:
            allowed = np.ones(len(self._side), dtype=np.bool_)
        # The last item of neither side is kept where pairs alone would leave one place empty.
        if self._neither == 1 and (left - abs(self._ahead)) % 2 == 0:
            sided = allowed & (self._side != 0)
            return sided if (sided & np.isfinite(self._next)).any() else allowed
        return allowed

    def balanced(self) -> list[int]:
        """Return what was drawn, without the last one that nothing stands against."""
        if excess := self._ahead:
            last = max(k for k, place in enumerate(self.drawn) if self._sides[place] == excess)
            return self.drawn[:last] + self.drawn[last + 1 :]
        return self.drawn


DIMENSIONS = ("duration", "category", "topic")
"""What is drawn evenly over by default."""
KNOWN = (*DIMENSIONS, "language", "question-category")
"""What a run can be drawn evenly over; besides them the columns of its file of facts."""

Embed = Callable[[Sequence[Item]], Floats]
"""Returns a vector for each question, shape (questions, width)."""


@dataclass(frozen=True)
class BenchSelection:
    """How questions are chosen; as it stands, all battles with a winner are."""

    size: int | None = None
    """The most questions, drawn evenly; None for all."""
    per_video: int | None = None
    distinct: bool = False
    """Whether questions about one video that say nearly the same are kept once."""
    leak_filter: bool = False
    """Whether questions that a contestant without a frame won are left out."""
    length_matched: bool = False
    """Whether the selected answer is the longer one as often as the shorter one."""
    separating: bool = False
    """Whether questions that separate models are preferred."""
    by: tuple[str, ...] = DIMENSIONS
    """What is drawn evenly over: of KNOWN, and columns of facts."""
    embeddings: str | None = None
    """Model whose embeddings of the questions make topics; None: their words do."""
    hard: bool = False
    """Whether to take battles of two bad answers that most models fail, not those with a winner."""
    most: int | None = None
    """The most questions, the hardest first; None for all."""
    seed: int | None = None
    """None: the run's."""
    language: str | None = None
    """Only questions asked in it, by its code."""
    turns: int | None = None
    """Only the first so many questions of each user; 1 leaves those that follow no other."""
    only_licence: tuple[str, ...] = ()
    """Only questions about videos whose licence, as their owner states it, is one of these."""

    @property
    def draws(self) -> bool:
        """Whether anything is drawn, so that strata matter."""
        return self.size is not None or self.length_matched

    def check(self) -> None:
        """Raise WrongArgument where a wish could not have an effect."""
        if self.only_licence and not all(self.licences):
            raise WrongArgument(
                f"{option('only_licence')} needs the name of a licence, such as CC-BY-4.0"
            )
        if self.language is not None and self.language not in LANGUAGES:
            raise WrongArgument(
                f"{option('language', self.language)} is none of the codes {', '.join(LANGUAGES)}"
            )
        if self.most is not None and not self.hard:
            raise WrongArgument(
                f"{option('most')} takes the hardest questions, so it needs {option('hard', True)}"
            )
        if self.hard and self.separating:
            raise WrongArgument(
                f"{option('hard', True)} prefers the hardest questions; leave out "
                f"{option('separating', True)}"
            )
        if self.separating and not (self.draws or self.per_video is not None or self.distinct):
            raise WrongArgument(
                f"{option('separating', True)} prefers some questions to others, so it needs "
                f"{option('size')}, {option('per_video')}, "
                f"{option('distinct', True)} or {option('length_matched', True)}"
            )
        if self.embeddings is not None and not (self.draws and "topic" in self.by):
            raise WrongArgument(
                f"{option('embeddings')} makes topics, which only a draw over them needs: pass "
                f"{option('size')} or "
                f"{option('length_matched', True)}, and topic in {option('by')}"
            )

    @property
    def licences(self) -> list[str]:
        """The licences that are taken, as they are compared."""
        return sorted({plain_licence(name) for name in self.only_licence})

    def why_no_licence(self, licence: str | None) -> str | None:
        """Return why a video of such a licence is left out; None if it is not."""
        if not self.only_licence:
            return None
        if licence is None:
            return UNSTATED
        return None if plain_licence(licence) in self.licences else UNLICENSED

    def why_not(
        self, language: str | None, question: str, round_: int | None, licence: str | None
    ) -> str | None:
        """Return which wish leaves out a question asked so; None if none does."""
        if why := self.why_no_licence(licence):
            return why
        if self.language is not None:
            told = asked_language(language, question)
            if told != self.language:
                return UNTOLD if told == UNKNOWN else FOREIGN
        return LATER if self.turns is not None and (round_ or 0) >= self.turns else None

    def check_columns(self, columns: Collection[str]) -> None:
        """Raise WrongArgument for what is neither a dimension nor a column of the run's facts."""
        for name in self.by:
            if name not in KNOWN and name.removeprefix(COLUMN) not in columns:
                own = (f"{COLUMN}{one}" if one in KNOWN else one for one in columns)
                there = safe(", ".join((*KNOWN, *own)))
                raise WrongArgument(f"{option('by')} {quoted(name)} is none of {there}")

    def as_json(self) -> dict[str, Any]:
        """Return it as the manifest keeps it."""
        # Where nothing is drawn `by` has no effect, and must not part two equal benches.
        fields = {**vars(self), "by": list(self.by) if self.draws else []}
        # The manifest states the seed that was drawn by, which may be the run's.
        del fields["seed"]
        # Not written where unset, so that other benches keep their bytes.
        unset = [name for name in ("hard", "most") if not fields[name]]
        unset += [name for name in ("language", "turns") if fields[name] is None]
        if self.only_licence:
            fields["only_licence"] = self.licences
        else:
            unset.append("only_licence")
        return {name: value for name, value in fields.items() if name not in unset}


@dataclass
class ChosenQuestions:
    """What is left of a pool."""

    items: list[Item]
    """In the order of the slots."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many each wish left out, in the order in which they were met."""


UNSTATED = "about a video without a stated licence"
UNLICENSED = "about a video under another licence"
FOREIGN = "asked in another language"
UNTOLD = "asked in a language that nobody told"
LATER = "asked later by their users"
LEAKED = "won without a frame"
REPEATED = "nearly repeated another about its video"
CROWDED = "more than enough about its video"
EASIER = "less hard than those"
UNDRAWN = "not drawn"


class QuestionCandidates(NamedTuple):
    """What is left of a pool before anything is drawn."""

    items: list[Item]
    """In the order of preference."""
    turns: list[int]
    """How many about its video stand before each."""
    left_out: dict[str, int]


def choose_items(
    pool: Sequence[Item],
    selection: BenchSelection,
    *,
    seed: int,
    leaked: Collection[str] = (),
    worth: Mapping[str, float] | None = None,
    embed: Embed | None = None,
) -> ChosenQuestions:
    """Return the questions of a pool that a bench is to have. The same input gives the same.

    Args:
        pool: all that there are, in the order of the slots.
        selection: what is asked for.
        seed: decides among equals.
        leaked: qids of those that can be won unseen.
        worth: for each qid how well it separates models, or how hard it is; None if that does
            not matter.
        embed: makes vectors of questions; None: their words are read.
    """
    left, turns, counts = candidates_of(pool, selection, seed=seed, leaked=leaked, worth=worth)
    if selection.draws:
        left, drawn = _drawn(left, turns, selection, seed=seed, embed=embed)
        counts[UNDRAWN] = len(left) - sum(drawn)
        left = list(compress(left, drawn))
    places = {item.qid: k for k, item in enumerate(pool)}
    return ChosenQuestions(sorted(left, key=lambda item: places[item.qid]), counts)


def candidates_of(
    pool: Sequence[Item],
    selection: BenchSelection,
    *,
    seed: int,
    leaked: Collection[str] = (),
    worth: Mapping[str, float] | None = None,
) -> QuestionCandidates:
    """Return what may be drawn from, or is all there is to be; as `choose_items`."""
    counts: dict[str, int] = {}

    def keep(items: list[Item], kept: Iterable[bool], why: str) -> list[Item]:
        left = list(compress(items, kept))
        counts[why] = len(items) - len(left)
        return left

    left = sorted(
        pool,
        key=lambda item: (
            # Rounded, so that the last bits of a fit reorder nothing.
            -round((worth or {}).get(item.qid, 0.0), 9),
            derive(seed, "freeze", item.qid),
        ),
    )
    wishes = (
        (selection.only_licence or None, (UNSTATED, UNLICENSED)),
        (selection.language, (UNTOLD, FOREIGN)),
        (selection.turns, (LATER,)),
    )
    why_not = {
        i.qid: selection.why_not(i.language, i.question, i.round, (i.facts or {}).get("licence"))
        for i in left
    }
    for why in (why for wish, whys in wishes if wish is not None for why in whys):
        left = keep(left, [why_not[item.qid] != why for item in left], why)
    # What cannot be used goes before what repeats, or it could keep out a question that can.
    if selection.leak_filter:
        left = keep(left, [item.qid not in leaked for item in left], LEAKED)
    # Repetitions go before videos are counted, so that they take no place of other questions.
    if selection.distinct:
        repeated = near_duplicates([i.question for i in left], [i.video_id for i in left])
        left = keep(left, [k not in repeated for k in range(len(left))], REPEATED)
    if selection.per_video is not None:
        few = [turn < selection.per_video for turn in _turns(left)]
        left = keep(left, few, CROWDED)
    if selection.most is not None:
        left = keep(left, [place < selection.most for place in range(len(left))], EASIER)
    return QuestionCandidates(left, _turns(left), counts)


def _turns(items: Sequence[Item]) -> list[int]:
    """Return for each item how many about its video stand before it."""
    seen = Counter[str]()
    turns = []
    for item in items:
        turns.append(seen[item.video_id])
        seen[item.video_id] += 1
    return turns


def _drawn(
    items: list[Item],
    turns: Sequence[int],
    selection: BenchSelection,
    *,
    seed: int,
    embed: Embed | None,
) -> tuple[list[Item], list[bool]]:
    """Return the items, with topics if those count, and for each whether it was drawn."""
    if "topic" in selection.by:
        questions = [item.question for item in items]
        topics = topics_of(questions, seed, embed(items) if embed else None)
        items = [
            item.model_copy(update={"topic": topic})
            for item, topic in zip(items, topics, strict=True)
        ]
    # One question of every video comes before the second of any.
    order = sorted(range(len(items)), key=lambda k: turns[k])
    traits = [
        name if name in KNOWN else f"{COLUMN}{name.removeprefix(COLUMN)}" for name in selection.by
    ]
    found = [parts_of(item, QUESTION_CATEGORY) for item in items]
    common = Counter(part for parts in found for part in parts)
    # A question of several categories counts for the rarest, which is the hardest to fill.
    rarest = [min(parts, key=lambda part: (common[part], part)) for parts in found]
    strata = [
        tuple(
            rarest[k] if name == "question-category" else part_of(items[k], name) for name in traits
        )
        for k in order
    ]
    sides = [longer(items[k]) for k in order] if selection.length_matched else None
    size = len(items) if selection.size is None else selection.size
    drawn = {order[place] for place in draw_evenly(strata, size, sides)}
    return items, [k in drawn for k in range(len(items))]


def longer(item: Item) -> int:
    """Return 1 where the selected answer has more characters, -1 where fewer, else 0."""
    selected = len(item.selected_answer)
    rejected = len(item.rejected_answer)
    return (selected > rejected) - (selected < rejected)
