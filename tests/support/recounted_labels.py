"""The figures of an audit about people's labels once more, from what `arena export` writes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from tests.support.refigured import (
    Figure,
    Row,
    alpha,
    camp,
    excess,
    kappa,
    same,
    share,
    three,
    with_others,
)

STANDARDS = ("instruction_following", "accuracy", "relevance", "helpfulness")


def of_labels(
    decided: Sequence[Row], labels: Sequence[Row], *, seats_count: bool = False
) -> Iterator[tuple[str, Figure]]:
    battles = {row["id"]: row for row in decided}
    spoken = [(one, battles[one["battle"]]) for one in labels if one["battle"] in battles]
    if not spoken:
        return
    every = [([camp(o["verdict"]), camp(r["verdict"])], r["video"]) for o, r in spoken]
    clear = [(o, r) for o, r in spoken if "tie" not in (camp(o["verdict"]), camp(r["verdict"]))]
    pairs = [([camp(o["verdict"]), camp(r["verdict"])], r["video"]) for o, r in clear]
    for behind, units in (("", every), ("_without_ties", pairs)):
        if units:
            yield f"labels.agreement{behind}", same(units)
            yield f"labels.kappa{behind}", with_others(kappa(units), 0, 1)
    sizes = [
        [len(re.findall(r"\w+|[^\w\s]", r[f"answer_{k}"] or "")) for k in "ab"] for _, r in clear
    ]
    near = [unit for unit, (a, b) in zip(pairs, sizes, strict=True) if 10 * abs(a - b) <= max(a, b)]
    if near:
        yield "labels.length_matched", with_others(same(near), 10)
    uneven = [
        (float(person == judge), float(person == ("a" if a > b else "b")), video)
        for ((person, judge), video), (a, b) in zip(pairs, sizes, strict=True)
        if a != b
    ]
    if uneven:
        judge = share((hit, video) for hit, _, video in uneven)
        length = share((hit, video) for _, hit, video in uneven)
        yield "labels.length_only", with_others(length, *(100 * x for x in three(judge)))
        yield "labels.length_gain", with_others(excess(uneven), 0)
    yield from _people(spoken)
    for name in STANDARDS:
        some = [([o[name], o["verdict"]], r["video"]) for o, r in spoken if name in o]
        if some:
            camps = [([camp(word) for word in words], video) for words, video in some]
            yield f"labels.{name}", same(camps)
        own = [
            ([camp(o[name]), word], r["video"])
            for o, r in spoken
            if name in o and (word := _by_standard(r["verdicts"], name, seats_count))
        ]
        if own:
            yield f"labels.judge_{name}", same(own)


def _by_standard(judgings: Sequence[Row], name: str, seats_count: bool) -> str | None:
    """Return what most judges say of a battle by one standard; None where nobody says anything."""
    told = []
    for seats in ("ab", "ba") if seats_count else ("ab",):
        words = [
            one["standards"][name]
            for one in judgings
            if one["seats"] == seats and name in (one.get("standards") or {})
        ]
        top = Counter(words).most_common(2)
        told += ["tie" if len(top) > 1 and top[0][1] == top[1][1] else top[0][0]] if top else []
    return None if not told else told[0] if len(set(told)) == 1 else "tie"


def _people(spoken: Sequence[tuple[Row, Row]]) -> Iterator[tuple[str, Figure]]:
    said = defaultdict[str, list[str]](list)
    videos = dict[str, str]()
    for one, row in spoken:
        said[row["id"]].append(camp(one["verdict"]) or "")
        videos[row["id"]] = row["video"]
    pairs = [(pair, videos[id_]) for id_, words in said.items() for pair in combinations(words, 2)]
    if pairs:
        yield "labels.people", same(pairs)
        people = len({one["labeller"] for one, _ in spoken})
        whole = alpha([(words, videos[id_]) for id_, words in said.items()])
        yield "labels.krippendorff", with_others(whole, people)
