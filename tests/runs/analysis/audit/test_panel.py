"""What an audit says of several judges."""

from __future__ import annotations

import pytest

from tests.support.audited import audited, by_key, fought
from videoautoarena.runs.analysis.audit.verdicts import audit_panel

THREE = ("one", "two", "three")


def test_one_judge_is_told_that_nobody_knows_what_another_would_say() -> None:
    (found,) = audit_panel(audited([fought(0, "x", "y", "a")]))
    assert (found.key, found.n) == ("panel.alpha", 0)
    assert "--judge A,B" in found.sentence


def test_figures_of_three_judges_are_those_counted_by_hand() -> None:
    said = [
        ("one:a", "two:a", "three:a"),
        ("one:a", "two:a", "three:b"),
        ("one:a", "two:b", "three:tie"),
        ("one:b", "two:b", "three:abstain"),
        ("one:b", "two:b", "three:b:ba"),
        ("one:tie_good", "two:tie_bad", "three:b"),
    ]
    battles = [fought(k, "x", "y", "a", *words) for k, words in enumerate(said)]
    found = by_key(audit_panel(audited(battles, judges=THREE)))
    assert found["panel.agreement.one, two"].value == pytest.approx(5 / 6)
    assert (found["panel.agreement.one, three"].value, found["panel.agreement.one, three"].n) == (
        0.25,
        4,
    )
    # Observed 5/6; one says a, b and tie in 3, 2 and 1 of 6, two in 2, 3 and 1: expected 13/36.
    kappa = (5 / 6 - 13 / 36) / (1 - 13 / 36)
    assert found["panel.kappa.one, two"].value == pytest.approx(kappa)
    ways = {key: found[f"panel.{key}"].value for key in ("unanimous", "majority", "split")}
    assert ways == pytest.approx({"unanimous": 3 / 6, "majority": 2 / 6, "split": 1 / 6})
    assert found["panel.minority.three"].value == pytest.approx(2 / 3)
    assert found["panel.minority.one"].value == 0
    assert found["panel.abstentions.three"].value == pytest.approx(1 / 6)


def test_judges_that_toss_coins_are_an_alarm_and_equal_ones_are_not() -> None:
    coins = [("one:a" if k % 2 else "one:b", "two:a" if k % 3 else "two:b") for k in range(120)]
    same = [("one:a", "two:a") if k % 2 else ("one:b", "two:b") for k in range(120)]
    for words, is_alarm in ((coins, True), (same, False)):
        battles = [fought(k, "x", "y", "a", *said) for k, said in enumerate(words)]
        found = by_key(audit_panel(audited(battles, judges=THREE[:2])))
        assert found["panel.alpha"].is_alarm is is_alarm


def test_judges_that_never_met_are_not_compared() -> None:
    battles = [fought(0, "x", "y", "a", "one:a"), fought(1, "x", "y", "a", "two:a")]
    found = by_key(audit_panel(audited(battles, judges=THREE[:2])))
    assert "never judged the same battle" in found["panel.agreement.one, two"].sentence
    assert "panel.kappa.one, two" not in found


def test_a_hostile_name_of_a_judge_is_shown_and_not_obeyed() -> None:
    battles = [fought(k, "x", "y", "a", "\x1b[1m:a", "two:b") for k in range(3)]
    for found in audit_panel(audited(battles, judges=("\x1b[1m", "two"))):
        assert "\x1b" not in found.sentence + found.key
