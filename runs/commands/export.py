"""`arena export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from runs.export import What
    from runs.exports_battles import Form

FORMS = ["arena", "fastchat", "videoautoarena", "inspect"]


@click.command(
    "export",
    epilog="""\b
Examples:
  arena export arena-out --to calls.jsonl
  arena export arena-out --what battles --format inspect --to logs""",
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--what",
    type=click.Choice(["calls", "battles", "labels", "trials"]),
    default="calls",
    show_default=True,
    help="What to write; battles with those that were superseded, labels as they are imported.",
)
@click.option("--format", "form", type=click.Choice(FORMS), default="arena", show_default=True,
              help="Whose battles they are to be; others have decided ones only, but inspect a log "
              "a model with all that count.")  # fmt: skip
@click.option("--to", type=click.Path(path_type=Path),
              help="File to write, of inspect a folder.  [default: stdout]")  # fmt: skip
@click.option("--frames", type=click.IntRange(0, 64), default=0, show_default=True, metavar="N",
              help="Of inspect: so many thumbnails of frames in every sample.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def command(out: Path, what: str, form: str, to: Path | None, frames: int, force: bool) -> None:
    """Write the calls of the run in OUT as JSON lines, or its battles, labels or trials."""
    from runs.console import safe, say
    from runs.export import export, lines_of
    from runs.reading import open_run

    if form != "arena" and what != "battles":
        raise click.UsageError(f"--format {form} is for --what battles")
    if frames and form != "inspect":
        raise click.UsageError("--frames is for --format inspect")
    if form == "inspect":
        _logs(out, to, frames=frames, force=force)
        return
    kind, whose = cast("What", what), cast("Form", form)
    if to is None:
        with open_run(out) as run:
            for line in lines_of(run, kind, whose).lines:
                click.echo(line)
        return
    count = export(out, to, what=kind, force=force, tell=on_terminal, form=whose)
    say(f"{count:,} {what} written to {safe(str(to))}")


def _logs(out: Path, to: Path | None, *, frames: int, force: bool) -> None:
    from runs.console import say
    from runs.inspect_run import export_run

    if to is None:
        raise click.UsageError("--format inspect writes a folder of logs; name it with --to")
    written = export_run(out, to, frames=frames, force=force, tell=on_terminal)
    for line in written.as_lines():
        say(line)


def on_terminal(number: int, total: int) -> None:
    """Say on one line how far it is, where somebody may be watching."""
    if sys.stderr.isatty():
        click.echo(f"\r{number:,} of {total:,}", err=True, nl=number == total)
