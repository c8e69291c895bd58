"""Damage is told of as far as it goes, by the file alone: what is sampled changes nothing."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from shutil import copyfile

import av
import pytest

from benchmarks.damage import CODINGS, SEEN_DB, encode, lose_stretch, psnr, reported_in
from tests.support.stamped import Recipe, read_stamp, stamp
from tests.support.stamped import encode as stamped
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.av import AvDecoder
from videoautoarena.video.decode.damage import PacketGaps
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.decode.jpeg import DecodedPictures
from videoautoarena.video.sampling.policies import sample

SIZE = (160, 90)
Clip = Callable[[str], Path]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return H.264 in mp4 whose key frames are 30 frames apart."""
    folder = tmp_path_factory.mktemp("damage")
    return encode(folder / "whole.mp4", CODINGS["H.264"], count=90)


@pytest.fixture(scope="module")
def hurt(whole: Path) -> Path:
    """Return it with 200 bytes overwritten in the second group of pictures."""
    with av.open(str(whole)) as file:
        sizes = [packet.size for packet in file.demux(video=0)]
    # The largest are those that others refer to.
    return told(whole, sorted(range(31, 48), key=lambda n: -sizes[n]))


def told(source: Path, packets: Iterable[int], *, count: int = 200) -> Path:
    """Write a copy with bytes of one of the packets overwritten, the first of which libav tells.

    It often reads on as if nothing was wrong.
    """
    to = source.with_stem("hurt")
    copies = (overwritten(source, to, packet=packet, count=count) for packet in packets)
    return next(copy for copy in copies if len(reported_in(copy)) > 1)


def overwritten(source: Path, to: Path, *, packet: int, count: int = 200) -> Path:
    """Write a copy in which bytes from the middle of a packet on are others."""
    with av.open(str(source)) as file:
        packets = [one for one in file.demux(video=0) if one.size]
        start = (packets[packet].pos or 0) + packets[packet].size // 2
    data = bytearray(source.read_bytes())
    data[start : start + count] = random.Random(packet).randbytes(count)
    to.write_bytes(data)
    return to


def decoded(path: Path, wanted: Sequence[int] | None = None) -> DecodedPictures:
    decoder = AvDecoder()
    index = read_index(path)
    ticks = index.shown if wanted is None else wanted
    return decoder.pictures(
        path, index, wanted=ticks, size=SIZE, develop=lambda image: image.tobytes()
    )


def visibly_wrong(before: Path, after: Path) -> set[int]:
    known = decoded(before).pictures
    now = decoded(after)
    shown = now.pictures
    return {t for t in now.wanted if psnr(shown.get(t, b""), known.get(t, b"")) < SEEN_DB}


def test_frames_behind_damage_are_damaged_up_to_the_next_key_frame(whole: Path, hurt: Path) -> None:
    index = read_index(hurt)
    catch = decoded(hurt)
    damaged = sorted(catch.missing)
    places = [index.shown.index(tick) for tick in damaged]
    assert 8 < len(damaged)
    assert (30 <= places[0], places[-1]) == (True, 59)
    # It may read on for some frames before it tells.
    behind = visibly_wrong(whole, hurt) & reported_in(hurt)
    assert 5 < len(behind)
    assert behind <= catch.missing


def test_a_frame_is_damaged_or_not_whatever_else_is_asked_for(hurt: Path) -> None:
    index = read_index(hurt)
    all_of_them = decoded(hurt)
    for wanted in (index.shown[1::7], index.shown[40:41], index.shown[55:]):
        catch = decoded(hurt, wanted)
        assert catch.missing == all_of_them.missing & catch.wanted
        assert catch.pictures == {tick: all_of_them.pictures[tick] for tick in catch.pictures}


