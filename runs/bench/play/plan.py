"""What it takes to play a bench, and what of it is known already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.console import Group

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.prices import price_of
from videoautoarena.agents.models.registry import lacks_of_keys
from videoautoarena.memory.records.errors import JournalMiss
from videoautoarena.memory.records.records import Role
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.schema import DialogueItem, Item
from videoautoarena.runs.bench.play.cast import BenchCast, Player
from videoautoarena.runs.bench.play.forecast import MARKS, Forecast, PlannedCall
from videoautoarena.runs.bench.play.game import Game, Said
from videoautoarena.runs.bench.play.question import Answered, JudgedGame, seatings_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.formats.record_json import LEFT_OUT, keyed, record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.disclosure import clip_calls, embedders, judges_notice
from videoautoarena.runs.run.rundir.budget import cap_use
from videoautoarena.runs.run.rundir.reader import counted, has_subtitles
from videoautoarena.runs.run.rundir.spending import NOTHING_USED
from videoautoarena.runs.tournament.plan import Costing, slower
from videoautoarena.runs.tournament.plan_text import (
    LinesView,
    NoteView,
    figures_view,
    lacks_of,
    prices_of,
    spent_words,
)

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass
class Left:
    """What is left to be called."""

    known: int = 0
    """Questions times players for which no call is left."""
    lost: int = 0
    """How many of these are void, since their video cannot be had."""
    videos: set[str] = field(default_factory=set)
    """The bench's ids of the videos whose frames are sent."""
    failed: set[str] = field(default_factory=set)
    """Scopes of calls that failed for good."""
    asks: list[PlannedCall] = field(default_factory=list)

    @property
    def calls(self) -> Counter[str]:
        """Name of a model to the most calls it may cost, transport retries aside."""
        return _calls_of(self.asks)


class Unknown(NamedTuple):
    """What of one item is left for all who play it."""

    known: int
    """Players for whom nothing is."""
    asks: tuple[PlannedCall, ...] = ()

    @property
    def calls(self) -> Counter[str]:
        """Name of a model to the most calls it may cost, transport retries aside."""
        return _calls_of(self.asks)


def _calls_of(asks: Iterable[PlannedCall]) -> Counter[str]:
    calls = Counter[str]()
    for ask in asks:
        calls[ask.alias] += ask.at_most
    return calls


OfItem = Callable[[Any, BenchCast, Any], Awaitable[Unknown]]
"""Game, or None if nothing is known, cast and item to what is left of it."""


async def look_ahead(
    of_item: OfItem,
    game: Game[Any] | None,
    cast: BenchCast,
    *,
    items: Sequence[Any],
    films: BenchVideos,
) -> Left:
    """Return what is left to be called; `game` repeats what is known, None if nothing is."""
    left = Left()
    looking: dict[str | int, tuple[Any, set[str]]] = {}
    for number, item in enumerate(items):
        video = films.videos.get(item.video_id)
        players = cast.players
        seen = game
        if video is None or (game is not None and game.run_frames.is_quarantined(video.id)):
            # A lost video makes the question void for those alone who look at it.
            players = tuple(one for one in players if not cast.needs_video(one))
            left.known += len(cast.players) - len(players)
            left.lost += len(cast.players) - len(players)
        elif game is not None and all(map(cast.needs_video, players)):
            # Frames are part of every request, so without them nothing of the item can be found
            # again.
            seen = game if game.has_frames(item) else None
        if not players:
            continue
        found = await of_item(seen, cast._replace(players=players), item)
        left.known += found.known
        left.asks += found.asks
        if any(_is_shown(cast, ask) for ask in found.asks):
            left.videos.add(item.video_id)
        mine = list(_looking(cast, found.calls))
        for alias, player in mine:
            # Drawn for each item when it is played; counted are as many as there can be.
            shown = number % len(films.videos) if player.view == "other" else item.video_id
            looking.setdefault(shown, (item, set()))[1].add(alias)
        # Questions are embedded once, and clips once a video, for all models that look by them.
        for scout in embedders(cast.config, (alias for alias, _ in mine)):
            left.asks.append(PlannedCall(item, "embedder", scout, mine[0][1]))
    for item, models in looking.values():
        for (scout, role), clips in clip_calls(cast.config, models).items():
            left.asks.append(PlannedCall(item, role, scout, times=clips))
    return left


