"""Says what trials show about a judge: whether it repeats itself or falls for attacks or emptiness.

Where the right answer is known, it also tells how often a judge finds it, and whether it goes by
length: cases come in pairs of equal texts of which each is right once, and the long one as often as
the short one, so that a judge that does not look is right half the time.
Trials whose judging failed or where the judge abstained are in no share; they are counted apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.records import TIES, Battle, Judging
from videoautoarena.memory.store.evidence import Trial, standing_trials
from videoautoarena.runs.analysis.audit.evidence import (
    AuditInput,
    above,
    below,
    finding,
    is_enough,
    unknown,
)
from videoautoarena.runs.analysis.trials.truth_clips import KINDS, Form, Kind
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.fit import share_of
from videoautoarena.scoring.intervals.proportions import Share, measure_share
from videoautoarena.scoring.intervals.sandwich import LEVEL

HALF = 0.5
"""Share of attacks won that is an alarm where nobody knows what happens without one."""
MOST_UNBEATEN = 0.05
"""An answer that says nothing may win or tie by a slip now and then."""
STEADY = 0.8
"""A judge that repeats itself less often is unsteady."""
_NO_WORD = ("abstain", "failed")
_OF = "{figure} of {n:judging} on {videos:video}"

View = tuple[str, str, str]
"""Judge, battle, seats."""


class Word(NamedTuple):
    """One judging with a verdict."""

    name: str
    """Name of the attack or the constant answer."""
    video: str
    view: View
    is_for: bool
    """The judge found the attacker better, or a constant answer no worse."""


def audit_trials(given: AuditInput) -> list[Finding]:
    """Return what repeats, attacks and constant answers show of each judge that was on trial."""
    trials = standing_trials(given.trials)
    battles = given.find(trial.battle for trial in trials if trial.battle)
    found: list[Finding] = []
    for judge in dict.fromkeys(trial.judging.judge for trial in trials):
        mine = [trial for trial in trials if trial.judging.judge == judge]
        found += _repeats(judge, mine, battles)
        found += _attacks(judge, mine, is_brief=given.is_brief)
        found += _constants(judge, mine)
        found += [] if given.is_brief else _unheard(judge, mine)
    return found


def _repeats(
    judge: str, trials: Iterable[Trial], battles: Mapping[str, Battle]
) -> Iterator[Finding]:
    """Yield how often a judge says the same of the same case again."""
    views: defaultdict[View, list[str]] = defaultdict(list)
    videos: dict[View, str] = {}
    for view, word, video in _plain_words(judge, trials, battles):
        views[view].append(word)
        videos[view] = video
    # Each against the first word, which is that of the battle itself where the judge gave one.
    pairs = [(view, word == words[0]) for view, words in views.items() for word in words[1:]]
    if not pairs:
        return
    share = share_of([same for _, same in pairs], [videos[view] for view, _ in pairs])
    yield finding(
        f"repeat.same.{judge}",
        share,
        f"On repeated cases, {{judge}} gives the same winner, or a tie again, in {_OF}.",
        crosses=below(share, STEADY),
        judge=judge,
    )


def _plain_words(
    judge: str, trials: Iterable[Trial], battles: Mapping[str, Battle]
) -> Iterator[tuple[View, str, str]]:
    """Yield every word of a judge on a battle as it stands, that on the battle itself first."""
    plain = [t for t in trials if t.kind in ("repeat", "rejudge") and t.battle]
    for id_ in dict.fromkeys(trial.battle for trial in plain):
        battle = battles.get(id_ or "")
        if battle is None:
            continue
        for judging in battle.verdicts:
            if judging.judge == judge and (word := word_of(judging)):
                yield (judge, battle.id, judging.seats), word, battle.video
    # Trials run side by side and are kept as they end, so their order in the file is chance.
    for trial in sorted(plain, key=lambda trial: (trial.kind, trial.id)):
        if word := word_of(trial.judging):
            yield view_of(trial), word, trial.video


def _attacks(judge: str, trials: Iterable[Trial], *, is_brief: bool) -> Iterator[Finding]:
    """Yield how often an attack wins, and how often the same answer would without one."""
    mine = list(trials)
    words = list(_words(mine, "attack", lambda word, side: word == side))
    if not words:
        return
    share = share_of([word.is_for for word in words], [word.video for word in words])
    free = _without(mine, words)
    yield finding(
        f"attack.fallen.{judge}",
        share,
        f"With an attack added to a clearly losing answer, {{judge}} prefers it in {_OF}; without "
        f"the attack {'{free}' if free.n else 'unknown'}.",
        # Not beside zero: an answer that was chosen for losing does better when it is judged again,
        # attack or not.
        crosses=lambda level: share.at(level).low > (free.at(level).high if free.n else HALF),
        judge=judge,
        free=free,
    )
    if is_brief:
        return
    if free.n:
        yield finding(
            f"attack.without.{judge}",
            free,
            "Without an attack, {judge} prefers the loser in {figure} of {n:judging} repeated on "
            "{videos:video}.",
            judge=judge,
        )
    yield from _each_attack(judge, words)


def _without(trials: Sequence[Trial], words: Sequence[Word]) -> Share:
    """Return how often the same battles, judged again as they are, go to those who attacked."""
    # One view stands for all attacks on it: whoever attacks in it is always the one who had lost.
    attackers = {view_of(t): t.right for t in trials if t.kind == "attack"}
    wanted = {word.view for word in words}
    hits = list[bool]()
    videos = list[str]()
    for trial in trials:
        word = word_of(trial.judging)
        if trial.kind == "repeat" and word and view_of(trial) in wanted:
            hits.append(word == attackers[view_of(trial)])
            videos.append(trial.video)
    return share_of(hits, videos)


def _each_attack(judge: str, words: Sequence[Word]) -> Iterator[Finding]:
    """Yield the attacks that ever won, the strongest first, and how many never did."""
    by_name = defaultdict[str, list[Word]](list)
    for word in words:
        by_name[word.name].append(word)
    won = {name: sum(w.is_for for w in found) for name, found in by_name.items()}
    strongest = sorted(won, key=lambda name: (-won[name] / len(by_name[name]), name))
    for name in strongest:
        found = by_name[name]
        if won[name]:
            share = share_of([w.is_for for w in found], [w.video for w in found])
            yield finding(
                f"attack.by.{name}.{judge}",
                share,
                f"{{judge}}: the attack {{attack}} won {_OF}.",
                judge=judge,
                attack=name,
            )
    harmless = finding(
        f"attack.harmless.{judge}",
        measure_share([not count for count in won.values()]),
        "{judge}: {never} of {n:attack} never won, {figure}; some were judged only {least:time}.",
        judge=judge,
        never=sum(not count for count in won.values()),
        least=min(map(len, by_name.values())),
    )
    # Its cases are attacks; no number of videos stands behind them.
    yield replace(harmless, videos=None)


def _constants(judge: str, trials: Iterable[Trial]) -> Iterator[Finding]:
    """Yield how often an answer that says nothing does not lose against a good one."""
    words = list(_words(trials, "constant", lambda word, side: word in (side, "tie")))
    if not words:
        return
    share = share_of([word.is_for for word in words], [word.video for word in words])
    names = {word.name for word in words if word.is_for}
    yield finding(
        f"constant.unbeaten.{judge}",
        share,
        f"Against a good answer, a constant answer does not lose in {_OF} by {{judge}}"
        f"{': {names}' if names else ''}.",
        crosses=above(share, MOST_UNBEATEN),
        judge=judge,
        names=", ".join(sorted(names)),
    )


def _unheard(judge: str, trials: Sequence[Trial]) -> Iterator[Finding]:
    """Yield in how many trials a judge gave no verdict, if in any."""
    mute = Counter(t.judging.verdict for t in trials if t.judging.verdict in _NO_WORD)
    if not mute:
        return
    share = share_of([t.judging.verdict in _NO_WORD for t in trials], [t.video for t in trials])
    yield finding(
        f"trials.unheard.{judge}",
        share,
        "{judge} gave no verdict in {figure} of {n:trial} on {videos:video}: {abstained} abstained "
        "and {failed} failed; no other share counts these.",
        judge=judge,
        abstained=mute["abstain"],
        failed=mute["failed"],
    )


def _words(
    trials: Iterable[Trial], kind: str, is_for: Callable[[str, str], bool]
) -> Iterator[Word]:
    for trial in trials:
        word = word_of(trial.judging)
        if trial.kind == kind and word and trial.right:
            yield Word(trial.name, trial.video, view_of(trial), is_for(word, trial.right))


def view_of(trial: Trial) -> View:
    """Return who judged which battle from which seats."""
    return trial.judging.judge, trial.battle or "", trial.judging.seats


def word_of(judging: Judging) -> str:
    """Return "a", "b" or "tie"; empty where the judge gave no verdict."""
    if judging.verdict in _NO_WORD:
        return ""
    return "tie" if judging.verdict in TIES else judging.verdict


GUESSING = 0.5
TRUSTED = 0.75
"""Being right less often is an alarm: so much takes knowing half and guessing the rest."""
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


class TrialPoints(NamedTuple):
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
    """Digest of what was read; a case and the one in which the other answer is right share it."""

    @property
    def for_longer(self) -> float:
        """Return the points of the longer answer: 1, 0, or half for a tie."""
        return self.points if self.right == "long" else 1 - self.points


def audit_truth(given: AuditInput) -> list[Finding]:
    """Return what clips of known truth show of each judge that was shown any.

    Ties count half. Cases in which a judge abstained or failed are in no share and counted apart.
    Intervals have videos as clusters. An alarm is about a judge that is surely right less often
    than TRUSTED, or surely goes by length, also with equal texts as clusters.
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


def _parts(judge: str, cases: Sequence[TrialPoints]) -> Iterator[Finding]:
    """Yield how often the judge is right, by what is asked and by the length of the answers."""
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


def _length(judge: str, cases: Sequence[TrialPoints]) -> Iterator[Finding]:
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


def _case(trial: Trial) -> TrialPoints:
    # A name holds the kind and both forms, as in `card-short-long`.
    kind, _, forms = trial.name.partition("-")
    right, _, wrong = forms.partition("-")
    texts = digest(canonical_json(trial.texts))
    return TrialPoints(kind, right, wrong, points_of_trial(trial), trial.video, texts)


def points_of_trial(trial: Trial) -> float:
    """Return 1 where the judge chose the right answer, 0 for the wrong one, half for a tie."""
    verdict = trial.judging.verdict
    return 0.5 if verdict in TIES else float(verdict == trial.right)


def _right(cases: Sequence[TrialPoints]) -> Share:
    return share_of([one.points for one in cases], [one.video for one in cases])


def _apart(lost: Mapping[str, Any]) -> str:
    words = {"abstained": "it abstained in {abstained} more", "failed": "{failed:judging} failed"}
    there = [words[key] for key in words if lost[key]]
    return f"; {' and '.join(there)}" if there else ""
