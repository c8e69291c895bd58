"""The roles that rate what a clip is good for, write dialogues about it, and check them.

What stands in their slots is canonical JSON, so that whoever reads it takes no word of a dialogue
for one of ours; times count from the first frame of what is shown.

Source: MT-Video-Bench, collection and quality control: six abilities rated from 1 to 6, dialogues
of several rounds, checklists of questions with an expected answer; the prompts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    AnswererReply,
    ChecklistMakerReply,
    DialogistReply,
    FitnessRaterReply,
    Reply,
    RoundReply,
    checklist_validator_reply,
    scored_note,
)
from videoautoarena.agents.prompting.fences import Turn
from videoautoarena.agents.prompting.layout import thinned
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.records import Role, VideoFrames
from videoautoarena.memory.records.scenes import Clip, SceneMemory

R = TypeVar("R", bound=Reply)
SHOWN = 64
"""Frames that a player is typically sent; `other_half` returns those that it is not."""

# Every word of these is part of a call's key: with others a set under way is paid for again.
ABOUT: Mapping[str, str] = {
    "object_reference": (
        "The user points to a thing or a moment that was said before by words like 'it', 'the "
        "other one' or 'the one you named second', and asks what only the frames tell of it. "
        "Earlier rounds bring up several things that could be meant. A scored round gives objects, "
        "refers_to, explicit and others, and the user's words in it do not name the object. Who "
        "takes the words for another thing, or does not know what was said, gets it wrong."
    ),
    "memory_recall": (
        "The user goes back to an earlier round, says which (such as 'in your first answer'), and "
        "asks more deeply about what was found there. A scored round gives refers_to, explicit "
        "and others. Who does not know what was said in that round gets it wrong."
    ),
    "content_summary": (
        "The last round, and only that one, is scored: the user asks for a summary of certain "
        "points, and the answer gives at least three facts that no earlier round spoke of."
    ),
    "answer_refusal": (
        "In a scored round the user asks about something as if it were in the video. It might well "
        "be and is not. The right answer says that it is not there, and makes nothing up."
    ),
    "refusal_twin": (
        "In a scored round the user asks about something that might well not be in the video, in "
        "words like those that are listed as asked before. It is there, for a while, and the right "
        "answer says when, or what else was asked of it."
    ),
    "topic_shifting": (
        "The user leaves the video for something that has nothing to do with it (about is "
        "'elsewhere') and comes back, at least twice: video, elsewhere, video, elsewhere, video. "
        "At least two rounds are about the video alone and refer to nothing said before. The "
        "scored rounds are about the video, after a return, and name in full all that they ask for."
    ),
    "proactive_interaction": (
        "In a scored round the user is bored or has nothing to ask. The right answer points to "
        "something striking, says when it is seen, and ends with a question of its own about the "
        "video that makes the user want to look."
    ),
}
"""What each ability is, in the words told to the roles that write and check."""


class DialogueRefusal(NamedTuple):
    """What is wrong with a dialogue that was written."""

    reason: str
    """A word for it, see `graph.dialogue_checks`."""
    why: str
    """What is wrong, in a sentence."""
    round: int | None = None
    """Number of the round, from 1; None if it is about the dialogue as a whole."""
    rounds: tuple[RoundReply, ...] = ()
    """The rounds that were refused; empty if they are too long to be told."""


class DialogueBrief(NamedTuple):
    """What a dialogue is to be."""

    ability: str
    turns: int
    """Rounds that are wanted."""
    questions: tuple[str, ...] = ()
    """What the scored rounds of other dialogues asked."""
    refused: DialogueRefusal | None = None
    """The last try at it, which was refused, if any."""


class ShownRound(NamedTuple):
    """A round as it is shown to whoever makes or checks its checklist."""

    user: str
    reference: str
    history: tuple[Turn, ...] = ()
    """What was said before it."""


class ChecklistQuestion(NamedTuple):
    """A question about an answer, and what a right answer says to it."""

    text: str
    is_yes: bool


class ItemValidation(NamedTuple):
    """What a reference says to an item, as a checker read it."""

    is_yes: bool | None
    """None if the reference leaves the item open."""
    repeats: int | None
    """Number of the earlier item that it says again."""


def scenes_text(memory: SceneMemory, clip: Clip) -> str:
    """Return the slot of a clip's scenes: number, start_s, end_s and caption of each."""
    zero_s = _zero_s(clip)
    return canonical_json(
        [
            {
                "number": scene.number,
                "start_s": round(max(scene.start_s - zero_s, 0.0), 2),
                "end_s": round(scene.end_s - zero_s, 2),
                "caption": scene.caption,
            }
            for scene in memory.scenes
            if scene.number in clip.scenes
        ]
    )


