"""Makes what the page of a run says: a table and a finding for each of its sections.

A page draws these; it makes no figure and no sentence of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from videoautoarena.memory.records.records import UnansweredTries
from videoautoarena.memory.store.journal import NO_TRIES
from videoautoarena.runs.analysis.leaderboard.slices import UNLIKE, PairRecords
from videoautoarena.runs.formats.words import Kind
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard, RatingSettings
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN
from videoautoarena.runs.run.battles.rounds import RunRound
from videoautoarena.runs.run.config.preset import left_by_preset
from videoautoarena.runs.run.rundir.account import RunSetup
from videoautoarena.runs.run.rundir.reader import is_as_in_paper
from videoautoarena.runs.run.rundir.spending import Spending
from videoautoarena.runs.views.results.leaderboard import (
    control_sentence,
    leaderboard_report,
    terms_table,
)
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
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
from videoautoarena.runs.views.results.sets import (
    MOST_CURVES,
    facts_table,
    gap_sentence,
    prompts_table,
)
from videoautoarena.runs.views.results.slices import pairs_report

HARDEST = Verbatim("5")
"""The highest grade of a question."""
MOST_ODD = 3
"""Pairs against the ratings that are all named; if there are more, their number is said."""


@dataclass(frozen=True)
class UnplayedCounts:
    """How much of a run was left out."""

    battles: int
    """Battles that have ended, in whatever way."""
    gone: int
    """Battles that ended without a verdict."""
    files: int
    """Files that could not be used."""
    damaged: int
    """Videos or frames that are known to be damaged."""


@dataclass(frozen=True)
class RunRecords:
    """The records that a page of a run is made of."""

    board: RatedLeaderboard
    pairs: PairRecords
    rounds: Sequence[RunRound]
    findings: Sequence[Finding]
    judges: Sequence[str]
    roles: Sequence[Spending]
    contestants: Sequence[Spending]
    seconds: float
    """Seconds that the run has worked."""
    cost_usd: float
    """The known part of the cost."""
    unknown_cost: int
    """Calls whose cost is unknown."""
    left: UnplayedCounts
    styled: RatedLeaderboard | None = None
    """The board with control for style and position."""
    lost: UnansweredTries = NO_TRIES
    """Tries that were possibly paid, which no cost above has."""


def run_page(shown: RunRecords) -> Report:
    """Return the tables and the sentences of a run's page, sentences by the keys of sections."""
    board = leaderboard_report(shown.board)
    rounds = rounds_table(shown.rounds)
    tally = _tally_table(shown)
    keys = ("model", "wins", "ties", "losses", "battles")
    counts: dict[str, Kind] = dict.fromkeys(keys[1:], "count")
    # Counts, since the win rate of a row is a mean over opponents.
    records = ({key: getattr(row, key) for key in keys} for row in shown.board.models)
    standing = spoken_table("standing", records, model="name", **counts)
    models = board.tables[0]
    sentences = [
        *board.sentences,
        *_rating_sentences(shown, models, tally),
        *_playing_sentences(shown, rounds, tally),
        *_standing_sentences(standing, models),
    ]
    rated = [row.model for row in shown.board.models if row.rating is not None]
    rows = tuple(
        {"model": model, "number": one.round + 1, "share": 100.0 * one.points[model].share}
        for model in rated[:MOST_CURVES]
        for one in shown.rounds
        if model in one.points
    )
    columns = (MODEL, Column("number", "round", "count"), Column("share", "points", "percent"))
    tables = [
        *board.tables,
        pairs_report(shown.pairs).tables[0],
        rounds,
        Table("points", "Points taken", columns, rows, look="curves"),
        tally,
        standing,
        spending_table("spending-by-role", "Spending by role", shown.roles, names=["role"]),
        spending_table(
            "spending-by-contestant", "Spending by contestant", shown.contestants, names=["model"]
        ),
    ]
    # Where style cannot be told from the models, the page says so instead of adjusted ratings.
    terms = None if shown.styled is None else shown.styled.settings.terms
    for found in (terms or ())[:1]:
        table = terms_table(found)
        refused = control_sentence(found, table, role="page")
        if refused is not None:
            tables.append(table)
            sentences.append(refused)
    return Report(tuple(tables), tuple(sentences), board.headline, data=board.data_table)


