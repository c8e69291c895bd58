"""How real simulated questions are: `realism`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.text.terminal import print_result


@click.command(
    "realism",
    epilog="""\b
Examples:
  arena realism arena-out --against questions.jsonl
  arena realism arena-out --against questions.jsonl --categories file --json""",
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
@options.figure("--cap", 5.0, "Largest weight of a battle, where 1 is the average.")
@options.figure("--permutations", 2000, "Number of permutations of a test.")
@options.figure("--seed", 0, "Seed of the permutations.")
@options.AS_JSON
def realism_command(
    out: Path,
    against: Path,
    categories: str,
    cap: float,
    permutations: int,
    seed: int,
    as_json: bool,
) -> None:
    """Compare the questions of the run in OUT with those of real users, and rate by their mix.

    Length, form, category, vagueness and language stand side by side, each tested by permuting
    whole videos, with the error held over all traits. Battles are then weighted to the real mix of
    category and form. No model is called.
    """
    from videoautoarena.runs.realism.report import Told, Wish, realism_of
    from videoautoarena.runs.realism.text import render_realism

    told: Told = next(one for one in get_args(Told) if one == categories)
    found = realism_of(out, against, Wish(told, cap, permutations, seed))
    if as_json:
        print_result(json.dumps(found.to_json(), indent=2))
    else:
        options.results().print(render_realism(found))
