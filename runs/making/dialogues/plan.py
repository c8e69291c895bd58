"""What making dialogues takes: calls, dollars, and what leaves the machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from videoautoarena.graph.dialogue import EXEMPT, TRIES
from videoautoarena.graph.dialogue_checks import MEMORABLE, MOST_OTHERS
from videoautoarena.memory.records.records import Role
from videoautoarena.memory.records.scenes import Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.entries import ABILITIES, TWIN, Ability
from videoautoarena.runs.jobs.paid_job import JobPlan
from videoautoarena.runs.making.dialogues.making import (
    MOST_CLIPS,
    SPARE,
    DialogueWish,
    Outcome,
    scope_of,
)
from videoautoarena.runs.making.scenes.plan import plan_scenes
from videoautoarena.runs.run.config.disclosure import REPAIR, judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.frames import has_subtitles
from videoautoarena.runs.tournament.plan import (
    REPAIRED,
    SAMPLE,
    Line,
    estimated,
    known_sum,
    measured,
)

# What the offline examiner took for each dialogue that was wanted, on average of nine real clips
# and the twelve samples: 561 calls are expected of the former and 519 were made, 917 and 947 of the
# latter. Where few abilities are served it is less, two fifths for squares on plain ground;
# with an examiner whose dialogues are often refused it is more.
WRITTEN = 1.08
"""Calls that write, repairs and spares among them; less than 1 each where few abilities served."""
ROUNDS = 0.96
"""Scored rounds that get as far as a checklist and are answered by who knows all."""
FORGETFUL = 2.3
"""Answers by who lacks the history or takes another thing to be meant, where it matters."""
BLIND = 1.15
"""Answers by who sees no frames, where they are looked for."""
GUESSED = 0.1
"""Share of these that say anything, which is held against the checklist."""
RATED = 1.2
"""Clips of each video that are rated."""
SELDOM = 0.25
"""Of what an ability takes, where the first clips that were rated do not serve it."""
MOST_SCORED = 8

Cell = tuple[str, Ability | None]
"""A video and an ability; None of what is asked for all of them."""


def plan_making(
    config: RunConfig,
    wish: DialogueWish,
    shots: Mapping[str, Sequence[Span]],
    *,
    outcomes: Sequence[Outcome],
    store: Store | None,
    concurrency: int,
) -> JobPlan:
    """Return what making will take beyond what the journal has.

    `shots` are the stretches of each video between cuts; `outcomes` say what is open of each.
    """
    open_ = [one for one in outcomes if one.open and one.video.id in shots]
    seen = measured(store.journal.latest(SAMPLE) if store else [])
    lines = [
        line
        for one in open_
        if not one.is_remembered
        for line in plan_scenes(config, one.video.id, shots[one.video.id], store).lines
    ]
    made = _made(store)
    left = defaultdict[Role, float](float)
    most = Counter[Role]()
    for one in open_:
        for kind in (None, *one.open):
            for role, (expected, ceiling) in _calls(wish, kind).items():
                done = made[one.video.id, kind][role]
                expected *= SELDOM if kind in one.doubtful else 1 + REPAIRED
                left[role] += max(expected - done, 0.0)
                most[role] += max(ceiling * REPAIR - done, 0)
    lines += [
        estimated(config, Line(config.examiner, role, calls, most[role]), seen)
        for role, calls in left.items()
    ]
    calls = {config.examiner: sum(line.most_calls for line in lines)}
    notices = judges_notice(
        config,
        calls if open_ else {},
        videos=len(open_),
        has_subtitles=store is not None and has_subtitles(store),
    )
    # The dialogues of one ability about one video are made one after another.
    at_once = max(1, min(concurrency, sum(len(one.open) for one in open_)))
    return JobPlan(_by_role(lines), len(outcomes) - len(open_), tuple(notices), at_once)


def _by_role(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return one line of each role."""
    found = dict[Role, Line]()
    for line in lines:
        one = found.get(line.role)
        found[line.role] = line if one is None else _sum(one, line)
    return tuple(found.values())


def _sum(one: Line, other: Line) -> Line:
    return replace(
        one,
        calls=one.calls + other.calls,
        most_calls=one.most_calls + other.most_calls,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        usd=known_sum((one.usd, other.usd)),
        most_usd=known_sum((one.most_usd, other.most_usd)),
        seconds=one.seconds + other.seconds,
        longest_tokens=max(one.longest_tokens, other.longest_tokens),
    )


def _calls(wish: DialogueWish, kind: Ability | None) -> dict[Role, tuple[float, int]]:
    """Return the calls that are expected, and the most, by role: of one ability of one video."""
    if kind is None:
        return {"fitness_rater": (RATED, MOST_CLIPS)}
    wanted = wish.per_video
    blind = kind not in EXEMPT
    memory = kind in MEMORABLE
    rounds = wanted * ROUNDS
    forgetful = wanted * FORGETFUL * memory
    blindly = wanted * BLIND * blind
    tries = (wanted + SPARE) * TRIES
    most = tries * MOST_SCORED
    answers = 1 + memory * (1 + MOST_OTHERS)
    return {
        "dialogist": (wanted * WRITTEN, tries),
        "checklist_maker": (rounds, most),
        "checklist_validator": (rounds, most),
        "dialogue_answerer": (rounds + forgetful, most * answers),
        "leak_checker": (blindly, most * blind),
        "checklist_marker": (
            rounds + forgetful + blindly * GUESSED,
            most * (answers + blind),
        ),
    }


def _made(store: Store | None) -> defaultdict[Cell, Counter[str]]:
    """Return the calls that the journal has of making, by video, ability and role."""
    found = defaultdict[Cell, Counter[str]](Counter)
    start = scope_of("")
    kinds: dict[str, Ability] = {str(kind): kind for kind in (*ABILITIES, TWIN)}
    for scope, _, role in store.journal.each_answered() if store else ():
        if scope.startswith(start):
            video, *parts = scope.removeprefix(start).partition(":")[0].split("-")
            kind = kinds.get(parts[-2]) if len(parts) > 1 else None
            found[video, kind][role] += 1
    return found
