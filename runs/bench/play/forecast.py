"""What the calls that a bench lacks will take: tokens and dollars, expected and at most.

Most texts of a bench are known before anybody is asked, so they are counted. Tokens of a frame and
of a reply are stated, and give way to what the bench's own calls took.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.agents.limits.estimates import (
    LABEL_TOKENS,
    expected_input,
    frame_tokens,
    output_limit,
)
from videoautoarena.agents.limits.prefixes import caching_of
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.fences import with_options
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.mark import CHECKER, AnswerWithKey, ReplyWithChecklist
from videoautoarena.agents.roles.prompter import Task, worded
from videoautoarena.memory.records.frame_policies import FPS
from videoautoarena.memory.records.records import CHARACTERS, SCOUTS, CallRow, Role, Sampling, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.schema import DialogueItem, Item, Round, TaskItem
from videoautoarena.runs.bench.play.cast import BenchCast, Player
from videoautoarena.runs.bench.play.game import scope_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.run.config.disclosure import REPAIR, frames_of
from videoautoarena.runs.run.rundir.frames import part_id, stored_frames
from videoautoarena.runs.tournament.measures import CallCount, CallMeasure, CallVector, taken_by
from videoautoarena.runs.tournament.past_calls import Basis, PastCalls, kind_of
from videoautoarena.runs.tournament.plan import (
    FREE,
    SAMPLE,
    THOUGHT,
    WORDS,
    Line,
    chance_variance,
    filled,
    prefix_read,
    repaired_share,
    stated_usage,
    thinks,
)

CHOSEN, DESCRIBED, SHORTEST = 8, 100, 15
"""Tokens of a reply that names an option, of one in free text, and of the least in a dialogue."""
POINT, SCALE, CHECKED = 40, 50, 30
"""Tokens in which a judge marks one scoring point, one scale, or one item of a checklist."""
ENOUGH = 5
"""Calls of a kind that are needed before a bench's own rates are used."""
MARKS: tuple[Role, ...] = ("scene_marker", "summary_marker", CHECKER)


class PlannedCall(NamedTuple):
    """A call that is left, or several of one kind."""

    item: Any
    role: Role
    alias: str
    player: Player | None = None
    """Whose answer it is, or is about; for an embedder who asks, if it embeds a question."""
    times: int = 1
    part: int = 0
    """The number of the round in a dialogue, from 1; 0 elsewhere."""

    @property
    def at_most(self) -> int:
        """How many calls it may become: a reply in a form may be asked for once more."""
        return self.times if self.role in FREE else REPAIR * self.times

    @property
    def kind(self) -> Kind:
        """What is measured together."""
        return self.alias, self.role, _is_choice(self.item)


Kind = tuple[str, Role, bool]
"""Name of a model, its role, and whether an option is to be named."""


class Size(NamedTuple):
    """What one call takes, in tokens."""

    read: float
    written: float
    most_read: float


class MeasuredKind(NamedTuple):
    """What calls of a kind took, beside what had been expected of them."""

    measure: CallMeasure
    read: float
    """Tokens in that were expected of one, on average."""
    written: float


class _ExpectedCall(NamedTuple):
    """A call that is left, or several of one kind, and how many are expected of it."""

    ask: PlannedCall
    size: Size
    expected: float
    chance: float
    """How many of them are repairs."""


