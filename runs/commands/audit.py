"""`arena audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from runs.commands.rating_options import results
from runs.commands.trial_options import (
    EXIT_CODES,
    asked_for,
    judge_option,
    judging_options,
    run_trials,
)

if TYPE_CHECKING:
    from memory.evidence import TrialKind

    _ParamType = click.ParamType[Any]
else:
    # Generic since click 8.4 only, and a subscript would end the older ones.
    _ParamType = click.ParamType


KINDS: tuple[TrialKind, ...] = ("repeat", "attack", "constant", "truth")


class Kinds(_ParamType):
    """Kinds of trials in a list with commas."""

    name = "kinds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the kinds, each once, in the order in which they are held."""
        named = {kind.strip() for kind in value.split(",")} if isinstance(value, str) else value
        if strange := sorted(set(named).difference(KINDS)):
            self.fail(
                f"{strange[0]!r} is no kind of trial; there are {', '.join(KINDS)}", param, ctx
            )
        return tuple(kind for kind in KINDS if kind in named)


@click.command(
    "audit",
    epilog="""\b
Examples:
  arena audit arena-out --json | jq '.findings[].sentence'
  arena audit arena-out --trials --plan
  arena audit arena-out --trials attack --judge openai:gpt-4o --cases 200 --max-usd 5

\b
"""
    + EXIT_CODES,
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--trials",
    type=Kinds(),
    is_flag=False,
    flag_value=",".join(KINDS),
    metavar="[KINDS]",
    help="Hold trials first, which calls the judge: repeat (the same case again), attack (answers "
    "that speak to the judge), constant (answers that say nothing), truth (clips whose right "
    "answer is known).  [all four where none is named]",
)
@judge_option
@judging_options("100")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    out: Path,
    *,
    trials: tuple[TrialKind, ...] | None,
    as_json: bool,
    plan: bool,
    quiet: bool,
    **typed: Any,
) -> int:
    """Tell what the run in OUT says of its own judges: seats, length, ties, panel, canaries.

    Without --trials everything comes from what the run holds already, and no model is called.
    Trials decide no battle; what they tell is kept in the run and stands in every later audit.
    """
    if trials is None:
        _refuse_idle(click.get_current_context())
        _show(out, as_json=as_json)
        return 0
    held = run_trials(out, asked_for(trials, typed), plan=plan, quiet=quiet, as_json=as_json)
    if not held.is_plan:
        _show(out, as_json=as_json)
    return held.code


def _refuse_idle(ctx: click.Context) -> None:
    """Refuse options that say how trials are held where none is."""
    for param in ctx.command.params:
        typed = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if typed and param.name not in ("out", "as_json"):
            raise click.UsageError(f"{param.opts[0]} needs --trials", ctx)


def _show(out: Path, *, as_json: bool) -> None:
    import json

    from runs.audit import audit

    report = audit(out)
    if as_json:
        click.echo(json.dumps(report, indent=2))
        return
    from runs.audit_text import render

    results().print(render(report))
