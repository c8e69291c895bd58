"""Published files that are no text, or no files, are one line, and nothing is imported of any."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.published_tasks import Rows, lvb, mlvu_choice, mlvu_scenes, write
from tests.support.task_sets import choice, free, write_set
from videoautoarena.runs.bench.format.schema import MANIFEST, QUESTIONS
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.cli.program.main import arena, guarded

FILES: dict[str, tuple[str, str, Rows]] = {
    "choice": ("mlvu", "1_plotQA.json", mlvu_choice(3)),
    "scene": ("mlvu", "8_sub_scene.json", mlvu_scenes(3)),
    "longvideobench": ("longvideobench", "lvb_val.json", lvb(4)),
    "subtitles": (
        "longvideobench",
        "subtitles/vid-0_en.json",
        [{"timestamp": [1, 2], "text": ""}] * 2,
    ),
}
CONTENTS: dict[str, tuple[Callable[[str], bytes], str]] = {
    "cut": (lambda text: text[: len(text) // 2].encode(), "is no JSON: line 1"),
    "cut at the end": (lambda text: text[:-1].encode(), "is no JSON: line 1"),
    "UTF-16": (lambda text: text.encode("utf-16"), "is not UTF-8 text; save it as UTF-8"),
    "Latin-1": (lambda text: text.replace(": ", ': "\xe9", ', 1).encode("latin1"), "not UTF-8"),
    "two marks": (lambda text: f"\ufeff\ufeff{text}".encode(), "is no JSON: line 1"),
    "zeros": (lambda text: bytes(len(text)), "is no JSON: line 1"),
    "packed": (lambda text: gzip.compress(text.encode()), "is not UTF-8 text"),
    "a line an item": (lambda text: text[1:-1].replace("}, {", "}\n{").encode(), "is no JSON"),
    "twice": (lambda text: (text * 2).encode(), "is no JSON: line 1: Extra data"),
    "written by Python": (lambda text: str(json.loads(text)).encode(), "is no JSON: line 1"),
    "deep": (lambda text: text[:-1].encode() + b"," + b"[" * 100_000, "is nested too deep"),
    "deep inside": (
        lambda text: text.replace("{", '{"x": ' + "[" * 60 + "]" * 60 + ", ", 1).encode(),
        "1: is nested deeper than 50 levels; nothing was imported",
    ),
    "a long number": (lambda text: f"{text[:-1]}, {'9' * 5000}]".encode(), "is too long"),
    "in a list": (lambda text: f"[{text}]".encode(), "1: is a list, no object; nothing was"),
}


def said(line: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a refused command says."""
    assert guarded(lambda: arena.main(line, standalone_mode=False)) == 1
    told = capsys.readouterr()
    assert told.out == ""
    (one,) = told.err.splitlines()
    return one


def importing(place: Path, name: str) -> tuple[Path, list[str]]:
    """Lay published files of which one is to be spoilt; return that, and what imports them."""
    form, file, rows = FILES[name]
    if name == "subtitles":
        write(place / "in" / "lvb_val.json", FILES["longvideobench"][2])
    more = ["--subtitles", str(place / "srt")] if name == "subtitles" else []
    to = ["--to", str(place / "set"), *more]
    found = write(place / "in" / file, rows)
    found.write_text(json.dumps(rows))
    return found, ["import", form, str(place / "in"), *to]


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_such_text_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str
) -> None:
    file, line = importing(tmp_path, name)
    spoil, told = CONTENTS[content]
    file.write_bytes(spoil(file.read_text()))
    one = said(line, capsys)
    assert told in one
    assert str(file) in one
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_a_file_with_one_mark_of_its_encoding_is_read(tmp_path: Path) -> None:
    for name in FILES:
        file, line = importing(tmp_path / name, name)
        text = file.read_text().replace("2]}", '2], "text": ""}')
        file.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert guarded(lambda line=line: arena.main(line, standalone_mode=False)) == 0  # type: ignore[misc]


def unreadable(file: Path) -> None:
    file.symlink_to("/proc/self/mem")


PLACES: dict[str, Callable[[Path], None]] = {
    "a folder": Path.mkdir,
    "a link to nothing": lambda file: file.symlink_to("nowhere"),
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a pipe": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "unreadable": unreadable,
}


@pytest.mark.parametrize("what", PLACES)
@pytest.mark.parametrize("name", ["choice", "longvideobench"])
def test_what_stands_where_a_file_should_be_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, what: str
) -> None:
    file, line = importing(tmp_path, name)
    file.unlink()
    PLACES[what](file)
    one = said(line, capsys)
    assert f"{file} {'cannot be read' if what == 'unreadable' else 'is no file'}" in one
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_a_name_with_control_characters_is_shown_and_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, line = importing(tmp_path, "longvideobench")
    file.rename(file.with_name("lvb_\x1b[2J\n.json")).write_text("[")
    assert "lvb_\\x1b[2J\\x0a.json is no JSON" in said(line, capsys)


def test_options_are_kept_from_one_to_as_many_as_there_are_letters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for count, told in ((1, "1 x fewer than two options: vid-0_1"), (7, ""), (27, "")):
        place = tmp_path / str(count)
        file, line = importing(place, "longvideobench")
        rows = json.loads(file.read_text())
        rows[1] |= {"candidates": [f"o{k}" for k in range(count)], "correct_choice": 0}
        write(file, rows)
        if count == 27:
            assert "item 2: has 27 options" in said(line, capsys)
            assert not (place / "set").exists()
        else:
            assert guarded(lambda line=line: arena.main(line, standalone_mode=False)) == 0  # type: ignore[misc]
            assert told in capsys.readouterr().err


VALUES = (None, True, -1, 10**400, "\ud800\x1b[2J\n", [None], {"a": 1})
SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "marked": lambda content: b"\xef\xbb\xbf" + content,
    "NaN": lambda content: content.replace(b"null", b"NaN", 1),
    "deep": lambda content: content + b"[" * 100_000,
    "a key twice": lambda content: content.replace(b"{", b'{"schema": 1, ', 1),
    "empty": lambda _content: b"",
}


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("name", [MANIFEST, QUESTIONS])
def test_a_spoilt_set_is_one_line_and_nothing_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, how: str
) -> None:
    write_set(tmp_path / "set", [choice("v1"), free("v1")])
    file = tmp_path / "set" / name
    file.write_bytes(SPOILT[how](file.read_bytes()))
    one = said(["bench", "run", str(tmp_path / "set"), "--videos", str(tmp_path)], capsys)
    assert f"{tmp_path / 'set'} is not an intact bench: {name} " in one
    assert not (tmp_path / "set" / "results").exists()


def test_no_value_anywhere_in_an_item_brings_verify_down(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [choice("v1"), free("v1")])
    lines = (bench.folder / QUESTIONS).read_text().splitlines()
    for line in lines:
        for key in json.loads(line):
            for value in VALUES:
                spoilt = json.dumps({**json.loads(line), key: value})
                if spoilt in lines:
                    continue
                (bench.folder / QUESTIONS).write_text("\n".join([*lines, spoilt]) + "\n")
                found = verify(bench.folder, None).problems
                assert found, (key, value)
                assert all(isinstance(one, str) for one in found)
