"""Cases whose right answer is known by construction: a judge is shown a spliced clip.

Each clip has a pair, and every text stands once where it is right and once where it is wrong, in
both seats. Two wordings of each answer, short and long, are crossed, so that a judge which likes
length is right as often as it is wrong.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from videoautoarena.agents.roles.judge import JudgeCase
from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Sampling, Video, VideoFrames
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.analysis.trials.trial import Material, TrialCase
from videoautoarena.runs.analysis.trials.truth_clips import (
    ENGLISH,
    KINDS,
    WORDS,
    Form,
    Kind,
    Pair,
    Stage,
    plan_pair,
)
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.synth.splice import Splice
from videoautoarena.video.workers.decoders import Decoders

USUAL_CASES = 64
"""Cases where all are asked for: each kind of truth in each form from each seat, twice."""
FORMS: tuple[tuple[tuple[Form, Form], ...], ...] = (
    (("short", "long"), ("long", "short")),
    (("short", "short"), ("long", "long")),
)
"""Forms of the two answers, by turns: crossed ones for every other pair of clips."""
CASES_OF_A_PAIR = 4
TRIES = 4
"""Pairs of clips that are tried before a kind is given up."""


@dataclass
class Makings:
    """What cases are made from, and which kinds could be made."""

    videos: Sequence[Video]
    """In the order in which they are used."""
    files: Mapping[str, Path]
    """sha256 to where a video lies."""
    decoders: Decoders
    sampling: Sampling
    fewest: int
    """Frames that a judge is shown at least."""
    seed: int
    languages: Sequence[str] = (ENGLISH,)
    """Languages of WORDS, which take turns."""
    troubles: dict[Kind, str] = field(default_factory=dict)
    """By kind that was given up, the last reason."""
    made: set[Kind] = field(default_factory=set)
    """Kinds that have clips."""

    async def pair(self, kind: Kind, turn: int) -> _Made | None:
        """Return the clips of a kind's next pair; None if none of the videos tried will do."""
        decoded = 0
        why = ""
        for attempt in range(max(TRIES, len(self.videos))):
            stage = self._stage(kind, turn, attempt)
            try:
                pair = plan_pair(kind, stage)
                # Counted behind the plan: a video that will not do costs nothing, a clip that is
                # decoded seconds.
                decoded += 1
                clips = (
                    self.decoders.splice(clip, self.files, self.sampling) for clip in pair.clips
                )
                shown = await asyncio.gather(*clips)
            except UnusableVideo as trouble:
                why = f"{stage.ground.path}: {trouble}"
                if decoded == TRIES:
                    break
                continue
            self.made.add(kind)
            return _Made(pair, stage.ground, (shown[0], shown[1]), self._load)
        self.troubles[kind] = why
        return None

    def _stage(self, kind: Kind, turn: int, attempt: int) -> Stage:
        """Return what a pair is made from: each kind goes through the videos from its own start."""
        count = len(self.videos)
        number = KINDS.index(kind)
        place = (turn + number * max(1, count // len(KINDS)) + attempt) % count
        # From lap to lap and attempt to attempt another partner.
        step = 1 + (turn // count + attempt) % max(1, count - 1)
        other = self.videos[(place + step) % count] if count > 1 else None
        draw = (number, turn, attempt)
        language = self.language_of(kind, turn)
        return Stage(self.videos[place], other, self.fewest, self.seed, draw, language)

    def language_of(self, kind: Kind, turn: int) -> str:
        """Return the language of a kind's pair: each has all forms before the next one comes."""
        return self.languages[(turn // len(FORMS) + KINDS.index(kind)) % len(self.languages)]

    async def _load(self, clip: Splice, _id: str, digests: list[str]) -> list[bytes]:
        """Return JPEG bytes of a clip's frames."""
        return await self.decoders.spliced_jpegs(
            clip, self.files, sampling=self.sampling, digests=digests
        )


@dataclass(frozen=True)
class _Made:
    """A pair whose clips have been sampled."""

    pair: Pair
    ground: Video
    shown: tuple[VideoFrames, VideoFrames]
    load: Callable[[Splice, str, list[str]], Awaitable[list[bytes]]]

    @property
    def others(self) -> tuple[str, ...]:
        """Ids of the videos whose footage is set in."""
        shas = {sha256 for clip in self.pair.clips for sha256 in clip.videos}
        return tuple(sorted(sha256[:12] for sha256 in shas - {self.ground.sha256}))


async def truth_cases(material: Material) -> list[TrialCase]:
    """Return cases of every kind that the run's videos give; calls no model.

    Decodes what is not cached: seconds for each clip, of which four cases need two.
    """
    makings = makings_of(material)
    wanted = USUAL_CASES * len(makings.languages) if material.count is None else material.count
    cases: list[TrialCase] = []
    material.say(f"splicing clips for {counted(wanted, 'case')} with a known answer")
    turns: Counter[Kind] = Counter()
    waiting = deque(KINDS if makings.videos else ())
    while waiting and len(cases) < wanted:
        # No more pairs than are still needed, since clips take seconds each.
        lacking = -(-(wanted - len(cases)) // CASES_OF_A_PAIR)
        batch = [waiting.popleft() for _ in range(min(lacking, len(waiting)))]
        pairs = (makings.pair(kind, turns[kind]) for kind in batch)
        for kind, made in zip(batch, await asyncio.gather(*pairs), strict=True):
            if made is not None:
                # A case says a language only where the battles of the run do.
                drawn = material.config.languages and makings.language_of(kind, turns[kind])
                cases += _cases(made, turns[kind], drawn or None)
                turns[kind] += 1
                waiting.append(kind)
    gone = sum(not path.is_file() for path in makings.files.values())
    if gone and makings.troubles:
        material.notes.append(
            f"{counted(gone, 'video')} of the run missing; pass the folder with {option('videos')}"
        )
    if without := [code for code in material.config.languages if code not in WORDS]:
        material.notes.append(
            f"no case with a known answer is worded in {', '.join(without)}; there are sentences "
            f"in {', '.join(WORDS)}"
        )
    for kind, why in makings.troubles.items():
        more = "more " if kind in makings.made else ""
        material.notes.append(f"no {more}clip with a known answer ({kind}): {why}")
    return cases[:wanted]


def makings_of(material: Material) -> Makings:
    """Return what a run's cases are made from: its videos in seeded order."""
    seed = material.config.seed
    videos = material.run.store.videos()
    limits = [model.frame_limit("judge") for model in material.judges]
    return Makings(
        # By content, so that a renamed file changes no case.
        videos=sorted(videos, key=lambda video: derive(seed, "truth", video.sha256)),
        # One that is not at hand keeps its place: its clips may be in the cache.
        files={video.sha256: material.files.get(video.id, Path(video.path)) for video in videos},
        decoders=material.decoders,
        sampling=material.config.sampling,
        # One clip serves all judges, so it is made for the one that is shown the fewest frames.
        fewest=min([material.config.sampling.frames, *limits]),
        seed=seed,
        languages=[code for code in material.config.languages if code in WORDS] or [ENGLISH],
    )


def _cases(made: _Made, turn: int, language: str | None) -> Iterator[TrialCase]:
    """Yield the cases of a pair: in two pairs of forms, each text with the one clip and the other.

    The claim that stands first is by turns the one and the other.
    """
    for number, forms in enumerate(FORMS[turn % len(FORMS)]):
        order = (0, 1) if (turn // len(FORMS) + number) % 2 == 0 else (1, 0)
        said = [
            made.pair.claims[which].said(form) for which, form in zip(order, forms, strict=True)
        ]
        persona = WORDS[language or ENGLISH].persona
        case = JudgeCase(persona, made.pair.question, said[0], said[1], language=language)
        for seat, which in enumerate(order):
            clip = made.pair.clips[which]
            frames = made.shown[which]
            right = forms[seat]
            wrong = forms[1 - seat]
            yield TrialCase(
                id=f"{made.pair.kind}-{made.ground.id}-{turn}-{forms[0]}-{forms[1]}-{'ab'[seat]}",
                kind="truth",
                name=f"{made.pair.kind}-{right}-{wrong}",
                video=made.ground.id,
                frames=frames,
                case=case,
                right="a" if seat == 0 else "b",
                load=partial(made.load, clip),
                others=made.others,
            )
