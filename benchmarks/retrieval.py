"""Do the best clips help a model of four frames? Tasks spliced as lists of frames, no file encoded.

A picture that broke in is found by the colours that the question names; the order of several, and
how often one came, are not, since all kept clips show the same one. A vector for each picture that
is named, which no contestant asks for, finds an order, too; clips of another task's video say
nothing. Options are drawn first, the key last and uniformly. Whoever embeds sees two frames a
second.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import cycle, pairwise, permutations
from math import sqrt
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image

from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tasks import (
    describe_stretches,
    fits,
    in_order,
    word_count,
    word_needle,
    word_order,
)
from videoautoarena.agents.offline.players.model import reply
from videoautoarena.agents.offline.vision.frame_features import (
    FrameMeasurement,
    ModelInput,
    ReceivedFrame,
    glance,
)
from videoautoarena.agents.offline.vision.frame_features import picture as picture_of
from videoautoarena.agents.offline.vision.looks import Values, vector_of
from videoautoarena.agents.prompting.contracts import QUESTION_LINE
from videoautoarena.agents.prompting.fences import with_options
from videoautoarena.agents.roles.choose import read_choice
from videoautoarena.agents.roles.retrieve import best, clips_of
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.sampling.thinning import kept_places
from videoautoarena.video.synth.samples import make_samples

Kind = Literal["needle", "order", "count"]
KINDS: tuple[Kind, ...] = ("needle", "order", "count")
LENGTHS_S = (30, 60, 180, 600)
FPS = 2
EACH = 2
KEEP = 2
LOOK = Sampling(policy="fps", fps=FPS, frames=1024, size_px=192)
TINTS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))
"""Orders of red, green and blue, so that few clips make many descriptions."""
FOREIGN = 0.45
MARGIN = 0.12
GAIN, NO_GAIN = 0.3, 0.12
"""What needle gains at least, and the others at most, by the upper end of a 95 % interval."""
EACH_GAIN = 0.2
"""What order gains at least, by the lower end, where each picture has a vector of its own."""
CHANCE = 0.25
UNITS = 3
"""Standard errors by which clips of another video may miss chance."""


@dataclass(frozen=True)
class Shot:
    """One frame of a source, with what is seen in it."""

    shown: ReceivedFrame
    seen: FrameMeasurement


@dataclass(frozen=True, eq=False)
class Stretch:
    """Frames that follow each other, and what is seen in them."""

    shots: tuple[Shot, ...]

    @cached_property
    def luma(self) -> Values:
        """How bright each is, shape (n,)."""
        return np.array([shot.seen.luma for shot in self.shots])

    @cached_property
    def shares(self) -> Values:
        """Of which colours each is, shape (n, 12)."""
        return np.array([shot.seen.shares for shot in self.shots])

    @cached_property
    def histograms(self) -> Values:
        """Its 64 cells of colour, shape (n, 64)."""
        return np.array([shot.seen.histogram for shot in self.shots])

    def fits(self, text: str) -> Values:
        """Return how well each fits a text, shape (n,)."""
        return fits(text, self.luma, self.shares)


@cache
def texts_of(source: Stretch, size: int) -> list[str | None]:
    """Return what is said of each stretch of so many frames, None where nothing can be."""
    return describe_stretches(source.luma, source.shares, frames=size)


class Probe(NamedTuple):
    """A stretch that may break in, and its words."""

    stretch: Stretch
    text: str


class Item(NamedTuple):
    """A task about frames."""

    question: str
    options: tuple[str, ...]
    key: int
    shots: tuple[Shot, ...]
    parts: tuple[str, ...]
    """The pictures that its question and options name, each once."""


class Rights(NamedTuple):
    """Whether a task was answered right from four frames."""

    uniform: bool
    """Spread over the video."""
    clips: bool
    """Of the clips most like the question."""
    each: bool
    """Those most like each picture that is named, in turn."""
    other: bool
    """Of the clips of another task's video."""


Bank = dict[str, list[Stretch]]
"""Name of a source to its frames in each tint, its own colours first."""


