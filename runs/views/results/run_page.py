"""What the page of a run says: a table and a finding for each of its sections.

A page draws these; it makes no figure and no sentence of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from videoautoarena.runs.analysis.leaderboard.head_to_head import UNLIKE, Pair, Pairs
from videoautoarena.runs.formats.words import Kind
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.leaderboard import Leaderboard
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN
from videoautoarena.runs.run.battles.rounds import Round
from videoautoarena.runs.run.config.preset import left_by_preset
from videoautoarena.runs.run.rundir.account import Spending
from videoautoarena.runs.run.rundir.reader import is_as_in_paper
from videoautoarena.runs.views.results.leaderboard import (
    control_sentence,
    leaderboard_report,
    terms_table,
)
from videoautoarena.runs.views.results.pairs import pairs_report
from videoautoarena.runs.views.results.report import (
    Column,
    Difference,
    Model,
    Part,
    Quote,
    Report,
    Row,
    Section,
    Sentence,
    Table,
    Verbatim,
    listed,
    remark,
    sentence,
    spoken_table,
    tally_table,
)
from videoautoarena.runs.views.results.sets import MODEL, MOST_CURVES, facts_table, prompts_table

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
    rounds = rounds_table(shown.rounds)
    tally = _tally_table(shown)
    standing = standing_table(shown.board)
    models = board.tables[0]
    controls = list(_controls(shown.styled))
    sentences = [
        *board.sentences,
        _said(
            "behind",
            "{decided:decided battle}[ on {videos:video}], {rated:rated model}, {rounds:round} of "
            "questions[, judged by {judges}].",
            tally.quotes(),
            judges=listed(map(Verbatim, shown.judges)),
        ),
        _ladder_sentence(models),
        _pairs_sentence(shown.pairs.pairs, tally),
        _rounds_sentence(shown.rounds, rounds, tally),
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
        _points_table(shown),
        tally,
        standing,
        spending_table("spending-by-role", "Spending by role", shown.roles, names=["role"]),
        spending_table(
            "spending-by-contestant", "Spending by contestant", shown.contestants, names=["model"]
        ),
        *(table for table, _ in controls),
    )
    said = tuple(one for one in sentences if one is not None)
    return Report(tables, said, board.headline, data=board.data_table)


def _tally_table(shown: RunRecords) -> Table:
    """Return what the sentences of a page count, in one row."""
    pairs = shown.pairs.pairs
    found = shown.findings
    roles = shown.roles
    refused = sum(one.gate.refused for one in shown.rounds)
    known = [one for one in found if one.value == one.value]
    fields = {
        "decided": shown.board.settings.totals.decided,
        "videos": None if shown.board.settings.videos is None else sum(shown.board.settings.videos),
        "rated": sum(row.rating is not None for row in shown.board.models),
        "rounds": len(shown.rounds),
        "refused": refused,
        "tried": refused + sum(one.gate.passed for one in shown.rounds),
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
    return tally_table(
        fields, "tally", seconds="duration", cost="money", read="tokens", wrote="tokens"
    )


def _said(
    key: str, template: str, quotes: Mapping[str, Quote] | None = None, **parts: Any
) -> Sentence:
    """Return a sentence of a page's section."""
    return sentence(template, quotes, key=key, role="page", **parts)


def _controls(styled: Leaderboard | None) -> Iterator[tuple[Table, Sentence]]:
    """Yield why style is not taken out of the ratings, where it cannot be, and what that quotes."""
    terms = None if styled is None else styled.settings.terms
    for found in (terms or ())[:1]:
        table = terms_table(found)
        refused = control_sentence(found, table, role="page")
        if refused is not None:
            yield table, refused


def _ladder_sentence(models: Table) -> Sentence | None:
    """Say how far apart the first two stand, beside the widest and the narrowest interval."""
    rated = [row for row in models.rows if row["rating"] is not None]
    if not rated:
        return None
    # Who is rated has met another, and groups stand one below the other.
    first, second = rated[:2]
    known = [k for k, row in enumerate(models.rows) if row["low"] is not None]
    known.sort(key=lambda k: models.rows[k]["high"] - models.rows[k]["low"])
    ends = [known[0], known[-1]] if len(known) > 1 else []
    reach = ((models.quote(k, "interval"), " for ", Model(models.rows[k]["model"])) for k in ends)
    return _said(
        "ladder",
        "{first} stands {gap} points above {second}[; intervals reach {reach}].",
        first=Model(first["model"]),
        gap=Difference(models.quote(0, "rating"), models.quote(1, "rating")),
        second=Model(second["model"]),
        reach=listed(reach),
    )


