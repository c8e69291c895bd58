"""The language that a question is asked in goes into a bench: items, card, strata, scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.small_benches import run_bench
from tests.support.small_runs import battles_of, play
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import Item


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run in two languages, and the bench of it."""
    place = tmp_path_factory.mktemp("languages")
    videos = draw_folder(place / "videos", 2, seconds=2)
    (videos / "videos.csv").write_text("path,language\nclip00.mp4,fr\nclip01.mp4,fr\n")
    play(videos, place / "out", rounds=1, languages=("de", "en"))
    frozen = invoke("freeze", place / "out", "--to", place / "bench", "--parquet")
    assert frozen.exit_code == 0, frozen.exception
    models = ("--model", "offline:owl", "--judge", "offline:judge")
    assert run_bench(place / "bench", *models, "--videos", videos).return_value == 0
    return place


def items(bench: Path) -> list[Item]:
    return [item for item in open_bench(bench).items if isinstance(item, Item)]


def test_each_item_says_what_its_battle_was_asked_in(ground: Path) -> None:
    spoken = {battle.id: battle.language for battle in battles_of(ground / "out")}
    assert {item.language for item in items(ground / "bench")} == {"de", "en"}
    assert all(item.language == spoken[item.battle or ""] for item in items(ground / "bench"))


def test_the_card_counts_questions_by_language(ground: Path) -> None:
    card = (ground / "bench" / "card.md").read_text()
    assert "| by language | questions |\n| --- | ---: |\n| de |" in card
    assert "| by language of the video | questions |\n| --- | ---: |\n| fr |" in card


def test_a_draw_is_even_over_languages(ground: Path) -> None:
    to = ground / "even"
    made = invoke("freeze", ground / "out", "--to", to, "--size", 4, "--by", "language")
    assert made.exit_code == 0
    assert sorted(str(item.language) for item in items(to)) == ["de", "de", "en", "en"]


def test_scores_are_parted_by_language(ground: Path) -> None:
    said = invoke("bench", "score", ground / "bench", "--by", "language", "--json")
    assert said.exit_code == 0, said.exception
    found = json.loads(said.output)
    assert [one["slice"] for one in found["slices"]] == ["de", "en"]
    assert "language.first.de" in {one["key"] for one in found["audit"]}


def test_an_item_without_a_language_is_written_as_before(ground: Path) -> None:
    item = items(ground / "bench")[0].model_copy(update={"language": None})
    assert "language" not in item.model_dump()
