"""The numbers of sentences, and those that the tables of their report show."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import permutations

from videoautoarena.runs.views.results.report import Report, Sentence, Verbatim

SETTINGS = {"10", "100", "95"}
"""Videos to rank by, battles that are many, the level."""


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are written."""
    return re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)


def may_be_said(report: Report) -> set[str]:
    """Return the numbers that the tables show, and how far two ratings lie apart."""
    found = set(SETTINGS)
    for table in report.to_json()["tables"].values():
        for column in table["columns"]:
            cells = [row["cells"][column["key"]] for row in table["rows"]]
            found.update(number for cell in cells for number in numbers(cell))
            if column["kind"] == "rating":
                whole = [int(cell) for cell in cells if re.fullmatch(r"-?\d+", cell)]
                found.update(str(abs(x - y)) for x, y in permutations(whole, 2))
    return found


def misquoting(report: Report, *, also: Collection[str] = ()) -> list[str]:
    """Return the sentences with a number that no table shows, nor is `also` allowed.

    Names and settings are no such numbers.
    """
    known = may_be_said(report) | set(also)
    every = (*report.above, *report.sentences)
    return [said.text for said in every if not known.issuperset(numbers(without_names(said)))]


def without_names(said: Sentence) -> str:
    """Return a sentence without what is no result."""
    return "".join(
        part if isinstance(part, str) else part.text
        for part in said.parts
        if not isinstance(part, Verbatim)
    )
