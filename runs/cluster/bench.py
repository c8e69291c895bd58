"""The questions of a bench on a cluster: workers fill its file of calls, a video at a time.

The result of a question is not sent to the head, which reads it from the file. All that looks at
the same video is played by one worker after the other: two of them might pay for the same call, or
decide twice which frames it has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.memory.records.records import Video
from videoautoarena.memory.store.shares import Unit
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.game import scope_of
from videoautoarena.runs.bench.play.work import BenchWork, Due, Pair, Remaining
from videoautoarena.runs.cluster.jobs import Job, WorkerSetup, setup_from
from videoautoarena.runs.console.progress.events import Listeners, RunEvent, pass_on
from videoautoarena.runs.jobs.paid_job import AT_WORK
from videoautoarena.runs.run.rundir.context import CallPacing, EarlyEnd, work_off
from videoautoarena.runs.run.rundir.frames import RunFrames


@dataclass(frozen=True)
class BenchQuestions:
    """Plays questions on a worker; their results are written in the file of calls alone."""

    work: BenchWork
    at_once: int
    """The most questions of one job that are played at the same time."""

    @property
    def preset(self) -> str | None:
        """The preset that videos are sampled with; None: the usual way."""
        return self.work.cast.preset

    @property
    def videos(self) -> Mapping[str, Video]:
        """All videos by their own ids."""
        return self.work.videos

    @property
    def files(self) -> Mapping[str, Path]:
        """Id of a video to the path of its file, the same on all machines."""
        return self.work.films.files

    async def play(self, job: Job, store: Store, asker: Asker, frames: RunFrames) -> None:
        """Play the questions of a job to their ends."""
        game = self.work.game(asker, store, frames)

        async def play(pair: Pair) -> None:
            item, player = self.work.pairs[pair]
            await game.play(item, player)

        await work_off(job.questions, play, workers=self.at_once)


def bench_setup(store: Store, left: Remaining, pace: CallPacing) -> WorkerSetup:
    """Return what every worker is told of a bench: everything that its jobs refer to."""
    work = left.work
    due = {qid for (_, qid), _ in left.due}
    files = {video: file.resolve() for video, file in work.films.files.items()}
    # A set may hold thousands of items that are answered; every worker gets a copy of what is sent.
    sent = replace(
        work,
        items=[item for item in work.items if item.qid in due],
        films=work.films._replace(files=files),
    )
    told = setup_from(store, work.cast.config, work.prompts, patience_s=pace.patience_s)
    questions = BenchQuestions(sent, AT_WORK * pace.concurrency)
    return replace(told, bench=questions, called=left.called)


def jobs_of(left: Remaining) -> list[Job]:
    """Return what is left as jobs, one for all questions about the same videos, in order."""
    together: dict[tuple[str, ...], list[Due]] = {}
    for due in left.due:
        together.setdefault(due.videos, []).append(due)
    # Whoever is shown another's video comes last: then most videos have been looked at.
    ordered = sorted(together.items(), key=lambda one: len(one[0]) > 1)
    return [_job(left.work, videos, dues) for videos, dues in ordered]


def _job(work: BenchWork, videos: tuple[str, ...], dues: Sequence[Due]) -> Job:
    pairs = tuple(due.pair for due in dues)
    items = (work.pairs[pair][0] for pair in pairs)
    # Vectors and captions of clips are calls about their video, all others about a question.
    scopes = (*videos, *dict.fromkeys(scope_of(item) for item in items))
    own, *beside = videos
    return Job(
        Unit(own, scopes, tuple(beside)),
        str(work.films.files[own].resolve()),
        work.videos[own].size_bytes,
        questions=pairs,
    )


async def play_apart(
    jobs: Sequence[Job], play: Callable[[Job], Awaitable[None]], *, most: int
) -> None:
    """Play jobs in order, at most `most` at once, and no two that look at the same video."""
    waiting = dict(enumerate(jobs))
    looked_at = set[str]()
    playing: dict[asyncio.Future[None], Job] = {}
    try:
        while waiting or playing:
            # The first free job may stand far behind: one that waits for a video holds up nobody
            # else.
            free = (n for n, job in waiting.items() if looked_at.isdisjoint(job.unit.videos))
            while len(playing) < most and (number := next(free, None)) is not None:
                job = waiting.pop(number)
                looked_at.update(job.unit.videos)
                playing[asyncio.ensure_future(play(job))] = job
                free = (n for n, job in waiting.items() if looked_at.isdisjoint(job.unit.videos))
            done, _ = await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                looked_at.difference_update(playing.pop(one).unit.videos)
                one.result()
    finally:
        for one in playing:
            one.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


class DrainedOnce:
    """Passes events on, and drains all workers once a model can do no more."""

    def __init__(self, ending: EarlyEnd, listeners: Listeners) -> None:
        self._ending = ending
        self._listeners = listeners
        self.drain: Callable[[], None] = lambda: None

    def hear(self, event: RunEvent) -> None:
        """Pass an event on."""
        if self._ending.note(event, pass_on(event, self._listeners)):
            self.drain()
