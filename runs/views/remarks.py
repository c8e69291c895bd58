"""What is said under tables of several kinds: alarms, notes, and what marks mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from videoautoarena.runs.rating.finding import Finding, alarm_lines, share_lines
from videoautoarena.runs.rating.method import TOO_FEW, too_few
from videoautoarena.runs.rundir.call_facts import is_fact
from videoautoarena.runs.views.report import Sentence, Verbatim, sentence

Marks = Mapping[str, tuple[str, str]]
"""Flag to the mark that a cell carries, and what it means."""


def marks_of(flags: Collection[str], marks: Marks) -> str:
    """Return the marks of a cell with some flags."""
    return "".join(mark for flag, (mark, _) in marks.items() if flag in flags)


def legend_of(flags: Collection[str], marks: Marks) -> Iterator[Sentence]:
    """Yield what the marks mean that some cell carries."""
    told = [f"{mark} {meaning}" for flag, (mark, meaning) in marks.items() if flag in flags]
    if told:
        yield sentence("{marks}.", key="legend", marks=Verbatim("; ".join(told)))


def audit_sentences(found: Iterable[Finding], *, of: str = "") -> Iterator[Sentence]:
    """Yield what a run's audit says under a table; `of` says what its shares are of."""
    every = list(found)
    for line in alarm_lines(every):
        yield Sentence((Verbatim(line),), role="alarm")
    for line in share_lines(every, of=of):
        yield Sentence((Verbatim(line),), role="more")


def notes_of(warnings: Iterable[str], *, told: Collection[str] = ()) -> Iterator[Sentence]:
    """Yield warnings as notes; what holds words that are `told` elsewhere is not needed."""
    for warning in warnings:
        is_told = any(words in warning for words in told)
        yield Sentence(
            (Verbatim(warning),), role="note", is_needed=is_needed(warning) and not is_told
        )


def is_needed(warning: str) -> bool:
    """Return whether a table or a figure would mislead without a warning."""
    return is_fact(warning) or any(word in warning for word in _ALWAYS)


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
)
"""Words of the warnings without which a table would mislead."""
