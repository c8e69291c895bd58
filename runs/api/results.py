"""What the functions of `import videoautoarena` return: rows to work with, shown as tables.

Each holds what the command of its name prints with `--json`, and shows itself as that command does:
as text where it is printed, as an HTML table where a notebook shows it. Names, questions and
answers are data that models and strangers wrote: in HTML all of it is escaped, nothing a script.
"""

from __future__ import annotations

import copy
import json
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.views.results.forms import as_text, marked_up
from videoautoarena.runs.views.results.report import Column, Report, Sentence, Table, Verbatim

if TYPE_CHECKING:
    from pandas import DataFrame

    from videoautoarena.memory.records.records import Frame, Video
    from videoautoarena.runs.analysis.audit.human_agreement import LabelReport
    from videoautoarena.runs.analysis.audit.rejudge import RejudgeReport
    from videoautoarena.runs.analysis.categories.figures import CategoryReport
    from videoautoarena.runs.analysis.categories.topics import RunTopics
    from videoautoarena.runs.analysis.realism.report import RealismReport
    from videoautoarena.runs.console.media.frames import FramesView
    from videoautoarena.runs.console.progress.status import RunStatus
    from videoautoarena.runs.making.scenes.show import SceneReport
    from videoautoarena.runs.rating.profile import ModelProfile, ModelProfiles
    from videoautoarena.runs.run.rundir.account import RunSetup
    from videoautoarena.runs.run.rundir.spending import RunCosts, Spending, Took
    from videoautoarena.runs.views.results.report import Report


Markup = Literal["markdown", "latex", "html", "csv"]
Json = dict[str, Any]
T = TypeVar("T")
COLUMNS = 80
"""Width of what `print` shows, as in a pipe."""
SHOWN = 20
"""Rows of a long list that a notebook shows."""
CELL = 160
"""Characters of a text in a cell of such a list."""
THUMBNAIL_PX = 160


def plain(found: Any) -> Any:
    """Return a record as JSON-ready values of its own; what is JSON-ready already is copied."""
    return found.to_json() if hasattr(found, "to_json") else copy.deepcopy(found)


