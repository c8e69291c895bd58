"""Making a set of dialogues: an examiner remembers, rates, writes and checks; all is put at once.

Until then calls stand in a draft beside the set, afterwards below its results: the same order goes
on from there, and never pays twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from videoautoarena.agents.prompting.prompts import SCENE_SLOTS, PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.graph.dialogue import EXEMPT, TRIES
from videoautoarena.graph.dialogue_checks import MEMORABLE, MOST_OTHERS
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import Role, Video
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.records.scenes import Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import (
    ABILITIES,
    DIALOGUE,
    TWIN,
    Ability,
    digest_of,
)
from videoautoarena.runs.console.progress.events import Say
from videoautoarena.runs.console.progress.listeners import gather
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import (
    NOBODY,
    ExpectedCalls,
    FailedScopes,
    Generations,
    JobAudience,
    JobPlan,
)
from videoautoarena.runs.making.dialogues.dialogue_set import (
    DialogueOrder,
    LostVideo,
    MadeDialogues,
    dialogue_card,
    fall_words,
    outcome_of,
    selection_of,
)
from videoautoarena.runs.making.dialogues.video_dialogues import (
    MAKER,
    MOST_CLIPS,
    SPARE,
    DialogueTally,
    DialogueWish,
    Lenses,
    Making,
    VideoOutcome,
    scope_of,
)
from videoautoarena.runs.making.scenes.bank import (
    Remembering,
    load_of,
    scene_calls,
    scene_frames,
)
from videoautoarena.runs.making.tasks.drafting import WritingJob, drafted, keep_calls
from videoautoarena.runs.making.tasks.make import refuse_inside, set_in
from videoautoarena.runs.making.tasks.watch import examining
from videoautoarena.runs.run.config.disclosure import REPAIR
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import possibly_paid
from videoautoarena.runs.run.rundir.context import work_off
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import stored_prompts
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.tournament.plan import REPAIRED
from videoautoarena.video.folder.find import Findings
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

# What the offline examiner took for each dialogue that was wanted, on average of nine real clips
# and the twelve samples: 561 calls are expected of the former and 519 were made, 917 and 947 of the
# latter. Where few abilities are served it is less, two fifths for squares on plain ground;
# with an examiner whose dialogues are often refused it is more.
WRITTEN = 1.08
"""Calls that write, repairs and spares among them; less than 1 each where few abilities served."""
ROUNDS = 0.96
"""Scored rounds that get as far as a checklist and are answered by who knows all."""
FORGETFUL = 2.3
"""Answers without the history, or with another thing meant, for abilities of memory."""
BLIND = 1.15
"""Answers without frames, for abilities that are not exempt from them."""
GUESSED = 0.1
"""Share of these answers that say anything, and are held against the checklist."""
RATED = 1.2
"""Clips of each video that are rated."""
SELDOM = 0.25
"""Share of an ability's calls that is expected if the first clips rated do not serve it."""
MOST_SCORED = 8


async def plan_dialogues(order: DialogueOrder, audience: JobAudience = NOBODY) -> MadeDialogues:
    """Return what making a set would take; calls nobody and writes nothing."""
    found = await _gathered(order, audience.say)
    if (there := _there(order, found)) is not None:
        return there
    async with _ready(order, found, audience, write=False) as job:
        for note in job.notes:
            audience.say(note)
        return job.made(plan=job.plan(), failures=_failures(job.known.values()))


