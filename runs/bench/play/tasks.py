"""Playing tasks that have a right answer: asked once, chosen in free words, or marked by a key.

Whether a choice is right is not decided here: a reply is read when scores are made. Free text is
marked by a judge that sees the key and no frames. A player may be shown less than the whole, which
is how a set is probed: no frames, one, all in another order, or those of another video.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.fences import LETTERS, with_options
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.mark import MARKERS, AnswerMarks, AnswerWithKey, Scale, mark
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.retrieve import share_of
from videoautoarena.memory.records.digests import derive, digest
from videoautoarena.memory.records.errors import BadInput, CallFailed, JournalMiss, UnusableVideo
from videoautoarena.memory.records.records import VideoFrames
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import AnyResult, TaskLine, TaskResult, read_tasks
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.play.cast import (
    BenchCast,
    CastRequest,
    Player,
    refuse_dialogue_options,
    task_cast,
)
from videoautoarena.runs.bench.play.forecast import PlannedCall
from videoautoarena.runs.bench.play.game import Game, Outcome, Said, no_frames, scope_of
from videoautoarena.runs.bench.play.rules import PlayerRules
from videoautoarena.runs.bench.play.tally import Outcomes, facts_of, retrieval_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.reader import counted

FACTS = (
    "model", "max_frames", "judge", "seed", "questions", "forfeits", "voids", "prompts",
    "contracts", "reading",
)  # fmt: skip
"""What a result says of how it came to be, in this order, beside what its player was shown."""


@dataclass(frozen=True)
class TaskGame(Game[TaskItem]):
    """Plays tasks through a prompter."""

    @cached_property
    def judge(self) -> Model | None:
        """Who marks free text; None if the set has none."""
        judges = self.cast.config.judges
        return self.cast.config.model_of(judges[0]) if judges else None

    def asked(self, item: TaskItem) -> str:
        """Return the question, with its options where it has some."""
        return with_options(item.question, item.options) if item.is_choice else item.question

    async def play(self, item: TaskItem, player: Player) -> Outcome:
        """Return how a task ended: one call for an answer; free text takes one more, or two."""
        said = await self.answer(item, player)
        if said.text is None:
            end: Literal["void", "forfeit"] = "void" if said.is_ours else "forfeit"
            line = TaskLine(qid=item.qid, end=end, reason=said.reason)
            return Outcome([line], [], end, said.reason)
        if item.is_choice:
            return Outcome([_line(item, said)], [], "judged")
        line = await self._marked(item, said.text, _line(item, said))
        return Outcome([line], [], "judged" if line.end == "answered" else "void", line.reason)

    async def answer(self, item: TaskItem, player: Player) -> Said:
        """Return what a player answers; what was handed in is not asked for."""
        # One unusable item of an import ends no set: it is void, and the others are asked.
        if item.is_choice and not 1 < len(item.options) <= len(LETTERS):
            offered = counted(len(item.options), "option")
            return Said(
                None, f"2 to {len(LETTERS)} options can be asked, not {offered}", is_ours=True
            )
        return await super().answer(item, player)

    async def seen(self, item: TaskItem, player: Player) -> VideoFrames:
        """Return the frames that a player is shown, by its view of the video."""
        if player.is_blind:
            return no_frames(item)
        frames = await self.frames(item)
        if player.view == "whole" or player.model is None:
            return frames
        if player.view == "other":
            if (other := self._other(item)) is None:
                raise UnusableVideo("there is no other video to show")
            frames = await self.run_frames.frames(other)
        # Words would tell what the frames are kept back for.
        frames = frames.model_copy(update={"subtitles": None, "captions": ()})
        if player.view == "one":
            middle = len(frames.frames) // 2
            return frames.model_copy(update={"frames": frames.frames[middle : middle + 1]})
        if player.view == "other":
            return frames
        # Its share is taken first: it sees the pictures that it would see anyway, in another order.
        sent = await share_of(
            self.prompter,
            player.model,
            frames=frames,
            question=self.asked(item),
            slot=scope_of(item),
        )
        return self._shuffled(sent, item)

    def shown(self, item: TaskItem, player: Player) -> tuple[str, ...]:
        """Return the own ids of the videos a player is shown, first the one it is asked about."""
        other = self._other(item) if _sees_other(player) else None
        return super().shown(item, player) + ((other,) if other is not None else ())

    def knows_frames(self, item: TaskItem, player: Player) -> bool:
        """Return whether what a player is shown was looked at before; the item's own video was."""
        other = self._other(item) if _sees_other(player) else None
        return other is None or self.run_frames.has(other)

    async def marks(self, item: TaskItem, text: str) -> AnswerMarks:
        """Return what a judge gives a free answer; equal answers to one task are marked once."""
        if self.judge is None or item.answer is None:
            raise RuntimeError("a task was to be marked without a judge or a key")
        scope = f"{scope_of(item)}:mark:{digest(text)[:12]}"
        case = AnswerWithKey(item.question, item.answer, text, tuple(item.points))
        try:
            async with self.prompter.asker.in_turn(scope):
                return await mark(
                    self.prompter, self.judge, case=case, scale=scale_of(item), slot=scope
                )
        except CallFailed:
            self.on_failed(scope)
            raise

    async def _marked(self, item: TaskItem, text: str, line: TaskLine) -> TaskLine:
        # Without a key nobody can mark it, and scores count it as unscored.
        if item.answer is None:
            return line
        try:
            marks = await self.marks(item, text)
        except CallFailed as failure:
            why = {"end": "unscored", "reason": f"not marked: {failure}"}
            return line.model_copy(update=why)
        given = {"scores": marks.scores, "points": list(marks.points)}
        return line.model_copy(update=given)

    def _shuffled(self, frames: VideoFrames, item: TaskItem) -> VideoFrames:
        """Return the same pictures at each other's times."""
        seed = self.cast.config.seed
        # Of made items of a minute needles stay at 1.00 when shuffled; orders and counts fall to
        # chance.
        order = sorted(
            range(len(frames.frames)), key=lambda k: derive(seed, "shuffled", item.qid, k)
        )
        pairs = zip(frames.frames, order, strict=True)
        moved = (frame.model_copy(update={"digest": frames.frames[k].digest}) for frame, k in pairs)
        return frames.model_copy(update={"frames": tuple(moved)})

    def _other(self, item: TaskItem) -> str | None:
        """Return another of the videos, drawn by the seed; None if there is none."""
        mine = self.films.videos[item.video_id].id
        # By their own ids, since two ids of a bench may lead to one file.
        others = {video.id for video in self.films.videos.values()} - {mine}
        seed = self.cast.config.seed
        return min(others, key=lambda video: derive(seed, "other", item.qid, video), default=None)


