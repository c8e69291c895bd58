"""Why somebody won, in a phrase of the judge's."""

from __future__ import annotations

import pytest

from tests.support.events import MODELS, judged
from videoautoarena.runs.run.battles.listing import result, short_names, why

NAMES = short_names(MODELS)


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        ("Both are polite. B gives two for number of cuts; I find three.", "owl gives two for"),
        ("Answer A is fine and full. Answer B misses the second cut.", "owl misses the second cut"),
        ("The response B is wrong about the colour.", "owl is wrong about the colour"),
        ("A correctly names the heron while B does not.", "hawk correctly names the heron while"),
        ("A heron is what B never mentions.", "A heron is what owl never mentions"),
    ],
)
def test_the_phrase_names_the_loser_and_its_fault(words: str, phrase: str) -> None:
    assert why(judged("v0-p1-r0", words=words), NAMES).startswith(phrase)


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        ("I could follow 2 of 2 statements of B. I find A right on number of cuts.", "I find hawk"),
        ("I could follow 2 of 2 statements of A. I find B right on the cuts.", "I could follow 2"),
        (
            "I could follow 2 of 2 statements of B. A misses it. A is better.",
            "helpfulness for hawk",
        ),
    ],
)
def test_no_phrase_praises_the_loser_or_blames_the_winner(words: str, phrase: str) -> None:
    battle = judged("v0-p1-r0", words=words)
    better = {"accuracy": "b", "relevance": "tie", "helpfulness": "a"}
    judging = battle.verdicts[0].model_copy(update={"standards": better})
    told = why(battle.model_copy(update={"verdicts": (judging,)}), NAMES)
    assert told.startswith(phrase)
    assert "owl" not in told


def test_swapped_seats_name_the_right_models() -> None:
    battle = judged("v0-p1-r0", "b", words="Answer B misses the second cut.")
    swapped = battle.verdicts[0].model_copy(update={"seats": "ba"})
    told = why(battle.model_copy(update={"verdicts": (swapped,)}), NAMES)
    assert told == "hawk misses the second cut"


def test_a_tie_names_the_standards_that_differ() -> None:
    def told(**better: str) -> str:
        battle = judged("v0-p1-r0", "tie_good", words="I could follow 2 of 2 statements of A.")
        one = battle.verdicts[0].model_copy(update={"standards": better})
        return why(battle.model_copy(update={"verdicts": (one,)}), NAMES)

    assert told(accuracy="b", relevance="tie", helpfulness="a") == (
        "accuracy for owl, helpfulness for hawk"
    )
    assert told(accuracy="tie") == "no standard separates them"


def test_a_void_and_a_forfeit_give_their_reason() -> None:
    void = judged("v0-p1-r0", "void", reason="no judge decided\x1b[2J")
    assert why(void, NAMES) == "no judge decided\\x1b[2J"
    assert result(judged("v0-p1-r0", "forfeit_b"), NAMES) == "owl forfeits to hawk"


def test_a_failure_is_told_in_the_providers_words_without_the_class_of_its_error() -> None:
    lost = judged("v0-p1-r0", "forfeit_a", reason="OpenAIInvalidRequestError: Error code: 400 - no")
    assert why(lost, NAMES) == "Error code: 400 - no"


def test_a_battle_without_a_judging_has_no_phrase() -> None:
    assert why(judged("v0-p1-r0", verdicts=()), NAMES) == ""


def test_names_are_shortened_only_where_they_stay_apart() -> None:
    assert NAMES["openai:gpt-4o"] == "gpt-4o"
    twins = ("a:x", "b:x")
    assert short_names(["ollama:qwen:7b"]) == {"ollama:qwen:7b": "qwen:7b"}
    assert short_names(twins) == {"a:x": "a:x", "b:x": "b:x"}