async def make_dialogues(
    order: DialogueOrder, audience: JobAudience = NOBODY
) -> tuple[MadeDialogues, DialogueTally]:
    """Return the set that was made of a folder, and how it went; equal replies give equal bytes.

    If it ended early, or calls failed, there is no set yet: the same order goes on.
    Raises BadInput: the videos give no dialogue, or something cannot be read or written.
    """
    found = await _gathered(order, audience.say)
    if (there := _there(order, found)) is not None:
        # A process that was killed between putting the set and moving its calls left them in the
        # draft.
        keep_calls(order)
        return there, DialogueTally()
    async with _ready(order, found, audience, write=True) as job:
        for note in job.notes:
            audience.say(note)
        await job.run(audience)
        tally = job.tally
        tally.lost = possibly_paid(job.config, job.open_store.journal)
        # By content, so that neither speed nor names of files change the set.
        tally.outcomes.sort(key=lambda one: one.video.sha256)
        made = job.made(
            fallen=tally.fallen,
            repaired=tally.repaired,
            failures=_failures(tally.outcomes),
            unusable=tuple(LostVideo(video.path, why) for video, why in tally.unusable),
        )
        is_open = bool(made.failures) and not order.is_upper_bound
        if is_open or not tally.is_whole:
            return made, tally
        if not made.dialogues:
            raise BadInput(_nothing(made))
        bench = await asyncio.to_thread(job.put)
    keep_calls(order)
    return replace(made, bench=bench), tally


def _failures(outcomes: Iterable[VideoOutcome]) -> tuple[LostVideo, ...]:
    return tuple(
        LostVideo(one.video.path, why) for one in outcomes for why in one.failures.values()
    )


async def _gathered(order: DialogueOrder, say: Say) -> Findings:
    refuse_inside(order.folder, order.to)
    found = await asyncio.to_thread(gather, order.folder, say)
    if not found.videos:
        raise BadInput("no video of the folder can be used; pass one that holds some")
    return found


def _nothing(made: MadeDialogues) -> str:
    if len(made.unusable) == made.videos:
        path, why = made.unusable[0]
        return f"no video can be used; {safe(path)} {safe(why)}"
    reasons = fall_words(made.reasons)
    return (
        f"{safe(made.examiner)} gives no dialogue about {counted(made.videos, 'video')} ({reasons})"
        f"; ask for other {option('abilities')}, or of another {option('examiner')}"
    )


def _there(order: DialogueOrder, found: Findings) -> MadeDialogues | None:
    """Return the set if it is there already; BadInput if something else is."""
    config = examining(order.examiner, order.config, order.wish.seed)
    bench = set_in(order.to, _origin(order, config, found.videos), order.licence)
    if bench is None:
        return None
    return outcome_of(
        order,
        open_bench(order.to).items,
        videos=len(found.videos),
        examiner=config.cast[config.examiner].model,
        bench=bench,
        was_there=True,
    )


def _origin(order: DialogueOrder, config: RunConfig, videos: Sequence[Video]) -> str:
    """Return the digest of all that was asked for: of whom, of what, and how much."""
    examiner = config.cast[config.examiner].identity(config.sampling.frames)
    # By content: names and places of the files make no other set.
    made_of = sorted(video.sha256 for video in videos)
    # Without what was not asked for, so that sets of before there was such a wish are known again.
    wish = {name: of for name, of in asdict(order.wish).items() if of is not None}
    return digest_of(["dialogues", MAKER, wish, examiner, made_of])


