"""Sharpness on pictures whose values can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageFilter

from video.sharpness import sharpness

PICTURES = arrays(np.uint8, st.tuples(st.integers(3, 12), st.integers(3, 12), st.just(3))).map(
    Image.fromarray
)


def plain(*colour: int, size: tuple[int, int] = (8, 8)) -> Image.Image:
    return Image.new("RGB", size, (colour[0], colour[1], colour[2]))


def noise(seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (40, 60, 3), np.uint8))


def test_one_bright_dot_has_the_variance_of_its_laplacian() -> None:
    grey = np.zeros((5, 5), np.uint8)
    grey[2, 2] = 9
    # Of the nine inner values one is -36 and four are 9: mean 0, squares 1296 + 4 x 81.
    assert sharpness(Image.fromarray(grey)) == pytest.approx((1296 + 324) / 9)


def test_a_slope_is_not_sharp() -> None:
    slope = np.tile(np.arange(0, 200, 10, dtype=np.uint8), (10, 1))
    assert sharpness(Image.fromarray(slope)) == 0


def test_each_blur_takes_sharpness_away() -> None:
    scores = [sharpness(noise().filter(ImageFilter.GaussianBlur(radius))) for radius in range(5)]
    assert scores == sorted(scores, reverse=True)
    assert scores[4] < scores[0] / 100


@given(PICTURES)
@settings(max_examples=20)
def test_turning_a_picture_round_leaves_it_as_sharp(image: Image.Image) -> None:
    turned = image.transpose(Image.Transpose.ROTATE_90)
    assert sharpness(turned) == pytest.approx(sharpness(image))


@pytest.mark.parametrize("size", [(1, 1), (2, 90), (90, 2)])
def test_a_sliver_has_no_sharpness(size: tuple[int, int]) -> None:
    assert sharpness(plain(1, 2, 3, size=size)) == 0
