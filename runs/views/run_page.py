"""What the page of a run says: a table and a finding for each of its sections.

A page draws these; it makes no figure and no sentence of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from videoautoarena.runs.battles.rounds import Round
from videoautoarena.runs.leaderboard.head_to_head import UNLIKE, Pair, Pairs
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.leaderboard import Fragility, Leaderboard
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN
from videoautoarena.runs.rundir.spending import Spending
from videoautoarena.runs.views.leaderboard import control_sentence, leaderboard_report, terms_table
from videoautoarena.runs.views.pairs import pairs_report
from videoautoarena.runs.views.report import (
    Column,
    Difference,
    Model,
    Part,
    Report,
    Sentence,
    Table,
    Verbatim,
    counting,
    listed,
    sentence,
)

HARDEST = Verbatim("5")
"""The highest grade of a question."""
MOST_ODD = 3
"""Pairs that are named where they contradict the ratings; of more their number is said."""


@dataclass(frozen=True)
class LeftOut:
    """What a run left out."""

    battles: int
    """That have ended, in whatever way."""
    gone: int
    """Of those, without a verdict."""
    files: int
    """That could not be used."""
    damaged: int
    """Videos or frames that are known to be damaged."""


@dataclass(frozen=True)
class RunRecords:
    """The records that a page of a run is made of."""

    board: Leaderboard
    pairs: Pairs
    rounds: Sequence[Round]
    findings: Sequence[Finding]
    judges: Sequence[str]
    roles: Sequence[Spending]
    contestants: Sequence[Spending]
    seconds: float
    """That the run has worked."""
    cost_usd: float
    """As far as it is known."""
    unknown_cost: int
    """Calls whose cost is not."""
    left: LeftOut
    styled: Leaderboard | None = None
    """The board with control for style and position."""


def run_page(shown: RunRecords) -> Report:
    """Return the tables and the sentences of a run's page, sentences by the keys of sections."""
    board = leaderboard_report(shown.board)
    pairs = pairs_report(shown.pairs)
    rounds, gate = rounds_table(shown.rounds), _gate_table(shown.rounds)
    tally = _tally_table(shown)
    standing = standing_table(shown.board)
    models = board.tables[0]
    controls = list(_controls(shown.styled))
    sentences = [
        *board.sentences,
        *_behind_sentences(shown, tally),
        _ladder_sentence(models),
        _pairs_sentence(shown.pairs.pairs, tally),
        _rounds_sentence(shown.rounds, rounds, gate),
        _audit_sentence(tally),
        _spending_sentence(tally),
        _left_sentence(shown.left, tally),
        *_standing_sentences(standing, models),
        *(one for _, one in controls),
    ]
    tables = (
        *board.tables,
        pairs.tables[0],
        rounds,
        gate,
        tally,
        standing,
        spending_table("spending-by-role", "Spending by role", shown.roles, names=["role"]),
        spending_table(
            "spending-by-contestant", "Spending by contestant", shown.contestants, names=["model"]
        ),
        *(table for table, _ in controls),
    )
    return Report(tables, tuple(one for one in sentences if one is not None), board.headline)


def _tally_table(shown: RunRecords) -> Table:
    """Return what the sentences of a page count, in one row."""
    pairs, found, roles = shown.pairs.pairs, shown.findings, shown.roles
    known = [one for one in found if one.value == one.value]
    fields = {
        "decided": shown.board.settings.totals.decided,
        "videos": None if shown.board.settings.videos is None else sum(shown.board.settings.videos),
        "rated": sum(row.rating is not None for row in shown.board.models),
        "rounds": len(shown.rounds),
        "removed": None if shown.board.fragility is None else shown.board.fragility.removed,
        "pairs": len(pairs),
        "odd": sum(UNLIKE in pair.flags for pair in pairs),
        "thin": sum(THIN in pair.flags for pair in pairs),
        "checks": len(known),
        "alarms": sum(one.is_alarm for one in found),
        "unmade": len(found) - len(known),
        "calls": sum(row.calls for row in roles),
        "read": sum(row.input_tokens for row in roles),
        "wrote": sum(row.output_tokens for row in roles),
        "seconds": shown.seconds,
        "cost": shown.cost_usd,
        "unknown_cost": shown.unknown_cost,
        "ended": shown.left.battles,
        "gone": shown.left.gone,
        "files": shown.left.files,
    }
    kinds = {"seconds": "duration", "cost": "money", "read": "tokens", "wrote": "tokens"}
    columns = tuple(Column(key, key, kinds.get(key, "count")) for key in fields)  # type: ignore[arg-type]
    return Table("tally", "What a page counts", columns, (fields,), is_spoken=True)


