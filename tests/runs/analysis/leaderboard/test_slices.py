"""Slices of a run: which battles stand in which, how honest each board is, how they are shown."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.runs.rating.test_table import season
from tests.support.played import battle, invoke, judging, lineage, play, put_tags, slot, video
from tests.support.sliced import build_slices
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import CATEGORIES, Battle
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.runs.analysis.categories.tags import NONE, UNTAGGED
from videoautoarena.runs.analysis.leaderboard.slices import (
    QUESTION_CATEGORY,
    known_of,
)
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.rating.method import THIN, RatingMethod
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.views.results.forms import ReportView, as_text
from videoautoarena.runs.views.results.slices import slices_report

CAST = ["hawk", "owl", "mole"]


def slices(battles: list[Battle], by: Any) -> dict[str, dict[str, Any]]:
    return {part.name: fields_json(part) for part in build_slices(battles, CAST, by=by).parts}


def changed(*changes: dict[str, Any]) -> list[Battle]:
    return [battle(slot(video(), k), **change) for k, change in enumerate(changes)]


@pytest.mark.parametrize(
    ("duration_s", "name"),
    [
        (0.5, "up to 8 s"),
        (8.0, "up to 8 s"),
        (8.01, "8-15 s"),
        (60.0, "15-60 s"),
        (180.0, "60-180 s"),
        (601.0, "600-900 s"),
        (7200.0, "above 3600 s"),
    ],
)
def test_a_duration_bucket_holds_its_upper_end(duration_s: float, name: str) -> None:
    assert list(slices(changed({"duration_s": duration_s}), "duration")) == [name]


def test_slices_stand_in_their_natural_order_and_empty_ones_are_left_out() -> None:
    battles = changed(*({"category": c} for c in ("other", "STEM", "Movies")))
    assert list(slices(battles, "category")) == ["Movies", "STEM", "other"]
    assert set(slices(battles, "category")) < set(CATEGORIES)


def test_the_tenth_round_stands_behind_the_second() -> None:
    battles = [battle(slot(video(), k)) for k in range(11)]
    assert list(slices(battles, "round")) == [f"q{k}" for k in range(11)]


def test_personas_are_told_by_their_distance() -> None:
    battles = changed({"persona": 3}, {"persona": 1})
    assert list(slices(battles, "persona")) == ["P1 close", "P3 unrelated"]


def test_evolved_battles_are_told_apart_by_whom_the_question_was_aimed_at() -> None:
    pairs = [("hawk", "owl"), ("mole", "owl"), ("mole", "parrot")]
    battles = changed(*({"origin": "evolved", "aimed_at": pair} for pair in pairs))
    parts = slices([*battles, *changed({"origin": "first", "aimed_at": None})], "origin")
    assert {name: part["battles"] for name, part in parts.items()} == {
        "first": 1, "evolved": 3, "aimed at both": 1, "aimed at one": 1, "aimed at neither": 1,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_slices_that_overlap_say_so(tmp_path: Path, form: str) -> None:
    out = play(tmp_path / "out", lineage(video()))
    told = invoke("leaderboard", out, "--by", "origin", "--format", form, "--notes").output
    assert "aimed at ..: battles of evolved questions" in told.replace("\\", "")
    told = invoke("leaderboard", out, "--by", "round", "--format", form, "--notes").output
    assert "once more" not in told


def test_a_void_that_never_came_to_a_question_is_counted_as_unknown() -> None:
    lost = {"category": None, "origin": None, "question": None, "verdict": "void", "reason": "x"}
    for by in ("category", "origin", "format"):
        (part,) = slices(changed(lost), by).values()
        assert (part["slice"], part["battles"]) == ("unknown", 0)
        assert part["settings"]["totals"]["voids"] == 1


@pytest.mark.parametrize("by", ["duration", "category", "round", "persona", "format"])
def test_every_battle_stands_in_one_slice(by: Any) -> None:
    battles = season(12) + lineage(video())
    parts = slices(battles, by).values()
    assert sum(part["settings"]["totals"]["battles"] for part in parts) == len(battles)


def test_the_board_of_a_slice_is_the_one_its_battles_alone_would_have() -> None:
    part = slices(season(12), "duration")["up to 8 s"]
    alone = build(season(12), CAST).to_json()
    for row in part["models"]:
        row["flags"].remove(THIN)
    assert {key: part[key] for key in ("models", "components", "settings")} == {
        key: alone[key] for key in ("models", "components", "settings")
    }


def test_cells_are_flagged_below_a_hundred_battles() -> None:
    part = slices(season(25), "duration")["up to 8 s"]
    flagged = {row["model"]: THIN in row["flags"] for row in part["models"]}
    assert {row["battles"] for row in part["models"]} == {100, 150}.union({100})
    assert not any(flagged.values())
    thin = slices(season(19), "duration")["up to 8 s"]
    assert {row["model"] for row in thin["models"] if THIN in row["flags"]} == {"hawk", "mole"}
    assert (part["flags"], thin["flags"]) == ([], [])


def test_a_slice_says_whatever_is_doubtful_about_any_of_its_rows() -> None:
    battles = changed({}, {"model_a": "mole", "model_b": "parrot"})
    (part,) = slices(battles, "category").values()
    assert part["flags"] == [THIN, "not comparable", "one-sided", "too few videos to rank"]
    assert part["components"] == [["hawk", "owl"], ["mole", "parrot"]]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()))


def test_json_holds_every_board_and_what_holds_of_the_run(tmp_path: Path) -> None:
    slots = [slot(video(), k) for k in range(2)]
    out = play(tmp_path / "out", [battle(slots[0])], slots=slots)
    table = json.loads(invoke("leaderboard", out, "--by", "round", "--json").output)
    assert list(table) == ["schema", "by", "slices", "audit"]
    (part,) = table["slices"]
    assert list(part) == [
        *("slice", "battles", "both_bad_share", "flags"),
        *("models", "components", "settings", "leads"),
    ]
    assert "the run is not finished: 1 of 2 slots to go" in part["settings"]["warnings"]


def test_the_cross_table_shows_ratings_on_how_many_battles_and_says_what_its_words_mean(
    out: Path,
) -> None:
    shown = invoke("leaderboard", out, "--by", "round").output
    lines = [line.split() for line in shown.splitlines()]
    assert lines[0] == ["by", "round", "q0", "q1", "q2"]
    assert ["battles", "1", "1", "1"] in lines
    (mole,) = (line for line in lines if line[:1] == ["mole"])
    assert mole[1] == "–"
    assert re.fullmatch(r"one-sided \d+ \(1\)", " ".join(mole[2:5]))
    said = (
        "ratings of fewer than 100 battles are rough.",
        "Too few to rank, with fewer than 10 videos: every slice.",
        "one-sided: points between it and others went only one way.",
        "stand-ins",
        "gaps",
    )
    for words in said:
        assert words in shown


def test_slices_too_few_to_rank_are_named_where_others_are_not() -> None:
    many = [
        battle(slot(video(f"clip {k}"), 0), verdict="ab"[k % 2], category=category)
        for category, count in (("Movies", 12), ("STEM", 2))
        for k in range(count)
    ]
    shown = as_text(slices_report(build_slices(many, CAST, by="category")))
    assert "Too few to rank, with fewer than 10 videos: STEM." in shown


@pytest.mark.parametrize("width", [40, 80, 200])
def test_nothing_is_cut_off_whatever_the_width(width: int) -> None:
    traits = [{"category": c, "model_a": "a name of some length"} for c in CATEGORIES]
    console = Console(file=io.StringIO(), width=width)
    sliced = build_slices(changed(*traits), CAST, by="category")
    console.print(ReportView(slices_report(sliced)))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    for name in CATEGORIES:
        assert name in shown


def test_csv_has_a_row_for_every_model_of_every_slice(out: Path) -> None:
    text = invoke("leaderboard", out, "--by", "round", "--format", "csv").output
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["slice"], row["model"]) for row in rows[:3]] == [
        ("q0", "hawk"), ("q0", "owl"), ("q0", "mole"),
    ]  # fmt: skip
    assert len(rows) == 9
    assert (rows[0]["battles"], rows[2]["rating"]) == ("1", "")


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_a_pasted_cross_table_carries_its_notes(out: Path, form: str) -> None:
    text = invoke("leaderboard", out, "--by", "persona", "--format", form).output
    assert "P1 close" in text
    assert "stand" in text
    assert "fewer than 100 battles" in text


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_a_run_without_battles_has_no_slice(tmp_path: Path, form: str) -> None:
    out = play(tmp_path / "out", [], slots=[slot(video(), 0)])
    result = invoke("leaderboard", out, "--by", "round", "--format", form)
    assert result.exit_code == 0


def by_standards(*verdicts: str, **each: list[str]) -> list[Battle]:
    """Return battles of hawk and owl that end so, and that each standard decides as it says."""
    return [
        battle(
            slot(video(f"clip {k}"), 0),
            verdict=verdict,
            verdicts=(
                judging(
                    seats="ab",
                    verdict=verdict,
                    standards={
                        name: each.get(name, verdicts)[k]
                        for name in STANDARDS
                        if each.get(name, verdicts)[k] != "abstain"
                    },
                ),
            ),
        )
        for k, verdict in enumerate(verdicts)
    ]


def test_by_standard_each_rates_the_battles_as_it_alone_decided_them() -> None:
    found = slices(by_standards("a", "a", "b", "a", accuracy=["b", "b", "b", "tie"]), "standard")
    assert list(found) == [
        *("instruction following", "accuracy", "relevance", "helpfulness"),
    ]
    wins = {name: part["models"][0] for name, part in found.items()}
    assert (wins["relevance"]["model"], wins["relevance"]["wins"]) == ("hawk", 3)
    assert (wins["accuracy"]["model"], wins["accuracy"]["wins"]) == ("owl", 3)
    assert wins["accuracy"]["ties"] == 1


def test_a_standard_tells_how_often_it_decides_as_the_verdict_does() -> None:
    each = {"accuracy": ["b", "b", "a", "tie"], "helpfulness": ["a", "tie", "a", "tie"]}
    found = slices(by_standards("a", "b", "a", "tie_bad", **each), "standard")
    shares = {name: part["agreement"]["value"] for name, part in found.items()}
    assert shares == {
        "instruction following": 1.0, "relevance": 1.0, "accuracy": 0.75, "helpfulness": 0.75,
    }  # fmt: skip
    bad = [thing["both_bad_share"] for part in found.values() for thing in (part, *part["models"])
           if "both_bad_share" in thing]  # fmt: skip
    assert {share["value"] for share in bad} == {None}


def test_the_agreement_of_a_standard_knows_which_battles_share_a_video() -> None:
    apart = by_standards(*"ab" * 6, accuracy=[*"ab" * 5, *"ba"])
    together = [one.model_copy(update={"video": "v"}) for one in apart]
    one, each = (slices(some, "standard")["accuracy"]["agreement"] for some in (together, apart))
    assert one["value"] == each["value"] == pytest.approx(10 / 12)
    assert (one["low"], one["high"]) == (0.0, 1.0)
    assert each["low"] > 0.4


def test_what_a_judge_could_not_tell_by_a_standard_is_no_tie() -> None:
    found = slices(by_standards("a", "b", accuracy=["abstain", "b"]), "standard")
    assert found["accuracy"]["battles"] == 1
    assert found["accuracy"]["settings"]["totals"]["voids"] == 1
    assert found["accuracy"]["agreement"]["n"] == 1


def test_a_standard_may_decide_what_the_verdict_did_not_and_nothing_that_was_forfeit() -> None:
    void = by_standards("a")[0].model_copy(update={"verdict": "void", "reason": "x"})
    lost = battle(slot(video("lost"), 0), verdict="forfeit_a", reason="x", verdicts=())
    found = slices([void, lost], "standard")["accuracy"]
    assert (found["battles"], found["agreement"]["n"]) == (1, 0)


@pytest.mark.parametrize(("both", "ties"), [(False, 0), (True, 1)])
def test_seatings_that_contradict_each_other_split_a_standard_where_both_count(
    both: bool, ties: int
) -> None:
    panel = (
        judging(seats="ab", standards={"accuracy": "a"}),
        judging(seats="ba", standards={"accuracy": "b"}),
    )
    played = [battle(slot(video(), 0), verdicts=panel)]
    table = build_slices(played, CAST, by="standard", seats_count=both)
    accuracy = next(part for part in table.parts if part.name == "accuracy")
    assert accuracy.board.models[0].ties == ties


def test_a_panel_decides_each_standard_by_its_plurality() -> None:
    votes = [{"accuracy": "a"}, {"accuracy": "b"}, {"accuracy": "b"}]
    panel = tuple(
        judging(judge=f"j{k}", seats="ab", standards=vote) for k, vote in enumerate(votes)
    )
    found = slices([battle(slot(video(), 0), verdicts=panel)], "standard")
    assert found["accuracy"]["models"][0]["model"] == "owl"
    assert found["relevance"]["settings"]["totals"]["voids"] == 1


def test_a_run_whose_judge_was_not_asked_by_standard_says_so() -> None:
    with pytest.raises(BadInput, match="the judges of this run gave no verdict by standard"):
        build_slices([battle(slot(video(), 0))], CAST, by="standard")


def test_by_standard_is_shown_with_the_agreement_in_the_place_of_both_bad() -> None:
    table = build_slices(by_standards("a", "b", "a"), CAST, by="standard")
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(ReportView(slices_report(table), notes=True))
    told = console.export_text()
    assert "as overall %" in told
    assert "both bad" not in told
    assert "how often the verdict by that standard alone equals the overall verdict" in told


def test_a_slice_without_refusals_needs_neither_answer_to_refuse() -> None:
    refuses = "I can't help with that."
    battles = [
        battle(slot(video(), k), origin="first", verdict=verdict, **answers)
        for k, (verdict, answers) in enumerate(
            [
                ("a", {}),
                ("tie_bad", {"answer_a": refuses, "answer_b": refuses}),
                ("a", {"answer_b": refuses}),
                ("b", {"answer_a": refuses}),
                ("tie_bad", {"answer_b": "The video does not show it."}),
            ]
        )
    ]
    method = RatingMethod(without=("refusals",))
    [part] = build_slices(battles, [], by="origin", method=method).to_json()["slices"]
    assert part["battles"] == 2
    assert (part["both_bad_share"]["value"], part["both_bad_share"]["n"]) == (0.5, 2)
    [whole] = build_slices(battles, [], by="origin").to_json()["slices"]
    assert (whole["battles"], whole["both_bad_share"]["value"]) == (5, 0.4)


def test_a_battle_of_no_category_stands_under_none_and_one_without_a_tag_apart(
    tmp_path: Path,
) -> None:
    film = video()
    battles = [battle(slot(film, k)) for k in range(3)]
    tagged = {(film.id, one.question or ""): kinds
              for one, kinds in zip(battles, (["code", "humour"], []), strict=False)}  # fmt: skip
    out = play(tmp_path / "out", battles)
    put_tags(out, tagged)  # type: ignore[arg-type]
    with open_run(out) as run:
        known = known_of(run, QUESTION_CATEGORY)
    assert known is not None
    assert [sorted(known(one)) for one in battles] == [["code", "humour"], [NONE], [UNTAGGED]]
