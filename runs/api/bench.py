"""Frozen sets as `import videoautoarena` offers them: questions, results and scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from typing_extensions import Unpack

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.runs.api.jobs import (
    JobOptions,
    PathLike,
    PlayedJob,
    ReadyJob,
    ended,
    ordered,
    paid,
)
from videoautoarena.runs.api.models import (
    ModelLike,
    judges_of,
    named,
    refuse_two_of_one_name,
    several,
)
from videoautoarena.runs.api.results import Board, Json, Markup, Records, Reported

if TYPE_CHECKING:
    from videoautoarena.runs.bench.dialogues.score import DialogueSetScores
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.format.results import AnyResult, History, View
    from videoautoarena.runs.bench.format.schema import DialogueItem, Item, Manifest, TaskItem
    from videoautoarena.runs.bench.play.cast import Swap
    from videoautoarena.runs.bench.play.plan import BenchPlan
    from videoautoarena.runs.bench.play.runner import Ran
    from videoautoarena.runs.bench.play.work import BenchEngine
    from videoautoarena.runs.bench.score.anchor_score import AnchorScores
    from videoautoarena.runs.bench.score.shortcuts import SetProbes
    from videoautoarena.runs.bench.score.task_score import TaskSetScores
    from videoautoarena.runs.jobs.paid_job import JobAudience
    from videoautoarena.runs.views.results.report import Report


class ProbeOptions(JobOptions, total=False):
    """How a set is asked without the whole of its videos."""

    seed: int
    """Seed of the order of frames or answers, and of the limit: 0."""
    limit: int | None
    """Ask so many of the questions, drawn by the seed."""
    allow_missing: bool
    """Count questions of videos that are not there as void."""
    engine: BenchEngine | None
    """What plays; None: this process."""


class BenchOptions(ProbeOptions, total=False):
    """How a bench is played: the fields of `BenchOrder` and `CastRequest`, and of a job."""

    anchor: str | None
    """Hold every answer against this model's alone."""
    swap: Swap
    """Share of rulings judged again with swapped answers, or `all`: 0.1."""
    frames: Sequence[int]
    """Of tasks and dialogues: play every model with each of these numbers of frames."""
    history: History
    """Of dialogues: send the reference answers of earlier rounds (`golden`), or the `own`."""
    preset: Literal["paper"] | None
    """Of dialogues: look at the videos as MT-Video-Bench does."""
    views: Sequence[View]
    """Of tasks: what each model is shown of a video, such as `blind`; the `whole`."""
    prompts: PathLike | None
    """Folder of prompt files that replace the built-in ones."""


_OF_CAST = ("anchor", "swap", "seed", "frames", "history", "preset", "views")
Of = Literal["judged", "decided", "all"]
_LISTED = ("qid", "video_id", "question", "selected_answer", "rejected_answer")
_LISTED_TASKS = ("qid", "video_id", "task", "question", "options", "answer")
_LISTED_DIALOGUES = ("qid", "video_id", "ability", "event", "rounds")


def open_bench(path: str | os.PathLike[str]) -> Bench:
    """Return the frozen bench in a folder; its files are read once, its videos not at all.

    Raises:
        BadInput: there is no bench, or something in it is not as it was frozen.
    """
    # Imported where it is used, as everywhere in this room: `import videoautoarena` loads nothing
    # else.
    from videoautoarena.runs.bench.format.reader import open_bench as opened

    return Bench(opened(Path(path)))


class PlayedProbes(NamedTuple):
    """What a set gives away, and how models were asked for it."""

    probes: SetProbes
    ran: Ran | None = None
    """None where nobody was asked."""


