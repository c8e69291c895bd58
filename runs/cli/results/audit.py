"""Judging the judge: `audit`, `rejudge` and `labels`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import early_end, exit_codes, run_async
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.text.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.memory.store.evidence import TrialKind
    from videoautoarena.runs.audit.label_sample import Part
    from videoautoarena.runs.trials.runner import Asked
    from videoautoarena.runs.trials.trial import Tally

EXIT_CODES = exit_codes("more than 5 % of the judgings failed, or a judge became unusable")
MOST_FAILED = 0.05
"""Share of judgings that may fail before the exit code says so, as of voids in a run."""
ALL = "all"
KINDS: tuple[TrialKind, ...] = ("repeat", "attack", "constant", "truth")


class Cases(options.ParamType):
    """A number of cases from 1, or the word "all"."""

    name = "n|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or "all"."""
        if value == ALL or isinstance(value, int):
            return value
        try:
            count = int(str(value).replace("_", "").replace(",", ""))
        except ValueError:
            count = 0
        if count < 1:
            self.fail(f"{value!r} is neither a number from 1 nor 'all'", param, ctx)
        return count


def judging_options(default_cases: str) -> Callable[[options.Command], options.Command]:
    """Return what adds the options that say how many cases are judged, and at what cost."""
    return options.together(
        click.option(
            "--cases",
            type=Cases(),
            metavar="N|all",
            help="Number of cases of each kind, sampled with the run's seed.  "
            f"[default: {default_cases}]",
        ),
        options.config_option(" that declares the judge"),
        options.CONTINUING,
        options.flag("--retry-failed", "Repeat failed judgings."),
        options.OFFLINE_JUDGE,
        options.BLIND_REFEREE,
        options.PLAN,
        options.NO_PROGRESS,
        options.CAPS,
    )


class Kinds(options.ParamType):
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
@options.OUT
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
@click.option(
    "--judge",
    callback=options.names,
    multiple=True,
    metavar="M[,M2..]",
    help="Judges to examine.  [default: the run's judges]",
)
@judging_options("100")
@options.AS_JSON
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
    asked = asked_for(trials, typed)
    if plan:
        return print_plan(out, asked, as_json=as_json)
    code = run_trials(out, asked, quiet=quiet)
    _show(out, as_json=as_json)
    return code


def _refuse_idle(ctx: click.Context) -> None:
    """Refuse options that say how trials are held where none is."""
    for param in ctx.command.params:
        typed = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if typed and param.name not in ("out", "as_json"):
            raise click.UsageError(f"{param.opts[0]} needs --trials", ctx)


def _show(out: Path, *, as_json: bool) -> None:
    from videoautoarena.runs.audit.report import audit
    from videoautoarena.runs.views.audit import audit_report

    report = audit(out)
    if as_json:
        print_result(json.dumps(report.to_json(), indent=2))
    else:
        options.print_view(audit_report(report))


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
@options.OUT
@click.option(
    "--judge",
    callback=options.names,
    multiple=True,
    metavar="M[,M2..]",
    required=True,
    help="Judges to use: provider:model, or a name from arena.toml or the run.",
)
@judging_options("all")
@options.flag("--allow-self-judging", "Allow a contestant to judge its own battles.")
@options.AS_JSON
def rejudge_command(out: Path, *, as_json: bool, plan: bool, quiet: bool, **typed: Any) -> int:
    """Judge the answers of the run in OUT with another judge and report the agreement.

    No battle of the run changes. Each judge is compared with the run separately.
    """
    from videoautoarena.runs.audit.rejudge import rejudged
    from videoautoarena.runs.views.audit import rejudged_reports

    typed["cases"] = typed["cases"] or ALL
    asked = asked_for(("rejudge",), typed)
    if plan:
        return print_plan(out, asked, as_json=as_json)
    code = run_trials(out, asked, quiet=quiet)
    report = rejudged(out, asked.judges)
    if as_json:
        print_result(json.dumps(report.to_json(), indent=2))
    else:
        options.print_views(rejudged_reports(report))
    return code


