"""Text drawn into the picture is read at full size, and bounded, clean and timed when it is."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import BadInput
from memory.records import Sampling
from tests.support.lettered import Words, draw_lettered, draw_words
from video import reading
from video.frames import sample
from video.index import read_index
from video.reading import READINGS, Line, Reader, alike, merged, read_captions

SAID = (Words(1.0, 4.0, "NORTH GATE"), Words(6.0, 8.0, "Mind the step"))


@pytest.fixture(scope="module")
def lettered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_lettered(tmp_path_factory.mktemp("lettered") / "clip.mp4", SAID, seconds=8.0)


def test_captions_are_read_with_the_times_at_which_they_stand(lettered: Path) -> None:
    first, last = read_captions(lettered, read_index(lettered))
    for cue, words in zip((first, last), SAID, strict=True):
        assert alike(cue.text, words.text) == 1
        assert abs(cue.start_s - words.start_s) <= 8 / READINGS
        assert abs(cue.end_s - words.end_s) <= 8 / READINGS


def test_captions_are_part_of_the_frames_where_the_sampling_says_so(lettered: Path) -> None:
    small = Sampling(frames=4, size_px=64)
    plain, read = (sample(lettered, sampling=small.model_copy(update={"ocr": o})) for o in (0, 1))
    assert plain.frames.captions == ()
    found = zip(read.frames.captions, SAID, strict=True)
    assert all(alike(cue.text, words.text) == 1 for cue, words in found)
    assert read.jpegs == plain.jpegs


def test_words_from_10_to_28_pixels_are_read_letter_for_letter_but_for_a_few() -> None:
    lines = ["Harbour at dawn", "42 sheep on Hill Road"]
    reader = Reader(reading._engine())
    for height_px in (10, 12, 16, 20, 28):
        found = reader.lines(draw_words(lines, size=(480, 270), height_px=height_px))
        assert alike(" ".join(lines), " ".join(line.text for line in found)) >= 0.98, found


def test_a_picture_without_words_is_read_as_none_and_twice_is_alike() -> None:
    noise = np.random.default_rng(3).integers(0, 255, (9, 16, 3), dtype=np.uint8)
    reader = Reader(reading._engine())
    from PIL import Image

    assert reader.lines(Image.fromarray(noise).resize((320, 180))) == []
    words = draw_words(["LAST ORDERS"], height_px=18)
    assert Reader(reading._engine()).lines(words) == Reader(reading._engine()).lines(words)


def test_reading_says_nothing_and_asks_nobody(
    lettered: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reading._engine.cache_clear()
    read_captions(lettered, read_index(lettered))
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("RapidOCR").level == logging.CRITICAL


def test_without_the_extra_frames_are_had_and_reading_is_refused_in_one_line(
    lettered: Path,
) -> None:
    code = """
import sys
sys.modules["rapidocr"] = sys.modules["onnxruntime"] = None
from pathlib import Path
from memory.errors import BadInput
from memory.records import Sampling
from video.frames import sample
from video.reading import can_read
assert not can_read()
path = Path(sys.argv[1])
assert len(sample(path, sampling=Sampling(frames=4)).jpegs) == 4
try:
    sample(path, sampling=Sampling(frames=4, ocr=True))
except BadInput as refused:
    print(refused)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, os.fspath(lettered)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("\n") == 1
    assert "videoautoarena[ocr]" in done.stdout


def test_reading_tells_nobody_and_leaves_nothing_behind(lettered: Path, tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from video.index import read_index
from video.reading import read_captions

path = Path(sys.argv[1])
print(len(read_captions(path, read_index(path))), len(os.listdir("/proc/self/task")))
"""
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"), str(tmp_path))
    # With CI or its own variables set onnxruntime would be silent by itself.
    kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("ORT_")}
    done = subprocess.run(
        [sys.executable, "-c", code, os.fspath(lettered)],
        cwd=Path(__file__).parents[2],
        env=kept | homes | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == str(len(SAID))
    assert list(tmp_path.rglob("*")) == []


def test_models_that_are_not_there_are_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no models"):
        reading._only(tmp_path, "*det*.onnx")


def test_a_line_stands_from_half_way_to_its_first_reading_to_half_way_from_its_last() -> None:
    here, other = [Line("LOW TIDE", 0.9)], [Line("WET PAINT", 0.99)]
    cues = merged([(0, []), (2, here), (4, here), (6, other), (8, [])], duration_s=9)
    assert [tuple(cue.model_dump().values()) for cue in cues] == [
        (1.0, 5.0, "LOW TIDE"),
        (5.0, 7.0, "WET PAINT"),
    ]


def test_the_surest_of_like_readings_is_the_text() -> None:
    readings = [(0, [Line("L0W TIDE", 0.85)]), (1, [Line("LOW TIDE", 0.99)])]
    assert [cue.text for cue in merged(readings, duration_s=2)] == ["LOW TIDE"]


@pytest.mark.parametrize("sure", [0.5, 0.9])
def test_what_one_reading_alone_is_not_sure_of_is_left_out(sure: float) -> None:
    assert merged([(0, []), (1, [Line("steck", sure)]), (2, [])], duration_s=3) == ()


@given(st.lists(st.text(), max_size=4), st.floats(0.95, 1))
def test_whatever_is_read_is_one_plain_line_of_bounded_length(said: list[str], sure: float) -> None:
    cues = merged([(0.0, [Line(text * 90, sure) for text in said])], duration_s=1)
    for cue in cues:
        assert len(cue.text) <= 200
        assert len(cue.text.splitlines()) == 1
        assert not set(cue.text) & set("\x00\x1b\x9b\u202e\u2066\n\r")


def test_of_a_page_of_print_the_tallest_lines_are_read_and_no_more() -> None:
    class Page:
        read_: int = 0

        def find(self, _pixels: reading.Pixels) -> list[reading.Box]:
            return [(0, 10 * n, 90, 10 * n + 4 + n % 3) for n in range(16)]

        def read(self, patch: reading.Pixels) -> Line:
            self.read_ += 1
            return Line(f"line of {patch.shape[0]} pixels", 0.99)

    page, image = Page(), draw_words([], height_px=10)
    reader = Reader(page)
    lines = reader.lines(image)
    assert len(lines) == page.read_ == 8
    assert {line.text for line in lines} <= {"line of 6 pixels", "line of 5 pixels"}
    # What has not changed is not read again.
    assert reader.lines(image) == lines
    assert page.read_ == 8
