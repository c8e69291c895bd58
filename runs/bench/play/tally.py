"""How the playing of a bench went, and the results that come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from typing import cast as as_type

from pydantic import JsonValue

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.providers.catalogue import EMBEDDINGS
from videoautoarena.memory.records.records import UnansweredTries
from videoautoarena.runs.bench.format.points import decided
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    Anchored,
    AnyResult,
    Result,
    ResultFacts,
    place_of,
    read_result,
    write_result,
)
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.play.cast import BenchCast, Player
from videoautoarena.runs.bench.play.game import NO_VIDEO, Outcome
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.jobs.paid_job import JobTally
from videoautoarena.runs.run.rundir.failures import Faulty, Forfeits
from videoautoarena.runs.run.rundir.reader import counted

MOST_VOID = 0.05
"""Share of voids, or of one model's forfeits, above which the exit code says so, as in a run."""
FACTS = (
    "model", "max_frames", "judge", "seed", "swap", "questions", "forfeits", "voids", "audited",
    "same_from_both_seats", "prompts", "contracts", "reading",
)  # fmt: skip
"""What a result says of how it came to be, in this order."""
ANCHORED_FACTS = (
    "model", "anchor", "max_frames", "judge", "prompts", "contracts", "reading", "seed",
    "questions", "forfeits", "voids", "same_from_both_seats",
)  # fmt: skip
Outcomes = Mapping[tuple[str, str], Outcome]
"""Player's name and qid to how the question ended."""


@dataclass(kw_only=True)
class BenchTally(JobTally):
    """How the playing of a bench went in one process; a question counts once a player."""

    unit: str = "answer"
    forfeits: int = 0
    voids: int = 0
    of_players: Forfeits = field(default_factory=Forfeits)
    complete: int = 0
    """How many questions, counted from the first in the drawn order, everybody has played."""

    def settle(self, outcome: Outcome, player: str) -> None:
        """Count one more."""
        # Forfeits are counted as in a battle, where the model is in the first of two seats.
        verdict = "forfeit_a" if outcome.end == "forfeit" else outcome.end
        self.of_players.note(player, None, verdict, reason=outcome.reason)
        self.forfeits += outcome.end == "forfeit"
        self.voids += outcome.end == "void"
        is_lost = outcome.end != "judged"
        self.count((outcome.reason or "no reason recorded") if is_lost else None)

    @property
    def lost_videos(self) -> int:
        """How many of the voids were never asked, since their video cannot be had."""
        return sum(n for reason, n in self.failures.items() if reason.startswith(NO_VIDEO))

    @property
    def is_failing(self) -> bool:
        """Whether more is void, or of one model forfeits, than is accepted."""
        voids = self.voids > MOST_VOID * max(1, self.done)
        return voids or bool(self.of_players.faulty(MOST_VOID))

    def reasons(self, what: str = "lost") -> Iterator[str]:
        """Yield the most frequent reasons as a person reads them."""
        for line in super().reasons(what):
            yield line.replace(f"{NO_VIDEO}: ", "the video ", 1)

    @property
    def in_words(self) -> str:
        """How it went, in a few words."""
        lost = self.lost_videos
        voids = self.voids - lost
        words = [counted(self.done - lost, self.unit)]
        words += [counted(self.forfeits, "forfeit")] * bool(self.forfeits)
        words += [counted(voids, "void")] * bool(voids)
        words += [f"{lost:,} without a usable video"] * bool(lost)
        return ", ".join(words)


@dataclass(frozen=True)
class BenchEnd:
    """How a bench stands where a process leaves it, and the results that came of it."""

    judge: str | None
    """Who judged."""
    settled: int
    """Answers judged, forfeited or void; each question counts once a model."""
    of: int
    """How many there are."""
    forfeits: int
    """Models' calls that failed for good."""
    forfeiting: Sequence[Faulty]
    """Models with at least 3 of them and more than 5 %, as at the end of a run."""
    voids: int
    """Questions with a void judging."""
    interrupted: bool
    """Stopped by somebody."""
    capped: bool
    """Stopped by a cap."""
    unread: Mapping[str, str]
    """Model to why its batches were not taken or cannot be read, where that stopped it."""
    gone: str | None
    """Address of the unreachable server that stopped it, or None."""
    lost: UnansweredTries
    """Possibly paid, by all who played this bench: `tries` of unknown cost, at most `usd` (None:
    unknown) and `tokens`."""
    results: Sequence[Path]
    """Files written, relative to the bench; none before all is played."""
    kept: Sequence[str]
    """A sentence for each result not replaced, since the one there decides more."""
    scores: Mapping[str, Any] | None
    """Board of [scores](#scores) of those who played, or
    [against an anchor](#a-board-against-an-anchor); None before all is played."""


