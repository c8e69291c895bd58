"""Wording the reader was never fitted to. Leave reader and sentences as they are: a measure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.offline.language.tables import Dice

LENGTH_S = 20.0
Told = tuple[str, object, str]
"""Facet, value, sentence."""


@pytest.fixture(scope="module", params=["strangers", "strangers_de"])
def told(request: pytest.FixtureRequest) -> list[Told]:
    rows = json.loads(Path(__file__).with_name(f"{request.param}.json").read_text("utf-8"))
    return [(k, tuple(v) if isinstance(v, list) else v, said) for k, v, said in rows]


def _heard(rows: list[Told]) -> list[object]:
    """Return what was heard of each fact; None where nothing was."""
    text = " ".join(said for _, _, said in rows)
    claims = {c.key: c.value for c in hear(text, LENGTH_S, [k for k, _, _ in rows]).claims}
    return [claims.get(key) for key, _, _ in rows]


def _answers(told: list[Told]) -> list[list[Told]]:
    dice = Dice("strangers")
    drawn = [dice.shuffled(told)[:3] for _ in range(200)]
    return [rows for rows in drawn if len({key for key, _, _ in rows}) == 3]


def test_most_of_what_a_stranger_says_is_read(told: list[Told]) -> None:
    right = [_heard([row]) == [row[1]] for row in told]
    assert sum(right) / len(right) >= 0.85


def test_hardly_anything_a_stranger_says_is_misread(told: list[Told]) -> None:
    pairs = [
        (heard, row[1])
        for rows in _answers(told)
        for row, heard in zip(rows, _heard(rows), strict=True)
    ]
    misread = sum(heard is not None and heard != value for heard, value in pairs)
    assert misread / len(pairs) <= 0.02
