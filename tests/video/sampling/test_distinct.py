"""Of the frames of a stretch those stay that are sharp and unlike the last that stayed."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from videoautoarena.video.sampling.distinct import (
    MOST_ALIKE,
    FrameMeasures,
    alike,
    measure,
    region_histogram,
    sharp_and_distinct,
)


def jpeg_of(image: Image.Image) -> bytes:
    held = io.BytesIO()
    image.save(held, "JPEG", quality=90)
    return held.getvalue()


def halves(left: str, right: str) -> Image.Image:
    image = Image.new("RGB", (80, 40), left)
    image.paste(right, (40, 0, 80, 40))
    return image


def test_a_blurred_picture_is_less_sharp_than_the_same_one() -> None:
    grain = np.random.default_rng(0).integers(0, 255, (90, 160, 3), np.uint8)
    image = Image.fromarray(grain)
    blurred = image.filter(ImageFilter.GaussianBlur(2))
    sharp = measure(jpeg_of(image))
    soft = measure(jpeg_of(blurred))
    assert soft.sharpness < 0.1 * sharp.sharpness
    assert sharp_and_distinct([soft, sharp, sharp]) == [1]


def test_the_sharpness_of_a_grid_is_what_the_laplacian_gives_by_hand() -> None:
    # Along the middle column the second difference is 2 * 100 upwards, beside it 100 downwards.
    grid = np.full((5, 5), 100, np.uint8)
    grid[:, 2] = 0
    held = io.BytesIO()
    Image.fromarray(grid).save(held, "JPEG", quality=100)
    by_hand = np.tile([-100.0, 200.0, -100.0], (3, 1)).var()
    assert measure(held.getvalue()).sharpness == pytest.approx(by_hand, rel=0.05)


def test_a_region_has_the_colours_within_its_box_alone() -> None:
    jpeg = jpeg_of(halves("red", "blue"))
    left = region_histogram(jpeg, (0, 0, 0.5, 1))
    right = region_histogram(jpeg, (0.5, 0, 1, 1))
    assert alike(left, measure(jpeg_of(Image.new("RGB", (9, 9), "red"))).histogram) > 0.95
    assert alike(left, right) < 0.05
    assert alike(left, region_histogram(jpeg, (0, 0, 1, 1))) == pytest.approx(0.5, abs=0.05)


def test_the_edges_of_a_box_do_not_count() -> None:
    image = Image.new("RGB", (100, 100), "blue")
    image.paste("red", (10, 10, 90, 90))
    found = region_histogram(jpeg_of(image), (0, 0, 1, 1))
    assert alike(found, measure(jpeg_of(Image.new("RGB", (9, 9), "red"))).histogram) > 0.95


def test_pale_and_dark_pixels_are_grey_whatever_their_hue() -> None:
    def of(*rgb: int) -> np.ndarray:
        return measure(jpeg_of(Image.new("RGB", (20, 20), rgb))).histogram

    assert alike(of(150, 140, 140), of(140, 150, 140)) > 0.9
    assert alike(of(30, 0, 0), of(0, 30, 0)) > 0.9
    assert alike(of(150, 100, 100), of(100, 150, 100)) < 0.05


def test_half_the_usual_sharpness_is_enough_and_nine_tenths_of_likeness_too_much() -> None:
    sharp = [FrameMeasures(1.0, np.eye(3)[k % 2]) for k in range(3)]
    assert sharp_and_distinct([*sharp, FrameMeasures(0.5, np.eye(3)[2])]) == [0, 1, 2, 3]
    assert sharp_and_distinct([*sharp, FrameMeasures(0.49, np.eye(3)[2])]) == [0, 1, 2]
    base = np.array([1.0, 0.0])
    for share, count in ((0.9, 2), (0.91, 1)):
        other = FrameMeasures(1.0, np.array([share, 1 - share]))
        assert len(sharp_and_distinct([FrameMeasures(1.0, base), other])) == count


def test_a_region_thinner_than_a_pixel_still_has_colours() -> None:
    jpeg = jpeg_of(halves("red", "blue"))
    assert region_histogram(jpeg, (0.2, 0.2, 0.2001, 0.2001)).sum() == pytest.approx(1)
    assert region_histogram(jpeg, (0.9999, 0.9999, 1, 1)).sum() == pytest.approx(1)


def test_a_shade_lighter_is_alike_and_another_hue_is_not() -> None:
    def of(*rgb: int) -> np.ndarray:
        return measure(jpeg_of(Image.new("RGB", (20, 20), rgb))).histogram

    assert alike(of(200, 30, 30), of(220, 40, 40)) > 0.9
    assert alike(of(200, 30, 30), of(30, 30, 200)) < 0.05


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 3)), max_size=12))
def test_what_stays_is_in_order_sharp_and_unlike_its_neighbour(
    frames: list[tuple[float, int]],
) -> None:
    measured = [FrameMeasures(sharp, np.eye(4)[colour]) for sharp, colour in frames]
    kept = sharp_and_distinct(measured)
    assert bool(kept) == bool(frames)
    assert kept == sorted(set(kept))
    for one, other in pairwise(kept):
        assert alike(measured[one].histogram, measured[other].histogram) <= MOST_ALIKE


def test_a_tenth_of_new_colours_and_half_of_the_usual_sharpness_are_enough() -> None:
    def of(sharp: float, new: float) -> FrameMeasures:
        return FrameMeasures(sharp, np.array([1.0 - new, new]))

    # One frame of grain makes none of the others soft.
    grain = [FrameMeasures(sharp, np.eye(4)[k]) for k, sharp in enumerate((10, 1000, 10, 10))]
    assert sharp_and_distinct(grain) == [0, 1, 2, 3]
    # The median sharpness is 10; each is held against the first, the last that stayed.
    assert sharp_and_distinct([of(10, 0), of(10, 0.09), of(10, 0.11)]) == [0, 2]
    assert sharp_and_distinct([of(10, 0), of(4.9, 0.5), of(10, 1), of(10, 0)]) == [0, 2, 3]
    assert sharp_and_distinct([of(10, 0), of(5.1, 0.5), of(10, 1), of(10, 0)]) == [0, 1, 2, 3]
