"""What a file says of the videos goes into a bench: items, card, strata, scores by part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.small_benches import run_bench
from tests.support.small_runs import play
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import Item, part_of, question_bytes

EVIL = "=1+1 | <b>x</b> | [a](http://x.example)"
CONTENT = f"""path,title,category,language,licence,site,=SUM(A1)
clip00.mp4,Rain,Sport,de,CC0,north,{EVIL}
clip01.mp4,,,,,south,y
"""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run over two videos, and the bench of it."""
    place = tmp_path_factory.mktemp("facts")
    videos = draw_folder(place / "videos", 2, seconds=2)
    (videos / "videos.csv").write_text(CONTENT)
    play(videos, place / "out", rounds=1)
    assert invoke("freeze", place / "out", "--to", place / "bench").exit_code == 0
    return place


def scored(bench: Path, *typed: str) -> Result:
    return invoke("bench", "score", bench, *typed)


def test_items_have_what_is_said_of_their_video_and_the_others_no_word(ground: Path) -> None:
    opened = open_bench(ground / "bench")
    paths = {id_: video.path for id_, video in opened.manifest.videos.items()}
    said = {paths[item.video_id]: item.facts for item in opened.items if isinstance(item, Item)}
    assert said["clip00.mp4"] == {
        "title": "Rain", "language": "de", "licence": "CC0", "site": "north", "=SUM(A1)": EVIL,
    }  # fmt: skip
    assert said["clip01.mp4"] == {"site": "south", "=SUM(A1)": "y"}
    assert {item.category for item in opened.items if isinstance(item, Item)} == {"Sport", "other"}


def test_without_a_file_items_are_written_as_they_always_were(ground: Path) -> None:
    items = open_bench(ground / "bench").items
    plain = [item.model_copy(update={"facts": None}) for item in items]
    assert b'"facts"' in question_bytes(items)
    assert b'"facts"' not in question_bytes(plain)


def test_the_card_counts_by_column_and_no_cell_is_markup(ground: Path) -> None:
    card = (ground / "bench" / "card.md").read_text()
    assert "| by site | questions |" in card
    assert "| by licence | questions |" in card
    assert "\\<b\\>x\\</b\\> \\| \\[a\\]" in card
    assert "<b>" not in card


def test_a_draw_is_even_over_a_column(ground: Path) -> None:
    to = ground / "even"
    made = invoke("freeze", ground / "out", "--to", to, "--size", 2, "--by", "site")
    assert made.exit_code == 0
    assert sorted(part_of(item, "column:site") for item in open_bench(to).items) == [
        "north",
        "south",
    ]
    assert "Drawn evenly over site" in (to / "card.md").read_text()


def test_a_column_with_a_comma_in_its_name_is_quoted(ground: Path) -> None:
    wished = ("--size", 2, "--by", 'site,"=SUM(A1)"')
    assert invoke("freeze", ground / "out", "--to", ground / "quoted", *wished).exit_code == 0
    wrong = invoke("freeze", ground / "out", "--to", ground / "no", "--size", 2, "--by", '"a,b"')
    assert '"a,b" is none of' in str(wrong.exception)


@pytest.mark.parametrize("by", ["sites", "title", "duration,persona", ""])
def test_a_column_that_is_not_there_is_a_usage_error(ground: Path, by: str) -> None:
    made = invoke("freeze", ground / "out", "--to", ground / "no", "--size", 2, "--by", by)
    assert isinstance(made.exception, WrongArgument)
    known = "duration, category, topic, language, question-category"
    there = f"is none of {known}, column:language, licence, site, =SUM(A1)"
    assert there in str(made.exception)
    assert not (ground / "no").exists()


def test_scores_are_parted_by_a_column_and_a_wrong_one_is_refused(ground: Path) -> None:
    run_bench(ground / "bench", "--model", "offline:owl", "--videos", str(ground / "videos"))
    found = json.loads(scored(ground / "bench", "--by", "site", "--json").output)
    assert [one["slice"] for one in found["slices"]] == ["north", "south"]
    assert sum(one["items"] for one in found["slices"]) == found["items"]
    pasted = scored(ground / "bench", "--by", "=SUM(A1)", "--format", "csv").output
    assert ",=" not in pasted
    assert "'=1+1" in pasted
    wrong = scored(ground / "bench", "--by", "sites").exception
    assert isinstance(wrong, WrongArgument)
    assert "topic, language, =SUM(A1), column:language, licence, site" in str(wrong)
