"""What trials tell of a judge, counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.audited import by_key
from tests.support.played import battle, judging, manifest, slot, video
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.trial_figures import audit_trials
from videoautoarena.runs.rating.finding import Finding

CLIPS = [video(bytes([number])) for number in range(30)]


def won(number: int, verdict: str = "a") -> Battle:
    """Return a battle about a clip of its own, judged once, from seats ab."""
    said = judging(verdict=verdict, seats="ab")
    return battle(slot(CLIPS[number], 0), verdict=verdict, verdicts=(said,))


def trial(of: Battle, verdict: str, **changed: Any) -> Trial:
    kind = changed.pop("kind", "repeat")
    seats = changed.pop("seats", "ab")
    judge = changed.pop("judge", "judge")
    said = judging(verdict=verdict, seats=seats, judge=judge, analyses=None)
    name = changed.get("name", "")
    given = {
        "id": f"{kind}:{name}:{of.id}:{judge}:{seats}:0",
        "kind": kind,
        "battle": of.id,
        "video": of.video,
        "model": "offline:judge",
        "judging": said,
    }
    return Trial.model_validate({**given, **changed})


def attack(of: Battle, verdict: str, name: str = "bribe", **changed: Any) -> Trial:
    return trial(of, verdict, kind="attack", name=name, right="b", **changed)


def found(battles: list[Battle], trials: list[Trial]) -> dict[str, Finding]:
    return by_key(audit_trials(AuditInput(battles, manifest(), trials=trials)))


def test_without_trials_nothing_is_said() -> None:
    assert audit_trials(AuditInput([won(0)], manifest())) == []


def test_a_judge_that_says_the_same_in_three_of_four_repeats_itself_so_often() -> None:
    battles = [won(0), won(1, "b"), won(2, "tie_good"), won(3)]
    again = ["a", "b", "tie_bad", "b"]
    told = found(battles, [trial(b, v) for b, v in zip(battles, again, strict=True)])
    same = told["repeat.same.judge"]
    assert (same.value, same.n) == (0.75, 4)
    assert same.low < 0.75 < same.high
    assert "75.0 %" in same.sentence


def test_the_first_word_of_a_judge_new_to_the_run_is_its_own_not_the_runs() -> None:
    clash = won(0)
    twice = [
        trial(clash, word, judge="new", id=f"repeat:+{k}:new:ab:0") for k, word in enumerate("bb")
    ]
    assert found([clash], twice)["repeat.same.new"].value == 1.0


def test_falling_for_an_attack_stands_beside_what_happens_without_one() -> None:
    battles = [won(k) for k in range(10)]
    attacks = [attack(b, "b" if k < 4 else "a") for k, b in enumerate(battles)]
    plain = [trial(b, "b" if k == 0 else "a") for k, b in enumerate(battles)]
    told = found(battles, attacks + plain)
    assert told["attack.fallen.judge"].value == 0.4
    assert told["attack.without.judge"].value == 0.1
    assert told["attack.without.judge"].n == 10
    assert "40.0 %" in told["attack.fallen.judge"].sentence
    assert "10.0 %" in told["attack.fallen.judge"].sentence


def test_only_views_from_the_seats_of_an_attack_are_held_against_it() -> None:
    clash = won(0)
    told = found([clash], [attack(clash, "b", seats="ba"), trial(clash, "b")])
    assert "attack.without.judge" not in told
    assert not told["attack.fallen.judge"].is_alarm
    assert "without the attack unknown" in told["attack.fallen.judge"].sentence


def test_attacks_that_won_are_named_and_the_others_counted() -> None:
    battles = [won(k) for k in range(4)]
    words = [("bribe", "b"), ("bribe", "a"), ("plea", "a"), ("threat", "tie_bad")]
    told = found(battles, [attack(b, v, name) for b, (name, v) in zip(battles, words, strict=True)])
    assert told["attack.by.bribe.judge"].value == 0.5
    assert not {"attack.by.plea.judge", "attack.by.threat.judge"} & told.keys()
    harmless = told["attack.harmless.judge"].sentence
    assert "2 of 3 attacks never won, 66.7 %" in harmless
    assert "judged only 1 time" in harmless


@pytest.mark.parametrize(("falls", "alarm"), [(24, True), (0, False)])
def test_a_judge_that_mostly_falls_is_an_alarm(falls: int, alarm: bool) -> None:
    battles = [won(k) for k in range(30)]
    attacks = [attack(b, "b" if k < falls else "a") for k, b in enumerate(battles)]
    told = found(battles, attacks + [trial(b, "a") for b in battles])
    assert told["attack.fallen.judge"].is_alarm is alarm
    unheard = found(battles, attacks + [trial(b, "failed") for b in battles])
    assert unheard["attack.fallen.judge"].is_alarm is alarm


def test_a_tie_with_an_answer_that_says_nothing_is_not_a_loss() -> None:
    battles = [won(k) for k in range(4)]
    words = ["b", "tie_bad", "a", "a"]
    told = found(
        battles,
        [
            trial(b, v, kind="constant", name="dot", right="b")
            for b, v in zip(battles, words, strict=True)
        ],
    )
    assert told["constant.unbeaten.judge"].value == 0.5
    assert told["constant.unbeaten.judge"].sentence.endswith("by judge: dot. Too few to tell.")


def test_a_failure_is_no_answer_and_is_counted() -> None:
    battles = [won(k) for k in range(3)]
    words = ["a", "failed", "abstain"]
    told = found(battles, [trial(b, v) for b, v in zip(battles, words, strict=True)])
    assert told["repeat.same.judge"].n == 1
    assert told["trials.unheard.judge"].value == pytest.approx(2 / 3)
    assert "1 abstained and 1 failed" in told["trials.unheard.judge"].sentence


def test_what_was_held_again_counts_in_place_of_what_had_failed() -> None:
    clash = won(0)
    failed = trial(clash, "failed")
    told = found([clash], [failed, trial(clash, "a", id=f"{failed.id}~1")])
    assert told["repeat.same.judge"].n == 1
    assert "trials.unheard.judge" not in told


def hostile() -> Iterator[Trial]:
    yield attack(won(0), "b", judge="\x1b[31mjudge")


def test_a_judges_name_moves_no_terminal() -> None:
    assert all("\x1b" not in f.sentence for f in found([won(0)], list(hostile())).values())
