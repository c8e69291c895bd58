"""What the rest of a run will take, before anything is sent: calls, tokens, dollars and time.

What is expected, and what nine of ten such runs stay below. Both rest on what this run's own calls
took, else on what such calls took in past runs on this machine, else on figures that are stated
here, which is a guess and is called one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import (
    LABEL_TOKENS,
    expected_input,
    extra_body,
    frame_tokens,
    output_limit,
)
from videoautoarena.agents.limits.prefixes import LIFE_S, caching_of
from videoautoarena.agents.limits.prices import most_usd, price_of, rates_of
from videoautoarena.agents.limits.server_limits import ServerLimits
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import SYSTEM, replies_in_json
from videoautoarena.agents.providers.base import Caching
from videoautoarena.graph.slot_ids import DIVERSE_ASKS, PERSONAS
from videoautoarena.memory.records.records import (
    CHARACTERS,
    SCOUTS,
    CallRow,
    Role,
    Sampling,
    Usage,
)
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS
from videoautoarena.runs.run.config.disclosure import REPAIR, clip_calls, embedders, frames_of
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS
from videoautoarena.runs.run.rundir.spending import NOTHING_USED, CapUse
from videoautoarena.runs.tournament.measures import (
    CALL_S,
    NO_SPREAD,
    READ_A_SECOND,
    TRANSFER_CV,
    WRITTEN_A_SECOND,
    CallCount,
    CallMeasure,
    CallVector,
    Spread,
    guessed_sum,
    usual_seconds,
)
from videoautoarena.runs.tournament.past_calls import Basis, KnownCalls, PastCalls, weakest
from videoautoarena.scoring.design.power import separable_gap
from videoautoarena.scoring.fitting.bradley_terry import SCALE

REPAIRED = 0.02
"""Share of structured replies that are expected to need a second request."""
REFUSED, ALIKE = 0.2, 0.1
"""Expected share of evolved questions that are refused; expected further asks for users."""
FREE: frozenset[Role] = frozenset({"contestant", *SCOUTS})
"""Roles that reply in free text, which needs no second request."""
RATE_CV = 0.5
"""How far these shares may be off, as a standard deviation and a share of them."""
ENOUGH = 20
"""Calls from which on the rates of the run itself are used."""
SAMPLE = 2_000
"""How many of the latest calls are measured."""
THOUGHT = 5
"""Times as many tokens as it says a model is expected to take that is asked to think."""
ANSWER_VIDEOS = (12, 30, 60, 200)
"""Numbers of videos for which a plan says what a run over them takes."""
CONCURRENCY = 16
"""Calls under way at once by default."""
NO_PAST = PastCalls()


class RoleTokens(NamedTuple):
    """Tokens of a role's text and reply."""

    text: int
    """Tokens of the role's text and of the system text, typically."""
    most_text: int
    reply: int


WORDS: Mapping[Role, RoleTokens] = {
    "examiner": RoleTokens(600, 4_000, 700),
    "persona": RoleTokens(900, 8_000, 500),
    "questioner": RoleTokens(900, 8_000, 150),
    "contestant": RoleTokens(250, 4_000, 350),
    "judge": RoleTokens(2_100, 24_000, 1_000),
    "evolver": RoleTokens(2_500, 30_000, 700),
    "grader": RoleTokens(900, 8_000, 250),
    "comparer": RoleTokens(1_900, 24_000, 1_000),
    "scene_marker": RoleTokens(1_100, 24_000, 500),
    "summary_marker": RoleTokens(1_300, 24_000, 300),
    "checklist_marker": RoleTokens(1_100, 24_000, 250),
    "topic_writer": RoleTokens(1_000, 8_000, 400),
    "plot_writer": RoleTokens(1_100, 8_000, 400),
    "scene_writer": RoleTokens(1_100, 8_000, 700),
    "summary_writer": RoleTokens(900, 4_000, 500),
    "option_checker": RoleTokens(900, 8_000, 250),
    "point_checker": RoleTokens(1_300, 12_000, 500),
    "scene_captioner": RoleTokens(550, 1_500, 100),
    "scene_merger": RoleTokens(2_000, 12_000, 150),
    "object_finder": RoleTokens(700, 2_500, 500),
    "object_matcher": RoleTokens(2_500, 16_000, 150),
    "fitness_rater": RoleTokens(1_300, 12_000, 400),
    "dialogist": RoleTokens(2_200, 24_000, 1_500),
    "checklist_maker": RoleTokens(1_200, 12_000, 300),
    "checklist_validator": RoleTokens(700, 8_000, 350),
    "leak_checker": RoleTokens(1_000, 12_000, 150),
    "dialogue_answerer": RoleTokens(900, 12_000, 150),
    "classifier": RoleTokens(900, 6_000, 150),
    "topic_namer": RoleTokens(900, 12_000, 20),
    "captioner": RoleTokens(150, 600, 80),
    "embedder": RoleTokens(100, 4_000, 1),
}
"""Typical and most tokens by role; the most of a reply is the model's own limit."""
_SYSTEM_TOKENS = len(SYSTEM) / CHARACTERS
_SECONDS = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
"""What picks the seconds of a call's vector."""


