"""A file's rows and a folder's videos: which belong together, and what the file's words become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import CATEGORIES, SkippedFile, Video, VideoFacts
from videoautoarena.runs.run.inputs.facts import NO_FACTS, Facts, read_facts
from videoautoarena.video.folder.find import Findings


def found(
    *paths: str, same: Sequence[tuple[str, str]] = (), broken: Sequence[str] = ()
) -> Findings:
    """Return a folder of videos whose ids are their places."""
    sizes = {"size_bytes": 1, "duration_s": 9.0, "width_px": 4, "height_px": 3, "fps": 25.0}
    videos = [
        Video(id=str(k), sha256=str(k), path=path, codec="h264", **sizes)  # type: ignore[arg-type]
        for k, path in enumerate(paths)
    ]
    skipped = [SkippedFile(path=path, reason="is damaged") for path in broken]
    return Findings(videos, skipped, list(same))


def facts(folder: Path, content: str, findings: Findings) -> Facts:
    (folder / "videos.csv").write_text(content, encoding="utf-8")
    return read_facts(folder, findings)


def test_a_folder_without_the_file_has_no_facts_and_the_ten_categories(tmp_path: Path) -> None:
    assert read_facts(tmp_path, found("a.mp4")) == NO_FACTS
    assert NO_FACTS.categories == CATEGORIES


def test_what_is_said_of_each_video_is_known_by_its_id(tmp_path: Path) -> None:
    content = "path,title,licence,site\nb.mp4,Rain,CC0,north\na.mp4,,,south\n"
    read = facts(tmp_path, content, found("a.mp4", "b.mp4", "c.mp4"))
    assert read.videos == {
        "1": VideoFacts(title="Rain", licence="CC0", columns={"site": "north"}),
        "0": VideoFacts(columns={"site": "south"}),
    }
    assert (read.cell("1", "licence"), read.cell("0", "site")) == ("CC0", "south")
    assert (read.cell("2", "site"), read.cell("0", "title")) == (None, None)


@pytest.mark.parametrize("path", ["./sub/ü.mp4", "sub\\ü.mp4", ".\\sub\\u\u0308.mp4", " sub/ü.mp4"])
def test_a_path_may_be_written_as_other_systems_write_it(tmp_path: Path, path: str) -> None:
    assert set(facts(tmp_path, f"path,title\n{path},Rain\n", found("sub/ü.mp4")).videos) == {"0"}


@pytest.mark.parametrize(
    "path", ["b.mp4", "A.mp4", "../a.mp4", "/a.mp4", "sub/../a.mp4", "=cmd|' /C calc'!A0", "a.mp4/"]
)
def test_a_row_of_no_video_is_refused_by_name(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput, match=r"line 3: .* is no video of the folder"):
        facts(tmp_path, f"path,title\na.mp4,Rain\n{path},Rain\n", found("a.mp4"))


def test_of_many_strangers_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    content = "path\n" + "".join(f"x{k}.mp4\n" for k in range(9))
    with pytest.raises(BadInput, match=r'"x0.mp4", "x1.mp4", "x2.mp4" and 6 more are no videos'):
        facts(tmp_path, content, found("a.mp4"))


@pytest.mark.parametrize("again", ["a.mp4", "./a.mp4", "copy.mp4"])
def test_a_video_has_one_row(tmp_path: Path, again: str) -> None:
    findings = found("a.mp4", same=[("copy.mp4", "a.mp4")])
    with pytest.raises(
        BadInput, match=r'line 3: "a.mp4|line 3: ".*\(line 2\): a video has one row'
    ):
        facts(tmp_path, f"path\na.mp4\n{again}\n", findings)


def test_a_row_of_a_file_that_cannot_be_used_is_passed_over(tmp_path: Path) -> None:
    read = facts(
        tmp_path, "path,title\na.mp4,Rain\nbad.mp4,Sun\n", found("a.mp4", broken=["bad.mp4"])
    )
    assert set(read.videos) == {"0"}


def test_categories_of_the_ten_are_read_in_any_spelling(tmp_path: Path) -> None:
    content = "path,category\na.mp4,Kochen\nb.mp4,travel guide\nc.mp4,Sonstiges\n"
    read = facts(tmp_path, content, found("a.mp4", "b.mp4", "c.mp4"))
    assert read.categories == CATEGORIES
    assert [one.category for one in read.videos.values()] == [
        "Cooking Recipes",
        "Travel Guides",
        "other",
    ]


def test_a_file_that_names_others_has_a_list_of_its_own(tmp_path: Path) -> None:
    content = "path,category\na.mp4,Sport\nb.mp4,Kochen\nc.mp4,sport\nd.mp4,Sonstiges\n"
    read = facts(tmp_path, content, found("a.mp4", "b.mp4", "c.mp4", "d.mp4"))
    assert read.categories == ("Sport", "Kochen", "other")
    said = [one.category for one in read.videos.values()]
    assert said == ["Sport", "Kochen", "Sport", "other"]


def test_too_many_categories_are_no_list_to_choose_from(tmp_path: Path) -> None:
    paths = [f"{k}.mp4" for k in range(51)]
    content = "path,category\n" + "".join(f"{path},kind {path}\n" for path in paths)
    with pytest.raises(BadInput, match="51 different categories; 50 are the most"):
        facts(tmp_path, content, found(*paths))


def test_none_leaves_the_file_unread_and_a_name_reads_another(tmp_path: Path) -> None:
    (tmp_path / "videos.csv").write_text("nonsense")
    (tmp_path / "own.csv").write_text("path,title\na.mp4,Rain\n")
    assert read_facts(tmp_path, found("a.mp4"), "none") == NO_FACTS
    read = read_facts(tmp_path, found("a.mp4"), str(tmp_path / "own.csv"))
    assert (read.is_beside, read.videos["0"].title) == (False, "Rain")
    with pytest.raises(BadInput, match="there is no file"):
        read_facts(tmp_path, found("a.mp4"), str(tmp_path / "no.csv"))
