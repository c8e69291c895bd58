"""A folder whose names are made to do harm, through every command that reads or writes it."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.support.clips import draw_clip
from tests.support.titles import cue, write_titles
from videoautoarena.runs.cli.program.main import arena, guarded, load
from videoautoarena.runs.formats import terminal

USABLE = (
    b"-rf.mp4",
    b"\x1b[2J\x07.mp4",
    b'it\'s "quoted" $(id) `id`.mp4',
    b"line\nbreak\r.mp4",
    "rtl\u202egpj.mp4".encode(),
    b"bytes \xff\xfe.mp4",
    b"%s {0} $x [red]:smile:[/red].mp4",
    b"deep \n\xff/no suffix",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("odd") / os.fsdecode(b"-videos\x1b[31m \xff")
    place.mkdir()
    plain = place.parent / "clip.mp4"
    for seed, name in enumerate(USABLE):
        path = place / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        draw_clip(plain, seed, seconds=2).rename(path)
        write_titles(path.with_suffix(".srt"), cue(0.2, 1, f"words {seed}"))
    shutil.copy(place / "-rf.mp4", place / "copy\u202e.mov")
    (place / "link\n.mp4").symlink_to("-rf.mp4")
    (place / "up").symlink_to("..")
    (place / "gone\x1b[2J.mp4").symlink_to("nowhere")
    os.mkfifo(place / os.fsdecode(b"pipe\xff.mp4"))
    (place / "empty\u2066.mp4").touch()
    (place / "page\r.mp4").write_text("<html>")
    (place / os.fsdecode(b"bytes \xff\xfe.vtt")).write_text("WEBVTT")
    (place / os.fsdecode(b"-rf.vtt")).symlink_to("nowhere")
    return place


@pytest.fixture(scope="module")
def told(folder: Path) -> str:
    """Play a run over the folder and return what it said on the way."""
    (folder / os.fsdecode(b"bytes \xff\xfe.srt")).unlink()
    out = folder.parent / "out"
    models = "offline:mole,offline:parrot"
    words = ("--videos", folder, "--rounds", "1", "--models", models, "--out", out)
    return typed("simulate", *words)[1]


def typed(name: str, *words: str | Path) -> tuple[str, str]:
    """Run a command to its good end; return what it said, in which no byte moves a terminal."""
    command = load("simulate") if name == "simulate" else arena
    line = [str(word) for word in words]
    terminal.out.cache_clear()
    out, err = TextIOWrapper(BytesIO(), "utf-8"), TextIOWrapper(BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(err):
        code = guarded(lambda: command.main(line, prog_name=name, standalone_mode=False))
    terminal.out.cache_clear()
    said = [bytes_of(stream) for stream in (out, err)]
    assert code == 0, said[1][-3000:]
    for one in said:
        assert not any(mark in one for mark in MOVING), one
    return said[0].decode(), said[1].decode()


def bytes_of(stream: TextIOWrapper) -> bytes:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, BytesIO)
    return written.getvalue()


MOVING = (b"\x1b", b"\x07", b"\r", "\u202e".encode(), "\u2066".encode(), b"\xff")


def test_usable_files_are_used_and_the_others_named(told: str) -> None:
    assert "8 videos, 1 round" in told
    for line in (
        "copy\\u202e.mov is the same video as -rf.mp4; it is used once",
        "link\\x0a.mp4 is the same video as -rf.mp4; it is used once",
        "skipped empty\\u2066.mp4: is empty",
        "skipped gone\\x1b[2J.mp4: a link that leads nowhere",
        "skipped page\\x0d.mp4: is an HTML page, not a video; check the address it came from",
        "skipped pipe\\xff.mp4: a named pipe",
        "skipped up: a link to a folder, which is not followed",
        "skipped bytes \\xff\\xfe.vtt: holds no subtitles in the form of SubRip or WebVTT",
        "subtitles of -rf.mp4: -rf.srt; not used: -rf.vtt",
        "subtitles beside 7 of 8 videos are sent with the frames (--no-subtitles leaves them out)",
    ):
        assert line in told.splitlines()
    assert "24 battles settled" in told


@pytest.mark.usefixtures("told")
def test_every_command_reads_what_came_of_it(folder: Path) -> None:
    out = folder.parent / "out"
    expected: dict[tuple[str | Path, ...], str] = {
        ("leaderboard", out): "24 battles decided on 8 videos",
        ("status", out): "24 of 24",
        ("status", out, "--json"): '"settled": 24',
        ("battles", out, "--jsonl"): '"schema":',
    }
    for words, said in expected.items():
        assert said in typed("arena", *words)[0]
    assert "0 of 24 battles left" in "".join(typed("arena", "resume", out, "--videos", folder))


@pytest.mark.usefixtures("told")
def test_a_bench_made_of_it_is_intact_beside_the_videos(folder: Path) -> None:
    typed("arena", "freeze", folder.parent / "out", "--to", folder.parent / "bench")
    said, _ = typed("arena", "bench", "verify", folder.parent / "bench", "--videos", folder)
    assert said.startswith("intact")


@pytest.mark.usefixtures("told")
def test_it_is_shown_and_replayed(folder: Path) -> None:
    out = folder.parent / "out"
    battles = [json.loads(row) for row in typed("arena", "battles", out, "--jsonl")[0].splitlines()]
    shown = [("show", out, row["id"]) for row in battles[::3]]
    pages = [typed("arena", *words)[0] for words in shown]
    replayed, _ = typed("arena", "replay", out)
    assert len(pages) == 8
    assert sum("subtitles: 1 cues of" in page for page in pages) == 7
    assert "24 battles are identical, 0 differ" in replayed
