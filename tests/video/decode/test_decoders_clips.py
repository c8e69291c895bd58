"""The clips by which decoders are tested are what they are called, and their numbers do not lie."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from tests.support.coded import KINDS, each
from tests.support.packed import FRAME
from tests.support.stamped import BITS, UNREADABLE, read_stamp, stamp

TELEPHONE = bytes.fromhex(
    "00000000 00010000 00000000 ffff0000 00000000 00000000 00000000 00000000 40000000"
)
"""The matrix a telephone writes that is held upright: to be shown, turn me clockwise."""
Picture = NDArray[np.uint8]
Coded = Callable[[str], Path]
numbered = st.integers(0, 2**BITS - 1)


def jpeg(picture: Picture) -> bytes:
    out = BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(out, "JPEG", quality=85)
    return out.getvalue()


def packets(path: Path) -> list[tuple[int, bool]]:
    """Return when the frame of each packet is shown, and whether decoding can start with it."""
    with av.open(str(path)) as file:
        return [(p.pts or 0, p.is_keyframe) for p in file.demux(video=0) if p.size]


def leading(path: Path) -> int:
    """Return how many frames follow a key frame in the file and are shown before it."""
    found = 0
    key = 0
    for tick, is_key in packets(path):
        key = tick if is_key else key
        found += tick < key
    return found


@given(numbered)
def test_a_picture_says_its_number(number: int) -> None:
    assert read_stamp(jpeg(stamp(number, (96, 64)))) == number


@given(numbered)
def test_a_turned_or_mirrored_picture_is_not_read_as_another(number: int) -> None:
    picture = stamp(number, (96, 64))
    wrong = [np.rot90(picture, turns) for turns in (1, 2, 3)] + [picture[::-1], picture[:, ::-1]]
    assert {read_stamp(jpeg(one)) for one in wrong} == {UNREADABLE}


@given(numbered, numbered)
def test_a_mixture_of_two_pictures_is_not_read_as_a_third(one: int, other: int) -> None:
    mixed = (stamp(one, (96, 64)).astype(int) + stamp(other, (96, 64))) // 2
    assert read_stamp(jpeg(mixed.astype(np.uint8))) in {one, other, UNREADABLE}


@pytest.mark.parametrize(
    "kind",
    each(
        [
            "h264, open groups",
            "h264, open groups and pyramid",
            "h264 in ts, open groups",
            "hevc, open groups",
            "hevc in ts",
            "mpeg4 in avi",
            "mpeg2 in ts",
        ]
    ),
)
def test_open_groups_have_frames_shown_before_their_key_frame(coded: Coded, kind: str) -> None:
    assert leading(coded(kind)) > 2


@pytest.mark.parametrize("kind", each(["h264, groups of 12", "h264 in ts", "hevc, closed groups"]))
def test_closed_groups_have_none_and_are_reordered(coded: Coded, kind: str) -> None:
    path = coded(kind)
    assert leading(path) == 0
    assert any(later[0] < earlier[0] for earlier, later in pairwise(packets(path)))


@pytest.mark.slow
@pytest.mark.parametrize(("gop", "count"), [(12, 40), (250, 260)])
def test_groups_have_their_length(coded: Coded, gop: int, count: int) -> None:
    keys = [is_key for _, is_key in packets(coded(f"h264, groups of {gop}"))]
    assert sum(keys) == -(-count // gop)


@pytest.mark.slow
def test_a_turned_clip_is_marked_as_telephones_mark_it(coded: Coded) -> None:
    assert TELEPHONE in coded("turned by 270").read_bytes()


@pytest.mark.slow
def test_pixels_that_are_not_square_are_marked(coded: Coded) -> None:
    with av.open(str(coded("wide pixels"))) as file:
        assert file.streams.video[0].sample_aspect_ratio == KINDS["wide pixels"].aspect
        assert file.streams.video[0].width == 72


@pytest.mark.parametrize("kind", each(["h264, fields", "mpeg2 in ts, fields"]))
def test_fields_are_marked(coded: Coded, kind: str) -> None:
    with av.open(str(coded(kind))) as file:
        assert next(file.decode(video=0)).interlaced_frame


@pytest.mark.parametrize("kind", each(["hevc, ten bits, hdr", "av1, ten bits, hdr"]))
def test_hdr_is_marked(coded: Coded, kind: str) -> None:
    with av.open(str(coded(kind))) as file:
        frame = next(file.decode(video=0))
    assert (frame.format.name, frame.color_trc) == ("yuv420p10le", 16)


def test_a_cut_start_is_still_in_the_file(coded: Coded) -> None:
    recipe = KINDS["start cut off"]
    assert len(packets(coded("start cut off"))) == recipe.count == len(recipe.shown) + recipe.cut


def test_a_packed_clip_has_two_frames_in_a_packet(coded: Coded) -> None:
    with av.open(str(coded("mpeg4 in avi, packed"))) as file:
        stored = [bytes(packet).count(FRAME) for packet in file.demux(video=0) if packet.size]
    assert stored.count(2) > 15
    assert len(stored) == KINDS["mpeg4 in avi, packed"].count