def objects_text(memory: SceneMemory, clip: Clip) -> str:
    """Return the slot of a clip's objects: id, name, and scene, time_s, description where seen."""
    zero_s = _zero_s(clip)
    return canonical_json(
        [
            {
                "id": one.id,
                "name": one.name,
                "seen": [
                    {
                        "scene": seen.scene,
                        "time_s": round(max(seen.time_s - zero_s, 0.0), 2),
                        "description": seen.description,
                    }
                    for seen in one.appearances
                    if seen.scene in clip.scenes
                ],
            }
            for one in memory.seen_in(clip.scenes)
        ]
    )


def history_text(history: Sequence[Turn]) -> str:
    """Return the slot of what was said before: a list of {user, assistant}; empty if nothing."""
    return canonical_json([_turn(*one) for one in history]) if history else ""


def dialogue_text(rounds: Sequence[RoundReply], number: int) -> str:
    """Return the slot of a dialogue in which the answer of round `number`, from 1, is null."""
    return canonical_json(
        [
            _turn(one.user, None if place == number else one.assistant)
            for place, one in enumerate(rounds, 1)
        ]
    )


def checklist_text(items: Sequence[str]) -> str:
    """Return the slot of a checklist: each item on a line of its own, numbered from 1."""
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(items, 1))


def refused_text(refused: DialogueRefusal | None) -> str:
    """Return the slot of what was wrong: reason, why, round and dialogue; empty if nothing."""
    if refused is None:
        return ""
    said = refused._asdict() | {
        "rounds": [one.model_dump(mode="json") for one in refused.rounds],
    }
    return canonical_json(said)


def ability_text(ability: str) -> str:
    """Return the slot of an ability: its name on the first line, what it is on the second."""
    return f"{ability}\n{ABOUT[ability]}"


def other_half(frames: VideoFrames) -> VideoFrames:
    """Return those of these frames that a player is not sent; all if it is sent all."""
    sent = {frame.time_s for frame in thinned(frames, SHOWN).frames}
    left = tuple(frame for frame in frames.frames if frame.time_s not in sent)
    return frames.model_copy(update={"frames": left}) if left else frames


def turns_of(rounds: Sequence[RoundReply], number: int) -> tuple[Turn, ...]:
    """Return what was said before round `number`, from 1."""
    return tuple((one.user, one.assistant) for one in rounds[: number - 1])


class _DialogueCall(NamedTuple):
    """What a call is shown, and what its key is made of."""

    frames: VideoFrames | None
    slot: str
    ask: int = 0
    note: str = ""


