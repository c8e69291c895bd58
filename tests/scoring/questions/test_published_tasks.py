"""MLVU's tables, as published: which of their means follow from their figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.published_means import Recomputed, read_table, recompute
from videoautoarena.scoring.questions.scores import measure_scores, measure_tasks

DEV = read_table(Path(__file__).with_name("mlvu_dev.tsv").read_text())
TEST = """
\tTR\tAR\tNQA\tER\tPQA\tSQA\tAO\tAC\tTQA\tSSC*\tVS*\tM-Avg\tG-Avg
GPT-4o\t83.7\t68.8\t42.9\t47.8\t57.1\t63.6\t46.2\t35.0\t48.7\t6.80\t4.94\t54.9\t5.87
"""


def checked(name: str) -> dict[str, Recomputed]:
    (row,) = (row for row in DEV if row.name == name)
    return {found.mean: found for found in recompute(row)}


def test_18_of_22_published_rows_follow_from_their_figures_and_the_others_are_named() -> None:
    assert len(DEV) == 22
    wrong = [found for row in DEV for found in recompute(row) if not found.agrees]
    assert [(x.name, x.mean, x.printed, round(x.computed, 1)) for x in wrong] == [
        ("ShareGPT4Video", "M-Avg", 46.4, 46.3),
        ("TimeChat", "M-Avg", 30.9, 26.5),
        ("Video-CCAM", "M-Avg", 63.1, 61.6),
        ("Video-XL", "M-Avg", 64.9, 63.2),
    ]


def test_gpt_4o_has_64_6_and_5_80_on_dev_and_54_9_and_5_87_on_test() -> None:
    found = checked("GPT-4o")
    assert found["M-Avg"].computed == pytest.approx(64.6, abs=0.05)
    assert found["G-Avg"].computed == pytest.approx(5.80, abs=0.005001)
    (row,) = read_table(TEST)
    assert [(x.printed, x.agrees) for x in recompute(row)] == [(54.9, True), (5.87, True)]


def test_so_do_items_that_come_to_the_published_accuracies() -> None:
    (row,) = (row for row in DEV if row.name == "GPT-4o")
    sizes = dict(TR=264, AR=200, NQA=355, ER=352, PQA=539, AO=259, AC=206)
    hits = [round(n * figure / 100) for n, figure in zip(sizes.values(), row.choice, strict=True)]
    right = np.concatenate(
        [np.arange(n) < hit for n, hit in zip(sizes.values(), hits, strict=True)]
    ).astype(float)
    task = np.repeat(np.arange(7), list(sizes.values()))
    found = measure_tasks(right, task, chance=np.full(len(right), 0.25))
    assert 100 * found.mean.value == pytest.approx(64.6, abs=0.06)
    assert (found.mean.n, found.chance) == (2175, 0.25)
    scores = measure_scores([4.80, 5.00, 6.60, 6.78], [0, 0, 1, 1])
    assert scores.mean.value == pytest.approx(5.80, abs=0.005001)


def test_lines_without_figures_and_columns_without_a_name_are_passed_over() -> None:
    text = "Methods\tDate\t\tA\tM-Avg\nLong ones\nX\t2024\t8 frm\t50\t50.0\n"
    (row,) = read_table(text.replace("Date", ""))
    assert (row.name, row.choice, row.generated) == ("X", (50.0,), ())
    assert [found.mean for found in recompute(row)] == ["M-Avg"]


@pytest.mark.parametrize(("computed", "agrees"), [("40", True), ("41", True), ("42", False)])
def test_a_mean_between_two_printed_ones_agrees_with_either(computed: str, agrees: bool) -> None:
    (row,) = read_table(f"m\tA\tB\tM-Avg\nx\t40\t{computed}\t40.5\n".replace("40.5", "40"))
    assert recompute(row)[0].agrees == agrees


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "must have a column"), ("m\tA\nx\t1", "must have a column"),
     ("m\tA\tM-Avg\nx\t-\t1", "x: '-' is no figure"), ("m\tA\tM-Avg\nx\t1\t_", "'_' is no"),
        ("m\tA\tM-Avg\nx\t1", "x: 2 cells where there are 3 columns")],
)  # fmt: skip
def test_what_is_no_such_table_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_table(text)
