"""Makes the reports of scores on preferences: against both references, and each anchor."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from videoautoarena.runs.bench.format.points import DEGREES
from videoautoarena.runs.bench.score.anchor_score import ONE_SIDED, AnchorScores
from videoautoarena.runs.bench.score.leads import SetLead
from videoautoarena.runs.bench.score.score import BY_QUESTION, FEW, JUDGED_BLIND, Board
from videoautoarena.runs.formats.words import Kind
from videoautoarena.runs.rating.leaderboard import FittedTerms
from videoautoarena.runs.run.rundir.reader import SAW_NONE, counted
from videoautoarena.runs.views.results.leaderboard import terms_sentences, terms_table
from videoautoarena.runs.views.results.remarks import language_sentences
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Report,
    Sentence,
    Table,
    Verbatim,
    listed,
    sentence,
    spoken_table,
    tally_table,
)
from videoautoarena.runs.views.results.sets import (
    RANK,
    counts_table,
    few_videos,
    headline_of,
    saw_none,
    stand_ins,
)

OF = {
    "judged": "judged; void counts as not won",
    "decided": "decided against both references",
    "all": "of the bench; void or missing counts as not won",
}
"""Words for the questions that are the whole."""
CSV_FIELDS = (
    "slice", "model", "judge", "vs_selected", "vs_rejected", "average", "low", "high", "n",
    "void", "missing",
)  # fmt: skip
_DEGREES = tuple(DEGREES.values())
ANCHOR_FIELDS = (
    "judge", "anchor", "slice", "model", "score", "low", "high", "rating", "rating_low",
    "rating_high", "share", "n", *_DEGREES, "void", "missing", "split",
)  # fmt: skip
_CENT = Decimal("0.01")
_INTERVAL = Column("interval", "95 % interval", "percent_interval", ("low", "high"))
_NEXT = (
    "lead over next: {level} interval of the difference from the next model{of}; of that pair "
    "alone."
)
_SIZE = "{items:question} about {videos:video} in all."
_MISSING = "{name}: {missing} of {items:question} not judged."


def preference_reports(scores: AnchorScores) -> list[Report]:
    """Return the report against the references, and one a judge and anchor.

    Before any board by language stands what the judge is like in each.
    """
    above = () if scores.audit is None else tuple(language_sentences(scores.audit))
    reports = [_scores_report(scores.board, above)] if scores.board["models"] else []
    data = _data_table(scores.anchored, ANCHOR_FIELDS)
    for board in scores.anchored:
        # What the judge is like stands once, above whichever report is the first.
        reports.append(_anchored_report(board, above if not reports else (), data))
    return reports


def printed(row: Board) -> tuple[float | None, ...]:
    """Return the two percentages and their average as they are printed, with two decimals each.

    The average is that of the two as they are printed, so that a reader who adds them up agrees;
    published tables are made like that. It may lie a hundredth beside the one with all digits.
    """
    if row["average"] is None:
        return None, None, None
    selected, rejected = (_cents(Decimal(row[f"vs_{side}"])) for side in ("selected", "rejected"))
    return float(selected), float(rejected), float(_cents((selected + rejected) / 2))


def _cents(value: Decimal) -> Decimal:
    # Half up as in published tables; `round` would take half to the even digit.
    return value.quantize(_CENT, ROUND_HALF_UP)


def _odd(row: Board, end: str) -> int:
    """Return how many of a model's judgings are void or missing."""
    return int(row[end] if end in row else row["selected"][end] + row["rejected"][end])


def _row_fields(row: Board) -> dict[str, Any]:
    """Return the fields of a model, with its figures as they are printed."""
    odd = {end: _odd(row, end) for end in ("void", "missing")}
    if "score" in row:
        return {**row, **odd, "shown": row["score"]}
    shown = dict(zip(("selected_shown", "rejected_shown", "shown"), printed(row), strict=True))
    return {**row, **odd, **shown}


def _next_fields(board: Board) -> dict[tuple[str, str | None], dict[str, Any]]:
    """Return how far each model is above the next one of its judge."""
    leads: dict[tuple[str, str | None], dict[str, Any]] = {}
    for one in board["differences"]:  # in the order of the board, so the first is the next
        bounds = {"lead_low": one["low"], "lead_high": one["high"]}
        leads.setdefault((one["a"], one.get("judge")), bounds)
    return leads


def _models_table(board: Board, name: str, caption: str, columns: list[Column]) -> Table:
    below = _next_fields(board)
    rows = tuple(
        _row_fields(row) | below.get((row["model"], row.get("judge")), {})
        for row in board["models"]
    )
    lead = board["lead"]
    ranks = [RANK] if lead is not None and lead["models"] > 1 else []
    odd = [Column(end, end, "count") for end in ("void", "missing") if any(r[end] for r in rows)]
    bounds = ("lead_low", "lead_high")
    ahead = Column("lead", "lead over next", "percent_points_interval", bounds, spare=2)
    return Table(name, caption, (*ranks, MODEL, *columns, *odd, ahead), rows)


