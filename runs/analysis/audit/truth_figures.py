"""How often a judge is right where the right answer is known, and whether it goes by length.

The cases come in pairs of equal texts of which each answer is right once, and the long one as often
as the short one. So a judge that does not look, or likes what is longer, is right half the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.records import TIES
from videoautoarena.memory.store.evidence import Trial, standing_trials
from videoautoarena.runs.analysis.audit.evidence import (
    AuditInput,
    below,
    finding,
    is_enough,
    unknown,
)
from videoautoarena.runs.analysis.trials.truth_clips import KINDS, Form, Kind
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.fit import share_of
from videoautoarena.scoring.intervals.proportions import Share
from videoautoarena.scoring.intervals.sandwich import LEVEL

GUESSING = 0.5
TRUSTED = 0.75
"""To be right less often is an alarm. It takes to know half of the answers and guess the rest."""
_WHAT: dict[Kind, str] = {
    "needle": "when a piece of another video interrupts",
    "card": "when a flat colour fills the picture",
    "order": "in what order three cards come",
    "count": "how many times a card is set in",
}
_FORMS: dict[tuple[Form, Form], str] = {
    ("short", "long"): "the right answer is short and the wrong one long",
    ("long", "short"): "the right answer is long and the wrong one short",
    ("short", "short"): "both answers are short",
    ("long", "long"): "both answers are long",
}


class Case(NamedTuple):
    """One case, and what a judge said of it."""

    kind: str
    right: str
    """Form of the right answer."""
    wrong: str
    """Form of the wrong one."""
    points: float
    """1 for the right answer, 0 for the wrong one, half for a tie."""
    video: str
    texts: str
    """Digest of what was read; equal for the two cases in which the other answer is right."""

    @property
    def for_longer(self) -> float:
        """Return the same of the longer answer and the shorter one."""
        return self.points if self.right == "long" else 1 - self.points


def audit_truth(given: AuditInput) -> list[Finding]:
    """Return what clips of known truth show of each judge that was shown any.

    Ties count half. What a judge abstained from, or failed at, is in no share and counted apart.
    Intervals have videos as clusters. An alarm is about a judge that is surely right in less than
    TRUSTED, or surely goes by length, with equal texts as clusters, too.
    """
    trials = [t for t in standing_trials(given.trials) if t.kind == "truth" and t.right]
    judges = dict.fromkeys(trial.judging.judge for trial in trials)
    return [
        found for judge in judges for found in _audit_judge(judge, trials, is_brief=given.is_brief)
    ]


def _audit_judge(judge: str, trials: Sequence[Trial], *, is_brief: bool) -> Iterator[Finding]:
    mine = [trial for trial in trials if trial.judging.judge == judge]
    cases = [_case(t) for t in mine if t.judging.verdict not in ("abstain", "failed")]
    silent = [trial.judging.verdict for trial in mine]
    lost: Mapping[str, Any] = {
        "abstained": silent.count("abstain"),
        "failed": silent.count("failed"),
    }
    if not cases:
        words = f"How often {{judge}} is right is unknown{_apart(lost)}."
        yield unknown(f"truth.accuracy.{judge}", words, judge=judge, **lost)
        return
    share = _right(cases)
    is_doubtful = is_enough(share) and share.low <= GUESSING <= share.high
    verdict = ", not significantly different" if is_doubtful else ""
    ties = sum(one.points == 0.5 for one in cases)
    tied = " ({ties:tie} among them, half right each)" if ties else ""
    yield finding(
        f"truth.accuracy.{judge}",
        share,
        f"Where the right answer is known, {{judge}} is right in {_OF}{tied}; guessing gives "
        f"{{guessing:share}}{verdict}{_apart(lost)}.",
        crosses=below(share, TRUSTED),
        judge=judge,
        ties=ties,
        guessing=GUESSING,
        **lost,
    )
    if not is_brief:
        yield from _parts(judge, cases)
        yield from _mute(judge, mine)
    yield from _length(judge, cases)
    if "abstain" in silent and not is_brief:
        yield _abstained(judge, mine)


def _parts(judge: str, cases: Sequence[Case]) -> Iterator[Finding]:
    """Yield the same by what is asked, and by the length of the answers."""
    for kind in KINDS:
        some = [one for one in cases if one.kind == kind]
        if some:
            words = f"Asked {_WHAT[kind]}, {{judge}} is right in {_OF}."
            yield finding(f"truth.{kind}.{judge}", _right(some), words, judge=judge)
    for (right, wrong), what in _FORMS.items():
        some = [one for one in cases if (one.right, one.wrong) == (right, wrong)]
        if some:
            words = f"Where {what}, {{judge}} is right in {_OF}."
            yield finding(f"truth.{right}-{wrong}.{judge}", _right(some), words, judge=judge)


def _mute(judge: str, trials: Sequence[Trial]) -> Iterator[Finding]:
    """Yield the kinds of truth that the judge was asked for and never said."""
    for kind in KINDS:
        said = [t.judging.verdict for t in trials if t.name.partition("-")[0] == kind]
        if said and not set(said) - {"abstain", "failed"}:
            words = f"Asked {_WHAT[kind]}, {{judge}} gave no verdict in any of {{said:judging}}."
            yield unknown(f"truth.{kind}.{judge}", words, judge=judge, said=len(said))


def _length(judge: str, cases: Sequence[Case]) -> Iterator[Finding]:
    crossed = [one for one in cases if one.right != one.wrong]
    if not crossed:
        return
    points = [one.for_longer for one in crossed]
    share = share_of(points, [one.video for one in crossed])
    # Who does not look cannot go by the video: guesses are alike within equal texts, if anywhere.
    both = share, share_of(points, [one.texts for one in crossed])

    def leans(level: float) -> bool:
        bounds = [of.at(level) for of in both]
        return all(of.low > GUESSING for of in bounds) or all(of.high < GUESSING for of in bounds)

    way = "longer" if share.value > GUESSING else "shorter"
    said = f"it prefers the {way} one" if leans(LEVEL) else "{guessing:share} is no length bias"
    yield finding(
        f"truth.longer.{judge}",
        share,
        "Between a short and a long answer, equally often right, {judge} picks the long one in "
        f"{_OF}; {said}.",
        crosses=leans,
        is_even=True,
        judge=judge,
        guessing=GUESSING,
    )


def _abstained(judge: str, trials: Sequence[Trial]) -> Finding:
    abstained = [trial.judging.verdict == "abstain" for trial in trials]
    share = share_of(abstained, [trial.video for trial in trials])
    return finding(
        f"truth.abstained.{judge}",
        share,
        "{judge} abstains in {figure} of {n:case} with a known right answer on {videos:video}.",
        judge=judge,
    )


_OF = "{figure} of {n:judging} on {videos:video}"


def _case(trial: Trial) -> Case:
    kind, _, forms = trial.name.partition("-")
    right, _, wrong = forms.partition("-")
    texts = digest(canonical_json(trial.texts))
    return Case(kind, right, wrong, points_of_trial(trial), trial.video, texts)


def points_of_trial(trial: Trial) -> float:
    """Return 1 where the judge chose the right answer, 0 for the wrong one, half for a tie."""
    verdict = trial.judging.verdict
    return 0.5 if verdict in TIES else float(verdict == trial.right)


def _right(cases: Sequence[Case]) -> Share:
    return share_of([one.points for one in cases], [one.video for one in cases])


def _apart(lost: Mapping[str, Any]) -> str:
    words = {"abstained": "it abstained in {abstained} more", "failed": "{failed:judging} failed"}
    there = [words[key] for key in words if lost[key]]
    return f"; {' and '.join(there)}" if there else ""
