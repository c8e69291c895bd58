"""A dialogue passes where all its checks do; it is mended once, and dropped for what is wrong."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.asking import MODEL, Line, Pages, Script, load_bytes, run
from tests.support.written_dialogues import good
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.write_dialogue import Dialogist
from videoautoarena.graph.dialogue import (
    DialogueContext,
    DialogueState,
    MadeDialogue,
    dialogue,
    keeps_secret,
    make_dialogue,
)
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.records import Frame, VideoFrames
from videoautoarena.memory.records.scenes import Appearance, Clip, Scene, SceneMemory, SceneObject

MEMORY = SceneMemory(
    video="v",
    duration_s=60.0,
    scenes=(Scene(number=1, start_s=0.0, end_s=60.0, caption="A shelf.", shots=((0.0, 60.0),)),),
    objects=(),
)
WHOLE = Clip(id="whole", scenes=(1,), why="whole")
FRAMES = VideoFrames(
    video="v",
    width_px=64,
    height_px=36,
    frames=tuple(Frame(time_s=float(n), digest=digest(f"{n}".encode())) for n in range(128)),
)
RIGHT = "At 12.0 s."
WRONG = "At 40.0 s."
KETTLE = "A kettle."
ITEMS = [
    {"question": "Does it put it between 0:11.0 and 0:13.0?", "answer": "yes"},
    {"question": "Does it put it between 0:39.0 and 0:41.0?", "answer": "no"},
]
UNTIMED = [
    {"question": "Does it name a kettle?", "answer": "yes"},
    {"question": "Does it name a ladder?", "answer": "no"},
]
Known = dict[str, Any]


class Examiner:
    """Writes one good dialogue and answers as it should; `faults` says where it does not."""

    def __init__(self, **faults: Any) -> None:
        self._faults = faults
        self.refused: list[Any] = []
        self.script = Script(self._speak)

    def _speak(self, sending: OutgoingCall) -> Line:
        if sending.role == self._faults.get("fails"):
            return ProviderFailed("gone")
        said = getattr(self, f"_{sending.role}")(open_fences(sending.text)[1])
        return said if isinstance(said, Exception) else json.dumps(said)

    def _dialogist(self, blocks: Known) -> Any:
        self.refused.append(json.loads(blocks["refused"]) if blocks["refused"] else None)
        rounds = list(self._faults.get("rounds", good("memory_recall", 0)))
        change = self._faults.get("round", {}) if len(self.refused) <= self._tries else {}
        if rounds:
            rounds[-1] = rounds[-1].model_copy(update=change)
        if len(self.refused) <= self._tries and "early" in self._faults:
            rounds[0] = rounds[0].model_copy(update={"assistant": self._faults["early"]})
        return {"rounds": [one.model_dump(mode="json") for one in rounds]}

    @property
    def _tries(self) -> int:
        return int(self._faults.get("tries", 2))

    def _checklist_maker(self, _blocks: Known) -> Any:
        return {"items": self._faults.get("items", ITEMS)}

    def _checklist_validator(self, blocks: Known) -> Any:
        said = self._faults.get("validated", ["yes", "no"])
        count = len(blocks["checklist"].splitlines())
        return (
            {"items": [{"analysis": "It says so.", "answer": one} for one in said[:count]]}
            if count
            else {}
        )

    def _dialogue_answerer(self, blocks: Known) -> Any:
        if blocks["history"]:
            return {"answer": self._faults.get("golden", RIGHT)}
        is_other = blocks["question"] == "What is done with the cup?"
        return {"answer": self._faults.get("other" if is_other else "amnesiac", WRONG)}

    def _leak_checker(self, blocks: Known) -> Any:
        said = json.loads(blocks["dialogue"])
        assert [e["user"] for e in said if e["assistant"] is None] == [blocks["question"]]
        return {"answer": self._faults.get("blind", "The dialogue does not say it.")}

    def _checklist_marker(self, blocks: Known) -> Any:
        things = ("kettle", "ladder", "spoon", "table")
        told = {"11.0": "12.0", "39.0": "40.0", **{f"a {one}": f"A {one}" for one in things}}
        said = [
            any(key in line and value in blocks["answer"] for key, value in told.items())
            for line in blocks["checklist"].splitlines()
        ]
        words = ["yes" if one else "no" for one in said]
        return {"items": [{"analysis": "It says so.", "answer": word} for word in words]}


def shop_of(examiner: Examiner, pages: Pages | None = None, **more: Any) -> DialogueContext:
    asker = Asker(pages or Pages(), load_bytes, make_client=examiner.script)
    prompter = Prompter(asker, PromptSet.load(dialogues=True))
    dialogist = Dialogist(prompter, MODEL, MEMORY, WHOLE, FRAMES)
    return DialogueContext(dialogist, MODEL, "memory_recall", (5, 8), "d", **more)


def made(examiner: Examiner, pages: Pages | None = None, **more: Any) -> MadeDialogue:
    found: MadeDialogue = run(make_dialogue(shop_of(examiner, pages, **more)))
    return found


def test_a_dialogue_that_passes_is_kept_with_its_checklist() -> None:
    kept = made(Examiner())
    assert kept.is_done
    assert [item.text for item in kept.checklists[5]] == [one["question"] for one in ITEMS]
    assert not kept.faults


def test_it_costs_these_calls_in_this_order() -> None:
    kept = made(examiner := Examiner())
    user = kept.rounds[-1].user
    asked = []
    for sending in examiner.script.seen:
        blocks = open_fences(sending.text)[1]
        said = json.loads(blocks.get("history") or "[]")
        asked.append((sending.role, sending.frames is not None, blocks.get("question"), len(said)))
    assert asked == [
        ("dialogist", True, None, 0),
        ("checklist_maker", True, user, 4),
        ("checklist_validator", False, user, 0),
        # What it says is that nothing is known: that is held against no checklist.
        ("leak_checker", False, user, 0),
        ("dialogue_answerer", True, user, 4),
        ("checklist_marker", False, user, 0),
        ("dialogue_answerer", True, user, 0),
        ("checklist_marker", False, user, 0),
        ("dialogue_answerer", True, "What is done with the cup?", 0),
        ("checklist_marker", False, user, 0),
    ]
    assert [(one["how"], one["met"]) for one in kept.tried] == [
        ("sees no frames", [False, True]),
        ("knows all, sees other frames", [True, True]),
        ("knows no history", [False, False]),
        ("takes it for another", [False, False]),
    ]


def test_no_two_asks_share_a_key() -> None:
    first, *others, last = good("memory_recall", 0)
    cups = ("What is done with the cup?", "What is done with the cap?")
    scored = [
        last.model_copy(
            update={
                "user": f"In your first answer, kind {n}: when?",
                "refers_to": 1,
                "others": cups[:: 1 if n % 2 else -1],
            }
        )
        for n, _ in enumerate(others)
    ]
    rounds = [first, *scored, last]
    untimed = [*UNTIMED]
    kept = made(examiner := Examiner(rounds=rounds, items=untimed, golden=KETTLE))
    dropped = made(again := Examiner(rounds=rounds, items=untimed, golden=KETTLE, other=KETTLE))
    assert (kept.is_done, dropped.is_done) == (True, False)
    # Of each of four rounds: checklist and its validation, a blind answer, a knowing one and one
    # without history and what they come to, and the same of each thing it could mean beside.
    keys = [sending.key for sending in examiner.script.seen]
    assert len(keys) == len(set(keys)) == 1 + 4 * (2 + 1 + 2 + 2) + 2 * (2 + 2 + 2 + 1)
    # Once more, up to the first other meaning.
    keys = [sending.key for sending in again.script.seen]
    assert len(keys) == len(set(keys))
    assert len([s for s in again.script.seen if s.role == "checklist_maker"]) == 2 * 4


def test_who_meets_a_part_of_what_is_asked_for_does_not_answer_it() -> None:
    timed = [*UNTIMED, ITEMS[1]]
    timed[1] = {**timed[1], "answer": "yes"}
    said = {
        "golden": "A kettle. A ladder.",
        "amnesiac": KETTLE,
        "other": "A ladder.",
        "blind": KETTLE,
    }
    assert made(Examiner(items=timed, validated=["yes", "yes", "no"], **said)).is_done


@pytest.mark.parametrize("how", ["blind", "amnesiac", "other"])
def test_who_says_all_that_is_asked_for_and_more_answers_it(how: str) -> None:
    said = made(Examiner(**{how: f"{RIGHT} {WRONG}"}))
    assert [fault.reason for fault in said.faults] == 2 * [
        {"blind": "leak", "amnesiac": "memory", "other": "referent"}[how]
    ]


def test_rounds_that_ask_for_several_facts_may_be_answered_but_for_one_in_five() -> None:
    names = ("kettle", "ladder", "spoon", "table")
    items = [{"question": f"Does it name a {name}?", "answer": "yes"} for name in names]
    items.append({"question": "Is it said not to be there?", "answer": "no"})
    for ability, said, reason in (
        ("topic_shifting", 3, None),
        ("topic_shifting", 2, "unsolved"),
        ("refusal_twin", 3, "unsolved"),
    ):
        golden = " ".join(f"A {name}." for name in names[:said])
        words = [one["answer"] for one in items]
        examiner = Examiner(rounds=good(ability, 0), items=items, validated=words, golden=golden)
        found = run(make_dialogue(replace(shop_of(examiner), ability=ability)))
        assert ({fault.reason for fault in found.faults} or {None}) == {reason}


def test_it_is_asked_for_so_many_rounds_and_held_to_objects_of_the_clip() -> None:
    shop = shop_of(examiner := Examiner(), wanted=7)
    run(make_dialogue(shop))
    assert open_fences(examiner.script.seen[0].text)[1]["turns"] == "7"
    seen = Appearance(scene=1, time_s=3.0, description="It is red.")
    kettle = SceneObject(id="o1", name="kettle", appearances=(seen,))
    memory = MEMORY.model_copy(update={"objects": (kettle,)})
    shop = replace(shop, dialogist=replace(shop.dialogist, memory=memory))
    assert shop.frame.bank == {"o1": "kettle"}


def test_times_of_other_things_give_no_wide_stretch_away() -> None:
    items = [*ITEMS, {"question": "Does it say that it is not in the video?", "answer": "no"}]
    examiner = Examiner(
        rounds=good("refusal_twin", 0),
        items=items,
        validated=["yes", "no", "no"],
        early="It was touched about twelve seconds in.",
    )
    assert run(make_dialogue(replace(shop_of(examiner), ability="refusal_twin"))).is_done


def test_other_frames_than_a_player_is_sent_show_whether_it_can_be_solved() -> None:
    made(examiner := Examiner())
    seen = {
        (s.role, bool(open_fences(s.text)[1].get("history"))): {
            one.time_s for one in s.frames.frames
        }
        for s in examiner.script.seen
        if s.frames is not None
    }
    golden = seen["dialogue_answerer", True]
    alone = seen["dialogue_answerer", False]
    assert len(golden) == len(alone) == 64
    assert alone == seen["dialogist", False]
    assert not golden & alone


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        ({"round": {"refers_to": None}}, "refers"),
        ({"validated": ["yes", "open"]}, "items"),
        ({"golden": WRONG}, "unsolved"),
        ({"amnesiac": RIGHT}, "memory"),
        ({"other": RIGHT}, "referent"),
        ({"blind": RIGHT}, "leak"),
        ({"early": "It was touched about twelve seconds in."}, "values"),
    ],
)
def test_what_is_wrong_twice_is_dropped_for_that(faults: Known, reason: str) -> None:
    refused = made(examiner := Examiner(**faults))
    assert [fault.reason for fault in refused.faults] == [reason, reason]
    first, second = examiner.refused
    assert first is None
    assert second["reason"] == reason
    assert len(second["rounds"]) == 5


def test_a_dialogue_that_was_mended_is_kept_and_says_what_was_wrong() -> None:
    kept = made(Examiner(round={"refers_to": None}, tries=1))
    assert kept.is_done
    assert [fault.reason for fault in kept.faults] == ["refers"]


def test_a_dialogue_that_never_came_is_told_from_one_of_the_wrong_length() -> None:
    assert [f.reason for f in made(Examiner(rounds=[])).faults] == ["unwritten", "unwritten"]


def test_a_refused_dialogue_of_any_length_is_not_sent_back_whole() -> None:
    made(examiner := Examiner(round={"user": "x" * 100_000}))
    refused = examiner.refused[1]
    assert (refused["reason"], refused["rounds"]) == ("length", [])


@pytest.mark.parametrize(
    ("role", "scope"),
    [
        ("dialogist", "d"),
        ("checklist_maker", "d"),
        ("checklist_validator", "d"),
        ("leak_checker", "d"),
        ("dialogue_answerer", "d"),
        ("checklist_marker", "d:mark:5:0"),
    ],
)
def test_what_failed_for_good_is_said_once_and_not_repaired(role: str, scope: str) -> None:
    failed = list[str]()
    refused = made(examiner := Examiner(fails=role), on_failed=failed.append)
    assert [fault.reason for fault in refused.faults] == ["failed"]
    assert refused.faults[0].round == (None if role == "dialogist" else 5)
    assert failed == [scope]
    asked = [sending.role for sending in examiner.script.seen]
    assert (asked.count("dialogist"), asked[-1]) == (1, role)


def test_a_repetition_asks_nothing_and_says_the_same() -> None:
    pages = Pages()
    first = made(Examiner(), pages)
    again = made(examiner := Examiner(), pages)
    assert again == first
    assert not examiner.script.seen


def test_what_else_could_be_meant_is_tried_once_each() -> None:
    cup = "What is done with the cup?"
    spelt = good("memory_recall", 0)[-1].explicit
    made(examiner := Examiner(round={"others": (cup, cup.upper(), spelt)}))
    tried = [s for s in examiner.script.seen if s.role == "dialogue_answerer"]
    assert len(tried) == 3


def test_dialogues_that_are_made_at_once_come_to_the_same() -> None:
    faults = ({}, {"amnesiac": RIGHT}, {"round": {"refers_to": None}, "tries": 1})

    async def at_once() -> list[MadeDialogue]:
        shops = [shop_of(Examiner(**each)) for each in faults]
        return list(await asyncio.gather(*map(make_dialogue, shops)))

    assert run(at_once()) == [made(Examiner(**each)) for each in faults]


def test_two_tries_stay_within_the_recursion_limit_and_leave_no_checkpoint() -> None:
    async def steps() -> int:
        shop = shop_of(Examiner(amnesiac=RIGHT))
        begun = DialogueState(ask=0, faults=())
        return len([one async for one in dialogue.astream(begun, context=shop)])

    assert run(steps()) == 8
    assert dialogue.checkpointer is None


@pytest.mark.parametrize(
    ("ability", "about", "expected"),
    [
        ("memory_recall", "video", True),
        ("refusal_twin", "video", True),
        ("topic_shifting", "video", True),
        ("topic_shifting", "elsewhere", False),
        ("answer_refusal", "video", False),
        ("proactive_interaction", "video", False),
    ],
)
def test_refusals_and_rounds_away_from_the_video_have_nothing_to_give_away(
    ability: str, about: str, expected: bool
) -> None:
    one = good("memory_recall", 0)[-1].model_copy(update={"about": about})
    assert keeps_secret(ability, one) is expected
