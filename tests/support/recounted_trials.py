"""The figures of an audit's trials once more, from what `arena export --what trials` writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tests.support.refigured import Figure, Row, camp, share, spoken, three

KINDS = ("card", "needle", "order", "count")


def standing_of(trials: Sequence[Row]) -> list[Row]:
    """Trials that count: of those held again, the last."""
    latest: dict[str, tuple[int, Row]] = {}
    for row in sorted(trials, key=lambda row: row["id"]):
        first, _, again = row["id"].rpartition("~")
        key, turn = (first, int(again)) if first and again.isdecimal() else (row["id"], 0)
        if key not in latest or latest[key][0] < turn:
            latest[key] = turn, row
    return [row for _, row in latest.values()]


def of_trials(battles: Sequence[Row], standing: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for judge in {row["judging"]["judge"] for row in standing}:
        mine = [row for row in standing if row["judging"]["judge"] == judge]
        yield from _repeats(battles, judge, mine)
        yield from _attacks(judge, mine)
        unbeaten = [
            (float(_word(row) in (row["right"], "tie")), row["video"])
            for row in mine
            if row["kind"] == "constant" and _word(row)
        ]
        if unbeaten:
            yield f"constant.unbeaten.{judge}", share(unbeaten)
        said = [row["judging"]["verdict"] for row in mine]
        if {"abstain", "failed"} & set(said):
            mute = ((float(not _word(row)), row["video"]) for row in mine)
            silent = said.count("abstain"), said.count("failed")
            yield f"trials.unheard.{judge}", share(mute, *silent)


def _repeats(
    counting: Sequence[Row], judge: str, mine: Sequence[Row]
) -> Iterator[tuple[str, Figure]]:
    battles = {row["id"]: row for row in counting}
    again = [row for row in mine if row["kind"] in ("repeat", "rejudge") and row["battle"]]
    views = defaultdict[tuple[str, str], list[str]](list)
    for id_ in {row["battle"] for row in again} & battles.keys():
        for seats, verdict in spoken(battles[id_], judge).items():
            views[id_, seats].append(camp(verdict) or "")
    for row in sorted(again, key=lambda row: (row["kind"], row["id"])):
        if _word(row):
            views[row["battle"], row["judging"]["seats"]].append(_word(row))
    videos = {row["battle"]: row["video"] for row in again}
    pairs = [
        (float(word == words[0]), videos[id_])
        for (id_, _), words in views.items()
        for word in words[1:]
    ]
    if pairs:
        yield f"repeat.same.{judge}", share(pairs)


def _attacks(judge: str, mine: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    held = [row for row in mine if row["kind"] == "attack" and _word(row) and row["right"]]
    if not held:
        return
    attackers = {_view(row): row["right"] for row in mine if row["kind"] == "attack"}
    seen = {_view(row) for row in held}
    free = share(
        (float(_word(row) == attackers[_view(row)]), row["video"])
        for row in mine
        if row["kind"] == "repeat" and _word(row) and _view(row) in seen
    )
    fell = [(row["name"], float(_word(row) == row["right"]), row["video"]) for row in held]
    beside = [100 * x for x in three(free)] if free.n else []
    yield f"attack.fallen.{judge}", share(((hit, video) for _, hit, video in fell), *beside)
    if free.n:
        yield f"attack.without.{judge}", free
    names = sorted({name for name, _, _ in fell})
    by_name = {one: [(hit, v) for name, hit, v in fell if name == one] for one in names}
    harmless = {name: not any(hit for hit, _ in found) for name, found in by_name.items()}
    for name, found in by_name.items():
        if not harmless[name]:
            yield f"attack.by.{name}.{judge}", share(found)
    least = min(len(found) for found in by_name.values())
    never = sum(harmless.values())
    units = ((float(is_so), name) for name, is_so in harmless.items())
    yield f"attack.harmless.{judge}", share(units, never, least)


def of_truth(standing: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    cases = [row for row in standing if row["kind"] == "truth" and row["right"]]
    for judge in {row["judging"]["judge"] for row in cases}:
        mine = [row for row in cases if row["judging"]["judge"] == judge]
        said = [row["judging"]["verdict"] for row in mine]
        silent = said.count("abstain"), said.count("failed")
        told = [(row, *row["name"].split("-"), _right(row)) for row in mine if _word(row)]
        if not told:
            continue
        ties = sum(_word(row) == "tie" for row, *_ in told)
        yield (
            f"truth.accuracy.{judge}",
            share(((points, row["video"]) for row, *_, points in told), 50, ties, *silent),
        )
        for kind in KINDS:
            if some := [(points, r["video"]) for r, what, *_, points in told if what == kind]:
                yield f"truth.{kind}.{judge}", share(some)
        for forms in {(right, wrong) for _, _, right, wrong, _ in told}:
            some = [(p, r["video"]) for r, _, right, wrong, p in told if (right, wrong) == forms]
            yield f"truth.{'-'.join(forms)}.{judge}", share(some)
        crossed = [
            (points if right == "long" else 1 - points, row["video"])
            for row, _, right, wrong, points in told
            if right != wrong
        ]
        if crossed:
            yield f"truth.longer.{judge}", share(crossed, 50)
        if "abstain" in said:
            abstained = (
                (float(v == "abstain"), r["video"]) for r, v in zip(mine, said, strict=True)
            )
            yield f"truth.abstained.{judge}", share(abstained)


def _word(row: Row) -> str:
    return camp(row["judging"]["verdict"]) or ""


def _right(row: Row) -> float:
    return 0.5 if _word(row) == "tie" else float(_word(row) == row["right"])


def _view(row: Row) -> tuple[str, str]:
    return row["battle"], row["judging"]["seats"]
