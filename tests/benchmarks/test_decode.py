"""The clips that decoders are measured with, and what is said of the figures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import av
import pytest

from benchmarks.decode import FPS, SHORT_GROUPS, encode, repeat, verdicts
from videoautoarena.video.decode.index import read_index


@pytest.fixture(scope="module")
def piece(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("encoded") / "piece.mp4"
    encode(path, gop=6, seconds=0.8, size=(160, 96))
    return path


def test_a_repeated_piece_goes_on_without_a_gap(piece: Path, tmp_path: Path) -> None:
    repeat(piece, tmp_path / "long.mp4", times=3)
    once = read_index(piece)
    long = read_index(tmp_path / "long.mp4")
    assert len(long.shown) == 3 * len(once.shown) == 72
    steps = {b - a for a, b in zip(long.shown, long.shown[1:], strict=False)}
    assert len(steps) == 1
    assert long.fps == pytest.approx(FPS)
    assert len(long.keys) == 12


def test_pieces_of_another_title_differ_in_their_bytes_alone(piece: Path, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        repeat(piece, path, times=1, title=path.name)
    assert paths[0].read_bytes() != paths[1].read_bytes()
    first, second = (partial(_luma, path) for path in paths)
    assert first() == second()


def _luma(path: Path) -> list[bytes]:
    with av.open(path) as container:
        return [frame.to_ndarray(format="gray").tobytes() for frame in container.decode(video=0)]


def test_a_bound_is_held_by_the_median() -> None:
    took = {"arena": [1.0, 1.0, 9.0], "decord": [2.6, 2.6, 0.1], "warm": [0.01] * 3}
    assert all(holds for holds, _ in verdicts(SHORT_GROUPS.name, took))
    took["decord"] = [2.4, 2.4, 9.0]
    assert [holds for holds, _ in verdicts(SHORT_GROUPS.name, took)] == [True, False, True]


def test_any_other_clip_may_cost_a_little_more_than_decord_and_no_more() -> None:
    took = {"arena": [1.14], "decord": [1.0], "warm": [0.01]}
    assert all(holds for holds, _ in verdicts("mine.mp4", took))
    took["arena"] = [1.16]
    assert not all(holds for holds, _ in verdicts("mine.mp4", took))


def test_a_cache_that_saves_little_is_told() -> None:
    took = {"arena": [1.0], "warm": [0.03]}
    assert [holds for holds, _ in verdicts("mine.mp4", took)] == [True, False]
