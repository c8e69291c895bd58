"""`bench probe`: what a task set gives away without its videos."""

from __future__ import annotations

from pathlib import Path

import click

from videoautoarena.runs.cli import options


@click.command("probe", epilog="Example: arena bench probe my-tasks")
@options.BENCH
@options.AS_JSON
def bench_probe_command(bench: Path, as_json: bool) -> None:
    """Show what the options of a task set give away without its videos.

    Each probe picks an option by text alone: the longest, the one in a frequent place, the one
    often right elsewhere. What it earns is held against chance, task by task; items that are
    given away are counted, and defects are listed.
    """
    from videoautoarena.runs.bench.format.reader import open_bench
    from videoautoarena.runs.bench.score.shortcuts import probe_bench

    found = probe_bench(open_bench(bench))
    options.print_report(found.to_json(), found.as_lines(), as_json=as_json)