def _scores_report(board: Board, above: tuple[Sentence, ...]) -> Report:
    judges = {row["judge"] for row in board["models"]}
    columns = [
        *[Column("judge", "judge", "name")] * (len(judges) > 1),
        Column("selected_shown", "vs selected", "hundredths", spare=3),
        Column("rejected_shown", "vs rejected", "hundredths", spare=4),
        Column("shown", "average", "hundredths"),
        _INTERVAL,
        Column("n", "n", "count", spare=1),
    ]
    caption = f"Scores of {counted(len(board['models']), 'model')} on the bench"
    models = _models_table(board, "scores", caption, columns)
    tally = counts_table(_lead_of(board), items=board["items"], videos=board["videos"])
    rows = (
        {
            "model": row["model"],
            "missing": max(row[side]["missing"] for side in ("selected", "rejected")),
            "void": _odd(row, "void"),
            # Each item is judged against both of its references.
            "judgings": 2 * board["items"] - _odd(row, "missing"),
            "n": row["decided"]["n"],
            "average": printed(row["decided"])[-1],
            **row.get("copies", {}),
        }
        for row in board["models"]
    )
    counted_fields = ("missing", "void", "judgings", "n", "same", "of")
    counts: dict[str, Kind] = dict.fromkeys(counted_fields, "count")
    decided = spoken_table("decided", rows, model="name", **counts, average="hundredths")
    headline = headline_of(
        _lead_of(board), tally, nobody="Judges differ: compare models that one judge judged."
    )
    sentences = (
        sentence(f"In percent of the questions {OF[board['of']]}; {_SIZE}", tally.quotes()),
        sentence("A tie counts half against a selected answer, nothing against a rejected one."),
        *_shared_notes(board),
        *_decided_sentences(decided, tally),
        *_flagged(board),
        headline,
    )
    slices = _slices_table(board, "scores", "Scores by")
    tables = (models, *slices, tally, decided)
    return Report(tables, sentences, headline, above=above, data=_data_table([board], CSV_FIELDS))


def _lead_of(board: Board) -> SetLead | None:
    return None if board["lead"] is None else SetLead(**board["lead"])


def _shared_notes(board: Board, of: str = "") -> Iterator[Sentence]:
    if board["differences"]:
        yield sentence(_NEXT, level=Verbatim("95 %"), of=of)
    if board.get("by") == BY_QUESTION:
        yield sentence(
            "A question stands in each of its categories, so that slices may share questions."
        )
    if board["stand_ins"]:
        yield stand_ins()


def _flagged(board: Board) -> Iterator[Sentence]:
    """Yield which models have few videos, and which models and judges saw no frame."""
    rows = board["models"]
    if few := [row["model"] for row in rows if FEW in row["flags"]]:
        yield few_videos(few, of=len(rows))
    yield from saw_none(row["model"] for row in rows if SAW_NONE in row["flags"])
    judges = [row.get("judge", board.get("judge")) for row in rows if JUDGED_BLIND in row["flags"]]
    for judge in dict.fromkeys(judges):
        yield sentence(
            "{judge} judged without seeing a frame: words alone were judged.",
            judge=ModelName(judge),
        )


def _decided_sentences(decided: Table, tally: Table) -> Iterator[Sentence]:
    for k, row in enumerate(decided.rows):
        name = ModelName(row["model"])
        quotes = tally.quotes() | decided.quotes(k)
        if row["missing"]:
            yield sentence(_MISSING, quotes, name=name)
        if row["void"]:
            yield sentence(
                "{name}: {void} of {judgings} judgings void; on the {n:question} decided its "
                "average is {average}.",
                quotes,
                name=name,
            )
    if own := [k for k, row in enumerate(decided.rows) if row.get("same")]:
        each = (
            (ModelName(decided.rows[k]["model"]), " in ", decided.quote(k, "same"), " of ",
             decided.quote(k, "of"))
            for k in own
        )  # fmt: skip
        yield sentence(
            "Judged against its own answer, word for word, since it wrote references of this "
            "bench, so that its score says less: {each}.",
            key="copies",
            each=listed(each, last=", "),
        )