class Bench:
    """A bench as it was frozen. Only `run` and `probe` call models or write anything."""

    def __init__(self, opened: OpenBench[Any]) -> None:
        self._opened = opened

    @property
    def _holds_tasks(self) -> bool:
        from videoautoarena.runs.bench.format.schema import TASK_KINDS

        return self.manifest.kind in TASK_KINDS

    @property
    def _holds_dialogues(self) -> bool:
        from videoautoarena.runs.bench.format.schema import DIALOGUE

        return self.manifest.kind == DIALOGUE

    @property
    def folder(self) -> Path:
        """Where the bench lies."""
        return self._opened.folder

    @property
    def digest(self) -> str:
        """The bench's digest of itself: two with one digest are the same, byte for byte."""
        return self._opened.bench

    @property
    def manifest(self) -> Manifest:
        """What the bench says of itself (source, videos, counts, files), as a frozen record."""
        return self._opened.manifest

    @property
    def items(self) -> Records[Item] | Records[TaskItem] | Records[DialogueItem]:
        """The items as frozen records: tasks, or questions with a winning and a losing answer.

        A set of dialogues has its dialogues.
        """
        listed = _LISTED_TASKS if self._holds_tasks else _LISTED
        if self._holds_dialogues:
            return Records(self._opened.items, "dialogues", shown=_LISTED_DIALOGUES)
        return Records(self._opened.items, "questions", shown=listed)

    @property
    def results(self) -> list[AnyResult]:
        """The results of models so far: rulings on their answers, or for tasks the answers.

        For dialogues they hold the answer to each scored round and the marks of its checklist.

        Raises:
            BadInput: a file that is no result, or one on another bench.
        """
        from videoautoarena.runs.bench.format import results

        if self._holds_tasks:
            return [*results.read_tasks(self._opened)]
        if self._holds_dialogues:
            return [*results.read_dialogues(self._opened)]
        # Rulings on both references, then games against an anchor.
        return [*results.read_results(self._opened), *results.read_anchored(self._opened)]

    @paid
    def run(
        self,
        models: Sequence[ModelLike] = (),
        *,
        judge: ModelLike | Sequence[ModelLike] = (),
        allow_offline_judge: bool = False,
        allow_self_judging: bool = False,
        allow_blind_referee: bool = False,
        **how: Unpack[BenchOptions],
    ) -> ReadyJob[BenchPlan, Ran, Scores | TaskScores | DialogueScores]:
        """Let models answer the bench and have the answers scored, as `arena bench run` does.

        What was played before costs nothing again. Costs a call a question and model, and for each
        answer those of its judges.

        Args:
            models: who answers: `provider:model`, names of arena.toml, or LangChain chat models;
                none: those of arena.toml, else the offline cast.
            judge: who judges free text, alike; none: as `arena bench run` chooses.
            allow_offline_judge: let the offline judge judge answers of real models.
            allow_self_judging: let a judge answer, too.
            allow_blind_referee: let a judge be sent no frames.
            how: how it is played and how models are asked, by the names of `BenchOptions`.

        Raises:
            BadInput: no such model or folder, or an option that cannot be.
            Unfinished: it ended early, or more than 5 % is void, or of one model forfeits.
        """
        from videoautoarena.runs.analysis.trials.trial import Leave

        refuse_two_of_one_name((*models, *several(judge)))
        return self._job(
            {**how},
            models=tuple(map(named, models)),
            judges=judges_of(judge),
            leave=Leave(allow_offline_judge, allow_self_judging, allow_blind_referee),
        )

    def _job(
        self, given: dict[str, Any], **cast: Any
    ) -> ReadyJob[BenchPlan, Ran, Scores | TaskScores | DialogueScores]:
        """Return the job of playing it with options and fields of a `CastRequest`."""
        from videoautoarena.runs.bench.kinds.scorings import scoring_of
        from videoautoarena.runs.bench.play.cast import CastRequest
        from videoautoarena.runs.bench.play.runner import BenchOrder

        drawn = {name: given.pop(name) for name in _OF_CAST if name in given}
        # Lists are as good as what the command gives.
        drawn |= {name: tuple(drawn[name]) for name in ("frames", "views") if name in drawn}
        file = given.get("config")
        config = None if file is None else Path(file)
        order = ordered(BenchOrder, given, wanted=CastRequest(config=config, **cast, **drawn))
        way = scoring_of(self._opened)

        async def play(audience: JobAudience) -> PlayedJob[Ran]:
            ran = await way.run(self._opened, order, audience)
            return ended(ran.tally, ran)

        return ReadyJob(
            lambda _: way.plan(self._opened, order),
            play,
            lambda ran: self.score(judge=ran.judge or None),
        )

    @paid
    def probe(
        self, models: Sequence[ModelLike] = (), **how: Unpack[ProbeOptions]
    ) -> ReadyJob[BenchPlan, PlayedProbes, Probes]:
        """Say what a task set gives away without its videos, as `arena bench probe` does.

        By its text alone, which costs nothing; and to models that are asked without frames, with
        one, with shuffled ones and with those of another video: four calls a question and model.

        Args:
            models: who is asked, as of `run`; none: nobody.
            how: how they are asked, by the names of `ProbeOptions`.

        Raises:
            BadInput: no set of tasks, no such model or folder, or an option that cannot be.
            Unfinished: it ended early, or too many calls failed.
        """
        from videoautoarena.runs.bench.format.results import VIEWS
        from videoautoarena.runs.bench.score.shortcuts import probe_all
        from videoautoarena.runs.jobs.paid_job import JobTally

        if strange := sorted(how.keys() - ProbeOptions.__annotations__.keys()):
            raise WrongArgument(f"there is no setting {strange[0]!a}; see ProbeOptions")
        opened = self._opened
        # Before anything is paid for: a set of another kind has no shortcuts.
        found = probe_all(opened)
        refuse_two_of_one_name(models)
        asked = {**how, "swap": 0.0, "views": VIEWS}
        job = self._job(asked, models=tuple(map(named, models)))

        async def play(audience: JobAudience) -> PlayedJob[PlayedProbes]:
            if not models:
                return PlayedJob(JobTally(), PlayedProbes(found))
            played = await job.play(audience)
            # Anew: the answers of the models are among the results by now.
            probes = PlayedProbes(probe_all(opened), played.found)
            return PlayedJob(played.tally, probes, played.lack)

        return ReadyJob(
            job.plan, play, lambda played: Probes(played.probes), is_planned=bool(models)
        )

    def score(
        self,
        *,
        of: Of = "judged",
        by: str | None = None,
        judge: str | None = None,
        anchor: str | None = None,
        as_published: bool = False,
        margin: float = 2.0,
    ) -> Scores | TaskScores | DialogueScores:
        """Return the scores of all models that were played on it, as `arena bench score` does.

        Args:
            of: the questions that are the whole: those `judged`, those `decided` against both
                references, or `all` of the bench.
            by: a trait of the questions, for the scores of each part as well: `duration`,
                `category`, `topic`, `language`, `question-category` (a question stands in each
                of its own), or a column of the run's `videos.csv`.
            judge: only what this judge said.
            anchor: only what was held against this model's answers.
            as_published: tasks and dialogues by the rules of whoever published them.
            margin: points of accuracy within which a cheaper one of several settings is as good.

        Raises:
            BadInput: nothing was judged, or not by this judge or against this anchor; or what is
                asked for does not go with this kind of set.
        """
        from videoautoarena.runs.bench.kinds.scorings import scoring_of
        from videoautoarena.runs.bench.score.anchor_score import WantedScores

        # Checked here, since nothing checks types in a notebook.
        _refuse("of", of, ("judged", "decided", "all"))
        wanted = WantedScores(
            of=of, by=by, judge=judge, anchor=anchor, as_published=as_published, margin=margin
        )
        found = scoring_of(self._opened).score(self._opened, wanted)
        if self._holds_dialogues:
            return DialogueScores(found)
        return TaskScores(found) if self._holds_tasks else Scores(found)

    def __len__(self) -> int:
        return len(self._opened.items)

    def __repr__(self) -> str:
        held = "dialogues" if self._holds_dialogues else "questions"
        return f"<Bench of {len(self)} {held} in {str(self.folder)!r}>"