def _pairs_sentence(pairs: Sequence[Pair], tally: Table) -> Sentence:
    said = tally.quotes()
    if not pairs:
        none = "No two models have met" if not said["decided"].value else "No pair was decided"
        return _said("pairs", f"{none}.")
    odd = [pair for pair in pairs if UNLIKE in pair.flags]
    if len(odd) > MOST_ODD:
        return _said("pairs", "{odd} of {pairs:pair} contradict the ratings.", said)
    if odd:
        each = ((Model(pair.model), " against ", Model(pair.rival)) for pair in odd)
        return _said("pairs", "{each} did not go as the ratings predict.", each=listed(each))
    return _said(
        "pairs",
        "No pair contradicts the ratings[; {thin} of {pairs:pair} met fewer than {few} times].",
        said,
        few=Verbatim(str(SOLID_BATTLES)),
    )


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


def _points_table(shown: RunRecords) -> Table:
    """Return what the first models took of each round's points, a tie being half a point."""
    rated = [row.model for row in shown.board.models if row.rating is not None]
    rows = tuple(
        {"model": model, "number": one.round + 1, "share": 100.0 * one.points[model].share}
        for model in rated[:MOST_CURVES]
        for one in shown.rounds
        if model in one.points
    )
    columns = (MODEL, Column("number", "round", "count"), Column("share", "points", "percent"))
    return Table("points", "Points taken", columns, rows, look="curves")


def _rounds_sentence(rounds: Sequence[Round], table: Table, tally: Table) -> Sentence:
    graded = [k for k, one in enumerate(rounds) if one.difficulty.mean is not None]
    if not graded:
        return _said("rounds", "No question was evolved, so none was graded.")
    first, last = (table.quote(k, "difficulty") for k in (graded[0], graded[-1]))
    quotes = tally.quotes() | {
        "first": table.quote(graded[0], "number"),
        "last": table.quote(graded[-1], "number"),
    }
    refused = "the gate refused {refused} of {tried} proposals for not being harder."
    if len(graded) == 1:
        return _said(
            "rounds",
            f"Questions of round {{first}} are {{grade}} of {{most}} hard on average; {refused}",
            quotes,
            grade=first,
            most=HARDEST,
        )
    way = "rose" if last.seen > first.seen else "fell" if last.seen < first.seen else "stayed"
    span: tuple[Part, ...] = ("at ", last) if way == "stayed" else ("from ", first, " to ", last)
    return _said(
        "rounds",
        "Questions {way} {span} of {most} in difficulty from round {first} to round {last}; "
        f"{refused}",
        quotes,
        way=way,
        span=span,
        most=HARDEST,
    )


def _audit_sentence(tally: Table) -> Sentence:
    said = tally.quotes()
    if not said["checks"].value:
        text = "No check on the judge could be made yet."
    elif said["alarms"].value:
        text = (
            "{alarms} of {checks} checks on the judge {alarms|raises|raise} an alarm[; {unmade} "
            "{unmade|was|were} not made]."
        )
    else:
        text = (
            "None of {checks} checks on the judge raises an alarm[; {unmade} {unmade|was|were} not "
            "made]."
        )
    return _said("audit", text, said)


def _spending_sentence(tally: Table) -> Sentence:
    said = tally.quotes()
    if not said["calls"].value:
        return _said("spending", "No model has been called yet.")
    text = (
        "{calls:call} read {read} tokens and wrote {wrote} in {seconds}, for {cost}[ known, and "
        "{unknown_cost:call} of unknown cost]."
    )
    return _said("spending", text, said)


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
    if not left.battles and not left.files:
        text = "No battle has been played yet, so none was left out."
    elif left.gone or left.files or left.damaged:
        text = "{gone} of {ended:battle} ended without a verdict; {files:file} could not be used."
    else:
        every = "the one battle was" if left.battles == 1 else "all {ended} battles were"
        text = f"Nothing was left out: {every} decided and every file was used."
    return _said("missing", text, tally.quotes())


def standing_table(board: Leaderboard) -> Table:
    """Return what each model won, tied and lost, number by number."""
    keys = ("model", "wins", "ties", "losses", "battles")
    rows = ({key: getattr(row, key) for key in keys} for row in board.models)
    counts: dict[str, Kind] = dict.fromkeys(keys[1:], "count")
    return spoken_table("standing", rows, model="name", **counts)