def _tally_table(shown: RunRecords) -> Table:
    """Return what the sentences of a page count, in one row."""
    pairs = shown.pairs.pairs
    settings = shown.board.settings
    roles = shown.roles
    refused = sum(one.gate.refused for one in shown.rounds)
    # NaN is unlike itself: such a check could not be made.
    known = [one for one in shown.findings if one.value == one.value]
    fields = {
        "decided": settings.totals.decided,
        "videos": None if settings.videos is None else sum(settings.videos),
        "rated": sum(row.rating is not None for row in shown.board.models),
        "rounds": len(shown.rounds),
        "refused": refused,
        "tried": refused + sum(one.gate.passed for one in shown.rounds),
        "pairs": len(pairs),
        "odd": sum(UNLIKE in pair.flags for pair in pairs),
        "thin": sum(THIN in pair.flags for pair in pairs),
        "checks": len(known),
        "alarms": sum(one.is_alarm for one in shown.findings),
        "unmade": len(shown.findings) - len(known),
        "calls": sum(row.calls for row in roles),
        "read": sum(row.input_tokens for row in roles),
        "wrote": sum(row.output_tokens for row in roles),
        "seconds": shown.seconds,
        "cost": shown.cost_usd,
        "unknown_cost": shown.unknown_cost,
        "lost": shown.lost.tries,
        "lost_cost": shown.lost.usd if shown.lost.tries else None,
        "ended": shown.left.battles,
        "gone": shown.left.gone,
        "files": shown.left.files,
        "damaged": shown.left.damaged,
    }
    return tally_table(
        fields,
        "tally",
        seconds="duration",
        cost="money",
        lost_cost="money",
        read="tokens",
        wrote="tokens",
    )


def _said(
    key: str, template: str, quotes: Mapping[str, Quote] | None = None, **parts: Any
) -> Sentence:
    """Return a sentence of a page's section."""
    return sentence(template, quotes, key=key, role="page", **parts)


def _rating_sentences(shown: RunRecords, models: Table, tally: Table) -> Iterator[Sentence]:
    """Yield what is behind the headline, how far apart models are, and whether pairs fit in."""
    said = tally.quotes()
    yield _said(
        "behind",
        "{decided:decided battle}[ on {videos:video}], {rated:rated model}, {rounds:round} of "
        "questions[, judged by {judges}].",
        said,
        judges=listed(map(Verbatim, shown.judges)),
    )
    # Who is rated has met another, and groups stand one below the other.
    if rated := [row["model"] for row in models.rows if row["rating"] is not None]:
        known = [k for k, row in enumerate(models.rows) if row["low"] is not None]
        known.sort(key=lambda k: models.rows[k]["high"] - models.rows[k]["low"])
        ends = [known[0], known[-1]] if len(known) > 1 else []
        reach = ((models.quote(k, "interval"), " for ", ModelName(models.rows[k]["model"]))
                 for k in ends)  # fmt: skip
        gap = gap_sentence(models, "rating", range(len(rated)), reach=listed(reach))
        yield replace(gap, key="ladder")
    odd = [pair for pair in shown.pairs.pairs if UNLIKE in pair.flags]
    each = ((ModelName(pair.model), " against ", ModelName(pair.rival)) for pair in odd)
    few = Verbatim(str(SOLID_BATTLES))
    if not shown.pairs.pairs:
        text = "No pair was decided." if said["decided"].value else "No two models have met."
    elif len(odd) > MOST_ODD:
        text = "{odd} of {pairs:pair} contradict the ratings."
    elif odd:
        text = "{each} did not go as the ratings predict."
    else:
        text = (
            "No pair contradicts the ratings[; {thin} of {pairs:pair} met fewer than {few} times]."
        )
    yield _said("pairs", text, said, each=listed(each), few=few)


def rounds_table(rounds: Sequence[RunRound]) -> Table:
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


def _playing_sentences(shown: RunRecords, rounds: Table, tally: Table) -> Iterator[Sentence]:
    """Yield how hard questions became, what the audit found, the cost, and what was left out."""
    said = tally.quotes()
    graded = [k for k, one in enumerate(shown.rounds) if one.difficulty.mean is not None]
    refused = "the gate refused {refused} of {tried} proposals for not being harder."
    if not graded:
        yield _said("rounds", "No question was evolved, so none was graded.")
    elif len(graded) == 1:
        yield _said(
            "rounds",
            f"Questions of round {{first}} are {{grade}} of {{most}} hard on average; {refused}",
            said,
            first=rounds.quote(graded[0], "number"),
            grade=rounds.quote(graded[0], "difficulty"),
            most=HARDEST,
        )
    else:
        first, last = (rounds.quote(k, "difficulty") for k in (graded[0], graded[-1]))
        # As printed, so that nothing rises from 3.1 to 3.1.
        way = "rose" if last.seen > first.seen else "fell" if last.seen < first.seen else "stayed"
        yield _said(
            "rounds",
            "Questions {way} {span} of {most} in difficulty from round {first} to round {last}; "
            f"{refused}",
            said,
            way=way,
            span=("at ", last) if way == "stayed" else ("from ", first, " to ", last),
            most=HARDEST,
            first=rounds.quote(graded[0], "number"),
            last=rounds.quote(graded[-1], "number"),
        )
    unmade = "[; {unmade} {unmade|was|were} not made]."
    if not said["checks"].value:
        text = "No check on the judge could be made yet."
    elif said["alarms"].value:
        text = (
            f"{{alarms}} of {{checks}} checks on the judge {{alarms|raises|raise}} an alarm{unmade}"
        )
    else:
        text = f"None of {{checks}} checks on the judge raises an alarm{unmade}"
    yield _said("audit", text, said)
    text = "No model has been called yet."
    if said["calls"].value:
        text = (
            "{calls:call} read {read} tokens and wrote {wrote} in {seconds}, for {cost}[ known, "
            "and {unknown_cost:call} of unknown cost][; possibly paid, too: "
            "{lost:attempt}][, up to {lost_cost}]."
        )
    yield _said("spending", text, said)
    left = shown.left
    if not left.battles and not left.files:
        text = "No battle has been played yet, so none was left out."
    elif left.gone or left.files or left.damaged:
        text = (
            "{gone} of {ended:battle} ended without a verdict; {files:file} could not be used"
            "[; {damaged} {damaged|video or frame is|videos or frames are} damaged]."
        )
    else:
        every = "the one battle was" if left.battles == 1 else "all {ended} battles were"
        text = f"Nothing was left out: {every} decided and every file was used."
    yield _said("missing", text, said)