@dataclass(frozen=True)
class Line:
    """What one model will need in one role."""

    alias: str
    role: Role
    calls: float
    most_calls: int
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    usd: float | None = None
    spread: Spread = NO_SPREAD
    """How far its dollars may lie from what is expected."""
    seconds: float = 0.0
    """Expected seconds of its calls, one after another."""
    seconds_spread: Spread = NO_SPREAD
    most_call_usd: float = 0.0
    """The most that one try can cost, in dollars; 0 without a known price."""
    longest_tokens: int = 0
    """The most tokens that one call can take, in and out."""
    basis: Basis = "guess"
    """Where its tokens and time are from."""
    is_offline: bool = False
    """Whether it is a stand-in's, whose tokens nobody bills and no plan shows."""
    calls_variance: float = 0.0
    """Variance of the number of its calls."""

    @property
    def bound90_usd(self) -> float | None:
        """What nine of ten such lines cost no more than, in dollars; None without a price."""
        return None if self.usd is None else self.spread.bound90(self.usd)

    @property
    def is_measured(self) -> bool:
        """Whether its tokens are those that calls of this run took so far."""
        return self.basis == "run"

    def at_share(self, share: float) -> Line:
        """Return it where so much is paid of every price, such as half of it in batches."""
        return replace(
            self,
            usd=None if self.usd is None else self.usd * share,
            spread=self.spread.times(share),
            most_call_usd=self.most_call_usd * share,
        )

    def plus(self, other: Line) -> Line:
        """Return it with the calls of another one of its model and role."""
        return replace(
            self,
            calls=self.calls + other.calls,
            most_calls=self.most_calls + other.most_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=known_sum((self.usd, other.usd)),
            spread=self.spread.plus(other.spread),
            seconds=self.seconds + other.seconds,
            seconds_spread=self.seconds_spread.plus(other.seconds_spread),
            most_call_usd=max(self.most_call_usd, other.most_call_usd),
            longest_tokens=max(self.longest_tokens, other.longest_tokens),
            basis=basis_of((self, other)) or self.basis,
            calls_variance=self.calls_variance + other.calls_variance,
        )

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `simulate --plan --json`."""
        return {
            "model": self.alias,
            "role": self.role,
            "calls": round(self.calls, 1),
            "calls_at_most": self.most_calls,
            "input_tokens": None if self.is_offline else round(self.input_tokens),
            "output_tokens": None if self.is_offline else round(self.output_tokens),
            "cost_usd": rounded(self.usd),
            "bound90_usd": rounded(self.bound90_usd),
            "measured": self.is_measured,
            "basis": self.basis,
        }


def basis_of(lines: Iterable[Line]) -> Basis | None:
    """Return what the expectation of lines rests on; None where nobody would bill a call."""
    billed = [line for line in lines if not line.is_offline and line.calls]
    is_priced = bool(known_sum(line.usd for line in billed))
    weights: dict[Basis, float] = {}
    for line in billed:
        tokens = line.input_tokens + line.output_tokens
        weight = line.usd if is_priced and line.usd is not None else tokens
        weights[line.basis] = weights.get(line.basis, 0.0) + weight
    return weakest(weights)


def spread_of(lines: Iterable[Line]) -> Spread:
    """Return how far the dollars of lines may lie from what is expected."""
    return reduce(Spread.plus, (line.spread for line in lines), NO_SPREAD)


def bound90_of(lines: Sequence[Line]) -> float | None:
    """Return what lines cost no more than in nine of ten cases; None if a price is unknown."""
    usd = known_sum(line.usd for line in lines)
    return None if usd is None else spread_of(lines).bound90(usd)


def slower(lines: Iterable[Line]) -> float:
    """Return by what factor nine of ten such sums of calls take no longer than expected."""
    found = [line for line in lines if not line.is_offline]
    seconds = sum(line.seconds for line in found)
    spread = reduce(Spread.plus, (line.seconds_spread for line in found), NO_SPREAD)
    return spread.bound90(seconds) / seconds if seconds else 1.0


PLAN_FIGURES = ("expected_usd", "bound90_usd", "cap_usd", "basis")
"""What each plan says of its dollars."""


class LineCosts:
    """What lines of calls cost in tokens and dollars, as every plan says it."""

    lines: Sequence[Line]
    caps: SpendCaps

    @property
    def expected_usd(self) -> float | None:
        """Expected dollars; None if any price is unknown."""
        return rounded(known_sum(line.usd for line in self.lines))

    @property
    def cost_usd(self) -> float | None:
        """The same as `expected_usd`."""
        return self.expected_usd

    @property
    def bound90_usd(self) -> float | None:
        """Dollars that nine of ten such plans stay below; None if any price is unknown."""
        return rounded(bound90_of(self.lines))

    @property
    def cap_usd(self) -> float | None:
        """Cap on all dollars, those spent so far among them; None without one."""
        return self.caps.usd

    @property
    def basis(self) -> Basis | None:
        """What this rests on: calls of this `run`, of past runs on this `machine`, or a `guess`.

        None if only stand-ins are called, or nobody.
        """
        return basis_of(self.lines)


@dataclass(frozen=True, kw_only=True)
class Costing(LineCosts):
    """What calls cost, and what was spent before."""

    COSTS: ClassVar = (
        *("lines", "calls", "input_tokens", "output_tokens", "cost_usd", *PLAN_FIGURES),
        *("spent_usd", "cap_use", "prices"),
    )
    lines: Sequence[Line] = ()
    """Lines by model and role, in a sweep also by number of frames: `model`, `role`, `calls`,
    `calls_at_most`, `input_tokens`, `output_tokens` (None of stand-ins), `cost_usd`,
    `bound90_usd` (None without a price), whether its tokens were `measured` in this run, and their
    `basis`, as below."""
    prices: Mapping[str, str | None] = field(default_factory=dict)
    """Model to the source of its price; None if unknown."""
    spent_usd: float = 0.0
    """Dollars spent so far, by all processes that played it."""
    cap_use: CapUse = NOTHING_USED
    """What caps count by now, in `usd` and `tokens`: with what is possibly paid."""
    lacking: tuple[str, ...] = ()
    """Which keys the models that would be called lack, a sentence each; not in JSON."""
    caps: SpendCaps = NO_CAPS
    """The caps that would hold."""

    @property
    def calls(self) -> float:
        """Expected calls in all."""
        return round(sum(line.calls for line in self.lines), 1)

    @property
    def input_tokens(self) -> int | None:
        """Expected tokens in, stand-ins left out; None if only those play."""
        return _whole(billed_tokens(self.lines)[0])

    @property
    def output_tokens(self) -> int | None:
        """Expected tokens out, stand-ins left out; None if only those play."""
        return _whole(billed_tokens(self.lines)[1])


@dataclass(frozen=True)
class AnswerSize:
    """What a run over so many videos would take from its beginning."""

    SHOWN: ClassVar = (
        *("videos", "battles", "separable_gap", "expected_usd", "bound90_usd"),
        *("duration_s", "duration_bound90_s"),
    )
    videos: int
    battles: int
    separable_gap: int | None
    expected_usd: float | None
    bound90_usd: float | None
    duration_s: float
    duration_bound90_s: float


@dataclass(frozen=True, kw_only=True)
class Plan(Costing):
    """What is left of a run."""

    SHOWN: ClassVar = (
        *("battles", "videos", "sampling", *Costing.COSTS),
        *("duration_s", "duration_bound90_s", "separable_gap", "sizes", "notes"),
    )
    battles: int
    """Battles left to play."""
    videos: int
    """Videos with a battle left to play."""
    sampling: Sampling = field(default_factory=Sampling)
    """Which frames of a video are sampled, as in the manifest."""
    notes: tuple[str, ...] = ()
    """The assumptions of the plan, a sentence each."""
    whole: Whole | None = None
    """The run as it will be once all is played; None if unknown."""
    rounds: int = 0
    """The most battles that a lineage has left, which are played one after another."""
    concurrency: int = CONCURRENCY
    answers: int = 0
    """The most answers that are left, whoever gives them: two in each battle."""
    sizes: tuple[AnswerSize, ...] = ()
    """What runs with these models and rounds over 12 to 200 videos take from their beginning:
    `videos`, `battles`, `separable_gap`, `expected_usd`, `bound90_usd`, `duration_s` and
    `duration_bound90_s`; none where only stand-ins play."""

    @property
    def duration_s(self) -> float | None:
        """How long it is expected to take at `--concurrency`; None if only stand-ins play."""
        return _duration(self.lines, self.rounds, self.concurrency)

    @property
    def duration_bound90_s(self) -> float | None:
        """What nine of ten such runs take no longer than; None if only stand-ins play."""
        found = self.duration_s
        return None if found is None else round(found * slower(self.lines), 1)

    @property
    def separable_gap(self) -> int | None:
        """Points by which two models must differ to be told apart in 4 of 5 such runs, or None."""
        return None if self.whole is None else self.whole.separable_gap

    @property
    def unpriced(self) -> list[str]:
        """Models without a known price."""
        return [alias for alias, source in self.prices.items() if source is None]

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `simulate --plan --json`."""
        return record_json(self)


