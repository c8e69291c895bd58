"""What known truth tells of a judge, in figures and words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from tests.support.audited import by_key
from videoautoarena.memory.records.records import Judging
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.trial_figures import audit_truth
from videoautoarena.runs.rating.finding import Finding


def trial(
    number: int,
    verdict: str,
    *,
    name: str = "card-short-long",
    right: str = "a",
    judge: str = "referee",
    videos: int = 40,
) -> Trial:
    said = Judging.model_validate({"judge": judge, "seats": "ab", "verdict": verdict})
    return Trial.model_validate(
        {
            "id": f"truth:{number}:{judge}",
            "kind": "truth",
            "name": name,
            "video": f"video{number % videos}",
            "model": f"openai:{judge}",
            "right": right,
            "texts": {"answer_a": f"{number}"},
            "judging": said,
        }
    )


def audited(trials: Sequence[Trial]) -> dict[str, Finding]:
    return by_key(audit_truth(AuditInput([], {}, trials=trials)))


def test_right_wrong_and_tied_make_one_nothing_and_a_half() -> None:
    found = audited([trial(n, verdict) for n, verdict in enumerate(["a", "a", "b", "tie_good"])])
    accuracy = found["truth.accuracy.referee"]
    assert (accuracy.value, accuracy.n) == (2.5 / 4, 4)
    assert "1 tie among them" in accuracy.sentence


def test_what_the_judge_abstained_from_or_failed_at_is_in_no_share_and_told() -> None:
    said = [*("a" * 30), "abstain", "abstain", "failed"]
    found = audited([trial(n, verdict) for n, verdict in enumerate(said)])
    accuracy = found["truth.accuracy.referee"]
    assert (accuracy.value, accuracy.n) == (1.0, 30)
    assert accuracy.sentence.endswith("it abstained in 2 more and 1 judging failed.")
    assert found["truth.abstained.referee"].value == pytest.approx(2 / 33)


def test_a_judge_that_only_abstains_is_unknown() -> None:
    found = audited([trial(n, "abstain") for n in range(3)])
    accuracy = found["truth.accuracy.referee"]
    assert math.isnan(accuracy.value)
    assert (accuracy.n, len(found)) == (0, 1)
    assert "it abstained in 3 more" in accuracy.sentence


@pytest.mark.parametrize(
    ("right", "of", "alarm"),
    [
        *((20, 40, True), (6, 40, True), (38, 40, False), (40, 40, False)),
        # Of one right three times in four, 23 or fewer of 40 come in 1.2 %, 25 or fewer in 5.4 %
        # of all samples; an interval of 95 % leaves out 2.5 %.
        *((23, 40, True), (25, 40, False)),
        *((4, 4, False), (0, 4, False), (0, 19, False), (0, 20, True)),
    ],
)
def test_an_alarm_tells_of_a_judge_that_surely_knows_less_than_half(
    right: int, of: int, alarm: bool
) -> None:
    found = audited([trial(n, "a" if n < right else "b") for n in range(of)])
    assert found["truth.accuracy.referee"].is_alarm == alarm


def test_many_right_about_one_video_are_no_guesses_but_say_little_of_others() -> None:
    found = audited([trial(n, "a", videos=1) for n in range(40)])["truth.accuracy.referee"]
    assert not found.is_alarm
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.sentence.endswith("Too few to tell.")


def test_kinds_and_forms_stand_apart_and_those_without_cases_are_left_out() -> None:
    trials = [trial(n, "a", name="needle-long-long") for n in range(4)]
    trials += [trial(n + 4, "b", name="order-long-short") for n in range(4)]
    found = audited(trials)
    assert found["truth.needle.referee"].value == 1
    assert found["truth.order.referee"].value == 0
    assert found["truth.long-long.referee"].value == 1
    assert found["truth.longer.referee"].value == 0
    assert not {"truth.card.referee", "truth.short-long.referee"} & found.keys()


def test_a_kind_that_the_judge_can_say_nothing_of_is_told() -> None:
    trials = [trial(n, "a", name="card-short-long") for n in range(3)]
    trials += [trial(n + 3, "abstain", name="needle-short-long") for n in range(2)]
    needle = audited(trials)["truth.needle.referee"]
    assert math.isnan(needle.value)
    assert needle.n == 0
    assert "no verdict in any of 2 judgings" in needle.sentence


def test_every_share_says_of_how_many_judgings_it_is() -> None:
    trials = [trial(n, "ab"[n % 2], name="card-short-long") for n in range(6)]
    for key in ("accuracy", "card", "short-long", "longer"):
        assert "of 6 judgings" in audited(trials)[f"truth.{key}.referee"].sentence


def test_judges_stand_apart_and_their_names_are_text() -> None:
    bad = "x\x1b[31m{right}"
    trials = [trial(n, "a", judge=judge) for n in range(3) for judge in ("good", bad)]
    found = audited(trials)
    assert {key.removeprefix("truth.accuracy.") for key in found if "accuracy" in key} == {
        "good",
        bad,
    }
    assert "\x1b" not in "".join(one.sentence for one in found.values())


def test_without_such_trials_there_is_nothing_to_say() -> None:
    assert audited([]) == {}
    assert audited([trial(0, "a").model_copy(update={"kind": "attack"})]) == {}
