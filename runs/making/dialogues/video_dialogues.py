"""Making the dialogues about one video: what it is remembered by, what it serves, who is asked.

A line of the set says how its dialogue came about, too.
Nothing is decided here that the journal does not say again: to repeat a video costs nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

from pydantic import JsonValue

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import RoundReply
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.write_dialogue import ChecklistQuestion, Dialogist
from videoautoarena.graph.dialogue import DialogueContext, MadeDialogue, make_dialogue
from videoautoarena.graph.dialogue_checks import TURNS, Fall, denials
from videoautoarena.memory.records.digests import derive, unit_interval
from videoautoarena.memory.records.errors import CallFailed, JournalMiss, UnusableVideo
from videoautoarena.memory.records.records import Video, VideoFrames
from videoautoarena.memory.records.scenes import Clip, SceneMemory, Span, clips_of
from videoautoarena.runs.bench.format.schema import (
    ABILITIES,
    TWIN,
    Ability,
    Authorship,
    Check,
    DialogueItem,
    Round,
)
from videoautoarena.runs.jobs.paid_job import JobTally
from videoautoarena.runs.making.scenes.bank import Remembering, known_memory
from videoautoarena.runs.run.rundir.context import all_done
from videoautoarena.runs.run.rundir.frames import RunFrames

MAKER = "1"
"""Goes up whenever equal replies would give other dialogues by this code."""
ROLES = (
    "dialogist", "checklist_maker", "checklist_validator", "leak_checker", "dialogue_answerer",
    "checklist_marker",
)  # fmt: skip


class DialogueOrigin(Authorship):
    """How a dialogue came about, as `made` of its line says it."""

    kind: str
    """`dialogue`."""
    maker: str
    """Version of the rules by which it was made."""
    clip: dict[str, Any]
    """What it is about: `id`, `scenes` (their numbers), `spans`, `why` (`whole`, `scene`, `object`
    or `theme`) and what is `shared`."""
    fitness: dict[str, Any]
    """Ability to what the examiner rated the clip, 1 to 6."""
    objects: dict[str, str]
    """Id to name of the objects in the clip, as the examiner named them."""
    repaired: list[str]
    """What was wrong with the first try, where there was one."""


class RoundOrigin(TypedDict):
    """How a round came about, each only where there is something to say."""

    tried: NotRequired[list[dict[str, Any]]]
    """Of a scored round, each answer that was tried out: `round`, `how` (`knows all, sees other
    frames`, `knows no history`, `takes it for another`, `sees no frames`), `answer`, and `met`:
    whether it does as expected, item by item."""
    denials: NotRequired[list[int]]
    """Numbers, from 1, of the items that ask whether a thing is said not to be there; over-refusal
    counts by them."""
    explicit: NotRequired[str]
    """The user's words with everything named in full, of a round that goes back."""
    others: NotRequired[list[str]]
    """The same for each other thing that could be meant."""


def entry_of(facts: Mapping[str, Any], made: MadeDialogue) -> DialogueItem:
    """Return the line of a dialogue that passed; `facts` say of what and by whom."""
    video = facts["video"]
    clip = facts["clip"]
    prompter = facts["prompter"]
    examiner = facts["examiner"]
    prompts = prompter.prompts
    rounds = [
        _round(one, made, number=number, items=made.checklists.get(number, ()))
        for number, one in enumerate(made.rounds, 1)
    ]
    origin: DialogueOrigin = {
        "kind": "dialogue",
        "maker": MAKER,
        "seed": facts["seed"],
        "examiner": examiner.resolved,
        "parameters": dict(examiner.keyed("dialogist")),
        "prompts": {role: prompts.digests[role] for role in ROLES},
        "contracts": prompts.contracts,
        "reading": prompts.reading,
        "clip": clip.model_dump(mode="json"),
        "fitness": facts["fitness"],
        "objects": facts["objects"],
        "repaired": [one.why for one in made.faults],
    }
    bare = DialogueItem(
        qid="",
        video_id=video.id,
        ability=facts["ability"],
        # To the last digit: a thousandth more or less is a frame of another scene.
        spans=list(clip.spans),
        is_cross_scene=clip.is_cross_scene,
        rounds=rounds,
        duration_s=round(video.duration_s, 3),
        made=cast(dict[str, JsonValue], origin),
    )
    return bare.model_copy(update={"qid": bare.own_qid()})


