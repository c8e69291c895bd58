"""What it takes to hold models against an anchor, and what of it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from videoautoarena.memory.records.errors import JournalMiss
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.play.anchor_question import SEATINGS, AnchorGame
from videoautoarena.runs.bench.play.cast import BenchCast
from videoautoarena.runs.bench.play.question import BenchGame, Player, Said, seatings_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.config.disclosure import REPAIR, judges_notice
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


async def look_ahead(
    game: BenchGame | None, cast: BenchCast, items: Sequence[Item], films: BenchVideos
) -> Left:
    """Return what is left to be called.

    Args:
        game: repeats what is known, and nothing else; None where nothing was ever played.
        cast: who plays.
        items: what is asked.
        films: where the videos are.
    """
    left = Left()
    for item in items:
        if item.video_id in films.lost or _is_quarantined(game, films.videos[item.video_id].id):
            left.known += len(cast.players)
            continue
        is_seen = game is not None and game.run_frames.has(films.videos[item.video_id].id)
        for player in cast.players:
            calls = _all_of(cast, item, player)
            if game is not None and is_seen:
                calls = await _unknown(game, cast, item, player)
            left.calls += calls
            left.known += not calls
            left.videos |= {item.video_id} if calls else set()
    return left


def _is_quarantined(game: BenchGame | None, video: str) -> bool:
    return game is not None and game.run_frames.is_quarantined(video)


def _all_of(cast: BenchCast, item: Item, player: Player) -> Counter[str]:
    """Return the calls of one question for one player of which nothing is known."""
    seatings = list(seatings_of(item, seed=cast.config.seed, swap=cast.config.swap))
    calls = Counter(dict.fromkeys(cast.config.judges, REPAIR * len(seatings)))
    calls[player.name] += player.model is not None
    return calls


async def _unknown(game: BenchGame, cast: BenchCast, item: Item, player: Player) -> Counter[str]:
    """Return the calls of one question for one player that a repetition lacks."""
    calls = Counter[str]()
    try:
        said = await game.answer(item, player)
    except JournalMiss:
        return _all_of(cast, item, player)
    if said.text is None:
        return calls
    for seating in seatings_of(item, seed=game.seed, swap=game.swap):
        for judge in game.judges:
            try:
                await game.judging(item, player, said.text, seating, judge=judge)
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
        return [
            f"{counted(self.questions, 'question')} for {safe(', '.join(self.players))}{against}, "
            f"judged by {safe(self.judge)}{known}; at most {counted(most, 'call')}",
            *map(safe, self.notices),
        ]


def plan_of(
    cast: BenchCast,
    items: Sequence[Item],
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
        answering=[player.name for player in (*cast.players, *_anchor(cast))],
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


def _anchor(cast: BenchCast) -> list[Player]:
    return [] if cast.anchor is None else [cast.anchor]


async def look_ahead_anchored(
    game: AnchorGame | None, cast: BenchCast, items: Sequence[Item], films: BenchVideos
) -> Left:
    """Return what is left to be called; the anchor's answer counts once a question.

    Args:
        game: repeats what is known, and nothing else; None where nothing was ever played.
        cast: who plays, and against whom.
        items: what is asked.
        films: where the videos are.
    """
    left = Left()
    for item in items:
        if item.video_id in films.lost:
            left.known += len(cast.players)
            continue
        is_seen = game is not None and game.game.run_frames.has(films.videos[item.video_id].id)
        seen = game if is_seen else None
        held, calls = await _anchor_answer(seen, cast, item)
        for player in cast.players:
            mine = await _unknown_against(seen, cast, item, player, held)
            left.known += not mine and held is not None
            calls += mine
        left.calls += calls
        left.videos |= {item.video_id} if calls else set()
    return left


async def _anchor_answer(
    game: AnchorGame | None, cast: BenchCast, item: Item
) -> tuple[Said | None, Counter[str]]:
    """Return what the anchor is known to answer, or the call that it takes."""
    anchor = cast.anchor
    if anchor is None:
        raise RuntimeError("a plan against an anchor was made without one")
    if game is not None:
        with suppress(JournalMiss):
            return await game.anchor_answer(item), Counter()
    return None, Counter({anchor.name: 1} if anchor.model is not None else {})


async def _unknown_against(
    game: AnchorGame | None, cast: BenchCast, item: Item, player: Player, held: Said | None
) -> Counter[str]:
    """Return the calls of one question for one player that a repetition lacks."""
    if held is not None and held.text is None:
        return Counter()
    both = REPAIR * len(SEATINGS)
    calls = Counter({cast.judge: both})
    said = None
    if game is not None:
        with suppress(JournalMiss):
            said = await game.game.answer(item, player)
    if said is None:
        calls[player.name] += player.model is not None
        return calls
    if said.text is None:
        return Counter()
    if game is None or held is None:
        return calls
    calls = Counter[str]()
    for seats in SEATINGS:
        try:
            await game.compared(item, player, seats, said, held)
        except JournalMiss:
            calls[cast.judge] += REPAIR
    return calls