@dataclass
class Forecast:
    """Sizes the calls of a bench before they are made."""

    cast: BenchCast
    films: BenchVideos
    prompts: PromptSet
    store: Store | None
    spoken: Mapping[str, int]
    """Characters of a video's subtitles, by its own id."""
    past: PastCalls = field(default_factory=PastCalls)
    """What calls took in past runs on this machine."""
    concurrency: int = 1
    """Calls under way at once."""
    _counts: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def lines(self, asks: Sequence[PlannedCall], items: Sequence[Any]) -> list[Line]:
        """Return what each model will take in each role; of a sweep, with each setting."""
        # The latest alone: the file holds the calls of all that ever played this bench.
        rows = tuple(self.store.journal.latest(SAMPLE)) if self.store is not None else ()
        rates = self._rates(rows, items)
        again = 1 + repaired_share(rows)
        answered = self._answered()
        found: dict[tuple[str, str, Role], dict[Kind, list[_ExpectedCall]]] = {}
        for ask, is_spared in self._spared(asks):
            name = ask.player.name if ask.player and ask.role == "contestant" else ask.alias
            # A reply in a form may have to be asked for again; free text is taken as it comes.
            # A call that is the same as another is expected to cost nothing; the most counts both.
            chance = 0.0 if ask.role in FREE else ask.times * (again - 1) * (not is_spared)
            expected = ask.times * (not is_spared) + chance
            if ask.role in SCOUTS:
                expected = self._unknown_clips(ask, answered)
            one = _ExpectedCall(ask, self._size(ask), expected, chance)
            found.setdefault((name, ask.alias, ask.role), {}).setdefault(ask.kind, []).append(one)

        def sized(busy_s: float | None) -> list[Line]:
            return [
                reduce(Line.plus, (self._line(who, one, rates, busy_s) for one in kinds.values()))
                for who, kinds in found.items()
            ]

        seconds = sum(line.seconds for line in sized(None) if not line.is_offline)
        return sized(seconds / self.concurrency)

    def _line(
        self,
        who: tuple[str, str, Role],
        asked: Sequence[_ExpectedCall],
        rates: Mapping[Kind, MeasuredKind],
        busy_s: float | None,
    ) -> Line:
        """Return what calls of one kind take; `busy_s` is how long all are under way, if known."""
        name, alias, role = who
        config = self.cast.config
        model = config.model_of(alias)
        calls = sum(one.expected for one in asked)
        shares = [one.expected / calls if calls else 1 / len(asked) for one in asked]
        read, written, frames, beginning = (
            sum(share * part for share, part in zip(shares, parts, strict=True))
            for parts in zip(*(self._means(one) for one in asked), strict=True)
        )
        videos = len({one.ask.item.video_id for one in asked if one.expected}) or 1
        variance = chance_variance(sum(one.chance for one in asked))
        bare = Line(
            name, role, calls, sum(one.ask.at_most for one in asked), calls_variance=variance
        )
        known: tuple[CallMeasure | CallVector, Basis]
        own = rates.get(asked[0].ask.kind)
        past = self.past.kinds.get(kind_of(config, self._model(asked[0].ask), role, frames))
        if own is not None:
            into, out = read / own.read, written / own.written
            known = own.measure.scaled(np.array([into, into, into, out, 1.0])), "run"
        elif past is not None:
            known = past, "machine"
        else:
            caching = caching_of(model, frames) if busy_s is not None else "none"
            reads = prefix_read(caching, calls / videos, busy_s=busy_s or 0.0)
            if thinks(model, role):
                written = min(THOUGHT * written, output_limit(model, role))
            stated = stated_usage(read, written, beginning=beginning, reads=reads)
            known = stated, "guess"
        return filled(
            model,
            bare,
            CallCount(calls, variance, videos),
            *known,
            longest=max(one.size.most_read for one in asked),
        )

    def _means(self, one: _ExpectedCall) -> tuple[float, float, float, float]:
        """Return tokens in and out, frames, and the tokens of what a cache may have of a call."""
        frames = self._frames(one.ask)
        return one.size.read, one.size.written, frames, expected_input(self._model(one.ask), frames)

    def _spared(self, asks: Sequence[PlannedCall]) -> Iterator[tuple[PlannedCall, bool]]:
        """Yield each with whether another is the same call, as with numbers beyond all frames."""
        seen: set[tuple[str, int, str, str, int]] = set()
        same: set[tuple[str, int, str]] = set()
        for ask in asks:
            if (player := ask.player) is None:
                yield ask, False
                continue
            whose = (ask.item.qid, ask.part, player.name)
            if ask.role == "contestant":
                shown = self._frames(ask)
                # Without a frame to show, all views are one and the same call.
                view = player.view if shown else "blind"
                key = (ask.item.qid, ask.part, ask.alias, view, shown)
                same |= {whose} if key in seen else set()
                seen.add(key)
            # What marks such an answer is one call for both players, too.
            yield ask, whose in same

    def _answered(self) -> Counter[tuple[str, str, str]]:
        """Return how many calls about clips and questions were answered, by scope and model."""
        rows = self.store.journal.each_answered() if self.store is not None else ()
        return Counter((scope, alias, role) for scope, alias, role in rows if role in SCOUTS)

    def _unknown_clips(
        self, ask: PlannedCall, answered: Mapping[tuple[str, str, str], int]
    ) -> float:
        """Return how many calls about a question, or a video's clips, are expected to be left.

        The number of clips follows from that of the video's frames.
        """
        video = self.films.videos.get(ask.item.video_id)
        if ask.player is not None or video is None:
            return max(0.0, 1.0 - answered[scope_of(ask.item), ask.alias, ask.role])
        made = ask.times * self._count(ask.item) / self.cast.config.sampling.frames
        return max(0.0, math.ceil(made) - answered[video.id, ask.alias, ask.role])

    def _size(self, ask: PlannedCall) -> Size:
        model = self._model(ask)
        frames = self._frames(ask)
        text = self._text(ask)
        reply = _reply(ask)
        heard = self._heard(ask, frames)
        each = frame_tokens(model)
        # The most is a token a character; what is expected goes by CHARACTERS a token.
        most = text + heard + frames * (each.most + LABEL_TOKENS)
        if ask.role not in FREE:
            most = max(most, WORDS[ask.role].most_text + frames * (each.most + LABEL_TOKENS))
        read = expected_input(model, frames, text + heard)
        return Size(read, min(reply, output_limit(model, ask.role)), most)

    def _model(self, ask: PlannedCall) -> Model:
        if ask.player is not None and ask.player.model is not None and ask.role == "contestant":
            return ask.player.model
        return self.cast.config.model_of(ask.alias)

    def _text(self, ask: PlannedCall) -> int:
        """Return the characters of a call's text."""
        item = ask.item
        role = ask.role
        if isinstance(item, DialogueItem):
            task = _of_round(item, ask)
        elif role == "contestant":
            task = Task(role, None, scope_of(item), question=_asked(item))
        elif role in MARKS:
            # Texts are sized by their characters, so blanks stand for an answer that is not known.
            said = " " * (CHARACTERS * DESCRIBED)
            key = AnswerWithKey(item.question, item.answer or "", said, tuple(item.points))
            task = Task(role, None, scope_of(item), texts=key.texts())
        else:
            return CHARACTERS * WORDS[role].text
        return len(worded(self.prompts, task))

    def _frames(self, ask: PlannedCall) -> int:
        """Return how many frames a call is sent, as far as can be known before."""
        if ask.role in MARKS or (ask.role in SCOUTS and ask.player is not None):
            return 0
        whole = self._count(ask.item)
        view = ask.player.view if ask.player is not None else "whole"
        if ask.role == "contestant" and view in ("blind", "one"):
            whole = min(whole, 0 if view == "blind" else 1)
        if ask.role == "contestant":
            model = self._model(ask)
            if (found := model.retrieval) is not None:
                whole = min(whole, found.frames_per_clip * found.keep)
            return min(model.frame_limit("contestant"), whole)
        return min(frames_of(self.cast.config, ask.alias, ask.role), whole)

    def _count(self, item: Any) -> int:
        """Return how many frames stand for a video, or the stretches that a dialogue is about."""
        video = self.films.videos.get(item.video_id)
        spans = _spans(item)
        part = part_id(item.video_id, spans, self.cast.preset)
        if part not in self._counts:
            known = None
            sampling = self.cast.config.sampling
            if self.store is not None and video is not None:
                kept_as = part_id(video.id, spans, self.cast.preset)
                known = stored_frames(self.store, video.id, kept_as)
            count = len(known.frames) if known is not None else _count_of(sampling, video, spans)
            self._counts[part] = count
        return self._counts[part]

    def _heard(self, ask: PlannedCall, frames: int) -> int:
        """Return the characters of subtitles that are shown with so many frames."""
        video = self.films.videos.get(ask.item.video_id)
        # Whoever is shown less than the whole is sent no subtitles, which would tell what is
        # hidden.
        is_bare = ask.player is not None and ask.player.view != "whole"
        if video is None or not frames or (is_bare and ask.role == "contestant"):
            return 0
        spoken = self.spoken.get(video.id, 0) * frames / self._count(ask.item)
        if spans := _spans(ask.item):
            spoken *= min(1.0, _shown_s(video, spans) / max(video.duration_s, 1e-9))
        return round(spoken)

    def _rates(self, rows: Sequence[CallRow], items: Sequence[Any]) -> dict[Kind, MeasuredKind]:
        """Return what this bench's calls took by kind, for kinds of which there are enough."""
        by_scope = {scope_of(item): item for item in items}
        vectors: dict[Kind, list[tuple[str, CallVector]]] = defaultdict(list)
        expected: dict[Kind, list[tuple[float, float]]] = defaultdict(list)
        for row in rows:
            # Scopes of rounds and judgings begin with that of the item and go on behind a colon.
            item = by_scope.get(row.nonce.scope.partition(":")[0])
            # Every try is billed, so all of them go into what a call takes.
            taken = taken_by(row)
            # Calls whose tokens nobody counted say nothing of rates.
            if item is None or taken is None or row.alias not in self.cast.config.cast:
                continue
            ask = PlannedCall(item, row.nonce.role, row.alias, part=_part_of(row.nonce.scope))
            frames = row.frames or 0
            heard = self._heard(ask, frames)
            read = expected_input(self._model(ask), frames, row.text_chars + heard)
            vectors[ask.kind].append((item.video_id, taken))
            expected[ask.kind].append((read, float(_reply(ask))))
        return {
            kind: MeasuredKind(CallMeasure.of(found), *map(mean, zip(*expected[kind], strict=True)))
            for kind, found in vectors.items()
            if len(found) >= ENOUGH
        }


