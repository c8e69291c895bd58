"""A labelling session: one process that holds the lock of a run, and a link for each labeller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.label_import import wrong_name
from videoautoarena.runs.analysis.audit.label_sample import complete_sample
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import composed, written_as
from videoautoarena.runs.run.rundir.opener import NO_FOLDER, videos_folder
from videoautoarena.runs.run.rundir.reader import RunReader, counted, run_file
from videoautoarena.runs.serve.annotate.app import POSTS, LabellerTasks, annotate_app
from videoautoarena.runs.serve.annotate.battles import BattleTask, Makers
from videoautoarena.runs.serve.annotate.films import Films
from videoautoarena.runs.serve.annotate.questions import (
    RankingTask,
    question_sets,
    read_questions,
)
from videoautoarena.runs.serve.server.guard import Guard, Sessions
from videoautoarena.runs.serve.server.serve import listen, port_of, serve
from videoautoarena.runs.views.page.document import document, policy
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

LABELLER = "labeller"
"""Name of the labeller where nobody was named."""
NEW_LINK = "for new links, end arena annotate with Ctrl-C and start it again; votes so far are kept"


@dataclass(frozen=True)
class AnnotateRequest:
    """What a labelling session is asked to be."""

    folder: Path
    number: int
    """Battles that each labeller is to see, including those of earlier sessions."""
    labellers: tuple[str, ...] = (LABELLER,)
    against: tuple[Path, ...] = ()
    """Files with questions of other sources."""
    videos: Path | None = None
    """Where the videos are, if they have moved."""
    port: int | None = None


@dataclass(frozen=True)
class LabellingSession:
    """A session that can be opened."""

    links: Mapping[str, str]
    """Links by labeller; each opens in one browser."""
    tasks: tuple[LabellerTasks, ...]
    notes: tuple[str, ...]

    def as_lines(self) -> Iterator[str]:
        """Yield how far each labeller is by now."""
        for one in self.tasks:
            parts = []
            for queue, thing in ((one.battle.queue, "battle"), (one.ranking.queue, "set")):
                done, skipped, total = queue.progress
                if total:
                    whole = counted(total, thing) + " of questions" * (thing == "set")
                    parts.append(f"{done} of {whole} done, {skipped} of them skipped")
            yield f"{safe(one.labeller)}: {'; '.join(parts)}"


async def annotate(
    asked: AnnotateRequest, on_begun: Callable[[LabellingSession], None]
) -> LabellingSession:
    """Let people vote until somebody interrupts; every vote is in the run before the next is shown.

    Raises:
        BadInput: a run without a battle to vote on, or a file or a port that cannot be used.
        WrongArgument: a name that no labeller can have, or one that is given twice.
        RunLocked: a process is running it.
    """
    names = _names(asked.labellers)
    # With fsync: what a person decided cannot be computed again after a power cut.
    with Store.open(run_file(asked.folder), write=True, fsync=True) as store:
        labellers = [label.labeller for label in store.evidence.labels()]
        names = tuple(written_as(name, labellers) for name in names)
        async with Decoders(FrameCache()) as decoders:
            folder = videos_folder(store, asked.videos) or NO_FOLDER
            films = Films(store, decoders, folder)
            tasks, notes = prepare(RunReader(asked.folder, store), asked, names=names, films=films)
            with closing(listen(asked.port)) as listener:
                sessions = Sessions(port_of(listener))
                page = "".join(document("annotate")).encode()
                app = annotate_app({one.labeller: one for one in tasks}, page, films)
                guard = Guard(
                    app, sessions, policy=policy("annotate"), posts=POSTS, new_link=NEW_LINK
                )
                links = {name: sessions.link(name) for name in names}
                begun = LabellingSession(links, tasks, notes)
                await serve(guard, listener, lambda: on_begun(begun))
    return begun


def prepare(
    run: RunReader, asked: AnnotateRequest, *, names: tuple[str, ...], films: Films
) -> tuple[tuple[LabellerTasks, ...], tuple[str, ...]]:
    """Return the tasks of each labeller in a run that is open for writing, and notes on them.

    Raises:
        BadInput: there is nothing to do, or a file that cannot be used.
    """
    seed = int(run.manifest.get("seed", 0))
    given = read_questions(asked.against, run.store.videos())
    sets = question_sets(run, given.questions, seed)
    if asked.against and not sets:
        raise BadInput(
            f"no video has questions from two sources; pass another file with {option('against')}"
        )
    order = complete_sample(run, asked.number, seed)
    if not order and not sets:
        why = "no battle is to be labelled" if asked.number == 0 else "no battle is decided yet"
        raise BadInput(f"{safe(str(run.folder))}: {why}; there is nothing to annotate")
    notes = []
    if len(order) < asked.number:
        there = counted(len(order), "decided battle")
        notes.append(f"{there} in the run, fewer than the {asked.number} (--n) asked for")
    if given.strange:
        notes.append(f"{counted(given.strange, 'question')} of videos outside the run left out")
    makers = Makers.of_run(run.manifest)
    tasks = tuple(
        LabellerTasks(
            name,
            BattleTask(run.store, name, order, films=films, makers=makers, seed=seed),
            RankingTask(run.store, name, sets, films=films, seed=seed),
        )
        for name in names
    )
    return tasks, tuple(notes)


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(composed(" ".join(name.split())) for name in given)
    for name in names:
        if wrong := wrong_name(name):
            raise WrongArgument(wrong)
        if names.count(name) > 1:
            raise WrongArgument(f"--labeller {safe(name)} was given twice; each has one link")
    return names
