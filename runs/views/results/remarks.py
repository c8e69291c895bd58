"""Makes the sentences under tables of several kinds: alarms, notes, and what marks mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from videoautoarena.runs.formats.words import Kind
from videoautoarena.runs.rating.finding import KNOWN, USUAL, Finding, WordPlace, is_by_language
from videoautoarena.runs.rating.method import TOO_FEW, too_few
from videoautoarena.runs.run.rundir.call_facts import is_fact
from videoautoarena.runs.views.results.report import (
    Column,
    Part,
    Quote,
    Sentence,
    Table,
    Verbatim,
    listed,
    sentence,
    spoken_table,
)

Marks = Mapping[str, tuple[str, str]]
"""By flag, the mark of a cell and what it means."""


def marks_of(flags: Collection[str], marks: Marks) -> str:
    """Return the words of a cell with some flags."""
    return ", ".join(word for flag, (word, _) in marks.items() if flag in flags)


def legend_of(flags: Collection[str], marks: Marks) -> Iterator[Sentence]:
    """Yield what the words mean that some cell carries."""
    told = [f"{word}: {meaning}" for flag, (word, meaning) in marks.items() if flag in flags]
    if told:
        yield sentence("{marks}.", key="legend", marks=Verbatim("; ".join(told)))


def listing(name: str, caption: str, lines: Iterable[str | Sentence]) -> Table:
    """Return lines as a list below their caption."""
    rows = tuple({"line": one if isinstance(one, str) else one.text} for one in lines)
    return Table(name, caption, (Column("line", ""),), rows, is_list=True)


def findings_said(found: Sequence[Finding]) -> tuple[Table, list[Sentence]]:
    """Return the figures of findings, a row each, and their sentences, which quote these."""
    rows: list[dict[str, object]] = []
    kinds: dict[str, tuple[Kind, tuple[str, ...]]] = {}
    for one in found:
        for part in one.parts:
            if isinstance(part, WordPlace) and part.kind is not None:
                names = (part.kind, f"{part.kind}_low", f"{part.kind}_high")[: len(part.fields)]
                kinds[part.kind] = (part.kind, names)
                figure = dict(zip(names, part.fields, strict=True))
                rows.append({"finding": one.key, "place": part.name, **figure})
    table = spoken_table("findings", rows, finding="text", place="text", **kinds)
    # Rows stand in the order in which the sentences name them, so each place takes the next one.
    places = iter(range(len(rows)))
    return table, [Sentence(tuple(_parts(one, table, places)), key=one.key) for one in found]


def _parts(one: Finding, table: Table, places: Iterator[int]) -> Iterator[Part]:
    for part in one.parts:
        if isinstance(part, str):
            yield part
        elif part.kind is None:
            yield Verbatim(part.text)
        else:
            yield Quote(table, next(places), table.column(part.kind))
            yield f" {part.noun}{'s' * part.is_plural}" if part.noun else ""


def audit_sentences(found: Iterable[Finding], *, of: str = "") -> Iterator[Sentence]:
    """Yield the sentences of a run's audit under a table; `of` says what its shares are about."""
    every = list(found)
    alarms = [one for one in every if one.is_alarm]
    usual = list(_usual(every))
    _, said = findings_said([*alarms, *usual])
    for one in said[: len(alarms)]:
        yield Sentence(("AUDIT ALARM: ", *one.parts), role="alarm")
    if usual:
        shares = listed((one.parts for one in said[len(alarms) :]), last="; ", between="; ")
        yield Sentence((f"audit: {of}", *shares, ". More: arena audit OUT."), role="more")


def _usual(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the shares that stand under every leaderboard, in few words."""
    given = {one.key: one for one in found}
    known = {key: "{judge} right on known answers" for key in given if key.startswith(KNOWN)}
    for key, what in (USUAL | known).items():
        if (one := given.get(key)) is not None:
            is_known = math.isfinite(one.value)
            words = f"{what} " + ("{figure} of {n} on {videos:video}" if is_known else "unknown")
            yield replace(one, words=words, told={"judge": key.removeprefix(KNOWN)})


def language_sentences(found: Iterable[Finding]) -> Iterator[Sentence]:
    """Yield the sentences above a board by language: what is known of the judge in each."""
    each = [one for one in found if is_by_language(one.key)]
    if not each:
        yield sentence(
            "Nothing is known of the judge by language: that takes verdicts in two languages that "
            "are known, and the order or the answers that they were given on."
        )
        return
    yield sentence(
        "First, the judge in each language ({level} intervals, clustered by video):",
        level=Verbatim("95 %"),
    )
    for one, said in zip(each, findings_said(each)[1], strict=True):
        yield Sentence(("ALARM " if one.is_alarm else "- ", *said.parts))


def notes_of(warnings: Iterable[str], *, told: Collection[str] = ()) -> Iterator[Sentence]:
    """Yield warnings as notes; those with words that are `told` elsewhere are not needed."""
    for warning in warnings:
        is_told = any(words in warning for words in told)
        yield Sentence(
            (Verbatim(warning),), role="note", is_needed=is_needed(warning) and not is_told
        )


def is_needed(warning: str) -> bool:
    """Return whether a table or a figure would mislead without this warning."""
    return is_fact(warning) or any(word in warning for word in _ALWAYS)


# By their words, since warnings are sentences whoever makes them.
_ALWAYS = (
    "rates stand-ins",
    "also competed",
    "an offline judge rated",
    "is not finished",
    "ended the run",
    TOO_FEW,
    too_few("battle"),
    "are on the scale of",
    "is taken for one model",
    "plain maximum likelihood, as in the paper",
)
"""Words of the warnings without which a table would mislead."""
