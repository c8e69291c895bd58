"""A labelling session on the loopback address, and people who vote in it without a browser."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.served import Answer, Visitor
from videoautoarena.memory.store.evidence import BattleVote, CastVote, RankingVote
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.serve.annotate.session import AnnotateRequest, LabellingSession, annotate


@dataclass
class Person:
    """Somebody who has opened a link."""

    visitor: Visitor
    heard: list[Answer] = field(default_factory=list)
    """Everything that came back so far."""

    async def ask(self, path: str, body: Any = None) -> Answer:
        """Send a request, by POST where there is a body."""
        if body is None:
            answer = await self.visitor.ask(path)
        else:
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            answer = await self.visitor.ask(path, "POST", body=raw)
        self.heard.append(answer)
        return answer

    async def state(self, task: str = "battle") -> Any:
        return json.loads((await self.ask(f"/api/annotate/{task}")).body)

    async def vote(self, verdict: str = "a", **more: Any) -> Any:
        """Vote on the battle that is out; return what is shown next."""
        ticket = (await self.state())["ticket"]
        body = {"ticket": ticket, "verdict": verdict, **more}
        return json.loads((await self.ask("/api/annotate/battle/vote", body)).body)

    async def rank(self, ranks: list[int] | None, **more: Any) -> Any:
        """Rank the questions that are out."""
        ticket = (await self.state("ranking"))["ticket"]
        body = {"ticket": ticket, "ranks": ranks, **more}
        return json.loads((await self.ask("/api/annotate/ranking/vote", body)).body)

    async def undo(self, task: str = "battle") -> Any:
        ticket = (await self.state(task))["ticket"]
        answer = await self.ask(f"/api/annotate/{task}/undo", {"ticket": ticket})
        return json.loads(answer.body)


@asynccontextmanager
async def annotating(out: Path, *labellers: str, **asked: Any) -> AsyncIterator[list[Person]]:
    """Hold a session with these labellers, who have opened their links, and end it by Ctrl-C."""
    begun: asyncio.Future[LabellingSession] = asyncio.get_running_loop().create_future()
    wanted = AnnotateRequest(out, **{"number": 40, "labellers": labellers or ("anna",), **asked})
    session = asyncio.create_task(annotate(wanted, begun.set_result))
    await asyncio.wait({session, begun}, return_when=asyncio.FIRST_COMPLETED)
    if session.done():
        session.result()
    try:
        people = []
        for link in (await begun).links.values():
            visitor = Visitor(int(link.split(":")[2].partition("/")[0]))
            await visitor.enter(link)
            people.append(Person(visitor))
        yield people
    finally:
        if not session.done():
            os.kill(os.getpid(), signal.SIGINT)
        await session


def votes(out: Path) -> list[CastVote[BattleVote]]:
    """Return all votes on battles in a run."""
    with Store.open(out / "run.sqlite", write=False) as store:
        return store.evidence.votes.cast(BattleVote)


def rankings(out: Path) -> list[CastVote[RankingVote]]:
    """Return all rankings in a run."""
    with Store.open(out / "run.sqlite", write=False) as store:
        return store.evidence.votes.cast(RankingVote)