def _duration(lines: Iterable[Line], rounds: int, concurrency: int) -> float | None:
    """Return how many seconds a run's calls take; None if only stand-ins are called."""
    # Calls take turns, and no lineage ends before its own, which come one after another.
    billed = [line for line in lines if not line.is_offline]
    if not billed:
        return None
    each: dict[Role, float] = {}
    for line in billed:
        each[line.role] = max(each.get(line.role, 0.0), line.seconds / (line.calls or 1.0))
    once = sum(each.get(role, 0.0) for role in ("examiner", "persona", "questioner"))
    battle = each.get("contestant", 0.0) + each.get("judge", 0.0)
    later = each.get("evolver", 0.0) + each.get("grader", 0.0)
    chain = once + rounds * battle + max(rounds - 1, 0) * later
    return round(max(chain, sum(line.seconds for line in billed) / concurrency), 1)


@dataclass(frozen=True)
class Whole:
    """A run as it will be once all is played."""

    models: int
    battles: int
    videos: int

    @property
    def separable_gap(self) -> int | None:
        """Points by which two models must differ to be told apart in four of five such runs.

        None if there are too few videos to rank, or fewer than two models.
        """
        if self.videos < RANKABLE_VIDEOS or self.models < 2:
            return None
        return round(SCALE * separable_gap(self.models, battles=self.battles, videos=self.videos))