@pytest.mark.slow
def test_damage_to_a_frame_that_no_other_refers_to_is_its_own(whole: Path, tmp_path: Path) -> None:
    with av.open(str(whole)) as file:
        stored = [packet.pts or 0 for packet in file.demux(video=0) if packet.size]
    # Between two others, and shown before the one that is stored before it.
    last = [n for n in range(40, 80) if stored[n + 1] > stored[n - 1] > stored[n]]
    path = told(copyfile(whole, tmp_path / "b.mp4"), last, count=20)
    (only,) = decoded(path).missing
    assert only in {stored[n] for n in last}
    assert not decoded(path, [tick for tick in stored if tick != only]).missing


@pytest.mark.slow
def test_lost_packets_of_a_transport_stream_damage_up_to_the_next_key_frame(
    tmp_path: Path,
) -> None:
    streamed = encode(tmp_path / "whole.ts", CODINGS["H.264"], count=90)
    lose_stretch(streamed, tmp_path / "lost.ts", random.Random(3), count=40)
    index = read_index(tmp_path / "lost.ts")
    catch = decoded(tmp_path / "lost.ts")
    (problem,) = index.problems
    assert problem.startswith("damaged, first at ")
    assert index.hurt
    assert index.hurt <= catch.missing
    fresh = min(key for key in index.keys if key > max(index.hurt))
    assert fresh not in catch.missing
    behind = visibly_wrong(streamed, tmp_path / "lost.ts") & reported_in(tmp_path / "lost.ts")
    assert behind <= catch.missing


@pytest.mark.slow
def test_damage_where_only_counting_tells_the_frames_ends_at_a_key_frame(
    clip: Clip, tmp_path: Path
) -> None:
    path = encode(tmp_path / "whole.avi", CODINGS["H.264"], count=90)
    after = told(path, range(31, 48))
    catch = decoded(after)
    index = read_index(after)
    places = {index.shown.index(tick) for tick in catch.missing}
    assert 10 < len(places)
    assert places <= set(range(28, 60))
    assert visibly_wrong(path, after) <= catch.missing


class Packet:
    """What `PacketGaps` asks of a packet."""

    size = 1
    duration = 1
    pos = 0

    def __init__(self, sign: str, dts: int | None = None) -> None:
        self.is_keyframe = sign in "KX"
        self.is_corrupt = sign in "cX"
        self.dts = dts


@pytest.mark.parametrize(
    ("stored", "damaged"),
    [
        ("K0 p1 p2 K3 p4", set()),
        ("K0 c1 p2 p3 K4 p5", {1, 2, 3}),
        # The key frame of an open group: what is shown before it refers to what was lost.
        ("K0 c1 p2 p4 K7 p5 p6 p8", {1, 2, 4, 5, 6}),
        ("K0 p1 X2 p3 K4 p5", {2, 3}),
        # What is cut out of a stream may stand one packet behind its mark.
        ("K0 c1 K2 p3 K4 p5", {1, 2, 3}),
    ],
)
def test_what_is_torn_damages_all_up_to_a_fresh_start(stored: str, damaged: set[int]) -> None:
    gaps = PacketGaps()
    for one in stored.split():
        gaps.pass_by(Packet(one[0]), int(one[1:]), is_behind=False)  # type: ignore[arg-type]
    assert gaps.hurt == damaged


@pytest.mark.parametrize(
    ("shown", "damaged"),
    [
        # The third is decoded late, and where one should be shown there is a hole.
        ([0, 1, 2, 4, 5, 6, 7], {4, 5}),
        # Times that were worked out: none is missing.
        ([0, 1, 2, 3, 4, 5, 6], set()),
    ],
)
def test_a_hole_in_both_times_of_frames_damages_what_follows(
    shown: list[int], damaged: set[int]
) -> None:
    gaps = PacketGaps()
    decoded_at = [0, 1, 2, 4, 5, 6, 7]
    for sign, dts, tick in zip("KppppKp", decoded_at, shown, strict=True):
        gaps.pass_by(Packet(sign, dts), tick, is_behind=False)  # type: ignore[arg-type]
    gaps.look_for_holes(shown, {0, shown[5]})
    assert gaps.hurt == damaged