def _standing_sentences(standing: Table, models: Table) -> Iterator[Sentence]:
    """Yield where each model stands; its sentence has the key `standing: MODEL`."""
    for k, row in enumerate(models.rows):
        text = "No battle of it was decided."
        if row["rating"] is not None:
            text = (
                "[Rank {rank}, ]{rating} points[ ({interval})]; won {wins}, tied {ties} and lost "
                "{losses} of {battles:battle}."
            )
        yield _said(f"standing: {row['model']}", text, models.quotes(k) | standing.quotes(k))


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


def spending_section(report: Report, each_usd: float | None, in_batches: int) -> Section:
    """Return what a run cost, and how long its answers took.

    `each_usd` is that of a battle; so many calls wait `in_batches` for their replies.
    """
    row = {"cost": each_usd, "waiting": in_batches}
    average = spoken_table("average", [row], cost="money", waiting="count")
    note = sentence(
        "An unknown cost is said to be unknown, never {zero}. [A battle cost {cost} on average, "
        "its video's examining included. ][Batches at a provider still hold {waiting:call}, of "
        "unknown cost until then. ]Tokens of frames are those that the provider counts.",
        average.quotes(),
        role="page",
        zero=Verbatim("$0"),
    )
    tables = tuple(one for one in report.tables if one.name.startswith("spending-") and one.rows)
    said = report.sentence("spending")
    return Section("spending", "Cost and time", said, tables, notes=(note,))


def missing_section(report: Report, status: Row) -> Section:
    """Return what a run left out, and why: battles without a verdict, files not used, damage."""
    # What is under `link` are filters: the page leads to the list of these battles.
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


def made_section(settings: RatingSettings, setup: RunSetup) -> Section:
    """Return how a run was made: by which settings, models and prompts."""
    swap = setup.swap
    seats = "every battle" if swap == "all" else f"{100 * swap:g} % of battles"
    level = f"{100 * settings.level:g} %"
    frames = "not recorded"
    if setup.sampling:
        frames = (
            "at most {frames} a video, {policy}, longer side {size_px} px, {fit}, JPEG {quality}, "
            "{decoder}"
        ).format_map(setup.sampling.model_dump(mode="json"))
    model = settings.model.title()
    facts: tuple[tuple[str, str], ...] = (
        ("Ratings", f"{model}, ties {settings.ties}, {settings.interval}, {level}"),
        ("Frames", frames),
        ("Pairing", f"{setup.pairing}; {seats} judged in both orders"),
        ("Seed", str(setup.seed)),
        ("Version", f"videoautoarena {setup.version or ''}"),
    )
    if setup.preset:
        left = left_by_preset(is_early=not is_as_in_paper(vars(setup)))
        facts += (("Preset", f"{setup.preset}, which leaves: {'; '.join(left)}"),)
    columns = (
        Column("name", "name"),
        Column("model", "served as"),
        Column("max_frames", "frames at most", "count"),
    )
    cast = Table(
        "cast",
        "Cast",
        columns,
        tuple({"name": name, **one.model_dump(mode="json")} for name, one in setup.cast.items()),
    )
    tables = (facts_table(facts), cast, prompts_table(setup.prompts.items()))
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
    # Those under a board: a page has them at its top.
    alarms = [one.to_json() for one in report.sentences if one.role == "alarm"]
    return {**words, "alarms": alarms, "standing": standing, "short": dict(names)}
