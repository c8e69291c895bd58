"""How real simulated questions are: `realism`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from videoautoarena.runs.cli.program import ending, options
from videoautoarena.runs.cli.results.categories import EXIT_CODES


@options.command(
    "arena realism arena-out --against questions.jsonl",
    "arena realism arena-out --against questions.jsonl --categories file --json",
    "arena realism arena-out --against questions.jsonl --classifier openai:gpt-4o-mini --plan",
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
@options.config_option(" that declares the classifier")
@options.paid("Classify questions again whose call failed.")
@options.TRUST
@options.figure("--cap", 5.0, "Largest weight of a battle, where 1 is the average.")
@options.figure("--permutations", 2000, "Number of permutations of a test.")
@options.figure("--seed", 0, "Seed of the permutations.")
@options.AS_JSON
def realism_command(
    out: Path, against: Path, *, plan: bool, is_quiet: bool, as_json: bool, **typed: Any
) -> int:
    """Compare the questions of the run in OUT with those of real users, and rate by their mix.

    Length, form, category, vagueness and language stand side by side, each tested by permuting
    whole videos, with the error held over all traits. Battles are then weighted to the real mix of
    category and form. No model is called but with --classifier; what it says stays in the run, and
    the same command continues after an interruption.
    """
    from videoautoarena.runs.analysis.categories.tagging import TagOrder
    from videoautoarena.runs.analysis.realism.classifying import (
        classify_questions,
        plan_classifying,
    )
    from videoautoarena.runs.analysis.realism.report import Wish, check_wish, realism_of
    from videoautoarena.runs.views.results.categories import realism_report
    from videoautoarena.runs.views.results.forms import ReportView

    wish = options.take(Wish, typed)
    check_wish(wish)
    classified = None
    if typed["classifier"] is None:
        idle = options.OF_CALLS.union({"plan", "trust"}) - {"concurrency", "is_quiet"}
        options.refuse_typed("is for --classifier M", idle.__contains__)
    elif wish.categories != "auto":
        raise click.UsageError(
            f"--classifier and --categories {wish.categories} exclude each other"
        )
    else:
        order = TagOrder(**typed)
        if plan:
            return ending.print_plan(plan_classifying(out, against, order), as_json=as_json)
        classified, tally = ending.followed(
            lambda listeners, on_done: classify_questions(
                out, against, order, listeners=listeners, on_done=on_done
            ),
            is_quiet=is_quiet,
        )
        code = ending.job_ending(tally)
        if code:
            return code
    found = realism_of(out, against, wish, classified)
    report = realism_report(found)
    options.print_rendered(found.to_json(), lambda: ReportView(report, notes=True), as_json=as_json)
    return 0
