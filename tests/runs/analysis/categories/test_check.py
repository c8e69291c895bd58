"""Precision and recall of a classifier are what one counts by hand; sheets come back as filled."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

import videoautoarena as va
from tests.support.clips import draw_folder
from tests.support.played import battle, invoke, put_tags, slot, video
from tests.support.played import play as played
from tests.support.small_runs import altered, play
from tests.support.whole_runs import committed_keys
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import QUESTION_CATEGORIES
from videoautoarena.runs.analysis.categories.check import (
    Said,
    check_comparable,
    check_rows,
    checked_classifier,
)
from videoautoarena.runs.analysis.categories.tags import NONE, SHOWN
from videoautoarena.runs.run.rundir.reader import RunReader, open_run

VIDEOS = [f"v{k}" for k in range(8)]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagged run over two clips, which no test writes to."""
    place = tmp_path_factory.mktemp("ground")
    play(draw_folder(place / "videos", 2, seconds=3), place / "out", rounds=2)
    assert invoke("categories", "tag", place / "out", "--quiet").exit_code == 0
    return place / "out"


@pytest.fixture
def out(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground, tmp_path / "out"))


def of(word: str) -> Said:
    means = {"y": "yes", "n": "no", "?": "unknown"}
    return {"code": means[word]}  # type: ignore[dict-item]


def test_precision_and_recall_are_what_one_counts_by_hand() -> None:
    said = "yyyn?nny"
    truth = "yynyy?ny"
    rows = check_rows([*map(of, said)], [*map(of, truth)], VIDEOS)
    row = next(one for one in rows if one.category == "code")
    assert (row.truths, row.claims, row.both, row.unknown) == (5, 4, 3, 1)
    assert (row.precision.value, row.precision.n) == (0.75, 4)
    assert (row.recall.value, row.recall.n) == (0.6, 5)
    assert row.precision.low is not None
    assert 0 < row.precision.low < 0.75


def test_questions_about_one_video_are_one_cluster() -> None:
    said = [of("y")] * 8
    truth = [*[of("y")] * 6, *[of("n")] * 2]
    apart, together = (
        next(one for one in check_rows(said, truth, videos) if one.category == "code").precision
        for videos in (VIDEOS, ["v"] * 8)
    )
    assert apart.value == together.value == 0.75
    assert (together.low, together.high) == (0.0, 1.0)
    assert apart.low is not None
    assert apart.low > 0.3


def test_what_nobody_calls_yes_has_no_figure() -> None:
    (row,) = [r for r in check_rows([of("n")], [of("n")], ["v"]) if r.category == "code"]
    assert (row.precision.value, row.recall.value) == (None, None)


def test_a_model_that_agrees_wholly_has_precision_and_recall_of_one(out: Path) -> None:
    told = invoke("categories", "check", out, "--against", "offline:judge", "--quiet", "--json")
    found = json.loads(told.stdout)
    row = next(one for one in found["rows"] if one["category"] == "order and time")
    assert (row["precision"]["value"], row["recall"]["value"], row["unknown"]) == (1.0, 1.0, 0)
    shown = json.loads(invoke("categories", "show", out, "--json").stdout)
    assert shown["classifier"] == "offline:examiner"


def tagged(tmp_path: Path, **read: int) -> Path:
    """Return a run of which each classifier read so many questions, one after another."""
    films = [video(str(k).encode()) for k in range(6)]
    out = played(tmp_path / "out", [battle(slot(film, 0)) for film in films], videos=films)
    texts = [(film.id, "What is in the pan in round 0?") for film in films]
    for name, count in read.items():
        put_tags(out, {place: ["code"] for place in texts[:count]}, classifier=name)
    return out


def checked(out: Path, against: str) -> str:
    with open_run(out) as run:
        return checked_classifier(run, against)


def test_checked_is_who_tagged_the_run_before_the_other_model_however_much_that_one_read(
    tmp_path: Path,
) -> None:
    out = tagged(tmp_path, first=2, second=4, strong=6)
    assert checked(out, "strong") == checked(out, "second") == checked(out, "new") == "first"


def test_a_model_that_alone_tagged_the_run_is_held_against_nobody(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="first is the classifier of this run; pass another model"):
        checked(tagged(tmp_path, first=2), "first")


def test_the_first_of_two_is_held_against_the_other_and_of_more_they_are_named(
    tmp_path: Path,
) -> None:
    assert checked(tagged(tmp_path / "two", first=2, second=1), "first") == "second"
    out = tagged(tmp_path / "three", first=2, second=1, third=3)
    with pytest.raises(BadInput, match="tagged this run first, and second, third did after it"):
        checked(out, "first")


def test_a_model_that_tagged_more_than_the_classifier_is_compared_with_it(tmp_path: Path) -> None:
    out = tagged(tmp_path, **{"few": 2, "offline:judge": 6})
    told = invoke("categories", "check", out, "--against", "offline:judge", "--quiet", "--json")
    found = json.loads(told.stdout)
    assert (found["classifier"], found["against"]) == ("few", "offline:judge")