@dataclass(kw_only=True)
class DialogueJob(WritingJob[Video, VideoOutcome]):
    """Has an examiner make the dialogues about each video."""

    order: DialogueOrder
    shots: Mapping[str, Sequence[Span]]
    """Video to its stretches between cuts; without those that cannot be decoded."""
    lost: Mapping[str, str]
    """Video to why it cannot be decoded."""
    lenses: Lenses = field(init=False)
    is_past: bool = False
    """Whether only what is known is repeated."""
    known: dict[str, VideoOutcome] = field(default_factory=dict)
    """What came of each video as far as it is known, and what is open."""
    tally: DialogueTally = field(default_factory=DialogueTally)

    def items(self) -> Sequence[Video]:
        """Return all videos: what is known of them is repeated."""
        return self.found.videos

    def forecast(self, video: Video) -> Iterable[ExpectedCalls]:
        """Yield what remembering a video takes, and each of its abilities that is open."""
        one = self.known[video.id]
        if not one.open or video.id not in self.shots:
            return
        examiner = self.config.examiner
        if not one.is_remembered:
            yield from scene_calls(examiner, video.id, self.shots[video.id], self.answered)
        for kind in (None, *one.open):
            for role, (expected, most) in _calls(self.order.wish, kind).items():
                done = self._made[video.id, kind, role]
                likely = expected * (SELDOM if kind in one.doubtful else 1 + REPAIRED)
                yield ExpectedCalls(
                    examiner,
                    role,
                    max(likely - done, 0.0),
                    max(most * REPAIR - done, 0),
                    videos=(video.id,),
                )

    def expected(self) -> list[ExpectedCalls]:
        """Return the calls that are left, those about scenes first."""
        return sorted(super().expected(), key=lambda one: one.role not in SCENE_SLOTS)

    @cached_property
    def _made(self) -> Counter[tuple[str, Ability | None, str]]:
        """How many calls of making the journal has answers to, by video, ability and role."""
        found = Counter[tuple[str, Ability | None, str]]()
        start = scope_of("")
        kinds: dict[str, Ability] = {str(kind): kind for kind in (*ABILITIES, TWIN)}
        for (head, role), count in self.answered.items():
            if head.startswith(start):
                # A scope is dialogues-VIDEO-CLIP for a rating, with ability and number behind it
                # for a dialogue.
                video, *parts = head.removeprefix(start).split("-")
                found[video, kinds.get(parts[-2]) if len(parts) > 1 else None, role] += count
        return found

    def plan(self) -> JobPlan:
        """Return what is left; dialogues of one ability about one video are made in turn."""
        open_ = [one for one in self.known.values() if one.open and one.video.id in self.shots]
        at_once = max(1, min(self.order.concurrency, sum(len(one.open) for one in open_)))
        return replace(super().plan(), at_once=at_once, known=len(self.known) - len(open_))

    async def play(self, video: Video, prompter: Prompter) -> VideoOutcome:
        """Return what comes of a video, or what is open if it is only repeated."""
        store = self.open_store
        examiner = self.config.model_of(self.config.examiner)
        making = Making(
            prompter,
            examiner,
            Remembering(prompter, examiner, store, self.lenses.scenes),
            self.lenses,
            self._shots_of,
            self.order.wish,
            is_past=self.is_past,
            is_upper_bound=self.order.is_upper_bound,
        )
        if not self.is_past:
            making = replace(making, on_failed=self.failed.add)
        return await making.play(video)

    @cached_property
    def failed(self) -> FailedScopes:
        """The scopes of calls that failed for good."""
        return FailedScopes(self.open_store)

    async def keep(self, _video: Video, outcome: VideoOutcome) -> None:
        """Take what came of a video; it stands in the journal alone."""
        tally = self.tally
        tally.outcomes.append(outcome)
        tally.done += 1
        tally.failures.update(outcome.failures.values())
        for (_, why), count in outcome.fallen.items():
            tally.asides["dropped"] += count * (why not in ("fitness", "failed"))

    async def look(self) -> None:
        """Find out what is known of each video, and what is open, by repeating it."""
        if self.store is None:
            kinds = self.order.wish.kinds
            self.known = {one.id: VideoOutcome(one, open=list(kinds)) for one in self.items()}
            return
        again = Generations(self.store)
        # A plan counts what would be asked again as open, without writing it down.
        failed = self.failed.scopes if self.order.retry_failed else ()
        self.generations = lambda scope: range(len(again(scope)) + (scope in failed))
        self.is_past = True
        self.lenses = self._lenses(self.store, None)
        recalled = await self.recall(self.items())
        self.known = {video.id: outcome for video, outcome in recalled.known}
        self.is_past = False

    def look_anew(self, decoders: Decoders) -> None:
        """Let what is not known be looked at and asked."""
        store = self.open_store
        self.generations = Generations(store)
        self.lenses = self._lenses(store, decoders)
        self.load = load_of(self.lenses.scenes, self.lenses.whole)

    def made(self, **more: Any) -> MadeDialogues:
        """Return what came of it."""
        return outcome_of(
            self.order,
            self.tally.items,
            videos=len(self.found.videos),
            examiner=self.examiner,
            **{"bench": None, **more},
        )

    def put(self) -> str:
        """Write the set, and return its digest."""
        selection = selection_of(self.order.wish, self.tally, self.examiner)
        origin = _origin(self.order, self.config, self.found.videos)
        return self.put_set(
            self.tally.items, DIALOGUE, selection, card=dialogue_card, origin=origin
        )

    async def _shots_of(self, video: Video) -> Sequence[Span]:
        if (why := self.lost.get(video.id)) is not None:
            raise UnusableVideo(why)
        return self.shots[video.id]

    def _lenses(self, store: Store, decoders: Decoders | None) -> Lenses:
        videos = {video.id: video for video in self.found.videos}
        files = self.files() if decoders else {}
        whole = RunFrames(
            store, decoders, files=files, sampling=self.config.sampling, videos=videos
        )
        return Lenses(whole, scene_frames(store, decoders, files=files, videos=videos))


