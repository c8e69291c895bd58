"""Playing dialogues: each scored round is asked by itself, and its reply held against a checklist.

Behind the frames a player is sent the rounds before: as the reference has them, which is the golden
history, or as it answered them itself, so that each of those is asked, too, in their order. Frames
are those of the dialogue's stretches, the same in all rounds. The marker sees question, reference,
reply and items, no frames and no history.

Source: MT-Video-Bench, evaluation; own history is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Literal

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import YesNo
from videoautoarena.agents.prompting.fences import Turn
from videoautoarena.agents.roles.answer import answer
from videoautoarena.agents.roles.mark import ReplyWithChecklist, check_off
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import CallFailed, FramesLost, UnusableVideo
from videoautoarena.memory.records.records import VideoFrames
from videoautoarena.runs.bench.format.results import History, RoundLine
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.play.cast import Player
from videoautoarena.runs.bench.play.game import NO_VIDEO, Game, Outcome, Said, scope_of


def asked_rounds(item: DialogueItem, history: History) -> list[int]:
    """Return the numbers of the rounds that are asked, from 1.

    With its own history a player answers all up to the last that is scored, else the scored alone.
    """
    scored = [number for number, one in enumerate(item.rounds, 1) if one.is_scored]
    # Nobody is paid for a round behind the last that is scored.
    return list(range(1, max(scored, default=0) + 1)) if history == "own" else scored


def round_scope(item: DialogueItem, number: int) -> str:
    """Return the scope of the answers to one round."""
    return f"{scope_of(item)}:r{number}"


def golden_turns(item: DialogueItem, number: int) -> list[Turn]:
    """Return the rounds before one, as the reference has them."""
    return [(one.user, one.reference) for one in item.rounds[: number - 1]]


@dataclass(frozen=True)
class DialogueGame(Game[DialogueItem]):
    """Plays dialogues through a prompter."""

    @cached_property
    def judge(self) -> Model:
        """Who holds replies against checklists."""
        return self.cast.config.model_of(self.cast.config.judges[0])

    def asked(self, item: DialogueItem) -> str:
        """Return what the user says last."""
        return item.rounds[-1].user if item.rounds else ""

    async def play(self, item: DialogueItem, player: Player) -> Outcome:
        """Return how the scored rounds of a dialogue ended, in their order."""
        lines = list[RoundLine]()
        replies = list[str]()
        broken = self.unasked(item, player)
        for number in asked_rounds(item, player.history):
            said = broken or await self.reply(item, player, number, replies)
            replies.append(said.text or "")
            # Every later prompt would have to quote an answer that does not exist, so none is sent.
            if said.text is None and player.history == "own" and broken is None:
                why = f"round {number}, which it goes on from, has {said.reason}"
                broken = Said(None, why, is_ours=said.is_ours)
            if item.rounds[number - 1].is_scored:
                lines.append(await self._line(item, number, said))
        forfeits = [line for line in lines if line.end == "forfeit"]
        voids = [line for line in lines if line.end in ("void", "unscored")]
        # A dialogue with both is a forfeit, since that is the model's own fault.
        if forfeits:
            return Outcome(lines, [], "forfeit", forfeits[0].reason)
        if voids:
            return Outcome(lines, [], "void", voids[0].reason)
        return Outcome(lines, [], "judged")

    def unasked(self, item: DialogueItem, player: Player) -> Said | None:
        """Return why a player cannot be asked about a dialogue; None if it can."""
        end_s = 0.0
        # Who needs no video is asked without its file, so its length is unknown and bounds nothing.
        duration_s = inf
        if self.cast.needs_video(player):
            if (why := self.films.lost.get(item.video_id)) is not None:
                return Said(None, f"{NO_VIDEO}: {why}", is_ours=True)
            duration_s = self.films.videos[item.video_id].duration_s
        # Spans come with the set and may be anybody's: what lies outside of the video has no
        # frames, which is no fault of the player.
        for start, end in item.spans:
            if not end_s <= start < end or start >= duration_s:
                why = f"the video has no stretch from {start:g} s to {end:g} s"
                return Said(None, f"no answer: {why}", is_ours=True)
            end_s = end
        return None

    async def reply(
        self, item: DialogueItem, player: Player, number: int, replies: Sequence[str]
    ) -> Said:
        """Return what a player answers in one round; `replies` are its own to those before."""
        if player.model is None:
            return Said(None, "no answer was handed in")
        history = golden_turns(item, number)
        if player.history == "own":
            history = [(user, own) for (user, _), own in zip(history, replies, strict=True)]
        scope = round_scope(item, number)
        try:
            # Players of one model may ask the same under one key, which may not be in flight twice.
            async with self.prompter.asker.in_turn(f"{scope} {player.model.resolved}"):
                said = await answer(
                    self.prompter,
                    player.model,
                    frames=await self.seen(item, player),
                    question=item.rounds[number - 1].user,
                    slot=scope,
                    seat=0,
                    history=history,
                )
        except UnusableVideo as why:
            return Said(None, f"no answer: {why}", is_ours=True)
        except CallFailed as failure:
            self.on_failed(scope)
            return Said(None, f"no answer: {failure}", is_ours=isinstance(failure, FramesLost))
        return Said(said.answer.text, row=said.row)

    async def marks(self, item: DialogueItem, number: int, text: str) -> tuple[YesNo, ...]:
        """Return what the judge says of a reply, item by item; equal replies are marked once."""
        # By the reply alone: what is answered alike is marked once, whatever came before.
        scope = f"{round_scope(item, number)}:{digest(text)[:12]}"
        asked = item.rounds[number - 1]
        items = tuple(check.text for check in asked.checklist)
        case = ReplyWithChecklist(asked.user, asked.reference, text, items)
        try:
            async with self.prompter.asker.in_turn(scope):
                return await check_off(self.prompter, self.judge, case=case, slot=scope)
        except CallFailed:
            self.on_failed(scope)
            raise

    def has_frames(self, item: DialogueItem) -> bool:
        """Return whether the frames of its stretches are known, or no player needs them."""
        if all(self.unasked(item, player) is not None for player in self.cast.players):
            return True
        return self.run_frames.has(self.films.videos[item.video_id].id, item.spans)

    async def frames(self, item: DialogueItem) -> VideoFrames:
        """Return the frames of the stretches that a dialogue is about."""
        return await self.run_frames.frames(self.films.videos[item.video_id].id, item.spans)

    async def _line(self, item: DialogueItem, number: int, said: Said) -> RoundLine:
        line = RoundLine(qid=item.qid, round=number, end="answered", response=said.text)
        if said.text is None:
            end: Literal["void", "forfeit"] = "void" if said.is_ours else "forfeit"
            return line.model_copy(update={"end": end, "reason": said.reason})
        if (row := said.row) is not None:
            line = line.model_copy(update={"ending": row.ending, "usd": row.cost_usd})
        try:
            marks = await self.marks(item, number, said.text)
        except CallFailed as failure:
            why = {"end": "unscored", "reason": f"not marked: {failure}"}
            return line.model_copy(update=why)
        return line.model_copy(update={"answers": list(marks)})
