"""What a person asks of a bench, and the questions that this leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memory.digests import derive
from memory.errors import WrongArgument
from runs.bench_counts import part_of
from runs.near import near_duplicates
from runs.sealing import Item
from runs.stratify import draw_evenly
from scoring.cells import Floats

Dimension = Literal["duration", "category", "topic"]
DIMENSIONS: tuple[Dimension, ...] = ("duration", "category", "topic")

Embed = Callable[[Sequence[str]], Floats]


@dataclass(frozen=True)
class Wishes:
    """How questions are chosen; as it stands, all battles with a winner are."""

    size: int | None = None
    """At most so many, drawn evenly."""
    per_video: int | None = None
    distinct: bool = False
    """Of questions about one video that say nearly the same, one."""
    leak_filter: bool = False
    """None that a contestant without a frame won."""
    length_matched: bool = False
    """As many whose selected answer is the longer as whose is the shorter."""
    separating: bool = False
    """Rather those that tell models apart."""
    by: tuple[Dimension, ...] = DIMENSIONS
    """What is drawn evenly over."""
    embeddings: str | None = None
    """Model whose embeddings of the questions make topics; None: their words do."""
    seed: int | None = None
    """None: the run's."""

    @property
    def draws(self) -> bool:
        """Whether anything is drawn, so that strata matter."""
        return self.size is not None or self.length_matched

    def check(self) -> None:
        """Raise WrongArgument where a wish could not have an effect."""
        if self.separating and not (self.draws or self.per_video is not None or self.distinct):
            raise WrongArgument(
                "--separating prefers some questions to others, so it needs --size, --per-video, "
                "--distinct or --length-matched"
            )
        if self.embeddings is not None and not (self.draws and "topic" in self.by):
            raise WrongArgument(
                "--embeddings makes topics, which only a draw over them needs: pass --size or "
                "--length-matched, and topic in --by"
            )

    def as_json(self) -> dict[str, Any]:
        """Return it as the manifest keeps it."""
        return {
            "size": self.size,
            "per_video": self.per_video,
            "distinct": self.distinct,
            "leak_filter": self.leak_filter,
            "length_matched": self.length_matched,
            "separating": self.separating,
            "by": list(self.by) if self.draws else [],
            "embeddings": self.embeddings,
        }


@dataclass
class Chosen:
    """What is left of a pool."""

    items: list[Item]
    """In the order of the slots."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many each wish left out, in the order in which they were met."""


LEAKED = "won without a frame"
REPEATED = "nearly repeated another about its video"
CROWDED = "more than enough about its video"
UNDRAWN = "not drawn"


def choose_items(
    pool: Sequence[Item],
    wishes: Wishes,
    *,
    seed: int,
    leaked: Collection[str] = (),
    worth: Mapping[str, float] | None = None,
    embed: Embed | None = None,
) -> Chosen:
    """Return the questions of a pool that a bench is to have. The same input gives the same.

    Args:
        pool: all that there are, in the order of the slots.
        wishes: what is asked for.
        seed: decides among equals.
        leaked: qids of those that can be won unseen.
        worth: of each qid how well it tells models apart; None where that does not matter.
        embed: makes vectors of questions, in whose place their words are read where it is None.
    """
    told: dict[str, int] = {}
    left = sorted(pool, key=lambda item: _preference(item, seed, worth))
    if wishes.leak_filter:
        left = _kept(left, [item.qid not in leaked for item in left], LEAKED, told)
    if wishes.distinct:
        repeated = near_duplicates([i.question for i in left], [i.video_id for i in left])
        left = _kept(left, [k not in repeated for k in range(len(left))], REPEATED, told)
    turns = _turns(left)
    if wishes.per_video is not None:
        left = _kept(left, [turn < wishes.per_video for turn in turns], CROWDED, told)
        turns = [turn for turn in turns if turn < wishes.per_video]
    if wishes.draws:
        left = _drawn(left, turns, wishes, seed=seed, told=told, embed=embed)
    places = {item.qid: k for k, item in enumerate(pool)}
    return Chosen(sorted(left, key=lambda item: places[item.qid]), told)


def _preference(item: Item, seed: int, worth: Mapping[str, float] | None) -> tuple[float, str]:
    value = 0.0 if worth is None else -round(worth.get(item.qid, 0.0), 9)
    return value, derive(seed, "freeze", item.qid)


def _kept(items: list[Item], keep: Sequence[bool], why: str, told: dict[str, int]) -> list[Item]:
    kept = [item for item, is_kept in zip(items, keep, strict=True) if is_kept]
    told[why] = len(items) - len(kept)
    return kept


def _turns(items: Sequence[Item]) -> list[int]:
    """Return of each item how many about its video stand before it."""
    seen: dict[str, int] = {}
    turns = []
    for item in items:
        turns.append(seen.get(item.video_id, 0))
        seen[item.video_id] = turns[-1] + 1
    return turns


def _drawn(
    items: list[Item],
    turns: Sequence[int],
    wishes: Wishes,
    *,
    seed: int,
    told: dict[str, int],
    embed: Embed | None,
) -> list[Item]:
    if "topic" in wishes.by:
        # scikit-learn takes over a second to import.
        from runs.topics import topics_of

        questions = [item.question for item in items]
        topics = topics_of(questions, seed, embed(questions) if embed else None)
        items = [
            item.model_copy(update={"topic": topic})
            for item, topic in zip(items, topics, strict=True)
        ]
    # One question of every video comes before the second of any.
    order = sorted(range(len(items)), key=lambda k: turns[k])
    strata = [tuple(part_of(items[k], name) for name in wishes.by) for k in order]
    sides = [longer(items[k]) for k in order] if wishes.length_matched else None
    size = len(items) if wishes.size is None else wishes.size
    drawn = {order[place] for place in draw_evenly(strata, size, sides)}
    return _kept(items, [k in drawn for k in range(len(items))], UNDRAWN, told)


def longer(item: Item) -> int:
    """Return 1 where the selected answer has more characters, -1 where fewer, else 0."""
    selected, rejected = len(item.selected_answer), len(item.rejected_answer)
    return (selected > rejected) - (selected < rejected)