def results_of(
    bench: OpenBench,
    cast: BenchCast,
    items: Sequence[Item],
    outcomes: Outcomes,
    *,
    prompts: PromptSet,
) -> list[Result | Anchored]:
    """Return the result of each player, its rulings in the order of the bench."""
    asked = {item.qid for item in items}
    ordered = [item.qid for item in bench.items if item.qid in asked]
    found = list[Result | Anchored]()
    for player in cast.players:
        mine = [outcomes[player.name, qid] for qid in ordered]
        known = facts_of(cast, player, mine, prompts)
        made: dict[str, Any] = {
            "bench": bench.bench,
            "model": player.name,
            "judge": cast.judge,
            "how": "run",
            "facts": {
                **{name: known[name] for name in (ANCHORED_FACTS if cast.anchor else FACTS)},
                **retrieval_of(player),
                **({"blind_referee": True} if cast.blind_judges else {}),
            },
            "rulings": [one for each in mine for one in each.lines],
        }
        anchor = cast.anchor
        found.append(Anchored(**made, anchor=anchor.name) if anchor else Result(**made))
    return found


def facts_of(
    cast: BenchCast, player: Player, outcomes: Sequence[Outcome], prompts: PromptSet
) -> dict[str, JsonValue]:
    """Return all that a result may say of how it came to be."""
    same = [is_same for outcome in outcomes for is_same in outcome.same]
    ends = Counter(outcome.end for outcome in outcomes)
    judges: list[JsonValue] = [cast.config.model_of(j).resolved for j in cast.config.judges]
    anchor = cast.anchor.model if cast.anchor else None
    # Every kind takes those that mean something in it, in its own order.
    found: ResultFacts = {
        "model": player.model.resolved if player.model else None,
        "anchor": anchor.resolved if anchor else None,
        "max_frames": player.model.frame_limit("contestant") if player.model else None,
        "judge": judges[0] if len(judges) == 1 else judges,
        "seed": cast.config.seed,
        "swap": cast.config.swap,
        "questions": len(outcomes),
        "forfeits": ends["forfeit"],
        "voids": ends["void"],
        "audited": len(same),
        "same_from_both_seats": sum(same),
        "prompts": {role: prompts.digests[role] for role in cast.roles},
        "contracts": prompts.contracts,
        "reading": prompts.reading,
    }
    return as_type(dict[str, JsonValue], found)


def retrieval_of(player: Player) -> dict[str, Any]:
    """Return how a player's frames were found; empty if they are spread over the video."""
    found = player.model.retrieval if player.model else None
    if found is None:
        return {}
    facts = {
        "embeddings": found.embedder.resolved.removeprefix(f"{EMBEDDINGS}:"),
        "captioner": found.captioner.resolved if found.captioner else None,
        "frames_per_clip": found.frames_per_clip,
        "keep": found.keep,
    }
    return {"retrieval": facts}


def keep_results(
    bench: OpenBench[Any], results: Sequence[AnyResult]
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Write results where none is there that decides more; return the files, and why not others."""
    files = list[Path]()
    kept = list[str]()
    for result in results:
        file = place_of(bench, result)
        mine = decided(result)
        before = decided(read_result(file, bench)) if file.is_file() else frozenset[str]()
        # A later process may meet failures where an earlier one had answers, which are not thrown
        # away.
        if before <= mine:
            files.append(write_result(bench, result, force=True))
        else:
            by = f" by {quoted(result.judge)}" if result.judge else ""
            kept.append(
                f"the result of {quoted(result.model)}{by} in "
                f"{file.relative_to(bench.folder)} was kept: {len(before - mine)} of the "
                f"{len(before)} it decides are undecided now; delete it to replace it"
            )
    return tuple(files), tuple(kept)
