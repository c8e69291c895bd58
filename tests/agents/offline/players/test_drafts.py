"""What may be sent of a dialogue: no round that is answered without what it is to show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from tests.support.pictures import LONG_STORY, film, seen
from videoautoarena.agents.offline.answers.answering import speak
from videoautoarena.agents.offline.language.checks import Names, Within
from videoautoarena.agents.offline.language.phrasing import Ask
from videoautoarena.agents.offline.language.turns import (
    Beside,
    Elsewhere,
    Facts,
    InAnswer,
    elsewhere,
    word,
)
from videoautoarena.agents.offline.language.values import Dice, clock
from videoautoarena.agents.offline.players.checklists import is_met, items_of
from videoautoarena.agents.offline.players.dialogist import draft_of
from videoautoarena.agents.offline.players.drafts import Plan, Thing, Wish, Written, is_fair
from videoautoarena.agents.offline.players.leaks import check_leak
from videoautoarena.agents.offline.players.rounds import Search
from videoautoarena.agents.offline.vision.frame_features import COLOURS
from videoautoarena.agents.offline.vision.sequence import coarser, sight


@pytest.fixture(scope="module")
def found() -> Search:
    return Search(sight(seen(film(LONG_STORY))))


def drafted(found: Search, ability: str) -> list[Written]:
    """Return a draft that may be sent."""
    draft = draft_of(found, Wish(ability, 5, objects=(Thing("o1", "vase", (3.0,)),)), Dice(5))
    assert is_fair(found, draft, ability)
    return draft


def recalling(found: Search, keys: Sequence[str], side: str, at_s: float) -> list[Written]:
    """Return a draft whose last round asks for this beside the moment of the first answer."""
    moment = Beside("after" if side == "after" else "before", InAnswer(1))
    scored = Plan(Facts(Ask(tuple(keys)), moment), is_scored=True, refers_to=1, meant_s=at_s)
    plain = Plan(Facts(Ask(("first_cut",))))
    # Whoever takes the second answer for the first is sent to the other end of the video.
    other_s = 0.2 if side == "before" else found.seen.duration_s - 0.2
    draft = [
        Written(plain, "When?", f"{clock(at_s)}."),
        Written(plain, "And?", f"{clock(other_s)}."),
    ]
    user = word(scored.turn, Dice(1))
    history = [one.turn for one in draft]
    return [*draft, Written(scored, user, speak("examiner", found.seen, user, history))]


def test_a_round_that_is_answered_in_part_without_the_history_is_not_fair(found: Search) -> None:
    tried = 0
    for recall in found.recalls(found.named()):
        at_s = recall.moment.at_s
        whole = (key for key in ("darkest", "brightest", "busiest", "plainest", "liveliest"))
        shared = [
            key
            for key in whole
            if (window := found.window(key, recall.side, at_s))
            and window.holds(found.whole_s(key) or -9.0)
        ]
        if is_fair(found, recalling(found, recall.keys, recall.side, at_s), "memory_recall"):
            one = recalling(found, recall.keys[:1], recall.side, at_s)
            assert not is_fair(found, one, "memory_recall"), "too few items"
            for key in shared:
                tried += 1
                three = recalling(found, (*recall.keys, key), recall.side, at_s)
                assert not is_fair(found, three, "memory_recall"), three
    assert tried


def test_a_round_beside_which_nothing_else_could_be_meant_is_not_fair(found: Search) -> None:
    draft = drafted(found, "memory_recall")
    named = draft[-1].plan.refers_to
    alone = [
        one if number in (named, len(draft)) else one._replace(assistant="I see.")
        for number, one in enumerate(draft, 1)
    ]
    assert not is_fair(found, alone, "memory_recall")


def test_a_round_that_frames_which_no_player_gets_do_not_bear_out_is_not_fair(
    found: Search,
) -> None:
    draft = drafted(found, "content_summary")
    other = copy(found)
    other.left = coarser(found.seen, 3)
    assert not is_fair(other, draft, "content_summary")


def test_a_summary_of_what_was_said_already_is_not_fair(found: Search) -> None:
    draft = drafted(found, "content_summary")
    items = items_of(found, draft[-1].user, [one.turn for one in draft[:-1]])
    time = next(item.check for item in items if item.is_yes and isinstance(item.check, Within))
    told = f"{draft[0].assistant} It was at {clock((time.a + time.b) / 2)}."
    assert not is_fair(found, [draft[0]._replace(assistant=told), *draft[1:]], "content_summary")


def test_a_refusal_that_gives_a_time_is_not_right(found: Search) -> None:
    draft = drafted(found, "answer_refusal")
    (one,) = [one for one in draft if one.plan.is_scored]
    items = items_of(found, one.user, [])
    assert is_met(items, one.assistant)
    for at_s in (1.0, 10.0, 20.0, 30.0):
        assert not is_met(items, f"{one.assistant} Look at {clock(at_s)}.")


def test_back_at_the_video_what_was_said_elsewhere_is_wrong(found: Search) -> None:
    topic = next(iter(elsewhere()))
    history = [(word(Elsewhere(topic), Dice(1)), f"It is {elsewhere()[topic]}.")]
    question = word(Facts(Ask(("first_cut", "busiest"))), Dice(1))
    far = [one for one in items_of(found, question, history) if isinstance(one.check, Names)]
    assert [(one.check, one.is_yes) for one in far] == [(Names(elsewhere()[topic]), False)]
    assert not any(isinstance(one.check, Names) for one in items_of(found, question, []))


def test_a_colour_that_passes_lasts_and_one_that_is_absent_is_nowhere(found: Search) -> None:
    other = copy(found)
    shares = np.zeros((20, len(COLOURS)), np.float32)
    for colour, frames, share in (
        ("red", range(3, 6), 0.3),
        ("green", range(7, 8), 0.3),
        ("blue", range(10), 0.3),
        ("pink", range(7, 8), 0.15),
    ):
        shares[frames, COLOURS.index(colour)] = share
    other.seen = replace(found.seen, shares=shares, times=np.arange(20.0))
    assert other.passing() == ["red"]
    assert {*other.absent()} == {*COLOURS} - {"red", "green", "blue", "pink"}


@pytest.mark.parametrize(
    ("earlier", "asked", "knows"),
    [
        ("When is it darkest?", "When is the picture darkest?", True),
        (
            "Counting only what comes after 0:01.0, when is it darkest?",
            "When is the picture darkest?",
            False,
        ),
        ("What else?", "Counting only what comes after 0:01.0, when is it darkest?", True),
    ],
)
def test_what_is_said_of_a_part_is_said_of_that_part_alone(
    earlier: str, asked: str, knows: bool
) -> None:
    rounds = [
        {"user": earlier, "assistant": "It is darkest at 0:02.0."},
        {"user": asked, "assistant": None},
    ]
    said = check_leak({"dialogue": json.dumps(rounds), "question": asked})["answer"]
    assert ("0:02.0" in str(said)) is knows
