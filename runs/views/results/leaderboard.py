"""Makes the report of a leaderboard: who leads, what was counted, what a reader must know."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from videoautoarena.runs.formats.terminal_text import DrawnInterval, axis_of
from videoautoarena.runs.formats.words import is_nothing
from videoautoarena.runs.rating.fit import UNCONTROLLED
from videoautoarena.runs.rating.leaderboard import (
    EVEN_PAIRS,
    BoardLead,
    FittedTerms,
    LeaderboardRow,
    RatedLeaderboard,
)
from videoautoarena.runs.rating.method import (
    RANKABLE_VIDEOS,
    SOLID_BATTLES,
    TOO_FEW,
    too_few,
)
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.results.remarks import audit_sentences, notes_of
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Part,
    Quote,
    Report,
    Role,
    Sentence,
    Table,
    Verbatim,
    listed,
    named,
    sentence,
    spoken_table,
    tally_table,
)

LEVEL = Verbatim("95 %")
FIGURES = {
    "refusal_share": "refused",
    "forfeit_share": "forfeit",
    "void_share": "void",
    "both_bad_share": "both bad",
    "mean_tokens": "tokens",
}
"""Titles of the columns of how models behaved, by figure."""
COLUMNS = (
    Column("rank", "rank", "places", ("rank_best", "rank_worst")),
    MODEL,
    Column("rating", "rating", "rating"),
    Column("interval", "interval", "reach", ("rating", "low", "high")),
    # It repeats the interval.
    Column("bar", "", "bar", ("rating", "low", "high"), spare=1),
    Column("win_rate", "win", "share", spare=2),
    Column("battles", "battles", "count", spare=3),
    Column("own_flags", "flags", "flags"),
    Column("record", "W-T-L", "record", ("wins", "ties", "losses"), is_detail=True),
    *(
        Column(
            key,
            title,
            "tokens_with_interval" if key == "mean_tokens" else "share_with_interval",
            (key, f"{key}_low", f"{key}_high"),
            is_detail=True,
        )
        for key, title in FIGURES.items()
    ),
)
"""The columns of a leaderboard wherever it is shown: terminal, markup, CSV, page and picture."""
IN_OTHER_FORMS = ("elo", "behaviour", "labels", "frames", "flags")
"""Fields of a row that stand in sentences, or in columns of other names."""
AS_THEY_ARE = tuple(one.name for one in fields(LeaderboardRow) if one.name not in IN_OTHER_FORMS)
"""Fields of a row that a table takes as they are."""
ROW_FIELDS = ("group", *AS_THEY_ARE, *FIGURES, "tokens_from", "flags")
"""Fields of a row in CSV: those of JSON, and the number of its component, from 1."""
NAMED = 3
"""Models that a headline names of more than MOST_RIVALS."""
MOST_RIVALS = 4
"""Rivals that are all named; if there are more and they are all the others, nobody is named."""
EFFECTS = {"seat": "read first"}
"""Titles of effects whose name says too little beside those of style."""
WAYS = {"ties": "ties and splits", "refusals": "battles with a refusal in plain words"}
"""Battles that are left out, in words, by the reason."""


def leaderboard_report(board: RatedLeaderboard) -> Report:
    """Return the report of a leaderboard."""
    tally = counted_table(board)
    models = models_table(board)
    tables = {table.name: table for table in (models, tally, *spoken_tables(board))}
    if not board.leads:
        ended = " ({forfeits} forfeited, {voids} void)" if board.settings.totals.battles else ""
        said = f"No battle was decided{ended}, so no model is rated."
        headline = sentence(said, tally.quotes(), key="lead")
    else:
        group = board.models[: len(board.components[0])]
        # A model without a shortfall saw all that others saw, or more.
        seen = {row.model: row.frames["most"] if row.frames else math.inf for row in group}
        most = max(seen.values(), default=0)
        headline = lead_words(
            board.leads[0],
            tally,
            unit=board.settings.evidence[1],
            models=len(board.components[0]),
            is_bounded=any(row.low is not None for row in group),
            fewer=[model for model, frames in seen.items() if frames < most],
        )
    sentences = (
        *extra_sentences(board, tables),
        *_behaviour_sentences(board.models),
        totals_sentence(tally),
        *audit_sentences(board.audit or ()),
        # The headline says already that few videos rank nobody.
        *notes_of(board.settings.warnings, told=(TOO_FEW, too_few("battle"))),
        headline,
    )
    return Report(tuple(tables.values()), sentences, headline)


def models_table(board: RatedLeaderboard) -> Table:
    """Return the table of a leaderboard's models."""
    # Flags of every rated model are said once, below the table.
    rated = [set(row.flags) for row in board.models if row.rating is not None]
    said = {TOO_FEW, too_few("battle"), UNCONTROLLED}
    shared = set.intersection(*rated) & said if rated else set[str]()
    groups = {name: k for k, group in enumerate(board.components, 1) for name in group}
    rows = tuple(row_fields(row, groups.get(row.model), shared) for row in board.models)
    # A line parts groups that never met.
    first = {group[0] for group in board.components[1:]}
    hidden = set[str]()
    # A column without a single flag would take room from the names.
    if not any(row["own_flags"] for row in rows):
        hidden.add("own_flags")
    if not board.models or board.models[0].behaviour is None:
        hidden.update(FIGURES)
    return Table(
        name="leaderboard",
        caption=f"Ratings of {counted(len(board.models), 'model')}, with 95 % intervals",
        columns=tuple(column for column in COLUMNS if column.key not in hidden),
        rows=rows,
        fields=ROW_FIELDS,
        starts=frozenset(k for k, row in enumerate(board.models) if row.model in first),
        axis=axis_of(
            DrawnInterval(row.rating, row.low, row.high)
            for row in board.models
            if row.rating is not None
        ),
    )