def main(argv: Sequence[str] | None = None) -> int:
    """Play all tasks with and without retrieval; 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(prog="benchmarks.retrieval", description=__doc__)
    parser.add_argument("--videos", type=Path, help="real clips; the samples alone where not given")
    parser.add_argument("--samples", type=Path, help="where the samples lie, or are made and stay")
    parser.add_argument("--n", type=int, default=1800, help="tasks of each kind and length")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        samples = options.samples or Path(name)
        make_samples(samples)
        folders = [samples, *([options.videos] if options.videos else [])]
        bank = dict(_sources(folders))
    gains = f"{'clips: gain (95 %)':27}  {'a vector each: gain':27}"
    print(f"{'':15}     n  uniform  {gains}  other video")
    cells = [(kind, length_s) for kind in KINDS for length_s in LENGTHS_S]
    held = [_line(*cell, _played(bank, *cell, options.n)) for cell in cells]
    return 0 if all(held) else 1


def _sources(folders: Sequence[Path]) -> Iterator[tuple[str, list[Stretch]]]:
    for folder in folders:
        for video in find_videos(folder).videos:
            jpegs = sample(folder / video.path, sampling=LOOK).jpegs
            tinted = ([_shot(_tinted(jpeg, tint)) for jpeg in jpegs] for tint in TINTS)
            yield video.id, [Stretch(tuple(shots)) for shots in tinted]


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


def _played(bank: Bank, kind: Kind, length_s: int, count: int) -> list[Rights]:
    """Return what came of each task; the film before it is its other video."""
    found = []
    last = _made(bank, kind, length_s, Random(f"{kind} {length_s} before")).shots
    for number in range(count):
        item = _made(bank, kind, length_s, Random(f"{kind} {length_s} {number}"))
        spread = kept_places(len(item.shots), EACH * KEEP)
        found.append(
            Rights(
                _right(item, item.shots, spread),
                _right(item, item.shots, _chosen(item, item.shots)),
                _right(item, item.shots, _chosen_in_turn(item)),
                _right(item, last, _chosen(item, last)),
            )
        )
        last = item.shots
    return found


def _line(kind: Kind, length_s: int, found: Sequence[Rights]) -> bool:
    """Print what came of tasks of one kind and length; whether every claim holds."""
    uniform, clips, each, other = np.array(found, float).T
    (mean, half), (mean_each, half_each) = _gain(clips - uniform), _gain(each - uniform)
    missed = []
    if not (mean >= GAIN if kind == "needle" else mean + half < NO_GAIN):
        missed.append("clips")
    if kind == "order" and mean_each - half_each < EACH_GAIN:
        missed.append("a vector each")
    if abs(other.mean() - CHANCE) > UNITS * sqrt(CHANCE * (1 - CHANCE) / len(other)):
        missed.append("other video")
    print(
        f"{kind:8} {length_s:4} s {len(found):5}  {uniform.mean():7.2f}  "
        f"{clips.mean():.2f}: {_worded(mean, half)}  {each.mean():.2f}: "
        f"{_worded(mean_each, half_each)}  {other.mean():11.2f}"
        f"{'  NOT HELD: ' + ', '.join(missed) if missed else ''}",
        flush=True,
    )
    return not missed


def _gain(gains: Values) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval."""
    return float(gains.mean()), 1.96 * float(gains.std()) / sqrt(len(gains))


def _worded(mean: float, half: float) -> str:
    return f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f})"


def _made(bank: Bank, kind: Kind, length_s: int, chance: Random) -> Item:
    """Return a task: options first, all under the same checks, then the key, then the frames."""
    while True:
        sources = chance.sample(sorted(bank), chance.choice((1, 2, 3)))
        ground = _ground(bank, sources, length_s * FPS, chance)
        longest_s = {"needle": 8, "order": 5, "count": 4}[kind]
        probes = _probes(bank, sources, ground, chance.randint(2 * FPS, longest_s * FPS), chance)
        if len(probes) == 4:
            break
    dice = Dice(str(chance.random()))
    texts = tuple(probe.text for probe in probes)
    if kind == "needle":
        key = chance.randrange(4)
        return Item(word_needle(dice), texts, key, _spliced(ground, [probes[key]], chance), texts)
    if kind == "order":
        orders = chance.sample(list(permutations(probes[:3])), 4)
        key = chance.randrange(4)
        options = tuple(in_order([probe.text for probe in one]) for one in orders)
        shots = _spliced(ground, orders[key], chance)
        return Item(word_order(dice), options, key, shots, texts[:3])
    low = chance.randrange(1, 4)
    counts = chance.sample(range(low, low + 4), 4)
    key = chance.randrange(4)
    shots = _spliced(ground, [probes[0]] * counts[key], chance)
    return Item(word_count(texts[0], dice), tuple(map(str, counts)), key, shots, texts[:1])


