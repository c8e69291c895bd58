"""Footage of many looks that are like each other, made of numbers alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from videoautoarena.agents.offline.vision.frame_features import COLOURS
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Video
from videoautoarena.runs.making.tasks.sight import LOOKS_A_SECOND, Footage, Seen

SHAPE = 1.78
SCENE_ROWS = 40
SCENES = 2
PALETTE = ("blue", "white", "red", "yellow", "green", "black")


def alike_footage(count: int = 12, *, seed: int = 0) -> list[Footage]:
    """Return videos of two scenes each, whose colours and histograms often come again."""
    chance = np.random.default_rng(seed)
    histograms = chance.dirichlet(np.full(64, 0.15), size=5)
    return [_footage(number, chance, histograms) for number in range(count)]


def _footage(number: int, chance: np.random.Generator, histograms: np.ndarray) -> Footage:
    luma = []
    shares = []
    seen = []
    for _ in range(SCENES):
        main, second, third = chance.choice(PALETTE, size=3, replace=False)
        parts = np.zeros(len(COLOURS))
        parts[COLOURS.index(main)], parts[COLOURS.index(third)] = 0.55, chance.uniform(0.02, 0.2)
        parts[COLOURS.index(second)] = 0.3
        noise = chance.uniform(0, 0.04, size=(SCENE_ROWS, len(COLOURS)))
        shares.append((parts + noise) / (parts + noise).sum(axis=1, keepdims=True))
        luma.append(np.full(SCENE_ROWS, chance.choice((0.2, 0.42, 0.68))))
        of = chance.dirichlet(np.full(len(histograms), 0.3)) @ histograms
        seen.append(np.tile(of, (SCENE_ROWS, 1)))
    cuts = np.zeros(SCENE_ROWS * SCENES - 1, bool)
    # A cut between two pictures that are described alike, and one between two scenes.
    cuts[SCENE_ROWS - 6 :: SCENE_ROWS] = cuts[SCENE_ROWS - 1 :: SCENE_ROWS] = True
    arrays = (np.concatenate(every).astype(np.float32) for every in (luma, shares, seen))
    sha256 = digest(f"footage {number}")
    video = Video(
        id=sha256[:12],
        sha256=sha256,
        path=f"{number}.mp4",
        size_bytes=1,
        duration_s=len(cuts) / LOOKS_A_SECOND + 0.3,
        width_px=178,
        height_px=100,
        fps=25.0,
        codec="h264",
    )
    return Footage(video, {SHAPE: Seen(*arrays)}, cuts, Fraction(video.fps))
