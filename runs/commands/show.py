"""`arena show`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("show", epilog="Example: arena show arena-out 3f2a9c01b7de-p1-r2")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("battle")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, battle: str, as_json: bool) -> None:
    """Show one BATTLE of the run in OUT whole; the beginning of its id is enough."""
    import json
    import shutil

    from runs.show import show
    from runs.show_text import page

    shown = show(out, battle)
    width = shutil.get_terminal_size().columns
    click.echo(json.dumps(shown.as_json(), indent=2) if as_json else page(shown, width))
