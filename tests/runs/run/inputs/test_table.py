"""A file of facts is read for sure or refused in one line that names file and place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.run.inputs import facts
from videoautoarena.runs.run.inputs.facts import FactRow, clean, read_table


def written(folder: Path, content: str | bytes) -> Path:
    file = folder / "videos.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def rows(folder: Path, content: str | bytes) -> list[tuple[str, dict[str, str]]]:
    return [(row.path, row.cells) for row in read_table(written(folder, content)).rows]


def test_each_row_says_something_of_a_path_and_empty_cells_say_nothing(tmp_path: Path) -> None:
    found = read_table(written(tmp_path, "path,title,site\na.mp4,Rain,\nsub/b.mp4,,north\n"))
    assert found.columns == ("title", "site")
    assert found.rows == (
        FactRow(2, "a.mp4", {"title": "Rain"}),
        FactRow(3, "sub/b.mp4", {"site": "north"}),
    )


@pytest.mark.parametrize(
    "content",
    [
        "path;title\na.mp4;Rain\n",
        "path\ttitle\r\na.mp4\tRain\r\n",
        "\ufeffpath,title\na.mp4,Rain\n",
        "Title,PATH,,\nRain,a.mp4,,\n\n,,,\n",
        '"title","path"\n"Rain","a.mp4"',
        "\npath,title\na.mp4, Rain \n",
        'path,title\na.mp4,"Rain\n"\n',
    ],
)
def test_what_spreadsheets_write_is_read_the_same(tmp_path: Path, content: str) -> None:
    assert rows(tmp_path, content) == [("a.mp4", {"title": "Rain"})]


def test_known_columns_are_known_in_any_case_and_both_spellings(tmp_path: Path) -> None:
    content = "Path,License,LANGUAGE,Site\na.mp4,CC0,de,x\n"
    assert rows(tmp_path, content) == [("a.mp4", {"licence": "CC0", "language": "de", "Site": "x"})]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "is blank"),
        ("\n \n", "is blank"),
        ("title\nRain\n", "no column path"),
        ("a.mp4,Rain\n", "no column path"),
        ("path,site,site\na,b,c\n", 'two columns called "site"'),
        ("path,Licence,license\na,b,c\n", 'two columns called "licence"'),
        ("path,path\na,b\n", 'two columns called "path"'),
        ("path,title\na.mp4,Rain,more\n", "line 2: 3 cells where the header has 2"),
        ("path,title\n,Rain\n", "line 2: path is missing"),
        ("path,,title\na.mp4,x,y\n", "line 2: \"x\" stands under no name"),
        ('path,title\na.mp4,"Rain\n', "a quote is never closed"),
        ('path,title\na.mp4,"Rain" x\n', "line 2"),
        ("path,title\na.mp4,R\0ain\n", "line 2: holds a NUL"),
        (b"path,title\na.mp4,\xfcber\n", "line 2: is not UTF-8"),
        ("path,title\na.mp4,Rain\n".encode("utf-16"), "not UTF-8"),
        (f"path,title\na.mp4,{'x' * 2001}\n", '"title" is longer than 2,000'),
        (f"path,title\na.mp4,{'x' * 150_000}\n", "longer than 2,000"),
        (f"path,category\na.mp4,{'x' * 61}\n", "longer than 60"),
        (f"path,{'x' * 61}\na.mp4,y\n", "a name of more than 60"),
        (f"path{',x' * 64}\n", "65 columns"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_for_sure_is_one_line(
    tmp_path: Path, content: str | bytes, why: str
) -> None:
    with pytest.raises(BadInput) as wrong:
        read_table(written(tmp_path, content))
    assert why in str(wrong.value)
    assert str(wrong.value).startswith(str(tmp_path / "videos.csv"))
    assert str(wrong.value).isprintable()


def test_a_file_of_any_size_is_refused_after_so_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, "path,title\n")
    os.truncate(file, facts.LARGEST + 1)
    with pytest.raises(BadInput, match="larger than 64 MB"):
        read_table(file)


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "lost").symlink_to("nowhere")
    for name, why in (("pipe", "is a "), ("lost", "leads nowhere"), ("", "is a folder")):
        with pytest.raises(BadInput, match=why):
            read_table(tmp_path / name)


@pytest.mark.parametrize(
    "char", ["\x07", "\x1b", "\u202e", "\u2067", "\ufeff", "\U000e0041", "\x9b"]
)
def test_what_nobody_sees_is_left_out(char: str) -> None:
    assert clean(f"a{char}b") == "ab"


@settings(max_examples=50)
@given(st.text())
def test_a_cleaned_cell_is_one_line_and_stays_as_it_is(text: str) -> None:
    once = clean(text)
    assert len(once.splitlines()) <= 1
    assert not set(once) & {"\x1b", "\x07", "\u202e", "\U000e0041", "\ud800"}
    assert clean(once) == once