@dataclass(frozen=True)
class Dialogist:
    """A model that writes and checks dialogues about one clip.

    Each method makes one call, or two where a reply has to be mended; or raises CallFailed. `ask`
    tells asks in equal words apart.
    """

    prompter: Prompter
    model: Model
    memory: SceneMemory
    clip: Clip
    frames: VideoFrames
    """Frames of the clip."""
    scored: int | None = None
    """Rounds of a dialogue that it is asked to score; None: as it thinks fit."""

    async def rate(self, *, slot: str) -> dict[str, int]:
        """Return how well the clip serves each of the six abilities, from 1 to 6."""
        texts = self._known
        reply = await self._said(
            "fitness_rater", FitnessRaterReply, texts, _DialogueCall(self.frames, slot)
        )
        return {ability: int(said["score"]) for ability, said in reply.model_dump().items()}

    async def write(self, asked: DialogueBrief, *, slot: str, ask: int) -> tuple[RoundReply, ...]:
        """Return the rounds of a dialogue, with their blanks folded."""
        texts = {
            **self._known,
            "ability": ability_text(asked.ability),
            "turns": str(asked.turns),
            "asked": canonical_json(list(asked.questions)) if asked.questions else "",
            "refused": refused_text(asked.refused),
        }
        note = "" if self.scored is None else scored_note(self.scored)
        reply = await self._said(
            "dialogist", DialogistReply, texts, _DialogueCall(self.frames, slot, ask, note)
        )
        return tuple(map(_folded_round, reply.rounds))

    async def list_items(
        self, ability: str, question: ShownRound, *, slot: str, ask: int
    ) -> tuple[ChecklistQuestion, ...]:
        """Return the checklist of a round."""
        texts = {
            "ability": ability_text(ability),
            "history": history_text(question.history),
            "question": question.user,
            "reference": question.reference,
        }
        role: Role = "checklist_maker"
        reply = await self._said(
            role, ChecklistMakerReply, texts, _DialogueCall(self.frames, slot, ask)
        )
        return tuple(
            ChecklistQuestion(_folded(one.question), one.answer == "yes") for one in reply.items
        )

    async def validate(
        self, question: ShownRound, items: Sequence[ChecklistQuestion], *, slot: str, ask: int
    ) -> tuple[ItemValidation, ...]:
        """Return what the reference says to each item, read without frames."""
        texts = {
            "question": question.user,
            "reference": question.reference,
            "checklist": checklist_text([item.text for item in items]),
        }
        # Without frames, as the marker has none either: the reference alone has to settle an item.
        schema = checklist_validator_reply(len(items))
        reply = await self._said(
            "checklist_validator", schema, texts, _DialogueCall(None, slot, ask)
        )
        words = {"yes": True, "no": False, "open": None}
        return tuple(ItemValidation(words[one.answer], one.repeats) for one in reply.items)

    async def answer_blind(
        self, rounds: Sequence[RoundReply], number: int, *, slot: str, ask: int
    ) -> str:
        """Return an answer to round `number` given the rest of the dialogue, without frames."""
        asked = rounds[number - 1].user
        texts = {"dialogue": dialogue_text(rounds, number), "question": asked}
        reply = await self._said(
            "leak_checker", AnswererReply, texts, _DialogueCall(None, slot, ask)
        )
        return reply.answer

    async def answer(
        self, user: str, history: Sequence[Turn], *, frames: VideoFrames, slot: str, ask: int
    ) -> str:
        """Return an answer to the user, given `frames` and `history`."""
        texts = {"history": history_text(history), "question": user}
        reply = await self._said(
            "dialogue_answerer", AnswererReply, texts, _DialogueCall(frames, slot, ask)
        )
        return reply.answer

    @property
    def _known(self) -> dict[str, str]:
        return {
            "scenes": scenes_text(self.memory, self.clip),
            "objects": objects_text(self.memory, self.clip),
        }

    async def _said(
        self, role: Role, schema: type[R], texts: Mapping[str, str], where: _DialogueCall
    ) -> R:
        task = Task(
            role, where.frames, scope=where.slot, ask=where.ask, texts=texts, note=where.note
        )
        return await self.prompter.ask_json(self.model, task, schema)


def _zero_s(clip: Clip) -> float:
    return clip.spans[0][0] if clip.spans else 0.0


def _turn(user: str, assistant: str | None) -> dict[str, str | None]:
    return {"user": user, "assistant": assistant}


def _folded_round(said: RoundReply) -> RoundReply:
    return said.model_copy(
        update={
            "user": _folded(said.user),
            "assistant": _folded(said.assistant),
            "explicit": _folded(said.explicit),
            "others": tuple(map(_folded, said.others)),
        }
    )


def _folded(text: str) -> str:
    return " ".join(text.split())
