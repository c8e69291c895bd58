"""What it takes to play a bench, and what of it is known already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import JournalMiss
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.play.cast import BenchCast, Player
from videoautoarena.runs.bench.play.game import Game, Said
from videoautoarena.runs.bench.play.question import Answered, JudgedGame, seatings_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.config.disclosure import REPAIR, clip_calls, embedders, judges_notice
from videoautoarena.runs.rundir.frames import has_subtitles
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.terminal import safe


@dataclass
class Left:
    """What is left to be called."""

    calls: Counter[str] = field(default_factory=Counter)
    """Name to the most calls it may cost, transport retries aside."""
    known: int = 0
    """Questions of which, for one player, nothing is left."""
    videos: set[str] = field(default_factory=set)
    """The bench's ids of those whose frames are sent."""
    failed: set[str] = field(default_factory=set)
    """Scopes of calls that failed for good."""


class Unknown(NamedTuple):
    """What of one item is left for all who play it."""

    known: int
    """Players for whom nothing is."""
    calls: Counter[str]
    """Name of a model to the most calls it may cost, transport retries aside."""


OfItem = Callable[[Any, BenchCast, Any], Awaitable[Unknown]]
"""Game, or None where nothing is known, cast and item to what is left of it."""


async def look_ahead(
    of_item: OfItem,
    game: Game[Any] | None,
    cast: BenchCast,
    *,
    items: Sequence[Any],
    films: BenchVideos,
) -> Left:
    """Return what is left to be called; `game` repeats what is known, None where nothing is."""
    left = Left()
    looking: dict[str | int, set[str]] = {}
    for number, item in enumerate(items):
        video = films.videos.get(item.video_id)
        if video is None or (game is not None and game.run_frames.is_quarantined(video.id)):
            left.known += len(cast.players)
            continue
        seen = game if game is not None and game.run_frames.has(video.id) else None
        known, calls = await of_item(seen, cast, item)
        left.known += known
        left.calls += calls
        left.videos |= {item.video_id} if calls else set()
        mine = list(_looking(cast, calls))
        for alias, is_other in mine:
            # Which other one is drawn an item; there are no more of them than videos.
            shown = number % len(films.videos) if is_other else item.video_id
            looking.setdefault(shown, set()).add(alias)
        left.calls.update(embedders(cast.config, (alias for alias, _ in mine)))
    for models in looking.values():
        for (scout, _), clips in clip_calls(cast.config, models).items():
            left.calls[scout] += clips
    return left


def _looking(cast: BenchCast, calls: Counter[str]) -> Iterator[tuple[str, bool]]:
    """Yield who looks for clips to answer from, and whether those are another video's."""
    for player in (*cast.players, cast.anchor):
        model = player.model if player is not None else None
        if player is None or model is None or model.retrieval is None or not calls[model.alias]:
            continue
        if player.view not in ("blind", "one"):
            yield model.alias, player.view == "other"


async def unknown_of(game: JudgedGame[Any] | None, cast: BenchCast, item: Item) -> Unknown:
    """Return what is left of a question whose answers are held against others."""
    held, calls = await _held(game, cast, item)
    known = 0
    for player in cast.players:
        mine = await _unknown(game, cast, item, player, held)
        known += not mine and held is not None
        calls += mine
    return Unknown(known, calls)


async def _held(
    game: JudgedGame[Any] | None, cast: BenchCast, item: Item
) -> tuple[Said | None, Counter[str]]:
    """Return what answers are held against where it is known, or the call that it takes."""
    if cast.anchor is None:
        return Said(""), Counter()
    if game is not None:
        with suppress(JournalMiss):
            return await game.held(item), Counter()
    return None, Counter({cast.anchor.name: 1} if cast.anchor.model is not None else {})


async def _unknown(
    game: JudgedGame[Any] | None, cast: BenchCast, item: Item, player: Player, held: Said | None
) -> Counter[str]:
    """Return the calls of one question for one player that a repetition lacks."""
    if held is not None and held.text is None:
        return Counter()
    seatings, said = list(seatings_of(cast, item)), None
    calls = Counter(dict.fromkeys(cast.config.judges, REPAIR * len(seatings)))
    if game is not None:
        with suppress(JournalMiss):
            said = await game.answer(item, player)
    if said is None:
        calls[player.name] += player.model is not None
        return calls
    if said.text is None:
        return Counter()
    if game is None or held is None or held.text is None:
        return calls
    calls = Counter[str]()
    answered = Answered(item, player, said.text, held.text)
    for seating, judge in product(seatings, game.judges):
        try:
            await game.judging(answered, seating, judge)
        except JournalMiss:
            calls[judge.alias] += REPAIR
    return calls


@dataclass(frozen=True)
class BenchPlan:
    """What playing a bench will take."""

    questions: int
    players: tuple[str, ...]
    judge: str
    known: int
    """Of questions times players, those that are played already, or that have no video."""
    calls_at_most: Mapping[str, int]
    notices: tuple[str, ...]
    """What leaves the machine, and what a reader must know."""
    anchor: str | None = None
    """Against whose answers the models are held, where it is one model's."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench run --plan --json`."""
        return {
            "schema": SCHEMA,
            "questions": self.questions,
            "models": list(self.players),
            "judge": self.judge,
            **({} if self.anchor is None else {"anchor": self.anchor}),
            "known": self.known,
            "calls_at_most": dict(self.calls_at_most),
            "notices": list(self.notices),
        }

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        total = self.questions * len(self.players)
        known = f", {self.known:,} of {total:,} need no call" if self.known else ""
        most = sum(self.calls_at_most.values())
        against = "" if self.anchor is None else f" against {safe(self.anchor)}"
        judged = f", judged by {safe(self.judge)}" if self.judge else ""
        return [
            f"{counted(self.questions, 'question')} for {safe(', '.join(self.players))}{against}"
            f"{judged}{known}; at most {counted(most, 'call')}",
            *map(safe, self.notices),
        ]


def plan_of(
    cast: BenchCast,
    items: Sequence[Any],
    *,
    left: Left,
    notes: Sequence[str],
    store: Store | None,
) -> BenchPlan:
    """Return the plan of a bench that is ready to be played."""
    calls = {name: count for name, count in left.calls.items() if count}
    notices = judges_notice(
        cast.config,
        calls,
        videos=len(left.videos),
        has_subtitles=store is not None and has_subtitles(store),
        answering=[player.name for player in (*cast.players, cast.anchor) if player],
    )
    return BenchPlan(
        questions=len(items),
        players=tuple(player.name for player in cast.players),
        judge=cast.judge,
        known=left.known,
        calls_at_most=calls,
        notices=(*cast.notes, *notes, *notices),
        anchor=cast.anchor.name if cast.anchor else None,
    )
