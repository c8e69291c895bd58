"""`arena rejudge`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runs.commands.rating_options import results
from runs.commands.simulate import names
from runs.commands.trial_options import EXIT_CODES, asked_for, judging_options, run_trials


@click.command(
    "rejudge",
    epilog="""\b
Examples:
  arena rejudge arena-out --judge openai:gpt-4o --cases 200 --plan
  arena rejudge arena-out --judge strict --config arena.toml --max-usd 5

\b
"""
    + EXIT_CODES,
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--judge",
    callback=names,
    metavar="M[,M2..]",
    required=True,
    help="Who judges again: provider:model, or a name of arena.toml or of the run.",
)
@judging_options("all")
@click.option(
    "--allow-self-judging", is_flag=True, help="Let a contestant judge its own battles again."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(out: Path, *, as_json: bool, plan: bool, quiet: bool, **typed: Any) -> int:
    """Put the answers of the run in OUT before another judge, and tell how far it agrees.

    No battle of the run changes. Each judge is compared with the run by itself.
    """
    import json

    from runs.console import tell
    from runs.rejudge import rejudged
    from runs.rejudge_text import render

    typed["cases"] = typed["cases"] or "all"
    asked = asked_for(("rejudge",), typed)
    held = run_trials(out, asked, plan=plan, quiet=quiet, as_json=as_json)
    if held.is_plan:
        return held.code
    report = rejudged(out, asked.judges)
    if as_json:
        tell(json.dumps(report, indent=2))
    else:
        results().print(render(report))
    return held.code
