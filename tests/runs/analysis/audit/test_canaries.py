"""What an audit says of canaries and of questions that need no video."""

from __future__ import annotations

import math

from tests.support.audited import audited, by_key, entry, fought
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.canaries import audit_canaries, audit_leak
from videoautoarena.runs.rating.finding import Finding

STAND_INS = {
    kind: entry(f"offline:{kind}")
    for kind in ("hawk", "mole", "parrot", "terse", "windbag", "trickster")
}
CAST = STAND_INS | {"unseeing": entry("offline:blind", frames=0)}


def ladder(*names: str, times: int = 60) -> list[Battle]:
    """Every one meets every other, on videos shared by all, and beats those behind it mostly."""
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    return [
        fought(n, a, b, "b" if n % 4 == 0 else "a", video=f"v{n}")
        for n in range(times)
        for a, b in pairs
    ]


def test_canaries_in_their_places_pass() -> None:
    battles = ladder("hawk", "terse", "windbag", "trickster", "unseeing", "parrot")
    found = by_key(audit_canaries(audited(battles, cast=CAST)))
    assert set(found) == {
        *("canary.parrot", "canary.blind.unseeing", "canary.windbag", "canary.trickster")
    }
    for finding in found.values():
        assert "passes" in finding.sentence
        assert not finding.is_alarm
        assert finding.low < finding.value < finding.high
        assert finding.value > 0
        assert finding.n == len(battles)
    assert "unseeing is ahead of it by" in found["canary.parrot"].sentence


def test_a_canary_far_above_its_place_is_an_alarm_that_names_whom_it_passed() -> None:
    battles = ladder("windbag", "unseeing", "hawk", "mole", "terse", "parrot")
    found = by_key(audit_canaries(audited(battles, cast=CAST)))
    assert found["canary.blind.unseeing"].is_alarm
    assert "FAILS" in found["canary.blind.unseeing"].sentence
    assert "better than mole" in found["canary.blind.unseeing"].sentence
    assert found["canary.windbag"].is_alarm
    assert not found["canary.parrot"].is_alarm


def test_a_canary_fails_only_where_its_interval_leaves_out_zero() -> None:
    def of(wins: int) -> Finding:
        battles = [fought(k, "windbag", "terse", "a" if k < wins else "b") for k in range(40)]
        return by_key(audit_canaries(audited(battles, cast=CAST)))["canary.windbag"]

    chance = of(26)
    sure = of(27)
    assert "better than terse with a probability of 96" in chance.sentence
    assert chance.low < 0 < chance.high
    assert not chance.is_alarm
    assert "FAILS" in sure.sentence
    assert sure.high < 0
    assert sure.is_alarm


def test_on_a_few_battles_nothing_is_clear() -> None:
    battles = [fought(0, "hawk", "unseeing", "a"), fought(1, "hawk", "unseeing", "b")]
    found = by_key(audit_canaries(audited(battles, cast=CAST)))
    assert "is undecided" in found["canary.blind.unseeing"].sentence


def test_one_video_tells_nothing_of_others() -> None:
    battles = [fought(k, "hawk", "unseeing", "ab"[k], video="v") for k in range(2)]
    (found,) = audit_canaries(audited(battles, cast=CAST))
    assert math.isnan(found.low)
    assert "one video" in found.sentence


def test_canaries_apart_from_the_others_are_not_placed() -> None:
    battles = [fought(0, "parrot", "unseeing", "b"), fought(1, "hawk", "terse", "a")]
    found = by_key(audit_canaries(audited(battles, cast=CAST)))
    assert "met none of the models" in found["canary.blind.unseeing"].sentence


def test_real_models_have_no_canary_but_one_without_frames() -> None:
    cast = {"gpt": entry("openai:gpt-4o"), "flash": entry("google_genai:gemini-2.5-flash")}
    (found,) = audit_canaries(audited([fought(0, "gpt", "flash", "a")], cast=cast))
    assert (found.key, found.n) == ("canary.any", 0)
    cast["flash"] = entry("google_genai:gemini-2.5-flash", frames=0)
    (found,) = audit_canaries(audited(ladder("gpt", "flash"), cast=cast))
    assert found.key == "canary.blind.flash"


def test_questions_won_without_a_frame_are_named_those_of_late_rounds_first() -> None:
    won = [fought(k, "unseeing", "hawk", "a", round=k % 2) for k in range(4)]
    lost = [fought(4 + k, "hawk", "unseeing", "a") for k in range(12)]
    idle = [fought(20, "unseeing", "parrot", "a"), fought(21, "hawk", "mole", "a")]
    (found,) = audit_leak(audited([*won, *lost, *idle], cast=CAST))
    assert (found.key, found.value, found.n) == ("leak.blind.unseeing", 0.25, 16)
    assert "battle-1, battle-3, battle-0, battle-2" in found.sentence
    assert "that saw the video, the constant answer aside" in found.sentence
    assert not found.is_alarm


def test_a_tie_without_a_frame_is_half_a_point_and_no_win() -> None:
    battles = [fought(k, "unseeing", "hawk", "a" if k < 6 else "tie") for k in range(8)]
    (found,) = audit_leak(audited(battles, cast=CAST))
    assert "(45.8 to 98.3) of the points (a tie is half) in 8 questions" in found.sentence
    assert "aside" not in found.sentence


def test_questions_that_mostly_need_no_video_are_an_alarm() -> None:
    battles = [fought(k, "unseeing", "hawk", "a" if k % 3 else "tie") for k in range(60)]
    (found,) = by_key(audit_leak(audited(battles, cast=CAST))).values()
    assert found.is_alarm
    assert "and 35 more" in found.sentence


def test_without_anyone_unseeing_it_says_how_to_learn_it() -> None:
    (found,) = audit_leak(audited([fought(0, "hawk", "mole", "a")], cast=CAST))
    assert "max_frames = 0" in found.sentence
