"""Every figure of an audit once more, from what `arena export` writes, in plain Python.

Nothing of the audit's code is used, nor of `scoring`. What each figure is stands in
docs/commands/trust.md, under `arena audit`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tests.support.recounted_labels import of_labels
from tests.support.recounted_trials import of_trials, of_truth, standing_of
from tests.support.refigured import (
    TIES,
    Figure,
    Row,
    alpha,
    camp,
    excess,
    kappa,
    share,
    spoken,
    with_others,
)
from tests.support.refitted import climbed, hat_values

DECIDED = ("a", "b", *TIES)
TRICKS = {"windbag": "offline:windbag", "trickster": "offline:trickster"}
ABOVE = {
    "swap.flips": 0.2,
    "length.longer": 0.75,
    "length.matched": 0.55,
    "verdicts.ties": 0.5,
    "verdicts.both_bad": 0.25,
    "verdicts.voids": 0.05,
    "verdicts.forfeits": 0.1,
    "verdicts.abstentions": 0.1,
    "panel.abstentions": 0.1,
    "family.excess": 0.0,
    "leak.blind": 1 / 3,
    "constant.unbeaten": 0.05,
}
BELOW = {"panel.alpha": 0.4, "repeat.same": 0.8, "truth.accuracy": 0.75, "labels.length_gain": 0.0}
LEANING = ("seats.first", "swap.first", "truth.longer")
EVEN = (*LEANING, "family.excess", "canary.windbag", "canary.trickster")
"""Those whose threshold is what a fair judge comes to: they share the chance of an alarm."""
ENOUGH = 20


@dataclass
class Recount:
    """Every figure of a run's audit from its exported rows, by key."""

    rows: Sequence[Row]
    """Of `--what battles`."""
    cast: Mapping[str, tuple[str, int | None]]
    """Of every name its `provider:model`, and how many frames it is sent at most."""
    judges: Sequence[str]
    labels: Sequence[Row] = ()
    trials: Sequence[Row] = ()
    seats_count: bool = False
    """Whether both seatings decide."""
    figures: dict[str, Figure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compute them."""
        self.battles = [row for row in self.rows if not row["superseded"]]
        self.decided = [row for row in self.battles if row["verdict"] in DECIDED]
        self.said = [(row, one) for row in self.battles for one in row["verdicts"]]
        asked = {one["judge"] for _, one in self.said}
        self.judges = [name for name in self.judges if name in asked]
        for part in (
            *(self._seats, self._length, self._verdicts, self._panel, self._family),
            *(self._canaries, self._leak),
        ):
            self.figures |= dict(part())
        standing = standing_of(self.trials)
        self.figures |= dict(of_trials(self.battles, standing)) | dict(of_truth(standing))
        given = of_labels(self.decided, self.labels, seats_count=self.seats_count)
        self.figures |= dict(given)

    def _seats(self) -> Iterator[tuple[str, Figure]]:
        yield (
            "seats.first",
            share(
                (float((one["verdict"] == "a") == (one["seats"] == "ab")), row["video"])
                for row, one in self.said
                if one["verdict"] in ("a", "b")
            ),
        )
        twice = [
            (judge, camp(words["ab"]), camp(words["ba"]), row["video"])
            for row in self.battles
            for judge in self.judges
            if {"ab", "ba"} <= (words := spoken(row, judge)).keys()
        ]
        if not twice:
            return
        yield "swap.flips", share((float(ab != ba), video) for _, ab, ba, video in twice)
        points = {"a": 1.0, "b": 0.0, "tie": 0.5}
        yield (
            "swap.first",
            share(((points[ab] + 1 - points[ba]) / 2, video) for _, ab, ba, video in twice),
        )
        if len({judge for judge, *_ in twice}) > 1:
            for name in self.judges:
                flips = [(float(ab != ba), v) for judge, ab, ba, v in twice if judge == name]
                if flips:
                    yield f"swap.flips.{name}", share(flips)

    def _length(self) -> Iterator[tuple[str, Figure]]:
        both = [
            (len(row["answer_a"]), len(row["answer_b"]), camp(row["verdict"]), row["video"])
            for row in self.decided
            if row["answer_a"] and row["answer_b"]
        ]
        longer = [
            (a, b, float((won == "a") == (a > b)), video)
            for a, b, won, video in both
            if won != "tie" and a != b
        ]
        yield "length.longer", share((hit, video) for _, _, hit, video in longer)
        yield (
            "length.only",
            share((float((w, a > b, a < b) in _BY_LENGTH), v) for a, b, w, v in both),
        )
        near = [(hit, video) for a, b, hit, video in longer if 10 * max(a, b) <= 11 * min(a, b)]
        yield "length.matched", share(near, 10)

    def _verdicts(self) -> Iterator[tuple[str, Figure]]:
        def of(rows: Sequence[Row], words: Sequence[str], *others: float) -> Figure:
            return share(((float(row["verdict"] in words), row["video"]) for row in rows), *others)

        met = defaultdict[str, list[tuple[float, str]]](list)
        for row in self.battles:
            if row["answer_a"] and row["answer_b"]:
                pair = ", ".join(sorted((row["model_a"], row["model_b"])))
                met[pair].append((float(row["answer_a"] == row["answer_b"]), row["video"]))
        for pair, every in met.items():
            same = sum(is_same for is_same, _ in every)
            if len(every) >= 10 and 2 * same >= len(every):
                yield f"verdicts.same_answers.{pair}", share(every, same)
        yield "verdicts.ties", of(self.decided, TIES)
        yield "verdicts.both_bad", of(self.decided, ["tie_bad"])
        voids = [row["reason"].split(": ")[0] for row in self.battles if row["verdict"] == "void"]
        reasons = [n for _, n in Counter(voids).most_common()]
        named = (*reasons[:3], sum(reasons[3:])) if len(reasons) > 3 else tuple(reasons)
        yield "verdicts.voids", of(self.battles, ["void"], *named)
        gone = Counter(
            row[f"model_{row['verdict'][-1]}"]
            for row in self.battles
            if row["verdict"].startswith("forfeit")
        )
        most = [n for _, n in gone.most_common(3)]
        yield "verdicts.forfeits", of(self.battles, ["forfeit_a", "forfeit_b"], *most)
        yield "verdicts.abstentions", self._abstained(self.said)

    def _abstained(self, said: Sequence[tuple[Row, Row]]) -> Figure:
        failed = sum(one["verdict"] == "failed" for _, one in said)
        return share(((float(o["verdict"] == "abstain"), r["video"]) for r, o in said), failed)

    def _panel(self) -> Iterator[tuple[str, Figure]]:
        if len(self.judges) < 2:
            return
        table = [
            ({j: camp(w["ab"]) for j in self.judges if "ab" in (w := spoken(row, j))}, row)
            for row in self.battles
        ]
        whole = alpha([(list(words.values()), row["video"]) for words, row in table])
        # The sentence says how many judges there are, and between what an alpha lies.
        yield "panel.alpha", with_others(whole, len(self.judges), 0, 1)
        for pair in combinations(self.judges, 2):
            met = [
                ([words[name] for name in pair], row["video"])
                for words, row in table
                if all(name in words for name in pair)
            ]
            if met:
                same = share((float(one == two), video) for (one, two), video in met)
                yield f"panel.agreement.{', '.join(pair)}", same
                yield f"panel.kappa.{', '.join(pair)}", kappa(met)
        counted = [(Counter(words.values()), row["video"]) for words, row in table]
        several = [(_ranked(counts), video) for counts, video in counted if counts.total() > 1]
        if several:
            ways = {
                "unanimous": lambda top: len(top) == 1,
                "majority": lambda top: len(top) > 1 and top[0] > top[1],
                "split": lambda top: len(top) > 1 and top[0] == top[1],
            }
            for key, holds in ways.items():
                yield f"panel.{key}", share((float(holds(top)), video) for top, video in several)
        for name in self.judges:
            outvoted = [
                (float(words[name] != counts.most_common(1)[0][0]), row["video"])
                for (words, row), (counts, _) in zip(table, counted, strict=True)
                if name in words and counts.total() > 2 and _has_majority(counts)
            ]
            if outvoted:
                yield f"panel.minority.{name}", share(outvoted)
            yield (
                f"panel.abstentions.{name}",
                self._abstained([(row, one) for row, one in self.said if one["judge"] == name]),
            )

    def _family(self) -> Iterator[tuple[str, Figure]]:
        points = {"a": 1.0, "b": 0.0, "tie": 0.5}
        for judge in self.judges:
            kin = self._kin(judge)
            own = list[tuple[float, str]]()
            beside = []
            for row, one in self.said:
                word = camp(one["verdict"])
                is_a = self._kin(row["model_a"]) == kin
                if one["judge"] != judge or word is None:
                    continue
                if is_a == (self._kin(row["model_b"]) == kin):
                    continue
                got = points[word] if is_a else 1 - points[word]
                own.append((got, row["video"]))
                theirs = [
                    points[said] if is_a else 1 - points[said]
                    for other in row["verdicts"]
                    if other["seats"] == one["seats"] and self._kin(other["judge"]) != kin
                    if (said := camp(other["verdict"]))
                ]
                if theirs:
                    beside.append((got, sum(theirs) / len(theirs), row["video"]))
            if own:
                yield f"family.own.{judge}", share(own)
            if beside:
                yield f"family.excess.{judge}", excess(beside)

    def _kin(self, name: str | None) -> str:
        model = self.cast.get(name or "", (name or "", None))[0]
        found = re.search(r"[^\W\d_]+", model.replace(":", "/").split("/")[-1])
        return found[0].casefold() if found else model.casefold()

    def _is_blind(self, name: str | None) -> bool:
        return self.cast.get(name or "", ("", None))[1] == 0

    def _leak(self) -> Iterator[tuple[str, Figure]]:
        names = {row[side] for row in self.decided for side in ("model_a", "model_b")}
        for name in filter(self._is_blind, names):
            taken = [
                (_points(row, name), row["video"])
                for row in self.decided
                if (other := _other(row, name)) and not self._is_blind(other)
                if self.cast[other][0] != "offline:parrot"
            ]
            won = sum(points == 1 for points, _ in taken)
            yield f"leak.blind.{name}", share(taken, *([won - 5] if won > 5 else []))

    def _canaries(self) -> Iterator[tuple[str, Figure]]:
        names = sorted({row[side] for row in self.decided for side in ("model_a", "model_b")})
        model = {name: self.cast[name][0] for name in names}
        called = {model[name]: name for name in names}
        fooled = {"offline:parrot", *TRICKS.values()}
        sighted = [n for n in names if not self._is_blind(n) and model[n] not in fooled]
        canaries = dict[str, tuple[str, list[str]]]()
        if parrot := called.get("offline:parrot"):
            canaries["canary.parrot"] = parrot, [name for name in names if name != parrot]
        for name in filter(self._is_blind, names):
            canaries[f"canary.blind.{name}"] = name, sighted
        for key, trick in TRICKS.items():
            if trick in called and "offline:terse" in called:
                canaries[f"canary.{key}"] = called[trick], [called["offline:terse"]]
        if not canaries:
            return
        rating = self._rate(names)
        videos = len({row["video"] for row in self.decided})
        for key, (name, upper) in canaries.items():
            # Which of them is the nearest turns on errors, too, so any of them may be named.
            gaps = tuple(rating[one] - rating[name] for one in upper if rating)
            yield key, Figure(math.nan, len(self.decided), None, videos, gaps)

    def _rate(self, names: Sequence[str]) -> dict[str, float]:
        """Return bias-reduced Bradley-Terry ratings; none where models never met.

        Every pair is given its hat value in battles, half of them won, and all is fitted again
        until nothing moves (Kosmidis and Firth, 2021).
        """
        games = [(r["model_a"], r["model_b"], _points(r, r["model_a"])) for r in self.decided]
        if len(_beaten(names[0], [(a, b, 0.5) for a, b, _ in games])) < len(names):
            return {}
        fought: dict[tuple[str, str], tuple[float, float]] = {}
        for a, b, points in games:
            n, won = fought.get((a, b), (0.0, 0.0))
            fought[a, b] = n + 1, won + points
        theta = dict.fromkeys(names, 0.0)
        more = dict.fromkeys(fought, 0.0)
        for _ in range(3000):
            given = {p: (n + more[p], won + more[p] / 2) for p, (n, won) in fought.items()}
            before = theta
            theta = climbed(theta, given)
            more = hat_values(theta, fought)
            if max(abs(theta[name] - before[name]) for name in names) < 1e-7:
                break
        return {name: value * 400 / math.log(10) for name, value in theta.items()}

    @property
    def alarms(self) -> set[str]:
        """Keys of figures that raise an alarm, without canaries, whose errors are not known."""
        could = {key: of for key, of in self.figures.items() if _is_held(key)}
        could = {k: of for k, of in could.items() if of.n >= ENOUGH and of.clusters > 1}
        even = 1 - 0.05 / max(sum(_kind(key) in EVEN for key in could), 1)
        level = {key: even if _kind(key) in EVEN else 0.95 for key in could}
        always = {key for key in self.figures if _kind(key) == "verdicts.same_answers"}
        crossed = {k for k, of in could.items() if of.at and self._crosses(k, of, level[k])}
        return always | crossed

    def _crosses(self, key: str, of: Figure, level: float) -> bool:
        low, high = of.at(level) if of.at else (math.nan, math.nan)
        kind = _kind(key)
        if kind == "attack.fallen":
            free = self.figures.get(key.replace("fallen", "without"))
            return low > (free.at(level)[1] if free and free.at else 0.5)
        if kind in LEANING:
            is_far = kind == "truth.longer" or abs(of.value - 0.5) >= 0.05
            return is_far and not low <= 0.5 <= high
        return low > ABOVE[kind] if kind in ABOVE else high < BELOW[kind]


_BY_LENGTH = {("a", True, False), ("b", False, True)}


def _kind(key: str) -> str:
    return ".".join(key.split(".")[:2])


def _is_held(key: str) -> bool:
    """Return whether a figure has a threshold."""
    kind = _kind(key)
    held = {*ABOVE, *BELOW, *LEANING, "attack.fallen"}
    return kind in held or kind.startswith("canary.")


def _ranked(counts: Counter[str]) -> list[int]:
    return sorted(counts.values(), reverse=True)


def _has_majority(counts: Counter[str]) -> bool:
    top = _ranked(counts)
    return len(top) == 1 or top[0] > top[1]


def _beaten(name: str, games: Iterable[tuple[str, str, float]]) -> set[str]:
    """Return whom a model took a point from, or from one who did, and itself."""
    won = defaultdict[str, set[str]](set)
    for a, b, points in games:
        won[a] |= {b} if points > 0 else set()
        won[b] |= {a} if points < 1 else set()
    found = {name}
    fresh = [name]
    while fresh:
        new = won[fresh.pop()] - found
        found |= new
        fresh += new
    return found


def _points(row: Row, name: str) -> float:
    won = {"a": "model_a", "b": "model_b"}.get(row["verdict"])
    return 0.5 if won is None else float(row[won] == name)


def _other(row: Row, name: str) -> str | None:
    pair = [row["model_a"], row["model_b"]]
    return pair[1 - pair.index(name)] if name in pair else None
