"""What a model wrote stays where form and a second ask allow it; the key is drawn."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import played
from tests.support.asking import MODEL, Script, frames_of, prompter_of, run
from videoautoarena.agents.calls.clients import OutgoingCall
from videoautoarena.agents.prompting.contracts import OptionCheckerReply, PointCheckerReply
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.write_tasks import TaskCheck, TaskProposal
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Nonce, Video, VideoFrames
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.tasks import scale_of
from videoautoarena.runs.making.tasks.watch import WatchJob
from videoautoarena.runs.making.tasks.watched_items import (
    Draft,
    drafted,
    entry_of,
    find_fault,
    settled,
)
from videoautoarena.runs.making.tasks.watched_set import WatchOrder
from videoautoarena.runs.making.tasks.watching import MOST, TaskPart, Watching, WatchWish, deal
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.video.folder.find import Findings

PLOT = TaskProposal(
    "What does the woman in the red coat do once the goat has left the well?",
    "She fills the bucket again",
    ("She ties up the goat", "She sits down on the wall", "She walks off with the rope"),
    moment=(12.0, 15.0),
)
SCENE = TaskProposal(
    "Describe what happens while the goat stands at the well.",
    "In the rain a woman draws water while a goat drinks and a dog looks on.",
    points=("A woman draws water", "A goat drinks.", "A dog looks on", "It rains"),
    moment=(3.0, 9.0),
)


def video(number: int = 0) -> Video:
    sha256 = digest(f"video {number}")
    return Video(
        id=sha256[:12], sha256=sha256, path="a.mp4", size_bytes=1, duration_s=30.0, width_px=64,
        height_px=36, fps=10.0, codec="h264",
    )  # fmt: skip


def draft(said: TaskProposal = PLOT, *, seed: int = 0, kind: Any = None) -> Draft:
    return drafted(kind or ("plot" if said.wrong else "scene"), said, video(), seed=seed)


def options_checked(answer: str, *moments: tuple[float, float], names: str = "no") -> TaskCheck:
    said = [{"start_s": start, "end_s": end} for start, end in moments or [(12.5, 14.0)]]
    form = {"analysis": "so", "moments": said, "answer": answer, "names": names}
    return TaskCheck(OptionCheckerReply.model_validate(form), (0.0, 1.0))


def points_checked(*shown: str, reference: str = "yes", names: str = "no") -> TaskCheck:
    form = {
        "moments": [{"start_s": 4.0, "end_s": 8.0}],
        "points": [{"analysis": "so", "shown": one} for one in shown],
        "reference": {"analysis": "so", "shown": reference},
        "names": names,
    }
    return TaskCheck(PointCheckerReply.model_validate(form), (0.0, 1.0))


def letter_of(one: Draft) -> str:
    return "ABCD"[one.key]


def test_a_worked_example_becomes_an_item_with_its_key_in_the_drawn_place() -> None:
    one = draft()
    final = settled(one, options_checked(letter_of(one)))
    assert final == PLOT
    item = entry_of(one, PLOT, video(), {"seed": 0})
    assert sorted(item.options) == sorted((PLOT.answer, *PLOT.wrong))
    assert item.options[one.key] == item.answer == PLOT.answer
    assert (item.task, item.video_id, item.qid) == ("plot", video().id, item.own_qid())
    assert item.made["kind"] == "plot"


def test_the_key_is_as_likely_anywhere_and_the_models_order_says_nothing() -> None:
    places = Counter(draft(seed=seed).key for seed in range(2000))
    assert all(abs(places[place] - 500) < 4 * 19.4 for place in range(4))
    shuffled = {
        drafted("plot", PLOT._replace(answer=texts[0], wrong=texts[1:]), video(), seed=3).options
        for texts in permutations((PLOT.answer, *PLOT.wrong))
    }
    assert len(shuffled) == 1


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.text(min_size=8, max_size=40))
def test_options_are_those_that_were_written_whatever_is_asked(seed: int, question: str) -> None:
    one = draft(PLOT._replace(question=question), seed=seed)
    assert sorted(one.options) == sorted((PLOT.answer, *PLOT.wrong))
    assert one == draft(PLOT._replace(question=question), seed=seed)


@pytest.mark.parametrize(
    ("changed", "fall"),
    [
        ({}, None),
        ({"question": "Why?"}, "length"),
        ({"answer": "she Fills the bucket, again", "wrong": (PLOT.answer, "b c", "d")}, "options"),
        ({"wrong": ("She fills the bucket", *PLOT.wrong[1:])}, "options"),
        ({"wrong": ("None of the above", *PLOT.wrong[1:])}, "options"),
        ({"wrong": ("Both A and option B", *PLOT.wrong[1:])}, "options"),
        ({"wrong": ("!?", *PLOT.wrong[1:])}, "options"),
        ({"answer": "She fills the bucket again " * 4}, "options"),
        ({"answer": "x" * 241}, "length"),
        ({"moment": (15.0, 12.0)}, "moment"),
        ({"moment": (29.0, 33.0)}, "moment"),
        ({"moment": (0.0, 29.0)}, "moment"),
        ({"moment": None}, "moment"),
    ],
)
def test_a_choice_is_held_to_its_form(changed: dict[str, Any], fall: str | None) -> None:
    assert find_fault(draft(PLOT._replace(**changed)), video(), []) == fall


@pytest.mark.parametrize(
    ("changed", "fall"),
    [
        ({}, None),
        ({"points": SCENE.points[:2]}, "points"),
        ({"points": tuple(f"Point number {n}" for n in range(11))}, "points"),
        ({"points": (*SCENE.points, "it RAINS!")}, "points"),
        ({"points": (*SCENE.points, "x")}, "length"),
        ({"answer": "It rains."}, "length"),
        ({"moment": (31.5, 32.0)}, "moment"),
    ],
)
def test_a_description_is_held_to_its_form(changed: dict[str, Any], fall: str | None) -> None:
    assert find_fault(draft(SCENE._replace(**changed)), video(), []) == fall


def test_a_task_is_asked_once_of_a_video() -> None:
    asked = PLOT._replace(
        question="what does the Woman in the red coat do, once the goat has left the well"
    )
    assert find_fault(draft(asked), video(), [PLOT]) == "repeated"
    other = PLOT._replace(question="What does she do in the end, at the well?")
    turned = other._replace(answer=PLOT.wrong[0], wrong=(PLOT.answer, *PLOT.wrong[1:]))
    assert find_fault(draft(turned), video(), [PLOT]) == "repeated"
    fresh = other._replace(answer="She sings")
    assert find_fault(draft(fresh), video(), [PLOT]) is None


def test_a_choice_stays_only_with_the_same_key_and_one_place() -> None:
    one = draft()
    right = letter_of(one)
    for answer in "ABCD":
        assert settled(one, options_checked(answer)) == (PLOT if answer == right else "key")
    for answer in ("none", "several"):
        assert settled(one, options_checked(answer)) == "key"
    assert settled(one, options_checked(right, names="yes")) == "names"
    for moments in ([(12.0, 15.0), (20.0, 21.0)], [(16.5, 18.0)]):
        assert settled(one, options_checked(right, *moments)) == "place"
    nowhere = OptionCheckerReply(analysis="so", moments=(), answer="A", names="no")
    assert settled(one, TaskCheck(nowhere, ())) == "place"
    assert settled(one, options_checked(right, (15.9, 18.0))) == PLOT


def test_a_question_on_the_whole_needs_no_place() -> None:
    one = draft(PLOT._replace(moment=None), kind="topic")
    assert settled(one, options_checked(letter_of(one), (0.0, 1.0), (3.0, 4.0))) == one.proposal


def test_points_that_are_denied_fall_and_the_reference_says_no_more_than_was_confirmed() -> None:
    one = draft(SCENE)
    assert settled(one, points_checked("yes", "yes", "yes", "yes")) == SCENE
    kept = settled(one, points_checked("yes", "no", "yes", "yes"))
    assert isinstance(kept, TaskProposal)
    assert kept.points == ("A woman draws water", "A dog looks on", "It rains")
    assert kept.answer == "A woman draws water. A dog looks on. It rains."
    doubted = settled(one, points_checked("yes", "yes", "yes", "yes", reference="no"))
    assert isinstance(doubted, TaskProposal)
    assert doubted.points == SCENE.points
    assert doubted.answer == "A woman draws water. A goat drinks. A dog looks on. It rains."
    assert settled(one, points_checked("yes", "no", "no", "yes")) == "unshown"
    assert settled(one, points_checked("yes", "yes", "yes", "yes", names="yes")) == "names"


def test_a_scene_is_marked_as_a_scene_and_a_summary_as_a_summary() -> None:
    for kind in ("scene", "summary"):
        item = entry_of(draft(SCENE, kind=kind), SCENE, video(), {})
        assert item.points
        assert scale_of(item) == kind


def test_items_are_dealt_to_kinds_and_videos_in_turn() -> None:
    videos = [video(number) for number in range(5)]
    every = deal(WatchWish(), videos)
    assert Counter(cell.kind for cell in every) == dict.fromkeys(MOST, 5)
    assert {cell.wanted for cell in every} == {1}
    few = deal(WatchWish(("topic", "plot"), n=4), videos)
    assert len({cell.video.id for cell in few}) == 4
    assert deal(WatchWish(("topic", "plot"), n=4), videos[::-1]) == few
    assert deal(WatchWish(("topic", "plot"), n=4, seed=1), videos) != few
    many = deal(WatchWish(("summary", "plot"), n=35), videos)
    assert Counter({cell.kind: 0 for cell in many}) | _wanted(many) == {"summary": 5, "plot": 30}
    with pytest.raises(BadInput, match="of 5 videos there are 45 items at most"):
        deal(WatchWish(("summary", "plot"), n=46), videos)
    with pytest.raises(BadInput, match="no video of the folder can be used"):
        deal(WatchWish(), [])


def _wanted(cells: Any) -> Counter[str]:
    found = Counter[str]()
    for cell in cells:
        found[cell.kind] += cell.wanted
    return found


class Twice:
    """An examiner that writes one question twice and finds whatever it is asked to check."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        """What it is told was asked before, at each ask."""
        self.script = Script(self._speak)

    def _speak(self, sending: OutgoingCall) -> str:
        if sending.role == "summary_writer":
            self.asked.append(json.loads(open_fences(sending.text)[1].get("asked") or "[]"))
            said = {"question": SCENE.question, "reference": SCENE.answer, "points": SCENE.points}
            return json.dumps({"items": [said, said]})
        checked = points_checked("yes", "yes", "yes", "yes").reply
        return json.dumps({**checked.model_dump(mode="json"), "moments": []})


class Seen:
    """The frames of any video."""

    async def frames(self, video: str) -> VideoFrames:
        """Return four of them."""
        return frames_of(4, video=video)


def test_a_question_that_is_written_twice_is_one_item_and_no_later_ask_repeats_it() -> None:
    examiner = Twice()
    prompter = replace(prompter_of(examiner.script), prompts=PromptSet.load(writers=True))
    watching = Watching(prompter, MODEL, cast("RunFrames", Seen()), 0)
    outcome = run(watching.play(TaskPart("summary", video(), 2)))
    assert [item.question for item in outcome.items] == [SCENE.question]
    assert outcome.fallen == {"repeated": 3}
    assert examiner.asked == [[], [SCENE.question] * 2, [SCENE.question] * 3]


def test_a_plan_takes_off_both_asks_of_an_open_part(tmp_path: Path) -> None:
    part = TaskPart("topic", video(), 2)
    nonces = [
        Nonce(scope=part.scope, role="topic_writer"),
        Nonce(scope=f"{part.scope}:0123456789ab", role="option_checker"),
    ]
    calls = [played.call(nonce.scope, nonce=nonce) for nonce in nonces]
    battles = [played.battle(played.slot(played.video(), 0))]
    out = played.play(tmp_path / "out", battles, calls=calls)
    config = RunConfig.of_manifest(played.manifest())
    with Store.open(out / "run.sqlite", write=False) as store:
        plans = [
            WatchJob(
                store=held,
                config=config,
                prompts=PromptSet.load(writers=True),
                order=WatchOrder(folder=tmp_path, to=tmp_path / "set"),
                parts=[part],
                found=Findings([], [], []),
                notes=(),
                left=[part],
            ).plan()
            for held in (None, store)
        ]
    before, after = ({line.role: line.most_calls for line in plan.lines} for plan in plans)
    assert after == {role: most - 1 for role, most in before.items()}
    # Each of two items may be written three times, and each reply be mended once.
    assert before == {"topic_writer": 6, "option_checker": 12}