def _refuse(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        there = ", ".join(str(one) for one in allowed if one is not None)
        raise WrongArgument(f"{name} cannot be {value!r}; there are {there}")


class SetBoard(Board):
    """Scores on a frozen set, one table for each part of it."""

    def to_text(self) -> str:
        from videoautoarena.runs.views.results.comparisons import set_reports
        from videoautoarena.runs.views.results.forms import as_text

        return "\n\n".join(map(as_text, set_reports(self._found)))

    def to_markup(self, form: Markup) -> str:
        """Return it for pasting: `markdown`, `latex`, `html` or `csv`; every cell is harmless.

        CSV is one table; for preferences that of the references if there are any.
        """
        from videoautoarena.runs.views.results.comparisons import pasted

        return pasted(self._found, form)


class Scores(SetBoard):
    """The scores of models on a bench, best first, in percent with 95 % intervals.

    A row holds `model`, `judge`, `vs_selected`, `vs_rejected`, their `average` with its bounds
    `low` and `high`, and the number `n` of questions behind them. What was held against an anchor
    stands in `anchored`: a board a judge and anchor.
    """

    _found: AnchorScores

    @property
    def anchored(self) -> list[Json]:
        """The boards of games against anchors, as JSON-ready values."""
        return list(self.to_json().get("anchored", []))

    @property
    def rows(self) -> list[Json]:
        """A row for each model and judge; the rows of anchored boards if there are no others."""
        if self._json["models"]:
            return list(self.to_json()["models"])
        return [
            {"anchor": board["anchor"], "judge": board["judge"], **row}
            for board in self.anchored
            for row in board["models"]
        ]


class TaskScores(SetBoard):
    """The scores of models on tasks that have a right answer, best first, each part by itself.

    A row holds `split`, `model`, `judge`, the figures `m_avg` of choices in percent and `g_avg` of
    free text, each with `value`, its 95 % interval from `low` to `high` and `n`, `overall`,
    `groups`, `tasks`, and `counts` of how items ended. Figures of nothing are None.
    """

    _found: TaskSetScores

    @property
    def rows(self) -> list[Json]:
        """A row for each part of the set and model."""
        boards = self.to_json()["boards"]
        return [{"split": board["split"], **row} for board in boards for row in board["models"]]


class Probes(Reported):
    """What a task set gives away without its videos: by its text, and to those who were asked.

    A row is a probe by text of one task: `split`, `task`, `probe`, the `share` of items whose key
    it names, its `chance`, `p` and the `reading` of both. `asked` are the accuracies of models.
    """

    @property
    def rows(self) -> list[Json]:
        """A row a task, split and probe by text."""
        return [
            {"split": part["split"], "task": part["task"], **result}
            for part in self.to_json()["parts"]
            for result in part["results"]
        ]

    @property
    def asked(self) -> list[Json]:
        """The accuracy of each model, task by task, by what it was shown."""
        return list(self.to_json()["asked"])

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.checks import probes_report

        return probes_report(self._found)


class DialogueScores(SetBoard):
    """The scores of models on dialogues, best first, in percent.

    A row holds `model`, `judge`, `history` (`golden` or `own`), `overall`, the plain mean of the
    six abilities with `value`, its 95 % interval from `low` to `high` and `n`; `abilities`, the
    refusal `twin` and `over_refusal`, `parts` by turns, length and scenes, and `counts` of how
    rounds ended. Figures of nothing are None.
    """

    _found: DialogueSetScores

    @property
    def constants(self) -> list[Json]:
        """What knowing nothing scores: all yes, all no, silence, refusing whatever is asked."""
        return list(self.to_json()["constants"])
