"""Beside the leaderboard: `agree`, `power` and `pictures`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from videoautoarena.runs.cli.options import results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from videoautoarena.runs.figures.canvas import Form
    from videoautoarena.runs.leaderboard.power import Question


@click.command("agree", epilog="Example: arena agree arena-out published.csv --rename names.json")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "--rename",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Which names are the same: a JSON object, or a CSV with the columns from and to.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def agree_command(a: Path, b: Path, rename: Path | None, as_json: bool) -> None:
    """Tell how far the leaderboards A and B agree about the models they share.

    Each is the folder of a run, a leaderboard as --json prints it, or a CSV or JSON table with
    model, rating and, where known, low and high.
    """
    import json

    from videoautoarena.runs.leaderboard.agreement import agree

    report = agree(a, b, rename=rename)
    if as_json:
        click.echo(json.dumps(report, indent=2))
        return
    from videoautoarena.runs.leaderboard.agreement import render

    results().print(render(report))


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
def power_command(*, as_json: bool, **asked: object) -> None:
    """Tell how many battles it takes to tell models apart, by playing made-up tournaments.

    Models stand on a ladder with equal gaps. No model is called; a dozen take seconds.
    """
    import json

    from videoautoarena.runs.leaderboard.power import Question, answer, as_lines, check_question
    from videoautoarena.runs.text.terminal import tell, tell_lines

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

    from videoautoarena.runs.text.terminal import say

    told = f"{question.tournaments:,} tournaments of up to {question.end:,} battles"
    if not sys.stderr.isatty():
        say(f"playing {told}")
        yield abs
        return
    length = max(question.tournaments * question.end, 1)
    with click.progressbar(length=length, label=told, file=sys.stderr, width=20) as bar:
        yield bar.update


NAMES = ("ladder", "wins", "battles", "duration", "style", "judge")
_FORMS = {"svg": ("svg",), "png": ("png",), "pdf": ("pdf",), "both": ("svg", "png")}


@click.command("pictures", epilog="Example: arena pictures arena-out --to pictures --only ladder")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="Folder to write into.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMS)),
    default="svg",
    show_default=True,
    help="What kind of file; both: svg and png.",
)
@click.option("--only", metavar="NAMES", help=f"Some of {', '.join(NAMES)}; separated by commas.")
@click.option("--force", is_flag=True, help="Replace pictures that are there.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def pictures_command(
    out: Path, to: Path, form: str, only: str | None, force: bool, as_json: bool
) -> None:
    """Draw the run in OUT for a paper: ratings, pairs, lengths of video, style and the judge."""
    import json

    chosen = _chosen(only)
    from videoautoarena.runs.figures.album import draw_run
    from videoautoarena.runs.text.terminal import tell_lines

    forms = cast("Sequence[Form]", _FORMS[form])
    album = draw_run(out, to, forms=forms, only=chosen, force=force)
    if as_json:
        click.echo(json.dumps(album.as_json(), indent=2))
    else:
        tell_lines(album.as_lines())


def _chosen(only: str | None) -> list[str]:
    names = [name.strip() for name in (only or "").split(",") if name.strip()]
    for name in names:
        if name not in NAMES:
            raise click.UsageError(
                f"--only: there is no picture {name}; there are {', '.join(NAMES)}"
            )
    return names