def _controls(styled: Leaderboard | None) -> Iterator[tuple[Table, Sentence]]:
    """Yield why style is not taken out of the ratings, where it cannot be, and what that quotes."""
    terms = None if styled is None else styled.settings.terms
    for found in (terms or ())[:1]:
        table = terms_table(found)
        refused = control_sentence(found, table, role="page")
        if refused is not None:
            yield table, refused


def _behind_sentences(shown: RunRecords, tally: Table) -> Iterator[Sentence]:
    """Say how much stands behind the headline, and how easily it would turn."""
    said = tally.quotes()
    videos: tuple[Part, ...] = ()
    if said["videos"].value is not None:
        videos = (" on ", *counting(said["videos"], "video"))
    judges: tuple[Part, ...] = ()
    if shown.judges:
        judges = (", judged by ", *listed(Verbatim(name) for name in shown.judges))
    yield sentence(
        "{battles}{videos}, {models}, {rounds} of questions{judges}.",
        key="behind",
        role="page",
        battles=counting(said["decided"], "decided battle"),
        videos=videos,
        models=counting(said["rated"], "rated model"),
        rounds=counting(said["rounds"], "round"),
        judges=judges,
    )
    fragility: Fragility | None = shown.board.fragility
    if fragility is not None and fragility.rival is not None:
        were = "was" if fragility.removed == 1 else "were"
        yield sentence(
            "First place would change hands if {battles} {were} left out.",
            key="fragile",
            role="page",
            battles=counting(said["removed"], "battle"),
            were=were,
        )


def _ladder_sentence(models: Table) -> Sentence | None:
    """Say how far apart the first two stand, beside the widest and the narrowest interval."""
    rated = [row for row in models.rows if row["rating"] is not None]
    if not rated:
        return None
    # Who is rated has met another, and groups stand one below the other.
    first, second = rated[:2]
    known = [k for k, row in enumerate(models.rows) if row["low"] is not None]
    widths: tuple[Part, ...] = ()
    if len(known) > 1:
        width = {k: models.rows[k]["high"] - models.rows[k]["low"] for k in known}
        narrow, wide = min(known, key=width.__getitem__), max(known, key=width.__getitem__)
        widths = (
            "; intervals reach ", models.quote(narrow, "interval"),
            " for ", Model(models.rows[narrow]["model"]),
            " and ", models.quote(wide, "interval"),
            " for ", Model(models.rows[wide]["model"]),
        )  # fmt: skip
    return sentence(
        "{first} stands {gap} points above {second}{widths}.",
        key="ladder",
        role="page",
        first=Model(first["model"]),
        gap=Difference(models.quote(0, "rating"), models.quote(1, "rating")),
        second=Model(second["model"]),
        widths=widths,
    )


def _pairs_sentence(pairs: Sequence[Pair], tally: Table) -> Sentence:
    said = tally.quotes()
    if not pairs:
        none = "No two models have met" if not said["decided"].value else "No pair was decided"
        return sentence(f"{none}.", key="pairs", role="page")
    odd = [pair for pair in pairs if UNLIKE in pair.flags]
    every = counting(said["pairs"], "pair")
    if len(odd) > MOST_ODD:
        return sentence(
            "{odd} of {pairs} contradict the ratings.", said, key="pairs", role="page", pairs=every
        )
    if odd:
        each = [(Model(pair.model), " against ", Model(pair.rival)) for pair in odd]
        last = len(each) - 1
        joints = ["" if not k else " and " if k == last else ", " for k in range(len(each))]
        parts = [part for joint, one in zip(joints, each, strict=True) for part in (joint, *one)]
        return sentence(
            "{pairs} did not go as the ratings foretell.", key="pairs", role="page", pairs=parts
        )
    few: tuple[Part, ...] = ()
    if said["thin"].value:
        least = Verbatim(f" met fewer than {SOLID_BATTLES} times")
        few = ("; ", said["thin"], " of ", *every, least)
    return sentence("No pair contradicts the ratings{few}.", key="pairs", role="page", few=few)


