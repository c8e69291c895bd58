"""Cues out of subtitle files, well formed, broken and hostile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.titles import cue, render
from videoautoarena.memory.records.errors import UnusableSubtitles
from videoautoarena.memory.records.records import Cue
from videoautoarena.video.folder.subtitles import LONGEST_CUE, MOST_TEXT, align, parse, plain

SRT = """1
00:00:01,000 --> 00:00:02,500
Hello <i>there</i>,
old friend.

2
00:01:00,000 --> 00:01:01,000
{\\an8}Above
"""
VTT = """WEBVTT - a title

STYLE
::cue { color: red }

NOTE 00:00 is no cue

intro
00:01.000 --> 00:02.500 align:start position:10%
<v Ann>Hello &amp; <c.loud>welcome</c>

01:00:00.000 --> 01:00:01.000
<00:00:01.000>Late
"""

PIECES = [*SRT.splitlines(), *VTT.splitlines(), "-", "\0", "-9999:999:99,9 --> 0:0"]

words = st.lists(
    st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12),
    min_size=1,
    max_size=5,
).map(" ".join)
times = st.integers(0, 35_999_999).map(lambda thousandths: thousandths / 1000)
some_cues = st.builds(lambda a, b, text: cue(min(a, b), max(a, b), text), times, times, words)
cue_lists = st.lists(some_cues, min_size=1, max_size=8, unique=True).map(
    lambda cues: tuple(sorted(cues, key=lambda c: (c.start_s, c.end_s, c.text)))
)


def texts(text: str) -> list[str]:
    return [found.text for found in parse(text)]


def test_subrip_is_read_in_one_line_a_cue() -> None:
    assert parse(SRT) == (cue(1, 2.5, "Hello there, old friend."), cue(60, 61, "Above"))


def test_webvtt_is_read_without_notes_styles_and_settings() -> None:
    assert parse(VTT) == (cue(1, 2.5, "Ann: Hello & welcome"), cue(3600, 3601, "Late"))


@given(cue_lists, st.sampled_from(["srt", "vtt"]))
def test_what_was_written_is_read_again(cues: tuple[Cue, ...], kind: str) -> None:
    assert parse(render(cues, kind)) == cues  # type: ignore[arg-type]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("\n".join))
def test_no_text_raises_anything_but_the_refusal(text: str) -> None:
    try:
        cues = parse(text)
    except UnusableSubtitles:
        return
    assert all(c.start_s <= c.end_s and c.text for c in cues)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(line_end: str) -> None:
    assert parse(SRT.replace("\n", line_end)) == parse(SRT)


def test_cues_out_of_order_and_over_each_other_are_sorted() -> None:
    told = render([cue(5, 9, "b"), cue(1, 7, "a"), cue(5, 6, "c")])
    assert parse(told) == (cue(1, 7, "a"), cue(5, 6, "c"), cue(5, 9, "b"))


def test_a_cue_that_ends_before_it_starts_is_an_instant() -> None:
    assert parse(render([cue(5, 3, "x")])) == (cue(5, 5, "x"),)


def test_a_cue_said_twice_is_one() -> None:
    assert texts(render([cue(1, 2, "x"), cue(1, 2, "x")])) == ["x"]


def test_a_missing_empty_line_is_no_loss() -> None:
    assert texts("1\n00:01,0 --> 00:02,0\na\n2\n00:03,0 --> 00:04,0\nb\n3") == ["a", "b 3"]


def test_captions_that_roll_say_each_line_once() -> None:
    rolling = """WEBVTT

00:00.000 --> 00:02.000 align:start position:0%
\x20
so<00:00:00.500><c> today</c>

00:02.000 --> 00:02.010
so today
\x20

00:02.010 --> 00:04.000
so today
we<00:00:02.500><c> cook</c>

00:04.000 --> 00:04.010
we cook

00:09.000 --> 00:10.000
we cook
"""
    assert parse(rolling) == (cue(0, 2, "so today"), cue(2.01, 4, "we cook"), cue(9, 10, "we cook"))


def test_cues_of_blanks_tags_and_controls_are_none() -> None:
    told = render([cue(1, 2, "x")]) + "\n00:03 --> 00:04\n<i> </i>\x1b\x07\n"
    assert texts(told) == ["x"]


def test_terminal_escapes_and_marks_of_direction_are_taken_out() -> None:
    assert plain("\x1b[31mred\x1b[0m &#27;[2J \u202eevil\u202c\u2028next") == (
        "[31mred[0m [2J evil next"
    )


def test_what_only_looks_like_a_tag_stays() -> None:
    assert plain("1 < 2 and <3 you > me {smile}") == "1 < 2 and <3 you > me {smile}"


def test_a_cue_of_a_megabyte_is_cut() -> None:
    assert len(texts(f"00:01 --> 00:02\n{'x' * 1_000_000}")[0]) == LONGEST_CUE


@pytest.mark.parametrize("text", ["", "no cue", "1\n00:00:01,000 -> 00:00:02,000\nx", "WEBVTT\n"])
def test_a_file_without_a_cue_is_refused(text: str) -> None:
    with pytest.raises(UnusableSubtitles, match="holds no subtitles"):
        parse(text)


def test_cues_are_counted_from_the_first_frame() -> None:
    found = align([cue(1, 2, "before"), cue(2.5, 4, "x"), cue(5, 6, "y")], first_s=3, duration_s=9)
    assert found == (cue(0, 1, "x"), cue(2, 3, "y"))


def test_cues_beyond_the_video_are_left_out_and_those_over_its_end_are_cut() -> None:
    found = align([cue(-4, -1, "w"), cue(8, 12, "x"), cue(10, 11, "y")], first_s=0, duration_s=10)
    assert found == (cue(8, 10, "x"),)


def test_subtitles_of_another_cut_are_refused() -> None:
    with pytest.raises(UnusableSubtitles, match=r"nothing within the video's 10\.00 s"):
        align([cue(11, 12, "x")], first_s=0, duration_s=10)


def test_more_text_than_can_be_sent_is_refused() -> None:
    many = [cue(1, 2, f"{n:06d}" + "x" * 994) for n in range(MOST_TEXT // 1000 + 1)]
    with pytest.raises(UnusableSubtitles, match="201,000 characters; 200,000 are sent at most"):
        align(many, first_s=0, duration_s=10)