def _calls(wish: DialogueWish, kind: Ability | None) -> dict[Role, tuple[float, int]]:
    """Return the calls that are expected, and the most, by role: of one ability of one video."""
    if kind is None:
        return {"fitness_rater": (RATED, MOST_CLIPS)}
    wanted = wish.per_video
    blind = kind not in EXEMPT
    memory = kind in MEMORABLE
    # Each round that is scored is given a checklist and tried out by itself.
    each = wanted * (wish.scored_of(kind, wish.turns[0]) or 1)
    rounds = each * ROUNDS
    forgetful = each * FORGETFUL * memory
    blindly = each * BLIND * blind
    tries = (wanted + SPARE) * TRIES
    most = tries * MOST_SCORED
    answers = 1 + memory * (1 + MOST_OTHERS)
    return {
        "dialogist": (wanted * WRITTEN, tries),
        "checklist_maker": (rounds, most),
        "checklist_validator": (rounds, most),
        "dialogue_answerer": (rounds + forgetful, most * answers),
        "leak_checker": (blindly, most * blind),
        "checklist_marker": (
            rounds + forgetful + blindly * GUESSED,
            most * (answers + blind),
        ),
    }


@asynccontextmanager
async def _ready(
    order: DialogueOrder, found: Findings, audience: JobAudience, *, write: bool
) -> AsyncIterator[DialogueJob]:
    """Yield a set that can be made, or planned, with what of it is known."""
    config = examining(order.examiner, order.config, order.wish.seed)
    notes = [f"not used: {safe(one.path)} {safe(one.reason)}" for one in found.skipped]
    if config.offline:
        notes.append(
            "the offline stand-in writes: it speaks of light, colours and cuts alone, and takes "
            "coloured areas for objects"
        )
    videos = {video.id: video for video in found.videos}
    prompts = PromptSet.load(dialogues=True)
    with drafted(order, config, prompts=prompts, found=found, videos=videos, write=write) as (
        store,
        more,
    ):
        async with Decoders(FrameCache()) as decoders:
            shots, lost = await _cut(order, found, decoders, audience)
            job = DialogueJob(
                store=store,
                config=config,
                prompts=stored_prompts(store, missing=prompts) if store else prompts,
                order=order,
                found=found,
                shots=shots,
                lost=lost,
                notes=(*notes, *more),
            )
            if write and order.retry_failed:
                job.failed.ask_again()
            await job.look()
            if store is not None:
                job.look_anew(decoders)
            yield job


async def _cut(
    order: DialogueOrder, found: Findings, decoders: Decoders, audience: JobAudience
) -> tuple[dict[str, Sequence[Span]], dict[str, str]]:
    """Return where videos are cut, and why some cannot be decoded."""
    shots = dict[str, Sequence[Span]]()
    lost = dict[str, str]()
    with audience.progress() as on_progress:

        async def cut(video: Video) -> None:
            try:
                spans = await decoders.scenes(order.folder / video.path, video)
                shots[video.id] = tuple((a, b) for a, b in spans)
            except UnusableVideo as why:
                lost[video.id] = str(why)
            on_progress(len(shots) + len(lost), len(found.videos), "looked for cuts")

        await work_off(found.videos, cut, workers=4)
    return shots, lost
