"""Sharpness and likeness on pictures whose values can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageFilter

from video.sharpness import sharpest, sharpness, similarity, thumbnail

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


def test_the_sharpest_of_each_part_is_chosen() -> None:
    sharp, dull = noise(), noise().filter(ImageFilter.GaussianBlur(2))
    assert sharpest([dull, sharp, dull, dull, dull, sharp], 2) == [1, 5]


def test_fewer_pictures_than_asked_for_are_all_chosen() -> None:
    assert sharpest([noise(), noise()], 3) == [0, 1]


def test_half_the_same_colour_is_half_alike() -> None:
    half = plain(255, 255, 255)
    half.paste((0, 0, 0), (0, 0, 4, 8))
    assert similarity(half, plain(255, 255, 255)) == pytest.approx(0.5)
    assert similarity(plain(0, 0, 0), plain(255, 255, 255)) == 0


@given(PICTURES, PICTURES)
@settings(max_examples=20)
def test_likeness_is_mutual_and_a_share(one: Image.Image, other: Image.Image) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert 0 <= similarity(one, other) <= 1 + 1e-9
    assert similarity(one, one) == pytest.approx(1)


def test_a_thumbnail_keeps_the_mean_colour() -> None:
    image = noise().resize((4 * 64, 2 * 64))
    small = thumbnail(image)
    assert (small.size, small.mode) == ((64, 64), "RGB")
    means = [np.asarray(picture, float).mean(axis=(0, 1)) for picture in (small, image)]
    assert means[0] == pytest.approx(means[1], abs=0.6)
