"""Sets of dialogues: `dialogues review`."""

from __future__ import annotations

from pathlib import Path

import click

from videoautoarena.runs.cli import options
from videoautoarena.runs.text.terminal import safe, say


@click.group(
    "dialogues",
    cls=options.ListingGroup,
    epilog="Example: arena dialogues review my-set --to review.csv",
)
def dialogues_command() -> None:
    """Review test sets of dialogues by hand."""


@dialogues_command.command(
    "review",
    epilog="""\b
Examples:
  arena dialogues review my-set --to review.csv
  arena dialogues review my-set --from review.csv --reviewer first --to reviewed
  arena dialogues review my-set --drop-easy 0.9 --to harder""",
)
@options.BENCH
@click.option("--to", type=options.PATH, help="CSV file to write; with --from or --drop-easy the "
              "folder to create.  [default: BENCH-review.csv beside BENCH]")  # fmt: skip
@click.option("--from", "sheet", type=options.PATH, metavar="FILE",
              help="Reviewed CSV file to make a new set from.")  # fmt: skip
@click.option("--reviewer", metavar="NAME", help="Who reviewed the file, for the new set.")
@click.option("--drop-easy", "easy", type=click.FloatRange(0, 1), metavar="SCORE",
              help="Also stop scoring rounds on which every model with results reaches SCORE, "
              "0 to 1.")  # fmt: skip
@options.OVERWRITE
@options.AS_JSON
def review_command(
    bench: Path,
    to: Path | None,
    *,
    sheet: Path | None,
    reviewer: str | None,
    easy: float | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a dialogue set as CSV for people to review, or make a new set of what they kept.

    In the file, write keep or drop as decision, or corrections. With --from it becomes a new set:
    dropped rounds are no longer scored and stay as history, and each changed round says what it
    was before.
    """
    _check(sheet=sheet, easy=easy, reviewer=reviewer, to=to, force=force)
    if to is None or (sheet is None and easy is None):
        from videoautoarena.runs.dialogues.review_sheet import write_sheet

        sheeted = write_sheet(bench, to, force=force)
        options.print_report(sheeted.as_json(), sheeted.as_lines(), as_json=as_json)
        return
    from videoautoarena.runs.dialogues.review import Wish, review

    made = review(Wish(bench, to, sheet, reviewer, easy))
    options.print_report(made.as_json(), made.as_lines(), as_json=as_json)
    say(f"to check it: arena bench verify {safe(str(to))}")


def _check(
    *, sheet: Path | None, easy: float | None, reviewer: str | None, to: Path | None, force: bool
) -> None:
    """Raise WrongArgument for options that do not belong together."""
    from videoautoarena.memory.records.errors import WrongArgument

    if easy is not None and easy != easy:
        raise WrongArgument("--drop-easy must be a number from 0 to 1")
    if reviewer is not None and sheet is None:
        raise WrongArgument("--reviewer needs --from FILE")
    if sheet is not None and reviewer is None:
        raise WrongArgument("--from needs --reviewer NAME, who reviewed the file")
    if (makes_set := sheet is not None or easy is not None) and to is None:
        raise WrongArgument("a new set needs --to FOLDER")
    if force and makes_set:
        raise WrongArgument("--force is for the CSV file; a set needs a new folder")
