"""Do the best clips help a model of four frames? Tasks spliced as lists of frames, no file encoded.

A picture that broke in is found by the colours that the question names; the order of several, and
how often one came, are not, since all kept clips show the same one. Options are drawn first, the
key last and uniformly. Whoever embeds sees two frames a second.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from math import sqrt
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
from PIL import Image

from videoautoarena.agents.offline.language.tasks import (
    describe,
    fit,
    in_order,
    word_count,
    word_needle,
    word_order,
)
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.agents.offline.players.model import reply
from videoautoarena.agents.offline.vision.embedding import vector_of
from videoautoarena.agents.offline.vision.frame_features import Glance, Picture, Sent, glance
from videoautoarena.agents.offline.vision.frame_features import picture as picture_of
from videoautoarena.agents.offline.vision.looks import distance
from videoautoarena.agents.prompting.contracts import QUESTION_LINE
from videoautoarena.agents.prompting.options import with_options
from videoautoarena.agents.roles.choose import read_choice
from videoautoarena.agents.roles.retrieve import best, clips_of
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.sampler import kept_places, sample
from videoautoarena.video.synth.samples import make_samples

Kind = Literal["needle", "order", "count"]
KINDS: tuple[Kind, ...] = ("needle", "order", "count")
LENGTHS_S = (30, 60, 180, 600)
FPS, EACH, KEEP = 2, 2, 2
LOOK = Sampling(policy="fps", fps=FPS, frames=1024, size_px=192)
TINTS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))
"""Orders of red, green and blue, so that few clips make many descriptions."""
FOREIGN, MARGIN = 0.45, 0.12
GAIN, NO_GAIN = 0.3, 0.12
"""What needle gains at least, and the others at most, by the upper end of a 95 % interval."""


@dataclass(frozen=True)
class Shot:
    """One frame of a source, with what is seen in it."""

    shown: Picture
    seen: Glance


@dataclass(frozen=True)
class Probe:
    """A stretch that may break in, and its words."""

    shots: tuple[Shot, ...]
    text: str

    def worst(self, text: str) -> float:
        """Return how well its worst frame fits a text."""
        return min(fit(text, shot.seen) for shot in self.shots)

    def most(self, text: str) -> float:
        """Return how well its best frame fits a text."""
        return max(fit(text, shot.seen) for shot in self.shots)


@dataclass(frozen=True)
class Item:
    """A task about frames."""

    question: str
    options: tuple[str, ...]
    key: int
    shots: tuple[Shot, ...]


Bank = dict[str, list[list[Shot]]]
"""Name of a source to its frames in each tint, its own colours first."""


def main(argv: Sequence[str] | None = None) -> int:
    """Play all tasks with and without retrieval; 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(prog="benchmarks.retrieval", description=__doc__)
    parser.add_argument("--videos", type=Path, help="real clips; the samples alone where not given")
    parser.add_argument("--n", type=int, default=600, help="tasks of each kind and length")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        make_samples(Path(name))
        folders = [Path(name), *([options.videos] if options.videos else [])]
        bank = dict(_sources(folders))
    holds = True
    print("kind     length  n    uniform  clips   gain (95 %)        wanted")
    for kind in KINDS:
        for length_s in LENGTHS_S:
            holds &= _line(kind, length_s, _gains(bank, kind, length_s, options.n))
    return 0 if holds else 1


def _sources(folders: Sequence[Path]) -> Iterator[tuple[str, list[list[Shot]]]]:
    for folder in folders:
        for video in find_videos(folder).videos:
            jpegs = sample(folder / video.path, sampling=LOOK).jpegs
            yield video.id, [[_shot(_tinted(jpeg, tint)) for jpeg in jpegs] for tint in TINTS]


def _shot(jpeg: bytes) -> Shot:
    shown = picture_of(0.0, base64.b64encode(jpeg).decode())
    return Shot(shown, glance(shown))


def _tinted(jpeg: bytes, tint: tuple[int, int, int]) -> bytes:
    if tint == TINTS[0]:
        return jpeg
    with Image.open(io.BytesIO(jpeg)) as picture:
        pixels = np.asarray(picture.convert("RGB"))[:, :, tint]
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "JPEG", quality=90)
    return held.getvalue()


def _gains(bank: Bank, kind: Kind, length_s: int, count: int) -> list[tuple[bool, bool]]:
    """Return of each task whether it was right, spread over the video and by clips."""
    found = []
    for number in range(count):
        item = _made(bank, kind, length_s, Random(f"{kind} {length_s} {number}"))
        total = len(item.shots)
        spread = _right(item, kept_places(total, EACH * KEEP))
        found.append((spread, _right(item, _chosen(item))))
    return found


