"""The judges of a run against the people who labelled its battles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from agents.judge import settle_standard
from memory.records import DECIDED, STANDARDS, Standard
from runs.audit_input import AuditInput, below, finding, percent, unknown
from runs.findings import Finding
from runs.labels import TIE, Compared, Spoken, code_of, compare, join_labels, people_agree
from runs.reading import counted
from scoring.raters import agree
from scoring.shares import Share, measure_excess

_NOBODY = (
    "No person has labelled a battle that counts, so nothing says how far the judge agrees with "
    "people."
)


def audit_labels(given: AuditInput) -> list[Finding]:
    """Return how far the judges of a run agree with the people who labelled its battles."""
    spoken = join_labels(given.labels, given.battles)
    return judge_labels(spoken, seats_count=given.manifest.get("swap") == "all")


def judge_labels(spoken: Sequence[Spoken], *, seats_count: bool) -> list[Finding]:
    """Return how far judges agree with people, and people with each other.

    Each label is held against the verdict on its battle, which is that of all judges together, with
    videos as clusters. An alarm tells of a judge that is surely right less often than the longer
    answer.
    """
    if not spoken:
        return [unknown("labels.agreement", _NOBODY)]
    every = compare(spoken)
    return [
        *_agreement(every),
        *_length(every.without_ties),
        *_people(spoken),
        *_standards(spoken, seats_count=seats_count),
    ]


def _agreement(every: Compared) -> Iterator[Finding]:
    found, clear = every.agreement(), every.without_ties
    yield finding(
        "labels.agreement",
        found.share,
        f"The judge says what people say in {_of(found.share)}, a tie being a word of its own.",
    )
    yield finding(
        "labels.kappa",
        found.kappa,
        f"Beyond chance that is a Cohen's kappa of {_figure(found.kappa)}; 0 is chance, 1 full "
        "agreement.",
    )
    if not len(clear.people):
        return
    found = clear.agreement()
    yield finding(
        "labels.agreement_without_ties",
        found.share,
        f"Where neither tied it is {_of(found.share)}.",
    )
    yield finding(
        "labels.kappa_without_ties",
        found.kappa,
        f"Where neither tied, Cohen's kappa is {_figure(found.kappa)}.",
    )


def _length(clear: Compared) -> Iterator[Finding]:
    """Of labels and verdicts without ties."""
    matched = clear.among(clear.is_matched == 1)
    if len(matched.people):
        share = matched.agreement().share
        yield finding(
            "labels.length_matched",
            share,
            f"Where the answers are about equally long, within 10 %, the judge agrees in "
            f"{_of(share)}.",
        )
    uneven = clear.among(clear.longer != TIE)
    if not len(uneven.people):
        return
    judge = uneven.agreement().share
    length = agree(uneven.longer, uneven.people, uneven.video).share
    gain = measure_excess(
        uneven.judge == uneven.people, uneven.longer == uneven.people, uneven.video
    )
    word = "no better than" if gain.value <= 0.0 else "which must beat"
    yield finding(
        "labels.length_only",
        length,
        f"The judge agrees with people in {_of(judge)} on answers of different length, {word} "
        f"always picking the longer one: {percent(length)}.",
    )
    yield finding(
        "labels.length_gain",
        gain,
        f"On the same labels the judge is {_points(gain)} better at it than the longer answer; "
        "below 0 it is worse.",
        crosses=below(gain, 0.0),
    )


def _people(spoken: Sequence[Spoken]) -> Iterator[Finding]:
    share, alpha = people_agree(spoken)
    if not alpha.n:
        return
    people = len({of.label.labeller for of in spoken})
    yield finding(
        "labels.people",
        share,
        f"Two people say the same of a battle in {_of(share, 'pair')}; a judge that agrees with "
        "people as well as that is as good as one of them.",
    )
    yield finding(
        "labels.krippendorff",
        alpha,
        f"Krippendorff's alpha of {people} people on {counted(alpha.n, 'battle')} that two or more "
        f"labelled is {_figure(alpha)}.",
    )


def _standards(spoken: Sequence[Spoken], *, seats_count: bool) -> Iterator[Finding]:
    """How far each standard decides what people say, and how far the judge agrees with them on it.

    The latter where it was asked: from contract 2 on.
    """
    for name in STANDARDS:
        mine = [of for of in spoken if name in of.label.standards]
        if not mine:
            continue
        overall = np.array([code_of(of.label.verdict) for of in mine])
        word = np.array([code_of(of.label.standards[name]) for of in mine])
        share = agree(word, overall, compare(mine).video).share
        yield finding(
            f"labels.{name}",
            share,
            f"By {_SPELT[name]} alone people say what they say overall in {_of(share)}.",
        )
        both = [
            (of, verdict)
            for of in mine
            for verdict in [settle_standard(of.battle.verdicts, name, audit_only=not seats_count)]
            if verdict in DECIDED
        ]
        if not both:
            continue
        judge = np.array([code_of(verdict) for _, verdict in both])
        people = np.array([code_of(of.label.standards[name]) for of, _ in both])
        share = agree(judge, people, compare([of for of, _ in both]).video).share
        yield finding(
            f"labels.judge_{name}",
            share,
            f"By {_SPELT[name]} alone the judge says what people say in {_of(share)}.",
        )


_SPELT: dict[Standard, str] = {name: name.replace("_", " ") for name in STANDARDS}


def _of(share: Share, thing: str = "label") -> str:
    """A share with its interval and its units: `72.0 % (64.1 to 79.3) of 90 labels`."""
    return f"{percent(share)} of {counted(share.n, thing)}"


def _points(gain: Share) -> str:
    value, low, high = (f"{100.0 * x:+.1f}" for x in gain[:3])
    return f"{value} points ({low} to {high})"


def _figure(share: Share) -> str:
    if math.isnan(share.value):
        return "no value, since all say the same one thing"
    return f"{share.value:.2f} ({share.low:.2f} to {share.high:.2f})"
