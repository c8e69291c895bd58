"""`arena export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from runs.export import What


@click.command("export", epilog="Example: arena export arena-out --to calls.jsonl")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--what",
    type=click.Choice(["calls", "battles", "labels"]),
    default="calls",
    show_default=True,
    help="What to write; battles with those that were superseded, labels as they are imported.",
)
@click.option("--to", type=click.Path(path_type=Path), help="File to write.  [default: stdout]")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def command(out: Path, what: str, to: Path | None, force: bool) -> None:
    """Write the calls of the run in OUT as JSON lines, or its battles or labels."""
    from runs.console import safe, say
    from runs.export import export, lines_of
    from runs.reading import open_run

    kind = cast("What", what)
    if to is None:
        with open_run(out) as run:
            for line in lines_of(run, kind).lines:
                click.echo(line)
        return
    count = export(out, to, what=kind, force=force, tell=_on_terminal)
    say(f"{count:,} {what} written to {safe(str(to))}")


def _on_terminal(number: int, total: int) -> None:
    """Say on one line how far it is, where somebody may be watching."""
    if sys.stderr.isatty():
        click.echo(f"\r{number:,} of {total:,}", err=True, nl=number == total)