def _ground(bank: Bank, sources: Sequence[str], size: int, chance: Random) -> list[Shot]:
    ground: list[Shot] = []
    while len(ground) < size:
        for name in chance.sample(sources, len(sources)):
            ground += bank[name][0].shots
    return ground[:size]


def _probes(
    bank: Bank, sources: Sequence[str], ground: Sequence[Shot], size: int, chance: Random
) -> list[Probe]:
    """Return up to four stretches that are foreign by colours and by words, and unlike another."""
    seen = Stretch(tuple({shot.shown.digest: shot for shot in ground}.values()))
    found: list[Probe] = []
    others = sorted(bank.keys() - set(sources))
    for _ in range(120):
        source = chance.choice(bank[chance.choice(others)])
        if len(source.shots) < size or len(found) == 4:
            continue
        first = chance.randrange(len(source.shots) - size + 1)
        text = texts_of(source, size)[first]
        if text is None:
            continue
        stretch = Stretch(source.shots[first : first + size])
        far = 0.5 * np.abs(seen.histograms - stretch.histograms[0]).sum(axis=1).min() >= FOREIGN
        rivals = [(stretch, text, one.stretch) for one in found]
        rivals += [(one.stretch, one.text, stretch) for one in found]
        rivals.append((stretch, text, seen))
        if far and all(
            other.fits(words).max() <= own.fits(words).min() - MARGIN
            for own, words, other in rivals
        ):
            found.append(Probe(stretch, text))
    return found


def _spliced(ground: Sequence[Shot], probes: Sequence[Probe], chance: Random) -> tuple[Shot, ...]:
    """Return the ground with probes in this order in it, two seconds apart at least."""
    while True:
        places = sorted(chance.sample(range(1, len(ground)), len(probes)))
        if all(b - a > 2 * FPS for a, b in pairwise(places)):
            break
    shots = list[Shot]()
    last = 0
    for place, probe in zip(places, probes, strict=True):
        shots += [*ground[last:place], *probe.stretch.shots]
        last = place
    return (*shots, *ground[last:])


def _chosen(item: Item, shots: Sequence[Shot]) -> list[int]:
    """Return the places of the frames that retrieval keeps."""
    clips = clips_of(len(shots), EACH)
    vectors = [_vector([shots[place] for place in clip]) for clip in clips]
    asked = with_options(item.question, item.options)
    kept = best(vectors, vector_of(ModelInput((), asked, 0)), keep=KEEP)
    return [place for clip in kept for place in clips[clip]]


def _chosen_in_turn(item: Item) -> list[int]:
    """Return the places of the frames most like each named picture, one for each in turn."""
    vectors = [_vector([shot]) for shot in item.shots]
    left = list(range(len(vectors)))
    kept = list[int]()
    wanted = cycle([vector_of(ModelInput((), part, 0)) for part in item.parts])
    while len(kept) < EACH * KEEP:
        (place,) = best([vectors[place] for place in left], next(wanted), keep=1)
        kept.append(left.pop(place))
    return sorted(kept)


def _vector(shots: Sequence[Shot]) -> list[float]:
    return vector_of(ModelInput(tuple(shot.shown for shot in shots), "", 0))


def _right(item: Item, shots: Sequence[Shot], places: Sequence[int]) -> bool:
    """Return whether a model that is sent these frames names the key."""
    shown = tuple(replace(shots[k].shown, time_s=k / FPS) for k in places)
    text = f"{QUESTION_LINE}\n{with_options(item.question, item.options)}"
    return read_choice(reply("mole", ModelInput(shown, text, 0)), item.options).place == item.key


if __name__ == "__main__":
    sys.exit(main())
