"""`arena status`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("status", epilog="Example: arena status arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--follow", "-f", is_flag=True, help="Stay and show it until it ends, or Ctrl-C.")
@click.option("--plain", is_flag=True, help="With --follow: lines instead of the live console.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, follow: bool, plain: bool, as_json: bool) -> None:
    """Tell how far the run in OUT is, and what to type next."""
    import json

    if follow and as_json:
        raise click.UsageError("--follow shows a run to a person; leave out --json")
    if follow:
        _stay(out, plain=plain)
        return

    from runs.console import tell_lines
    from runs.status import status_of

    status = status_of(out)
    if as_json:
        click.echo(json.dumps(status.as_json(), indent=2))
    else:
        tell_lines(status.as_lines())


def _stay(out: Path, *, plain: bool) -> None:
    from runs.audience import Display, audience
    from runs.commands.endings import run_async
    from runs.console import safe
    from runs.follow import follow

    with audience(Display(plain=plain)) as told:
        end = run_async(follow(out, told))
    click.echo(safe(end), err=True)