def row_fields(
    row: LeaderboardRow, group: int | None, shared: Collection[str] = ()
) -> dict[str, Any]:
    """Return the fields of a model by their keys; `own_flags` leaves out flags that all share."""
    found: dict[str, Any] = {"group": group, **{name: getattr(row, name) for name in AS_THEY_ARE}}
    for name in FIGURES:
        figure = row.figure(name)
        found |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
    found["tokens_from"] = row.behaviour.mean_tokens.counted_by if row.behaviour else None
    found["flags"] = list(row.flags)
    found["own_flags"] = [flag for flag in row.flags if flag not in shared]
    return found


_ONE = 0
"""Place of the only row of a table."""


def counted_table(board: RatedLeaderboard) -> Table:
    """Return what a leaderboard's sentences count, as a table of one row."""
    settings = board.settings
    totals, (pieces, _) = settings.totals, settings.evidence
    lead = next(iter(board.leads), None)
    left_out = settings.without or {}
    counts: dict[str, Any] = {
        "decided": totals.decided,
        "videos": None if settings.videos is None else list(settings.videos),
        "ties": totals.ties,
        "splits": totals.splits,
        "forfeits": totals.forfeits,
        "voids": totals.voids,
        **lead_fields(lead, pieces[0] if pieces else None, groups=len(board.components)),
        **{f"without_{reason}": left_out.get(reason) for reason in WAYS},
        "effective": settings.reweighted and settings.reweighted.effective_battles,
        "anchor": settings.anchor and settings.anchor.rating,
        "elo_k": settings.elo and settings.elo.k,
    }
    return tally_table(counts, videos="counts", anchor="number", elo_k="number")


