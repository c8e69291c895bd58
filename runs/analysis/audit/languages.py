"""Measures whether judging is the same in every language that questions were asked in.

No board by language is shown before these figures.

Judges are uneven across languages, whatever their size. Each figure of a language stands beside
that of all the others; where a judge is as good in each, the two differ by chance alone.

Source: MM-JudgeBench (2026), arXiv 2604.19405, that judges are inconsistent across languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from videoautoarena.agents.prompting.languages import (
    LANGUAGES,
    UNKNOWN,
    asked_language,
    told_language,
)
from videoautoarena.memory.records.outlines import Outline
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.evidence import standing_trials
from videoautoarena.runs.analysis.audit.biases import judged_twice
from videoautoarena.runs.analysis.audit.evidence import AuditInput, below, finding
from videoautoarena.runs.analysis.audit.trial_figures import points_of_trial
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import Crosses, Finding
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_difference, measure_share

Figure = Literal["flips", "first", "longer", "truth"]
LEAST_KEPT = 0.9
"""Fewer questions in the language that was drawn for them are an alarm."""
LOOKED_AT = 400
"""Questions of a language whose text is looked at, at most."""


class Hits(NamedTuple):
    """The cases of one figure, a row each."""

    hits: Floats
    language: Sequence[str]
    cluster: Ints
    """The video of each."""


class _LanguageFigure(NamedTuple):
    """One figure, measured in each language."""

    what: str
    """What the share is of, in words."""
    words: str
    """The sentence, with places for the language, the share and the cases behind it."""


def audit_languages(given: AuditInput) -> list[Finding]:
    """Return what judging shows in each language, and where one differs from the others.

    Empty if all questions were asked in one language. Without `given.by_language` only languages
    that were drawn count, and a brief audit returns only what may raise an alarm. Alarms are those
    of all languages and figures together.
    """
    # The words of a question are read only where they have to tell its language.
    battles = given.battles if given.by_language else given.outlines
    spoken = [spoken_in(battle, given) for battle in battles]
    codes = known_languages(spoken)
    if len(codes) < 2:
        return []
    is_whole = given.by_language or not given.is_brief
    measured = {key: measure(given, spoken) for key, measure in _MEASURES.items()}
    return [*compare_languages(measured, codes, is_whole=is_whole), *_kept(given, codes)]


def known_languages(spoken: Sequence[str]) -> list[str]:
    """Return the known languages, the commonest first."""
    counts = Counter(spoken)
    return sorted(set(counts) - {UNKNOWN}, key=lambda code: (-counts[code], code))


def compare_languages(
    measured: Mapping[Figure, Hits], codes: Sequence[str], *, is_whole: bool = True
) -> list[Finding]:
    """Return each figure in each language, and its difference from the others; not yet as alarms.

    Empty with fewer than two languages. Without `is_whole` only what may raise an alarm.
    """
    found: list[Finding] = []
    if len(codes) < 2:
        return found
    # Of two languages the one differs from the other as the other does from the one.
    beside = codes[:1] if len(codes) == 2 else codes
    for key, hits in measured.items():
        for code in codes:
            found += _in_language(key, hits, code, is_whole=is_whole, is_beside=code in beside)
    return found


def spoken_in(battle: Battle | Outline, given: AuditInput) -> str:
    """Return the language of a battle; its question tells it only if a board by it is wanted."""
    if isinstance(battle, Battle) and given.by_language:
        return asked_language(battle.language, battle.question)
    return battle.language or UNKNOWN


def _in_language(
    key: Figure, of: Hits, code: str, *, is_whole: bool, is_beside: bool
) -> Iterator[Finding]:
    kind = _KINDS[key]
    inside = np.array([language == code for language in of.language], dtype=np.bool_)
    share = measure_share(of.hits[inside], of.cluster[inside])
    if is_whole and share.n:
        yield finding(f"language.{key}.{code}", share, kind.words, language=called(code))
    known = np.array([language != UNKNOWN for language in of.language], dtype=np.bool_)
    gap = measure_difference(of.hits[known], inside[known], of.cluster[known])
    if is_beside and gap.n:
        words = (
            f"In {{language}}, the share of {kind.what} is {{figure:share_gap_with_interval}} "
            "percentage points from that in the other languages."
        )
        name = f"language.{key}_gap.{code}"
        language = called(code)
        yield finding(name, gap, words, crosses=_differs(gap), is_even=True, language=language)


def _differs(gap: Share) -> Crosses:
    return lambda level: not gap.at(level).low <= 0.0 <= gap.at(level).high


def called(code: str) -> str:
    """Return a language as it is spoken of: its name, with its code behind it."""
    return f"{LANGUAGES[code][0]} ({code})" if code in LANGUAGES else safe(code)


def _flips(given: AuditInput, spoken: Sequence[str]) -> Hits:
    twice = judged_twice(given)
    hits = (twice.ab != twice.ba).astype(np.float64)
    return Hits(hits, [spoken[k] for k in twice.battle], twice.video)


def _first(given: AuditInput, spoken: Sequence[str]) -> Hits:
    ballots = given.ballots
    chosen = ballots.camp < 2
    won = ((ballots.camp == 0) != ballots.is_back)[chosen].astype(np.float64)
    battle = ballots.battle[chosen]
    return Hits(won, [spoken[k] for k in battle], given.videos[battle])


def _longer(given: AuditInput, spoken: Sequence[str]) -> Hits:
    hits = []
    rows = []
    for k, battle in enumerate(given.outlines):
        a = battle.length_a or 0
        b = battle.length_b or 0
        if battle.verdict in ("a", "b") and a and b and a != b:
            hits.append((battle.verdict == "a") == (a > b))
            rows.append(k)
    languages = [spoken[k] for k in rows]
    return Hits(np.array(hits, dtype=np.float64), languages, given.videos[rows])


def _right(given: AuditInput, _spoken: Sequence[str]) -> Hits:
    trials = [
        trial
        for trial in standing_trials(given.trials)
        if trial.kind == "truth" and trial.right and trial.language
        if trial.judging.verdict not in ("abstain", "failed")
    ]
    hits = np.array([points_of_trial(trial) for trial in trials], dtype=np.float64)
    languages = [trial.language or UNKNOWN for trial in trials]
    return Hits(hits, languages, number_names([trial.video for trial in trials]))


_KINDS: Mapping[Figure, _LanguageFigure] = {
    "flips": _LanguageFigure(
        "verdicts changed by the order of the answers",
        "In {language}, {figure} of {n:verdict} on {videos:video} changed with the order of the "
        "answers.",
    ),
    "first": _LanguageFigure(
        "wins of the answer read first",
        "In {language}, the answer read first won {figure} of {n:judging} with a winner on "
        "{videos:video}.",
    ),
    "longer": _LanguageFigure(
        "wins of the longer answer",
        "In {language}, the longer answer won {figure} of {n:comparison} with a winner on "
        "{videos:video}.",
    ),
    "truth": _LanguageFigure(
        "judgings right on known answers",
        "In {language}, {figure} of {n:judging} on {videos:video} were right on known answers.",
    ),
}
_MEASURES: Mapping[Figure, Callable[[AuditInput, Sequence[str]], Hits]] = {
    "flips": _flips,
    "first": _first,
    "longer": _longer,
    "truth": _right,
}


def _kept(given: AuditInput, codes: Sequence[str]) -> Iterator[Finding]:
    """Yield how often questions are in the language that was drawn for them."""
    for code in codes:
        mine = given.outlines.where(given.outlines.texts["language"].among([code]))
        # What has neither answers nor models may be void for want of a question.
        lost = [one.id for one in mine if one.length_a is None and one.length_b is None]
        silent = {id_ for id_, battle in given.find(lost).items() if battle.question is None}
        drawn = [id_ for id_ in mine.ids() if id_ not in silent]
        # Evenly over the run: each question has to be read from the file before its language can be
        # told.
        looked = given.find(drawn[:: max(1, -(-len(drawn) // LOOKED_AT))]).values()
        told = [(b, told_language(b.question or "")) for b in looked]
        # A question whose language cannot be told for sure is no evidence against the one drawn.
        sure = [(battle, language) for battle, language in told if language != UNKNOWN]
        kept = np.array([language == code for _, language in sure], dtype=np.bool_)
        share = measure_share(kept, number_names([battle.video for battle, _ in sure]))
        if share.n:
            words = (
                "{figure} of {n:question} on {videos:video} that were to be in {language} are, as "
                "far as their language can be told."
            )
            key = f"language.kept.{code}"
            crosses = below(share, LEAST_KEPT)
            yield finding(key, share, words, crosses=crosses, language=called(code))
