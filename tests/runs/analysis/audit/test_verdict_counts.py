"""What an audit says of how battles ended."""

from __future__ import annotations

from tests.support.audited import audited, by_key, fought
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.verdicts import audit_verdicts


def lost(number: int, verdict: str, reason: str) -> Battle:
    return fought(number, "x", "y", verdict, "judge:failed", reason=reason)


def test_shares_are_those_of_the_battles_they_speak_of() -> None:
    ended = ["a", "b", "tie_bad", "split", "void", "forfeit_a"]
    battles = [fought(k, "x", "y", v, "judge:a", reason="r") for k, v in enumerate(ended)]
    found = by_key(audit_verdicts(audited(battles)))
    assert {key: (round(f.value, 3), f.n) for key, f in found.items()} == {
        "verdicts.ties": (0.5, 4),
        "verdicts.both_bad": (0.25, 4),
        "verdicts.voids": (0.167, 6),
        "verdicts.forfeits": (0.167, 6),
        "verdicts.abstentions": (0.0, 6),
    }
    assert "(x 1)" in found["verdicts.forfeits"].sentence


def test_reasons_of_voids_are_grouped_and_counted() -> None:
    reasons = ["no verdict: twice no JSON", "no verdict: 404", "no answer: a frame", "c", "d", "e"]
    battles = [lost(k, "void", reason) for k, reason in enumerate(reasons)]
    sentence = by_key(audit_verdicts(audited(battles)))["verdicts.voids"].sentence
    assert "(no verdict 2, no answer 1, c 1, other 2)" in sentence


def test_many_voids_are_an_alarm_and_a_few_are_not() -> None:
    for voids, is_alarm in ((4, False), (40, True)):
        battles = [fought(k, "x", "y", "void" if k < voids else "a") for k in range(100)]
        assert by_key(audit_verdicts(audited(battles)))["verdicts.voids"].is_alarm is is_alarm


def test_judges_that_cannot_tell_are_counted_beside_those_that_failed() -> None:
    said = ["judge:abstain", "judge:failed", "judge:a", "judge:a"]
    battles = [fought(k, "x", "y", "a", word) for k, word in enumerate(said)]
    found = by_key(audit_verdicts(audited(battles)))["verdicts.abstentions"]
    assert (found.value, found.n) == (0.25, 4)
    assert "1 more judging failed" in found.sentence


def test_a_hostile_reason_is_shown_and_not_obeyed() -> None:
    sentence = by_key(audit_verdicts(audited([lost(0, "void", "\x1b[2J\nboo: x")])))[
        "verdicts.voids"
    ].sentence
    assert "\x1b" not in sentence
    assert "\n" not in sentence


def test_an_empty_run_holds_no_battle() -> None:
    (found,) = audit_verdicts(audited([]))
    assert (found.key, found.n) == ("verdicts.voids", 0)


def test_two_models_that_say_the_same_half_the_time_are_an_alarm_from_ten_battles_on() -> None:
    def keys(same: int, battles: int) -> list[str]:
        said = [
            {"answer_b": "red" if k < same else "two", "answer_a": "red"} for k in range(battles)
        ]
        seats = ["xy" if k % 2 else "yx" for k in range(battles)]
        met = [fought(k, *seats[k], "a", **texts) for k, texts in enumerate(said)]
        found = by_key(audit_verdicts(audited(met))).values()
        return [one.sentence for one in found if one.is_alarm]

    assert keys(5, 10) == [
        "x and y gave word for word the same answer in 5 of 10 battles on 10 videos; are they one "
        "model under two names?"
    ]
    assert keys(4, 10) == keys(9, 9) == []
