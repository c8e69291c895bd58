"""How real simulated questions are: `realism`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.cli.results.categories import EXIT_CODES, code_of
from videoautoarena.runs.text.terminal import print_result, say

if TYPE_CHECKING:
    from videoautoarena.runs.realism.categories import Classified


@click.command(
    "realism",
    epilog="""\b
Examples:
  arena realism arena-out --against questions.jsonl
  arena realism arena-out --against questions.jsonl --categories file --json
  arena realism arena-out --against questions.jsonl --classifier openai:gpt-4o-mini --plan

\b
"""
    + EXIT_CODES,
)
@options.OUT
@click.option(
    "--against",
    type=options.PATH,
    required=True,
    metavar="FILE",
    help="Questions of real users as JSON lines: question, and where known video, category or "
    "categories, and language.",
)
@options.choice(
    "--categories",
    ["auto", "file", "words"],
    "Take question categories from the run's tags and the file if both have them, else from "
    "words; from the file; or from words.",
)
@click.option(
    "--classifier",
    metavar="M",
    help="Model that tagged the run: it classifies the questions of FILE too, in one call each, "
    "without frames.",
)
@options.config_option(" that declares the classifier")
@options.CONCURRENCY
@options.PATIENCE
@options.flag("--retry-failed", "Classify questions again whose call failed.")
@options.PLAN
@options.NO_PROGRESS
@options.CAPS
@options.TRUST
@options.figure("--cap", 5.0, "Largest weight of a battle, where 1 is the average.")
@options.figure("--permutations", 2000, "Number of permutations of a test.")
@options.figure("--seed", 0, "Seed of the permutations.")
@options.AS_JSON
def realism_command(
    out: Path,
    against: Path,
    *,
    categories: str,
    cap: float,
    permutations: int,
    seed: int,
    as_json: bool,
    **typed: Any,
) -> int:
    """Compare the questions of the run in OUT with those of real users, and rate by their mix.

    Length, form, category, vagueness and language stand side by side, each tested by permuting
    whole videos, with the error held over all traits. Battles are then weighted to the real mix of
    category and form. No model is called but with --classifier; what it says stays in the run, and
    the same command continues after an interruption.
    """
    from videoautoarena.runs.realism.report import Told, Wish, check_wish, realism_of
    from videoautoarena.runs.views.realism import realism_report

    told: Told = next(one for one in get_args(Told) if one == categories)
    wish = Wish(told, cap, permutations, seed)
    check_wish(wish)
    classified = None
    if _is_to_classify(categories, typed):
        code, classified = _classify(out, against, typed, as_json=as_json)
        if classified is None:
            return code
    found = realism_of(out, against, wish, classified)
    if as_json:
        print_result(json.dumps(found.to_json(), indent=2))
    else:
        options.print_view(realism_report(found), notes=True)
    return 0


_ITS_OPTIONS = ("plan", "retry_failed", "config", "trust", "max_usd", "max_tokens", "patience")


def _is_to_classify(categories: str, typed: dict[str, Any]) -> bool:
    if typed["classifier"] is None:
        alone = next((name for name in _ITS_OPTIONS if typed[name]), None)
        if alone is not None:
            raise click.UsageError(f"--{alone.replace('_', '-')} is for --classifier M")
        return False
    if categories != "auto":
        raise click.UsageError(f"--classifier and --categories {categories} exclude each other")
    return True


def _classify(
    out: Path, file: Path, typed: dict[str, Any], *, as_json: bool
) -> tuple[int, Classified | None]:
    """Have the questions classified, or plan it; without a result there is an exit code."""
    from videoautoarena.runs.categories.tagging import TagOrder, TagTally
    from videoautoarena.runs.console.events import Listeners, nobody
    from videoautoarena.runs.console.listeners import progress
    from videoautoarena.runs.realism.classifying import classify_questions, plan_classifying

    same = ("classifier", "config", "concurrency", "retry_failed", "trust")
    order = TagOrder(
        **{name: typed[name] for name in same},
        patience_s=options.patience_s(typed),
        caps=options.caps_of(typed),
    )
    if typed["plan"]:
        planned = run_async(plan_classifying(out, file, order))
        options.print_report(planned.as_json(), planned.as_lines(), as_json=as_json)
        return 0, None
    with progress(say, is_quiet=typed["quiet"]) as on_progress:

        def on_tagged(tally: TagTally) -> None:
            on_progress(tally.tagged, tally.asked - tally.known, tally.in_words)

        listeners = Listeners(say, nobody)
        classified, tally = run_async(
            classify_questions(out, file, order, listeners=listeners, on_tagged=on_tagged)
        )
    code = code_of(tally)
    return code, None if code else classified