def rounds_table(rounds: Sequence[Round]) -> Table:
    """Return the rounds of a run; they are counted from 1, though ids count from 0."""
    return Table(
        name="rounds",
        caption="Rounds of questions",
        columns=(
            Column("number", "round", "count"),
            Column("battles", "battles", "count"),
            Column("origin", "question came", "bar", ("round",)),
            Column("refused", "refused at the gate", "of_total", ("refused", "tried")),
            Column("difficulty", "mean difficulty", "grade"),
            Column("verdicts", "verdicts", "bar", ("round",)),
        ),
        rows=tuple(
            {
                "number": one.round + 1,
                "round": one.round,
                "battles": one.battles,
                "refused": one.gate.refused,
                "tried": one.gate.refused + one.gate.passed,
                "difficulty": one.difficulty.mean,
            }
            for one in rounds
        ),
    )


def _gate_table(rounds: Sequence[Round]) -> Table:
    refused = sum(one.gate.refused for one in rounds)
    tried = refused + sum(one.gate.passed for one in rounds)
    columns = (Column("refused", "refused", "count"), Column("tried", "proposals", "count"))
    row = {"refused": refused, "tried": tried}
    return Table("gate", "Proposals at the gate", columns, (row,), is_spoken=True)


def _rounds_sentence(rounds: Sequence[Round], table: Table, gate: Table) -> Sentence:
    graded = [k for k, one in enumerate(rounds) if one.difficulty.mean is not None]
    if not graded:
        return sentence("No question was evolved, so none was graded.", key="rounds", role="page")
    first, last = (table.quote(k, "difficulty") for k in (graded[0], graded[-1]))
    numbers = {"first": table.quote(graded[0], "number"), "last": table.quote(graded[-1], "number")}
    refusals = sentence(
        "the gate refused {refused} of {tried} proposals for not being harder", gate.quotes()
    ).parts
    if len(graded) == 1:
        return sentence(
            "Questions of round {first} are {grade} of {most} hard on average; {refusals}.",
            numbers,
            key="rounds",
            role="page",
            grade=first,
            most=HARDEST,
            refusals=refusals,
        )
    way = "rose" if last.seen > first.seen else "fell" if last.seen < first.seen else "stayed"
    span: tuple[Part, ...] = ("at ", last) if way == "stayed" else ("from ", first, " to ", last)
    return sentence(
        "Questions {way} {span} of {most} in difficulty from round {first} to round {last}; "
        "{refusals}.",
        numbers,
        key="rounds",
        role="page",
        way=way,
        span=span,
        most=HARDEST,
        refusals=refusals,
    )


def _audit_sentence(tally: Table) -> Sentence:
    said = tally.quotes()
    rest: tuple[Part, ...] = ()
    if unmade := said["unmade"].value:
        rest = ("; ", said["unmade"], " was not made" if unmade == 1 else " were not made")
    if not said["checks"].value:
        text = "No check on the judge could be made yet."
    elif said["alarms"].value:
        raised = "raises an alarm" if said["alarms"].value == 1 else "raise an alarm"
        text = f"{{alarms}} of {{checks}} checks on the judge {raised}{{rest}}."
    else:
        text = "None of {checks} checks on the judge raises an alarm{rest}."
    return sentence(text, said, key="audit", role="page", rest=rest)


def _spending_sentence(tally: Table) -> Sentence:
    said = tally.quotes()
    if not said["calls"].value:
        return sentence("No model has been called yet.", key="spending", role="page")
    unknown: tuple[Part, ...] = ()
    if said["unknown_cost"].value:
        calls = counting(said["unknown_cost"], "call")
        unknown = (" known, and ", *calls, " of unknown cost")
    return sentence(
        "{calls} read {read} tokens and wrote {wrote} in {seconds}, for {cost}{unknown}.",
        said,
        key="spending",
        role="page",
        calls=counting(said["calls"], "call"),
        unknown=unknown,
    )