def _whole(tokens: float | None) -> int | None:
    return None if tokens is None else round(tokens)


@dataclass(frozen=True)
class RemainingWork:
    """What is left to do."""

    first: int
    """Open slots whose question is a lineage's first one."""
    later: int
    """Open slots whose question is to be evolved."""
    videos: int
    """Videos with an open slot."""
    rows: tuple[CallRow, ...] = ()
    """The latest calls of this run, which are measured."""
    done: Counter[tuple[str, Role]] = field(default_factory=Counter)
    """Answered calls of open slots and their videos, by model and role."""
    spent_usd: float = 0.0
    cap_use: CapUse = NOTHING_USED
    newcomer_videos: int = 0
    """Videos with an open slot of a newcomer; their examiner needs no further call."""
    peopled: int = 0
    """Videos with an open slot for which all users were brought, so that none is invented."""
    guests: Counter[str] = field(default_factory=Counter)
    """Open slots in which a newcomer meets a stored answer, by its name."""
    whole: Whole | None = None
    """The run as it will be once all is played; None if unknown."""
    rounds: int = 0
    """The most open slots that a lineage has."""

    @property
    def slots(self) -> int:
        """How many battles are to go."""
        return self.first + self.later + self.guests.total()


def plan_of(
    config: RunConfig,
    work: RemainingWork,
    past: PastCalls = NO_PAST,
    *,
    concurrency: int = CONCURRENCY,
    sized: bool = False,
) -> Plan:
    """Return the plan for `work`: calls, tokens, dollars and time.

    `past` is what calls took in past runs, for kinds of which the run itself has none. With `sized`
    it also says what runs of other sizes take.
    """
    seen = KnownCalls.of(work.rows, past)
    lines = _lines(config, work, seen, concurrency)
    prices = {alias: price_of(config.model_of(alias)) for alias in config.cast}
    sources = {alias: price.source if price else None for alias, price in prices.items()}
    notes = tuple(_notes(config, lines, _rates(config, work.rows), past))
    sizes: tuple[AnswerSize, ...] = ()
    if sized and not config.offline:
        rows = work.rows
        sizes = tuple(_size(config, count, rows, seen, concurrency) for count in ANSWER_VIDEOS)
    return Plan(
        lines=lines,
        prices=sources,
        battles=work.slots,
        videos=work.videos + work.newcomer_videos,
        spent_usd=round(work.spent_usd, 6),
        cap_use=work.cap_use,
        sampling=config.sampling,
        whole=work.whole,
        rounds=work.rounds,
        concurrency=concurrency,
        answers=_answers_left(work),
        sizes=sizes,
        notes=notes,
    )


