"""Questions whose answers were both called bad, and how the models that did not play them fare.

Nothing here decides a battle. A model's answer meets one of the two stored bad ones; it fails where
it is not found better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from videoautoarena.agents.roles.answer import answer
from videoautoarena.agents.roles.judge import JudgeCase, judge, settle_verdict
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.records.errors import (
    CallFailed,
    FramesLost,
    ProviderFailed,
    UnusableVideo,
)
from videoautoarena.memory.records.records import DECIDED, Battle, Judging, Verdict
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.frames import RunFrames

HARD_SCOPE = f"{TRIAL_SCOPE}hard:"
"""What the scope of every call for a hard question begins with."""
Side = Literal["a", "b"]
Came = Literal["failed", "passed", "void"]
WhyNot = Callable[[Battle], str | None]
"""Returns why a question is not to be asked; None if it is."""


class HardMatch(NamedTuple):
    """One model that is asked a question again, and the bad answer that it meets."""

    battle: Battle
    model: str
    bad: Side
    """Where the stored answer stands, in its battle and here; the new one takes the other seat."""

    @property
    def own(self) -> Side:
        """Where the new answer stands."""
        return "b" if self.bad == "a" else "a"

    @property
    def scope(self) -> str:
        """The scope of its calls."""
        return f"{HARD_SCOPE}{self.battle.id}:{self.model}"


@dataclass(frozen=True)
class Tried:
    """What came of one model at one question."""

    model: str
    bad: Side
    """Where the bad answer stood that it met."""
    verdict: Verdict
    """In terms of the seats: the new answer stands opposite the bad one."""
    answer: str | None = None
    """None if it gave none."""
    verdicts: tuple[Judging, ...] = ()
    reason: str | None = None
    """Why there is no verdict."""
    is_lost: bool = False
    """Whether a call failed for good, so that it may be asked once more."""
    is_asked: bool = True
    """False if the run knew it already, from a newcomer's battle."""

    @property
    def came(self) -> Came:
        """Whether it failed: it lost, refused, or was found no better than a bad one."""
        own = "b" if self.bad == "a" else "a"
        if self.verdict == "void":
            return "void"
        return "passed" if self.verdict in (own, "tie_good") else "failed"


@dataclass(frozen=True)
class BadQuestion:
    """A question whose two answers were called bad, and all that is known of other models at it."""

    battle: Battle
    tried: tuple[Tried, ...] = ()
    left_out: str | None = None
    """Why nobody was asked; None if models were."""

    def count(self, came: Came) -> int:
        """Return for how many models this came out."""
        return sum(one.came == came for one in self.tried)

    @property
    def is_hard(self) -> bool:
        """Whether most of the models with a verdict failed."""
        return self.count("failed") > self.count("passed")

    @property
    def share(self) -> float | None:
        """The share that failed of the models with a verdict, 0 to 1; None if there is none."""
        failed = self.count("failed")
        passed = self.count("passed")
        return failed / (failed + passed) if failed + passed else None


class Candidates(NamedTuple):
    """The questions of a run that may be hard."""

    battles: Sequence[Battle]
    """In the order of the slots."""
    left_out: Mapping[str, str]
    """Id to the reason of those that nobody is asked."""
    meetings: Sequence[HardMatch]
    """Who is to be asked again, in the same order, then as the models stand in the roster."""
    known: Mapping[tuple[str, str], Tried]
    """What newcomers' battles say already, by battle and model."""

    @property
    def reasons(self) -> Counter[str]:
        """Why questions are not asked, and how many."""
        return Counter(self.left_out.values())