def _round(
    one: RoundReply, made: MadeDialogue, *, number: int, items: tuple[ChecklistQuestion, ...]
) -> Round:
    about: RoundOrigin = {}
    if items:
        about["tried"] = [dict(each) for each in made.tried if each["round"] == number]
        if denied := denials(items):
            about["denials"] = list(denied)
    if one.explicit:
        about["explicit"] = one.explicit
    if one.others:
        about["others"] = list(one.others)
    return Round(
        user=one.user,
        reference=one.assistant,
        checklist=[Check(text=i.text, expected="yes" if i.is_yes else "no") for i in items],
        is_about_video=one.about == "video",
        refers_to=one.refers_to,
        objects=list(one.objects),
        made=cast(dict[str, JsonValue], about),
    )


FIT = 5
"""The least rating, of 6, with which a clip serves an ability (MT-Video-Bench)."""
MOST_CLIPS = 6
"""The most clips of a video that are rated: the whole, then others in an order of the seed."""
SPARE = 2
"""Dialogues of one ability and video that are tried beyond those that were wanted."""


@dataclass(frozen=True)
class DialogueWish:
    """What is to be made."""

    abilities: tuple[Ability, ...] = ABILITIES
    per_video: int = 1
    """Dialogues of each ability about each video."""
    turns: tuple[int, int] = TURNS
    """Rounds of each, from and to."""
    seed: int = 0
    scored: int | None = None
    """Scored rounds of each; None: as many as its writer thinks fit, one as a rule."""

    def scored_of(self, ability: Ability, turns: int) -> int | None:
        """Return how many rounds of a dialogue of so many are to be scored; None: not said."""
        if self.scored is None or ability == "content_summary":
            # A summary closes its dialogue, and no other round is one.
            return None
        # The first round is there to be built on.
        return min(self.scored, turns - 1)

    @property
    def kinds(self) -> tuple[Ability, ...]:
        """Everything that is made: each answer refusal has its twin."""
        found = list[Ability]()
        for one in self.abilities:
            found += (one, TWIN) if one == "answer_refusal" else (one,)
        return tuple(dict.fromkeys(found))


@dataclass
class VideoOutcome:
    """What came of one video."""

    video: Video
    items: list[DialogueItem] = field(default_factory=list)
    fallen: Counter[tuple[Ability, Fall]] = field(default_factory=Counter)
    """Why dialogues were dropped, after one repair; and abilities that no clip serves."""
    repaired: Counter[Fall] = field(default_factory=Counter)
    """What was wrong with those that a repair saved."""
    failures: dict[str, str] = field(default_factory=dict)
    """Scope of whatever ended with a call that failed for good, and why."""
    unusable: str | None = None
    """Why nothing can be made: the video gives no frames."""
    is_remembered: bool = False
    """Whether its scenes and objects are known."""
    open: list[Ability] = field(default_factory=list)
    """Abilities that are not known to the end, if only what is known was repeated."""
    doubtful: set[Ability] = field(default_factory=set)
    """Open abilities that no clip serves among those rated so far."""


@dataclass(kw_only=True)
class DialogueTally(JobTally):
    """How videos went in one process."""

    unit: str = "dialogue"
    outcomes: list[VideoOutcome] = field(default_factory=list)

    @property
    def items(self) -> list[DialogueItem]:
        """Dialogues that stay."""
        return [item for one in self.outcomes for item in one.items]

    @property
    def pieces(self) -> int:
        """How many dialogues stay."""
        return len(self.items)

    @property
    def fallen(self) -> Counter[tuple[Ability, Fall]]:
        """Why other dialogues were dropped, by ability."""
        return sum((one.fallen for one in self.outcomes), Counter[tuple[Ability, Fall]]())

    @property
    def repaired(self) -> Counter[Fall]:
        """What was wrong with those that a repair saved."""
        return sum((one.repaired for one in self.outcomes), Counter[Fall]())

    @property
    def unusable(self) -> list[tuple[Video, str]]:
        """Videos that give no frames, and why."""
        return [(one.video, one.unusable) for one in self.outcomes if one.unusable is not None]


class Lenses(NamedTuple):
    """The ways to frames."""

    whole: RunFrames
    """Frames as contestants see them."""
    scenes: RunFrames
    """Frames as scenes are looked at."""


