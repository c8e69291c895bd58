"""Pages that people look at: `report`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from videoautoarena.runs.cli import options
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.cli.inspect import on_terminal
from videoautoarena.runs.text.terminal import print_result


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
