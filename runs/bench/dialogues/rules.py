"""How dialogues are played: who answers and who marks, what is left, and what results say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.mark import CHECKER
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput, CallFailed, JournalMiss
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.dialogues.game import DialogueGame, asked_rounds
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    AnyResult,
    DialogueResult,
    RoundLine,
    read_dialogues,
)
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.play.cast import (
    PRESETS,
    BenchCast,
    CastRequest,
    Player,
    swept,
    task_cast,
)
from videoautoarena.runs.bench.play.forecast import PlannedCall
from videoautoarena.runs.bench.play.game import Outcome, Said
from videoautoarena.runs.bench.play.rules import PlayerRules
from videoautoarena.runs.bench.play.tally import Outcomes, facts_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.run.rundir.frames import RunFrames

OWN_HISTORY = "own history"
FACTS = ("model", "max_frames", "judge", "seed", "prompts", "contracts", "reading")
"""What a result says of how it came to be, in this order, beside its counts and its history."""


class DialogueRules(PlayerRules):
    """How dialogues are played."""

    def cast(self, bench: OpenBench[Any], wanted: CastRequest) -> BenchCast:
        """Return who answers and who marks; or BadInput."""
        if wanted.preset is not None and wanted.frames:
            raise BadInput(f"{option('preset')} says how many frames are sent; leave {swept()} out")
        cast = task_cast(bench, wanted, roles=(CHECKER,))
        players = tuple(_player(cast, player, wanted) for player in cast.players)
        return cast._replace(players=players)

    def game(
        self, cast: BenchCast, prompter: Prompter, run_frames: RunFrames, films: BenchVideos
    ) -> DialogueGame:
        """Return a game of dialogues."""
        return DialogueGame(cast, prompter, run_frames, films)

    async def unknown_of_player(
        self, game: DialogueGame | None, cast: BenchCast, item: DialogueItem, player: Player
    ) -> list[PlannedCall]:
        """Return the calls of one dialogue for one player that a repetition lacks."""
        asks = list[PlannedCall]()
        replies = list[str]()
        is_known = True
        if player.model is None or (game is not None and game.unasked(item, player) is not None):
            return []
        for number in asked_rounds(item, player.history):
            said = None
            # With its own history a round's prompt holds the answers before it, so behind an
            # unknown one all are.
            if game is not None and (is_known or player.history == "golden"):
                said = await _known(game, item, player, number, replies)
            if said is None:
                is_known = False
                asks.append(
                    PlannedCall(item, "contestant", player.model.alias, player, part=number)
                )
            elif said.text is None:
                # Behind a round of its own that failed nothing is asked, as in play.
                if player.history == "own":
                    return asks
                continue
            # Keeps the places of rounds: behind an unknown answer of its own nothing is repeated,
            # and golden history quotes none.
            replies.append((said and said.text) or "")
            if item.rounds[number - 1].is_scored and not await _is_marked(game, item, number, said):
                asks.append(PlannedCall(item, CHECKER, cast.judge, player, part=number))
        return asks

    def kept(self, bench: OpenBench[Any], _cast: BenchCast) -> Sequence[AnyResult]:
        """Return all results on dialogues."""
        return read_dialogues(bench)

    def results(
        self,
        bench: OpenBench[Any],
        cast: BenchCast,
        items: Sequence[DialogueItem],
        outcomes: Outcomes,
        *,
        prompts: PromptSet,
    ) -> list[AnyResult]:
        """Return each player's answers."""
        asked = {item.qid for item in items}
        ordered = [item.qid for item in bench.items if item.qid in asked]
        found = list[AnyResult]()
        for player in cast.players:
            mine = [outcomes[player.name, qid] for qid in ordered]
            lines = [one for each in mine for one in each.lines if isinstance(one, RoundLine)]
            ends = Counter(line.end for line in lines)
            found.append(
                DialogueResult(
                    bench=bench.bench,
                    model=player.name,
                    judge=cast.judge,
                    history=player.history,
                    how="run",
                    facts=_facts(cast, player, mine, prompts)
                    | {
                        "dialogues": len(mine),
                        "rounds": len(lines),
                        "forfeits": ends["forfeit"],
                        "unscored": ends["unscored"],
                        "voids": ends["void"],
                    },
                    lines=lines,
                )
            )
        return found


def _player(cast: BenchCast, player: Player, wanted: CastRequest) -> Player:
    """Return who plays, by a name of its own where it does not play as usual."""
    model = player.model
    if model is None:
        raise BadInput(
            f"answers of {quoted(player.name)} were handed in, which dialogues cannot use: "
            "each round has an answer of its own"
        )
    if model.retrieval is not None:
        raise BadInput(
            f"{quoted(player.name)} is sent the frames of clips found by a question alone, which "
            "says too little in a dialogue; name its model"
        )
    # With fewer frames or its own history a model is another player: there is never a mean of both.
    name = player.name
    if cast.preset is not None:
        name = f"{name} ({cast.preset})"
        # The paper's number of frames, but no more than the model takes.
        most = min(model.frame_limit("contestant"), PRESETS[cast.preset]["frames"])
        model = model.with_settings(max_frames=most)
    if wanted.history == "own":
        name = f"{name} ({OWN_HISTORY})"
    return replace(player, name=name, model=model, history=wanted.history)


async def _known(
    game: DialogueGame, item: DialogueItem, player: Player, number: int, replies: Sequence[str]
) -> Said | None:
    with suppress(JournalMiss):
        return await game.reply(item, player, number, replies)
    return None


async def _is_marked(
    game: DialogueGame | None, item: DialogueItem, number: int, said: Said | None
) -> bool:
    """Return whether a marking is known; one that failed for good is."""
    if game is None or said is None or said.text is None:
        return False
    try:
        await game.marks(item, number, said.text)
    except JournalMiss:
        return False
    except CallFailed:
        return True
    return True


def _facts(
    cast: BenchCast, player: Player, outcomes: Sequence[Outcome], prompts: PromptSet
) -> dict[str, JsonValue]:
    found = facts_of(cast, player, outcomes, prompts)
    facts = {name: found[name] for name in FACTS}
    looked: dict[str, JsonValue] = {} if cast.preset is None else {"preset": cast.preset}
    return {**facts, **looked}
