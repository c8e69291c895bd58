"""Contact sheets: where pictures stand, how large a sheet becomes, and which words it shows."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from videoautoarena.video.synth.contact_sheet import (
    LONGEST_PX,
    MOST_PIXELS,
    NARROWEST_PX,
    Heading,
    SheetPicture,
    draw_sheet,
    lay_out,
)

COLOURS = [(250, 10, 10), (10, 250, 10), (10, 10, 250), (250, 250, 10), (10, 250, 250)]
TITLE = Heading("clip.mp4")


def jpeg(colour: tuple[int, int, int], size: tuple[int, int] = (160, 90)) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, "JPEG", quality=95)
    return out.getvalue()


def shots(count: int, size: tuple[int, int] = (160, 90)) -> list[SheetPicture]:
    return [SheetPicture(jpeg(COLOURS[n % 5], size), f"t={n}.00s") for n in range(count)]


def opened(png: bytes) -> Image.Image:
    return Image.open(BytesIO(png), formats=["PNG"])


def place_of(png: bytes, colour: tuple[int, int, int]) -> tuple[int, int, int, int]:
    """Return left and top of the picture of that colour, and its width and height."""
    is_it = np.abs(np.asarray(opened(png), int) - colour).max(axis=2) < 8
    rows = np.nonzero(is_it.any(axis=1))[0]
    columns = np.nonzero(is_it.any(axis=0))[0]
    return columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1


def test_pictures_stand_in_rows_at_their_own_size() -> None:
    png = draw_sheet(shots(5), TITLE, columns=2)
    left, top = place_of(png, COLOURS[0])[:2]
    # A slot is as large as the picture and its line of 13 + 6, and 8 are between.
    places = [place_of(png, colour) for colour in COLOURS]
    across = 160 + 8
    down = 90 + 19 + 8
    assert places == [
        (left + column * across, top + row * down, 160, 90)
        for row, column in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    ]


@given(
    st.integers(1, 1024),
    st.tuples(st.integers(1, 4096), st.integers(1, 4096)),
    st.none() | st.integers(1, 250),
)
@settings(max_examples=15)
def test_any_sheet_holds_all_pictures_undistorted_and_is_bounded(
    count: int, size: tuple[int, int], columns: int | None
) -> None:
    grid = lay_out(count, size, columns)
    assert (grid.rows - 1) * grid.columns < count <= grid.rows * grid.columns
    assert grid.columns == min(columns or grid.columns, count)
    assert grid.size[0] * grid.size[1] <= MOST_PIXELS
    assert max(grid.size) <= LONGEST_PX
    assert grid.slot[0] >= NARROWEST_PX
    longer = size.index(max(size))
    scale = grid.picture[longer] / size[longer]
    assert scale <= 1
    assert abs(grid.picture[1 - longer] - max(1, scale * size[1 - longer])) <= 2


@pytest.mark.parametrize("size", [(512, 288), (288, 512), (512, 512), (512, 60)])
def test_many_frames_make_a_page_that_fits_a_screen(size: tuple[int, int]) -> None:
    width, height = lay_out(128, size).size
    assert 1 <= width / height <= 2.5
    assert 1500 <= width <= 3000


def test_a_full_rectangle_is_preferred_to_one_with_gaps() -> None:
    grid = lay_out(16, (512, 288))
    assert grid.columns * grid.rows == 16


@pytest.mark.parametrize("size", [(160, 90), (16, 16), (512, 1), (1, 512), (512, 40)])
def test_one_picture_of_any_shape_is_a_sheet(size: tuple[int, int]) -> None:
    image = opened(draw_sheet(shots(1, size), TITLE))
    assert image.size[0] > size[0]
    assert image.size[1] > size[1]


@pytest.mark.slow
def test_a_thousand_pictures_fit_on_one_sheet() -> None:
    image = opened(draw_sheet(shots(5, (32, 18)) * 204, TITLE))
    assert image.size[0] * image.size[1] < 1.1 * MOST_PIXELS


def test_the_same_pictures_make_the_same_bytes() -> None:
    assert draw_sheet(shots(3), TITLE) == draw_sheet(shots(3), TITLE)


def test_title_lines_and_warnings_and_labels_are_all_drawn() -> None:
    plain = draw_sheet(shots(1), Heading(""))
    marked = [SheetPicture(jpeg(COLOURS[0]), "t=0.00s", "scene 1")]
    drawn = [
        draw_sheet(shots(1), Heading("a")),
        draw_sheet(shots(1), Heading("", ["a"])),
        draw_sheet(shots(1), Heading("", [], ["a"])),
        draw_sheet(marked, Heading("")),
        draw_sheet([SheetPicture(jpeg(COLOURS[0]), "")], Heading("")),
    ]
    assert len({plain, *drawn}) == 6


def test_a_letter_that_cannot_be_drawn_is_a_question_mark() -> None:
    assert draw_sheet(shots(1), Heading("\u4e2d\uffff.mp4")) == draw_sheet(
        shots(1), Heading("??.mp4")
    )


def test_words_without_end_are_cut_and_make_nothing_wider() -> None:
    long = Heading("w" * 100_000, ["i" * 100_000])
    image = opened(draw_sheet([SheetPicture(jpeg(COLOURS[0]), "t" * 9999, "s" * 9999)], long))
    assert image.size[0] < 1100
