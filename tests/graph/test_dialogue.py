"""A dialogue passes where all its checks do; it is mended once, and dropped for what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.asking import MODEL, Line, Pages, Script, load_bytes, run
from tests.support.written_dialogues import good
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import Sending
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.write_dialogue import Dialogist
from videoautoarena.graph.dialogue import Made, Workshop, keeps_secret, make_dialogue
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.records import Frame, Frames
from videoautoarena.memory.records.scenes import Clip, Scene, SceneMemory

MEMORY = SceneMemory(
    video="v",
    duration_s=60.0,
    scenes=(Scene(number=1, start_s=0.0, end_s=60.0, caption="A shelf.", shots=((0.0, 60.0),)),),
    objects=(),
)
WHOLE = Clip(id="whole", scenes=(1,), why="whole")
FRAMES = Frames(
    video="v",
    width_px=64,
    height_px=36,
    frames=tuple(Frame(time_s=float(n), digest=digest(f"{n}".encode())) for n in range(128)),
)
RIGHT, WRONG = "At 12.0 s.", "At 40.0 s."
ITEMS = [
    {"question": "Does it put it between 0:11.0 and 0:13.0?", "answer": "yes"},
    {"question": "Does it put it between 0:39.0 and 0:41.0?", "answer": "no"},
]
Known = dict[str, Any]


class Examiner:
    """Writes one good dialogue and answers as it should; `faults` says where it does not."""

    def __init__(self, **faults: Any) -> None:
        self._faults = faults
        self.refused: list[Any] = []
        self.script = Script(self._speak)

    def _speak(self, sending: Sending) -> Line:
        said = getattr(self, f"_{sending.role}")(open_fences(sending.text)[1])
        return said if isinstance(said, Exception) else json.dumps(said)

    def _dialogist(self, blocks: Known) -> Any:
        if self._faults.get("is_broken"):
            return ProviderFailed("gone")
        self.refused.append(json.loads(blocks["refused"]) if blocks["refused"] else None)
        rounds = good("memory_recall", 0)
        change = self._faults.get("round", {}) if len(self.refused) <= self._tries else {}
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
        assert json.loads(blocks["dialogue"])[-1]["assistant"] is None
        return {"answer": self._faults.get("blind", "The dialogue does not say it.")}

    def _checklist_marker(self, blocks: Known) -> Any:
        held = {"11.0": "12.0" in blocks["answer"], "39.0": "40.0" in blocks["answer"]}
        return {
            "items": [
                {
                    "analysis": "It says so.",
                    "answer": "yes" if held[line.split(":")[1][:4]] else "no",
                }
                for line in blocks["checklist"].splitlines()
            ]
        }


def made(examiner: Examiner, pages: Pages | None = None) -> Made:
    asker = Asker(pages or Pages(), load_bytes, make_client=examiner.script)
    prompter = Prompter(asker, PromptSet.load(dialogues=True))
    dialogist = Dialogist(prompter, MODEL, MEMORY, WHOLE, FRAMES)
    shop = Workshop(dialogist, MODEL, "memory_recall", (5, 8), "d")
    found: Made = run(make_dialogue(shop))
    return found


def test_a_dialogue_that_passes_is_kept_with_its_checklist() -> None:
    kept = made(examiner := Examiner())
    assert kept.is_done
    assert [item.text for item in kept.checklists[5]] == [one["question"] for one in ITEMS]
    assert not kept.faults
    asked = [sending.role for sending in examiner.script.seen]
    assert asked[:3] == ["dialogist", "checklist_maker", "checklist_validator"]


def test_other_frames_than_a_player_is_sent_show_whether_it_can_be_solved() -> None:
    made(examiner := Examiner())
    seen = {
        (s.role, bool(open_fences(s.text)[1].get("history"))): {
            one.time_s for one in s.frames.frames
        }
        for s in examiner.script.seen
        if s.frames is not None
    }
    golden, alone = seen["dialogue_answerer", True], seen["dialogue_answerer", False]
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


def test_what_failed_for_good_is_not_asked_again() -> None:
    refused = made(examiner := Examiner(is_broken=True))
    assert [fault.reason for fault in refused.faults] == ["failed"]
    assert {sending.role for sending in examiner.script.seen} == {"dialogist"}


def test_a_repetition_asks_nothing_and_says_the_same() -> None:
    pages = Pages()
    first = made(Examiner(), pages)
    again = made(examiner := Examiner(), pages)
    assert again == first
    assert not examiner.script.seen


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