def _is_shown(cast: BenchCast, ask: PlannedCall) -> bool:
    """Return whether frames of the video that an item is about are sent with a call."""
    if ask.role == "contestant":
        return ask.player is None or not ask.player.is_blind
    return ask.role not in MARKS and ask.alias not in cast.blind_judges


def _looking(cast: BenchCast, calls: Counter[str]) -> Iterator[tuple[str, Player]]:
    """Yield who looks for clips to answer from."""
    for player in (*cast.players, cast.anchor):
        model = player.model if player is not None else None
        if player is None or model is None or model.retrieval is None or not calls[model.alias]:
            continue
        if player.view not in ("blind", "one"):
            yield model.alias, player


async def unknown_of(game: JudgedGame[Any] | None, cast: BenchCast, item: Item) -> Unknown:
    """Return what is left of a question whose answers are held against others."""
    held, asks = await _held(game, cast, item)
    known = 0
    for player in cast.players:
        mine = await _unknown(game, cast, item, player, held)
        # As long as the anchor has not answered, no player is done with the question.
        known += not mine and held is not None
        asks += mine
    return Unknown(known, tuple(asks))


async def _held(
    game: JudgedGame[Any] | None, cast: BenchCast, item: Item
) -> tuple[Said | None, list[PlannedCall]]:
    """Return what answers are held against, or None and the call that it takes."""
    if (anchor := cast.anchor) is None:
        return Said(""), []
    if game is not None:
        with suppress(JournalMiss):
            return await game.held(item), []
    return None, [PlannedCall(item, "contestant", anchor.name, anchor)] if anchor.model else []


async def _unknown(
    game: JudgedGame[Any] | None, cast: BenchCast, item: Item, player: Player, held: Said | None
) -> list[PlannedCall]:
    """Return the calls of one question for one player that a repetition lacks."""
    # Without an answer of the anchor nothing is judged, so the player is not asked either.
    if held is not None and held.text is None:
        return []
    seatings = list(seatings_of(cast, item))
    said = None
    role: Role = "comparer" if cast.anchor else "judge"
    judged = [PlannedCall(item, role, judge, player, len(seatings)) for judge in cast.config.judges]
    if game is not None:
        with suppress(JournalMiss):
            said = await game.answer(item, player)
    if said is None:
        answering = [PlannedCall(item, "contestant", player.name, player)] if player.model else []
        return [*answering, *judged]
    if said.text is None:
        return []
    if game is None or held is None or held.text is None:
        return judged
    left = list[PlannedCall]()
    answered = Answered(item, player, said.text, held.text)
    for seating, judge in product(seatings, game.judges):
        try:
            await game.judging(answered, seating, judge)
        except JournalMiss:
            left.append(PlannedCall(item, role, judge.alias, player))
    return left


