"""What the rest of a run will take, before anything is sent: calls, tokens and dollars.

Two figures for each model and role: what is expected, and the most that can be. Expectations rest
on rates that are stated here, and on what this run's own calls came to as soon as there are some.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from math import inf
from textwrap import wrap
from typing import Any, ClassVar, NamedTuple

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import LABEL_TOKENS, frame_tokens, output_limit
from videoautoarena.agents.limits.prices import TABLE, cost_of, most_usd, price_of
from videoautoarena.agents.models.registry import Model
from videoautoarena.graph.slot_ids import DIVERSE_ASKS
from videoautoarena.memory.records.records import SCOUTS, CallRow, Role, Sampling, Usage
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import dollars, roughly, short
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS
from videoautoarena.runs.run.config.disclosure import REPAIR, clip_calls, embedders, frames_of
from videoautoarena.runs.run.config.run_config import RunConfig, about_sampling
from videoautoarena.runs.run.rundir.reader import counted, one_line
from videoautoarena.scoring.design.power import separable_gap
from videoautoarena.scoring.fitting.bradley_terry import SCALE

REPAIRED = 0.02
"""Share of structured replies that are expected to need a second request."""
REFUSED, ALIKE = 0.2, 0.1
"""Expected share of evolved questions that are refused; expected further asks for users."""
FREE: frozenset[Role] = frozenset({"contestant", *SCOUTS})
"""Roles that reply in free text, which needs no second request."""
ENOUGH = 20
"""Calls from which on the rates of the run itself are used."""
SAMPLE = 2_000
"""How many of the latest calls are measured."""
ROUND_TRIPS = "attempts charged without a reply come on top"
CALL_S = 2.0
"""Seconds that a call is expected to take, besides reading and writing tokens."""
READ_A_SECOND, WRITTEN_A_SECOND = 8_000, 50
"""Tokens that a model is expected to read and to write per second."""
CONCURRENCY = 16
"""Calls under way at once by default."""


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
    most_usd: float | None = None
    seconds: float = 0.0
    """Expected seconds of its calls, one after another."""
    longest_tokens: int = 0
    """The most tokens that one call can take, in and out."""
    is_measured: bool = False
    """Whether its tokens are those that calls of this run took so far."""
    is_offline: bool = False
    """Whether it is a stand-in's, whose tokens nobody bills and no plan shows."""

    @property
    def dearest_usd(self) -> float:
        """The most that one call can cost, in dollars; 0 without a known price."""
        return (self.most_usd or 0.0) / self.most_calls if self.most_calls else 0.0

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
            "cost_usd_at_most": rounded(self.most_usd),
            "measured": self.is_measured,
        }


@dataclass(frozen=True, kw_only=True)
class Costing:
    """What calls cost in tokens and dollars, as every plan says it."""

    COSTS: ClassVar = (
        *("lines", "calls", "input_tokens", "output_tokens", "cost_usd", "cost_usd_at_most"),
        *("spent_usd", "prices"),
    )
    lines: Sequence[Line] = ()
    """Lines by model and role, in a sweep also by number of frames: `model`, `role`, `calls`,
    `calls_at_most`, `input_tokens`, `output_tokens` (None of stand-ins), `cost_usd`,
    `cost_usd_at_most` (None without a price), and whether its tokens were `measured` in this
    run."""
    prices: Mapping[str, str | None] = field(default_factory=dict)
    """Model to the source of its price; None if unknown."""
    spent_usd: float = 0.0
    """Dollars spent so far, by all processes that played it."""
    lacking: tuple[str, ...] = ()
    """Which keys the models that would be called lack, a sentence each; not in JSON."""

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

    @property
    def cost_usd(self) -> float | None:
        """Expected dollars; None if any price is unknown."""
        return rounded(known_sum(line.usd for line in self.lines))

    @property
    def cost_usd_at_most(self) -> float | None:
        """The most dollars: every reply repaired once, every limit reached."""
        return rounded(known_sum(line.most_usd for line in self.lines))


