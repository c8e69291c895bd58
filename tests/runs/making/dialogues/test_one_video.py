"""What is made of one video: of what serves it, in turn, and so often as was wanted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.asking import MODEL, Line, Pages, Script, load_bytes
from tests.support.runfiles import video
from tests.support.written_dialogues import good
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall
from videoautoarena.agents.prompting.contracts import noted_scored
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.records import Frame, Sampling, Video, VideoFrames
from videoautoarena.memory.records.scenes import Scene, SceneMemory, Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.schema import ABILITIES
from videoautoarena.runs.making.dialogues.video_dialogues import (
    MOST_CLIPS,
    SPARE,
    DialogueWish,
    Lenses,
    Making,
    VideoOutcome,
)
from videoautoarena.runs.making.scenes.bank import Remembering
from videoautoarena.runs.run.rundir.frames import RunFrames

CLIP = video()
SCENE = Scene(number=1, start_s=0.0, end_s=60.0, caption="A shelf.", shots=((0.0, 60.0),))
MEMORY = SceneMemory(video=CLIP.id, duration_s=60.0, scenes=(SCENE,), objects=())
FRAMES = VideoFrames(
    video=CLIP.id, width_px=64, height_px=36, frames=(Frame(time_s=0.0, digest="0" * 64),)
)
IS_THERE = ("Does it say that it is not there?", "Does it put it at 44 s?")


class Examiner:
    """Rates all as it is told, and writes dialogues with nothing wrong, or none."""

    def __init__(self, *, score: int = 5, is_mute: bool = False, fails: str = "") -> None:
        self._score = score
        self._is_mute = is_mute
        self._fails = fails
        self.asked: list[tuple[str, list[str]]] = []
        """Ability of each dialogue that was asked for, and what it says was asked before."""
        self.script = Script(self._speak)

    @property
    def roles(self) -> list[str]:
        return [sending.role for sending in self.script.seen]

    def _speak(self, sending: OutgoingCall) -> Line:
        if sending.role == self._fails and self.roles.count(self._fails) == 1:
            return ProviderFailed("gone")
        blocks = open_fences(sending.text)[1]
        return json.dumps(getattr(self, f"_{sending.role}")(blocks))

    def _fitness_rater(self, _blocks: Any) -> Any:
        return {one: {"analysis": "It is so.", "score": self._score} for one in ABILITIES}

    def _dialogist(self, blocks: Any) -> Any:
        ability = blocks["ability"].split("\n")[0]
        asked = json.loads(blocks["asked"] or "[]")
        self.asked.append((ability, asked))
        rounds = [] if self._is_mute else good(ability, len(asked))
        return {"rounds": [one.model_dump(mode="json") for one in rounds]}

    def _checklist_maker(self, blocks: Any) -> Any:
        is_twin = blocks["ability"].startswith("refusal_twin")
        texts = IS_THERE[::-1] if is_twin else IS_THERE
        return {"items": [{"question": t, "answer": w} for t, w in zip(texts, WORDS, strict=True)]}

    def _checklist_validator(self, _blocks: Any) -> Any:
        return {"items": [{"analysis": "It says so.", "answer": word} for word in WORDS]}

    _checklist_marker = _checklist_validator

    def _leak_checker(self, _blocks: Any) -> Any:
        return {"answer": "The dialogue does not say it."}

    def _dialogue_answerer(self, _blocks: Any) -> Any:
        return {"answer": "It is as it was said."}


WORDS = ("yes", "no")


class Known(Remembering):
    """Knows the video."""

    more: Mapping[str, Any] = {}

    async def remember(self, *_: Any, **__: Any) -> SceneMemory:
        """Return what is known of it."""
        return MEMORY.model_copy(update=self.more)


class InScenes(Known):
    """Knows two scenes, each of which might serve."""

    more: Mapping[str, Any] = {"scenes": (SCENE, SCENE.model_copy(update={"number": 2}))}


class InMany(Known):
    """Knows ten scenes of six seconds, of which nobody has looked at frames."""

    more: Mapping[str, Any] = {
        "scenes": tuple(
            SCENE.model_copy(update={"number": n, "start_s": 6.0 * n - 6, "end_s": 6.0 * n})
            for n in range(1, 11)
        )
    }


class Partly(Known):
    """Knows a part of it."""

    more: Mapping[str, Any] = {"failures": {"scenes-v:shot-1": "gone"}}


class Everywhere:
    """The same frame, whatever the stretch."""

    async def frames(self, *_: Any) -> VideoFrames:
        """Return it."""
        return FRAMES


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "calls.sqlite", {"schema": 2}) as store:
        store.add_videos([CLIP])
        yield store


def made(
    store: Store,
    examiner: Examiner,
    wish: DialogueWish,
    *,
    remembers: type[Known] = Known,
    looks: RunFrames | None = None,
    **settings: bool,
) -> VideoOutcome:
    async def play() -> VideoOutcome:
        await store.put_frames(FRAMES)
        prompter = Prompter(
            Asker(Pages(), load_bytes, make_client=examiner.script),
            PromptSet.load(dialogues=True),
        )
        frames = RunFrames(store, None, files={}, sampling=Sampling(), videos={CLIP.id: CLIP})
        remembering = remembers(prompter, MODEL, store, frames)

        async def shots(_video: Video) -> Sequence[Span]:
            return SCENE.shots

        lenses = Lenses(looks or frames, frames)
        making = Making(prompter, MODEL, remembering, lenses, shots, wish, **settings)
        return await making.play(CLIP)

    return asyncio.run(play())


REFUSALS = DialogueWish(abilities=("answer_refusal",))


@pytest.mark.parametrize(("score", "count"), [(4, 0), (5, 2), (6, 2)])
def test_only_what_is_rated_five_or_six_is_used_and_is_rated_once(
    score: int, count: int, store: Store
) -> None:
    outcome = made(store, examiner := Examiner(score=score), REFUSALS)
    assert len(outcome.items) == count
    assert examiner.roles.count("fitness_rater") == 1
    unserved = {(kind, "fitness"): 1 for kind in REFUSALS.kinds}
    assert outcome.fallen == ({} if count else unserved)


def test_a_dialogue_is_told_what_was_asked_before_it_and_a_twin_what_its_refusals_asked(
    store: Store,
) -> None:
    wish = DialogueWish(abilities=("answer_refusal",), per_video=2)
    outcome = made(store, examiner := Examiner(), wish)
    said = [one.user for item in outcome.items for one in item.rounds if one.is_scored]
    assert len(said) == 4
    kinds = ["answer_refusal"] * 2 + ["refusal_twin"] * 2
    assert examiner.asked == [(kind, said[:n]) for n, kind in enumerate(kinds)]


@pytest.mark.parametrize("per_video", [2, 4])
def test_of_what_is_refused_two_more_are_tried_and_no_others(store: Store, per_video: int) -> None:
    wish = DialogueWish(abilities=("content_summary",), per_video=per_video)
    outcome = made(store, examiner := Examiner(is_mute=True), wish)
    # Each is written twice.
    assert examiner.roles == ["fitness_rater", *["dialogist"] * 2 * (per_video + 2)]
    assert outcome.fallen == {("content_summary", "unwritten"): per_video + 2}


def test_no_more_are_tried_where_several_clips_serve(store: Store) -> None:
    wish = DialogueWish(abilities=("content_summary",), per_video=2)
    examiner = Examiner(is_mute=True)
    outcome = made(store, examiner, wish, remembers=InMany, looks=cast("RunFrames", Everywhere()))
    assert examiner.roles.count("fitness_rater") > 1
    assert examiner.roles.count("dialogist") == 2 * (2 + SPARE)
    assert outcome.fallen == {("content_summary", "unwritten"): 2 + SPARE}


def test_which_clips_are_looked_at_is_drawn_by_the_seed(store: Store) -> None:
    clips = [
        list(made(store, Examiner(score=4), wish, remembers=InMany, is_upper_bound=True).failures)
        for wish in (replace(REFUSALS, seed=seed) for seed in (1, 2, 1))
    ]
    assert len(clips[0]) == MOST_CLIPS - 1
    assert clips[0] == clips[2]
    assert set(clips[0]) != set(clips[1])


@pytest.mark.parametrize(
    ("fails", "asked", "instead"),
    [("fitness_rater", 0, 0), ("dialogist", 1, 4), ("checklist_marker", 1, 4)],
)
def test_what_hangs_on_a_failed_call_is_made_only_where_less_will_do(
    fails: str, asked: int, instead: int, store: Store
) -> None:
    wish = DialogueWish(abilities=("answer_refusal",), per_video=2)
    remembers = InScenes if fails == "fitness_rater" else Known
    outcome = made(store, waits := Examiner(fails=fails), wish, remembers=remembers)
    assert (len(waits.asked), outcome.items) == (asked - (fails == "dialogist"), [])
    assert list(outcome.failures.values()) == ["gone"]
    outcome = made(store, Examiner(fails=fails), wish, is_upper_bound=True)
    assert len(outcome.items) == instead


def test_a_video_of_which_a_part_is_not_remembered_waits_where_less_will_not_do(
    store: Store,
) -> None:
    outcome = made(store, examiner := Examiner(), REFUSALS, remembers=Partly)
    assert (outcome.items, examiner.roles) == ([], [])
    assert list(outcome.failures.values()) == ["gone"]
    less = made(store, Examiner(), REFUSALS, remembers=Partly, is_upper_bound=True)
    assert len(less.items) == 2


def test_which_items_ask_whether_a_thing_is_there_is_kept_of_each_round(store: Store) -> None:
    refusal, twin = made(store, Examiner(), REFUSALS).items
    kept = [one.made.get("denials") for item in (refusal, twin) for one in item.rounds[-1:]]
    assert kept == [[1], [2]]


def test_a_wish_for_scored_rounds_reaches_the_writer_within_the_rounds_there_are(
    store: Store,
) -> None:
    wish = DialogueWish(abilities=("answer_refusal",), turns=(5, 5), scored=7)
    outcome = made(store, examiner := Examiner(), wish)
    noted = {
        noted_scored(open_fences(sending.text)[0])
        for sending in examiner.script.seen
        if sending.role == "dialogist"
    }
    # Of five rounds the first is there to be built on.
    assert noted == {4}
    # One round is what this examiner writes all the same, and it is taken.
    assert [item.ability for item in outcome.items] == ["answer_refusal"]
    assert not outcome.repaired


def test_a_summary_is_one_round_whatever_is_wished_for() -> None:
    wish = DialogueWish(scored=3)
    assert wish.scored_of("content_summary", 8) is None
    assert [wish.scored_of("memory_recall", turns) for turns in (3, 8)] == [2, 3]
    assert DialogueWish().scored_of("memory_recall", 8) is None
