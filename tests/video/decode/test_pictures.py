"""What a player shows: upright or mirrored as marked, square pixels, plain colours, one field."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal

import av
import numpy as np
import pytest
from av.filter import Graph
from av.video.reformatter import ColorPrimaries, ColorTrc
from numpy.typing import NDArray

from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.av import probe
from videoautoarena.video.decode.decoders import decoder_named
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.decode.jpeg import HLG, PQ, fitted_size, scaled_size, upright

CORNERS = ((250, 20, 20), (20, 250, 20), (20, 20, 250), (240, 240, 240))
"""Of the stored picture: top left, top right, bottom left, bottom right."""
MATRICES = {
    # a, b, c, d of the display matrix, then where the stored corners 0, 1, 2, 3 are shown.
    "as stored": ((1, 0, 0, 1), "0123", 0),
    "a quarter to the right": ((0, 1, -1, 0), "2031", 90),
    "half round": ((-1, 0, 0, -1), "3210", 180),
    "a quarter to the left": ((0, -1, 1, 0), "1302", 270),
    "mirrored": ((-1, 0, 0, 1), "1032", 0),
    "upside down in a mirror": ((1, 0, 0, -1), "2301", 0),
    "mirrored and a quarter to the left": ((0, 1, 1, 0), "0213", 90),
    "mirrored and a quarter to the right": ((0, -1, -1, 0), "3120", 270),
}
RED = (200, 30, 40)


def four_corners(width: int = 96, height: int = 64) -> NDArray[np.uint8]:
    small = np.array(CORNERS, np.uint8).reshape(2, 2, 3)
    return small.repeat(height // 2, axis=0).repeat(width // 2, axis=1)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("turned") / "v.mp4"
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=5, options={"crf": "5", "threads": "1"})
        stream.width = 96
        stream.height = 64
        stream.pix_fmt = "yuv444p"
        file.mux(stream.encode(av.VideoFrame.from_ndarray(four_corners(), format="rgb24")))
        file.mux(stream.encode())
    return path.read_bytes()


def turned(stored: bytes, matrix: Sequence[int]) -> bytes:
    data = bytearray(stored)
    start = data.index(b"tkhd") + 4 + 40
    a, b, c, d = (part << 16 for part in matrix)
    data[start : start + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    return bytes(data)


@pytest.mark.parametrize("name", MATRICES)
def test_a_picture_is_shown_as_its_matrix_says(stored: bytes, name: str, tmp_path: Path) -> None:
    matrix, places, degrees = MATRICES[name]
    path = tmp_path / "v.mp4"
    path.write_bytes(turned(stored, matrix))
    shown: list[NDArray[np.uint8]] = []
    decoder = decoder_named("av")
    index = read_index(path)
    width, height = decoder.shape(path)

    def develop(picture: object) -> bytes:
        shown.append(np.asarray(picture))
        return b""

    decoder.pictures(path, index, wanted=index.shown, size=(width, height), develop=develop)
    assert (width, height) == ((64, 96) if matrix[0] == 0 else (96, 64))
    quarter = [
        shown[0][y, x] for y in (height // 4, height * 3 // 4) for x in (width // 4, width * 3 // 4)
    ]
    expected = [CORNERS[int(place)] for place in places]
    assert np.abs(np.array(quarter, int) - np.array(expected)).max() < 12
    assert probe(path).rotation == degrees


def codes(levels: Sequence[float], curve: int) -> av.VideoFrame:
    """Return a frame of grey bars, ten bits, with BT.2020 primaries."""
    frame = av.VideoFrame(32 * len(levels), 64, "yuv420p10le")
    for plane, neutral in zip(frame.planes, (None, 512, 512), strict=True):
        rows = np.frombuffer(memoryview(plane), np.uint16).reshape(-1, plane.line_size // 2)
        step = plane.width // len(levels)
        for place, level in enumerate(levels):
            rows[:, place * step : (place + 1) * step] = neutral or round(64 + 876 * level)
    frame.colorspace = 9
    frame.color_range = 1
    frame.color_trc = ColorTrc(curve)
    frame.color_primaries = ColorPrimaries.BT2020
    return frame


def greys(levels: Sequence[float], curve: int) -> list[int]:
    picture = np.asarray(upright(codes(levels, curve), (32 * len(levels), 64), None))
    assert np.ptp(picture.astype(int), axis=2).max() <= 2
    return [int(picture[32, 32 * place + 16, 1]) for place in range(len(levels))]


def test_pq_light_is_shown_as_it_is_up_to_90_nits_and_rolled_off_above() -> None:
    # ST 2084 codes of 0, 10, 90, 203 and 1000 cd/m2; 10 of 203 is 0.0493, in sRGB 0.246.
    shown = greys([0.0, 0.3023, 0.4976, 0.5807, 0.7518], PQ)
    assert shown == pytest.approx([0, 63, 177, 228, 255], abs=2)


def test_the_white_of_a_page_looks_alike_in_pq_and_hlg() -> None:
    assert greys([0.75, 1.0], HLG) == pytest.approx([*greys([0.5807], PQ), 255], abs=2)


def test_brighter_stays_brighter_after_the_roll_off() -> None:
    for curve in (PQ, HLG):
        shown = greys([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], curve)
        assert shown == sorted(set(shown))


def flat(width: int, height: int, matrix: int, colour: tuple[int, int, int]) -> av.VideoFrame:
    """Return a frame of one colour in BT.709 that is marked with a matrix by its number."""
    y, u, v = np.array(
        [[0.2126, 0.7152, 0.0722], [-0.1146, -0.3854, 0.5], [0.5, -0.4542, -0.0458]]
    ) @ (np.array(colour) / 255)
    frame = av.VideoFrame(width, height, "yuv420p")
    for plane, level in zip(
        frame.planes, (16 + 219 * y, 128 + 224 * u, 128 + 224 * v), strict=True
    ):
        np.frombuffer(memoryview(plane), np.uint8)[:] = round(level)
    frame.colorspace = matrix
    frame.color_range = 1
    return frame


@pytest.mark.parametrize(("size", "matrix"), [((320, 180), 1), ((1280, 720), 1), ((1280, 720), 2)])
def test_hd_colours_are_read_by_their_matrix_marked_or_not(
    size: tuple[int, int], matrix: int
) -> None:
    picture = np.asarray(upright(flat(*size, matrix, RED), (64, 36), None))
    assert picture[18, 32].astype(int) == pytest.approx(RED, abs=4)


def test_small_video_without_a_mark_is_read_as_players_do_by_bt_601() -> None:
    picture = np.asarray(upright(flat(320, 180, 2, RED), (64, 36), None))
    assert np.abs(picture[18, 32].astype(int) - RED).max() > 10


def test_of_interlaced_video_one_field_is_shown_and_no_comb() -> None:
    lines = np.zeros((64, 96, 3), np.uint8)
    lines[::2, 10:40], lines[1::2, 50:80] = 255, 255
    plain = av.VideoFrame.from_ndarray(lines, format="rgb24").reformat(format="yuv444p")
    graph = Graph()
    source = graph.add_buffer(width=96, height=64, format=plain.format, time_base=Fraction(1, 25))
    graph.link_nodes(source, graph.add("setfield", "mode=tff"), graph.add("buffersink")).configure()
    graph.push(plain)
    marked = graph.pull()
    assert isinstance(marked, av.VideoFrame)
    shown = np.asarray(upright(marked, (96, 64), None))[:, :, 1]
    assert shown[:, 20:30].min() > 200
    assert shown[:, 55:75].max() < 50


@pytest.mark.parametrize(
    ("fit", "shape", "sent", "scaled"),
    [
        ("keep", (640, 360), (512, 288), (512, 288)),
        ("keep", (64, 36), (64, 36), (64, 36)),
        ("stretch", (640, 360), (512, 512), (512, 512)),
        ("pad", (640, 360), (512, 512), (512, 288)),
        ("pad", (36, 64), (512, 512), (288, 512)),
        ("pad", (5000, 1), (512, 512), (512, 1)),
    ],
)
def test_a_shape_is_kept_stretched_or_set_on_a_square(
    fit: Literal["keep", "stretch", "pad"],
    shape: tuple[int, int],
    sent: tuple[int, int],
    scaled: tuple[int, int],
) -> None:
    sampling = Sampling(fit=fit)
    assert (fitted_size(shape, sampling), scaled_size(shape, sampling)) == (sent, scaled)
