"""A model is sent the clips most like the question, and what is known of clips is paid once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.asking import Line, Pages, Script, frames_of, prompter_of, run
from tests.support.looks import TEXTS, film
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model, Retrieval
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tasks import word_needle
from videoautoarena.agents.prompting.fences import with_options
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.answer import ContestantAnswer, answer
from videoautoarena.agents.roles.choose import read_choice
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.retrieve import LONGEST_CAPTION, best, clips_of
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import CallFailed, EmptyReply, UnusableReply
from videoautoarena.memory.records.records import Answer, Frame, VideoFrames

EMBEDDER = Model(alias="vectors", model="offline:colours")
CAPTIONER = Model(alias="describer", model="offline:hawk", max_frames=64)
PAIRS = Retrieval(frames_per_clip=2, keep=2, embedder=EMBEDDER)
SLOT = "0123456789ab-p1-r0"
MOLE = Model(alias="finder", model="offline:mole", max_frames=4, retrieval=PAIRS)
WORDS = MOLE.with_settings(retrieval=replace(PAIRS, captioner=CAPTIONER))
Numbers = st.lists(st.floats(-4, 4, width=16), min_size=3, max_size=3)


def vectors(*like: int, broken: int | None = None) -> Callable[[OutgoingCall], Line]:
    """Return a script: the clips that begin at these frames are like every question."""
    digests = {frame.digest: place for place, frame in enumerate(frames_of(64).frames)}

    def speak(sending: OutgoingCall) -> Line:
        first = digests[sending.frames.frames[0].digest] if sending.frames else None
        if sending.role == "captioner":
            return f"clip {first}"
        if sending.role == "contestant":
            return "A pancake."
        if first is not None and first == broken:
            return ""
        if sending.text.startswith("Caption:"):
            first = int(sending.text.split()[-1])
        return json.dumps([1.0, 0.1] if first in (None, *like) else [0.0, 1.0])

    return speak


class Late(Script):
    """Says nothing at once, and all else later."""

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        received = await super().send(sending)
        for _ in range(20 * bool(received.text)):
            await asyncio.sleep(0)
        return received


def said(
    script: Script, journal: Pages, *, model: Model = MOLE, slot: str = SLOT, generation: int = 0
) -> Answer:
    prompter = prompter_of(script, journal=journal)
    prompter = replace(prompter, generations=lambda _: (*range(generation), generation))
    return run(asked_of(prompter, model, slot=slot)).answer


async def asked_of(
    prompter: Prompter, model: Model = MOLE, *, slot: str = SLOT, seat: Literal[0, 1] = 0
) -> ContestantAnswer:
    question = "What is thrown?"
    return await answer(
        prompter, model, frames=frames_of(12), question=question, slot=slot, seat=seat
    )


def roles_of(script: Script) -> Counter[str]:
    return Counter(sending.role for sending in script.seen)


@given(total=st.integers(0, 200), each=st.integers(1, 70))
def test_every_frame_is_in_one_clip(total: int, each: int) -> None:
    clips = clips_of(total, each)
    assert [place for clip in clips for place in clip] == list(range(total))
    assert all(len(clip) == each for clip in clips[:-1])
    assert all(1 <= len(clip) <= each for clip in clips)


@given(clips=st.lists(Numbers, max_size=12), question=Numbers, keep=st.integers(1, 6))
def test_the_best_clips_come_in_order_of_time(
    clips: list[list[float]], question: list[float], keep: int
) -> None:
    kept = best(clips, question, keep=keep)
    assert kept == sorted(set(kept))
    assert len(kept) == min(keep, len(clips))
    # How long a vector is says nothing of what it is like.
    assert best([[4 * x for x in clip] for clip in clips], question, keep=keep) == kept


def test_of_equal_clips_the_first_are_kept() -> None:
    assert best([[1.0, 0.0]] * 5, [2.0, 1.0], keep=2) == [0, 1]
    assert best([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [1.0, 0.0], keep=1) == [1]


def test_the_frames_of_the_best_clips_are_sent_in_order_of_time() -> None:
    script = Script(vectors(8, 2))
    found = said(script, Pages())
    whole = frames_of(12).frames
    assert found.frames == tuple(whole[place].time_s for place in (2, 3, 8, 9))
    assert roles_of(script) == {"embedder": 7, "contestant": 1}


def test_what_is_known_of_a_video_serves_its_next_question() -> None:
    journal = Pages()
    said(Script(vectors(8, 2)), journal)
    script = Script(vectors(8, 2))
    said(script, journal, slot="0123456789ab-p1-r1")
    assert roles_of(script) == {"embedder": 1, "contestant": 1}
    assert said(Script([]), journal) == said(Script([]), journal)


def test_a_video_of_no_more_clips_is_sent_whole_and_nobody_looks_for_any() -> None:
    script = Script(vectors())
    model = MOLE.with_settings(max_frames=12, retrieval=replace(PAIRS, keep=6))
    assert len(said(script, Pages(), model=model).frames) == 12
    assert roles_of(script) == {"contestant": 1}


def test_a_captioner_puts_each_clip_into_words_that_are_embedded() -> None:
    script = Script(vectors(0, 10))
    found = said(script, Pages(), model=WORDS)
    whole = frames_of(12).frames
    assert found.frames == tuple(whole[place].time_s for place in (0, 1, 10, 11))
    assert roles_of(script) == {"captioner": 6, "embedder": 7, "contestant": 1}
    assert all(one.frames is None for one in script.seen if one.role == "embedder")


def test_a_clip_without_a_vector_fails_the_answer_and_is_asked_again_alone() -> None:
    journal = Pages()
    with pytest.raises(CallFailed):
        said(Late(vectors(8, 2, broken=4)), journal)
    # The others have been paid for by then, and are kept.
    assert sum(row.reply is not None for row in journal.rows.values()) == 6
    with pytest.raises(CallFailed):
        said(Script([]), journal)
    script = Script(vectors(8, 2))
    found = said(script, journal, generation=1)
    assert roles_of(script) == {"embedder": 1, "contestant": 1}
    assert len(found.frames) == 4
    assert said(Script([]), journal, generation=1) == found


def test_what_an_older_generation_learns_later_changes_no_newer_one() -> None:
    journal = Pages()
    found = said(Script(vectors(8, 2)), journal, generation=1)
    said(Script(vectors(0, 4)), journal, slot="0123456789ab-p2-r0")
    assert said(Script([]), journal, generation=1) == found


def test_what_was_no_vector_is_asked_for_again_where_its_slot_is_played_again() -> None:
    journal = Pages()
    with pytest.raises(UnusableReply):
        said(Script(lambda sending: "none" if sending.frames else "[1.0, 2.0]"), journal)
    script = Script(vectors(8, 2))
    found = said(script, journal, generation=1)
    assert roles_of(script) == {"embedder": 6, "contestant": 1}
    assert said(Script([]), journal, generation=1) == found
    with pytest.raises(UnusableReply):
        said(Script([]), journal)


@pytest.mark.parametrize("caption", ["<think>A square.</think>", ""])
def test_a_caption_without_words_fails_the_answer(caption: str) -> None:
    script = Script(lambda sending: caption if sending.role == "captioner" else "[1.0]")
    with pytest.raises(EmptyReply):
        said(script, Pages(), model=WORDS)


def test_of_a_long_caption_only_the_beginning_is_embedded() -> None:
    script = Script(lambda sending: "x" * 9_999 if sending.role == "captioner" else "[1.0]")
    said(script, Pages(), model=WORDS)
    captions = [one.text for one in script.seen if one.text.startswith("Caption:")]
    assert {len(text) for text in captions} == {len("Caption:\n") + LONGEST_CAPTION}


@pytest.mark.parametrize(
    "reply",
    [
        "[1.0, NaN]",
        "[]",
        "none",
        '{"a": 1}',
        '["x"]',
        "[1e300, -1e300]",
        "[" * 99_999,
        f"[{'9' * 999}]",
    ],
)
def test_what_is_no_vector_fails_the_answer(reply: str) -> None:
    with pytest.raises(UnusableReply, match="embedder gave no vector"):
        said(Script(lambda _: reply), Pages())


def test_vectors_of_several_lengths_fail_the_answer() -> None:
    script = Script(lambda sending: "[1.0]" if sending.frames else "[1.0, 2.0]")
    with pytest.raises(UnusableReply, match="several lengths"):
        said(script, Pages())


def test_two_that_look_for_the_same_clips_at_once_pay_once() -> None:
    script = Script(vectors(8, 2))
    prompter = prompter_of(script)

    async def both() -> list[ContestantAnswer]:
        return await asyncio.gather(asked_of(prompter, seat=0), asked_of(prompter, seat=1))

    one, other = run(both())
    assert one.answer.frames == other.answer.frames
    assert roles_of(script) == {"embedder": 7, "contestant": 2}


def test_a_slot_that_is_played_again_beside_a_first_one_pays_for_no_clip_twice() -> None:
    script = Script(vectors(8, 2))
    again = "0123456789ab-p2-r0"
    prompter = replace(
        prompter_of(script), generations=lambda scope: (0, 1) if scope == again else (0,)
    )

    async def both() -> list[ContestantAnswer]:
        return await asyncio.gather(asked_of(prompter, slot=again), asked_of(prompter))

    run(both())
    assert roles_of(script) == {"embedder": 6 + 2, "contestant": 2}


def test_clips_make_a_model_of_few_frames_find_what_it_misses() -> None:
    right = {"finder": 0, "plain": 0}
    for seed in range(12):
        chance = Random(seed)
        options = chance.sample(TEXTS, 4)
        key = chance.randrange(4)
        shown = film((TEXTS.index(options[key]), chance.randrange(1, 59)))
        jpegs = {digest(jpeg): jpeg for _, jpeg in shown}
        frames = VideoFrames(
            video=f"{seed:012d}",
            width_px=160,
            height_px=90,
            frames=tuple(Frame(time_s=at, digest=digest(jpeg)) for at, jpeg in shown),
        )

        async def load(
            _video: str, digests: list[str], known: dict[str, bytes] = jpegs
        ) -> list[bytes]:
            return [known[one] for one in digests]

        prompter = Prompter(Asker(Pages(), load), PromptSet.load())
        question = with_options(word_needle(Dice(seed)), options)
        for model in (MOLE, MOLE.with_settings(alias="plain", retrieval=None)):
            asked = answer(
                prompter,
                model,
                frames=frames,
                question=question,
                slot=SLOT,
                seat=0 if model is MOLE else 1,
            )
            right[model.alias] += read_choice(run(asked).answer.text, options).place == key
    assert right["finder"] == 12
    assert right["plain"] <= 8
