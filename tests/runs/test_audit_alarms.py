"""How often an audit raises an alarm by chance, and how often about a judge that deserves one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.evidence import Label, Trial, TrialKind
from memory.records import Battle, Judging
from runs.audit import find_all
from runs.audit_input import AuditInput, above, finding
from runs.findings import ENOUGH, Finding, raise_alarms
from scoring.shares import measure_share
from tests.support.audited import audited, entry, fought

STRENGTHS = {"hawk": 1.2, "mole": 0.0, "unseeing": -1.0, "terse": 0.3, "windbag": 0.3, "kin": 0.6}
CAST = {name: entry(f"offline:{name}", frames=0 if name == "unseeing" else 8) for name in STRENGTHS}
CAST |= {"kin": entry("openai:ours-mini"), "judge": entry("openai:ours-large")}
LENGTHS = {"windbag": 900}
FAIR_RUNS, BIASED_RUNS = 120, 20
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


FAIR = Nature()


class Season:
    """A run of a judge, and of two more where a panel judges, that are always fair."""

    def __init__(self, seed: int, videos: int, nature: Nature, *, panel: bool = False) -> None:
        self._rng = np.random.default_rng(seed)
        self._nature = nature
        self._judges = {"judge": nature, **({"two": FAIR, "three": FAIR} if panel else {})}
        self._quirk = {
            (v, name): self._rng.normal(0, 0.5) for v in range(videos) for name in STRENGTHS
        }
        self.battles = [self._battle(9 * v + k, v) for v in range(videos) for k in range(9)]

    def audited(self) -> AuditInput:
        """Return what the audit looks at, with labels of every third battle and trials."""
        given = audited(self.battles, cast=CAST, judges=tuple(self._judges))
        return replace(given, labels=list(self._labels()), trials=list(self._trials()))

    def _battle(self, number: int, video: int) -> Battle:
        rng = self._rng
        a, b = (str(name) for name in rng.choice(list(STRENGTHS), 2, replace=False))
        size_a, size_b = (max(int(rng.normal(LENGTHS.get(m, 300), 60)), 1) for m in (a, b))
        merit = STRENGTHS[a] - STRENGTHS[b] + self._quirk[video, a] - self._quirk[video, b]
        merit += rng.normal(0, 1.0)
        said = [
            f"{name}:{word}{seats}"
            for name, nature in self._judges.items()
            for word, seats in self._words(nature, merit, (size_a, size_b), (a, b), number)
        ]
        texts = {"answer_a": "x" * size_a, "answer_b": "y" * size_b}
        front = [one.split(":")[1] for one in said if not one.endswith(":ba")]
        first = max(("a", "b", "tie_good"), key=front.count)
        verdict = "void" if rng.random() < 0.01 else first
        return fought(number, a, b, verdict, *said, video=f"v{video}", **texts)

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
            yield ("tie_good" if abs(seen + side) < 0.1 else word), seats

    def _labels(self) -> Iterator[Label]:
        for battle in self.battles[::3]:
            word = battle.verdict
            if word in ("a", "b") and self._rng.random() < 0.2:
                word = "b" if word == "a" else "a"
            if word != "void":
                yield Label.model_validate(
                    {"battle": battle.id, "labeller": "anna", "verdict": word}
                )

    def _trials(self) -> Iterator[Trial]:
        rng, of = self._rng, self._nature
        drawn = rng.permutation(len(self.battles))[:TRIALS]
        for k, battle in enumerate(self.battles[place] for place in drawn):
            (word,) = (v.verdict for v in battle.verdicts if v.judge == "judge" and v.seats == "ab")
            won = "a" if word == "tie_good" else word
            lost = "b" if won == "a" else "a"
            plain = won if rng.random() < 1 - of.slips else lost
            yield _trial("repeat", k, battle, plain)
            fell = lost if rng.random() < of.falls + of.slips else won
            yield _trial("attack", k, battle, fell, right=lost, name="bribe")
            unbeaten = lost if rng.random() < of.slips else won
            yield _trial("constant", k, battle, unbeaten, right=lost, name="dot")
        for k in range(TRIALS):
            # Two clips of equal texts, of which each answer is right once.
            form, right = ("short-long", "long-short")[k // 2 % 2], "ab"[k % 2]
            form = form if k % 2 else "-".join(reversed(form.split("-")))
            longer = right if form.startswith("long") else ("b" if right == "a" else "a")
            guess = longer if of.length else str(rng.choice(["a", "b"]))
            said = right if rng.random() < of.sees else guess
            battle = self.battles[(k // 2 * 7) % len(self.battles)]
            texts = {"answer_a": f"{k // 2}"}
            yield _trial("truth", k, battle, said, right=right, name=f"card-{form}", texts=texts)


def _trial(kind: TrialKind, number: int, of: Battle, verdict: str, **changed: object) -> Trial:
    said = Judging.model_validate({"judge": "judge", "verdict": verdict, "seats": "ab"})
    given = {"kind": kind, "id": f"{kind}:{number}", "video": of.video, "model": "openai:ours"}
    return Trial.model_validate({**given, "battle": of.id, "judging": said, **changed})


SLOW = pytest.mark.slow


def raised(runs: int, *, videos: int, nature: Nature = FAIR, panel: bool = False) -> Counter[str]:
    """Return in how many runs each alarm was raised, and under "any" in how many one was."""
    found: Counter[str] = Counter()
    for seed in range(runs):
        given = Season(seed, videos, nature, panel=panel).audited()
        keys = {one.key for one in find_all(given) if one.is_alarm}
        found.update(keys | ({"any"} if keys else set()))
    return found


@pytest.mark.parametrize(
    ("videos", "panel"),
    [
        (12, False),
        *(pytest.param(*one, marks=SLOW) for one in ((3, False), (40, False), (12, True))),
    ],
)
def test_a_fair_judge_is_accused_in_at_most_five_runs_of_a_hundred(
    videos: int, panel: bool
) -> None:
    found = raised(FAIR_RUNS, videos=videos, panel=panel)
    assert found["any"] <= 0.05 * FAIR_RUNS, found


@pytest.mark.parametrize(
    ("nature", "key", "least"),
    [
        pytest.param(Nature(seat=1.0), "seats.first", 18, id="seats"),
        pytest.param(Nature(length=2.0), "canary.windbag", 18, id="length"),
        pytest.param(Nature(length=2.0), "length.matched", 16, id="equal length", marks=SLOW),
        pytest.param(Nature(kin=1.5), "family.excess.judge", 18, id="kin", marks=SLOW),
        pytest.param(Nature(sees=0.0), "truth.accuracy.judge", 18, id="blind", marks=SLOW),
        pytest.param(Nature(falls=0.4), "attack.fallen.judge", 17, id="gullible", marks=SLOW),
    ],
)
def test_a_judge_that_deserves_it_is_accused_on_forty_videos(
    nature: Nature, key: str, least: int
) -> None:
    assert raised(BIASED_RUNS, videos=40, nature=nature, panel=nature.kin > 0)[key] >= least


def judged(hits: float, of: int, *, videos: int, number: int = 0) -> Finding:
    """Return a share that must not be above one half."""
    share = measure_share([1.0] * round(hits) + [0.0] * (of - round(hits)), np.arange(of) % videos)
    return finding(f"made.up.{number}", share, "It is so.", crosses=above(share, 0.5))


@pytest.mark.parametrize(
    ("cases", "videos", "alarm", "said"),
    [
        pytest.param(4, 4, False, "It is so. Too few to tell.", id="four"),
        pytest.param(ENOUGH - 1, 19, False, "It is so. Too few to tell.", id="one too few"),
        pytest.param(ENOUGH, 20, True, "It is so.", id="enough"),
        pytest.param(400, 1, False, "It is so. Too few to tell.", id="one video"),
    ],
)
def test_few_cases_or_one_video_raise_no_alarm_and_say_so(
    cases: int, videos: int, alarm: bool, said: str
) -> None:
    (found,) = raise_alarms([judged(cases, cases, videos=videos)])
    assert (found.is_alarm, found.sentence) == (alarm, said)


def test_the_more_figures_there_are_the_surer_each_has_to_be() -> None:
    # 65 of 100 lie 3.0 standard errors above a half: 0.27 % at both ends.
    odd, even = judged(65, 100, videos=100), judged(50, 100, videos=100, number=1)
    for others, alarm in ((0, True), (9, True), (39, False)):
        first, *rest = raise_alarms([odd, *[even] * others])
        assert (first.is_alarm, any(one.is_alarm for one in rest)) == (alarm, False)
    assert raise_alarms([odd, *[judged(4, 4, videos=4)] * 39])[0].is_alarm


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60), st.integers(0, 12))
def test_an_alarm_has_an_interval_beyond_its_threshold_and_twenty_cases(
    hits: int, of: int, videos: int, others: int
) -> None:
    many = [judged(1, 40, videos=20)] * others
    found = raise_alarms([judged(min(hits, of), of, videos=min(videos, of)), *many])[0]
    assert not found.is_alarm or (found.low > 0.5 and found.n >= ENOUGH)
