"""Judging the judge: `audit`, `rejudge` and `labels`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from videoautoarena.runs.cli.options import ListingGroup, results
from videoautoarena.runs.cli.simulate import names
from videoautoarena.runs.cli.trial_options import (
    EXIT_CODES,
    asked_for,
    judge_option,
    judging_options,
    run_trials,
)

if TYPE_CHECKING:
    from videoautoarena.runs.audit.label_sample import Part


if TYPE_CHECKING:
    from videoautoarena.memory.store.evidence import TrialKind

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
                f"{strange[0]!r} is not a kind of trial; choose from {', '.join(KINDS)}", param, ctx
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
    help="Run trials first, which call the judge: repeat (the same case again), attack (answers "
    "that address the judge), constant (answers without content), truth (clips with a "
    "known right answer).  [all four if none is named]",
)
@judge_option
@judging_options("100")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def audit_command(
    out: Path,
    *,
    trials: tuple[TrialKind, ...] | None,
    as_json: bool,
    plan: bool,
    quiet: bool,
    **typed: Any,
) -> int:
    """Report on the judges of OUT: position and length bias, ties, panel agreement, canaries.

    Without --trials, the report uses only what the run has stored, and no model is called. Trials
    change no battle. Their results are stored in the run and appear in every later audit.
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

    from videoautoarena.runs.audit.report import audit

    report = audit(out)
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2))
        return
    from videoautoarena.runs.audit.report import render

    results().print(render(report))


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
    help="Judges to use: provider:model, or a name from arena.toml or the run.",
)
@judging_options("all")
@click.option(
    "--allow-self-judging", is_flag=True, help="Allow a contestant to judge its own battles."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def rejudge_command(out: Path, *, as_json: bool, plan: bool, quiet: bool, **typed: Any) -> int:
    """Judge the answers of the run in OUT with another judge and report the agreement.

    No battle of the run changes. Each judge is compared with the run separately.
    """
    import json

    from videoautoarena.runs.audit.rejudge import rejudged, render
    from videoautoarena.runs.text.terminal import print_result

    typed["cases"] = typed["cases"] or "all"
    asked = asked_for(("rejudge",), typed)
    held = run_trials(out, asked, plan=plan, quiet=quiet, as_json=as_json)
    if held.is_plan:
        return held.code
    report = rejudged(out, asked.judges)
    if as_json:
        print_result(json.dumps(report.to_json(), indent=2))
    else:
        results().print(render(report))
    return held.code


@click.group(
    "labels",
    cls=ListingGroup,
    epilog="Example: arena labels sample arena-out --n 200 --to labels.csv",
)
def labels_command() -> None:
    """Collect human labels and compare the judge with them."""


@labels_command.command(
    "import", epilog="Example: arena labels import labels.csv arena-out --labeller anna"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--labeller", help="Labeller of rows that name none.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def import_(file: Path, out: Path, labeller: str | None, as_json: bool) -> None:
    """Import human labels from FILE into the run in OUT, all or none.

    FILE is CSV, TSV, JSON lines or Parquet with the columns battle, labeller and verdict (a, b,
    tie, tie_good or tie_bad), and optionally the four judging standards by name.
    """
    import json

    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.audit.label_import import import_labels
    from videoautoarena.runs.text.terminal import print_result, safe, say

    found = import_labels(out, file, labeller=labeller)
    say(f"to compare the judge with them: arena labels show {safe(str(out))}")
    print_result(json.dumps({"schema": SCHEMA, **found._asdict()}) if as_json else found.as_line())


@labels_command.command(
    "sample", epilog="Example: arena labels sample arena-out --n 200 --to labels.csv"
)
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path),
              help="File to write (.csv, .tsv or .jsonl).")  # fmt: skip
@click.option("--n", "number", type=click.IntRange(1), default=200, show_default=True,
              help="Number of battles to draw.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Random seed.")  # fmt: skip
@click.option("--by", type=click.Choice(["pair", "video", "category", "duration"]),
              help="Stratify the sample: equally many battles of each pair of "
                   "models, video, category or duration.")  # fmt: skip
@click.option(
    "--rest", is_flag=True, help="Draw nothing; write the sampled battles that have no label yet."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def sample(
    out: Path, to: Path, number: int, seed: int, by: str | None, rest: bool, as_json: bool
) -> None:
    """Draw a random sample of battles for people to label; model names are hidden."""
    import json

    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.audit.label_sample import draw_sample, write_rest
    from videoautoarena.runs.text.terminal import print_result, safe, say

    if rest:
        found = write_rest(out, to)
    else:
        found = draw_sample(out, to, number=number, seed=seed, by=cast("Part | None", by))
    say("fill in labeller and verdict (a, b, tie_good, tie_bad or tie)")
    say(f"then: arena labels import {safe(str(to))} {safe(str(out))}")
    print_result(
        json.dumps({"schema": SCHEMA, **found._asdict()}) if as_json else found.as_line(to)
    )


@labels_command.command("show", epilog="Example: arena labels show arena-out")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(out: Path, as_json: bool) -> None:
    """Show the number of labels by labeller, and how far the judge agrees with them."""
    import json

    from videoautoarena.runs.audit.labels_text import render_labels, show_labels
    from videoautoarena.runs.rundir.reader import open_run
    from videoautoarena.runs.text.terminal import out as console

    with open_run(out) as run:
        shown = show_labels(run)
    if as_json:
        click.echo(json.dumps(shown, indent=2))
    else:
        console().print(render_labels(shown))
