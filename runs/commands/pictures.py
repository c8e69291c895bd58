"""`arena pictures`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runs.pictures.paper import Form

NAMES = ("ladder", "wins", "battles", "duration", "style", "judge")
_FORMS = {"svg": ("svg",), "png": ("png",), "pdf": ("pdf",), "both": ("svg", "png")}


@click.command("pictures", epilog="Example: arena pictures arena-out --to pictures --only ladder")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="Folder to write into.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMS)),
    default="svg",
    show_default=True,
    help="What kind of file; both: svg and png.",
)
@click.option("--only", metavar="NAMES", help=f"Some of {', '.join(NAMES)}; separated by commas.")
@click.option("--force", is_flag=True, help="Replace pictures that are there.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, to: Path, form: str, only: str | None, force: bool, as_json: bool) -> None:
    """Draw the run in OUT for a paper: ratings, pairs, lengths of video, style and the judge."""
    import json

    chosen = _chosen(only)
    from runs.console import tell_lines
    from runs.pictures.album import draw_run

    forms = cast("Sequence[Form]", _FORMS[form])
    album = draw_run(out, to, forms=forms, only=chosen, force=force)
    if as_json:
        click.echo(json.dumps(album.as_json(), indent=2))
    else:
        tell_lines(album.as_lines())


def _chosen(only: str | None) -> list[str]:
    names = [name.strip() for name in (only or "").split(",") if name.strip()]
    for name in names:
        if name not in NAMES:
            raise click.UsageError(
                f"--only: there is no picture {name}; there are {', '.join(NAMES)}"
            )
    return names