@dataclass(frozen=True)
class Making:
    """Makes the dialogues of a set through a prompter."""

    prompter: Prompter
    examiner: Model
    remembering: Remembering
    lenses: Lenses
    shots: Callable[[Video], Awaitable[Sequence[Span]]]
    """A video to its stretches between cuts; raises UnusableVideo, or JournalMiss."""
    wish: DialogueWish
    is_past: bool = False
    """Whether only what is known is repeated, and the rest stays open."""
    is_upper_bound: bool = False
    """Whether what depends on a failed call is made without it; else it waits for the reply."""
    on_failed: Callable[[str], None] = lambda _scope: None
    """Called with the scope of every call that failed for good."""

    async def play(self, video: Video) -> VideoOutcome:
        """Return what came of a video."""
        outcome = VideoOutcome(video)
        try:
            memory = await self._memory(video)
        except UnusableVideo as why:
            outcome.unusable = str(why)
            return outcome
        except JournalMiss:
            outcome.open += self.wish.kinds
            return outcome
        outcome.is_remembered = True
        outcome.failures.update(memory.failures)
        for scope in memory.failures:
            self.on_failed(scope)
        if memory.failures and not self.is_upper_bound:
            return outcome
        about = _OneVideo(self, outcome, memory)
        made = await all_done(about.make(kinds) for kinds in self._chains())
        order = {kind: place for place, kind in enumerate(self.wish.kinds)}
        outcome.items = sorted(
            (one for each in made for one in each), key=lambda i: order[i.ability]
        )
        return outcome

    def _chains(self) -> list[tuple[Ability, ...]]:
        """Return abilities that are made one after the other: a twin asks like its refusals."""
        kinds = self.wish.kinds
        return [
            (kind, TWIN) if kind == "answer_refusal" and TWIN in kinds else (kind,)
            for kind in kinds
            if kind != TWIN or "answer_refusal" not in kinds
        ]

    async def _memory(self, video: Video) -> SceneMemory:
        shots = await self.shots(video)
        if self.is_past:
            known = known_memory(
                self.remembering.store,
                video.id,
                examiner=self.examiner,
                prompts=self.prompter.prompts,
            )
            if known is None:
                raise JournalMiss(f"{video.id} was not remembered")
            return known
        return await self.remembering.remember(video, shots)

    async def seen(self, video: str, clip: Clip) -> VideoFrames:
        """Return the frames of a clip."""
        if self.is_past and not self.lenses.whole.has(video, clip.spans):
            raise JournalMiss(f"{video} was not looked at")
        return await self.lenses.whole.frames(video, clip.spans)


class _Waits(Exception):
    """A call failed, and what follows depends on its reply."""


