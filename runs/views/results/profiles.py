"""Makes the report of what models get wrong: a line for each model, or one model in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from videoautoarena.runs.formats.words import FORMATS
from videoautoarena.runs.rating.finding import ENOUGH
from videoautoarena.runs.rating.profile import LEAST_TESTED, ModelProfile, ModelProfiles, ThemeRow
from videoautoarena.runs.run.rundir.reader import one_line
from videoautoarena.runs.views.results.remarks import listing
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Part,
    Report,
    Sentence,
    Table,
    Verbatim,
    sentence,
    tally_table,
)

_THEME, _QUOTE, _SHORT = 200, 160, 60
"""Characters of a theme, of a quote, and of a theme among others."""
_EXAMPLES = 3
_LEVEL = Verbatim("95 %")


def profiles_report(found: ModelProfiles) -> Report:
    """Return a row for each model: what it gets wrong more or less often than others."""
    columns = (
        MODEL,
        Column("looked_at", "answers", "count"),
        Column("weaknesses", "weaknesses beside others"),
    )
    rows = tuple(
        {"model": one.model, "looked_at": one.looked_at, "weaknesses": _in_a_line(one)}
        for one in found.profiles
    )
    table = Table("profiles", "Failure profiles", columns, rows)
    if not found.answers:
        return Report((table,), (sentence(_NO_ANSWER),))
    tally = tally_table(
        {
            "answers": found.answers,
            "weaknesses": found.weaknesses,
            "themes": len(found.profiles[0].themes) if found.profiles else 0,
        }
    )
    said = sentence(
        "{answers:answer} looked at; {weaknesses} weaknesses in words of the evolver, "
        "{themes:theme} by {by}.",
        tally.quotes(),
        by=_grouped_by(found.grouped_by),
    )
    return Report(
        (table, tally),
        (
            said,
            sentence(
                "More, less: the interval of the difference to all others, clustered by video, "
                "excludes zero at {level} for all themes of a model together (Bonferroni). Not "
                "tested: fewer than {enough} answers looked at, or a theme in fewer than {least}.",
                level=_LEVEL,
                enough=Verbatim(str(ENOUGH)),
                least=Verbatim(str(LEAST_TESTED)),
            ),
            sentence("One model in full: arena leaderboard OUT --profile MODEL."),
        ),
        said,
    )


_NO_ANSWER = "The evolver looked at no answer yet; it does from the second round on."


def _grouped_by(name: str) -> tuple[Part, ...]:
    return ("their words",) if name == "words" else ("embeddings of ", Verbatim(name))


def _in_a_line(profile: ModelProfile) -> str:
    marked = [f"{row.mark}: {_short(row)}" for row in profile.themes if row.mark]
    if not marked and (often := [row for row in profile.themes if row.n][:1]):
        share = FORMATS["share"]
        marked = [
            f"as others; most often: {_short(row)} ({share.said([row.share])})" for row in often
        ]
    return "; ".join(marked) or "-"


def _short(row: ThemeRow) -> str:
    return one_line(row.theme, _SHORT)


def profile_report(profile: ModelProfile) -> Report:
    """Return what a model gets wrong and where it wins."""
    # A theme that it never shows is told only where others surely show it more often.
    shown = [row for row in profile.themes if row.n or row.mark]
    tally = tally_table(
        {
            "answers": profile.looked_at,
            "tested": profile.tested,
            "left": len(profile.themes) - len(shown),
            "others": profile.other.n,
        }
    )
    heading = _heading(profile, tally)
    columns = (
        Column("model", "against", "name"),
        Column("record", "W-T-L", "record", ("wins", "ties", "losses")),
    )
    rows = tuple(
        {"model": one.model, "wins": one.wins, "ties": one.ties, "losses": one.losses}
        for one in profile.opponents
    )
    tables = [
        _theme_table(shown),
        *_lists(profile, shown),
        Table("opponents", "Record against each model", columns, rows),
        tally,
    ]
    return Report(
        tuple(table for table in tables if table.rows),
        tuple(_theme_sentences(profile, tally)) if shown else (),
        heading,
        above=(heading,),
        data=_theme_table(shown),
    )


def _heading(profile: ModelProfile, tally: Table) -> Sentence:
    model = ModelName(profile.model)
    if not profile.looked_at:
        return sentence("{model}: the evolver looked at none of its answers yet.", model=model)
    return sentence(
        "{model}: {answers:answer} looked at. Themes by {by}.",
        tally.quotes(),
        model=model,
        by=_grouped_by(profile.grouped_by),
    )


def _theme_table(rows: Sequence[ThemeRow]) -> Table:
    columns = (
        Column("theme", "weakness"),
        Column("n", "n", "count"),
        Column("share", "", "share"),
        Column("interval", "interval", "share_interval", ("low", "high")),
        Column("others_share", "others", "share"),
        Column(
            "difference",
            "difference",
            "share_gap_with_interval",
            ("difference", "difference_low", "difference_high"),
        ),
        Column("mark", "mark"),
    )
    return Table("profile", "Failure profile", columns, tuple(_theme_fields(row) for row in rows))


def _theme_fields(row: ThemeRow) -> dict[str, Any]:
    gap = row.difference
    return {
        "theme": one_line(row.theme, _THEME),
        **{name: getattr(row, name) for name in ("n", "share", "low", "high", "others_share")},
        "difference": gap.value,
        "difference_low": gap.low,
        "difference_high": gap.high,
        "mark": row.mark or "",
    }


def _theme_sentences(profile: ModelProfile, tally: Table) -> Iterator[Sentence]:
    yield sentence(
        "%: of answers looked at; a battle counts once. Difference: to all others, in points. "
        "Intervals: {level}, clustered by video.",
        level=_LEVEL,
    )
    if not profile.tested:
        yield sentence(
            "Nothing is marked: no theme was tested, which takes {enough} answers on both sides "
            "and {least} that show it.",
            enough=Verbatim(str(ENOUGH)),
            least=Verbatim(str(LEAST_TESTED)),
        )
    else:
        yield sentence(
            "more, less: the interval excludes zero also at the level for all {tested:theme} "
            "tested together (Bonferroni).",
            tally.quotes(),
        )
    if tally.rows[0]["left"]:
        yield sentence("Not found in its answers: {left:theme} of others.", tally.quotes())


def _lists(profile: ModelProfile, rows: Iterable[ThemeRow]) -> Iterator[Table]:
    """Yield faults and battles of the themes that are marked, or of the most frequent ones."""
    showing = [row for row in rows if row.n]
    chosen = [row for row in showing if row.mark == "more"] or showing[:_EXAMPLES]
    for k, row in enumerate(chosen):
        battles = f"battles: {' '.join(row.battles[:_EXAMPLES])}"
        yield _list(f"theme-{k}", _short(row), [*row.quotes, battles])
    yield _list(
        "other",
        f"Other weaknesses, in {FORMATS['count'].cell([profile.other.n])} "
        f"{'answer' if profile.other.n == 1 else 'answers'}",
        profile.other.quotes if profile.other.n else (),
    )
    yield _list("wins", "Telling wins", profile.wins)
    yield _list("losses", "Telling losses", profile.losses)


def _list(name: str, caption: str, items: Sequence[str]) -> Table:
    # Words of a model: one line each, and cut.
    return listing(name, caption, (one_line(item, _QUOTE) for item in items))
