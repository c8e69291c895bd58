"""`arena export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from runs.export import What
    from runs.exports_battles import Form


@click.command("export", epilog="Example: arena export arena-out --to calls.jsonl")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--what",
    type=click.Choice(["calls", "battles", "labels"]),
    default="calls",
    show_default=True,
    help="What to write; battles with those that were superseded, labels as they are imported.",
)
@click.option("--format", "form", type=click.Choice(["arena", "fastchat", "videoautoarena"]),
              default="arena", show_default=True,
              help="Whose battles they are to be; of others only decided ones.")  # fmt: skip
@click.option("--to", type=click.Path(path_type=Path), help="File to write.  [default: stdout]")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def command(out: Path, what: str, form: str, to: Path | None, force: bool) -> None:
    """Write the calls of the run in OUT as JSON lines, or its battles or labels."""
    from runs.console import safe, say
    from runs.export import export, lines_of
    from runs.reading import open_run

    if form != "arena" and what != "battles":
        raise click.UsageError(f"--format {form} is for --what battles")
    kind, whose = cast("What", what), cast("Form", form)
    if to is None:
        with open_run(out) as run:
            for line in lines_of(run, kind, whose).lines:
                click.echo(line)
        return
    count = export(out, to, what=kind, force=force, tell=_on_terminal, form=whose)
    say(f"{count:,} {what} written to {safe(str(to))}")


def _on_terminal(number: int, total: int) -> None:
    """Say on one line how far it is, where somebody may be watching."""
    if sys.stderr.isatty():
        click.echo(f"\r{number:,} of {total:,}", err=True, nl=number == total)