def _slices_table(board: Board, name: str, title: str) -> Iterator[Table]:
    """Yield a row for each model: its figure in each slice, and the number of questions."""
    if "slices" not in board:
        return
    rows: list[dict[str, Any]] = [{"model": row["model"]} for row in board["models"]]
    for k, part in enumerate(board["slices"]):
        found = {(row["model"], row.get("judge")): row for row in part["models"]}
        for fields, row in zip(rows, board["models"], strict=True):
            mine = _row_fields(found[row["model"], row.get("judge")])
            fields |= {f"shown_{k}": mine["shown"], f"n_{k}": mine["n"]}
    foot = {f"shown_{k}": part["videos"] for k, part in enumerate(board["slices"])}
    by = board["by"]
    each = (
        Column(f"shown_{k}", part["slice"], "hundredths_of", (f"shown_{k}", f"n_{k}"))
        for k, part in enumerate(board["slices"])
    )
    yield Table(
        f"{name}-by-{by}",
        f"{title} {by}, with the number of questions",
        (Column("model", f"by {by}", "name"), *each),
        (*rows, {"model": "videos", **foot}),
        starts=frozenset({len(rows)}),
        feet={len(rows): "count"},
        wraps=True,
    )


def _data_table(boards: list[Board], fields: tuple[str, ...]) -> Table:
    """Return the scores with all digits, a row for each model and slice."""
    rows = tuple(
        {**{key: board.get(key) for key in ("judge", "anchor")}, "slice": part["slice"], **row}
        for board in boards
        for part in ({**board, "slice": ""}, *board.get("slices", []))
        for row in map(_row_fields, part["models"])
    )
    return Table("data", "Scores", (MODEL,), rows, fields)


def _anchored_report(board: Board, above: tuple[Sentence, ...], data: Table) -> Report:
    """Return the report of one judge and anchor, which stands among the models."""
    title = sentence(
        "Against {anchor}, judged by {judge}",
        anchor=ModelName(board["anchor"]),
        judge=ModelName(board["judge"]),
    )
    columns = [
        Column("shown", "win", "hundredths"),
        Column("interval", "95 % interval", "percent_interval", ("low", "high"), spare=5),
        Column("rating", "rating", "rating", spare=4),
        Column("n", "n", "count", spare=1),
        Column("verdicts", ">> > = < <<", "degrees", _DEGREES, spare=3),
    ]
    models = _models_table(board, "anchor", "Games against the anchor", columns)
    # Among the models, behind all that win half of the games or more.
    place = sum((row["shown"] or 0.0) >= 50.0 for row in models.rows)
    anchor: dict[str, Any] = {
        "model": f"{board['anchor']} (anchor)",
        # The anchor wins half of the games against itself, and is the zero of the ratings.
        "shown": 50.0,
        "rating": 1000.0,
    }
    anchor |= board["anchor_ranks"]
    rows = (*models.rows[:place], anchor, *models.rows[place:])
    models = Table(models.name, models.caption, models.columns, rows)
    seats = board["seats"]
    decided = seats["first"] + seats["second"]
    tally = counts_table(
        _lead_of(board),
        items=board["items"],
        videos=board["videos"],
        decided=decided,
        split=seats["split"],
        questions=seats["questions"],
    )
    first = seats["first"] / decided if decided else None
    position = tally_table({"first": first}, "position", first="share")
    terms = FittedTerms.from_json(board["terms"]) if "terms" in board else None
    worth = None if terms is None else terms_table(terms)
    headline = headline_of(_lead_of(board), tally, nobody="No question was decided.")
    sentences = (
        sentence(
            "Win rate against the anchor by Bradley-Terry; much better (>>) or much worse (<<) "
            f"counts as {{weight}} games. {_SIZE}",
            tally.quotes(),
            weight=Verbatim(f"{board['weight']:g}"),
        ),
        *_shared_notes(
            board,
            ", of the mean share won per question, as in arena bench compare, and not of these win "
            "rates",
        ),
        *([] if terms is None or worth is None else terms_sentences(terms, worth)),
        *_seat_sentences(tally, position),
        *_odd_sentences(models, tally),
        *_flagged(board),
        headline,
    )
    slices = _slices_table(board, "anchor", "Games against the anchor by")
    tables = (models, *slices, tally, position, *([] if worth is None else [worth]))
    return Report(tables, sentences, headline, above=(*above, title), data=data)


def _seat_sentences(tally: Table, position: Table) -> Iterator[Sentence]:
    if position.rows[0]["first"] is not None:
        yield sentence(
            "Position bias: the answer read first won {first} of {decided:decided judging}; on "
            "{split} of {questions:question} the two orders preferred different answers.",
            tally.quotes() | position.quotes(),
        )


def _odd_sentences(models: Table, tally: Table) -> Iterator[Sentence]:
    for k, row in enumerate(models.rows):
        name = ModelName(row["model"])
        quotes = tally.quotes() | models.quotes(k)
        if row.get("missing"):
            yield sentence(_MISSING, quotes, name=name)
        if row.get("void"):
            yield sentence(
                "{name}: {void:question} void, which are not counted.", quotes, name=name
            )
        if ONE_SIDED in row.get("flags", ()):
            said = (
                "Points between {name} and others went only one way; a prior of half a game "
                "limits its score."
            )
            yield sentence(said, name=name)