@dataclass(frozen=True, kw_only=True)
class BenchPlan(Costing):
    """What playing a bench will take."""

    SHOWN: ClassVar = (
        *("questions", "players", "judge", "anchor", "known", "without_video"),
        "calls_at_most",
        *(*Costing.COSTS, "duration_s", "duration_bound90_s", "notices"),
    )
    questions: int
    """Questions of the bench, or as many as were asked for."""
    players: tuple[str, ...] = field(metadata=keyed("models"))
    """Who answers."""
    judge: str
    """Who judges."""
    known: int
    """Questions times models that are played already, or that have no video."""
    calls_at_most: Mapping[str, int]
    """The most calls of each model, by its name, transport retries aside."""
    notices: tuple[str, ...]
    """What leaves the machine, and what a reader must know."""
    anchor: str | None = field(default=None, metadata=LEFT_OUT)
    """Name of the model whose answers all are held against, if there is one."""
    unit: str = "question"
    """What `questions` are called for a person."""
    concurrency: int = 1
    """Calls under way at once."""
    is_batched: bool = False
    """Whether they go out in batches, whose answers come when their provider likes; not in JSON."""
    damage: str = ""
    """Why what past runs took was passed over, if it was; not in JSON."""
    without_video: int | None = field(default=None, metadata=LEFT_OUT)
    """How many of `known` are void, since their video cannot be had; left out if none is."""

    @property
    def duration_s(self) -> float | None:
        """How long it is expected to take at `--concurrency`; None for stand-ins, and batches."""
        if self.is_batched:
            return None
        billed = [line.seconds for line in self.lines if not line.is_offline]
        return round(sum(billed) / self.concurrency, 1) if billed else None

    @property
    def duration_bound90_s(self) -> float | None:
        """What nine of ten such plays take no longer than; None as of `duration_s`."""
        found = self.duration_s
        return None if found is None else round(found * slower(self.lines), 1)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench run --plan --json`."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        most = sum(self.calls_at_most.values())
        against = "" if self.anchor is None else f" against {safe(self.anchor)}"
        judged = f", judged by {safe(self.judge)}" if self.judge else ""
        return [
            f"{counted(self.questions, self.unit)} for {safe(', '.join(self.players))}{against}"
            f"{judged}{self._known_words()}; at most {counted(most, 'call')}",
            *map(safe, self.notices),
        ]

    def _known_words(self) -> str:
        total = self.questions * len(self.players)
        played = self.known - (self.without_video or 0)
        if not self.without_video:
            return f", {played:,} of {total:,} need no call" if played else ""
        words = [f"{total - self.known:,} to answer"]
        words += [f"{played:,} need no call"] * bool(played)
        return f": {', '.join(words)}, {self.without_video:,} without a usable video"

    def as_view(self) -> RenderableType:
        """Return what it takes and costs, for a terminal."""
        if not self.lines:
            return Group()
        notes = [*prices_of(self.prices), *([self.damage] if self.damage else [])]
        parts: list[RenderableType] = []
        if self.basis is not None:
            times = (self.duration_s, self.duration_bound90_s)
            at_once = None if self.is_batched else self.concurrency
            parts.append(figures_view(self, times, cap_use=self.cap_use, at_once=at_once))
        parts.append(LinesView(self.lines))
        notes += [spent_words(self), *lacks_of(self.lacking)]
        return Group(*parts, *map(NoteView, notes))


def plan_of(
    cast: BenchCast,
    items: Sequence[Any],
    *,
    left: Left,
    notes: Sequence[str],
    store: Store | None,
) -> BenchPlan:
    """Return the plan of a bench that is ready to be played, without its tokens and dollars."""
    calls = {name: count for name, count in left.calls.items() if count}
    notices = judges_notice(
        cast.config,
        calls,
        videos=len(left.videos),
        has_subtitles=store is not None and has_subtitles(store),
        answering=[player.name for player in (*cast.players, cast.anchor) if player],
        reading=cast.config.judges if cast.marking is not None else (),
    )
    return BenchPlan(
        questions=len(items),
        players=tuple(player.name for player in cast.players),
        judge=cast.judge,
        known=left.known,
        calls_at_most=calls,
        notices=(*cast.notes, *notes, *notices),
        anchor=cast.anchor.name if cast.anchor else None,
        unit="dialogue" if isinstance(items[0], DialogueItem) else "question",
        without_video=left.lost or None,
    )


def priced_plan(
    plan: BenchPlan, items: Sequence[Any], *, left: Left, forecast: Forecast, caps: SpendCaps
) -> BenchPlan:
    """Return a plan with the tokens and dollars of its calls, under these caps."""
    store = forecast.store
    config = forecast.cast.config
    known = {alias: price_of(config.model_of(alias)) for alias in plan.calls_at_most}
    return replace(
        plan,
        lines=tuple(forecast.lines(left.asks, items)),
        prices={alias: price.source if price else None for alias, price in known.items()},
        lacking=lacks_of_keys(map(config.model_of, plan.calls_at_most)),
        concurrency=forecast.concurrency,
        damage=forecast.past.damage,
        caps=caps,
        spent_usd=round(store.journal.spent().usd, 6) if store is not None else 0.0,
        cap_use=NOTHING_USED if store is None else cap_use(config, store.journal),
    )
