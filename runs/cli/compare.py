"""Beside the leaderboard: `agree`, `power` and `pictures`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from videoautoarena.runs.cli import options
from videoautoarena.runs.text.terminal import print_result, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from videoautoarena.runs.figures.canvas import Form
    from videoautoarena.runs.leaderboard.power import Question


@click.command("agree", epilog="Example: arena agree arena-out published.csv --rename names.json")
@click.argument("a", type=options.PATH)
@click.argument("b", type=options.PATH)
@click.option(
    "--rename",
    type=options.PATH,
    metavar="FILE",
    help="Mapping of model names: a JSON object, or a CSV with the columns from and to.",
)
@options.AS_JSON
def agree_command(a: Path, b: Path, rename: Path | None, as_json: bool) -> None:
    """Measure how far leaderboards A and B agree on the models they share.

    Each is the folder of a run, a bench or task set with its results, a leaderboard printed with
    --json, or a CSV or JSON table with the columns model, rating and, optionally, low and high.
    """
    from videoautoarena.runs.bench.kinds.scorings import read_any_board
    from videoautoarena.runs.leaderboard.agreement import agree, render

    report = agree(a, b, rename=rename, read=read_any_board)
    if as_json:
        print_result(json.dumps(report.to_json(), indent=2))
    else:
        options.results().print(render(report))


@click.command(
    "power",
    epilog="""\b
Examples:
  arena power --models 11 --gap 30
  arena power --models 4 --gap 50 --videos 40 --rounds 9 --json""",
)
@options.figure("--models", 11, "Number of models.")
@options.figure("--gap", 30.0, "Rating points between neighbouring models.")
@options.figure("--power", 0.8, "Required probability that they are separated.")
@click.option("--videos", type=int, help="Number of videos.  [default: as many as needed]")
@options.figure("--rounds", 3, "Number of battles in each lineage.")
@options.figure("--ties", 0.07, "Share of ties between equal models.")
@options.figure(
    "--quirk",
    0.5,
    "How much a video favours some models: standard deviation in nats (1 nat is 174 points).",
)
@options.choice("--pairing", ["mix", "uniform"], "How pairs are drawn.")
@options.figure("--tournaments", 40, "Number of simulated tournaments.")
@options.figure("--battles", 100_000, "Maximum number of battles to try.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."
)
@options.AS_JSON
def power_command(*, as_json: bool, **asked: object) -> None:
    """Estimate how many battles separate models, by simulating tournaments.

    The models' ratings are equally spaced. No model is called; a dozen models take seconds.
    """
    from videoautoarena.runs.leaderboard.power import Question, answer, as_lines, check_question

    question = Question(**asked)  # type: ignore[arg-type]  # click read them by its types
    check_question(question)
    with _progress(question) as advance:
        found = answer(question, advance)
    options.print_report(found.to_json(), as_lines(found), as_json=as_json)


@contextmanager
def _progress(question: Question) -> Iterator[Callable[[int], object]]:
    """Show on a terminal how far the tournaments are, and say one line elsewhere."""
    what = f"{question.tournaments:,} tournaments of up to {question.end:,} battles"
    if not sys.stderr.isatty():
        say(f"playing {what}")
        yield abs
        return
    length = max(question.tournaments * question.end, 1)
    with click.progressbar(length=length, label=what, file=sys.stderr, width=20) as bar:
        yield bar.update


NAMES = ("ladder", "wins", "battles", "duration", "style", "judge")
SET_NAMES = ("tasks", "positions", "sweep")
DIALOGUE_NAMES = ("abilities", "parts")
_FORMS = {"svg": ("svg",), "png": ("png",), "pdf": ("pdf",), "both": ("svg", "png")}


@click.command(
    "pictures",
    epilog="""\b
Examples:
  arena pictures arena-out --to pictures --only ladder
  arena pictures my-tasks --to pictures --format pdf
  arena pictures my-dialogues --to pictures --only abilities""",
)
@options.OUT
@click.option("--to", required=True, type=options.PATH, help="Folder to write into.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMS)),
    default="svg",
    show_default=True,
    help="File format; both means svg and png.",
)
@click.option(
    "--only",
    metavar="NAMES",
    help=f"Draw only these, separated by commas: {', '.join(NAMES)}; "
    f"of a task set {', '.join(SET_NAMES)}; of dialogues {', '.join(DIALOGUE_NAMES)}.",
)
@options.flag("--bare", "Draw neither title nor notes, for papers that have captions.")
@options.flag("--force", "Overwrite existing pictures.")
@options.AS_JSON
def pictures_command(
    out: Path, to: Path, form: str, only: str | None, bare: bool, force: bool, as_json: bool
) -> None:
    """Draw figures of the run or set in OUT, for a paper.

    Of a run: ratings, pairs, video duration, style and the judge. Of a task set with results:
    accuracy by task, needles by position and length, and accuracy against frames and dollars. Of
    dialogues: accuracy by ability, and by turns, length and scenes.
    """
    from videoautoarena.runs.bench.kinds.scorings import is_bench

    is_set = is_bench(out)
    chosen = _chosen(only, (*SET_NAMES, *DIALOGUE_NAMES) if is_set else NAMES)
    from videoautoarena.runs.figures.album import Wish, draw_run, draw_set

    wish = Wish(to, cast("Sequence[Form]", _FORMS[form]), chosen, force, bare)
    album = draw_set(out, wish) if is_set else draw_run(out, wish)
    options.print_report(album.as_json(), album.as_lines(), as_json=as_json)


def _chosen(only: str | None, names: Sequence[str]) -> list[str]:
    chosen = [name.strip() for name in (only or "").split(",") if name.strip()]
    for name in chosen:
        if name not in names:
            raise click.UsageError(
                f"--only: there is no picture {name}; there are {', '.join(names)}"
            )
    return chosen
