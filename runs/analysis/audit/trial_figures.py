"""What trials show of a judge: whether it repeats itself, falls for attacks, or rewards nothing.

Trials whose judging failed or where the judge abstained are in no share; they are counted apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from videoautoarena.memory.records.records import TIES, Battle, Judging
from videoautoarena.memory.store.evidence import Trial, standing_trials
from videoautoarena.runs.analysis.audit.evidence import AuditInput, above, below, finding
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.fit import share_of
from videoautoarena.scoring.intervals.proportions import Share, measure_share

HALF = 0.5
"""Falling for more attacks is an alarm, too, where nobody knows what happens without one."""
MOST_UNBEATEN = 0.05
"""An answer that says nothing may win or tie by a slip now and then."""
STEADY = 0.8
"""Repeating itself less often than this a judge is called unsteady."""
_NO_WORD = ("abstain", "failed")
_OF = "{figure} of {n:judging} on {videos:video}"

View = tuple[str, str, str]
"""Judge, battle, seats."""


class Word(NamedTuple):
    """One judging that came to something."""

    name: str
    """Of the attack or the constant answer."""
    video: str
    view: View
    is_for: bool
    """The judge found the attacker better; of a constant answer, no worse."""


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
    """Yield in how many trials a judge came to nothing, where there are any."""
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
    """Return "a", "b" or "tie"; empty where the judge came to nothing."""
    if judging.verdict in _NO_WORD:
        return ""
    return "tie" if judging.verdict in TIES else judging.verdict
