"""The board by the mix of real questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.realism import MODELS, REAL_SHARE, RUN_SHARE, move_back, planted, ratings
from tests.support.played import battle, slot, video
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.realism.question_file import RealQuestion
from videoautoarena.runs.analysis.realism.question_traits import (
    MeasuredQuestion,
    real_questions,
    simulated_questions,
)
from videoautoarena.runs.analysis.realism.real_mix import TARGET, weigh_to_real, weighted_board

COUNT = "How many boats?"
CAUSE = "Why is it red?"
TABLE = "Give me a table of the boats."


def fought(*questions: str, verdict: str = "a") -> tuple[list[Battle], dict[str, MeasuredQuestion]]:
    """Return a battle over each question, and the questions."""
    film = video()
    battles = [
        battle(slot(film, k), question=text, verdict=verdict) for k, text in enumerate(questions)
    ]
    return battles, simulated_questions(battles, {}, None)


def real(*texts: str) -> list[MeasuredQuestion]:
    return real_questions([RealQuestion(text, None, None, "en") for text in texts], own=False)


def test_weights_are_the_real_share_of_a_cell_over_its_own() -> None:
    battles, measured = fought(*[COUNT] * 8, *[CAUSE] * 2)
    found = weigh_to_real(battles, measured, real(*[COUNT] * 5, *[CAUSE] * 5), cap=5)
    assert found is not None
    weights = list(found.weights.values())
    assert weights == pytest.approx([0.5 / 0.8] * 8 + [0.5 / 0.2] * 2, abs=1e-3)
    assert found.mix.effective_battles == pytest.approx(100 / np.square(weights).sum(), abs=0.1)
    assert [(c.category, c.simulated, c.real) for c in found.mix.cells] == [
        ("counting", 0.8, 0.5),
        ("cause and reasoning", 0.2, 0.5),
    ]
    assert (found.mix.lacking, found.mix.unreachable, found.mix.capped) == ((), 0.0, 0)


def test_cells_that_the_run_lacks_are_said_and_no_weight_makes_up_for_them() -> None:
    battles, measured = fought(*[COUNT] * 8, *[CAUSE] * 2)
    found = weigh_to_real(battles, measured, real(COUNT, CAUSE, TABLE, TABLE), cap=5)
    assert found is not None
    (lacking,) = found.mix.lacking
    assert (lacking.form, lacking.questions, lacking.real) == ("table", 2, 0.5)
    assert found.mix.unreachable == 0.5
    assert [cell.real for cell in found.mix.cells] == [0.5, 0.5]


def test_a_cell_that_nobody_asks_from_is_left_out_and_no_cap_is_wasted_on_it() -> None:
    battles, measured = fought(*[TABLE] * 90, *[COUNT] * 5, *[CAUSE] * 5)
    found = weigh_to_real(battles, measured, real(COUNT, CAUSE), cap=2)
    assert found is not None
    assert (found.mix.unasked, found.mix.battles, found.mix.capped) == (90, 10, 0)
    assert list(found.weights.values()) == pytest.approx([1.0] * 10, abs=1e-3)


def test_the_cap_holds_and_how_far_the_mix_is_missed_is_said() -> None:
    battles, measured = fought(*[COUNT] * 95, *[CAUSE] * 5)
    found = weigh_to_real(battles, measured, real(*[COUNT], *[CAUSE] * 9), cap=3)
    assert found is not None
    assert found.mix.heaviest <= 3.0
    assert found.mix.capped == 5
    assert found.mix.miss == pytest.approx(0.9 - 0.15, abs=0.01)


def test_a_mix_that_shares_no_cell_with_the_run_moves_nothing() -> None:
    battles, measured = fought(*[COUNT] * 4)
    assert weigh_to_real(battles, measured, real(TABLE), cap=5) is None
    assert weigh_to_real(battles, measured, [], cap=5) is None
    assert weigh_to_real(*fought(COUNT, verdict="void"), real(COUNT), cap=5) is None


def test_a_question_whose_cell_is_unknown_is_left_out_and_counted() -> None:
    battles, measured = fought(COUNT, COUNT, CAUSE)
    spoken = [battles[0].model_copy(update={"language": "es"}), *battles[1:]]
    found = weigh_to_real(
        spoken, measured | simulated_questions(spoken[:1], {}, None), real(COUNT, CAUSE), cap=5
    )
    assert found is not None
    assert (found.mix.unknown, found.mix.unasked) == (1, 0)
    assert spoken[0].id not in found.weights


def test_a_mix_that_is_the_real_one_already_changes_no_rating() -> None:
    battles, measured = planted(3, 0.5, 200, 20)
    same = [one for one in measured.values()]
    found = weigh_to_real(battles, measured, same, cap=5)  # type: ignore[arg-type]
    assert found is not None
    assert found.mix.effective_battles == 200.0
    board = weighted_board(battles, MODELS, found)  # type: ignore[arg-type]
    assert {row.model: row.rating for row in board.models} == pytest.approx(
        ratings(battles), abs=0.05
    )
    assert board.settings.reweighted is not None
    assert board.settings.reweighted.target == TARGET


def test_a_battle_from_whose_cell_hardly_anybody_asks_is_left_out_and_the_rest_weigh_1() -> None:
    battles, measured = fought(*[TABLE] * 10, *[COUNT] * 6, *[CAUSE] * 4)
    users = real(TABLE, *[COUNT] * 200, *[CAUSE] * 200)
    found = weigh_to_real(battles, measured, users, cap=5)
    assert found is not None
    assert (found.mix.battles, found.mix.unasked) == (10, 10)
    assert np.mean(list(found.weights.values())) == pytest.approx(1.0)
    board = weighted_board(battles, ("hawk", "owl"), found)
    assert board.settings.totals.decided == 10


def test_a_weighted_board_still_counts_the_battles_that_were_not_decided() -> None:
    battles, measured = fought(*[COUNT] * 8, *[CAUSE] * 2)
    void = [one.model_copy(update={"id": f"{one.id}v", "verdict": "void"}) for one in battles[:3]]
    found = weigh_to_real([*battles, *void], measured, real(COUNT, CAUSE), cap=5)
    assert found is not None
    totals = weighted_board([*battles, *void], ("hawk", "owl"), found).settings.totals
    assert (totals.battles, totals.decided, totals.voids) == (13, 10, 3)


def of(*categories: str, form: str | None = "none") -> MeasuredQuestion:
    """Return a question of these categories, about no video that others are about."""
    return replace(real(COUNT)[0], categories=frozenset(categories), form=form)


def test_a_question_of_several_categories_counts_whole_in_each() -> None:
    battles, _ = fought(*[COUNT] * 8)
    asked = [*[of("counting", "humour")] * 2, *[of("counting")] * 2, *[of("humour")] * 4]
    measured = {one.id: said for one, said in zip(battles, asked, strict=True)}
    users = [*[of("counting", "humour")] * 5, *[of("counting")] * 4, of("humour")]
    found = weigh_to_real(battles, measured, users, cap=5)
    assert found is not None
    shares = {cell.category: (cell.battles, cell.simulated, cell.real) for cell in found.mix.cells}
    assert shares == {"counting": (4, 0.5, 0.9), "humour": (6, 0.75, 0.6)}
    assert {cell.category: cell.reached for cell in found.mix.cells} == pytest.approx(
        {"counting": 0.9, "humour": 0.6}, abs=1e-3
    )


def test_a_question_stands_for_those_of_its_categories_that_the_run_has() -> None:
    battles, measured = fought(*[COUNT] * 8)
    users = [*[of("counting", "code")] * 3, of("code")]
    found = weigh_to_real(battles, measured, users, cap=5)
    assert found is not None
    (cell,) = found.mix.cells
    (lacking,) = found.mix.lacking
    assert (cell.category, cell.real) == ("counting", 1.0)
    assert (lacking.category, lacking.questions, lacking.real) == ("code", 4, 1.0)
    assert found.mix.unreachable == 0.25


def test_what_cannot_be_reached_is_a_share_of_the_questions_whose_cells_are_known() -> None:
    battles, measured = fought(*[COUNT] * 8)
    users = [*[of("counting")] * 4, of("code", "humour"), *[of("counting", form=None)] * 5]
    found = weigh_to_real(battles, measured, users, cap=5)
    assert found is not None
    assert found.mix.unreachable == 0.2
    assert [one.real for one in found.mix.lacking] == [0.2, 0.2]


def test_a_planted_mix_is_moved_back() -> None:
    moved = move_back(3, battles=400, videos=40)
    assert RUN_SHARE < REAL_SHARE
    assert moved.after < moved.before / 2
    assert moved.held.share > 0.6
    assert moved.effective < 400
