"""One battle in full: the origin of its question, what was said, who judged it and its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, NamedTuple

import numpy as np

from videoautoarena.graph.slot_ids import base_of, generation_of
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.outlines import Outlines
from videoautoarena.memory.records.records import (
    DECIDED,
    Attempt,
    Battle,
    CallRow,
    Evolution,
    Role,
    Subtitles,
    Usage,
    Video,
)
from videoautoarena.memory.records.slots import Longs, Mask
from videoautoarena.runs.formats.record_json import LEFT_OUT, record_json
from videoautoarena.runs.run.battles.listing import (
    Rate,
    Rated,
    chances,
    is_blamed,
    loser,
    lost_by,
    read_in_order,
    short_names,
)
from videoautoarena.runs.run.inputs.users import source_of
from videoautoarena.runs.run.rundir.reader import (
    RunReader,
    contracts_of,
    counted,
    marks,
    open_run,
    reading_of,
    stored_subtitles,
)
from videoautoarena.runs.run.rundir.slots import Lineup, newcomers_among
from videoautoarena.scoring.fitting.counts import Floats

NAMED = 8
"""The most battles that an error names."""
LOOKED_AT = 100
"""The most surprising battles that are read, at most, to find one that is confirmed."""


class ShownSubtitles(NamedTuple):
    """Subtitles that were sent, without their words."""

    path: str
    sha256: str
    cues: int


@dataclass(frozen=True)
class ShownCall:
    """A call without the reply, which stands in the battle."""

    key: str
    """sha256 of all that was sent, and the nonce."""
    role: Role
    """The role played."""
    ordinal: int
    """Number of the question in its role; an odd one is a repair round."""
    generation: int
    """0, or the number after `~` of its slot."""
    model: str
    """`provider:model` as sent."""
    alias: str
    """Name in the roster."""
    endpoint: str
    """The host of a provider, `own server` for any other, or `in-process`."""
    prompt: str
    """Digest of the prompt file."""
    failure: str | None
    """Why it failed for good, or None."""
    failure_kind: str | None
    """One word, see below."""
    usage: Usage
    """Tokens of the last attempt: `input_tokens`, `output_tokens`, `cached_tokens`,
    `reasoning_tokens` and `written_tokens` (put into the cache); None if not reported."""
    cost_usd: float | None
    """Cost of the last attempt in dollars; None: unknown."""
    latency_s: float
    """Seconds of the last attempt."""
    attempts: tuple[Attempt, ...]
    """Earlier attempts that failed or returned nothing usable, each [an attempt](#an-attempt)."""

    @classmethod
    def of(cls, row: CallRow) -> ShownCall:
        """Return a row of the journal in the form in which it is shown."""
        nonce = row.nonce
        said = {name: getattr(row, name) for name in cls.__dataclass_fields__ if hasattr(row, name)}
        return cls(role=nonce.role, ordinal=nonce.ordinal, generation=nonce.generation, **said)


@dataclass(frozen=True)
class BattleDetail:
    """A battle with everything around it."""

    SHOWN: ClassVar = (
        *("chosen", "battle", "path", "frames", "earlier", "found", "calls", "cost_usd"),
        *("subtitles", "superseded_by", "contracts", "reading", "user"),
    )
    folder: Path
    """The folder of its run."""
    battle: Battle
    """The [battle](#a-battle)."""
    earlier: tuple[Battle, ...]
    """The rounds before it in its lineage, from the first question on."""
    found: tuple[Evolution, ...]
    """Attempts of the evolver to make a harder question of this battle; empty if there was none."""
    rows: tuple[CallRow, ...]
    """Calls of its slot, and of those it superseded."""
    sent_subtitles: Subtitles | None = None
    """Subtitles that were sent with the video's frames."""
    marks: tuple[str, ...] = ()
    """Sentences that stand on every page of its run."""
    superseded_by: str | None = None
    """Id of the battle played in its place since a call had failed, or None."""
    contracts: int = 1
    """Number of the [contracts](design.md#4-talking-to-models) of the run."""
    reading: int = 1
    """Number of the [way of reading](design.md#4-talking-to-models) of the run's replies."""
    video: Video | None = None
    """The video it is about."""
    brought: str | None = None
    """Where its user was brought from; None if it was invented."""
    chosen: str | None = field(default=None, metadata=LEFT_OUT)
    """Without BATTLE, why this one was chosen."""

    @property
    def frames(self) -> str:
        """The command that shows the frames of its video as the run sent them."""
        return f"arena frames {quote(self.battle.video)} --run {quote(str(self.folder))}"

    @property
    def calls(self) -> list[ShownCall]:
        """[Calls](#a-call) of its slot, and of those it superseded."""
        return [ShownCall.of(row) for row in self.rows]

    @property
    def subtitles(self) -> ShownSubtitles | None:
        """`path`, `sha256` and number of `cues` sent with the frames, or None."""
        sent = self.sent_subtitles
        return ShownSubtitles(sent.path, sent.sha256, len(sent.cues)) if sent else None

    @property
    def path(self) -> str | None:
        """Its video's file, relative to the folder of videos; None if unknown."""
        return self.video.path if self.video else None

    @property
    def user(self) -> str:
        """Where its user comes from: `invented`, or in words the file and line of it."""
        return self.brought or "invented"

    @property
    def cost_usd(self) -> float | None:
        """Their sum, `attempts` included; None if any is unknown."""
        costs = [usd for row in self.rows if (usd := row.total_usd) is not None]
        return sum(costs) if costs and len(costs) == len(self.rows) else None

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena show --json`."""
        return record_json(self)


def show(folder: Path, wanted: str) -> BattleDetail:
    """Return the battle whose id is or begins with `wanted`, with all that belongs to it.

    Raises:
        BadInput: no battle is called so, or several begin so.
    """
    with open_run(folder) as run:
        return _shown(run, find(run, wanted))


def show_most_telling(folder: Path, rate: Rate) -> BattleDetail:
    """Return the battle that says most about who leads, and why it is that one.

    It is one that the first of the leaderboard lost; else one that it won against the second; else
    one that it won against anybody; else a tie. Where several share the highest rating, it is one
    of theirs with a winner, else a tie. Of those it is one that a second look confirms,
    else one whose judge names a fault of the loser's (see `_confirmed`), and among equals the one
    that surprises most by the ratings (see `chances`).

    Raises:
        BadInput: no battle is decided.
    """
    with open_run(folder) as run:
        choice = _choose(run, rate)
        return _shown(run, choice.battle, chosen=choice.why)


def _shown(run: RunReader, battle: Battle, *, chosen: str | None = None) -> BattleDetail:
    then, ever = _lineage(run, battle)
    scope = base_of(battle.id)
    generation = generation_of(battle.id)
    # By place: what is played again asks in the scope of what it supersedes.
    calls = run.store.journal.calls(scope)
    current = run.lineup.current(scope)
    return BattleDetail(
        folder=run.folder,
        battle=battle,
        earlier=tuple(other for other in then if other.round < battle.round),
        found=attempts_on(battle, ever),
        rows=tuple(row for row in calls if row.nonce.generation <= generation),
        sent_subtitles=stored_subtitles(run.store, battle.video),
        marks=marks(run.manifest),
        superseded_by=None if current == battle.id else current,
        contracts=contracts_of(run.manifest),
        reading=reading_of(run.manifest),
        brought=source_of(run.store, battle),
        video=next((one for one in run.store.videos() if one.id == battle.video), None),
        chosen=chosen,
    )


class _Choice(NamedTuple):
    battle: Battle
    why: str


def _choose(run: RunReader, rate: Rate) -> _Choice:
    outlines = run.outlines
    decided = outlines.texts["verdict"].among(DECIDED)
    if not decided.any():
        raise BadInput(f"no battle in {run.folder} is decided yet, so that none can be chosen")
    rows = rate(run)
    # Twice, for a board with a single row.
    first, second = (row.model for row in (*rows, *rows)[:2])
    alike = _rated_alike(rows)
    if len(alike) > 1:
        names = f"{', '.join(alike[:-1])} and {alike[-1]}"
        who = f"{names} are rated alike, so nobody leads;"
        candidates = _of_equals(outlines, decided, alike)
    else:
        who = f"{first} is first on the leaderboard and"
        candidates = _candidates(outlines, decided, first, second)
    chance = chances(outlines, rows)
    surprising = np.flatnonzero(candidates.among)
    # Stable, as in a list: equally likely ones stay as they were played.
    surprising = surprising[np.argsort(chance[surprising], kind="stable")]
    is_even = bool(np.ptp(chance[surprising]) < _EQUAL)
    # A run may have a million battles: of those by far the most are told apart by their outlines.
    surprising = surprising[:LOOKED_AT]
    best = _best_confirmed(run, surprising, chance[surprising])
    figure = f" ({100 * chance[surprising[best.place]]:.0f} %)" if loser(best.battle) else ""
    looks = min(best.looks, 2)
    which = candidates.alone
    if len(surprising) > 1 and is_even:
        likely = f"all were equally likely by the ratings{figure}"
        which = f"{candidates.many} this is one{_ONE_OF[looks]}; {likely}"
    elif len(surprising) > 1:
        likely = f"this outcome is the least likely by the ratings{figure}"
        which = f"{candidates.many} {likely}{_AMONG[looks]}"
    return _Choice(best.battle, f"why this battle: {who} {which}")


_EQUAL = 1e-6
"""Smaller differences of chances and ratings are rounding errors."""
_ONE_OF = ("", " whose judge names a fault of the loser", " that a second look confirms")
_AMONG = (
    "",
    ", among those whose judge names a fault of the loser",
    ", among those that a second look confirms",
)


def _rated_alike(rows: Sequence[Rated]) -> list[str]:
    """Return the models that share the highest rating; none if nobody is rated."""
    ratings = [(row.model, row.rating) for row in rows if row.rating is not None]
    return [model for model, rating in ratings if abs(rating - ratings[0][1]) < _EQUAL]


class _Candidates(NamedTuple):
    among: Mask
    alone: str
    """The words for a battle that is the only one of its kind."""
    many: str
    """The words for several battles, before which of them it is."""


def _candidates(outlines: Outlines, decided: Mask, first: str, second: str) -> _Candidates:
    """Return which battles say most about the first of the leaderboard, and words for them."""
    a = outlines.texts["model_a"]
    b = outlines.texts["model_b"]
    lost = lost_by(outlines, first)
    if lost.any():
        battles = counted(int(lost.sum()), "battle")
        return _Candidates(lost, "lost this one alone", f"lost {battles}; of those")
    played = decided & (a.among([first]) | b.among([first]))
    won = played & outlines.texts["verdict"].among(["a", "b"])
    beaten = won & lost_by(outlines, second)
    if beaten.any():
        over = f"{second}, the second,"
        alone = f"lost none; it beat {over} in this one alone"
        return _Candidates(
            beaten, alone, f"lost none; of its {int(beaten.sum()):,} wins over {over}"
        )
    if won.any():
        alone = "lost none; it won this one alone"
        return _Candidates(won, alone, f"lost none; of its {int(won.sum()):,} wins")
    alone = "lost none; this tie is all that it was in"
    return _Candidates(played, alone, f"lost none; of its {int(played.sum()):,} ties")


def _of_equals(outlines: Outlines, decided: Mask, alike: Sequence[str]) -> _Candidates:
    """Return battles of models that share the highest rating: those with a winner, else ties."""
    a = outlines.texts["model_a"]
    b = outlines.texts["model_b"]
    played = decided & (a.among(alike) | b.among(alike))
    won = played & outlines.texts["verdict"].among(["a", "b"])
    if won.any():
        battles = counted(int(won.sum()), "battle")
        return _Candidates(won, "this battle alone has a winner", f"of {battles} with a winner")
    return _Candidates(
        played, "this tie is all that they were in", f"of {int(played.sum()):,} ties"
    )


class _Confirmed(NamedTuple):
    place: int
    battle: Battle
    looks: int


def _best_confirmed(run: RunReader, rows: Longs, chance: Floats) -> _Confirmed:
    """Return the best confirmed battle; among equals the least likely one."""
    names = short_names(run.manifest.get("models") or ())
    battles = read_in_order(run.battles, rows, iter)
    found = (
        _Confirmed(place, battle, _confirmed(run, battle, names))
        for place, battle in enumerate(battles)
    )
    return min(found, key=lambda one: (-min(one.looks, 2), chance[one.place], -one.looks))


def _confirmed(run: RunReader, battle: Battle, names: Mapping[str, str]) -> int:
    """Return how many looks at a battle name its loser as the worse; 0 if any says otherwise.

    The first is the judge's, if it names a fault of the loser's. Further ones are that of the other
    seating, and that of the evolver, if it found more faults in the loser's answer.
    """
    spoken = [judging for judging in battle.verdicts if judging.analyses]
    # Whoever abstained or failed says nothing against the verdict.
    decided = {judging.verdict for judging in spoken} - {"abstain", "failed"}
    if decided != {battle.verdict} or not is_blamed(battle, names):
        return 0
    _, ever = _lineage(run, battle)
    faults = {model: 0 for model in (battle.model_a, battle.model_b)}
    for attempt in attempts_on(battle, ever):
        for model, named in zip(attempt.pair, (attempt.faults_a, attempt.faults_b), strict=True):
            faults[model] = faults.get(model, 0) + len(named)
    lost = faults.pop(loser(battle))
    won = sum(faults.values())
    # The evolver found more faults in the winner's answer: that speaks against the verdict.
    if won > lost:
        return 0
    both_seatings = len({judging.seats for judging in spoken}) > 1
    return 1 + both_seatings + (lost > won)


def _lineage(run: RunReader, battle: Battle) -> tuple[list[Battle], list[Battle]]:
    """Return a battle's lineage as it stood when it was played, and all that was played of it."""
    slots = run.store.slots()
    slots = slots.where(slots.about(battle.video) & (slots.personas == battle.persona))
    # A newcomer's battle led to no question; it stands here only if it is the one that is shown.
    slots = slots.where(~newcomers_among(slots) | slots.among([battle.id]))
    mine = next((slot.generation for slot in slots if slot.id == battle.id), 0)
    # As it stood then: what was repaired later did not lead to this question.
    standing = Lineup(slots.where(slots.generations <= mine)).ids
    ever = [found for slot in slots if (found := run.store.battle(slot.id))]
    return [found for found in ever if found.id in standing], ever


def attempts_on(battle: Battle, ever: Sequence[Battle]) -> tuple[Evolution, ...]:
    """Return the evolver's attempts on a battle, of the last time that it was asked."""
    made = [[e for e in other.evolution if e.battle == battle.id] for other in ever]
    return tuple(next((attempts for attempts in reversed(made) if attempts), ()))


def find(run: RunReader, wanted: str) -> Battle:
    """Return the one battle of `run` whose id is `wanted`, or begins with it."""
    exact = run.store.battle(wanted)
    if exact is not None:
        return exact
    ids = list(run.settled)
    fitting = [id_ for id_ in ids if id_.startswith(wanted)]
    if len(fitting) == 1 and (found := run.store.battle(fitting[0])) is not None:
        return found
    if fitting:
        raise BadInput(f"{wanted!r} matches {len(fitting)} battles: {_named(fitting)}")
    raise BadInput(f"no battle is called {wanted!r}; {_nearest(ids, wanted)}")


def _named(ids: list[str]) -> str:
    names = ", ".join(ids[:NAMED])
    more = len(ids) - NAMED
    return f"{names} and {more} more" if more > 0 else names


def _nearest(ids: list[str], wanted: str) -> str:
    if not ids:
        return "no battle of this run is settled yet"
    # Cut, since matching takes time by the square of the length, and anything may be typed.
    near = get_close_matches(wanted[:64], ids, n=NAMED, cutoff=0.5)
    return f"there are {_named(near or ids)}"