def _sees_other(player: Player) -> bool:
    return player.view == "other" and not player.is_blind


def _line(item: TaskItem, said: Said) -> TaskLine:
    row = said.row
    return TaskLine(
        qid=item.qid,
        end="answered",
        response=said.text,
        ending=row.ending if row else None,
        usd=row.cost_usd if row else None,
    )


def scale_of(item: TaskItem) -> Scale:
    """Return by which of MLVU's two scales free text is marked: items with points as a scene.

    A summary that was made here has points, too, and is marked as a summary all the same.
    """
    return "scene" if item.points and item.task != "summary" else "summary"


class TaskRules(PlayerRules):
    """How tasks are played."""

    def cast(self, bench: OpenBench[Any], wanted: CastRequest) -> BenchCast:
        """Return who answers, and who marks free text where the set has any; or BadInput."""
        refuse_dialogue_options(wanted)
        items = self.items(bench, wanted)
        free = [item for item in items if not item.is_choice and item.answer is not None]
        if "other" in wanted.views and len(bench.manifest.videos) < 2:
            raise BadInput(f"{bench.folder} is about one video; there is no other to show")
        return task_cast(bench, wanted, roles=tuple(MARKERS[scale_of(item)] for item in free))

    def items(self, bench: OpenBench[Any], wanted: CastRequest) -> list[Any]:
        """Return all items; where something is kept from players, those of choice with a key."""
        if wanted.views == ("whole",):
            return list(bench.items)
        return [item for item in bench.items if item.is_choice and item.keys]

    def game(
        self, cast: BenchCast, prompter: Prompter, run_frames: RunFrames, films: BenchVideos
    ) -> TaskGame:
        """Return a game of tasks."""
        return TaskGame(cast, prompter, run_frames, films)

    async def unknown_of_player(
        self, game: TaskGame | None, cast: BenchCast, item: TaskItem, player: Player
    ) -> list[PlannedCall]:
        """Return the calls of one task for one player that a repetition lacks."""
        is_marked = not item.is_choice and item.answer is not None
        marking = [PlannedCall(item, MARKERS[scale_of(item)], cast.judge, player)] * is_marked
        said: Said | None = None
        if game is not None and game.knows_frames(item, player):
            with suppress(JournalMiss):
                said = await game.answer(item, player)
        if said is None:
            model = player.model
            return (
                [PlannedCall(item, "contestant", model.alias, player), *marking]
                if model
                else marking
            )
        if said.text is None or not is_marked or game is None:
            return []
        try:
            await game.marks(item, said.text)
        except JournalMiss:
            return marking
        except CallFailed:
            return []
        return []

    def kept(self, bench: OpenBench[Any], _cast: BenchCast) -> Sequence[AnyResult]:
        """Return all results on tasks."""
        return read_tasks(bench)

    def results(
        self,
        bench: OpenBench[Any],
        cast: BenchCast,
        items: Sequence[TaskItem],
        outcomes: Outcomes,
        *,
        prompts: PromptSet,
    ) -> list[AnyResult]:
        """Return each player's answers."""
        asked = {item.qid for item in items}
        ordered = [item.qid for item in bench.items if item.qid in asked]
        return [
            TaskResult(
                bench=bench.bench,
                model=player.name,
                judge=cast.judge or None,
                how="run",
                facts=_facts(cast, player, [outcomes[player.name, q] for q in ordered], prompts),
                lines=list(_lines(outcomes[player.name, qid] for qid in ordered)),
            )
            for player in cast.players
        ]


def _lines(outcomes: Iterator[Outcome]) -> Iterator[TaskLine]:
    for outcome in outcomes:
        for line in outcome.lines:
            if isinstance(line, TaskLine):
                yield line


def _facts(
    cast: BenchCast, player: Player, outcomes: Sequence[Outcome], prompts: PromptSet
) -> dict[str, Any]:
    found = facts_of(cast, player, outcomes, prompts)
    facts = {name: found[name] for name in FACTS}
    return {**facts, "view": player.view, **retrieval_of(player)}
