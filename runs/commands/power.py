"""`arena power`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from runs.power import Question


@click.command(
    "power",
    epilog="""\b
Examples:
  arena power --models 11 --gap 30
  arena power --models 4 --gap 50 --videos 40 --rounds 9 --json""",
)
@click.option("--models", type=int, default=11, show_default=True, help="How many there are.")
@click.option("--gap", type=float, default=30.0, show_default=True, help="Points to the next one.")
@click.option("--power", type=float, default=0.8, show_default=True, help="How likely it must be.")
@click.option("--videos", type=int, help="How many there are.  [default: as many as needed]")
@click.option("--rounds", type=int, default=3, show_default=True, help="Battles in each lineage.")
@click.option("--ties", type=float, default=0.07, show_default=True, help="Share among equals.")
@click.option(
    "--quirk",
    type=float,
    default=0.5,
    show_default=True,
    help="How much videos suit some models better: standard deviation, in nats of 174 points.",
)
@click.option("--pairing", type=click.Choice(["mix", "uniform"]), default="mix", show_default=True)
@click.option(
    "--tournaments", type=int, default=40, show_default=True, help="How many are made up."
)
@click.option(
    "--battles", type=int, default=100_000, show_default=True, help="Try no more than that."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(*, as_json: bool, **asked: object) -> None:
    """Tell how many battles it takes to tell models apart, by playing made-up tournaments.

    Models stand on a ladder with equal gaps. No model is called; a dozen take seconds.
    """
    import json

    from runs.console import tell, tell_lines
    from runs.power import Question, answer, check_question
    from runs.power_text import as_lines

    question = Question(**asked)  # type: ignore[arg-type]  # click read them by its types
    check_question(question)
    with _progress(question) as advance:
        table = answer(question, advance)
    if as_json:
        tell(json.dumps(table, indent=2))
    else:
        tell_lines(as_lines(table))


@contextmanager
def _progress(question: Question) -> Iterator[Callable[[int], object]]:
    """Show on a terminal how far the tournaments are, and say one line elsewhere."""
    import sys

    from runs.console import say

    told = f"{question.tournaments:,} tournaments of up to {question.end:,} battles"
    if not sys.stderr.isatty():
        say(f"playing {told}")
        yield abs
        return
    length = max(question.tournaments * question.end, 1)
    with click.progressbar(length=length, label=told, file=sys.stderr, width=20) as bar:
        yield bar.update
