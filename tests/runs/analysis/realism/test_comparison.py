"""Traits side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.realism import SETTINGS, SHIFT, SHIFTED, told
from videoautoarena.runs.analysis.realism import comparison
from videoautoarena.runs.analysis.realism.comparison import (
    RARER,
    SURE,
    TRAITS,
    TraitComparison,
    compare_questions,
)
from videoautoarena.runs.analysis.realism.question_file import RealQuestion
from videoautoarena.runs.analysis.realism.question_traits import MeasuredQuestion, real_questions
from videoautoarena.runs.rating.finding import Figure


def asked(*texts: str, first: int = 0, **said: object) -> list[MeasuredQuestion]:
    """Return questions, each about a video of its own."""
    given = [
        RealQuestion(text, f"{first + k}.mp4", None, "en")._replace(**said)  # type: ignore[arg-type]
        for k, text in enumerate(texts)
    ]
    return real_questions(given, own="categories" in said)


def compared(
    one: list[MeasuredQuestion], other: list[MeasuredQuestion]
) -> dict[str, TraitComparison]:
    return {of.trait: of for of in compare_questions(one, other, rounds=999, seed=3)}


SHORT = "Why is the boat red?"
TABLE = "Give me a table of all of the boats in the old harbour."


def test_values_stand_side_by_side_with_what_they_stand_on() -> None:
    found = compared(asked(*[SHORT] * 6, *[TABLE] * 2), asked(*[TABLE] * 8, *[SHORT] * 2, first=50))
    form = {row.value: row for row in found["form"].values}
    assert list(form) == ["table", "none"]
    assert (form["table"].simulated.value, form["table"].simulated.n) == (0.25, 8)
    assert (form["table"].real.value, form["table"].real.n) == (0.8, 10)
    assert form["table"].real.low is not None
    assert form["table"].real.low < 0.8
    length = {row.value: row for row in found["length"].values}
    assert length["mean"].simulated.value == pytest.approx((6 * 6 + 2 * 14) / 8)
    assert list(length) == ["mean", "up to 6", "above 6"]
    assert {of.trait: of.meaning for of in found.values()}.keys() == set(TRAITS)


def test_the_error_is_held_over_all_traits() -> None:
    found = compared(asked(*[SHORT] * 40), asked(*[TABLE] * 40, first=50))
    tested = [of for of in found.values() if of.p is not None]
    assert all(of.held_p is not None and of.p is not None and of.held_p >= of.p for of in tested)
    smallest = min(of.held_p or 0.0 for of in tested)
    assert smallest == pytest.approx(len(tested) / 1000)
    assert {of.trait for of in tested if of.differs} >= {"length", "form", "vagueness"}
    assert found["language"].p is None
    assert not found["language"].differs


def test_a_chance_of_just_one_in_a_hundred_is_sure() -> None:
    # Of questions in a language that is not read, the length alone is tested.
    one = asked(*["Où est la mer ?"] * 20, language="fr")
    other = asked(*["Et pourquoi est-ce que la mer est là ?"] * 20, first=50, language="fr")
    found = {of.trait: of for of in compare_questions(one, other, rounds=99, seed=3)}
    assert [of.trait for of in found.values() if of.p is not None] == ["length"]
    assert found["length"].held_p == SURE
    assert found["length"].differs


def test_the_same_questions_are_not_told_apart() -> None:
    same = asked(*[SHORT, TABLE] * 20)
    assert [of.trait for of in compared(same, same).values() if of.differs] == []
    assert {of.p for of in compared(same, same).values() if of.p is not None} == {1.0}


def about(texts: Sequence[str], clusters: Sequence[str]) -> list[MeasuredQuestion]:
    """Return questions, each about the video beside it."""
    given = zip(asked(*texts), clusters, strict=True)
    return [replace(one, cluster=cluster) for one, cluster in given]


def test_many_questions_about_few_videos_do_not_make_a_difference_sure() -> None:
    # Of ten videos each: a video whose people are wordy has twenty wordy questions.
    texts = [[" ".join(["boat"] * (k + more)) for k in range(5, 25, 2)] for more in (0, 4)]
    sides = [[text for text in side for _ in range(20)] for side in texts]
    videos = [[f"{side}{k // 20}" for k in range(200)] for side in "ab"]
    by_video = compared(*(about(*side) for side in zip(sides, videos, strict=True)))["length"]
    alone = compared(asked(*sides[0]), asked(*sides[1], first=500))["length"]
    assert (by_video.differs, alone.differs) == (False, True)
    mean = by_video.values[0]
    each = alone.values[0]
    for ours, theirs in ((mean.simulated, each.simulated), (mean.real, each.real)):
        assert ours.value == theirs.value
        assert half(ours) > 3 * half(theirs)


def half(figure: Figure) -> float:
    assert figure.low is not None
    assert figure.high is not None
    return (figure.high - figure.low) / 2


def test_a_video_that_both_sides_ask_about_is_held_against_itself() -> None:
    # What videos do to a question is far more than what sets the sides apart.
    sizes = [3 + 4 * k for k in range(24)]
    sides = [[" ".join(["boat"] * (size + more)) for size in sizes] for more in (0, 2)]
    apart = compared(asked(*sides[0]), asked(*sides[1], first=500))["length"]
    shared = compared(asked(*sides[0]), asked(*sides[1]))["length"]
    assert (apart.differs, shared.differs) == (False, True)


def test_what_is_unknown_is_counted_and_enters_no_figure() -> None:
    real = [*asked(*[SHORT] * 9, first=50), *asked("¿Por qué?", "¿Qué?", first=90, language="es")]
    found = compared(asked(*[SHORT] * 9), real)
    assert found["form"].unknown == found["vagueness"].unknown == (0, 2)
    assert found["length"].unknown == found["language"].unknown == (0, 0)
    assert {row.real.n for row in found["form"].values} == {9}


def test_categories_beyond_number_are_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MOST_VALUES", 4)
    real = [
        *asked(*[SHORT] * 5, categories=("zither",)),
        *(asked(SHORT, first=70 + k, categories=(f"a{k}",))[0] for k in range(9)),
    ]
    found = compared(asked(*[SHORT] * 9), real)["category"]
    assert found.values[0].value == "cause and reasoning"
    assert "zither" in [row.value for row in found.values]
    assert found.values[-1].value == RARER
    assert len(found.values) <= 4


def test_without_anything_known_a_trait_has_no_values() -> None:
    nobody = asked(*["12:30 + 4?"] * 9, language=None)
    found = compared(nobody, nobody)["language"]
    assert (found.values, found.p, found.unknown) == ((), None, (9, 9))


def test_one_population_is_hardly_ever_told_apart() -> None:
    assert sum(bool(told(SETTINGS[1], seed)) for seed in range(6)) <= 1


@pytest.mark.parametrize("trait", ["length", "form"])
def test_another_trait_is_found(trait: str) -> None:
    assert trait in told(SHIFTED, 1, **{trait: SHIFT})
    assert SURE < 0.05