SPENT = ("calls", "failed", "input_tokens", "output_tokens", "cost_usd", "unknown_cost")


def spending_table(
    name: str, caption: str, rows: Sequence[Spending], *, names: Sequence[str]
) -> Table:
    """Return calls, tokens, waits and cost, a row for each role, contestant, or both."""
    columns = (
        *(Column(one, one, "name" if one == "model" else "text") for one in names),
        Column("calls", "calls" if "role" in names else "answers", "count"),
        Column("failed", "failed", "count"),
        Column("input_tokens", "read", "tokens"),
        Column("output_tokens", "written", "tokens"),
        Column("median_s", "median wait", "wait"),
        Column("p90_s", "90th", "wait"),
        Column("cost_usd", "cost", "money"),
    )
    found = tuple(
        {key: getattr(row, key) for key in (*names, *SPENT)}
        | {f"{key}_s": getattr(row.latency_s, key, None) for key in ("median", "p90")}
        for row in rows
    )
    return Table(name, caption, columns, found, (*names, *SPENT, "median_s", "p90_s"))


def _left_sentence(left: LeftOut, tally: Table) -> Sentence:
    said = tally.quotes()
    if not left.battles and not left.files:
        text = "No battle has been played yet, so none was left out."
    elif left.gone or left.files or left.damaged:
        text = "{gone} of {battles} ended without a verdict; {unused} could not be used."
    else:
        text = "Nothing was left out: {all} decided and every file was used."
    one = left.battles == 1
    every: tuple[Part, ...] = ("the one battle was",)
    return sentence(
        text,
        said,
        key="missing",
        role="page",
        battles=counting(said["ended"], "battle"),
        unused=counting(said["files"], "file"),
        all=every if one else ("all ", said["ended"], " battles were"),
    )


def standing_table(board: Leaderboard) -> Table:
    """Return what each model won, tied and lost, number by number."""
    keys = ("wins", "ties", "losses", "battles")
    columns = (Column("model", "model", "name"), *(Column(key, key, "count") for key in keys))
    rows = tuple(
        {"model": row.model, **{key: getattr(row, key) for key in keys}} for row in board.models
    )
    return Table("standing", "What each model won", columns, rows, is_spoken=True)


def _standing_sentences(standing: Table, models: Table) -> Iterator[Sentence]:
    """Say of each model where it stands; its sentence has the key `standing: MODEL`."""
    for k, row in enumerate(models.rows):
        said = {**standing.quotes(k), **{key: models.quote(k, key) for key in ("rank", "rating")}}
        key = f"standing: {row['model']}"
        if row["rating"] is None:
            yield sentence("No battle of it was decided.", key=key, role="page")
            continue
        rank: tuple[Part, ...] = ("Rank ", said["rank"], ", ") if row["rank"] is not None else ()
        interval: tuple[Part, ...] = ()
        if row["low"] is not None:
            interval = (" (", models.quote(k, "interval"), ")")
        yield sentence(
            "{place}{rating} points{interval}; won {wins}, tied {ties} and lost {losses} of "
            "{battles}.",
            said,
            key=key,
            role="page",
            place=rank,
            interval=interval,
            battles=counting(said["battles"], "battle"),
        )


def page_words(report: Report, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a page's sentences by section as parts, and the short names they go with."""
    sections = ("lead", "behind", "fragile", "ladder", "control", "rounds", "pairs", "audit")
    found = {key: report.sentence(key) for key in (*sections, "spending", "missing")}
    standing = {
        one.key.removeprefix("standing: "): one.to_json()
        for one in report.sentences
        if one.key.startswith("standing: ")
    }
    words = {key: [] if one is None else one.to_json() for key, one in found.items()}
    return {**words, "standing": standing, "short": dict(names)}


def plain_text(said: Sentence, names: Mapping[str, str]) -> str:
    """Return a sentence with the short names of models, without links."""
    parts = (names[p.name] if isinstance(p, Model) else p if isinstance(p, str) else p.text
             for p in said.parts)  # fmt: skip
    return "".join(parts)