def _standing_sentences(standing: Table, models: Table) -> Iterator[Sentence]:
    """Say of each model where it stands; its sentence has the key `standing: MODEL`."""
    for k, row in enumerate(models.rows):
        key = f"standing: {row['model']}"
        if row["rating"] is None:
            yield _said(key, "No battle of it was decided.")
        else:
            yield _said(
                key,
                "[Rank {rank}, ]{rating} points[ ({interval})]; won {wins}, tied {ties} and lost "
                "{losses} of {battles:battle}.",
                models.quotes(k) | standing.quotes(k),
            )


def spending_section(report: Report, each_usd: float | None) -> Section:
    """Return what a run cost, and how long its answers took; `each_usd` is that of a battle."""
    average = spoken_table("average", [{"cost": each_usd}], cost="money")
    note = sentence(
        "An unknown cost is said to be unknown, never {zero}. [A battle cost {cost} on average, "
        "its video's examining included. ]Tokens of frames are those that the provider counts.",
        average.quotes(),
        role="page",
        zero=Verbatim("$0"),
    )
    tables = tuple(one for one in report.tables if one.name.startswith("spending-") and one.rows)
    said = report.sentence("spending")
    return Section("spending", "Cost and time", said, tables, notes=(note,))


def missing_section(report: Report, status: Row) -> Section:
    """Return what a run left out, and why: battles without a verdict, files not used, damage."""
    battles: list[Row] = [
        {"what": "Void", "why": reason, "battles": n, "link": {"verdict": "void"}}
        for reason, n in status["void_reasons"].items()
    ]
    battles += [
        {"what": "Forfeit", "model": model, "why": "gave no answer", "battles": n,
         "link": {"verdict": "forfeit"}}
        for model, n in status["forfeits"].items()
    ]  # fmt: skip
    # A file that was set aside is listed once, with the reason it was set aside for.
    files = {one["path"]: one for one in (*status["skipped"], *status["quarantine"])}
    tables = (
        Table(
            "gone",
            "Battles left out",
            (Column("what", "what"), MODEL, Column("why", "why"),
             Column("battles", "battles", "count")),
            tuple(battles),
        ),
        Table(
            "unused",
            "Files left out",
            (Column("path", "file"), Column("reason", "why it was not used")),
            tuple(files.values()),
        ),
    )  # fmt: skip
    return Section(
        "missing",
        "Left out",
        report.sentence("missing"),
        tuple(one for one in tables if one.rows),
        notes=tuple(map(remark, status["damage"])),
    )


def made_section(settings: Row, run: Row, methods: Row) -> Section:
    """Return how a run was made: by which settings, models and prompts."""
    rules = methods["run"]
    sampling = methods["sampling"]
    swap = rules["swap"]
    seats = "every battle" if swap == "all" else f"{100 * swap:g} % of battles"
    level = f"{100 * settings['level']:g} %"
    frames = "not recorded"
    if sampling:
        frames = (
            "at most {frames} a video, {policy}, longer side {size_px} px, {fit}, JPEG {quality}, "
            "{decoder}"
        ).format_map(sampling)
    model = settings["model"].title()
    facts: tuple[tuple[str, str], ...] = (
        ("Ratings", f"{model}, ties {settings['ties']}, {settings['interval']}, {level}"),
        ("Frames", frames),
        ("Pairing", f"{rules['pairing']}; {seats} judged in both orders"),
        ("Seed", str(run["seed"])),
        ("Version", f"videoautoarena {run['version'] or rules['version'] or ''}"),
    )
    if preset := rules.get("preset"):
        left = left_by_preset(is_early=not is_as_in_paper(rules))
        facts += (("Preset", f"{preset}, which leaves: {'; '.join(left)}"),)
    cast = Table(
        "cast",
        "Cast",
        (Column("name", "name"), Column("model", "served as"),
         Column("max_frames", "frames", "count")),
        tuple({"name": name, **one} for name, one in methods["cast"].items()),
    )  # fmt: skip
    tables = (facts_table(facts), cast, prompts_table((methods["prompts"] or {}).items()))
    said = Sentence(("How this was made, and the data behind it.",))
    return Section("methods", "Methods", said, tuple(one for one in tables if one.rows))


def page_words(report: Report, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a page's sentences by section as parts, and the short names they go with."""
    sections = ("lead", "behind", "ladder", "control", "rounds", "pairs", "audit")
    found = {key: report.sentence(key) for key in (*sections, "spending", "missing")}
    standing = {
        one.key.removeprefix("standing: "): one.to_json()
        for one in report.sentences
        if one.key.startswith("standing: ")
    }
    words = {key: [] if one is None else one.to_json() for key, one in found.items()}
    return {**words, "standing": standing, "short": dict(names)}
