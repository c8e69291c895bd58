"""MT-Video-Bench's two tables, as published: an overall is the plain mean of six abilities."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import tests.support
from tests.support.dialogue_sets import dialogue
from videoautoarena.runs.bench.dialogues.score import measured
from videoautoarena.runs.bench.format.schema import ABILITIES

FILE = Path(tests.support.__file__).with_name("mt_video_bench.tsv")
COLUMNS = ["OR", "MR", "CS", "AR", "TS", "PI"]
ROUNDED = 0.006
"""The mean of six figures with two digits lies so near to what it is printed as."""


class Row(NamedTuple):
    """One model of one table."""

    table: str
    model: str
    overall: float
    figures: list[float]


def rows() -> list[Row]:
    head, *lines = (line.split("\t") for line in FILE.read_text().splitlines())
    assert head == ["Table", "Model", "Overall", *COLUMNS]
    return [Row(line[0], line[1], float(line[2]), [float(x) for x in line[3:]]) for line in lines]


def computed(row: Row) -> float:
    """Return the score of a model whose dialogue of each ability came to the published figure."""
    items = [dialogue(f"v{k}", k, ability=ability) for k, ability in enumerate(ABILITIES)]
    points = {item.qid: x / 100 for item, x in zip(items, row.figures, strict=True)}
    found = measured(items, points)
    assert found is not None
    return 100 * found.mean.value


def test_all_21_rows_of_the_paper_and_the_four_of_the_release_compute_again() -> None:
    found = rows()
    assert [sum(row.table == table for row in found) for table in ("paper", "release")] == [21, 4]
    wrong = {row[:2]: computed(row) for row in found if abs(computed(row) - row.overall) > ROUNDED}
    assert wrong == {}


def test_the_two_tables_are_not_the_same_measurement() -> None:
    both = {table: {row.model: row for row in rows() if row.table == table}
            for table in ("paper", "release")}  # fmt: skip
    shared = sorted(set(both["paper"]) & set(both["release"]))
    assert shared == ["Gemini 2.5 Flash", "Gemini 2.5 Pro", "Qwen2.5-VL-7B"]
    gaps = [both["release"][name].overall - both["paper"][name].overall for name in shared]
    assert gaps == pytest.approx([6.60, 8.50, 1.80])
