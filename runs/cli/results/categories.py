"""What kinds of question a run asked: `categories`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import early_end, exit_codes, run_async
from videoautoarena.runs.cli.program.main import EXIT_VOIDS
from videoautoarena.runs.text.terminal import print_result, safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.categories.tagging import TagOrder, TagTally

EXIT_CODES = exit_codes("more than 5 % of the calls failed, or the classifier became unusable")
MOST_FAILED = 0.05
"""Share of calls that may fail before the exit code says so, as of voids in a run."""

_CLASSIFIER = click.option(
    "--classifier",
    metavar="M",
    help="Model that classifies: provider:model, or a name from arena.toml or the run.  "
    "[default: the run's examiner]",
)
_SEED = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the sample."
)


@click.group(
    "categories",
    cls=options.ListingGroup,
    epilog="Example: arena categories tag arena-out --classifier openai:gpt-4o-mini --plan",
)
def categories_command() -> None:
    """Find out what kinds of question a run asked, and rate by them."""


@categories_command.command(
    "tag",
    epilog="""\b
Examples:
  arena categories tag arena-out --classifier openai:gpt-4o-mini --plan
  arena categories tag arena-out --classifier openai:gpt-4o-mini --max-usd 2
  arena leaderboard arena-out --by question-category

\b
"""
    + EXIT_CODES,
)
@options.OUT
@_CLASSIFIER
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="Tag N questions, drawn at random.  [default: all]",
)
@_SEED
@options.config_option(" that declares the classifier")
@options.CONTINUING
@options.flag("--retry-failed", "Tag questions again whose call failed.")
@options.PLAN
@options.NO_PROGRESS
@options.CAPS
@options.AS_JSON
def tag(out: Path, *, as_json: bool, plan: bool, quiet: bool, **typed: Any) -> int:
    """Ask a model of which categories each question of the run in OUT is, in one call each.

    Categories do not exclude one another. Equal questions about one video are tagged once, and 8
    frames go with each. Tags are kept beside the battles, which do not change. A reply that cannot
    be read is unknown, never a no. The same command continues after an interruption.
    """
    order = _order(typed)
    if plan:
        from videoautoarena.runs.categories.tagging import plan_tagging

        planned = run_async(plan_tagging(out, order))
        options.print_report(planned.as_json(), planned.as_lines(), as_json=as_json)
        return 0
    code, tally = _tag(out, order, quiet=quiet)
    lines = [f"{tally.in_words}; {tally.known:,} known before"]
    if code == 0:
        say(f"to rate by them: arena leaderboard {safe(str(out))} --by question-category")
    options.print_report(tally.as_json(), lines, as_json=as_json)
    return code


def _order(typed: dict[str, Any]) -> TagOrder:
    from videoautoarena.runs.categories.tagging import TagOrder

    same = (
        "classifier",
        "sample",
        "seed",
        "config",
        "videos",
        "concurrency",
        "retry_failed",
        "trust",
    )
    return TagOrder(
        **{name: typed[name] for name in same},
        patience_s=options.patience_s(typed),
        caps=options.caps_of(typed),
    )


def _tag(out: Path, order: TagOrder, *, quiet: bool) -> tuple[int, TagTally]:
    """Tag and say how it went; return the exit code and the tally."""
    from videoautoarena.runs.categories.tagging import tag_questions
    from videoautoarena.runs.console.events import Listeners, nobody
    from videoautoarena.runs.console.listeners import progress

    with progress(say, is_quiet=quiet) as on_progress:

        def on_tagged(tally: TagTally) -> None:
            on_progress(tally.tagged, tally.asked - tally.known, tally.in_words)

        tally = run_async(
            tag_questions(out, order, listeners=Listeners(say, nobody), on_tagged=on_tagged)
        )
    return code_of(tally), tally


def code_of(tally: TagTally) -> int:
    """Say what failed and why it ended early, if it did; return the exit code."""
    for reason, count in tally.failures.most_common(3):
        say(safe(f"failed, {count}: {reason[:300]}"))
    left = tally.asked - tally.known - tally.tagged
    code = early_end(tally, f"{tally.in_words}, {left:,} left")
    if code is not None:
        return code
    if tally.failed > MOST_FAILED * max(1, tally.tagged):
        say("to repeat what failed: add --retry-failed")
        return EXIT_VOIDS
    return 0


@categories_command.command(
    "show", epilog="Example: arena categories show arena-out --json | jq '.counts'"
)
@options.OUT
@click.option("--classifier", metavar="M", help="Whose tags.  [default: who tagged the most]")
@options.AS_JSON
def show(out: Path, classifier: str | None, as_json: bool) -> None:
    """Show how many questions are of each category, which occur together, and who leads in each.

    For each category: its share of questions, its battles, how many of them both answers lost
    (both bad), each model's place, and how many places it moves when style is held equal.
    """
    from videoautoarena.runs.categories.figures import report_of
    from videoautoarena.runs.rundir.reader import open_run
    from videoautoarena.runs.views.categories import categories_report

    with open_run(out) as run:
        report = report_of(run, classifier)
    if as_json:
        print_result(json.dumps(report.to_json(), indent=2))
        return
    options.print_view(categories_report(report))


@categories_command.command(
    "check",
    epilog="""\b