def _lines(
    config: RunConfig, work: RemainingWork, seen: KnownCalls, concurrency: int
) -> list[Line]:
    """Return what each model will need in each role."""
    bare = []
    for (alias, role), (calls, most, variance) in _calls(config, work).items():
        made = work.done[(alias, role)]
        if most > made:
            # Repairs and refusals may have taken more calls by now than were expected in all.
            left = max(calls - made, 0.0)
            bare.append(Line(alias, role, left, most - made, calls_variance=variance))
    videos = max(work.videos + work.newcomer_videos, 1)

    def sized(reads: PrefixReads) -> list[Line]:
        return [estimated(config, line, seen, videos=videos, reads=reads) for line in bare]

    lines = sized({})
    seconds = _duration(lines, work.rounds, concurrency)
    if seconds is None:
        return lines
    # The videos of a block are under way together, and those of the next one after them.
    return sized(
        prefix_reads(config, lines, videos=videos, busy_s=seconds * min(1.0, config.block / videos))
    )


def _size(
    config: RunConfig,
    videos: int,
    rows: tuple[CallRow, ...],
    seen: KnownCalls,
    concurrency: int,
) -> AnswerSize:
    """Return what a run over so many videos takes from its beginning."""
    first = len(PERSONAS) * videos
    battles = first * config.rounds
    work = RemainingWork(
        first=first, later=battles - first, videos=videos, rows=rows, rounds=config.rounds
    )
    lines = _lines(config, work, seen, concurrency)
    duration_s = _duration(lines, config.rounds, concurrency) or 0.0
    return AnswerSize(
        videos,
        battles,
        Whole(len(config.models), battles, videos).separable_gap,
        rounded(known_sum(line.usd for line in lines)),
        rounded(bound90_of(lines)),
        duration_s,
        round(duration_s * slower(lines), 1),
    )


def _answers_left(work: RemainingWork) -> int:
    given = sum(count for (_, role), count in work.done.items() if role == "contestant")
    # Where a newcomer plays, the other answer is stored.
    return 2 * (work.first + work.later) + work.guests.total() - given


def most_calls(plan: Plan, aliases: Collection[str] | None = None) -> int:
    """Return the most calls of a plan for these models, or for all, without transport retries.

    Each contestant may meet every other in each battle, but only two of them meet in one.
    """
    lines = [line for line in plan.lines if aliases is None or line.alias in aliases]
    answers = sum(line.most_calls for line in lines if line.role == "contestant")
    others = sum(line.most_calls for line in lines if line.role != "contestant")
    return min(answers, plan.answers) + others


class ExpectedCount(NamedTuple):
    """How many calls are made."""

    expected: float
    most: int
    variance: float = 0.0


def _beyond(sure: float, expected: float, most: int) -> ExpectedCount:
    """Return how many calls there are, of which so many are sure and the others by chance."""
    return ExpectedCount(expected, most, chance_variance(expected - sure))


def chance_variance(calls: float) -> float:
    """Return the variance of a number of calls that come by chance, at a stated rate."""
    return max(calls, 0.0) + (RATE_CV * calls) ** 2


