"""Makes the report of slices side by side: models down, slices across, ratings in the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from videoautoarena.runs.analysis.leaderboard.slices import (
    AIMED,
    UNLIKE,
    LeaderboardSlices,
    PairRecords,
    Slice,
    SliceEffects,
)
from videoautoarena.runs.formats.words import NOTHING, Kind
from videoautoarena.runs.rating.finding import is_by_language
from videoautoarena.runs.rating.fit import APART, ONE_SIDED, UNCONTROLLED
from videoautoarena.runs.rating.leaderboard import LeaderboardRow
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS, SOLID_BATTLES, THIN, TOO_FEW
from videoautoarena.runs.views.results.leaderboard import (
    EFFECTS,
    FIGURES,
    MEANING,
    ROW_FIELDS,
    counted_table,
    extra_sentences,
    row_fields,
    spoken_tables,
    totals_sentence,
)
from videoautoarena.runs.views.results.remarks import (
    audit_sentences,
    language_sentences,
    legend_of,
    marks_of,
    notes_of,
)
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    Report,
    Sentence,
    Table,
    Verbatim,
    listed,
    sentence,
)

MARKS = {
    ONE_SIDED: ("one-sided", "points between it and others went only one way"),
    APART: ("apart", "not comparable with the others, since they never met"),
    UNCONTROLLED: (
        "style in",
        "style or position bias is left in, since these battles do not tell it from the models",
    ),
}
SCALES = "Each slice has its own scale (mean 1000): compare gaps, not ratings."
_SHARES = {"both_bad_share": "both bad %", "agreement": "as overall %"}


def slices_report(sliced: LeaderboardSlices) -> Report:
    """Return the report of slices: a table across them, and one each for how models behaved."""
    above: tuple[Sentence, ...] = ()
    if sliced.by == "language" and sliced.audit is not None:
        above = tuple(language_sentences(sliced.audit))
    share = _share(sliced)
    effects = {
        one.slice: {f"slice_{name}": of for name, of in _effect_fields(one).items()}
        for one in sliced.effects
    }
    rows: list[dict[str, Any]] = []
    for part in sliced.parts:
        groups = {name: k for k, group in enumerate(part.board.components, 1) for name in group}
        about = {"slice": part.name, f"slice_{share}": _shared(part, share)}
        about |= effects.get(part.name, {})
        rows += [about | row_fields(row, groups.get(row.model)) for row in part.board.models]
    # The same effects were asked for in all slices.
    of_effects = next(iter(effects.values()), {})
    fields = ("slice", f"slice_{share}", *of_effects, *ROW_FIELDS)
    columns = (Column("slice", "slice"), MODEL)
    return Report(
        tables=(_ratings_table(sliced), *_effects_table(sliced), *_behaviour_tables(sliced)),
        sentences=tuple(_sentences(sliced)),
        above=above,
        data=Table("slices", f"Leaderboards by {sliced.by}", columns, tuple(rows), fields),
    )


def _sentences(sliced: LeaderboardSlices) -> Iterator[Sentence]:
    rated = [row for part in sliced.parts for row in part.board.models if row.rating is not None]
    every = [part.board.settings.warnings for part in sliced.parts]
    warnings = [line for line in next(iter(every), ()) if all(line in one for one in every)]
    audit = [
        one
        for one in sliced.audit or ()
        if not (sliced.by == "language" and is_by_language(one.key))
    ]
    scales = Verbatim(SCALES if sliced.parts else "No battle is settled yet.")
    yield Sentence((scales,), role="counted")
    yield from audit_sentences(audit, of="of the whole run, ")
    yield from _few_sentences(sliced)
    yield from legend_of({flag for row in rated for flag in row.flags}, MARKS)
    yield from notes_of(warnings)
    if any(part.name in AIMED for part in sliced.parts):
        yield sentence(
            "aimed at ..: battles of evolved questions, by how many of the two models' faults the "
            "question was made from.",
            role="more",
        )
    if sliced.by == "standard" and sliced.parts:
        yield sentence(
            "as overall %: how often the verdict by that standard alone equals the overall "
            "verdict.",
            role="more",
        )
    if sliced.effects:
        yield sentence(
            "Effects are rating points per standard deviation; {dash}: it never differs, the "
            "videos are too few, or its interval is too wide to tell it from strength.",
            dash=NOTHING,
        )
    if _knows_behaviour(sliced):
        yield sentence("{meaning} Intervals are in the JSON.", role="detail", meaning=MEANING)


def _few_sentences(sliced: LeaderboardSlices) -> Iterator[Sentence]:
    """Yield which ratings have too few battles, and which slices too few videos."""
    flagged = [{flag for row in part.board.models for flag in row.flags} for part in sliced.parts]
    if any(THIN in flags for flags in flagged):
        yield sentence(
            "In brackets: battles; ratings of fewer than {few} battles are rough.",
            few=Verbatim(str(SOLID_BATTLES)),
        )
    names = [p.name for p, flags in zip(sliced.parts, flagged, strict=True) if TOO_FEW in flags]
    if names:
        every = "every slice" if len(names) == len(flagged) else listed(map(Verbatim, names))
        yield sentence(
            "Too few to rank, with fewer than {few} videos: {slices}.",
            few=Verbatim(str(RANKABLE_VIDEOS)),
            slices=every,
        )


def _knows_behaviour(sliced: LeaderboardSlices) -> bool:
    boards = [part.board.models for part in sliced.parts]
    return bool(boards) and all(rows and rows[0].behaviour is not None for rows in boards)


def _models(sliced: LeaderboardSlices) -> list[str]:
    """Return the models by their mean rating over slices, weighted by battles, the best first."""
    weight: dict[str, list[float]] = {}
    for part in sliced.parts:
        for row in part.board.models:
            held = weight.setdefault(row.model, [0.0, 0.0])
            if row.rating is not None:
                held[0] += row.rating * row.battles
                held[1] += row.battles
    # A model that no slice rates comes out at 0 and stands last.
    return sorted(weight, key=lambda name: -(weight[name][0] / (weight[name][1] or 1)))


def _rows_of(part: Slice) -> dict[str, LeaderboardRow]:
    return {row.model: row for row in part.board.models}


def _ratings_table(sliced: LeaderboardSlices) -> Table:
    """Return the cross table of ratings, with the battles and videos of each slice at its foot."""
    found = [_rows_of(part) for part in sliced.parts]
    rows: list[dict[str, Any]] = []
    for model in _models(sliced):
        fields: dict[str, Any] = {"model": model}
        for k, each in enumerate(found):
            if (row := each.get(model)) is not None:
                marks = marks_of(row.flags, MARKS)
                fields |= {f"rating_{k}": row.rating, f"marks_{k}": marks}
                fields |= {f"battles_{k}": row.battles}
        rows.append(fields)
    models = len(rows)
    feet = _feet(sliced)
    for name, (_, figures) in feet.items():
        rows.append({"model": name, **{f"rating_{k}": of for k, of in enumerate(figures)}})
    kinds: Sequence[Kind] = [kind for kind, _ in feet.values()]
    return Table(
        name=f"by-{sliced.by}",
        caption=f"Ratings by {sliced.by}, with the number of battles",
        columns=_across(sliced, "marked_rating", ("rating", "marks", "battles")),
        rows=tuple(rows),
        starts=frozenset({models}),
        feet=dict(enumerate(kinds, models)),
        wraps=True,
    )


def _across(
    sliced: LeaderboardSlices, kind: Kind, fields: Sequence[str], title: str = ""
) -> tuple[Column, ...]:
    """Return the columns of names and of every slice."""
    each = (
        Column(f"slice_{k}", part.name, kind, tuple(f"{of}_{k}" for of in fields))
        for k, part in enumerate(sliced.parts)
    )
    return (Column("model", title or f"by {sliced.by}", "name"), *each)


def _feet(sliced: LeaderboardSlices) -> dict[str, tuple[Kind, list[Any]]]:
    """Return the rows at the foot: battles of each slice, videos of each group, a share."""
    boards = [part.board.settings for part in sliced.parts]
    share = _share(sliced)
    feet: dict[str, tuple[Kind, list[Any]]] = {
        "battles": ("count", [part.battles for part in sliced.parts]),
        "videos": ("counts", [list(of.videos or ()) for of in boards]),
        _SHARES[share]: ("share", [_shared(part, share) for part in sliced.parts]),
    }
    if any(of.without is not None for of in boards):
        left_out = [None if of.without is None else sum(of.without.values()) for of in boards]
        feet["left out"] = ("count", left_out)
    return feet


def _share(sliced: LeaderboardSlices) -> str:
    """Return the key of the share that is shown with a slice."""
    # A tie by one standard is neither good nor bad, so both-bad shares say nothing there.
    return "agreement" if sliced.by == "standard" else "both_bad_share"


def _shared(part: Slice, share: str) -> float | None:
    found = part.both_bad_share if share == "both_bad_share" else part.agreement
    return None if found is None else found.value


def _effects_table(sliced: LeaderboardSlices) -> Iterator[Table]:
    """Yield the table of what position and style are worth in each slice, if asked for."""
    every = sliced.effects
    if not every:
        return
    names = every[0].effects
    rows = [
        {"slice": one.slice, "battles": one.battles, "videos": one.videos, **_effect_fields(one)}
        for one in every
    ]
    columns = (
        Column("slice", f"effects by {sliced.by}", "name"),
        Column("battles", "battles", "count"),
        Column("videos", "videos", "count"),
        *(_effect_column(name) for name in names),
    )
    yield Table(
        name=f"effects-by-{sliced.by}",
        caption=f"Effects of style and position bias by {sliced.by}, in rating points",
        columns=columns,
        rows=tuple(rows),
        wraps=True,
    )


def _effect_column(name: str) -> Column:
    title = EFFECTS.get(name, name)
    fields = (name, f"{name}_low", f"{name}_high")
    return Column(name, title, "points_with_interval", fields)


def _effect_fields(one: SliceEffects) -> dict[str, float | None]:
    """Return the effects of a slice by their keys, each with its interval."""
    fields: dict[str, float | None] = {}
    for name, of in one.effects.items():
        fields |= {name: of and of.points}
        fields |= {f"{name}_low": of and of.low, f"{name}_high": of and of.high}
    return fields


def _behaviour_tables(sliced: LeaderboardSlices) -> Iterator[Table]:
    """Yield a cross table for each figure of how models behaved."""
    if not _knows_behaviour(sliced):
        return
    found = [_rows_of(part) for part in sliced.parts]
    for figure, title in FIGURES.items():
        kind: Kind = "tokens" if figure == "mean_tokens" else "share"
        head = title if kind == "tokens" else f"{title} %"
        rows = (
            {
                "model": model,
                **{
                    f"value_{k}": row.figure(figure).value
                    for k, each in enumerate(found)
                    if (row := each.get(model)) is not None
                },
            }
            for model in _models(sliced)
        )
        yield Table(
            name=f"{figure}-by-{sliced.by}",
            caption=f"{title.capitalize()} by {sliced.by}",
            columns=_across(sliced, kind, ("value",), head),
            rows=tuple(rows),
            wraps=True,
            is_detail=True,
        )


PAIR_FIELDS = (
    *("model", "rival", "share", "low", "high", "expected", "wins", "losses", "ties"),
    *("battles", "videos", "both_bad_share", "flags"),
)
PAIR_MARKS = {
    THIN: ("few", f"fewer than {SOLID_BATTLES} battles"),
    UNLIKE: ("unlike", "the expected share lies outside the interval"),
}
PAIR_COLUMNS = (
    MODEL,
    Column("rival", "rival", "name"),
    Column("share", "share", "share"),
    Column("interval", "interval", "share_interval", ("low", "high")),
    Column("expected", "expected", "share", spare=3),
    Column("record", "W-T-L", "record", ("wins", "ties", "losses")),
    Column("battles", "battles", "count", spare=1),
    Column("both_bad_share", "both bad", "share", spare=2),
    Column("notes", "notes", "text"),
)


def pairs_report(found: PairRecords) -> Report:
    """Return the report of every pair that met."""
    board = found.board
    flags = {flag for pair in found.pairs for flag in pair.flags}
    # Of what was asked for of ratings, what the expected shares are made of.
    plain = replace(board.settings, elo=None, anchor=None)
    rated = replace(board, pairs=None, settings=plain)
    tally = counted_table(board)
    table = Table(
        name="pairs",
        caption="Head-to-head results of each pair of models",
        columns=PAIR_COLUMNS,
        rows=tuple(
            {
                "model": pair.model,
                "rival": pair.rival,
                **dict(zip(("share", "low", "high"), pair.share, strict=False)),
                "expected": pair.expected,
                **{
                    name: getattr(pair, name)
                    for name in ("wins", "losses", "ties", "battles", "videos")
                },
                "both_bad_share": pair.both_bad_share.value,
                "flags": list(pair.flags),
                "notes": marks_of(pair.flags, PAIR_MARKS),
            }
            for pair in found.pairs
        ),
        fields=PAIR_FIELDS,
    )
    meaning = sentence(
        "share: points of the model against the rival, a tie half a point; W-T-L: won, tied, lost; "
        "expected: by the ratings of the whole run."
    )
    nothing = sentence("No two models met in a decided battle yet.")
    spoken = tuple(spoken_tables(rated))
    tables = {one.name: one for one in (counted_table(rated), *spoken)}
    sentences = (
        *extra_sentences(rated, tables),
        meaning if found.pairs else nothing,
        *legend_of(flags, PAIR_MARKS),
        totals_sentence(tally, role="more"),
        *notes_of(board.settings.warnings),
    )
    return Report((table, tally, *spoken), sentences)