Examples:
  arena categories check arena-out --against openai:gpt-4o --sample 200 --plan
  arena categories check arena-out --to sheet.csv --sample 100
  arena categories check arena-out --against sheet.csv

\b
"""
    + EXIT_CODES,
)
@options.OUT
@click.option(
    "--against",
    metavar="M|FILE",
    help="A stronger model, which tags the sample too, or a filled-in sheet (.csv, .tsv, .jsonl "
    "or .parquet).",
)
@click.option("--to", type=options.PATH, help="Sheet to write for people to fill in (.csv).")
@options.figure("--sample", 200, "Number of questions, drawn at random.")
@_SEED
@options.config_option(" that declares the model")
@options.CONTINUING
@options.flag("--retry-failed", "Tag questions again whose call failed.")
@options.OVERWRITE
@options.PLAN
@options.NO_PROGRESS
@options.CAPS
@options.AS_JSON
def check(
    out: Path, *, against: str | None, to: Path | None, as_json: bool, quiet: bool, **typed: Any
) -> int:
    """Compare the tags of the run in OUT with a stronger model or with people, on a sample.

    Reports precision and recall of each category, with intervals. With --to, write a sheet of
    random questions for people to fill in with yes and no, and compare with --against later.
    """
    if (against is None) == (to is None):
        raise click.UsageError("give either --against or --to")
    if typed["sample"] < 1:
        raise click.UsageError("--sample is a number from 1")
    if to is not None:
        return _write(out, to, typed, as_json=as_json)
    assert against is not None
    if against.lower().endswith((".csv", ".tsv", ".jsonl", ".parquet")):
        return _compare(out, against, is_file=True, as_json=as_json)
    order = _order({**typed, "classifier": against})
    if typed["plan"]:
        from videoautoarena.runs.categories.tagging import plan_tagging

        planned = run_async(plan_tagging(out, order))
        options.print_report(planned.as_json(), planned.as_lines(), as_json=as_json)
        return 0
    code, _ = _tag(out, order, quiet=quiet)
    return code or _compare(out, against, is_file=False, as_json=as_json)


def _write(out: Path, to: Path, typed: dict[str, Any], *, as_json: bool) -> int:
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.categories.check import write_sheet
    from videoautoarena.runs.rundir.reader import counted, open_run

    if to.suffix.lower() != ".csv":
        raise click.UsageError(f"--to {str(to)!a} is no .csv file")
    with open_run(out) as run:
        written = write_sheet(
            run, to, sample=typed["sample"], seed=typed["seed"], force=typed["force"]
        )
    say("fill in yes or no by category, and leave blank what you cannot tell")
    say(f"then: arena categories check {safe(str(out))} --against {safe(str(to))}")
    line = f"{counted(written, 'question')} written to {safe(str(to))}"
    options.print_report({"schema": SCHEMA, "written": written}, [line], as_json=as_json)
    return 0


def _compare(out: Path, against: str, *, is_file: bool, as_json: bool) -> int:
    from videoautoarena.runs.categories.check import check_against, read_labels
    from videoautoarena.runs.categories.tags import tags_of
    from videoautoarena.runs.rundir.reader import open_run
    from videoautoarena.runs.views.categories import check_report

    with open_run(out) as run:
        if is_file:
            truth = read_labels(Path(against))
        else:
            truth = {id_: tag.categories for id_, tag in tags_of(run, against).items()}
        checked = check_against(run, against, truth)
    if as_json:
        print_result(json.dumps(checked.to_json(), indent=2))
    else:
        options.print_view(check_report(checked))
    return 0