def _calls(config: RunConfig, work: RemainingWork) -> dict[tuple[str, Role], ExpectedCount]:
    """Return the expected and the most calls by model and role."""
    repaired, refused, alike = _rates(config, work.rows)
    inventing = work.videos - work.peopled
    asks = DIVERSE_ASKS if config.diverse else 1
    slots = work.first + work.later
    later = work.later
    # A reply that does not fit its form is asked for once more, never twice.
    again = 1 + repaired
    # A question that is refused twice is asked for afresh, as the gate has it.
    fresh = later * refused**2
    evolved = later * (1 + refused)
    seatings = 2.0 if config.swap == "all" else 1.0 + float(config.swap)
    most_seatings = 1 if config.swap == 0 else 2
    boss = config.examiner
    users = inventing * again * (1 + alike)
    found: dict[tuple[str, Role], ExpectedCount] = {
        (boss, "examiner"): _beyond(work.videos, work.videos * again, REPAIR * work.videos),
        (boss, "persona"): _beyond(inventing, users, REPAIR * inventing * asks),
        (boss, "questioner"): _beyond(work.first, (work.first + fresh) * again, REPAIR * slots),
        # Twice a slot at most: the gate asks a refused evolver once more.
        (boss, "evolver"): _beyond(later, evolved * again, REPAIR * 2 * later),
        (boss, "grader"): _beyond(later, evolved * again, REPAIR * 2 * later),
    }
    for alias in config.models:
        met = work.guests[alias]
        # Expected: pairs are drawn evenly. At most: one model is drawn for every battle.
        share = 2 / len(config.models)
        drawn = slots * share * (1 - share)
        found[(alias, "contestant")] = ExpectedCount(slots * share + met, slots + met, drawn)
    found |= _scouting(config, work)
    for judge in config.judges:
        judged = work.slots
        sure = judged * (2.0 if config.swap == "all" else 1.0)
        most = REPAIR * most_seatings * judged
        found[(judge, "judge")] = _beyond(sure, judged * seatings * again, most)
    return found


def _scouting(config: RunConfig, work: RemainingWork) -> dict[tuple[str, Role], ExpectedCount]:
    """Return expected and most calls for finding clips, which are made once a video."""
    found: dict[tuple[str, Role], ExpectedCount] = {}
    videos = work.videos + work.newcomer_videos
    # Two of the models answer in each battle.
    share = 2 / len(config.models)
    # The chance that the model is drawn for a video at all: only then are its clips looked at.
    played = 1 - (1 - min(share, 1)) ** (work.slots / videos if videos else 0)
    for who, clips in clip_calls(config, config.models).items():
        drawn = clips**2 * videos * played * (1 - played)
        found[who] = ExpectedCount(clips * videos * played, clips * videos, drawn)
    for alias in embedders(config, config.models):
        expected, most, drawn = found.get((alias, "embedder"), ExpectedCount(0.0, 0))
        asked = work.slots * min(share, 1)
        drawn += asked * (1 - min(share, 1))
        found[alias, "embedder"] = ExpectedCount(expected + asked, most + work.slots, drawn)
    return found


class _Rates(NamedTuple):
    """How often further calls are needed, as shares."""

    repaired: float
    refused: float
    alike: float
    """Expected further asks for the users of a video."""


def repaired_share(rows: Iterable[CallRow]) -> float:
    """Return the share of structured replies that needed a second request; 2 % before 20 calls."""
    # The ordinal of a nonce is twice the deliberate request, plus one for its repair round.
    asks = Counter(row.nonce.ordinal % 2 == 1 for row in rows if row.nonce.role not in FREE)
    return asks[True] / asks[False] if asks[False] >= ENOUGH else REPAIRED