def asked_for(kinds: tuple[TrialKind, ...], typed: dict[str, Any]) -> Asked:
    """Return what was typed; where a judge that competes does no harm nobody has to allow it."""
    from videoautoarena.runs.trials.runner import CASES, Asked
    from videoautoarena.runs.trials.trial import Leave

    given = typed["cases"]
    return Asked(
        kinds=kinds,
        judges=typed["judge"],
        cases=None if given == ALL else given or CASES,
        config=typed["config"],
        videos=typed["videos"],
        trust=typed["trust"],
        concurrency=typed["concurrency"],
        patience_s=options.patience_s(typed),
        caps=options.caps_of(typed),
        retry_failed=typed["retry_failed"],
        leave=Leave(
            typed["allow_offline_judge"],
            typed.get("allow_self_judging", True),
            blind=typed["allow_blind_referee"],
        ),
    )


def print_plan(out: Path, asked: Asked, *, as_json: bool) -> int:
    """Print what trials would take; return the exit code."""
    from videoautoarena.runs.trials.runner import plan_trials

    planned = run_async(plan_trials(out, asked))
    options.print_report(planned.as_json(), planned.as_lines(), as_json=as_json)
    return 0


def run_trials(out: Path, asked: Asked, *, quiet: bool) -> int:
    """Hold trials and say how they went; return the exit code."""
    from videoautoarena.runs.console.events import Listeners, nobody
    from videoautoarena.runs.trials.runner import hold_trials, showing

    with showing(say, is_quiet=quiet) as on_held:
        tally = run_async(
            hold_trials(out, asked, listeners=Listeners(say, nobody), on_held=on_held)
        )
    return _ending(tally)


def _ending(tally: Tally) -> int:
    """Say how trials went and what to type next; return the exit code."""
    from videoautoarena.runs.trials.runner import in_words

    for reason, count in tally.failures.most_common(3):
        say(safe(f"failed, {count}: {reason[:300]}"))
    code = early_end(tally, f"{in_words(tally)}, {tally.asked - tally.known - tally.held} left")
    if code is not None:
        return code
    if tally.failed > MOST_FAILED * max(1, tally.held):
        say("to repeat what failed: add --retry-failed")
        return EXIT_VOIDS
    return 0


@click.group(
    "labels",
    cls=options.ListingGroup,
    epilog="Example: arena labels sample arena-out --n 200 --to labels.csv",
)
def labels_command() -> None:
    """Collect human labels and compare the judge with them."""


@labels_command.command(
    "import", epilog="Example: arena labels import labels.csv arena-out --labeller anna"
)
@click.argument("file", type=options.PATH)
@options.OUT
@click.option("--labeller", help="Labeller of rows that name none.")
@options.AS_JSON
def import_(file: Path, out: Path, labeller: str | None, as_json: bool) -> None:
    """Import human labels from FILE into the run in OUT, all or none.

    FILE is CSV, TSV, JSON lines or Parquet with the columns battle, labeller and verdict (a, b,
    tie, tie_good or tie_bad), and optionally the four judging standards by name.
    """
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.audit.label_import import import_labels

    found = import_labels(out, file, labeller=labeller)
    say(f"to compare the judge with them: arena labels show {safe(str(out))}")
    print_result(json.dumps({"schema": SCHEMA, **found._asdict()}) if as_json else found.as_line())


@labels_command.command(
    "sample", epilog="Example: arena labels sample arena-out --n 200 --to labels.csv"
)
@options.OUT
@click.option(
    "--to", required=True, type=options.PATH, help="File to write (.csv, .tsv or .jsonl)."
)
@click.option("--n", "number", type=click.IntRange(1), default=200, show_default=True,
              help="Number of battles to draw.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option("--by", type=click.Choice(["pair", "video", "category", "duration"]),
              help="Stratify the sample: equally many battles of each pair of "
                   "models, video, category or duration.")  # fmt: skip
@options.flag("--rest", "Draw nothing; write the sampled battles that have no label yet.")
@options.AS_JSON
def sample(
    out: Path, to: Path, number: int, seed: int, by: str | None, rest: bool, as_json: bool
) -> None:
    """Draw a random sample of battles for people to label; model names are hidden."""
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.audit.label_sample import draw_sample, write_rest

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
@options.OUT
@options.AS_JSON
def show(out: Path, as_json: bool) -> None:
    """Show the number of labels by labeller, and how far the judge agrees with them."""
    from videoautoarena.runs.audit.label_report import show_labels
    from videoautoarena.runs.rundir.reader import open_run
    from videoautoarena.runs.views.labels import labels_report

    with open_run(out) as run:
        shown = show_labels(run)
    if as_json:
        print_result(json.dumps(shown.to_json(), indent=2))
    else:
        options.print_view(labels_report(shown))
