"""Translate the questions of a bench: translate.py BENCH LANGUAGE MODEL TO [retry]."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.cli.program.ending import job_ending, run_async
from videoautoarena.runs.formats.terminal import say
from videoautoarena.runs.jobs.paid_job import (
    ExpectedCalls,
    Generations,
    JobAudience,
    JobOrder,
    PaidJob,
    settle_caps,
)
from videoautoarena.runs.making.tasks.watch import examining


@dataclass(kw_only=True)
class TranslationJob(PaidJob[str, str]):
    """Asks a model for each question in another language."""

    language: str
    said: dict[str, str] = field(default_factory=dict)

    def scope(self, question: str) -> str:
        """Return what the journal knows a question by."""
        return f"translate-{digest(f'{self.language} {question}')[:16]}"

    def forecast(self, _question: str) -> Iterable[ExpectedCalls]:
        """Yield one call of words alone."""
        yield ExpectedCalls(self.config.examiner, "contestant", 1.0, 1, frames=0)

    async def play(self, question: str, prompter: Prompter) -> str:
        """Return a question in the other language."""
        model = self.config.model_of(self.config.examiner)
        asked = f"Say in {self.language}, and nothing else: {question}"
        task = Task("contestant", None, self.scope(question), question=asked)
        return prompter.answer_in(await prompter.ask_row(model, task))

    async def keep(self, question: str, outcome: str) -> None:
        """Take a translation; it stands in the journal alone."""
        self.said[question] = outcome
        self.tally.count()


async def translate(bench: Path, language: str, model: str, to: Path, order: JobOrder) -> int:
    """Translate what is not translated yet, write all of it, and return the exit code."""
    questions = [item.question for item in open_bench(bench).items]
    config = examining(model, order.config, seed=0)
    calls = to.with_suffix(".sqlite")
    opened = (
        Store.open(calls, write=True) if calls.is_file() else Store.create(calls, {"schema": 1})
    )
    with opened as store:
        settle_caps(store, config, order.caps, write=True)
        asks = Generations(store)
        parts = {"store": store, "config": config, "prompts": PromptSet.load(), "order": order}
        job = TranslationJob(**parts, generations=asks, language=language)
        known = await job.recall(dict.fromkeys(questions))
        job.said.update(known.known)
        job.left = known.left
        if order.retry_failed:
            asks.add(map(job.scope, known.failed))
            job.left += known.failed
        job.tally.known = len(job.said)
        await job.run(JobAudience(say))
    lines = (json.dumps([one, job.said[one]]) for one in questions if one in job.said)
    to.write_text("\n".join(lines))
    return job_ending(job.tally)


if __name__ == "__main__":
    bench, language, model, to, *more = sys.argv[1:]
    order = JobOrder(concurrency=2, retry_failed="retry" in more)
    sys.exit(run_async(translate(Path(bench), language, model, Path(to), order)))