@pytest.mark.parametrize(
    ("shown", "keys", "damaged"),
    [
        # Behind the hole a group begins, and nothing is shown before its key frame.
        ([0, 1, 2, 4, 5, 6, 7], {0, 4}, set()),
        # A few are: they refer to what was lost,
        ([0, 1, 2, 6, 4, 5, 7], {0, 6}, {4, 5}),
        # unless nothing was, in a pause of the recorder.
        ([0, 1, 2, 56, 54, 55, 57], {0, 56}, set()),
        # Where steps are of many lengths none of them is a hole.
        ([0, 1, 2, 5, 6, 10, 11], {0}, set()),
    ],
)
def test_a_hole_is_damage_where_others_refer_to_what_may_be_missing(
    shown: list[int], keys: set[int], damaged: set[int]
) -> None:
    gaps = PacketGaps()
    decoded_at = shown[:3] + [min(shown[3:]) + n for n in range(4)]
    for dts, tick in zip(decoded_at, shown, strict=True):
        gaps.pass_by(Packet("K" if tick in keys else "p", dts), tick, is_behind=False)  # type: ignore[arg-type]
    gaps.look_for_holes(sorted(shown), keys)
    assert (gaps.hurt, gaps.count > 0) == (damaged, bool(damaged))


VARIED = (1, 1, 5, 1, 2, 40, 1)
"""How long frames are shown where stills are left out, over and over."""


@pytest.mark.parametrize(
    ("codec", "suffix"),
    [
        ("mpeg2video", "ts"),
        pytest.param("mpeg2video", "mpg", marks=pytest.mark.slow),
        pytest.param("mpeg4", "ts", marks=pytest.mark.slow),
    ],
)
def test_a_clean_stream_whose_frames_last_as_they_please_loses_none(
    tmp_path: Path, codec: str, suffix: str
) -> None:
    ticks = [0, *accumulate(VARIED * 8)]
    recipe = Recipe(suffix, codec, {"g": "12", "bf": "2", "b": "2M"}, ticks=ticks)
    path = stamped(tmp_path / f"varied.{suffix}", recipe)
    index = read_index(path)
    sampled = sample(path, sampling=Sampling(frames=128))
    assert (index.problems, index.hurt, sampled.frames.damaged) == ((), frozenset(), 0)
    assert [read_stamp(jpeg) for jpeg in sampled.jpegs] == list(range(len(ticks)))


STEP = 90_000 // 25


def remuxed(source: Path, to: Path, *, keys: int, later: int, lost: int = 0) -> Path:
    """Write a copy in which so many key frames are passed by before a hole in the times.

    Args:
        source: the clip.
        to: where the copy goes.
        keys: the hole is in front of the next key frame.
        later: so many frames later all that follows is shown.
        lost: so many packets before the hole are left out.
    """
    with av.open(str(source)) as old, av.open(str(to), "w") as new:
        stream = old.streams.video[0]
        copy = new.add_stream_from_template(stream)
        packets = [*old.demux(stream)][:-1]
        place = [n for n, packet in enumerate(packets) if packet.is_keyframe][keys]
        for packet in packets[place:]:
            packet.pts = (packet.pts or 0) + STEP * later
            packet.dts = (packet.dts or 0) + STEP * later
        for packet in packets[: place - lost] + packets[place:]:
            packet.stream = copy
            new.mux(packet)
    return to


@pytest.mark.parametrize("suffix", ["ts", pytest.param("mpg", marks=pytest.mark.slow)])
def test_a_pause_of_the_recorder_at_a_key_frame_is_no_damage(
    clip: Clip, tmp_path: Path, suffix: str
) -> None:
    path = remuxed(clip("mpeg2 in ts"), tmp_path / f"pause.{suffix}", keys=2, later=50)
    index = read_index(path)
    sampled = sample(path, sampling=Sampling(frames=128))
    assert index.seconds(index.shown[-1]) == pytest.approx((74 + 50) / 25)
    assert (index.problems, index.hurt, sampled.frames.damaged) == ((), frozenset(), 0)
    assert [read_stamp(jpeg) for jpeg in sampled.jpegs] == list(range(75))


