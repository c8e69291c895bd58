"""What `arena realism` says of a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import videoautoarena as va
from tests.support.pages import first_column, section
from tests.support.played import battle, invoke, lineage, play, put_tags, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.analysis.realism.report import RealismOptions, realism_of

ASKED = ("How many boats lie there?", "Why is the kite red?", "Give me a table of the stalls.")


def ran(out: Path, *, videos: int = 12) -> Path:
    """Return a run of three questions on each of its videos, which hawk and owl win in turns."""
    films = [video(f"clip {k}".encode(), path=f"clips/{k}.mp4") for k in range(videos)]
    battles = [
        battle(
            slot(film, round_),
            question=ASKED[(k + round_) % 2],
            verdict="ab"[(k + round_) % 2],
            model_b=("owl", "mole")[round_ % 2],
        )
        for k, film in enumerate(films)
        for round_ in range(3)
    ]
    return play(out, battles, videos=films)


def written(file: Path, *, questions: int = 60, **said: Any) -> Path:
    """Return a file of real questions, the same ones but for tables."""
    lines = [
        json.dumps({"question": ASKED[k % 3], "video": f"clips/{k % 20}.mp4", **said})
        for k in range(questions)
    ]
    file.write_text("\n".join(lines))
    return file


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("realism")
    ran(folder / "out")
    written(folder / "real.jsonl")
    return folder


def test_sides_tests_and_boards_are_of_the_run_and_the_file(ground: Path) -> None:
    found = realism_of(ground / "out", ground / "real.jsonl")
    assert found.simulated[:2] == (36, 12)
    assert found.real[:2] == (60, 20)
    assert found.shared_videos == 12
    assert "form" in found.told_apart
    assert found.mix is not None
    assert [(one.form, one.real) for one in found.mix.lacking] == [("table", pytest.approx(1 / 3))]
    assert found.boards is not None
    assert found.boards.as_played.settings.reweighted is None
    reweighted = found.boards.real_mix.settings.reweighted
    assert reweighted is not None
    assert reweighted.effective_battles == found.mix.effective_battles


def test_json_is_what_python_gives(ground: Path) -> None:
    said = json.loads(
        invoke("realism", ground / "out", "--against", ground / "real.jsonl", "--json").stdout
    )
    assert said["schema"] == 1
    found = va.open_run(ground / "out").realism(ground / "real.jsonl")
    assert json.loads(json.dumps(found.to_json())) == said
    assert found.told_apart == said["told_apart"]
    assert found.real_mix is not None
    assert found.as_played is not None
    assert found.real_mix.to_json() == said["boards"]["real_mix"]
    assert "Battles are weighted to the mix of the real questions" in found.real_mix.to_text()


def test_text_holds_both_tables_and_fits_80_columns(ground: Path) -> None:
    said = invoke("realism", ground / "out", "--against", ground / "real.jsonl").stdout
    found = va.open_run(ground / "out").realism(ground / "real.jsonl")
    assert found.to_text() == said.removesuffix("\n")
    assert max(map(len, said.splitlines())) <= 80
    for part in (
        "36 simulated questions on 12 videos, 60 real questions on 20 videos; 12 in",
        "Told apart by",
        "33.3 % (",
        "The board by the real mix is worth little: its battles count as 36.",
        "real mix",
        "Real mix: 36 battles weighted by category and form",
        "This run lacks none of these / table 33.3 %.",
        "note: intervals by the real mix take its shares for known.",
    ):
        assert part in said


def test_python_gives_rows_and_tables_to_paste(ground: Path) -> None:
    found = va.open_run(ground / "out").realism(ground / "real.jsonl", seed=3, permutations=999)
    assert {row["trait"] for row in found} == {
        *("length", "form", "category", "vagueness", "language"),
    }
    lines = found.to_markup("csv").splitlines()
    assert lines[0].startswith("trait,value,held_p,differs,simulated_value,simulated_low")
    assert len(lines) == 1 + len(found)
    for form in ("markdown", "latex", "html"):
        pasted = found.to_markup(form)  # type: ignore[arg-type]
        assert "hawk" in pasted
        assert "vagueness" in pasted
    assert found.warnings == found.to_json()["warnings"]


def test_the_same_seed_says_the_same(ground: Path) -> None:
    first, second = (
        realism_of(ground / "out", ground / "real.jsonl", RealismOptions(seed=5)) for _ in "ab"
    )
    assert first == second


def test_the_files_categories_count_where_they_are_asked_for(ground: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "real.jsonl", category="birdsong")
    by_words = realism_of(ground / "out", file)
    assert by_words.real.categories == by_words.simulated.categories == "words"
    own = realism_of(ground / "out", file, RealismOptions("file"))
    assert (own.simulated.categories, own.real.categories) == ("words", "file")
    assert "birdsong" in {row.value for one in own.traits for row in one.values}
    assert any("may lie in the telling" in line for line in own.warnings)
    assert own.mix is own.boards is None
    assert "no battle stands in a cell" in " ".join(own.warnings)


def test_tags_of_the_run_meet_the_categories_of_the_file(tmp_path: Path) -> None:
    out = ran(tmp_path / "out")
    file = written(tmp_path / "real.jsonl", category="Text_on-Screen")
    films = [video(f"clip {k}".encode()).id for k in range(12)]
    put_tags(out, {(film, text): ("text_on_screen",) for film in films for text in ASKED})
    found = realism_of(out, file)
    assert (found.simulated.categories, found.real.categories) == ("tags", "file")
    (row,) = next(one.values for one in found.traits if one.trait == "category")
    assert (row.value, row.simulated.value, row.real.value) == ("text on screen", 1.0, 1.0)
    assert realism_of(out, file, RealismOptions("words")).simulated.categories == "words"
    without = realism_of(out, written(tmp_path / "plain.jsonl"))
    assert (without.simulated.categories, without.real.categories) == ("words", "words")


def test_too_few_videos_are_said_and_no_test_is_made(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    found = realism_of(out, written(tmp_path / "real.jsonl"))
    assert found.told_apart == ()
    assert {one.p for one in found.traits} == {None}
    assert any("a test needs 8 videos on either side" in line for line in found.warnings)
    said = invoke("realism", out, "--against", tmp_path / "real.jsonl").stdout
    assert "There is too little of either to tell them apart." in said


def test_questions_that_are_alike_are_not_told_apart_and_that_proves_nothing(
    ground: Path, tmp_path: Path
) -> None:
    lines = [
        json.dumps({"question": ASKED[(k + r) % 2], "video": f"clips/{k}.mp4"})
        for k in range(12)
        for r in range(3)
    ]
    (tmp_path / "real.jsonl").write_text("\n".join(lines))
    said = invoke("realism", ground / "out", "--against", tmp_path / "real.jsonl").stdout
    assert "Not told apart by any of 3 traits, which is no proof that they are alike." in said
    assert "repeated word for word" in said


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--cap", "1"), 2, "a cap of 1 cannot be"),
        (("--cap", "nan"), 2, "a cap of nan cannot be"),
        (("--permutations", "99"), 2, "99 permutations cannot be; give 999 to 100,000"),
        (("--seed", "-1"), 2, "a seed of -1 cannot be"),
        (("--categories", "file"), 1, "no line of the file has a category"),
    ],
)
def test_a_wrong_wish_is_one_line(
    ground: Path, words: tuple[str, ...], code: int, why: str
) -> None:
    from videoautoarena.memory.records.errors import ArenaError, WrongArgument

    said = invoke("realism", ground / "out", "--against", ground / "real.jsonl", *words)
    assert isinstance(said.exception, ArenaError)
    assert isinstance(said.exception, WrongArgument) == (code == 2)
    assert why in str(said.exception)


def test_python_refuses_another_word_for_categories(ground: Path) -> None:
    with pytest.raises(BadInput, match="auto, file or words"):
        va.open_run(ground / "out").realism(ground / "real.jsonl", categories="model")  # type: ignore[arg-type]


def test_a_run_without_a_question_is_refused(tmp_path: Path) -> None:
    film = video()
    void = battle(slot(film, 0), question=None, verdict="void", reason="no question")
    out = play(tmp_path / "out", [void])
    with pytest.raises(BadInput, match="holds no question yet"):
        realism_of(out, written(tmp_path / "real.jsonl"))


def test_nothing_is_written_beside_the_run_or_the_file(ground: Path) -> None:
    before = {path: path.read_bytes() for path in ground.rglob("*") if path.is_file()}
    realism_of(ground / "out", ground / "real.jsonl")
    assert {path: path.read_bytes() for path in ground.rglob("*") if path.is_file()} == before


def test_what_the_command_prints_is_written_down_field_by_field(ground: Path) -> None:
    file = ground / "real.jsonl"
    found = json.loads(invoke("realism", ground / "out", "--against", file, "--json").stdout)
    text, trait, mix = (
        section("records.md", name) for name in ("Realism", "A trait of questions", "The real mix")
    )
    assert first_column(text) == list(found)
    assert first_column(trait) == list(found["traits"][0])
    assert first_column(mix) == list(found["mix"])
    for words, inside in (
        (text, {*found["simulated"], *found["boards"]}),
        (trait, {*found["traits"][0]["values"][0], *(of["trait"] for of in found["traits"])}),
        (mix, {*found["mix"]["cells"][0], *found["mix"]["lacking"][0]}),
    ):
        assert inside <= set(re.findall(r"`(\w+)`", words))