def frame_of(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return rows as a pandas DataFrame; a nested value has a column `outer.inner` of its own.

    Raises:
        BadInput: pandas is not installed.
    """
    try:
        from pandas import json_normalize
    except ImportError:
        raise BadInput("to_frame() needs pandas; install it with pip install pandas") from None
    return json_normalize([dict(row) for row in rows])


class TabularResult(ABC):
    """What a call returned: `rows` to work with, and the same as JSON, text, HTML and DataFrame."""

    _key = "models"
    """Key of its rows in the JSON."""

    def __init__(self, found: Any) -> None:
        self._found = found
        # Made once; what is handed out are copies, so that nobody's change reaches anybody else.
        self._json: Json = plain(found)

    def to_json(self) -> Json:
        """Return it as the command of its name prints it with `--json`; a copy, yours to change."""
        return copy.deepcopy(self._json)

    @property
    def rows(self) -> list[Json]:
        """Its rows as JSON-ready values, in the order in which they are shown."""
        return list(self.to_json()[self._key])

    @abstractmethod
    def to_text(self) -> str:
        """Return it as the command of its name prints it in 80 columns; safe for a terminal."""

    @abstractmethod
    def _repr_html_(self) -> str: ...

    def to_frame(self) -> DataFrame:
        """Return the rows as a pandas DataFrame; `share.low` is what `low` in `share` holds.

        Raises:
            BadInput: pandas is not installed.
        """
        return frame_of(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Json]:
        return iter(self.rows)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {len(self)} rows; print it to read it>"


class Reported(TabularResult):
    """What shows itself as a report does."""

    @abstractmethod
    def _report(self) -> Report: ...

    def to_text(self) -> str:
        return as_text(self._report())

    def _repr_html_(self) -> str:
        return marked_up(self._report(), "html")


class Board(TabularResult):
    """A table that also takes the forms in which it is pasted into papers."""

    @abstractmethod
    def to_markup(self, form: Markup) -> str:
        """Return it for pasting: `markdown`, `latex`, `html` or `csv`; every cell is harmless."""

    def _repr_html_(self) -> str:
        return self.to_markup("html")


class ReportedBoard(Reported, Board):
    """A table that is all of its report."""

    def to_markup(self, form: Markup) -> str:
        return marked_up(self._report(), form)


class Leaderboard(ReportedBoard):
    """The models of a run or of anybody's battles, best first, those without a rating last.

    A row holds `model`; `rating` in Elo points, mean 1000, with the bounds `low` and `high` of its
    95 % interval; `rank`, `rank_best` and `rank_worst`; `battles`, `wins`, `losses`, `ties`,
    `win_rate` from 0 to 1, `forfeits` and `flags`. Figures without any battle behind them are
    None. `docs/records.md` lists every key.
    """

    @property
    def ratings(self) -> dict[str, float | None]:
        """Each model's rating in Elo points, best first; None of one without a rating."""
        return {row["model"]: row["rating"] for row in self._json["models"]}

    @property
    def warnings(self) -> list[str]:
        """What a reader of the ratings must know."""
        return list(self._json["settings"]["warnings"])

    @property
    def facts(self) -> list[Json]:
        """Facts about the models' calls: `fact`, `model`, `count`, `of` and `sentence` of each."""
        # Absent of battles from a file, of which no call is known.
        return list(copy.deepcopy(self._json.get("facts", [])))

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.leaderboard import leaderboard_report

        return leaderboard_report(self._found)


class Slices(ReportedBoard):
    """A leaderboard for every part of a run, each on a scale of its own.

    A row is one of a leaderboard with the name of its part under `slice`.
    """

    @property
    def rows(self) -> list[Json]:
        """A row a part and model."""
        parts = self.to_json()["slices"]
        return [{"slice": part["slice"], **row} for part in parts for row in part["models"]]

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.slices import slices_report

        return slices_report(self._found)


class Pairs(ReportedBoard):
    """Head-to-head results of the models of a run.

    A row holds `model` and `rival`, `share` of points from 0 to 1 with its 95 % interval, what the
    ratings of the whole run `expected`, and `battles`; the better-rated model stands first.
    """

    _key = "pairs"

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.slices import pairs_report

        return pairs_report(self._found)


class Audit(ReportedBoard):
    """What a run says about its judges.

    A row holds the `key` of a figure, its `value` with the bounds `low` and `high` of its 95 %
    interval, the number `n` of cases behind it, the `sentence` that says what it means, and whether
    it is an `alarm`.
    """

    _key = "findings"

    @property
    def alarms(self) -> list[str]:
        """The sentences that a reader must know before believing the ranking."""
        return [found["sentence"] for found in self._json["findings"] if found["alarm"]]

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.audit import audit_report

        return audit_report(self._found)

    def to_markup(self, form: Markup) -> str:
        from videoautoarena.runs.views.results.audit import audit_sheet

        return marked_up(audit_sheet(self._found), form, notes=True)


class Rejudgings(TabularResult):
    """How far other judges agree with a run.

    A row holds the `key` of a figure, its `value` with the bounds `low` and `high` of its 95 %
    interval, `n` and `sentence`, and whose it is: `judge`.
    """

    _found: RejudgeReport

    @property
    def rows(self) -> list[Json]:
        """A row a judge and figure."""
        return [
            {"judge": one.judge, **found.to_json()}
            for one in self._found.judges
            for found in one.findings
        ]

    def _reports(self) -> Iterator[Report]:
        from videoautoarena.runs.views.results.audit import rejudged_reports

        return rejudged_reports(self._found)

    def to_text(self) -> str:
        return "\n\n".join(map(as_text, self._reports()))

    def _repr_html_(self) -> str:
        return "\n".join(marked_up(one, "html") for one in self._reports())


class Status(TabularResult):
    """How far a run was when it was asked: `settled` of its `slots`, what the calls cost."""

    _found: RunStatus

    @property
    def rows(self) -> list[Json]:
        """One row: the whole."""
        return [self.to_json()]

    @property
    def slots(self) -> int:
        """How many battles the run is to have."""
        return self._found.slots

    @property
    def settled(self) -> int:
        """How many of these slots have ended, in whatever way."""
        return self._found.settled

    @property
    def decided(self) -> int:
        """How many of these battles enter the ratings."""
        return self._found.decided

    @property
    def next(self) -> str:
        """The command to type next."""
        return self._found.next

    def to_text(self) -> str:
        from videoautoarena.runs.formats.terminal import folded

        return folded("\n".join(self._found.as_lines()), COLUMNS)

    def _repr_html_(self) -> str:
        rows = [[line] for line in self._found.as_lines()]
        return html_table("How far the run is", ("Status",), rows)


class Records(Sequence[T], Generic[T]):
    """Records in their order; each is frozen, and its attributes are those of its JSON."""

    def __init__(self, records: Sequence[T], name: str, *, shown: Sequence[str]) -> None:
        self._records = records
        self._name = name
        self._shown = shown

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Records[T]: ...
    def __getitem__(self, place: int | slice) -> T | Records[T]:
        if isinstance(place, slice):
            # A part shows itself as the whole does.
            return Records(self._records[place], self._name, shown=self._shown)
        return self._records[place]

    def __len__(self) -> int:
        return len(self._records)

    def to_json(self) -> list[Json]:
        """Return an object a record, in the shape that other programs rely on."""
        return [_dumped(record) for record in self._records]

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with a row a record.

        Raises:
            BadInput: pandas is not installed.
        """
        return frame_of(self.to_json())

    def _repr_html_(self) -> str:
        rows = [[cell(getattr(one, name)) for name in self._shown] for one in self[:SHOWN]]
        more = len(self) - len(rows)
        notes = [f"and {more:,} more; to_frame() and to_json() have all of them"] if more else []
        return html_table(f"{len(self):,} {self._name}", self._shown, rows, notes)

    def __repr__(self) -> str:
        return f"<{len(self)} {self._name}>"


def _dumped(record: Any) -> Json:
    found: Json = record.model_dump(by_alias=True, mode="python")
    return found


def html_table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Iterable[str] = (),
) -> str:
    """Return texts as an HTML table with notes below."""
    columns = tuple(Column(head, head) for head in heads)
    # Through the one writer of HTML, which escapes every cell.
    table = Table(
        "texts", caption, columns, tuple(dict(zip(heads, row, strict=True)) for row in rows)
    )
    return marked_up(Report((table,), tuple(Sentence((Verbatim(one),)) for one in notes)), "html")


def cell(value: Any) -> str:
    """Return a value as a cell for a person, cut where it is long."""
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= CELL else f"{text[: CELL - 3]}..."


class Frames(Sequence["Frame"]):
    """The frames of one video as models are sent them: when each is shown, and its JPEG.

    Items hold `time_s`, in seconds from the beginning of the video, and the `digest` of the JPEG.
    """

    def __init__(self, view: FramesView) -> None:
        self._view = view

    @overload
    def __getitem__(self, place: int) -> Frame: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Frame]: ...
    def __getitem__(self, place: int | slice) -> Frame | Sequence[Frame]:
        return self._view.frames.frames[place]

    def __len__(self) -> int:
        return len(self._view.frames.frames)

    @property
    def video(self) -> Video:
        """The video that they are of."""
        return self._view.video

    @property
    def jpegs(self) -> tuple[bytes, ...]:
        """The pictures as bytes of JPEG files, in the order of the frames."""
        return self._view.jpegs

    def to_json(self) -> Json:
        """Return them as `arena frames --json` prints them, without a sheet."""
        return self._view.as_json(None)

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with a row a frame.

        Raises:
            BadInput: pandas is not installed.
        """
        return frame_of(self.to_json()["frames"])

    def _repr_html_(self) -> str:
        from videoautoarena.runs.console.media.frames import about_frames, warnings

        notes = [about_frames(self._view), *warnings(self._view)]
        below = html_table("What was sent", ("Frames",), [[note] for note in notes])
        return "\n".join([*map(_picture, self, self.jpegs), below])

    def __repr__(self) -> str:
        return f"<{len(self)} frames of {self.video.path!r}>"


def _picture(frame: Frame, jpeg: bytes) -> str:
    from videoautoarena.video.synth.contact_sheet import thumbnail

    # A notebook keeps its output in its file: thumbnails, not frames.
    small = b64encode(thumbnail(jpeg, longer_px=THUMBNAIL_PX)).decode("ascii")
    when = f"{frame.time_s:.2f} s"
    return f'<img src="data:image/jpeg;base64,{small}" alt="{when}" title="{when}">'


class Scenes(Reported):
    """What a video shows: its scenes, and the objects in them that come back.

    A row is a scene: `number`, `start_s`, `end_s`, `caption`, `theme`, its `shots` and `frames_s`.
    """

    _key = "scenes"

    def __init__(self, found: SceneReport) -> None:
        self._found = found
        # Lists throughout, as in what the command prints.
        self._json = json.loads(json.dumps(found.as_json(None)))

    @property
    def objects(self) -> list[Json]:
        """The objects: `id`, `name`, and `appearances` with scene, time and place."""
        return list(self.to_json()["objects"])

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.scenes import scenes_report

        assert self._found.memory is not None
        return scenes_report(self._found, self._found.memory)


class Setup(TabularResult):
    """What a run was set up to do: its cast, who plays which part, and by which rules.

    `record` holds it with a type; no address, key or absolute path is in it.
    """

    _found: RunSetup

    @property
    def record(self) -> RunSetup:
        """The settings as a frozen record."""
        return self._found

    @property
    def rows(self) -> list[Json]:
        """One row: the whole."""
        return [self.to_json()]

    def to_text(self) -> str:
        """Return it as `arena export --what setup` prints it: one line of JSON."""
        return json.dumps(self._json)

    def _repr_html_(self) -> str:
        rows = [[name, cell(value)] for name, value in self._json.items()]
        return html_table("Settings of the run", ("setting", "value"), rows)


class Costs(ReportedBoard):
    """What the calls of a run took.

    A row is what the calls of one `model` in one `role` took: `calls`, `failed`,
    `input_tokens`, `output_tokens`, `cost_usd` (None where any is unknown, with `unknown_cost` of
    them), and `latency_s` in seconds, its `median` and `p90`.
    """

    _found: RunCosts

    @property
    def roles(self) -> tuple[Spending, ...]:
        """What each role cost, all its models together."""
        return self._found.roles

    @property
    def models(self) -> tuple[Spending, ...]:
        """The rows as frozen records."""
        return self._found.models

    @property
    def battles(self) -> Mapping[str, Mapping[str, Took]]:
        """What each battle that counts took, by its id and then by `ROLE:NAME`."""
        return self._found.battles

    def to_text(self) -> str:
        """Return it as `arena export --what costs` prints it: one line of JSON."""
        return json.dumps(self._json)

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.report import Report
        from videoautoarena.runs.views.results.run_page import spending_table

        table = spending_table("calls", "Calls", self._found.models, names=("role", "model"))
        return Report((table,), ())


class Labels(Reported):
    """What people who labelled a run say of its battles, and of its judges.

    A row is what one `labeller` did, most labels first: `labels`, `ties`, `skipped`, `superseded`,
    and how often the judge `agreed`.
    """

    _found: LabelReport
    _key = "labellers"

    @property
    def record(self) -> LabelReport:
        """The whole as a frozen record: votes, findings, and questions by source."""
        return self._found

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.audit import labels_report

        return labels_report(self._found)


class Categories(ReportedBoard):
    """How many questions are of each category, how their battles ended, and who leads there.

    A row is a `category`: `questions` of it, `unknown` ones, their `share` with a 95 % interval
    that knows which questions share a video, decided `battles` and `both_bad_share` of them. A
    question may be of several, so that shares add up to more than 1; the last row counts those of
    none. `record` holds each model's place in each category and language, and how far style moves
    it.
    """

    _found: CategoryReport

    @property
    def record(self) -> CategoryReport:
        """The whole, as a frozen record."""
        return self._found

    @property
    def rows(self) -> list[Json]:
        """A row a category, as they are shown."""
        found = self.to_json()
        groups = {one["name"]: one for one in found["groups"]}
        return [{**one, **_of(groups.get(one["category"]))} for one in found["counts"]]

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.categories import categories_report

        return categories_report(self._found)


def _of(group: Json | None) -> Json:
    # A category without a battle has no group.
    if group is None:
        return {"battles": 0, "both_bad_share": None}
    return {"battles": group["battles"], "both_bad_share": group["both_bad_share"]}


class Topics(ReportedBoard):
    """What the questions of a run are about.

    A row is a `topic`, the largest first: its `questions`, their `share` with a 95 % interval that
    knows which questions share a video, its `videos`, decided `battles`, `both_bad_share` of these,
    whether they are few (`is_thin`), and an `example`. Topics are named by their three weightiest
    words.
    """

    _found: RunTopics
    _key = "topics"

    @property
    def record(self) -> RunTopics:
        """The whole, as a frozen record."""
        return self._found

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.categories import topics_report

        return topics_report(self._found)


class Profile(Reported):
    """What one model gets wrong more often than others, and where it wins.

    A row holds a `theme` of weaknesses, the most frequent first, the number `n` of answers that
    show it, their `share` of those that were looked at with its 95 % interval, the same of all
    others, the `difference`, and the `mark` `more` or `less` where that is sure.
    """

    _found: ModelProfile
    _key = "themes"

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.profiles import profile_report

        return profile_report(self._found)


class Profiles(Reported):
    """The profiles of all models of a run, best-rated first; a row holds what a `Profile` does."""

    _found: ModelProfiles
    _key = "profiles"

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.profiles import profiles_report

        return profiles_report(self._found)


class TagCheck(ReportedBoard):
    """How far the tags of a run agree with a stronger model's, or people's.

    A row holds a `category`, the counts `truths`, `claims`, `both` and `unknown`, and `precision`
    and `recall`, each with `value`, its 95 % interval and `n`.
    """

    _key = "rows"

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.categories import check_report

        return check_report(self._found)


class Realism(ReportedBoard):
    """How the questions of a run stand to those of real users.

    A row is one `value` of a `trait`: its share, or the mean, of `simulated` and of `real`
    questions with 95 % intervals by video, the trait's `held_p`, with the error held over all
    traits, and whether it `differs`.
    """

    _found: RealismReport

    @property
    def rows(self) -> list[Json]:
        """A row a trait and value."""
        return [
            {
                "trait": trait["trait"],
                **value,
                "held_p": trait["held_p"],
                "differs": trait["differs"],
            }
            for trait in self.to_json()["traits"]
            for value in trait["values"]
        ]

    @property
    def told_apart(self) -> list[str]:
        """The traits by which simulated and real questions are told apart."""
        return list(self._found.told_apart)

    @property
    def warnings(self) -> list[str]:
        """What a reader of the figures must know."""
        return list(self._found.warnings)

    @property
    def as_played(self) -> Leaderboard | None:
        """The leaderboard of the run; None if there is no board by the real mix beside it."""
        boards = self._found.boards
        return None if boards is None else Leaderboard(boards.as_played)

    @property
    def real_mix(self) -> Leaderboard | None:
        """The leaderboard by the mix of real questions; None where no weights make it."""
        boards = self._found.boards
        return None if boards is None else Leaderboard(boards.real_mix)

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.categories import realism_report

        return realism_report(self._found)

    def to_text(self) -> str:
        return as_text(self._report(), notes=True)

    def to_markup(self, form: Markup) -> str:
        from videoautoarena.runs.views.results.categories import realism_report

        # In full: only a terminal is spared the rarer values of a trait.
        return marked_up(realism_report(self._found, most=None), form, notes=True)
