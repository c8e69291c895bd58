"""Videos that only their owner's key opens, and others of which no picture is whole."""

from __future__ import annotations

from pathlib import Path
from random import Random

import av
import numpy as np
import pytest

from tests.support.boxes import cluster, element, matroska, track
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.video.decode.av import probe

CODINGS = 0x6D80
CODING = 0x6240
CODING_KIND = 0x5033
ENCRYPTION = 0x5035
ALGORITHM = 0x47E1
KEY_ID = 0x47E2
LOCKED = {
    "encryption_scheme": "cenc-aes-ctr",
    "encryption_key": "76a6c65c5ea762046bd749a2e632ccbb",
    "encryption_kid": "a7e61c373e219033c21091fa607bf3b8",
}


def film(path: Path, codec: str = "libx264", **muxing: str) -> Path:
    """Write moving patches, with a key frame in ten."""
    patches = np.random.default_rng(7).integers(0, 255, (18, 32, 3), dtype=np.uint8)
    picture = patches.repeat(10, 0).repeat(10, 1)
    with av.open(str(path), "w", options=muxing) as output:
        stream = output.add_stream(codec, rate=25)
        stream.width = 320
        stream.height = 180
        stream.pix_fmt = "yuv420p"
        stream.gop_size = 10
        for number in range(50):
            shown = np.ascontiguousarray(np.roll(picture, 3 * number, axis=1))
            output.mux(stream.encode(av.VideoFrame.from_ndarray(shown, format="rgb24")))
        output.mux(stream.encode())
    return path


def scrambled(path: Path, *, clear: float = 0.0) -> Path:
    """Turn the pictures of all packets behind a share that stays clear into noise, as a key would.

    Each keeps its size and its first bytes, which say what it is: those are never encrypted.
    """
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        places = [(packet.pos or 0, packet.size) for packet in packets]
    data = bytearray(path.read_bytes())
    noise = Random(3)
    for at, size in places[round(len(places) * clear) :]:
        kept = min(size, 64)
        data[at + kept : at + size] = noise.randbytes(size - kept)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
def test_a_video_that_its_container_calls_encrypted_is_not_usable(
    codec: str, tmp_path: Path
) -> None:
    with pytest.raises(UnusableVideo, match=r"^is encrypted; pass a copy"):
        probe(film(tmp_path / "film.mp4", codec, **LOCKED))


@pytest.mark.parametrize("name", ["film.mkv", "film.mp4"])
def test_a_video_of_which_every_checked_frame_is_noise_is_not_usable(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(UnusableVideo, match=r"^is damaged in all of the \d+ frames checked"):
        probe(scrambled(film(tmp_path / name, "mpeg2video")))


def test_a_video_that_is_noise_from_its_middle_on_stays_usable(tmp_path: Path) -> None:
    path = scrambled(film(tmp_path / "film.mp4", "mpeg2video"), clear=0.5)
    assert probe(path).duration_s == pytest.approx(2.0)


def test_a_video_whose_start_alone_is_noise_stays_usable(tmp_path: Path) -> None:
    path = film(tmp_path / "film.mp4", "mpeg2video")
    data = path.read_bytes()
    noise = scrambled(path).read_bytes()
    path.write_bytes(noise[: len(noise) // 3] + data[len(noise) // 3 :])
    assert probe(path).duration_s == pytest.approx(2.0)


def test_a_track_of_matroska_that_names_its_key_is_not_usable(tmp_path: Path) -> None:
    scheme = element(ALGORITHM, 5) + element(KEY_ID, b"0123456789abcdef")
    coding = element(CODING_KIND, 1) + element(ENCRYPTION, scheme)
    locked = element(CODINGS, element(CODING, coding))
    frames = [b"\x01" + bytes(8) + Random(k).randbytes(200) for k in range(5)]
    path = tmp_path / "film.mkv"
    path.write_bytes(matroska(tracks=track(1, codec=b"V_VP8", more=locked), rest=cluster(*frames)))
    with pytest.raises(UnusableVideo, match=r"^is encrypted; pass a copy"):
        probe(path)