def _is_choice(item: Any) -> bool:
    return isinstance(item, TaskItem) and item.is_choice


def _asked(item: Item | TaskItem) -> str:
    if isinstance(item, TaskItem) and item.is_choice:
        return with_options(item.question, item.options)
    return item.question


def _of_round(item: DialogueItem, ask: PlannedCall) -> Task:
    """Return what is asked about one round; what a player will answer stands as blanks."""
    asked = item.rounds[ask.part - 1]
    if ask.role == CHECKER:
        items = tuple(check.text for check in asked.checklist)
        texts = ReplyWithChecklist(asked.user, asked.reference, _blank(asked), items).texts()
        return Task(ask.role, None, scope_of(item), texts=texts)
    is_own = ask.player is not None and ask.player.history == "own"
    before = item.rounds[: ask.part - 1]
    history = [(one.user, _blank(one) if is_own else one.reference) for one in before]
    return Task("contestant", None, scope_of(item), question=asked.user, history=history)


def _said(asked: Round) -> int:
    """Return the tokens of a reply in a round: about as many as its reference has."""
    return max(SHORTEST, round(len(asked.reference) / CHARACTERS))


def _blank(asked: Round) -> str:
    return " " * (CHARACTERS * _said(asked))


def _part_of(scope: str) -> int:
    """Return the round that stands in the scope of a call about a dialogue; 0 in any other."""
    # A judging against `:rejected` has this mark, too, but no number behind it.
    number = scope.partition(":r")[2].partition(":")[0]
    return int(number) if number.isdecimal() else 0


def _spans(item: Any) -> list[tuple[float, float]]:
    return item.spans if isinstance(item, DialogueItem) else []


def _shown_s(video: Video, spans: Sequence[tuple[float, float]]) -> float:
    return sum(end - start for start, end in spans) if spans else video.duration_s


def _reply(ask: PlannedCall) -> int:
    """Return the tokens that a reply is expected to have."""
    item = ask.item
    role = ask.role
    if isinstance(item, DialogueItem):
        asked = item.rounds[ask.part - 1]
        return CHECKED * max(1, len(asked.checklist)) if role == CHECKER else _said(asked)
    if role in MARKS:
        return (2 - bool(item.points)) * SCALE + POINT * len(item.points)
    if role != "contestant" or not isinstance(item, TaskItem):
        return WORDS[role].reply
    return CHOSEN if item.is_choice else DESCRIBED


def _count_of(sampling: Sampling, video: Video | None, spans: Sequence[tuple[float, float]]) -> int:
    """Return how many frames a video or its stretches are expected to have, before it is opened."""
    if video is None:
        return sampling.frames
    a_second = (sampling.fps or FPS) if sampling.policy == "fps" else video.fps
    return max(1, min(sampling.frames, round(_shown_s(video, spans) * a_second)))
