"""`arena doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runs.commands.simulate import names

if TYPE_CHECKING:
    from agents.models import Model
    from runs.doctor import Report


@click.command(
    "doctor",
    epilog="""\b
Examples:
  arena doctor --videos clips --config arena.toml
  arena doctor --live --no-frames""",
)
@click.option("--videos", type=click.Path(path_type=Path), help="Folder of videos to look at, too.")
@click.option("--models", callback=names, metavar="A,B,..", help="Contestants.")
@click.option("--examiner", metavar="M", help="As for simulate.")
@click.option("--judge", callback=names, metavar="M[,M2..]", help="As for simulate.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Models, roles and settings.  [default: ./arena.toml if there]",
)
@click.option("--live", is_flag=True, help="Ask each model small questions with drawn pictures.")
@click.option(
    "--frames/--no-frames",
    default=None,
    help="With --live: ask once more with as many pictures as a run sends.  [default: frames]",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    videos: Path | None,
    models: tuple[str, ...],
    examiner: str | None,
    judge: tuple[str, ...],
    *,
    config: Path | None,
    live: bool,
    frames: bool | None,
    as_json: bool,
) -> None:
    """Tell what is here, what is missing, and what a run would call; exit 1 if none could start.

    Nobody is called without --live. Of keys it tells whether they are set, nothing else.
    """
    import json
    import shutil

    from memory.errors import BadInput
    from runs.config import Flags
    from runs.doctor import examine_house
    from runs.doctor_text import as_lines

    if frames is not None and not live:
        raise click.UsageError(f"--{'' if frames else 'no-'}frames belongs to --live")
    flags = Flags(models=models, examiner=examiner, judge=judge, config=config)
    visit = partial(_visit, is_full=frames is not False) if live else None
    report = examine_house(flags, videos, visit=visit)
    width = shutil.get_terminal_size().columns
    click.echo(json.dumps(report, indent=2) if as_json else "\n".join(as_lines(report, width)))
    if more := report["missing"]:
        others = f" (and {len(more) - 1} more, see above)" if len(more) > 1 else ""
        raise BadInput(f"a run could not start: {more[0]}{others}")


def _visit(models: Sequence[Model], most: Mapping[str, int], *, is_full: bool) -> list[Report]:
    """Say what leaves the machine, ask the models and return what they answered."""
    from runs.commands.endings import run_async
    from runs.console import safe, say
    from runs.doctor_live import ask_models, warnings

    frames = most if is_full else {}
    for line in warnings(models, frames):
        say(safe(line))
    return run_async(ask_models(models, lambda line: say(safe(line)), frames=frames))
