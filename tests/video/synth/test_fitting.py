"""Pictures of a film are those of its sources, scaled to fill it, without bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.support.coded import FULL, each, h264, small, vp9
from tests.support.films import draw_smooth, files, frames_of, probe, whole
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.synth.film import encode
from videoautoarena.video.synth.timeline import FilmPlan

LEAST_DB = 38.0
Picture = NDArray[np.float64]
SHAPES = {
    "as the ground": h264(size=(160, 90), count=30),
    "taller": vp9(size=(160, 120), count=30),
    "upright, turned, smaller": h264(size=(54, 96), turn=270, count=30),
    "wider, larger, ten bits": h264(size=(500, 180), pix_fmt="yuv420p10le", count=30),
    "colours of hd, full range": h264(size=(160, 90), tags=FULL, count=30),
    "odd, mpeg4": small("avi", "mpeg4", {"q": "2"}, size=(201, 131), count=30),
}


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("smooth")

    def make(name: str) -> Path:
        recipe = SHAPES[name]
        path = folder / f"{list(SHAPES).index(name)}.{recipe.suffix}"
        return path if path.exists() else draw_smooth(path, recipe, tint=(1.0, 0.45, 0.15))

    return make


def filling(image: Image.Image, size: tuple[int, int], turn: int) -> Picture:
    """Return a stored picture as it should be shown, by Pillow alone: upright, cut, no bars."""
    upright = image.rotate(turn, expand=True)
    scale = max(size[0] / upright.width, size[1] / upright.height)
    over_x, over_y = (
        (side - whole / scale) / 2 for side, whole in zip(upright.size, size, strict=True)
    )
    box = (over_x, over_y, upright.width - over_x, upright.height - over_y)
    way = Image.Resampling.BOX if scale < 1 else Image.Resampling.BILINEAR
    return np.asarray(upright.resize(size, way, box), np.float64)


def psnr(one: Picture, other: Picture) -> float:
    return float(10 * np.log10(255**2 / max(1e-9, ((one - other) ** 2).mean())))


@pytest.mark.parametrize("needle", each(SHAPES, ("upright, turned, smaller",)))
@pytest.mark.parametrize(
    "ground",
    [
        "as the ground",
        pytest.param("odd, mpeg4", marks=pytest.mark.slow),
        pytest.param("colours of hd, full range", marks=pytest.mark.slow),
    ],
)
def test_every_picture_is_that_of_its_source_and_fills_the_film(
    smooth: Callable[[str], Path], tmp_path: Path, needle: str, ground: str
) -> None:
    under = smooth(ground)
    over = smooth(needle)
    plan = FilmPlan(ground=(whole(under),), probes=(probe(over, 7),))
    film, runs = encode(plan, files(under, over), tmp_path / "film.mp4")
    assert (film.width_px, film.height_px) == tuple(side // 2 * 2 for side in SHAPES[ground].size)
    sources = {
        sha256_of(path): [
            filling(image, (film.width_px, film.height_px), SHAPES[name].turn)
            for image in frames_of(path)
        ]
        for path, name in ((under, ground), (over, needle))
    }
    expected = [sources[r.video][r.number + n * r.step] for r in runs for n in range(r.frames)]
    shown = [np.asarray(image, np.float64) for image in frames_of(tmp_path / "film.mp4")]
    noise = [psnr(one, other) for one, other in zip(shown, expected, strict=True)]
    assert min(noise) >= LEAST_DB, [round(db, 1) for db in noise]
    edges = (picture[row] for picture in shown for row in (np.s_[0], np.s_[-1], np.s_[:, 0]))
    assert min(float(edge.max()) for edge in edges) > 60
