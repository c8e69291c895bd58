"""Runs as `import videoautoarena` offers them: read, rated, audited; anybody's battles rated."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypedDict,
    TypeVar,
    overload,
)

from typing_extensions import Unpack

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.runs.api.results import (
    Audit,
    Costs,
    Frames,
    Labels,
    Leaderboard,
    Pairs,
    Records,
    Setup,
    Slices,
    Status,
)
from videoautoarena.runs.rating.method import RatingMethod

if TYPE_CHECKING:
    from videoautoarena.memory.records.records import Battle, VideoFacts
    from videoautoarena.runs.api.results import Categories, Profile, Profiles, Realism, Topics
    from videoautoarena.runs.rating.method import Fit, Intervals, Ties, Unwanted
    from videoautoarena.runs.rating.profile import ModelProfiles
    from videoautoarena.runs.run.battles.rounds import RunRound
    from videoautoarena.runs.run.battles.standards import StandardVerdicts
    from videoautoarena.runs.run.inputs.users import RunUser
    from videoautoarena.runs.run.rundir.account import RunVideo
    from videoautoarena.runs.run.rundir.reader import RunReader


class RatingOptions(TypedDict, total=False):
    """How battles are rated: the fields of `RatingMethod`, which says what each means."""

    ties: Ties
    fit: Fit | None
    style: bool
    seats: bool
    anchor: str | None
    intervals: Intervals
    simultaneous: bool
    elo: bool
    pairs: bool
    seed: int
    without: tuple[Unwanted, ...]
    reweight: bool


def rate(
    battles: str | os.PathLike[str] | Iterable[Any], **options: Unpack[RatingOptions]
) -> Leaderboard:
    """Return the leaderboard of anybody's battles, as `arena rate` does; calls no model.

    Args:
        battles: a CSV, JSON lines or Parquet file; a table of pandas or Arrow; or an iterable of
            mappings, of tuples `(model_a, model_b, winner)` or `(.., video)`, or of battles of a
            run. Columns are `model_a`, `model_b`, and `winner` or `verdict`: `model_a`, `model_b`,
            `tie`, `tie (bothbad)`, or `a`, `b`, 1, 0, .5. Battles of one `video` are not taken
            for independent.
        options: how battles are rated, by the names of `RatingOptions`; `reweight` and `without`
            are of a run alone.

    Returns:
        A Leaderboard. Ratings are Elo points with mean 1000.

    Raises:
        BadInput: no battles, a column that is missing, a row that cannot be used (which is named),
            or an option that cannot be.
    """
    from videoautoarena.runs.formats.battle_table import sheet_of
    from videoautoarena.runs.rating.rate import rate_file, rate_sheet, wanted_columns

    method = RatingMethod.of(options)
    if method.reweight or method.without:
        name = "reweight" if method.reweight else "without"
        raise WrongArgument(f"{name} needs a run; leave it out")
    if isinstance(battles, str | os.PathLike):
        return Leaderboard(rate_file(Path(battles), method))
    sheet = sheet_of(battles, wanted_columns(method))
    return Leaderboard(rate_sheet(sheet, method))


T = TypeVar("T")
_LISTED = ("id", "video", "question", "model_a", "model_b", "verdict", "reason")
_FILMS = ("id", "path", "duration_s", "width", "height", "fps", "category")
_USERS = ("video", "persona", "text", "line", "name", "language")
_ROUNDS = ("round", "battles", "looked_at", "themes", "verdicts")


def open_run(path: str | os.PathLike[str]) -> Run:
    """Return the run in a folder, as `simulate --out` left it, finished or not.

    Nothing is written, and no model is called. Each method opens the file of the run read-only,
    reads what it holds by then, and closes it.

    Raises:
        BadInput: there is no such folder, or no run in it.
    """
    from videoautoarena.runs.run.rundir.reader import run_file

    folder = Path(path)
    # Only to refuse at once what is no run; every method opens the file for itself.
    run_file(folder)
    return Run(folder)


class Run:
    """A run folder; what it returns is read anew each time, also while the run is played.

    `with va.open_run(path) as run:` ends its use with the block; without `with` nothing is left
    open either. No method calls a model, but for embeddings where you name one; all but `frames`
    read the file of the run alone. Each raises BadInput where it is gone, closed or cannot be read,
    in one line.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_closed = False

    @property
    def folder(self) -> Path:
        """Where the run lies.

        Raises:
            BadInput: the run was closed.
        """
        if self._is_closed:
            raise BadInput(f"the run in {self._folder} was closed; open it again with open_run")
        return self._folder

    def _opened(self) -> AbstractContextManager[RunReader]:
        from videoautoarena.runs.run.rundir.reader import open_run as opened

        return opened(self.folder)

    @property
    def models(self) -> dict[str, str]:
        """Each contestant's name in the run, with the `provider:model` behind it."""
        from videoautoarena.runs.run.config.run_config import RunConfig

        with self._opened() as run:
            config = RunConfig.of_manifest(run.manifest)
        return {name: config.cast[name].model for name in config.models}

    @overload
    def leaderboard(
        self,
        *,
        by: None = None,
        labels: bool = False,
        assume_random: bool = False,
        **options: Unpack[RatingOptions],
    ) -> Leaderboard: ...
    @overload
    def leaderboard(  # type: ignore[overload-overlap]  # the one name that is no trait
        self, *, by: Literal["pair"], **options: Unpack[RatingOptions]
    ) -> Pairs: ...
    @overload
    def leaderboard(self, *, by: str, **options: Unpack[RatingOptions]) -> Slices: ...
    def leaderboard(
        self,
        *,
        by: str | None = None,
        labels: bool = False,
        assume_random: bool = False,
        **options: Unpack[RatingOptions],
    ) -> Leaderboard | Slices | Pairs:
        """Return the models rated, as `arena leaderboard` prints them; calls no model.

        Args:
            by: a trait that parts the battles (`duration`, `category`, `round`, `origin`,
                `persona`, `format`, `judge`, `standard`, `language`, `topic`,
                `question-category`, or a column of `videos.csv`), for a leaderboard of each part;
                or `pair`, for head-to-head results.
            labels: rate on the scale of the people who labelled a random draw of battles.
            assume_random: with `labels`: take all labels for those of a random draw.
            options: how battles are rated, by the names of `RatingOptions`.

        Returns:
            A Leaderboard, Slices of a trait, or Pairs. Ratings are Elo points with mean 1000.

        Raises:
            BadInput: an unknown option, a value that it cannot have, or a method that these
                battles do not allow.
        """
        from videoautoarena.runs.analysis.leaderboard import board as boards
        from videoautoarena.runs.rating.method import RatingMethod

        method = RatingMethod.of(options)
        if labels and by is not None:
            raise WrongArgument("labels rates the whole run; leave out by")
        if assume_random and not labels:
            raise WrongArgument("assume_random goes with labels; give both")
        if labels:
            found = boards.labelled_board_of(self.folder, method, assume_random=assume_random)
            return Leaderboard(found)
        if by is None:
            return Leaderboard(boards.board_of(self.folder, method))
        if by == "pair":
            return Pairs(boards.pairs_of(self.folder, method))
        return Slices(boards.slices_of(self.folder, by, method))

    def battles(self) -> Records[Battle]:
        """Return the battles that count, in the order of their slots, as frozen records.

        A battle holds its `question`, both models, answers and times of frames in seconds, the
        `verdict` (`a`, `b`, `tie`, `tie_good`, `tie_bad`, `split`, `forfeit_a`, `forfeit_b` or
        `void`) and every judging. `to_json()` is what `arena battles --json` prints.
        """
        with self._opened() as run:
            # A list, since the file is closed behind it.
            return Records(list(run.battles), "battles", shown=_LISTED)

    def audit(self) -> Audit:
        """Return what the run says of its judges, as `arena audit` prints it; calls no model."""
        from videoautoarena.runs.analysis.audit.report import audit

        return Audit(audit(self.folder))

    def profile(self, model: str, *, embeddings: str | None = None) -> Profile:
        """Return what one model gets wrong more often than others, and where it wins.

        Calls no model but that of `embeddings`, once: its vectors are kept in the folder.

        Args:
            model: its name in the run, or what stands behind the provider.
            embeddings: `provider:model` whose embeddings of weaknesses make themes; None: their
                words do.

        Raises:
            BadInput: no such model, or embeddings that cannot be had.
        """
        from videoautoarena.runs.api.results import Profile
        from videoautoarena.runs.rating.profile import profile_of

        # Profiles of all: each model is compared with the others.
        return Profile(profile_of(self._profiles(embeddings), model))

    def profiles(self, *, embeddings: str | None = None) -> Profiles:
        """Return the profiles of all models, as `--profile` prints them; as `profile`."""
        from videoautoarena.runs.api.results import Profiles

        return Profiles(self._profiles(embeddings))

    def _profiles(self, embeddings: str | None) -> ModelProfiles:
        from videoautoarena.runs.analysis.leaderboard.board import profiles_of

        return profiles_of(self.folder, embeddings)

    def frames(
        self, video: str | os.PathLike[str], *, model: str | None = None, seen: int | None = None
    ) -> Frames:
        """Return the frames of a video as the run has shown them; calls no model.

        What is no longer in the cache is decoded again, which takes seconds.

        Args:
            video: its id or how that begins, its path in the run, or a file with its bytes.
            model: only what this contestant sees of them.
            seen: only what a model of so many frames sees of them.

        Raises:
            BadInput: no such video or model, or none of its frames can be had any more.
            FramesChanged: the file gives other frames now than the run has shown.
        """
        from videoautoarena.memory.records.records import Sampling
        from videoautoarena.runs.console.media.frames import FramesRequest, view
        from videoautoarena.runs.console.progress.interrupts import worked

        if model is not None and seen is not None:
            raise WrongArgument("model and seen ask for different things; give one")
        if seen is not None and seen < 1:
            raise WrongArgument(f"seen cannot be {seen}: it is a whole number from 1")
        asked = FramesRequest(os.fspath(video), Sampling(), seen, self.folder, model)
        return Frames(worked(view(asked)))

    def status(self) -> Status:
        """Return how far the run is, as `arena status` prints it; money is in US dollars."""
        from videoautoarena.runs.console.progress.status import status_of

        return Status(status_of(self.folder))

    def labels(self) -> Labels:
        """Return what people say of the run, as `arena labels show` prints it."""
        from videoautoarena.runs.analysis.audit.human_agreement import show_labels

        with self._opened() as run:
            return Labels(show_labels(run))

    def setup(self) -> Setup:
        """Return what the run was set up to do, as `arena export --what setup` prints it."""
        from videoautoarena.runs.run.rundir.account import setup_of

        with self._opened() as run:
            return Setup(setup_of(run))

    def facts(self) -> dict[str, VideoFacts]:
        """Return what `videos.csv` said of the videos when the run began, by video id.

        Text is as in the file, on one line, without control characters; missing facts are None.
        """
        with self._opened() as run:
            return dict(run.facts())

    def videos(self) -> Records[RunVideo]:
        """Return the run's videos as frozen records: what each file was, and who saw what of it.

        A video holds `times`, the seconds of all its frames, and `seen`: by contestant and by role
        the frames that it was sent, as places in `times`. `to_json()` is what `arena export --what
        videos` prints, an object a line.
        """
        from videoautoarena.runs.run.rundir.account import videos_of

        with self._opened() as run:
            return Records(list(videos_of(run)), "videos", shown=_FILMS)

    def users(self) -> Records[RunUser]:
        """Return who asked about each video, as frozen records, as `arena export --what users`.

        `line` is where a user stands in a file that was brought; None: it was invented.
        """
        from videoautoarena.runs.run.inputs.users import run_users

        with self._opened() as run:
            return Records(list(run_users(run.store, run.battles)), "users", shown=_USERS)

    def costs(self) -> Costs:
        """Return what the calls of the run took, as `arena export --what costs` prints it."""
        from videoautoarena.runs.run.rundir.spending import costs_of

        with self._opened() as run:
            return Costs(costs_of(run))

    def rounds(self) -> Records[RunRound]:
        """Return the rounds as frozen records: how hard, who did well, what went wrong.

        Their themes are those of `profiles`; `to_json()` is what `arena export --what rounds`
        prints.
        """
        from videoautoarena.runs.run.battles.rounds import rounds_in

        with self._opened() as run:
            return Records(rounds_in(run), "rounds", shown=_ROUNDS)

    def standards(self) -> Records[StandardVerdicts]:
        """Return the verdicts on each battle by each standard, as frozen records.

        They are combined as those of `leaderboard(by="standard")`; None where no judge was asked
        for them. `to_json()` is what `arena export --what standards` prints.
        """
        from videoautoarena.memory.records.standards import STANDARDS
        from videoautoarena.runs.run.battles.standards import standards_of

        with self._opened() as run:
            found = list(standards_of(run))
        return Records(found, "battles", shown=("battle", *STANDARDS))

    def realism(
        self,
        against: str | os.PathLike[str],
        *,
        categories: Literal["auto", "file", "words"] = "auto",
        cap: float = 5.0,
        permutations: int = 2000,
        seed: int = 0,
    ) -> Realism:
        """Return the questions beside those of real users, as `arena realism`; calls no model.

        `against` holds JSON lines with `question` and where known `video`, `category` or
        `categories`, and `language`. `categories`: whether the file's count or words tell; `auto`
        takes the file's where the run is tagged, too. `cap` is the largest weight of a battle (the
        average is 1). Raises BadInput for a file or a value that cannot be used.
        """
        from videoautoarena.runs.analysis.realism.report import RealismOptions, realism_of
        from videoautoarena.runs.api.results import Realism

        wish = RealismOptions(categories, cap, permutations, seed)
        return Realism(realism_of(self.folder, Path(against), wish))

    def categories(self, classifier: str | None = None) -> Categories:
        """Return what kinds of question were asked, as `arena categories show`; calls no model.

        `classifier`: whose tags count; None: those of the one that tagged most. Raises BadInput if
        no question was tagged, by it or at all; `arena categories tag` does that.
        """
        from videoautoarena.runs.analysis.categories.figures import report_of
        from videoautoarena.runs.api.results import Categories

        with self._opened() as run:
            return Categories(report_of(run, classifier))

    def topics(self) -> Topics:
        """Return what the questions are about, as `arena topics`; calls no model.

        Raises BadInput where nothing clusters, MissingExtra without the extra `text`.
        """
        from videoautoarena.runs.analysis.categories.topics import topic_report
        from videoautoarena.runs.api.results import Topics

        with self._opened() as run:
            return Topics(topic_report(run))

    def close(self) -> None:
        """End its use; nothing else is held open."""
        # Nothing is open; later calls are refused, so that `with` means what it says.
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Run in {str(self._folder)!r}>"
