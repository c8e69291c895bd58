"""Accuracy in dialogues is a mean of means; constants and the twin stand beside every score."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dialogue_results import GOOD, SILENT, N, Y, hand_in, line, said_alike
from tests.support.dialogue_sets import dialogue, turn, write_dialogues
from tests.support.played import invoke
from tests.support.told import summary_of
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.dialogues.score import (
    DialogueScore,
    compare_dialogues,
    score_dialogues,
    share_right,
)
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.schema import ABILITIES, TWIN, DialogueItem
from videoautoarena.runs.bench.kinds.scorings import read_any_board
from videoautoarena.runs.views.page.document import as_text


def only(bench: OpenBench[DialogueItem], **how: bool) -> DialogueScore:
    (row,) = score_dialogues(bench, **how).models
    return row


@pytest.fixture
def whole(tmp_path: Path) -> OpenBench[DialogueItem]:
    """A dialogue of each ability and a twin, about as many videos."""
    items = [
        dialogue(f"film{k}", k, ability=ability, duration_s=10.0 * k, is_cross_scene=bool(k % 2))
        for k, ability in enumerate((*ABILITIES, TWIN))
    ]
    return write_dialogues(tmp_path / "set", items)


def test_a_mean_of_rounds_then_dialogues_then_abilities(tmp_path: Path) -> None:
    # Object reference: (4/5 + 2/5) / 2 = .6 and (1 + 1) / 2 = 1, so .8. Memory recall: its one
    # scored dialogue has a round of 3 items, 1 right, and one without an answer: 1/6.
    first = dialogue("film1")
    second = dialogue("film2", 1)
    third = dialogue(
        "film3", 2, ability="memory_recall", rounds=[turn(1, 0, 0), turn(2, 2, 1), turn(3)]
    )
    bench = write_dialogues(tmp_path / "set", [first, second, third])
    lines = [
        line(first, 2, [Y, Y, N, N, N]), line(first, 3, [N, N, N, N, N]),
        line(second, 2, GOOD), line(second, 3, GOOD),
        line(third, 2, [N, N, N]), line(third, 3, None),
    ]  # fmt: skip
    hand_in(bench, "able", lines)
    row = only(bench)
    assert {one.ability: one.figure.value for one in row.abilities} == {
        "object_reference": 80.0, "memory_recall": 16.6667,
    }  # fmt: skip
    assert row.overall is not None
    assert row.overall.value == pytest.approx((80 + 100 / 6) / 2, abs=1e-3)
    assert row.lacking == ABILITIES[2:]
    assert (row.counts, row.missing) == ({"answered": 5, "forfeit": 1}, 0)


def test_constants_stand_beside_every_score(whole: OpenBench[DialogueItem]) -> None:
    hand_in(whole, "able", said_alike(whole, GOOD))
    scores = score_dialogues(whole)
    found = {one.name: one for one in scores.constants}
    assert {name: one.overall for name, one in found.items()} == {
        "all_yes": 60.0, "all_no": 40.0, "silence": 40.0, "refusal": 50.0,
    }  # fmt: skip
    assert found["refusal"].abilities["answer_refusal"] == 100.0
    assert found["refusal"].abilities[TWIN] == 0.0
    told = invoke("bench", "score", whole.folder).stdout
    for name in ("(all yes)", "(all no)", "(silence)", "(refuses all)"):
        assert name in told


def test_who_refuses_all_comes_to_what_it_is_said_to(tmp_path: Path) -> None:
    # The fourth item asks whether the reply denies the thing, and so does the fourth of a bored
    # user's round; nothing is known of the rounds of a summary.
    rounds = [turn(1, made={"denials": [4]})]
    items = [
        dialogue("film1", ability=TWIN, rounds=rounds),
        dialogue("film2", 1, ability="proactive_interaction", rounds=rounds),
        dialogue("film3", 2, ability="content_summary", rounds=[turn(1)]),
        dialogue("film4", 3, ability="answer_refusal", rounds=[turn(1, 2, 1)]),
    ]
    bench = write_dialogues(tmp_path / "set", items)
    said = [N, N, N, Y, N]
    lines = [line(item, 1, answers) for item, answers in zip(
        items, (said, said, SILENT, [Y, Y, N]), strict=True)]  # fmt: skip
    hand_in(bench, "shy", lines)
    row = only(bench)
    refusal = next(one for one in score_dialogues(bench).constants if one.name == "refusal")
    figures = [*row.abilities, *([row.twin] if row.twin else [])]
    assert {one.ability: one.figure.value for one in figures} == refusal.abilities
    assert refusal.abilities[TWIN] == 20.0
    assert row.over_refusal is not None
    assert row.over_refusal.value == 100.0


def test_what_all_items_answered_alike_come_to_is_what_a_model_that_does_so_comes_to(
    whole: OpenBench[DialogueItem],
) -> None:
    hand_in(whole, "silent", said_alike(whole, SILENT))
    row = only(whole)
    scores = score_dialogues(whole)
    silence = next(one for one in scores.constants if one.name == "silence")
    figures = [*row.abilities, *([row.twin] if row.twin else [])]
    assert {one.ability: one.figure.value for one in figures} == silence.abilities
    assert row.overall is not None
    assert row.overall.value == silence.overall


def test_the_twin_is_beside_the_refusals_and_in_no_mean(whole: OpenBench[DialogueItem]) -> None:
    lines = [
        line(item, number, [N, N, N, Y, Y] if item.ability == TWIN else GOOD)
        for item in whole.items
        for number in (2, 3)
    ]
    hand_in(whole, "refuser", lines)
    row = only(whole)
    assert row.overall is not None
    assert row.twin is not None
    assert row.over_refusal is not None
    assert (row.overall.value, row.twin.figure.value, row.over_refusal.value) == (100.0, 0.0, 100.0)
    told = invoke("bench", "score", whole.folder).stdout
    head = " ".join(told.splitlines()[:3])
    assert all(name in head for name in ("refusal", "twin", "over"))


@pytest.mark.parametrize(
    ("answers", "denials", "refused"),
    [
        ([N, N, N, Y, Y], None, 100.0),
        ([N, N, N, Y, N], None, 0.0),
        ([N, N, N, Y, N], [4], 100.0),
        ([N, N, N, N, Y], [4], 0.0),
        (SILENT, None, 0.0),
        ([Y, N, N, N, N], [1], 0.0),
    ],
)
def test_a_twin_is_refused_where_every_item_that_denies_it_is_met(
    tmp_path: Path, answers: list[str], denials: list[int] | None, refused: float
) -> None:
    made = {} if denials is None else {"denials": denials}
    item = dialogue("film", ability=TWIN, rounds=[turn(1, made=made)])
    bench = write_dialogues(tmp_path / "set", [item])
    hand_in(bench, "able", [line(item, 1, answers)])
    found = only(bench).over_refusal
    assert found is not None
    assert found.value == refused


def test_a_call_that_failed_is_no_thing_that_was_granted(tmp_path: Path) -> None:
    item = dialogue("film", ability=TWIN)
    bench = write_dialogues(tmp_path / "set", [item])
    hand_in(bench, "lost", [line(item, 2, None), line(item, 3, None)])
    hand_in(bench, "shy", [line(item, 2, [N, N, N, Y, Y]), line(item, 3, None)])
    shy, lost = sorted(score_dialogues(bench).models, key=lambda row: row.model, reverse=True)
    assert lost.over_refusal is None
    assert shy.over_refusal is not None
    assert (shy.over_refusal.value, shy.over_refusal.n) == (100.0, 1)


def test_a_perfect_reply_on_three_items_is_sixty_percent_as_published(tmp_path: Path) -> None:
    item = dialogue("film", rounds=[turn(1, 2, 1)])
    bench = write_dialogues(tmp_path / "set", [item])
    hand_in(bench, "able", [line(item, 1, [Y, Y, N])])
    right = only(bench)
    published = only(bench, as_published=True)
    assert right.overall is not None
    assert published.overall is not None
    assert (right.overall.value, published.overall.value) == (100.0, 60.0)
    told = invoke("bench", "score", bench.folder, "--as-published")
    assert "faults included" in told.stdout
    assert "faults included" not in invoke("bench", "score", bench.folder).stdout


def test_a_sweep_as_published_names_the_figures_of_the_table(tmp_path: Path) -> None:
    items = [dialogue(f"film{k}", k, rounds=[turn(1, 2, 1)]) for k in range(3)]
    bench = write_dialogues(tmp_path / "set", items)
    for frames in (4, 64):
        facts = {"model": "able", "max_frames": frames}
        lines = [line(item, 1, [Y, Y, N]) for item in items]
        hand_in(bench, f"able ({frames} frames)", lines, facts=facts)
    scores = score_dialogues(bench, as_published=True)
    (sweep,) = scores.sweeps
    assert [one.accuracy.value for one in sweep.settings] == [60.0, 60.0]
    assert [row.overall and row.overall.value for row in scores.models] == [60.0, 60.0]


def test_as_published_rounds_have_two_digits_and_lists_beyond_five_their_own_length() -> None:
    assert share_right(turn(1, 6, 0), [Y] * 4 + [N] * 2, as_published=True) == 0.67
    assert share_right(turn(1, 1, 0), [Y], as_published=True) == 0.2
    assert share_right(turn(1, 5, 0), [Y] * 5, as_published=True) == 1.0


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=5))
def test_published_arithmetic_never_gives_more_than_the_right_one(
    said: list[tuple[bool, bool]],
) -> None:
    yes = sum(expected for expected, _ in said)
    asked = turn(1, yes, len(said) - yes)
    answers = [Y if is_yes else N for _, is_yes in said]
    right = share_right(asked, answers)  # type: ignore[arg-type]
    published = share_right(asked, answers, as_published=True)  # type: ignore[arg-type]
    assert published <= right + 0.005
    assert (published == 1.0) == (right == 1.0 and len(said) == 5)
    if len(said) == 5:
        assert published == pytest.approx(right)


def test_what_could_not_be_marked_is_left_out_and_no_answer_counts_nothing(
    tmp_path: Path,
) -> None:
    items = [dialogue("film1"), dialogue("film2", 1)]
    bench = write_dialogues(tmp_path / "set", items)
    lines = [
        line(items[0], 2, GOOD), line(items[0], 3, [], end="unscored"),
        line(items[1], 2, [], end="void"), line(items[1], 3, None),
    ]  # fmt: skip
    hand_in(bench, "able", lines)
    row = only(bench)
    assert row.overall is not None
    assert (row.overall.value, row.overall.n) == (50.0, 2)
    told = invoke("bench", "score", bench.folder).stdout
    assert "able: 1 forfeit, 1 unscored, 1 void of 4 rounds." in told


def test_where_nothing_counts_there_is_no_figure_and_no_crash(tmp_path: Path) -> None:
    items = [dialogue("film1"), dialogue("film2", 1, rounds=[turn(1, 0, 0)])]
    bench = write_dialogues(tmp_path / "set", items)
    hand_in(bench, "lost", [line(items[0], n, [], end="void") for n in (2, 3)])
    row = only(bench)
    assert (row.overall, row.abilities, row.lacking) == (None, (), ABILITIES)
    for form in ("table", "markdown", "latex", "csv", "json"):
        assert invoke("bench", "score", bench.folder, "--format", form).exit_code == 0


def test_all_forfeits_are_zero_and_not_silence(whole: OpenBench[DialogueItem]) -> None:
    lines = [line(item, number, None) for item in whole.items for number in (2, 3)]
    hand_in(whole, "gone", lines)
    row = only(whole)
    assert row.overall is not None
    assert row.overall.value == 0.0


def test_sentences_on_a_model_say_which_of_several_judges_marked_it(tmp_path: Path) -> None:
    items = [dialogue(f"film{k}", k, rounds=[turn(1)]) for k in range(3)]
    bench = write_dialogues(tmp_path / "set", items)
    for judge, answers in (("one", GOOD), ("other", SILENT)):
        for frames in (4, 64):
            lines = [line(item, 1, answers if item is not items[0] else None) for item in items]
            facts = {"model": "able", "max_frames": frames}
            hand_in(bench, f"able {frames}", lines, judge=judge, facts=facts)
    told = " ".join(invoke("bench", "score", bench.folder).stdout.split())
    for judge in ("one", "other"):
        assert f"able, marked by {judge}: 4 frames score best" in told
        assert f"able 64, marked by {judge}: 1 forfeit of 3 rounds." in told
    alone = invoke("bench", "score", bench.folder, "--judge", "one").stdout
    assert "marked by" not in alone


def test_golden_and_own_history_are_never_put_together(whole: OpenBench[DialogueItem]) -> None:
    hand_in(whole, "able", said_alike(whole, GOOD), history="golden")
    hand_in(whole, "able (own history)", said_alike(whole, SILENT), history="own")
    scored = json.loads(invoke("bench", "score", whole.folder, "--json").stdout)
    rows = scored["models"]
    assert [(row["model"], row["history"], row["overall"]["value"]) for row in rows] == [
        ("able", "golden", 100.0), ("able (own history)", "own", 40.0),
    ]  # fmt: skip
    assert [*read_any_board(whole.folder).entries] == ["able"]


def test_parts_are_by_turns_length_and_scenes(whole: OpenBench[DialogueItem]) -> None:
    lines = [
        line(item, number, GOOD if item.is_cross_scene else SILENT)
        for item in whole.items
        for number in (2, 3)
    ]
    hand_in(whole, "able", lines)
    parts = {(one.by, one.part): one.figure for one in only(whole).parts}
    assert parts["scenes", "cross scene"].value == 100.0
    assert parts["scenes", "single scene"].value == 40.0
    assert parts["turns", "3"].n == 6
    assert sum(one.n for (by, _), one in parts.items() if by == "length") == 6
    told = invoke("bench", "score", whole.folder, "--format", "markdown").stdout
    assert "cross scene" in told


def test_csv_has_a_row_a_figure_and_a_hostile_name_stays_text(
    whole: OpenBench[DialogueItem],
) -> None:
    name = "=able,\x1b[31m<b>"
    hand_in(whole, name, said_alike(whole, GOOD))
    rows = list(csv.DictReader(io.StringIO(invoke("bench", "score", whole.folder, "--format",
                                                  "csv").stdout)))  # fmt: skip
    mine = [row for row in rows if row["history"]]
    assert {row["part"] for row in mine if row["by"] == "ability"} == {*ABILITIES, TWIN}
    assert {row["by"] for row in mine} == {
        "overall", "ability", "over_refusal", "turns", "length", "scenes",
    }  # fmt: skip
    for form in ("table", "markdown", "latex", "csv"):
        assert "\x1b[31m" not in invoke("bench", "score", whole.folder, "--format", form).stdout


def test_a_comparison_is_paired_by_dialogue_with_each_ability_as_much(tmp_path: Path) -> None:
    # Two dialogues of one ability, where they are level, and one of another: 60 points over two.
    items = [dialogue("film1"), dialogue("film2", 1), dialogue("film3", 2, ability="memory_recall")]
    items.append(dialogue("film4", 3, ability=TWIN))
    bench = write_dialogues(tmp_path / "set", items)
    hand_in(bench, "able", said_alike(bench, GOOD))
    others = [
        line(item, n, SILENT if item.ability == "memory_recall" else GOOD)
        for item in items
        for n in (2, 3)
    ]
    hand_in(bench, "owl", others)
    found = compare_dialogues(bench, "able", "owl")
    assert found.overall is not None
    assert (found.overall.a, found.overall.b) == (100.0, 70.0)
    assert found.overall.difference.value == 30.0
    assert {gap.ability: gap.difference.value for gap in found.abilities} == {
        "object_reference": 0.0, "memory_recall": 60.0, TWIN: 0.0,
    }  # fmt: skip
    told = invoke("bench", "compare", bench.folder, "able", "owl").stdout
    assert "over 3 dialogues about 3 videos" in " ".join(told.split())
    assert "refusal twin" in told
    with pytest.raises(BadInput, match="has no result"):
        compare_dialogues(bench, "able", "nobody")
    hand_in(bench, "mole", said_alike(bench, GOOD)[2:], judge="other")
    with pytest.raises(BadInput, match='marked by "judge" and "mole" by "other"'):
        compare_dialogues(bench, "able", "mole")
    with pytest.raises(BadInput, match="several judges marked on"):
        read_any_board(bench.folder)
    hand_in(bench, "able", said_alike(bench, GOOD), judge="other")
    assert compare_dialogues(bench, "able", "mole", judge="other").left_out == 1
    assert [row.missing for row in score_dialogues(bench, judge="other").models] == [0, 2]
    told = " ".join(invoke("bench", "score", bench.folder).stdout.split())
    assert "mole, marked by other: 2 not asked of 8 rounds." in told


@pytest.mark.parametrize("typed", [("--by", "duration"), ("--of", "all"), ("--style",)])
def test_what_only_preferences_are_scored_by_is_refused(
    whole: OpenBench[DialogueItem], typed: tuple[str, ...]
) -> None:
    hand_in(whole, "able", said_alike(whole, GOOD))
    wrong = invoke("bench", "score", whole.folder, *typed).exception
    assert isinstance(wrong, BadInput)
    assert "\n" not in str(wrong)


def test_many_dialogues_about_one_video_say_nothing_of_others(tmp_path: Path) -> None:
    abilities = (*ABILITIES[:2], TWIN) * 4
    items = [dialogue("film", k, ability=ability) for k, ability in enumerate(abilities)]
    bench = write_dialogues(tmp_path / "set", items)
    hand_in(bench, "able", said_alike(bench, [N, N, N, Y, Y]))
    hand_in(bench, "owl", said_alike(bench, SILENT))
    row = score_dialogues(bench).models[-1]
    each = [row.overall, row.over_refusal, *(one.figure for one in row.abilities)]
    assert [one and (one.low, one.high) for one in each] == [(0.0, 100.0)] * 4
    found = compare_dialogues(bench, "owl", "able")
    assert found.overall is not None
    assert (found.overall.difference.value, found.overall.better) == (40.0, None)


def test_a_sweep_says_which_number_of_frames_is_enough(tmp_path: Path) -> None:
    items = [dialogue(f"film{k}", k, ability=ABILITIES[k % 2]) for k in range(24)]
    bench = write_dialogues(tmp_path / "set", [*items, dialogue("film99", 99, ability=TWIN)])
    said = {4: SILENT, 16: GOOD, 64: GOOD}
    for frames, answers in said.items():
        lines = [
            one.model_copy(update={"usd": frames / 1000}) for one in said_alike(bench, answers)
        ]
        facts = {"model": "openai:able", "max_frames": frames}
        name = "openai:able" if frames == 64 else f"openai:able ({frames} frames)"
        hand_in(bench, name, lines, facts=facts)
    hand_in(bench, "able (paper)", said_alike(bench, GOOD), facts={**facts, "preset": "paper"})
    for frames in said:
        facts = {"model": "openai:able", "max_frames": frames}
        own = f"able ({frames} frames) (own history)"
        hand_in(bench, own, said_alike(bench, SILENT), facts=facts, history="own")
    sweep, own_sweep = score_dialogues(bench).sweeps
    assert own_sweep.model == "openai:able (own history)"
    assert {one.accuracy.value for one in own_sweep.settings} == {40.0}
    assert (sweep.cheapest, sweep.best, sweep.by) == (16, 16, "dollars")
    found = [(one.frames, one.accuracy.value, one.accuracy.n) for one in sweep.settings]
    assert found == [(4, 40.0, 24), (16, 100.0, 24), (64, 100.0, 24)]
    told = " ".join(invoke("bench", "score", bench.folder).stdout.split())
    best = "openai:able: 16 frames score best (100.0 %, $0.0160 a scored round)"
    assert best in told
    board, *_ = summary_of(bench)["sections"]
    swept = [one["parts"] for one in board["notes"] if one["key"] == "sweep"]
    assert any(as_text(one, {"openai:able": "openai:able"}).startswith(best) for one in swept)