def _rates(config: RunConfig, rows: Iterable[CallRow]) -> _Rates:
    """Return the rates of this run so far, or the stated ones while there are too few calls."""
    made = list(rows)
    # The evolver is asked a second time only after a refusal.
    proposals = Counter(row.nonce.ordinal // 2 for row in made if row.nonce.role == "evolver")
    refused = proposals[1] / proposals[0] if proposals[0] >= ENOUGH else REFUSED
    # Ordinals 0 and 1 are the first request and its repair.
    users = Counter(row.nonce.ordinal > 1 for row in made if row.nonce.role == "persona")
    alike = users[True] / users[False] if users[False] >= ENOUGH else ALIKE
    return _Rates(repaired_share(made), min(refused, 1.0), alike if config.diverse else 0.0)


class PrefixRead(NamedTuple):
    """How calls that begin alike find their beginning in a cache, as shares of them."""

    read: float
    written: float


class PromptBeginning(NamedTuple):
    """What calls have in common that begin alike, besides the video."""

    alias: str
    frames: int
    schema: Role | None
    """The role whose schema of a reply stands before all else, if one does."""


PrefixReads = Mapping[PromptBeginning, PrefixRead]
"""How calls find their beginning, by what it is."""


def beginning_of(config: RunConfig, alias: str, role: Role) -> PromptBeginning:
    """Return how calls of a model in a role begin.

    A server that is asked to hold replies to a schema reads it before the frames, as a tool or in
    the system's words, so that each role has a beginning of its own.
    """
    # What servers have refused of it by now is not looked at.
    asked_for = ServerLimits().reply_format(config.model_of(alias))
    has_schema = asked_for == "json_schema" and replies_in_json(role)
    return PromptBeginning(alias, frames_of(config, alias, role), role if has_schema else None)


def prefix_reads(
    config: RunConfig, lines: Iterable[Line], *, videos: float, busy_s: float
) -> PrefixReads:
    """Return how often the beginning of a call is read from a cache, and written to one.

    A beginning is the system text and the frames of a video, which all calls of a model share that
    show it as many, or those of one role where a schema stands before. The first such call misses,
    and so does one that comes more than five minutes after the one before. `busy_s` is how long a
    video's calls go on: they come at random in that time.
    """
    calls = Counter[PromptBeginning]()
    for line in lines:
        calls[beginning_of(config, line.alias, line.role)] += line.calls  # type: ignore[assignment]
    found = {}
    for beginning, count in calls.items():
        caching = caching_of(config.model_of(beginning.alias), beginning.frames)
        read = prefix_read(caching, count / videos, busy_s=busy_s)
        if read is not None:
            found[beginning] = read
    return found


def prefix_read(caching: Caching, each: float, *, busy_s: float) -> PrefixRead | None:
    """Return the same of one beginning that `each` calls share; None if none finds it."""
    if caching == "none" or each <= 1:
        return None
    forgotten = math.exp(-LIFE_S * each / busy_s) if busy_s else 0.0
    read = (each - 1) * (1 - forgotten) / each
    return PrefixRead(read, 1 - read if caching == "marks" else 0.0)


def estimated(
    config: RunConfig,
    line: Line,
    seen: KnownCalls,
    *,
    videos: float,
    frames: float = math.inf,
    reads: PrefixReads = MappingProxyType({}),
) -> Line:
    """Return a line with its tokens and dollars, measured if such calls were made before.

    `frames` is how many a call is expected to carry, if fewer than the most.
    """
    model = config.model_of(line.alias)
    words = WORDS[line.role]
    most = frames_of(config, line.alias, line.role)
    each = frame_tokens(model)
    shown = min(frames, most)
    longest = words.most_text + most * (each.most + LABEL_TOKENS)
    count = CallCount(line.calls, line.calls_variance, videos)
    known = seen.of_kind(config, model, line.role, frames=most)
    if known is not None:
        return filled(model, line, count, *known, longest=longest)
    beginning = expected_input(model, shown)
    # Fewer frames than the most may be too few for the cache.
    has_cache = caching_of(model, shown) != "none"
    said = words.reply * (THOUGHT if thinks(model, line.role) else 1)
    usage = stated_usage(
        words.text + beginning - _SYSTEM_TOKENS,
        min(said, output_limit(model, line.role)),
        beginning=beginning,
        reads=reads.get(beginning_of(config, line.alias, line.role)) if has_cache else None,
    )
    return filled(model, line, count, usage, longest=longest)


_THINKING = frozenset(
    {"effort", "reasoning", "reasoning_effort", "thinking", "thinking_budget", "thinking_level"}
)
_NO_THINKING = frozenset({"none", "off", "minimal", "disabled", "0", "false"})


def thinks(model: Model, role: Role) -> bool:
    """Return whether a model thinks before it replies, since it is asked to or does so unasked."""
    if model.maker.thought_tokens(model):
        return True
    asked = model.sampling(role)
    for table in (asked, extra_body(asked)):
        for name in _THINKING & table.keys():
            value = table[name]
            # As some write it: `thinking = { type = "disabled" }`.
            word = value.get("type", value.get("effort")) if isinstance(value, dict) else value
            if value is not None and str(word).lower() not in _NO_THINKING:
                return True
    return False


def stated_usage(
    read: float, written: float, *, beginning: float = 0.0, reads: PrefixRead | None = None
) -> CallVector:
    """Return the average call of a kind that nobody has measured, by its tokens in and out.

    `beginning` is how many of those in a cache may have, and `reads` how often it has them.
    """
    cached, put = (beginning * share for share in reads or (0.0, 0.0))
    return np.array([read - cached - put, cached, put, written, usual_seconds(read, written)])


def filled(
    model: Model,
    line: Line,
    count: CallCount,
    known: CallMeasure | CallVector,
    basis: Basis = "guess",
    *,
    longest: float,
) -> Line:
    """Return a line with its tokens and dollars, by calls that were measured or a stated one.

    `longest` is the most tokens of a call's input.
    """
    limit = output_limit(model, line.role)
    mean = known.mean if isinstance(known, CallMeasure) else known
    fresh, cached, written, output, _ = mean

    def sum_of(weights: CallVector) -> tuple[float, Spread]:
        if not isinstance(known, CallMeasure):
            # No provider promises that its cache finds anything.
            uncached = fresh + cached + written
            most = float(weights @ [uncached, 0.0, 0.0, output, known[-1]])
            return guessed_sum(float(weights @ known), count, most=most)
        return known.sum_of(weights, count, transfer_cv=TRANSFER_CV if basis == "machine" else 0.0)

    once = Usage(
        input_tokens=round(fresh + cached + written),
        output_tokens=round(output),
        cached_tokens=round(cached),
        written_tokens=round(written),
    )
    rates = rates_of(model, once)
    usd: float | None = None
    spread = NO_SPREAD
    if rates is not None:
        usd, spread = sum_of(np.array([*rates, 0.0]))
    seconds, seconds_spread = sum_of(_SECONDS)
    most = most_usd(model, input_tokens=round(longest), output_tokens=limit)
    return replace(
        line,
        input_tokens=float(line.calls * (fresh + cached + written)),
        output_tokens=float(line.calls * output),
        usd=usd,
        spread=spread,
        seconds=seconds,
        seconds_spread=seconds_spread,
        most_call_usd=most or 0.0,
        longest_tokens=round(longest) + limit,
        basis=basis,
        is_offline=model.is_offline,
    )


def _notes(
    config: RunConfig, lines: Sequence[Line], rates: _Rates, past: PastCalls
) -> Iterable[str]:
    if config.offline:
        yield "offline models run in this process, cost nothing and use no billed tokens"
        return
    anew = f", users are invented anew for {rates.alike:.0%} of videos" if config.diverse else ""
    yield (
        f"expected: {rates.repaired:.0%} of replies are requested a second time, "
        f"{rates.refused:.0%} of evolved questions are refused{anew}"
    )
    guessed = [line for line in lines if line.basis == "guess" and not line.is_offline]
    if any(_caching(config, line) != "none" for line in guessed):
        yield (
            "where nothing is measured, frames that a model was shown less than five minutes "
            "before come from its cache"
        )
    if guessed:
        yield (
            f"guessed time: a call takes {CALL_S:g} s, and one more for {READ_A_SECOND:,} tokens "
            f"read or {WRITTEN_A_SECOND} written; no server asks to wait"
        )
    if past.damage:
        yield past.damage


def _caching(config: RunConfig, line: Line) -> Caching:
    return caching_of(config.model_of(line.alias), frames_of(config, line.alias, line.role))


def billed_tokens(lines: Sequence[Line]) -> tuple[float, float] | tuple[None, None]:
    """Return tokens in and out, stand-ins left out; None and None if only those play."""
    billed = [line for line in lines if not line.is_offline]
    if lines and not billed:
        return None, None
    return sum(line.input_tokens for line in billed), sum(line.output_tokens for line in billed)


def known_sum(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs; None if any is unknown."""
    found = list(costs)
    known = [usd for usd in found if usd is not None]
    # An unknown cost is never taken for nothing.
    return sum(known) if len(known) == len(found) else None


def rounded(usd: float | None) -> float | None:
    """Return an amount as JSON has it, to a millionth of a dollar."""
    return None if usd is None else round(usd, 6)
