"""Pages that people look at: `report`, `view` and `annotate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from videoautoarena.runs.cli import options
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.cli.inspect import on_terminal
from videoautoarena.runs.text.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.web.annotate.session import Begun


@click.command(
    "report",
    epilog="""\b
Examples:
  arena report arena-out
  arena report arena-out --to report.html --thumbs 0""",
)
@options.OUT
@click.option("--to", type=options.PATH, help="File to write.  [default: OUT/report.html]")
@click.option(
    "--thumbs",
    type=click.IntRange(0, 128),
    default=16,
    show_default=True,
    metavar="N",
    help="Least number of frame thumbnails per video; 0 leaves all pictures out.",
)
@options.flag("--split", "Put battles and pictures into a folder beside the file.")
@options.OVERWRITE
@options.AS_JSON
def report_command(
    out: Path, *, to: Path | None, thumbs: int, split: bool, force: bool, as_json: bool
) -> None:
    """Write the run in OUT as one HTML page that anyone can open, offline and without a server."""
    from videoautoarena.runs.rundir.reader import run_file
    from videoautoarena.runs.web.page.report import Order, report_file, write_report

    run_file(out)
    order = Order(out, report_file(out, to, force=force), thumbs, split)
    written = run_async(write_report(order, on_terminal))
    if as_json:
        print_result(json.dumps(written.to_json(), indent=2))
        return
    for line in written.as_lines():
        print_result(line)


@click.command(
    "view",
    epilog="""\b
Examples:
  arena view arena-out --open
  arena view runs --port 8080

The exit code is 0 when Ctrl-C ends it.""",
)
@options.OUT
@options.PORT
@options.OPEN
def view_command(out: Path, *, port: int | None, opens: bool) -> None:
    """Show the run in OUT as a page in a browser, also while it is played.

    Where OUT is a folder of runs, they are listed, up to three folders deep. The page is served on
    this machine alone, and the link opens it once. Nothing is written. Ctrl-C ends it.
    """
    from videoautoarena.runs.web.server.serve import refuse_without_web

    refuse_without_web()
    from videoautoarena.runs.web.view.app import view

    run_async(view(out, port, opens=opens))


@click.command(
    "annotate",
    epilog="""\b
Examples:
  arena annotate arena-out --open
  arena annotate arena-out --n 300 --labeller anna --labeller ben
  arena annotate arena-out --n 0 --against questions.csv

The exit code is 0 when Ctrl-C ends it.""",
)
@options.OUT
@click.option("--n", "number", type=click.IntRange(0), default=200, show_default=True,
              help="Number of battles for each labeller, those of earlier sessions "
                   "included.")  # fmt: skip
@click.option("--labeller", "labellers", multiple=True, metavar="NAME",
              help="Name of a labeller, who gets a link of their own; can be "
                   "repeated.  [default: labeller]")  # fmt: skip
@click.option("--against", type=options.PATH, multiple=True, metavar="FILE",
              help="File of questions to rank with those of the run: CSV, TSV, JSON lines "
                   "or Parquet; can be repeated.")  # fmt: skip
@click.option("--videos", type=options.PATH, help="Folder of the videos, if they have moved.")
@options.PORT
@options.OPEN
def annotate_command(
    out: Path,
    *,
    number: int,
    labellers: tuple[str, ...],
    against: tuple[Path, ...],
    videos: Path | None,
    port: int | None,
    opens: bool,
) -> None:
    """Let people label battles of the run in OUT in a browser, without knowing whose they are.

    The battles are a random sample that is recorded in the run, those of earlier draws first. Each
    vote is in the run before the next battle is shown. The page is served on this machine alone,
    and each link opens it once. Ctrl-C ends it; the same command goes on later.
    """
    from videoautoarena.runs.web.server.serve import refuse_without_web

    refuse_without_web()
    from videoautoarena.runs.web.annotate.session import LABELLER, Asked, annotate
    from videoautoarena.runs.web.server.serve import announce

    asked = Asked(out, number, labellers or (LABELLER,), against, videos, port)

    def begun(session: Begun) -> None:
        for note in session.notes:
            say(note)
        announce(session.links, opens=opens)

    ended = run_async(annotate(asked, begun))
    for line in ended.as_lines():
        say(line)
    say(f"to compare the judge with the labels: arena labels show {safe(str(out))}")