@pytest.mark.parametrize("typed", [(), ("--plan",)])
def test_what_cannot_be_compared_is_refused_before_anybody_is_asked(
    out: Path, typed: tuple[str, ...]
) -> None:
    before = committed_keys(out)
    again = ("--against", "offline:examiner", "--quiet", *typed)
    told = invoke("categories", "check", out, *again, "--seed", 1)
    assert "is the classifier of this run" in str(told.exception)
    with altered(out) as file:
        file.execute("DELETE FROM tags")
    told = invoke("categories", "check", out, *again)
    assert "is tagged; first: arena categories tag" in str(told.exception)
    assert committed_keys(out) == before


def test_a_sample_without_a_tagged_question_is_refused_before_anybody_is_asked(
    tmp_path: Path,
) -> None:
    out = tagged(tmp_path, first=1)
    with open_run(out) as run:
        said = [_refusal(run, seed) for seed in range(20)]
    assert set(said) == {"", "no question of the sample is tagged by first; pass a larger sample="}


def _refusal(run: RunReader, seed: int) -> str:
    try:
        check_comparable(run, "new", sample=1, seed=seed)
    except BadInput as wrong:
        return str(wrong)
    return ""


def test_a_sheet_comes_back_as_people_filled_it_in(out: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    assert invoke("categories", "check", out, "--to", sheet, "--sample", 6).exit_code == 0
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert not any(row[name] for row in rows for name in QUESTION_CATEGORIES)
    for row, word in zip(rows, ("yes", "NO", "y", "[no]", "", "Yes."), strict=True):
        row["code"] = word
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    told = invoke("categories", "check", out, "--against", sheet, "--json")
    found = json.loads(told.stdout)
    code = next(one for one in found["rows"] if one["category"] == "code")
    assert (found["questions"], code["truths"], code["claims"]) == (5, 3, 0)
    assert code["recall"]["value"] == 0.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "has no column question"),
        ("question\nq1\n", "no column of a category"),
        ("question,code\nq1,perhaps\n", "row 1: code is"),
        ("question,code\nq1,yes\nq1,no\n", "row 2: question"),
        ("question,code\nq1,yes\n", "says nothing of any question"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_one_line(out: Path, text: str, words: str) -> None:
    sheet = out.parent / "odd.csv"
    sheet.write_text(text)
    told = invoke("categories", "check", out, "--against", sheet)
    assert isinstance(told.exception, Exception)
    assert words in str(told.exception)


def test_either_a_sheet_is_written_or_somebody_is_compared_with(out: Path) -> None:
    assert invoke("categories", "check", out).exit_code == 2
    assert invoke("categories", "check", out, "--to", "a.csv", "--against", "b").exit_code == 2
    assert invoke("categories", "check", out, "--to", "a.txt").exit_code == 2


def test_the_report_counts_every_tagged_question_once_and_battles_in_each_category(
    out: Path,
) -> None:
    found = json.loads(invoke("categories", "show", out, "--json").stdout)
    counts = {one["category"]: one for one in found["counts"]}
    names = list(counts)[:-1]
    for k, name in enumerate(names):
        assert found["overlap"][k][k] == counts[name]["questions"]
        assert counts[name]["share"]["n"] == found["tagged"]
    groups = {group["name"]: group for group in found["groups"]}
    places = [place for place in groups["all"]["places"] if place["place"] is not None]
    assert sorted(place["place"] for place in places) == [1, 2, 3]
    for group in groups.values():
        assert group["is_thin"] == (group["battles"] < 100)
        for place in group["places"]:
            # Two clips tell nothing of style.
            assert place["style_place"] is place["style_rating"] is place["moved"] is None


@pytest.mark.parametrize("width", [60, 120])
def test_the_report_fits_its_width(out: Path, width: int) -> None:
    told = invoke("categories", "show", out, width=width)
    assert told.exit_code == 0
    assert max(map(len, told.stdout.splitlines())) <= width
    assert "order and time" in told.stdout


def test_the_board_by_category_is_a_command_of_its_own(out: Path) -> None:
    told = invoke("leaderboard", out, "--by", "question-category", "--json")
    found = json.loads(told.stdout)
    shown = json.loads(invoke("categories", "show", out, "--json").stdout)
    groups = {one["name"]: one["battles"] for one in shown["groups"][1:]}
    assert found["by"] == "question-category"
    assert {one["slice"]: one["battles"] for one in found["slices"]} == groups
    assert "order and time" in invoke("leaderboard", out, "--by", "question-category").stdout


def test_python_returns_what_the_command_shows(out: Path) -> None:
    with va.open_run(out) as run:
        found = run.categories()
        with pytest.raises(va.BadInput, match="tagged by nobody; it is by offline:examiner"):
            run.categories("nobody")
    assert found.to_json() == json.loads(invoke("categories", "show", out, "--json").stdout)
    assert str(found) == invoke("categories", "show", out).stdout.removesuffix("\n")
    rows = {row["category"]: row for row in found}
    assert [*rows] == [*SHOWN.values(), NONE]
    assert rows["order and time"]["questions"] > 0
    assert rows["code"]["both_bad_share"] is None
    lines = csv.DictReader(found.to_markup("csv").splitlines())
    assert [int(line["battles"]) for line in lines] == [row["battles"] for row in found]
    assert "<td>captioning</td>" in found.to_markup("html")
