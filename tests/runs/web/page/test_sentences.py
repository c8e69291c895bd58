"""What the sections of a report say of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from videoautoarena.runs.web.page import sentences


def row(model: str, best: int, worst: int, rating: float = 1000.0) -> dict[str, Any]:
    low, high = rating - 50, rating + 50
    ranks = {"rank_best": best, "rank_worst": worst}
    return {"model": model, "rating": rating, "low": low, "high": high, **ranks}


def said(parts: sentences.Parts) -> str:
    models = [part["model"] for part in parts if not isinstance(part, str)]
    return sentences.as_text(parts, {model: model.upper() for model in models})


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "No battle has been decided yet."),
        ([row("a", 1, 1)], "A is the only model with a rating."),
        ([row("a", 1, 1), row("b", 2, 2)], "A leads."),
        (
            [row("a", 1, 2), row("b", 1, 2), row("c", 3, 3)],
            "A leads, but B can’t be told apart from it.",
        ),
        (
            [row("a", 1, 3), row("b", 1, 3), row("c", 1, 3), row("d", 4, 4)],
            "A leads, but B and C can’t be told apart from it.",
        ),
        ([row("a", 1, 2), row("b", 1, 2)], "No model of 2 can be told apart from A."),
        (
            [row("a", 1, 6), *[row(f"b{k}", 1, 6) for k in range(5)], row("z", 7, 7)],
            "A leads, but 5 models can’t be told apart from it.",
        ),
    ],
)
def test_the_first_sentence_says_who_leads_and_who_may_be_level(
    rows: list[dict[str, Any]], sentence: str
) -> None:
    assert said(sentences.leader(rows)) == sentence


def test_places_that_overlap_are_one_group_and_the_rest_stands_alone() -> None:
    rows = [row("a", 1, 1), row("b", 2, 3), row("c", 2, 3), row("d", 4, 4), row("e", 11, 11)]
    expected = "Places 2 to 3 overlap: B and C. D is 4th. E is 11th."
    assert said(sentences.places(rows)) == expected
    assert said(sentences.places([row("a", 1, 2), row("b", 2, 3)])) == "B is 2nd to 3rd."


def test_the_gap_at_the_top_stands_beside_how_wide_intervals_are() -> None:
    rows = [row("a", 1, 1, 1300.0), row("b", 2, 2, 1031.4)]
    expected = "A stands 269 points above B; half of the intervals are wider than ±50."
    assert said(sentences.gap_at_the_top(rows)) == expected


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["openai:gpt-4o", "offline:owl"], ["gpt-4o", "owl"]),
        (["x:lab/Model-7B", "y:other"], ["Model-7B", "other"]),
        (["openai:same", "gemini:same"], ["openai:same", "gemini:same"]),
        (["plain", "plain"], ["plain"]),
        (["odd:", "x"], ["odd:", "x"]),
    ],
)
def test_a_short_name_is_one_that_leaves_all_apart(names: list[str], short: list[str]) -> None:
    assert list(sentences.short_names(names).values()) == short


def graded(number: int, mean: float | None, before: list[float], refused: int) -> dict[str, Any]:
    gate = {"passed": len(before), "refused": refused}
    return {"round": number, "difficulty": {"mean": mean}, "before": before, "gate": gate}


@pytest.mark.parametrize(
    ("rounds", "sentence"),
    [
        ([], "No question was evolved, so none was graded."),
        ([graded(0, None, [], 0)], "No question was evolved, so none was graded."),
        (
            [graded(0, None, [], 0), graded(1, 2.7, [1.8, 2.0], 1), graded(2, 3.4, [2.7], 2)],
            "Questions rose from 1.9 to 3.4 of 5 in difficulty by round q2; the gate refused "
            "3 of 6 proposals for not being harder.",
        ),
        (
            [graded(1, 2.0, [2.0], 0)],
            "Questions stayed at 2.0 of 5 in difficulty by round q1; the gate refused 0 of 1 "
            "proposals for not being harder.",
        ),
    ],
)
def test_rounds_are_told_by_how_difficulty_moved(
    rounds: list[dict[str, Any]], sentence: str
) -> None:
    assert said(sentences.of_rounds(rounds)) == sentence


def test_the_audit_sentence_counts_alarms_passes_and_what_was_not_measured() -> None:
    calm, loud = {"alarm": False, "value": 0.5}, {"alarm": True, "value": 0.9}
    missing = {"alarm": False, "value": None}
    assert said(sentences.of_audit([calm, calm, missing])) == (
        "None of 2 checks on the judge raises an alarm; 1 was not made."
    )
    assert said(sentences.of_audit([calm, loud])) == ("1 of 2 checks on the judge raises an alarm.")
    assert said(sentences.of_audit([missing])) == "No check on the judge could be made yet."


@pytest.mark.parametrize(
    ("number", "words"), [(999, "999"), (1000, "1 thousand"), (2_460_000, "2.5 million")]
)
def test_tokens_are_counted_as_people_say_it(number: int, words: str) -> None:
    assert sentences.tokens(number) == words
