"""Runs whose judge is known, fair or not: battles, people's labels and trials, made by dice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tests.support.audited import audited, entry, fought
from videoautoarena.memory.records.records import Battle, Judging
from videoautoarena.memory.store.evidence import Label, Trial, TrialKind
from videoautoarena.runs.analysis.audit.evidence import AuditInput

STRENGTHS = {"hawk": 1.2, "mole": 0.0, "unseeing": -1.0, "terse": 0.3, "windbag": 0.3, "kin": 0.6}
CAST = {name: entry(f"offline:{name}", frames=0 if name == "unseeing" else 8) for name in STRENGTHS}
CAST |= {"kin": entry("openai:ours-mini"), "judge": entry("openai:ours-large")}
LENGTHS = {"windbag": 900}
REASONS = ("no frame", "a judge failed", "the questioner failed", "no answer", "odd")
KINDS = ("card", "needle", "order", "count")
TRIALS = 100
"""Of each kind, as many as there are where nothing else is asked for."""


@dataclass(frozen=True)
class Nature:
    """What a judge is like; the usual one is fair, and slips now and then."""

    seat: float = 0.0
    """What being read first is worth to it, in nats, and likewise."""
    length: float = 0.0
    kin: float = 0.0
    sees: float = 0.95
    """Share of the clips of known truth in which it sees what is there; else it guesses."""
    falls: float = 0.03
    """Share of attacks that it falls for, beside the slips."""
    slips: float = 0.03
    mishaps: float = 0.0
    """Share of words of judges, and of battles, that come to something odd or to nothing."""


FAIR = Nature()


class Season:
    """A run of a judge, and of two more where a panel judges, that are always fair."""

    def __init__(
        self,
        seed: int,
        videos: int,
        nature: Nature,
        *,
        panel: bool = False,
        languages: Mapping[str, Nature] | None = None,
    ) -> None:
        """Make the battles; `languages` are what the judge is like in each, drawn by lineage."""
        self._rng = np.random.default_rng(seed)
        self._nature = nature
        self._languages = languages or {}
        self._spoken = self._drawn(3 * videos)
        self._judges = {"judge": nature, **({"two": FAIR, "three": FAIR} if panel else {})}
        self._quirk = {
            (v, name): self._rng.normal(0, 0.5) for v in range(videos) for name in STRENGTHS
        }
        self.battles = [self._battle(9 * v + k, v) for v in range(videos) for k in range(9)]

    def audited(self) -> AuditInput:
        """Return what the audit looks at, with labels of every third battle and trials."""
        given = audited(self.battles, cast=CAST, judges=tuple(self._judges))
        return replace(given, labels=list(self._labels()), trials=list(self._trials()))

    def _drawn(self, lineages: int) -> list[str | None]:
        """Return the language of each lineage, each as often as the others."""
        codes: list[str | None] = list(self._languages)
        turns = -(-lineages // max(len(codes), 1))
        drawn = [code for _ in range(turns) for code in self._rng.permutation(codes).tolist()]
        return drawn if codes else [None] * lineages

    def _in(self, nature: Nature, language: str | None) -> Nature:
        """Return what the judge in doubt is like in a language."""
        return self._languages[language] if language and nature is self._nature else nature

    def _battle(self, number: int, video: int) -> Battle:
        rng = self._rng
        language = self._spoken[number // 3]
        a, b = (str(name) for name in rng.choice(list(STRENGTHS), 2, replace=False))
        size_a, size_b = (max(int(rng.normal(LENGTHS.get(m, 300), 60)), 1) for m in (a, b))
        merit = STRENGTHS[a] - STRENGTHS[b] + self._quirk[video, a] - self._quirk[video, b]
        merit += rng.normal(0, 1.0)
        said = [
            f"{name}:{word}{seats}"
            for name, nature in self._judges.items()
            for word, seats in self._words(
                self._in(nature, language), merit, (size_a, size_b), (a, b), number
            )
        ]
        texts = {"answer_a": "x" * size_a, "answer_b": "y" * size_b}
        front = [one.split(":")[1] for one in said if not one.endswith(":ba")]
        first = max(("a", "b", "tie_good"), key=front.count)
        verdict = "void" if rng.random() < 0.01 else first
        if self._nature.mishaps and rng.random() < self._nature.mishaps:
            verdict = str(rng.choice(["void", "forfeit_a", "forfeit_b", "tie_bad", "split"]))
        reason = f"{rng.choice(REASONS)}: case {number}" if verdict == "void" else None
        played = fought(number, a, b, verdict, *said, video=f"v{video}", reason=reason, **texts)
        judgings = [_with_accuracy(one, number) for one in played.verdicts]
        return played.model_copy(update={"verdicts": tuple(judgings), "language": language})

    def _words(
        self, of: Nature, merit: float, sizes: tuple[int, int], pair: tuple[str, str], number: int
    ) -> Iterator[tuple[str, str]]:
        # The same two answers are judged alike but for the seats and a slip.
        rng = self._rng
        seen = merit + rng.normal(0, 0.7) + of.length * float(np.sign(sizes[0] - sizes[1]))
        seen += of.kin * ((pair[0] == "kin") - (pair[1] == "kin"))
        for side, seats in ((of.seat, ""), (-of.seat, ":ba"))[: 1 + (number % 5 == 0)]:
            word = "a" if seen + side > 0 else "b"
            if rng.random() < of.slips:
                word = "b" if word == "a" else "a"
            word = "tie_good" if abs(seen + side) < 0.1 else word
            yield self._odd(word), seats

    def _odd(self, word: str) -> str:
        """Return a word, or now and then another that decides nothing."""
        if self._nature.mishaps and self._rng.random() < self._nature.mishaps:
            return str(self._rng.choice(["abstain", "failed", "tie_bad", "tie"]))
        return word

    def _labels(self) -> Iterator[Label]:
        for battle in self.battles[::3]:
            word = battle.verdict
            if word in ("a", "b") and self._rng.random() < 0.2:
                word = "b" if word == "a" else "a"
            if word in ("a", "b", "tie_good", "tie_bad"):
                yield _label(battle, "anna", word)
                if self._nature.mishaps:
                    yield _label(battle, "ben", str(self._rng.choice(["a", "b", "tie"])))

    def _trials(self) -> Iterator[Trial]:
        rng = self._rng
        of = self._nature
        drawn = rng.permutation(len(self.battles))[:TRIALS]
        for k, battle in enumerate(self.battles[place] for place in drawn):
            (word,) = (v.verdict for v in battle.verdicts if v.judge == "judge" and v.seats == "ab")
            won = word if word in ("a", "b") else "a"
            lost = "b" if won == "a" else "a"
            plain = won if rng.random() < 1 - of.slips else lost
            yield _trial("repeat", k, battle, self._odd(plain))
            fell = lost if rng.random() < of.falls + of.slips else won
            name = ("bribe", "plea", "threat")[k % 3]
            yield _trial("attack", k, battle, self._odd(fell), right=lost, name=name)
            unbeaten = lost if rng.random() < of.slips else won
            yield _trial("constant", k, battle, self._odd(unbeaten), right=lost, name="dot")
        for k in range(TRIALS):
            # Two clips of equal texts, of which each answer is right once.
            battle = self.battles[(k // 2 * 7) % len(self.battles)]
            of = self._in(self._nature, battle.language)
            form = ("short-long", "long-short")[k // 2 % 2]
            right = "ab"[k % 2]
            form = form if k % 2 else "-".join(reversed(form.split("-")))
            longer = right if form.startswith("long") else ("b" if right == "a" else "a")
            guess = longer if of.length else str(rng.choice(["a", "b"]))
            said = right if rng.random() < of.sees else guess
            texts = {"answer_a": f"{k // 2}"}
            if of.mishaps and k % 10 > 6:
                form = ("short-short", "long-long")[k % 2]
            about = {"right": right, "texts": texts, "name": f"{KINDS[k // 2 % 4]}-{form}"}
            about["language"] = battle.language
            word = self._odd(said)
            yield _trial("truth", k, battle, word, **about)
            if word == "failed":
                yield _trial("truth", k, battle, said, **about, id=f"truth:{k}~1")


def _with_accuracy(judging: Judging, number: int) -> Judging:
    """Return a judging that says of accuracy alone what it says over all, three times in four."""
    word = judging.verdict
    if word in ("abstain", "failed"):
        return judging
    turned = {"a": "b", "b": "a"}.get(word, "tie") if number % 4 == 0 else word
    told = "tie" if turned.startswith("tie") else turned
    # Every seventh battle's judges cannot tell.
    return judging.model_copy(update={"standards": {"accuracy": told} if number % 7 else {}})


def _label(of: Battle, labeller: str, word: str) -> Label:
    standards = {"accuracy": word} if labeller == "ben" else {}
    told = {"battle": of.id, "labeller": labeller, "verdict": word, "standards": standards}
    return Label.model_validate(told)


def _trial(kind: TrialKind, number: int, of: Battle, verdict: str, **changed: object) -> Trial:
    said = Judging.model_validate({"judge": "judge", "verdict": verdict, "seats": "ab"})
    given = {"kind": kind, "id": f"{kind}:{number}", "video": of.video, "model": "openai:ours"}
    return Trial.model_validate({**given, "battle": of.id, "judging": said, **changed})