def _line(kind: Kind, length_s: int, found: Sequence[tuple[bool, bool]]) -> bool:
    gains = [after - before for before, after in found]
    mean, half = float(np.mean(gains)), 1.96 * float(np.std(gains)) / sqrt(len(gains))
    holds = mean >= GAIN if kind == "needle" else mean + half < NO_GAIN
    wanted = f">= {GAIN}" if kind == "needle" else f"upper end < {NO_GAIN}"
    before, after = (float(np.mean(side)) for side in zip(*found, strict=True))
    print(
        f"{kind:8} {length_s:4} s {len(found):5}  {before:.2f}     {after:.2f}    "
        f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f})  {wanted}"
        f"{'' if holds else '  NOT HELD'}",
        flush=True,
    )
    return holds


def _made(bank: Bank, kind: Kind, length_s: int, chance: Random) -> Item:
    """Return a task: options first, all under the same checks, then the key, then the frames."""
    while True:
        sources = chance.sample(sorted(bank), chance.choice((1, 2, 3)))
        ground = _ground(bank, sources, length_s * FPS, chance)
        longest_s = {"needle": 8, "order": 5, "count": 4}[kind]
        probes = _probes(bank, sources, ground, chance.randint(2 * FPS, longest_s * FPS), chance)
        if len(probes) == 4:
            break
    dice = Dice(chance.random())
    if kind == "needle":
        key = chance.randrange(4)
        shots = _spliced(ground, [probes[key]], chance)
        return Item(word_needle(dice), tuple(probe.text for probe in probes), key, shots)
    if kind == "order":
        orders = chance.sample(list(permutations(probes[:3])), 4)
        key = chance.randrange(4)
        options = tuple(in_order([probe.text for probe in one]) for one in orders)
        return Item(word_order(dice), options, key, _spliced(ground, orders[key], chance))
    low = chance.randrange(1, 4)
    counts = chance.sample(range(low, low + 4), 4)
    key = chance.randrange(4)
    shots = _spliced(ground, [probes[0]] * counts[key], chance)
    return Item(word_count(probes[0].text, dice), tuple(map(str, counts)), key, shots)


def _ground(bank: Bank, sources: Sequence[str], size: int, chance: Random) -> list[Shot]:
    ground: list[Shot] = []
    while len(ground) < size:
        for name in chance.sample(sources, len(sources)):
            ground += bank[name][0]
    return ground[:size]


def _probes(
    bank: Bank, sources: Sequence[str], ground: Sequence[Shot], size: int, chance: Random
) -> list[Probe]:
    """Return up to four stretches that are foreign by colours and by words, and unlike another."""
    seen = list({shot.shown.digest: shot.seen for shot in ground}.values())
    found: list[Probe] = []
    others = sorted(bank.keys() - set(sources))
    for _ in range(120):
        frames = chance.choice(bank[chance.choice(others)])
        if len(frames) < size or len(found) == 4:
            continue
        first = chance.randrange(len(frames) - size + 1)
        shots = tuple(frames[first : first + size])
        text = describe([shot.seen for shot in shots])
        if text is None:
            continue
        probe = Probe(shots, text)
        worst = probe.worst(text) - MARGIN
        if any(
            probe.most(other.text) > other.worst(other.text) - MARGIN or other.most(text) > worst
            for other in found
        ):
            continue
        if any(fit(text, one) > worst or distance(shots[0].seen, one) < FOREIGN for one in seen):
            continue
        found.append(probe)
    return found


def _spliced(ground: Sequence[Shot], probes: Sequence[Probe], chance: Random) -> tuple[Shot, ...]:
    """Return the ground with probes in this order in it, two seconds apart at least."""
    while True:
        places = sorted(chance.sample(range(1, len(ground)), len(probes)))
        if all(b - a > 2 * FPS for a, b in pairwise(places)):
            break
    shots, last = list[Shot](), 0
    for place, probe in zip(places, probes, strict=True):
        shots += [*ground[last:place], *probe.shots]
        last = place
    return (*shots, *ground[last:])


def _chosen(item: Item) -> list[int]:
    """Return the places of the frames that retrieval keeps."""
    clips = clips_of(len(item.shots), EACH)
    vectors = [
        vector_of(Sent(tuple(item.shots[place].shown for place in clip), "", 0)) for clip in clips
    ]
    asked = with_options(item.question, item.options)
    kept = best(vectors, vector_of(Sent((), asked, 0)), keep=KEEP)
    return [place for clip in kept for place in clips[clip]]


def _right(item: Item, places: Sequence[int]) -> bool:
    """Return whether a model that is sent these frames names the key."""
    shown = tuple(replace(item.shots[k].shown, time_s=k / FPS) for k in places)
    text = f"{QUESTION_LINE}\n{with_options(item.question, item.options)}"
    return read_choice(reply("mole", Sent(shown, text, 0)), item.options).place == item.key


if __name__ == "__main__":
    sys.exit(main())
