"""Which models are asked a bad question again, whom they meet, and when a question is hard."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, cast

import pytest

from tests.support.asking import Line, Script, frames_of, prompter_of, run
from tests.support.audited import fought
from tests.support.canned import judged
from tests.support.played import manifest
from videoautoarena.agents.calls.clients import OutgoingCall
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.records import StoredAnswer, Verdict, VideoFrames
from videoautoarena.runs.bench.selecting.asking import HardFound
from videoautoarena.runs.bench.selecting.hard import (
    BadQuestion,
    HardMatch,
    Side,
    Tried,
    candidates_of,
    try_model,
)
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.frames import RunFrames

CONFIG = RunConfig.of_manifest(manifest())


def tried(verdict: Verdict, bad: Side = "a", **more: Any) -> Tried:
    return Tried("owl", bad, verdict, "An onion.", **more)


@pytest.mark.parametrize(
    ("verdict", "bad", "came"),
    [
        ("b", "a", "passed"),
        ("a", "b", "passed"),
        ("tie_good", "a", "passed"),
        ("a", "a", "failed"),
        ("tie", "a", "failed"),
        ("tie_bad", "b", "failed"),
        ("split", "a", "failed"),
        ("forfeit_b", "a", "failed"),
        ("void", "a", "void"),
    ],
)
def test_a_model_fails_where_it_is_found_no_better_than_a_bad_answer(
    verdict: Verdict, bad: Side, came: str
) -> None:
    assert tried(verdict, bad).came == came


def test_a_question_is_hard_where_more_failed_than_did_not() -> None:
    bad = fought(0, "hawk", "owl", "tie_bad")
    fails = tried("a")
    passes = tried("b")
    void = tried("void")
    assert BadQuestion(bad, (fails, fails, passes)).is_hard
    assert not BadQuestion(bad, (fails, passes)).is_hard
    assert not BadQuestion(bad, (void,)).is_hard
    assert BadQuestion(bad, (void,)).share is None
    assert BadQuestion(bad, (fails, passes, void)).share == 0.5


def test_only_battles_of_both_bad_answers_are_asked_again_and_only_of_others() -> None:
    played = [fought(0, "hawk", "owl", "tie_bad"), fought(1, "hawk", "owl", "tie")]
    found = candidates_of(played, CONFIG)
    assert [battle.id for battle in found.battles] == ["battle-0"]
    assert [meeting.model for meeting in found.meetings] == ["mole"]


def test_who_met_one_of_the_answers_as_a_newcomer_is_not_asked() -> None:
    first = fought(0, "hawk", "owl", "tie_bad")
    guest = fought(1, "hawk", "mole", "a", borrowed=StoredAnswer(battle="battle-0", seat="a"))
    found = candidates_of([first, guest], CONFIG)
    assert found.meetings == []
    (known,) = found.known.values()
    assert (known.model, known.came, known.is_asked) == ("mole", "failed", False)


def test_a_newcomer_that_forfeited_is_asked_since_its_provider_may_have_been_down() -> None:
    first = fought(0, "hawk", "owl", "tie_bad")
    borrowed = StoredAnswer(battle="battle-0", seat="a")
    guest = fought(1, "hawk", "mole", "forfeit_b", answer_b=None, borrowed=borrowed)
    found = candidates_of([first, guest], CONFIG)
    assert [meeting.model for meeting in found.meetings] == ["mole"]


def test_whoever_sees_no_frame_is_not_asked() -> None:
    cast = manifest()["cast"]
    cast["mole"]["max_frames"] = 0
    blind = RunConfig.of_manifest(manifest(cast=cast))
    assert candidates_of([fought(0, "hawk", "owl", "tie_bad")], blind).meetings == []


def test_both_bad_answers_are_met_and_so_both_seats_are_taken() -> None:
    played = [fought(number, "hawk", "owl", "tie_bad") for number in range(40)]
    seats = Counter(meeting.bad for meeting in candidates_of(played, CONFIG).meetings)
    assert min(seats["a"], seats["b"]) > 10


class Seen:
    """The frames of any video."""

    async def frames(self, video: str) -> VideoFrames:
        """Return four of them."""
        return frames_of(4, video=video)


SEEN = cast("RunFrames", Seen())


@pytest.mark.parametrize(
    ("said", "came"), [(ProviderFailed("down"), "void"), ("<think>Let me see.</think>", "failed")]
)
def test_who_says_nothing_fails_and_a_provider_that_fails_says_nothing_of_a_question(
    said: Line, came: str
) -> None:
    script = Script(lambda _: said)
    meeting = HardMatch(fought(0, "hawk", "owl", "tie_bad"), "mole", "a")
    found = run(try_model(prompter_of(script), CONFIG, meeting, SEEN))
    assert (found.came, found.is_lost, found.answer) == (came, True, None)


def test_an_answer_that_never_came_is_a_verdict_and_no_lost_one() -> None:
    lost = (tried("forfeit_b", is_lost=True), tried("void", is_lost=True), tried("void"))
    bad = BadQuestion(fought(0, "hawk", "owl", "tie_bad"), (*lost, tried("a")))
    assert HardFound([bad], asked=4).lost_share == 0.25


@pytest.mark.parametrize("bad", ["a", "b"])
@pytest.mark.parametrize("swap", ["all", 0.0])
@pytest.mark.parametrize("likes_mine", [True, False])
def test_the_judges_meet_the_new_answer_opposite_the_bad_one(
    bad: Side, swap: Any, likes_mine: bool
) -> None:
    played = fought(0, "hawk", "owl", "tie_bad", answer_a="STORED A", answer_b="STORED B")
    shown: list[str] = []

    def speak(sending: OutgoingCall) -> str:
        text = sending.text
        if sending.role == "contestant":
            return "MINE"
        shown.append(text)
        assert f"STORED {bad.upper()}" in text
        assert f"STORED {'B' if bad == 'a' else 'A'}" not in text
        is_first = text.index("MINE") < text.index("STORED")
        return json.dumps(judged("A" if is_first == likes_mine else "B", "Fine."))

    config = CONFIG.model_copy(update={"swap": swap})
    meeting = HardMatch(played, "mole", bad)
    found = run(try_model(prompter_of(Script(speak)), config, meeting, SEEN))
    assert found.came == ("passed" if likes_mine else "failed")
    assert found.answer == "MINE"
    assert len(shown) == (2 if swap == "all" else 1)
