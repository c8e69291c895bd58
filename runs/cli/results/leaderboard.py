"""Rating models: `leaderboard` and `rate`; beside it `power` and `pictures`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from videoautoarena.runs.cli.program import options
from videoautoarena.runs.formats.terminal import print_result, safe, say
from videoautoarena.runs.rating.method import USUAL, RatingMethod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from videoautoarena.runs.analysis.leaderboard.power import PowerQuestion
    from videoautoarena.runs.analysis.leaderboard.slices import LeaderboardSlices, PairRecords
    from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
    from videoautoarena.runs.views.figures.canvas import Form
    from videoautoarena.runs.views.results.report import Report

_ENDINGS = (".svg", ".png", ".pdf")
_PICTURES_NEED = ("matplotlib", "pictures need matplotlib", "figures")
_OF_RUNS = ("without", "reweight")
"""Fields of a rating method that need a run."""


@dataclass(frozen=True)
class Drawing:
    """The file that a leaderboard is drawn into, if any."""

    picture: Path | None
    bare: bool
    force: bool

    def check(self) -> None:
        """Raise BadInput, before anything is rated, for another ending or a file that exists."""
        from videoautoarena.memory.records.errors import BadInput, need_package
        from videoautoarena.runs.formats.files import refuse_existing

        if self.picture is not None:
            need_package(*_PICTURES_NEED)
            if self.picture.suffix.lower() not in _ENDINGS:
                raise BadInput(f"{self.picture} must end in .svg, .png or .pdf")
            refuse_existing(self.picture, force=self.force)
        elif self.force or self.bare:
            raise click.UsageError(f"--{'force' if self.force else 'bare'} needs --picture FILE")

    def draw(self, board: RatedLeaderboard | LeaderboardSlices) -> None:
        """Draw a leaderboard, or those of slices, and say so."""
        if self.picture is None:
            return
        from videoautoarena.runs.formats.files import write_whole
        from videoautoarena.runs.views.figures.album import picture_of
        from videoautoarena.runs.views.figures.canvas import render

        picture = picture_of(board)
        form = cast("Form", self.picture.suffix.lower()[1:])
        write_whole(self.picture, render(picture, form, bare=self.bare))
        say(f"{picture.shows} drawn into {safe(str(self.picture))}")


rating_options = options.together(
    options.gathered(
        "drawing",
        Drawing,
        options.path("--picture FILE", "Also draw the leaderboard into FILE (.svg, .png or .pdf)."),
        options.flag("--bare", "Draw neither title nor notes into the picture."),
        options.flag("--force", "Overwrite an existing picture."),
    ),
    options.gathered("method", RatingMethod, options.fields_of(RatingMethod, leave=_OF_RUNS)),
    options.table_form(options.flag("--notes", "Print all notes, not only three lines.")),
)


def print_board(
    board: RatedLeaderboard | LeaderboardSlices | PairRecords,
    form: str,
    *,
    details: bool = False,
    notes: bool = False,
) -> None:
    """Print a leaderboard, those of slices, or pairs, in one of the forms."""
    if form == "json":
        print_result(json.dumps(board.to_json(), indent=2))
        return
    options.print_view(_report_of(board), form, notes=notes, details=details)


def _report_of(board: RatedLeaderboard | LeaderboardSlices | PairRecords) -> Report:
    """Return the report of a board; only the modules for its kind are loaded."""
    from videoautoarena.runs.rating.leaderboard import RatedLeaderboard

    if isinstance(board, RatedLeaderboard):
        from videoautoarena.runs.views.results.leaderboard import leaderboard_report

        return leaderboard_report(board)
    from videoautoarena.runs.analysis.leaderboard.slices import LeaderboardSlices

    if isinstance(board, LeaderboardSlices):
        from videoautoarena.runs.views.results.slices import slices_report

        return slices_report(board)
    from videoautoarena.runs.views.results.slices import pairs_report

    return pairs_report(board)


@options.command(
    "arena leaderboard arena-out --by duration",
    "arena leaderboard arena-out --profile hawk",
    "arena leaderboard arena-out --against published.csv --rename names.json",
)
@options.OUT
@options.string(
    "--by TRAIT",
    "Rate each slice separately: by duration or category of the video, round, origin, "
    "format, language or topic of the question, question-category once questions are tagged, "
    "persona (how close to the video), judge, standard, or a column of videos.csv. With pair: "
    "head-to-head results.",
)
@options.fields_of(RatingMethod, only=_OF_RUNS)
@options.flag(
    "--details",
    "Also show each model's refusals, forfeits, voids, both-bad ties and answer length.",
)
@options.flag(
    "--labels",
    "Rate on the scale of human labels: all verdicts, corrected by the labels of a random sample.",
)
@options.flag("--assume-random", "With --labels: treat all labels as a random sample.")
@options.string(
    "--profile [MODEL]",
    "Show what models get wrong more often than others, a line for each. With MODEL, show that one "
    "in full, and where it wins.",
    is_flag=False,
    flag_value="",
)
@options.string(
    "--embeddings",
    "With --profile: embedding model for themes: provider:model.  [default: TF-IDF]",
)
@options.path(
    "--against BOARD",
    "Measure how far the leaderboard agrees with BOARD on the models they share. OUT and BOARD are "
    "each a run, a bench or task set with its results, a leaderboard printed with --json, or a CSV "
    "or JSON table with the columns model, rating and, optionally, low and high.",
)
@options.path(
    "--rename FILE",
    "With --against: mapping of model names: a JSON object, or a CSV with the columns from and to.",
)
@rating_options
def leaderboard_command(
    out: Path,
    *,
    by: str | None,
    details: bool,
    labels: bool,
    assume_random: bool,
    profile: str | None,
    embeddings: str | None,
    against: Path | None,
    rename: Path | None,
    drawing: Drawing,
    method: RatingMethod,
    form: str,
    notes: bool,
) -> None:
    """Rate the models of the run in OUT, with confidence intervals clustered by video."""
    if profile is not None:
        _refuse_beside("profile", "embeddings")
        _print_profile(out, profile, embeddings, form)
        return
    if against is not None:
        _refuse_beside("against", "rename")
        _print_agreement(out, against, rename, form)
        return
    options.refuse_typed("goes with --profile", {"embeddings"}.__contains__)
    options.refuse_typed("goes with --against", {"rename"}.__contains__)
    if drawing.picture is not None and by == "pair":
        raise click.UsageError("--picture cannot draw --by pair; arena pictures draws heat maps")
    if assume_random and not labels:
        raise click.UsageError("--assume-random goes with --labels; give both")
    if labels and by is not None:
        raise click.UsageError("--labels rates the whole run; leave out --by")
    drawing.check()
    if labels:
        from videoautoarena.runs.analysis.leaderboard.board import labelled_board_of

        board: Any = labelled_board_of(out, method, assume_random=assume_random)
    else:
        # What only these show is not counted otherwise: it takes a look at each answer.
        is_told = details or form in ("csv", "json")
        board = rate_run(out, by=by, method=method, behaviour=is_told)
    print_board(board, form, details=details, notes=notes)
    drawing.draw(board)


def _refuse_beside(view: str, detail: str) -> None:
    """Raise WrongArgument for an option that shapes a board, where `view` shows none."""
    served = {"out", view, detail, "form", "as_json"}
    options.refuse_typed(f"does not go with --{view}", lambda name: name not in served)


def _print_profile(out: Path, model: str, embeddings: str | None, form: str) -> None:
    from videoautoarena.runs.analysis.leaderboard.board import profiles_of
    from videoautoarena.runs.rating.profile import profile_of
    from videoautoarena.runs.views.results.profiles import profile_report, profiles_report

    profiles = profiles_of(out, embeddings)
    if model:
        one = profile_of(profiles, model)
        options.print_viewed(one.to_json(), lambda: profile_report(one), form)
    else:
        options.print_viewed(profiles.to_json(), lambda: profiles_report(profiles), form)


def _print_agreement(out: Path, against: Path, rename: Path | None, form: str) -> None:
    from videoautoarena.runs.analysis.leaderboard.agreement import agree
    from videoautoarena.runs.bench.kinds.scorings import read_any_board
    from videoautoarena.runs.views.results.audit import agreement_report

    found = agree(out, against, rename=rename, read=read_any_board)
    options.print_viewed(found.to_json(), lambda: agreement_report(found), form, notes=True)


def show_leaderboard(folder: Path) -> None:
    """Print the leaderboard of the run in `folder`."""
    print_board(rate_run(folder, behaviour=False), "table")


def rate_run(
    folder: Path, *, by: str | None = None, method: RatingMethod = USUAL, behaviour: bool = True
) -> RatedLeaderboard | LeaderboardSlices | PairRecords:
    """Return the leaderboard of the run in `folder`, those of its slices, or its pairs.

    Without `behaviour` refusals and lengths are left out, for which every answer has to be read.
    """
    from videoautoarena.runs.analysis.leaderboard.board import board_of, pairs_of, slices_of

    if by is None:
        return board_of(folder, method, behaviour=behaviour)
    if by == "pair":
        return pairs_of(folder, method)
    return slices_of(folder, by, method, behaviour=behaviour)


@options.command("arena rate battles.csv --json")
@options.FILE
@rating_options
def rate_command(
    file: Path, *, drawing: Drawing, method: RatingMethod, form: str, notes: bool
) -> None:
    """Rate the battles in FILE: CSV, JSON lines or Parquet with model_a, model_b and winner."""
    from videoautoarena.runs.rating.rate import rate_file

    drawing.check()
    board = rate_file(file, method)
    print_board(board, form, notes=notes)
    drawing.draw(board)


@options.command(
    "arena power --models 11 --gap 30",
    "arena power --models 4 --gap 50 --videos 40 --rounds 9 --json",
)
@options.figure("--models", 11, "Number of models.")
@options.figure("--gap", 30.0, "Rating points between neighbouring models.")
@options.figure("--power", 0.8, "Required probability that they are separated.")
@options.whole("--videos", "Number of videos.  [default: as many as needed]")
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
@options.seed()
@options.AS_JSON
def power_command(**asked: object) -> None:
    """Estimate how many battles separate models, by simulating tournaments.

    The models' ratings are equally spaced. No model is called; a dozen models take seconds.
    """
    from videoautoarena.runs.analysis.leaderboard.power import PowerQuestion, answer, check_question
    from videoautoarena.runs.views.results.power import power_json, power_report

    question = PowerQuestion(**asked)  # type: ignore[arg-type]  # click read them by its types
    check_question(question)
    with _progress(question) as advance:
        found = answer(question, advance)
    options.print_viewed(power_json(found), lambda: power_report(found))


@contextmanager
def _progress(question: PowerQuestion) -> Iterator[Callable[[int], object]]:
    """Show the progress of simulated tournaments on a terminal, or say one line in a pipe."""
    what = f"{question.tournaments:,} tournaments of up to {question.end:,} battles"
    if not sys.stderr.isatty():
        say(f"playing {what}")
        # It takes a number and does nothing that anybody sees.
        yield abs
        return
    # Battles of all tournaments, since what is told is how many were played since the last time.
    length = max(question.tournaments * question.end, 1)
    with click.progressbar(length=length, label=what, file=sys.stderr, width=20) as bar:
        yield bar.update


# Written out here, since the album that draws them loads matplotlib.
NAMES = ("ladder", "wins", "battles", "duration", "style", "judge", "categories", "topics")
SET_NAMES = ("tasks", "positions", "sweep")
DIALOGUE_NAMES = ("abilities", "parts")
_PICTURE_FORMS = {"svg": ("svg",), "png": ("png",), "pdf": ("pdf",), "both": ("svg", "png")}


@options.command(
    "arena pictures arena-out --to pictures --only ladder",
    "arena pictures my-tasks --to pictures --format pdf",
    "arena pictures my-dialogues --to pictures --only abilities",
)
@options.OUT
@options.path("--to", "Folder to write into.", required=True)
@options.choice("--format", list(_PICTURE_FORMS), "File format; both means svg and png.", "form")
@options.string(
    "--only NAMES",
    f"Draw only these, separated by commas: {', '.join(NAMES)}; "
    f"of a task set {', '.join(SET_NAMES)}; of dialogues {', '.join(DIALOGUE_NAMES)}.",
)
@options.flag("--bare", "Draw neither title nor notes, for papers that have captions.")
@options.flag("--force", "Overwrite existing pictures.")
@options.AS_JSON
def pictures_command(
    out: Path, to: Path, form: str, only: str | None, bare: bool, force: bool
) -> None:
    """Draw figures of the run or set in OUT, for a paper.

    Of a run: ratings, pairs, video duration, style, the judge, categories and topics. Of a task set
    with results: accuracy by task, needles by position and length, and accuracy against frames and
    dollars. Of dialogues: accuracy by ability, and by turns, length and scenes.
    """
    from videoautoarena.memory.records.errors import need_package
    from videoautoarena.runs.bench.kinds.scorings import is_bench

    # Before the import of what needs it, which would end in a trace.
    need_package(*_PICTURES_NEED)
    is_set = is_bench(out)
    chosen = _chosen(only, (*SET_NAMES, *DIALOGUE_NAMES) if is_set else NAMES)
    from videoautoarena.runs.views.figures.album import PictureOptions, draw_run, draw_set

    wish = PictureOptions(to, cast("Sequence[Form]", _PICTURE_FORMS[form]), chosen, force, bare)
    album = draw_set(out, wish) if is_set else draw_run(out, wish)
    options.print_found(album)


def _chosen(only: str | None, names: Sequence[str]) -> list[str]:
    chosen = [name.strip() for name in (only or "").split(",") if name.strip()]
    for name in chosen:
        if name not in names:
            raise click.UsageError(
                f"--only: there is no picture {name}; there are {', '.join(names)}"
            )
    return chosen
