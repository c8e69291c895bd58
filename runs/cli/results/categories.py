"""What a run asked: `categories` and `topics` of its questions, and their `realism`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.formats.terminal import safe, say

if TYPE_CHECKING:
    from videoautoarena.runs.analysis.categories.check import CategoryCheck
    from videoautoarena.runs.analysis.categories.tagging import TagTally
    from videoautoarena.runs.analysis.realism.report import RealismReport

EXIT_CODES = ending.exit_codes(
    "more than 5 % of the calls failed, or the classifier became unusable"
)
_CLASSIFIER = "Model that classifies: provider:model, or a name from arena.toml or the run.  "
_SEED = options.seed("Seed of the sample.")


@options.group("arena categories tag arena-out --classifier openai:gpt-4o-mini --plan")
def categories_command() -> None:
    """Find out what kinds of question a run asked, and rate by them."""


@categories_command.member(
    "arena categories tag arena-out --classifier openai:gpt-4o-mini --plan",
    "arena categories tag arena-out --classifier openai:gpt-4o-mini --max-usd 2",
    "arena leaderboard arena-out --by question-category",
    codes=EXIT_CODES,
)
@options.OUT
@options.string("--classifier M", f"{_CLASSIFIER}[default: the run's examiner]")
@options.whole("--sample N", "Tag N questions, drawn at random.  [default: all]", least=1)
@_SEED
@options.config_option(" that declares the classifier")
@options.MOVED
@options.TRUST
@options.paid("Tag questions again whose call failed.")
@options.AS_JSON
def tag_command(out: Path, *, plan: bool, **typed: Any) -> int:
    """Ask a model of which categories each question of the run in OUT is, in one call each.

    Categories do not exclude one another. Equal questions about one video are tagged once, and 8
    frames go with each. Tags are kept beside the battles, which do not change. A reply that cannot
    be read is unknown, never a no. The same command continues after an interruption.
    """
    from videoautoarena.runs.api.analyses import tag

    def show(found: TagTally) -> None:
        lines = [f"{found.in_words}; {found.known:,} known before"]
        options.print_report(found.as_json(), lines)

    code = ending.finished(tag.job(out, **typed), show, plan=plan)
    if code == 0 and not plan:
        say(f"to rate by them: arena leaderboard {safe(str(out))} --by question-category")
    return code


@categories_command.member("arena categories show arena-out --json | jq '.counts'")
@options.OUT
@options.string("--classifier M", "Whose tags.  [default: who tagged the most]")
@options.AS_JSON
def show(out: Path, classifier: str | None) -> None:
    """Show how many questions are of each category, which occur together, and who leads in each.

    For each category: its share of questions, its battles, how many of them both answers lost
    (both bad), each model's place, and how many places it moves when style is held equal.
    """
    from videoautoarena.runs.analysis.categories.figures import report_of
    from videoautoarena.runs.run.rundir.reader import open_run
    from videoautoarena.runs.views.results.categories import categories_report

    with open_run(out) as run:
        report = report_of(run, classifier)
    options.print_viewed(report.to_json(), lambda: categories_report(report))


@categories_command.member(
    "arena categories check arena-out --against openai:gpt-4o --sample 200 --plan",
    "arena categories check arena-out --to sheet.csv --sample 100",
    "arena categories check arena-out --against sheet.csv",
    codes=EXIT_CODES,
)
@options.OUT
@options.string(
    "--against M|FILE",
    "A stronger model, which tags the sample too, or a filled-in sheet (.csv, .tsv, .jsonl "
    "or .parquet).",
)
@options.path("--to", "Sheet to write for people to fill in (.csv).")
@options.figure("--sample", 200, "Number of questions, drawn at random.")
@_SEED
@options.config_option(" that declares the model")
@options.MOVED
@options.TRUST
@options.paid("Tag questions again whose call failed.", options.OVERWRITE)
@options.AS_JSON
def check(
    out: Path,
    *,
    against: str | None,
    to: Path | None,
    plan: bool,
    force: bool,
    **typed: Any,
) -> int:
    """Compare the tags of the run in OUT with a stronger model or with people, on a sample.

    Reports precision and recall of each category, with intervals. With --to, write a sheet of
    random questions for people to fill in with yes and no, and compare with --against later.
    """
    from videoautoarena.runs.api.analyses import check_tags
    from videoautoarena.runs.views.results.categories import check_report

    if typed["sample"] < 1:
        raise click.UsageError("--sample is a number from 1")
    if to is not None and against is None:
        _write(out, to, typed["sample"], typed["seed"], force=force)
        return 0
    if against is None or to is not None:
        raise click.UsageError("give either --against or --to")

    def show(found: CategoryCheck) -> None:
        options.print_viewed(found.to_json(), lambda: check_report(found))

    return ending.finished(check_tags.job(out, against, **typed), show, plan=plan)


def _write(out: Path, to: Path, size: int, seed: int, *, force: bool) -> None:
    from videoautoarena.memory.records.records import SCHEMA
    from videoautoarena.runs.analysis.categories.check import write_sheet
    from videoautoarena.runs.run.rundir.reader import counted, open_run

    if to.suffix.lower() != ".csv":
        raise click.UsageError(f"--to {str(to)!a} is no .csv file")
    with open_run(out) as run:
        written = write_sheet(run, to, sample=size, seed=seed, force=force)
    say("fill in yes or no by category, and leave blank what you cannot tell")
    say(f"then: arena categories check {safe(str(out))} --against {safe(str(to))}")
    line = f"{counted(written, 'question')} written to {safe(str(to))}"
    options.print_report({"schema": SCHEMA, "written": written}, [line])


@options.command(
    "arena topics arena-out",
    "arena leaderboard arena-out --by topic",
    "arena pictures arena-out --to pictures --only topics",
)
@options.OUT
@options.AS_JSON
def topics_command(out: Path) -> None:
    """List what the questions of the run in OUT are about, found from their words.

    Questions are clustered by TF-IDF, the three weightiest words stand for each cluster, and those
    outside of every cluster are "other". For each topic: its share of questions, its videos, its
    battles and how many of them both answers lost (both bad). The same run has the same topics each
    time. No model is called.
    """
    from videoautoarena.runs.analysis.categories.topics import topic_report
    from videoautoarena.runs.run.rundir.reader import open_run
    from videoautoarena.runs.views.results.categories import topics_report

    with open_run(out) as run:
        found = topic_report(run)
    options.print_viewed(found.to_json(), lambda: topics_report(found))


@options.command(
    "arena realism arena-out --against questions.jsonl",
    "arena realism arena-out --against questions.jsonl --categories file --json",
    "arena realism arena-out --against questions.jsonl --classifier openai:gpt-4o-mini --plan",
    "arena realism arena-out --against questions.jsonl --difficulty --sample 100 --max-usd 5",
    codes=EXIT_CODES,
)
@options.OUT
@options.path(
    "--against FILE",
    "Questions of real users as JSON lines: question, and where known video, category or "
    "categories, and language.",
    required=True,
)
@options.choice(
    "--categories",
    ["auto", "file", "words"],
    "Take question categories from the run's tags and the file if both have them, else from "
    "words; from the file; or from words.",
)
@options.string(
    "--classifier M",
    "Model that tagged the run: it classifies the questions of FILE too, in one call each, "
    "without frames.",
)
@options.flag(
    "--difficulty",
    "Also grade how hard questions of FILE are, each beside one of the run's about the same video, "
    "in one call of the difficulty grader with frames.",
)
@options.string(
    "--grader M",
    "With --difficulty: model that grades, provider:model or a name from arena.toml or the run.  "
    "[default: the run's examiner]",
)
@options.whole(
    "--sample N", "With --difficulty: grade N questions, drawn at random.  [default: all]", least=1
)
@options.config_option(" that declares classifier and grader")
@options.MOVED
@options.paid("Classify or grade questions again whose call failed.")
@options.TRUST
@options.figure("--cap", 5.0, "Largest weight of a battle, where 1 is the average.")
@options.figure("--permutations", 2000, "Number of permutations of a test.")
@options.figure("--seed", 0, "Seed of the permutations, and of --sample.")
@options.AS_JSON
def realism_command(out: Path, against: Path, *, difficulty: bool, plan: bool, **typed: Any) -> int:
    """Compare the questions of the run in OUT with those of real users, and rate by their mix.

    Length, form, category, vagueness and language stand side by side, each tested by permuting
    whole videos, with the error held over all traits. Battles are then weighted to the real mix of
    category and form. No model is called but with --classifier or --difficulty; what it says stays
    in the run, and the same command continues after an interruption.
    """
    from videoautoarena.runs.api.analyses import realism
    from videoautoarena.runs.views.results.categories import realism_report

    if not difficulty:
        options.refuse_typed("is for --difficulty", {"grader", "sample", "videos"}.__contains__)
        if typed["classifier"] is None:
            idle = options.OF_CALLS.union({"plan", "trust"}) - {"concurrency", "is_quiet"}
            options.refuse_typed("is for --classifier M and --difficulty", idle.__contains__)

    def show(found: RealismReport) -> None:
        options.print_viewed(found.to_json(), lambda: realism_report(found), notes=True)

    job = realism.job(out, against, difficulty=difficulty, **typed)
    return ending.finished(job, show, plan=plan)
