"""What an audit says of seats."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.support.audited import audited, by_key, fought
from videoautoarena.runs.analysis.audit.biases import audit_seats


def test_the_published_battles_favour_the_second_seat_too_little_for_an_alarm() -> None:
    verdicts = ["a"] * 5620 + ["b"] * 5941 + ["tie"] * 918
    found = by_key(
        audit_seats(audited(fought(k, "x", "y", said) for k, said in enumerate(verdicts)))
    )
    first = found["seats.first"]
    assert first.value == pytest.approx(1 - 0.514, abs=0.0005)
    assert first.high < 0.5
    assert first.n == 11561
    assert not first.is_alarm
    assert "48.6 %" in first.sentence


def test_without_a_second_seating_it_says_how_to_learn_of_flips() -> None:
    found = by_key(audit_seats(audited([fought(0, "x", "y", "a")])))
    assert math.isnan(found["swap.flips"].value)
    assert found["swap.flips"].n == 0
    assert found["swap.flips"].sentence.endswith(
        "unknown: --swap 0.1 gave none of 1 battle a verdict in both; run with more, such as "
        "--swap 0.5."
    )
    none = replace(audited([fought(0, "x", "y", "a")]), manifest={"swap": 0})
    assert by_key(audit_seats(none))["swap.flips"].sentence.endswith("run with --swap 0.1.")


def test_a_judge_that_takes_whatever_it_reads_first_is_found_out() -> None:
    battles = [fought(k, "x", "y", "split", "judge:a", "judge:b:ba") for k in range(40)]
    found = by_key(audit_seats(audited(battles)))
    assert found["swap.flips"].value == found["swap.first"].value == found["seats.first"].value == 1
    assert all(found[key].is_alarm for key in ("swap.flips", "swap.first", "seats.first"))
    assert "the answer read first gains" in found["swap.first"].sentence


def test_a_judge_that_only_looks_at_the_answers_never_flips() -> None:
    battles = [fought(k, "x", "y", "a", "judge:a", "judge:a:ba") for k in range(40)]
    found = by_key(audit_seats(audited(battles)))
    assert found["swap.flips"].value == 0
    assert found["swap.flips"].high > 0.05
    assert found["swap.first"].value == 0.5
    assert not any(finding.is_alarm for finding in found.values())


def test_ties_of_two_kinds_are_no_flip_and_a_tie_beside_a_win_is_one() -> None:
    battles = [
        fought(0, "x", "y", "tie", "judge:tie_good", "judge:tie_bad:ba"),
        fought(1, "x", "y", "split", "judge:tie", "judge:a:ba"),
    ]
    assert by_key(audit_seats(audited(battles)))["swap.flips"].value == 0.5


def test_each_judge_of_a_panel_has_its_own_flips() -> None:
    said = ("one:a", "one:b:ba", "two:a", "two:a:ba", "three:a", "three:abstain:ba")
    battles = [fought(k, "x", "y", "a", *said) for k in range(30)]
    found = by_key(audit_seats(audited(battles, judges=("two", "one", "three"))))
    assert found["swap.flips"].n == 60
    assert found["swap.flips.one"].value == 1
    assert found["swap.flips.two"].value == 0
    assert "swap.flips.three" not in found


def test_battles_that_share_a_video_tell_less() -> None:
    said = ["split", "a"] * 20
    two = [("judge:a", "judge:b:ba"), ("judge:a", "judge:a:ba")] * 20
    apart = [fought(k, "x", "y", said[k], *two[k]) for k in range(40)]
    shared = [b.model_copy(update={"video": f"v{k % 4}"}) for k, b in enumerate(apart)]
    alone, together = (by_key(audit_seats(audited(b)))["swap.flips"] for b in (apart, shared))
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
