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
    help="Mapping of model names: a JSON object, or a CSV with the columns from and to.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def agree_command(a: Path, b: Path, rename: Path | None, as_json: bool) -> None:
    """Measure how far leaderboards A and B agree on the models they share.

    Each is the folder of a run, a leaderboard printed with --json, or a CSV or JSON table with the
    columns model, rating and, optionally, low and high.
    """
    import json

    from videoautoarena.runs.leaderboard.agreement import agree

    report = agree(a, b, rename=rename)
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2))
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
@click.option("--models", type=int, default=11, show_default=True, help="Number of models.")
@click.option(
    "--gap",
    type=float,
    default=30.0,
    show_default=True,
    help="Rating points between neighbouring models.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="Required probability that they are separated.",
)
@click.option("--videos", type=int, help="Number of videos.  [default: as many as needed]")
@click.option(
    "--rounds", type=int, default=3, show_default=True, help="Number of battles in each lineage."
)
@click.option(
    "--ties",
    type=float,
    default=0.07,
    show_default=True,
    help="Share of ties between equal models.",
)
@click.option(
    "--quirk",
    type=float,
    default=0.5,
    show_default=True,
    help="How much a video favours some models: standard deviation in nats (1 nat is 174 points).",
)
@click.option(
    "--pairing",
    type=click.Choice(["mix", "uniform"]),
    default="mix",
    show_default=True,
    help="How pairs are drawn.",
)
@click.option(
    "--tournaments",
    type=int,
    default=40,
    show_default=True,
    help="Number of simulated tournaments.",
)
@click.option(
    "--battles",
    type=int,
    default=100_000,
    show_default=True,
    help="Maximum number of battles to try.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def power_command(*, as_json: bool, **asked: object) -> None:
    """Estimate how many battles separate models, by simulating tournaments.

    The models' ratings are equally spaced. No model is called; a dozen models take seconds.
    """
    import json

    from videoautoarena.runs.leaderboard.power import Question, answer, as_lines, check_question
    from videoautoarena.runs.text.terminal import print_result, print_results

    question = Question(**asked)  # type: ignore[arg-type]  # click read them by its types
    check_question(question)
    with _progress(question) as advance:
        found = answer(question, advance)
    if as_json:
        print_result(json.dumps(found.to_json(), indent=2))
    else:
        print_results(as_lines(found))


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
    help="File format; both means svg and png.",
)
@click.option(
    "--only", metavar="NAMES", help=f"Draw only these, separated by commas: {', '.join(NAMES)}."
)
@click.option("--force", is_flag=True, help="Overwrite existing pictures.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def pictures_command(
    out: Path, to: Path, form: str, only: str | None, force: bool, as_json: bool
) -> None:
    """Draw figures of the run in OUT: ratings, pairs, video duration, style and the judge."""
    import json

    chosen = _chosen(only)
    from videoautoarena.runs.figures.album import draw_run
    from videoautoarena.runs.text.terminal import print_results

    forms = cast("Sequence[Form]", _FORMS[form])
    album = draw_run(out, to, forms=forms, only=chosen, force=force)
    if as_json:
        click.echo(json.dumps(album.as_json(), indent=2))
    else:
        print_results(album.as_lines())


def _chosen(only: str | None) -> list[str]:
    names = [name.strip() for name in (only or "").split(",") if name.strip()]
    for name in names:
        if name not in NAMES:
            raise click.UsageError(
                f"--only: there is no picture {name}; there are {', '.join(NAMES)}"
            )
    return names