def lead_fields(lead: BoardLead | None, pieces: int | None, *, groups: int = 1) -> dict[str, Any]:
    """Return the counts that `lead_words` quotes, each a column of kind `count`.

    `pieces` is the number of videos behind the lead.
    """
    if lead is None:
        return {"groups": groups, "pieces": pieces, "more": None, "others": 0, "below": 0}
    more = lead.more
    if more is not None:
        # Two digits: the formula is too crude for more.
        least = 10 ** max(len(str(more)) - 2, 0)
        more = -(-more // least) * least
    return {
        "groups": groups,
        "pieces": pieces,
        "more": more,
        "others": len(lead.rivals) - NAMED,
        "below": len(lead.above) - NAMED,
    }


def lead_words(
    lead: BoardLead,
    tally: Table,
    *,
    models: int,
    unit: str = "video",
    is_bounded: bool = True,
    rated: str = "rated",
    fewer: Sequence[str] = (),
) -> Sentence:
    """Return the sentence on who leads among so many models, whatever they are rated by.

    `tally` is a table of one row with the `lead_fields`; `rated` says what was done to models, and
    `fewer` are those that saw fewer frames than others.
    """
    if lead.is_ranked:
        template = _ranked(lead, tally, unit)
    else:
        template = _unranked(lead, models, tally, unit, is_bounded=is_bounded, rated=rated)
    if fewer:
        told = "{fewer} saw fewer frames than others, so that gaps may come from that"
        template = f"{template.removesuffix('.')}; {told}."
    is_any = MOST_RIVALS < len(lead.rivals) == models - len(lead.first)
    return sentence(
        template,
        tally.quotes(),
        key="lead",
        first=named(lead.first),
        rivals="any of the others" if is_any else _some(lead.rivals, tally.quote(_ONE, "others")),
        above=_some(lead.above, tally.quote(_ONE, "below")),
        fewer=named(fewer) if len(fewer) <= MOST_RIVALS else "some models",
        both=named((lead.first[0], lead.nearest or "")),
        enough=Verbatim(str(RANKABLE_VIDEOS)),
    )


def _some(models: Sequence[str], unnamed: Quote) -> tuple[Part, ...]:
    """Return names; if there are many, the first few and the number of the others."""
    if len(models) <= MOST_RIVALS:
        return named(models)
    return (*listed(map(ModelName, models[:NAMED]), last=", "), " and ", unnamed, " others")


def _among(tally: Table) -> str:
    """Return words that set the first group apart from other groups, if there are any."""
    several = tally.rows[_ONE]["groups"] > 1
    return " the largest of {groups} groups that never met" if several else ""


def _ranked(lead: BoardLead, tally: Table, unit: str) -> str:
    among = _among(tally)
    at_once = "in all comparisons at once " if lead.is_simultaneous else ""
    if len(lead.first) > 1:
        shared = f"{{first}} share the first place{among and f' in{among}'}"
        rivals = f", and {at_once}{{rivals}} may be as good" if lead.rivals else ""
        return f"{shared}{rivals}; more {unit}s may never separate those who share it."
    rivals = f", and {at_once}no other may be best"
    if lead.rivals:
        rivals = f", but {at_once}{{rivals}} may be as good"
    outlook = ""
    if lead.nearest is not None:
        more = tally.rows[_ONE]["more"]
        if more is None:
            outlook = f"; no realistic number of {unit}s would separate {{both}}"
        else:
            needed = f"one more {unit}" if more == 1 else f"about {{more}} more {unit}s"
            outlook = f"; {needed} would separate {{both}} at the current gap"
    return f"{{first}} leads{among}{rivals}{outlook}."


def _unranked(
    lead: BoardLead, models: int, tally: Table, unit: str, *, is_bounded: bool, rated: str
) -> str:
    """Return the words for too few videos, on which nobody leads."""
    among = _among(tally)
    few = f"{{pieces:{unit}}} {{pieces|is|are}} too few to rank{among and f' in{among}'}"
    unbounded = "" if is_bounded else ", and there are no intervals"
    verb = "are" if len(lead.first) > 1 else "is"
    if len(lead.first) == models:
        said = f" {verb} {rated} alike"
    elif lead.above:
        said = f", {rated} highest, {verb} above {{above}} as of now"
    else:
        said = f" {verb} {rated} highest, but not surely above any other"
    return f"{few} ({{enough}} are needed){unbounded}: {{first}}{said}."


def totals_sentence(tally: Table, *, role: Role = "counted") -> Sentence:
    """Return the sentence that counts battles and videos."""
    return sentence(
        "{decided:battle} decided[ on {videos:video}], {ties} tied ({splits} split); "
        "{forfeits} forfeited, {voids} void.",
        tally.quotes(),
        key="counted",
        role=role,
    )


def _behaviour_sentences(rows: Sequence[LeaderboardRow]) -> Iterator[Sentence]:
    """Yield what the figures of behaviour mean, and who counted tokens."""
    if not rows or rows[0].behaviour is None:
        return
    yield sentence(
        "{meaning} Each has its {level} interval.", role="detail", meaning=MEANING, level=LEVEL
    )
    others = [
        row.model
        for row in rows
        if row.behaviour is not None and row.behaviour.mean_tokens.counted_by != "provider"
    ]
    if len(others) == len(rows):
        yield sentence(
            "No provider reported all tokens: words and signs are counted instead.", role="detail"
        )
    elif others:
        yield sentence(
            "Words and signs are counted instead of tokens: {models}.",
            role="detail",
            models=listed(map(ModelName, others), last=", "),
        )


MEANING = (
    "refused: of its questions; forfeit: of slots with a question; void: of slots drawn; "
    "both bad: of decided battles. tokens: mean per answer."
)


def spoken_tables(board: RatedLeaderboard) -> Iterator[Table]:
    """Yield the tables of extras that were asked for."""
    settings = board.settings
    # The largest group alone is told of in sentences; JSON has them all.
    for found in (settings.terms or ())[:1]:
        yield terms_table(found)
    if settings.elo is not None:
        known = [row for row in board.models if not is_nothing(row.elo)]
        rows = ({"model": row.model, "elo": row.elo} for row in known)
        yield spoken_table("elo", rows, model="name", elo="rating")
    if (pairs := board.pairs) is not None:
        names = pairs.models
        rows = (
            {"model": names[k], "next": names[k + 1], "chance": pairs.better[k][k + 1],
             "is_thin": pairs.thin[k][k + 1], "is_apart": pairs.apart[k][k + 1]}
            for k in range(len(names) - 1)
            if pairs.better[k][k + 1] is not None
        )  # fmt: skip
        yield spoken_table("better", rows, model="name", next="name", chance="probability")


def extra_sentences(board: RatedLeaderboard, tables: Mapping[str, Table]) -> Iterator[Sentence]:
    """Yield a sentence for each thing beyond the usual that a leaderboard holds.

    `tables` are its `counted_table` and `spoken_tables` by their names.
    """
    settings = board.settings
    tally = tables["counted"]
    if settings.anchor is not None:
        yield sentence(
            "{model} is fixed at {rating}; intervals are relative to the mean of its group.",
            model=ModelName(settings.anchor.model),
            rating=tally.quote(_ONE, "anchor"),
        )
    # So begin the words for a bootstrap's intervals, see `_interval` of `runs.rating.fit`.
    if settings.interval.startswith("percentiles"):
        yield sentence("Intervals are {how}.", how=Verbatim(settings.interval))
    if settings.simultaneous:
        yield sentence("Confidence ranges for ranks are simultaneous.")
    for found in (settings.terms or ())[:1]:
        yield from terms_sentences(found, tables["terms"])
    if settings.elo is not None and board.components:
        table = tables["elo"]
        rated = ((ModelName(row["model"]), " ", table.quote(k, "elo"))
                 for k, row in enumerate(table.rows))  # fmt: skip
        yield sentence(
            "Online Elo over a random order (K = {k}): {each}.",
            k=tally.quote(_ONE, "elo_k"),
            each=listed(rated, last=", "),
        )
    if board.pairs is not None:
        yield from _better_sentences(tables["better"])
    if settings.without is not None:
        left = (
            (tally.quote(_ONE, f"without_{reason}"), f" {WAYS[reason]}")
            for reason in settings.without
        )
        yield sentence("Left out before the fit: {each}.", each=listed(left))
    if (made := settings.reweighted) is not None:
        is_even = made.target == EVEN_PAIRS
        by = ("by inverse pairing probability",) if is_even else ("to ", Verbatim(made.target))
        yield sentence(
            "Battles are weighted {by}; effective number of battles: {effective}.",
            by=by,
            effective=tally.quote(_ONE, "effective"),
        )


SEAT = "being read first"


def terms_table(found: FittedTerms) -> Table:
    """Return what was fitted beside the ratings of a group, and how well it is known."""
    each = {SEAT: found.seat, **(found.style or {})}
    rows = [
        {"term": name, "points": of.points, "low": of.low, "high": of.high}
        for name, of in each.items()
        if of is not None
    ]
    rows.append({"term": "tie", "share": found.tie_share})
    if (control := found.control) is not None:
        known = {"half_width": control.half_width, "inflation": control.inflation}
        rows.append({"term": "control", **known})
    return spoken_table(
        "terms",
        rows,
        term="text",
        points=("points_with_interval", ("points", "low", "high")),
        share="share",
        half_width="width",
        inflation="coefficient",
    )


def control_sentence(found: FittedTerms, table: Table, *, role: Role = "said") -> Sentence | None:
    """Return why position bias or style is left in a group's ratings; None if it is not."""
    control = found.control
    if control is None or control.identified:
        return None
    asked = {"Style": found.style, "Position bias": found.seat}
    terms = [name for name, of in asked.items() if of is not None]
    # The last row holds the control.
    width, times = (table.quote(len(table.rows) - 1, of) for of in ("half_width", "inflation"))
    why: list[tuple[Part, ...]] = []
    if control.half_width is None:
        why.append(("there are no intervals",))
    elif control.half_width > control.most_half_width:
        limit = Verbatim(f"{control.most_half_width:.0f}")
        why.append(("an interval reaches ", width, " to either side, where the limit is ", limit))
    if control.inflation is None:
        why.append(("the battles alone set no bounds",))
    elif control.inflation > control.most_inflation:
        limit = Verbatim(f"{control.most_inflation:.0f}")
        grows = ("the variance of a difference of two models would grow ", times)
        why.append((*grows, " times, where the limit is ", limit))
    is_one = len(terms) == 1
    return sentence(
        "{terms} {are} not taken out of the ratings: these battles do not tell {them} from how "
        "strong the models are ({why}).",
        key="control",
        role=role,
        terms=" and ".join(terms).capitalize(),
        are="is" if is_one else "are",
        them="it" if is_one else "them",
        why=listed(why, last="; "),
    )


def terms_sentences(found: FittedTerms, table: Table) -> Iterator[Sentence]:
    """Yield what the terms of a group are worth, and whether its ratings have them taken out."""
    if found.seat is not None:
        points = table.quote(SEAT, "points")
        yield sentence("Being read first is worth {points} points.", points=points)
    if found.style is not None:
        each = (
            (Verbatim(f"{name} "), "never differs" if of is None else table.quote(name, "points"))
            for name, of in found.style.items()
        )
        worth = listed(each, last=", ")
        yield sentence("Style, points per standard deviation: {worth}.", worth=worth)
    refused = control_sentence(found, table)
    if refused is not None:
        yield refused
    if found.tie_share is not None and is_nothing(found.tie_share):
        yield sentence("Ties count half: there are none, or only ties.")
    elif found.tie_share is not None:
        share = table.quote("tie", "share")
        yield sentence("Between equal models {share} of battles are ties (Davidson).", share=share)


def _better_sentences(table: Table) -> Iterator[Sentence]:
    pairs = (
        (
            *(
                ModelName(row["model"]),
                " above ",
                ModelName(row["next"]),
                " ",
                table.quote(k, "chance"),
            ),
            *(" (few)" * row["is_thin"], " (apart)" * row["is_apart"]),
        )
        for k, row in enumerate(table.rows)
    )
    each = listed(pairs, last=", ")
    if each:
        yield sentence(
            "Probability of being better than the next, of each pair alone: {each}.", each=each
        )
    if any(row["is_apart"] for row in table.rows):
        yield sentence("apart: by the bound that holds for all pairs of the model together.")
    if any(row["is_thin"] for row in table.rows):
        few = Verbatim(str(SOLID_BATTLES))
        yield sentence("few: the two met in fewer than {few} battles.", few=few)