def test_frames_in_front_of_a_key_frame_are_damaged_where_others_before_are_missing(
    clip: Clip, tmp_path: Path
) -> None:
    path = remuxed(clip("mpeg2 in ts"), tmp_path / "lost.ts", keys=2, later=0, lost=6)
    index = read_index(path)
    catch = decoded(path)
    key = min(tick for tick in index.keys if tick > max(index.hurt))
    assert len(index.hurt) == 2
    assert index.hurt == set(index.shown[index.shown.index(key) - 2 : index.shown.index(key)])
    assert catch.missing == index.hurt == set(catch.rough)


def test_a_sound_frame_in_front_of_the_next_key_frame_keeps_its_picture(clip: Clip) -> None:
    path = clip("mpeg2 in ts")
    index = read_index(path)
    before = decoded(path)
    for place in (20, 25):
        hurt = frozenset({index.shown[place]})
        # Without seeking all is decoded through, and damage is behind it by the next key frame.
        once = index._replace(hurt=hurt, can_seek=False)
        catch = AvDecoder().pictures(
            path, once, wanted=index.shown, size=SIZE, develop=lambda image: image.tobytes()
        )
        assert catch.missing == hurt
        assert catch.pictures == before.pictures


def started_late(source: Path, to: Path, *, packet: int) -> Path:
    """Write a copy of a transport stream that begins with another of its packets."""
    with av.open(str(source)) as file:
        start = [one.pos or 0 for one in file.demux(video=0) if one.size][packet]
    to.write_bytes(source.read_bytes()[start // 188 * 188 :])
    return to


@pytest.mark.parametrize(
    "name", [pytest.param("h264 in ts", marks=pytest.mark.slow), "mpeg2 in ts"]
)
def test_a_stream_that_starts_between_key_frames_begins_with_what_can_be_decoded(
    clip: Clip, tmp_path: Path, name: str
) -> None:
    path = started_late(clip(name), tmp_path / "late.ts", packet=5)
    index = read_index(path)
    sampled = sample(path, sampling=Sampling(frames=128))
    numbers = [read_stamp(jpeg) for jpeg in sampled.jpegs]
    first = {"h264 in ts": 12, "mpeg2 in ts": 15}[name]
    assert numbers == list(range(first, 75))
    assert (sampled.frames.damaged, index.problems) == (0, ())
    assert index.duration_s == pytest.approx((75 - first) / 25)


def _ffmpeg_with_xvid() -> str:
    """Return an ffmpeg that encodes with libxvid, or nothing."""
    found = shutil.which("ffmpeg") or ""
    if not found:
        return ""
    told = subprocess.run((found, "-hide_banner", "-encoders"), capture_output=True, text=True)
    return found if "libxvid" in told.stdout else ""


@pytest.mark.parametrize("between", [1, 2, 3])
def test_frames_of_xvid_itself_are_in_their_order(tmp_path: Path, between: int) -> None:
    ffmpeg = _ffmpeg_with_xvid()
    if not ffmpeg:
        pytest.skip("no ffmpeg with libxvid here; the packed clips of coded.py stand for it")
    path = tmp_path / "xvid.avi"
    raw = b"".join(stamp(number, (96, 64)).tobytes() for number in range(60))
    given = "-f rawvideo -pix_fmt rgb24 -s 96x64 -r 25 -i - -c:v libxvid -q:v 2 -g 250"
    command = (ffmpeg, "-v", "error", *given.split(), "-bf", str(between), str(path))
    subprocess.run(command, input=raw, check=True)
    sampled = sample(path, sampling=Sampling(frames=128))
    numbers = [read_stamp(jpeg) for jpeg in sampled.jpegs]
    assert len(numbers) > 55
    assert numbers == sorted(numbers)