@dataclass(frozen=True, kw_only=True)
class Plan(Costing):
    """What is left of a run."""

    SHOWN: ClassVar = (
        *("battles", "videos", "sampling", *Costing.COSTS),
        *("duration_s", "separable_gap", "notes"),
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

    @property
    def cost_usd_at_most(self) -> float | None:
        """Every reply repaired once, every limit reached, the two dearest models in each battle."""
        # Each contestant's line counts it in every battle, but only two of them meet in one.
        officials = known_sum(line.most_usd for line in self.lines if line.role != "contestant")
        players = [line.most_usd for line in self.lines if line.role == "contestant"]
        known = [usd for usd in players if usd is not None]
        if officials is None or len(known) < len(players):
            return None
        return rounded(officials + sum(sorted(known)[-2:]))

    @property
    def duration_s(self) -> float | None:
        """How long it is expected to take at `--concurrency`; None if only stand-ins play."""
        # Calls take turns, and no lineage ends before its own, which come one after another.
        lines = [line for line in self.lines if not line.is_offline]
        if not lines:
            return None
        each: dict[Role, float] = {}
        for line in lines:
            each[line.role] = max(each.get(line.role, 0.0), line.seconds / (line.calls or 1.0))
        once = sum(each.get(role, 0.0) for role in ("examiner", "persona", "questioner"))
        battle = each.get("contestant", 0.0) + each.get("judge", 0.0)
        later = each.get("evolver", 0.0) + each.get("grader", 0.0)
        chain = once + self.rounds * battle + max(self.rounds - 1, 0) * later
        return round(max(chain, sum(line.seconds for line in lines) / self.concurrency), 1)

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


def plan_of(config: RunConfig, work: RemainingWork) -> Plan:
    """Return the plan for `work`: calls, tokens, dollars and time."""
    seen = measured(work.rows)
    lines = []
    for (alias, role), (calls, most) in _calls(config, work).items():
        made = work.done[(alias, role)]
        if most > made:
            # Repairs and refusals may have taken more calls by now than were expected in all.
            bare = Line(alias, role, max(calls - made, 0.0), most - made)
            lines.append(estimated(config, bare, seen))
    prices = {alias: price_of(config.model_of(alias)) for alias in config.cast}
    sources = {alias: price.source if price else None for alias, price in prices.items()}
    notes = tuple(_notes(config, lines, _rates(config, work.rows)))
    return Plan(
        lines=lines,
        prices=sources,
        battles=work.slots,
        videos=work.videos + work.newcomer_videos,
        spent_usd=round(work.spent_usd, 6),
        sampling=config.sampling,
        whole=work.whole,
        rounds=work.rounds,
        answers=_answers_left(work),
        notes=notes,
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


def _calls(config: RunConfig, work: RemainingWork) -> dict[tuple[str, Role], tuple[float, int]]:
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
    found: dict[tuple[str, Role], tuple[float, int]] = {
        (boss, "examiner"): (work.videos * again, REPAIR * work.videos),
        (boss, "persona"): (inventing * again * (1 + alike), REPAIR * inventing * asks),
        (boss, "questioner"): ((work.first + fresh) * again, REPAIR * slots),
        # Twice a slot at most: the gate asks a refused evolver once more.
        (boss, "evolver"): (evolved * again, REPAIR * 2 * later),
        (boss, "grader"): (evolved * again, REPAIR * 2 * later),
    }
    for alias in config.models:
        met = work.guests[alias]
        # Expected: pairs are drawn evenly. At most: one model is drawn for every battle.
        found[(alias, "contestant")] = (2 * slots / len(config.models) + met, slots + met)
    found |= _scouting(config, work)
    for judge in config.judges:
        judged = work.slots
        found[(judge, "judge")] = (judged * seatings * again, REPAIR * most_seatings * judged)
    return found


def _scouting(config: RunConfig, work: RemainingWork) -> dict[tuple[str, Role], tuple[float, int]]:
    """Return expected and most calls for finding clips, which are made once a video."""
    found: dict[tuple[str, Role], tuple[float, int]] = {}
    videos = work.videos + work.newcomer_videos
    # Two of the models answer in each battle.
    share = 2 / len(config.models)
    # The chance that the model is drawn for a video at all: only then are its clips looked at.
    played = 1 - (1 - min(share, 1)) ** (work.slots / videos if videos else 0)
    for who, clips in clip_calls(config, config.models).items():
        found[who] = (clips * videos * played, clips * videos)
    for alias in embedders(config, config.models):
        expected, most = found.get((alias, "embedder"), (0.0, 0))
        found[alias, "embedder"] = (expected + work.slots * min(share, 1), most + work.slots)
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


class Mean(NamedTuple):
    """Average tokens of a call, and its time."""

    input_tokens: float
    output_tokens: float
    cached_tokens: float = 0.0
    latency_s: float | None = None
    """Seconds; None if not measured."""

    @property
    def seconds(self) -> float:
        """Seconds of the call, as measured, else estimated from its tokens."""
        if self.latency_s is not None:
            return self.latency_s
        return CALL_S + self.input_tokens / READ_A_SECOND + self.output_tokens / WRITTEN_A_SECOND


def measured(rows: Iterable[CallRow]) -> dict[tuple[str, Role], Mean]:
    """Return average tokens and time of this run's calls, tries included, by model and role."""
    sums: dict[tuple[str, Role], list[float]] = {}
    for row in rows:
        # A server that counts no tokens teaches nothing about them.
        if row.usage.total is None:
            continue
        total = sums.setdefault((row.alias, row.nonce.role), [0.0, 0.0, 0.0, 0.0, 0.0])
        total[0] += 1
        # How long a batch took says nothing of a call that is sent by itself.
        total[4] += row.latency_s if row.batch is None else 0.0
        for usage in (attempt.usage for attempt in row.tries):
            found = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
            total[1:4] = [old + (new or 0) for old, new in zip(total[1:4], found, strict=True)]
    return {who: Mean(*(part / count for part in parts)) for who, (count, *parts) in sums.items()}


def estimated(
    config: RunConfig,
    line: Line,
    seen: dict[tuple[str, Role], Mean],
    *,
    frames: float = math.inf,
) -> Line:
    """Return a line with its tokens and dollars, measured if the run has such calls.

    `frames` is how many a call is expected to carry, if fewer than the most.
    """
    model = config.model_of(line.alias)
    words = WORDS[line.role]
    most = frames_of(config, line.alias, line.role)
    each = frame_tokens(model)
    limit = output_limit(model, line.role)
    shown = min(frames, most) * (each.expected + LABEL_TOKENS / 2)
    stated = Mean(words.text + shown, min(words.reply, limit))
    mean = seen.get((line.alias, line.role), stated)
    longest = words.most_text + most * (each.most + LABEL_TOKENS)
    return filled(model, line, mean, longest=longest, is_measured=mean is not stated)


def filled(model: Model, line: Line, mean: Mean, *, longest: float, is_measured: bool) -> Line:
    """Return a line with its tokens and dollars, by an average call and the longest input."""
    limit = output_limit(model, line.role)
    once = Usage(
        input_tokens=round(mean.input_tokens),
        output_tokens=round(mean.output_tokens),
        cached_tokens=round(mean.cached_tokens),
    )
    usd = cost_of(model, once).usd
    most = most_usd(model, input_tokens=round(longest), output_tokens=limit)
    return replace(
        line,
        input_tokens=line.calls * mean.input_tokens,
        output_tokens=line.calls * mean.output_tokens,
        usd=None if usd is None else line.calls * usd,
        most_usd=None if most is None else line.most_calls * most,
        seconds=line.calls * mean.seconds,
        longest_tokens=round(longest) + limit,
        is_measured=is_measured,
        is_offline=model.is_offline,
    )


def _notes(config: RunConfig, lines: list[Line], rates: _Rates) -> Iterable[str]:
    if config.offline:
        yield "offline models run in this process, cost nothing and use no billed tokens"
        return
    anew = f", users are invented anew for {rates.alike:.0%} of videos" if config.diverse else ""
    expected = f"expected: {rates.repaired:.0%} of replies are requested a second time, "
    yield f"{expected}{rates.refused:.0%} of evolved questions are refused{anew}"
    if any(not line.is_measured for line in lines):
        yield "no savings from prompt caching are assumed before they are measured"
    if any(line.is_measured for line in lines):
        yield "* tokens and time per call as measured in this run so far"
    else:
        yield (
            f"time: a call takes {CALL_S:g} s, and one more for {READ_A_SECOND:,} tokens read or "
            f"{WRITTEN_A_SECOND} written; no server asks to wait"
        )
    yield f"at most: every reply requested twice, every limit reached; {ROUND_TRIPS}"


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


LEAST_NAME = 12
PRICE_HINT = (
    "write price = { input_usd = 1.0, output_usd = 4.0 } in its table of arena.toml, dollars per "
    "million tokens"
)
_HEADS = ("role", "calls", "at most", "tokens in", "out", "expected", "at most")


def as_lines(plan: Plan, columns: int, today: date | None = None) -> Iterator[str]:
    """Yield the lines of a plan for a terminal of `columns`."""
    yield (
        f"{counted(plan.battles, 'battle')} left, "
        f"{counted(plan.videos, 'video')}; spent so far {dollars(plan.spent_usd)}"
    )
    yield from table(
        plan.lines, (plan.cost_usd, plan.cost_usd_at_most), columns, at_most=most_calls(plan)
    )
    for note in _worth(plan):
        yield from wrap(note, columns)
    sampled = about_sampling(plan.sampling)
    prices = prices_of(plan.prices, today)
    lacks = lacks_of(plan.lacking)
    for note in (sampled, *prices, *plan.notes, *lacks):
        yield from wrap(note, columns, subsequent_indent="  ")


def _worth(plan: Plan) -> Iterator[str]:
    """Yield how long a plan takes, and which differences its run will show."""
    if plan.duration_s is not None:
        yield takes_words(plan.duration_s, plan.concurrency)
    if plan.whole is None:
        return
    size = f"{counted(plan.whole.battles, 'battle')} on {counted(plan.whole.videos, 'video')}"
    if plan.whole.separable_gap is None:
        yield f"{size} in all: too few videos to rank models ({RANKABLE_VIDEOS} are needed)"
    else:
        yield (
            f"{size} in all: two models {plan.whole.separable_gap} points apart are told apart in "
            "4 of 5 such runs (arena power says more)"
        )


def lacks_of(lacking: Sequence[str]) -> Iterator[str]:
    """Yield what keeps a plan from being carried out now, such as missing keys."""
    for lack in lacking:
        yield f"could not start here yet: {safe(lack)}"


def takes_words(duration_s: float, at_once: int) -> str:
    """Return how long calls are expected to take, `at_once` of them at a time."""
    return f"takes about {roughly(duration_s)} with {counted(at_once, 'call')} at once"


def table(
    lines: Sequence[Line],
    sums: tuple[float | None, float | None],
    columns: int,
    *,
    at_most: int,
) -> Iterator[str]:
    """Yield what each model needs in each role, and the total; `sums` is in dollars."""
    names = ["model", *(safe(line.alias) for line in lines), "all"]
    rows = [_HEADS, *map(_cells, lines), _totals(lines, sums, at_most)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(widths), LEAST_NAME)
    width = min(max(map(len, names)), room)
    for name, cells in zip(names, rows, strict=True):
        role, *figures = cells
        each = (f"{cell:>{wide}}" for cell, wide in zip(figures, widths[1:], strict=True))
        shown = one_line(name, width).ljust(width)
        yield " ".join([shown, role.ljust(widths[0]), *each]).rstrip()


def money_notice(plan: Plan) -> Iterator[str]:
    """Yield what a run without `--plan` says of its costs before it begins."""
    if plan.unpriced:
        names = ", ".join(map(safe, plan.unpriced))
        yield f"cost unknown: no price is known for {names} (see --plan)"
    elif plan.lines:
        yield (
            f"expected cost {dollars(plan.cost_usd)}, at most {dollars(plan.cost_usd_at_most)} "
            "(see --plan; --max-usd limits it)"
        )


def cap_notice(plan: Plan, caps: SpendCaps, spent: SpendCaps) -> Iterator[str]:
    """Yield a warning for each cap of which less is left than one call may take."""
    if not plan.lines:
        return
    hint = "a call that does not fit is not sent; raise the cap or lower max_tokens"
    dearest = max(plan.lines, key=lambda line: line.dearest_usd)
    left_usd = inf if caps.usd is None else max(caps.usd - (spent.usd or 0.0), 0.0)
    if left_usd < dearest.dearest_usd:
        yield (
            f"one call to {safe(dearest.alias)} as {dearest.role} may cost up to "
            f"{dollars(dearest.dearest_usd)}, and {dollars(left_usd)} of the cap is left: {hint}"
        )
    billed = [line for line in plan.lines if not line.is_offline]
    if not billed:
        return
    longest = max(billed, key=lambda line: line.longest_tokens)
    left = inf if caps.tokens is None else max(caps.tokens - (spent.tokens or 0), 0)
    if left < longest.longest_tokens:
        yield (
            f"one call to {safe(longest.alias)} as {longest.role} may take up to "
            f"{longest.longest_tokens:,} tokens, and {left:,.0f} of the cap are left: {hint}"
        )


def _cells(line: Line) -> tuple[str, ...]:
    return (
        f"{line.role}{'*' * line.is_measured}",
        f"{line.calls:,.0f}",
        f"{line.most_calls:,}",
        _tokens(None if line.is_offline else line.input_tokens),
        _tokens(None if line.is_offline else line.output_tokens),
        dollars(line.usd),
        dollars(line.most_usd),
    )


def _totals(
    lines: Sequence[Line], sums: tuple[float | None, float | None], at_most: int
) -> tuple[str, ...]:
    return (
        "",
        f"{sum(line.calls for line in lines):,.0f}",
        f"{at_most:,}",
        *map(_tokens, billed_tokens(lines)),
        *map(dollars, sums),
    )


def _tokens(number: float | None) -> str:
    return "-" if number is None else short(number)


def prices_of(sources: Mapping[str, str | None], today: date | None = None) -> Iterator[str]:
    """Yield the sources of prices, and the models without a known price."""
    today = today or datetime.now(UTC).date()
    found = dict[str, list[str]]()
    for alias, source in sources.items():
        if source is not None and source != "offline":
            found.setdefault(source, []).append(safe(alias))
    for source, aliases in found.items():
        date_of = f", as of {today.isoformat()}" if source.startswith(TABLE) else ""
        yield f"prices of {', '.join(aliases)}: {safe(source)}{date_of}"
    if unpriced := [alias for alias, source in sources.items() if source is None]:
        names = ", ".join(map(safe, unpriced))
        yield f"no price is known for {names}; {PRICE_HINT}"