@dataclass(frozen=True)
class _OneVideo:
    """One video on which dialogues are made."""

    making: Making
    outcome: VideoOutcome
    memory: SceneMemory
    _ratings: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def make(self, kinds: Sequence[Ability]) -> list[DialogueItem]:
        """Return the dialogues of these abilities, each in words like those before it."""
        found = list[DialogueItem]()
        asked = tuple[str, ...]()
        for place, kind in enumerate(kinds):
            try:
                made = await self._made(kind, asked)
            except JournalMiss:
                self.outcome.open += kinds[place:]
                rated = list(self._ratings.values())
                is_served = any(map(partial(_serves, ability=kind), rated))
                self.outcome.doubtful |= {kind} if rated and not is_served else set()
                break
            except _Waits:
                break
            found += made
            asked += tuple(one.user for item in made for one in item.rounds if one.is_scored)
        return found

    async def _made(self, ability: Ability, asked: tuple[str, ...]) -> list[DialogueItem]:
        wish = self.making.wish
        found = list[DialogueItem]()
        used = Counter[str]()
        is_served = False
        tries = wish.per_video + SPARE
        clips = self._clips()
        for _ in range(tries):
            # Clips take turns, so that several dialogues are not all about the first that serves.
            for clip in clips:
                if len(found) == wish.per_video or used.total() == tries:
                    return found
                rated = await self._rated(clip)
                if not rated:
                    self._wait()
                if not _serves(rated, ability):
                    continue
                is_served = True
                slot = f"{self._scope(clip)}-{ability}-{used[clip.id]}"
                # A number of its own for each try on a clip, or a second dialogue would be the
                # first one again.
                used[clip.id] += 1
                made = await self._dialogue(clip, ability, asked, slot)
                if made is None or any(fault.reason == "failed" for fault in made.faults):
                    self._wait()
                elif made.is_done:
                    item = entry_of(self._facts(clip, ability, rated), made)
                    found.append(item)
                    # The next dialogue is told, so that no two ask the same.
                    asked += tuple(one.user for one in item.rounds if one.is_scored)
            if not is_served:
                # A clip whose rating failed might have served.
                why: Fall = "fitness" if all(self._ratings[clip.id] for clip in clips) else "failed"
                self.outcome.fallen[ability, why] += 1
                break
        return found

    def _wait(self) -> None:
        """Stop after a failed call, whose reply may change what follows or make it needless."""
        if not self.making.is_upper_bound:
            raise _Waits

    async def _dialogue(
        self, clip: Clip, ability: Ability, asked: tuple[str, ...], slot: str
    ) -> MadeDialogue | None:
        making, (fewest, most) = self.making, self.making.wish.turns
        dialogist = await self._dialogist(clip)
        if dialogist is None:
            return None
        drawn = unit_interval(making.wish.seed, "turns", slot)
        wanted = fewest + int(drawn * (most - fewest + 1))
        made = await make_dialogue(
            DialogueContext(
                dialogist=replace(dialogist, scored=making.wish.scored_of(ability, wanted)),
                marker=making.examiner,
                ability=ability,
                turns=(fewest, most),
                slot=slot,
                asked=asked,
                wanted=wanted,
                on_failed=making.on_failed,
            )
        )
        if not made.is_done:
            self.outcome.fallen[ability, made.faults[-1].reason] += 1
        elif made.faults:
            self.outcome.repaired[made.faults[0].reason] += 1
        for fault in made.faults:
            if fault.reason == "failed":
                self.outcome.failures[slot] = fault.why
        return made

    def _facts(self, clip: Clip, ability: Ability, rated: Mapping[str, int]) -> dict[str, Any]:
        prompter = self.making.prompter
        examiner = self.making.examiner
        names = {one.id: one.name for one in self.memory.seen_in(clip.scenes)}
        return {
            "video": self.outcome.video,
            "ability": ability,
            "clip": clip,
            "fitness": dict(rated),
            "objects": names,
            "prompter": prompter,
            "examiner": examiner,
            "seed": self.making.wish.seed,
        }

    def _scope(self, clip: Clip) -> str:
        return f"{scope_of(self.outcome.video.id)}-{clip.id}"

    def _clips(self) -> list[Clip]:
        """Return the whole, then other clips in an order that the seed draws."""
        seed = self.making.wish.seed
        video = self.outcome.video
        every = clips_of(self.memory)
        others = sorted(
            (one for one in every if one.why != "whole"),
            key=lambda one: derive(seed, "clips", video.sha256, one.id),
        )
        return [*(one for one in every if one.why == "whole"), *others][:MOST_CLIPS]

    async def _rated(self, clip: Clip) -> Mapping[str, int]:
        """Return how well a clip serves each ability; empty if the call failed."""
        # Chains of several abilities want the same rating at once; one of them asks for all.
        async with self._locks.setdefault(clip.id, asyncio.Lock()):
            if clip.id not in self._ratings:
                self._ratings[clip.id] = await self._rate(clip)
        return self._ratings[clip.id]

    async def _rate(self, clip: Clip) -> Mapping[str, int]:
        dialogist = await self._dialogist(clip)
        if dialogist is None:
            return {}
        try:
            return await dialogist.rate(slot=self._scope(clip))
        except CallFailed as failure:
            self.outcome.failures[self._scope(clip)] = str(failure)
            self.making.on_failed(self._scope(clip))
            return {}

    async def _dialogist(self, clip: Clip) -> Dialogist | None:
        making = self.making
        video = self.outcome.video
        try:
            frames = await making.seen(video.id, clip)
        except UnusableVideo as why:
            self.outcome.failures[self._scope(clip)] = f"no frames: {why}"
            return None
        return Dialogist(making.prompter, making.examiner, self.memory, clip, frames)


def _serves(rated: Mapping[str, int], ability: Ability) -> bool:
    # A twin asks like a refusal and has no rating of its own.
    return rated.get("answer_refusal" if ability == TWIN else ability, 0) >= FIT


def scope_of(video: str) -> str:
    """Return the beginning of the scopes of all calls about dialogues of a video."""
    return f"dialogues-{video}"