def candidates_of(
    battles: Iterable[Battle], config: RunConfig, why_not: WhyNot = lambda _: None
) -> Candidates:
    """Return the battles of both bad answers, and which models did not play them.

    A model that is sent no frames is not asked: that it fails says nothing of a question. Nor is
    anybody where `why_not` says why the question is not wanted.
    """
    bad: dict[str, Battle] = {}
    borrowed: list[Battle] = []
    for battle in battles:
        if battle.borrowed is not None:
            borrowed.append(battle)
        # What lacks the user, the question or an answer cannot be asked and judged again.
        elif battle.verdict == "tie_bad" and _is_whole(battle):
            bad[battle.id] = battle
    left_out = {id_: why for id_, battle in bad.items() if (why := why_not(battle)) is not None}
    wanted = {id_: battle for id_, battle in bad.items() if id_ not in left_out}
    known = {
        (source, tried.model): tried
        for battle in borrowed
        if (source := battle.borrowed.battle if battle.borrowed else "") in wanted
        and (tried := _met(battle)) is not None
    }
    seeing = [m for m in config.models if config.model_of(m).frame_limit("contestant") > 0]
    meetings = [
        HardMatch(battle, model, _bad_side(config.seed, battle.id, model))
        for battle in wanted.values()
        for model in seeing
        if model not in (battle.model_a, battle.model_b) and (battle.id, model) not in known
    ]
    return Candidates(list(bad.values()), left_out, meetings, known)


def _is_whole(battle: Battle) -> bool:
    return all((battle.persona_text, battle.question, battle.answer_a, battle.answer_b))


def _met(battle: Battle) -> Tried | None:
    """Return what a newcomer's battle over a stored answer says of the newcomer, if anything.

    A forfeit says nothing: the battle does not tell a refusal from a provider that was down.
    """
    if battle.borrowed is None or battle.verdict not in DECIDED:
        return None
    bad = battle.borrowed.seat
    model, text = (
        (battle.model_b, battle.answer_b) if bad == "a" else (battle.model_a, battle.answer_a)
    )
    if model is None:
        return None
    return Tried(model, bad, battle.verdict, text, battle.verdicts, is_asked=False)


def _bad_side(seed: int, battle: str, model: str) -> Side:
    """Return which of the two bad answers a model meets; its own seat follows and is even, too."""
    return "a" if unit_interval(seed, "hard", f"{battle} {model}") < 0.5 else "b"


def questions_of(found: Candidates, tried: Mapping[str, Tried]) -> list[BadQuestion]:
    """Return every candidate with what is known of it; `tried` is by the scopes of meetings."""
    by_battle: dict[str, list[Tried]] = {battle.id: [] for battle in found.battles}
    for (battle, _), one in found.known.items():
        by_battle[battle].append(one)
    for meeting in found.meetings:
        by_battle[meeting.battle.id].append(tried[meeting.scope])
    return [
        BadQuestion(battle, tuple(by_battle[battle.id]), found.left_out.get(battle.id))
        for battle in found.battles
    ]


async def try_model(
    prompter: Prompter, config: RunConfig, meeting: HardMatch, run_frames: RunFrames
) -> Tried:
    """Ask a model an old question and judge its answer against a bad one, as the run judges.

    Costs a model call, then one a judge and seating: both seatings where the run judges all from
    both, else one, the seat by coin. Who refuses or says nothing forfeits; where a provider fails
    there is no verdict, since that says nothing of the question.
    """
    battle = meeting.battle
    own = meeting.own
    try:
        frames = await run_frames.frames(battle.video)
        said = await answer(
            prompter,
            config.model_of(meeting.model),
            frames=frames,
            question=battle.question or "",
            slot=meeting.scope,
            seat=0 if own == "a" else 1,
        )
    except (CallFailed, UnusableVideo) as failure:
        # A refusal or an empty answer is a failure at the question; lost frames or a provider are
        # not.
        is_void = isinstance(failure, (UnusableVideo, FramesLost, ProviderFailed))
        none: Verdict = "void" if is_void else ("forfeit_a" if own == "a" else "forfeit_b")
        return Tried(meeting.model, meeting.bad, none, reason=str(failure), is_lost=True)
    text = said.answer.text
    case = JudgeCase(
        persona=battle.persona_text or "",
        question=battle.question or "",
        answer_a=text if own == "a" else battle.answer_a or "",
        answer_b=text if own == "b" else battle.answer_b or "",
        swap=config.swap == "all",
        language=battle.language,
    )
    judges = [config.model_of(name) for name in config.judges]
    verdicts = await judge(prompter, judges, frames=frames, case=case, slot=meeting.scope)
    verdict, reason = settle_verdict(verdicts, audit_only=config.swap != "all")
    is_lost = verdict == "void" and any(one.verdict == "failed" for one in verdicts)
    return Tried(meeting.model, meeting.bad, verdict, text, verdicts, reason, is_lost=is_lost)
