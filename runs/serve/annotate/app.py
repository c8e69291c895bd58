"""The endpoint of a labelling session: hands out one thing, takes one vote, knows no other page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from videoautoarena.memory.records.errors import ArenaError, StoreError
from videoautoarena.runs.formats.terminal import safe, say
from videoautoarena.runs.serve.annotate.battles import BattleBallot, BattleTask
from videoautoarena.runs.serve.annotate.films import Films
from videoautoarena.runs.serve.annotate.questions import NoRanking, QuestionVote, RankingTask
from videoautoarena.runs.serve.annotate.queue import StaleVote
from videoautoarena.runs.serve.server.files import VideoGone

POSTS = tuple(
    f"/api/annotate/{task}/{what}" for task in ("battle", "ranking") for what in ("vote", "undo")
)
"""The paths that change something."""


@dataclass(frozen=True)
class LabellerTasks:
    """The tasks of one labeller."""

    labeller: str
    battle: BattleTask
    ranking: RankingTask

    def of(self, name: str) -> BattleTask | RankingTask | None:
        """Return a task by its name; None for an unknown name."""
        if name == "battle":
            return self.battle
        return self.ranking if name == "ranking" else None

    def state(self, name: str) -> dict[str, Any]:
        """Return what a page shows of a task, as JSON-ready values."""
        task = self.ranking if name == "ranking" else self.battle
        return {
            "labeller": self.labeller,
            "task": name,
            "tasks": {
                "battle": self.battle.queue.progress._asdict(),
                "ranking": self.ranking.queue.progress._asdict(),
            },
            "ticket": task.queue.ticket,
            "can_undo": task.queue.can_undo,
            "item": task.shown(),
        }


class UndoRequest(BaseModel):
    """What a page sends to take its last vote back."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ticket: str


class _Refused(Exception):
    """Why a request cannot be answered, as a status and a sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def annotate_app(labellers: Mapping[str, LabellerTasks], page: bytes, films: Films) -> Starlette:
    """Return the application of labelling; `request.state.session` names who asks."""
    endpoint = _Endpoint(labellers, page, films)
    return Starlette(
        routes=[
            Route("/", endpoint.page),
            Route("/favicon.ico", endpoint.icon),
            Route("/api/annotate/{task}", endpoint.state),
            Route("/api/annotate/{task}/vote", endpoint.vote, methods=["POST"]),
            Route("/api/annotate/{task}/undo", endpoint.undo, methods=["POST"]),
            Route("/api/annotate/{task}/video/{ticket}", endpoint.video),
            Route("/api/annotate/{task}/frame/{ticket}/{place:int}", endpoint.frame),
        ],
        exception_handlers={_Refused: _say_no},
    )


class _Endpoint:
    def __init__(self, labellers: Mapping[str, LabellerTasks], page: bytes, films: Films) -> None:
        self._labellers = labellers
        self._page = page
        self._films = films

    async def page(self, request: Request) -> Response:
        self._tasks(request)
        return Response(self._page, media_type="text/html")

    async def icon(self, _request: Request) -> Response:
        return Response(status_code=204)

    async def state(self, request: Request) -> Response:
        self._task(request)
        return self._state(request)

    async def vote(self, request: Request) -> Response:
        task = self._task(request)
        body = await request.body()
        try:
            if isinstance(task, BattleTask):
                await task.vote(BattleBallot.model_validate_json(body))
            else:
                await task.vote(QuestionVote.model_validate_json(body))
        except (ValidationError, NoRanking):
            raise _Refused(400, "this is no vote") from None
        # Answered with what is out now, so that a second tab or a double click only draws it anew.
        except StaleVote:
            return self._state(request, status=409)
        except StoreError as wrong:
            raise _unwritten(wrong) from wrong
        return self._state(request)

    async def undo(self, request: Request) -> Response:
        task = self._task(request)
        try:
            taken = UndoRequest.model_validate_json(await request.body())
            await task.queue.undo(taken.ticket)
        except ValidationError:
            raise _Refused(400, "this takes nothing back") from None
        except StaleVote:
            return self._state(request, status=409)
        except StoreError as wrong:
            raise _unwritten(wrong) from wrong
        return self._state(request)

    async def video(self, request: Request) -> Response:
        try:
            return await self._films.response(self._video(request))
        except VideoGone as why:
            raise _Refused(404, str(why)) from None

    async def frame(self, request: Request) -> Response:
        place: int = request.path_params["place"]
        try:
            jpeg = await self._films.frame(self._video(request), place)
        except ArenaError as wrong:
            # It names the video, which is for the terminal alone.
            say(safe(str(wrong)))
            raise _Refused(404, "this frame can no longer be decoded") from None
        if jpeg is None:
            raise _Refused(404, "there is no such frame")
        return Response(jpeg, media_type="image/jpeg")

    def _tasks(self, request: Request) -> LabellerTasks:
        tasks = self._labellers.get(request.state.session)
        if tasks is None:
            raise _Refused(403, "this session labels nothing")
        return tasks

    def _task(self, request: Request) -> BattleTask | RankingTask:
        task = self._tasks(request).of(request.path_params["task"])
        if task is None:
            raise _Refused(404, "there is no such task")
        return task

    def _video(self, request: Request) -> str:
        video = self._task(request).video_of(request.path_params["ticket"])
        if video is None:
            raise _Refused(404, "something else is out now")
        return video

    def _state(self, request: Request, *, status: int = 200) -> Response:
        return _json(self._tasks(request).state(request.path_params["task"]), status)


def _unwritten(wrong: StoreError) -> _Refused:
    say(safe(str(wrong)))
    return _Refused(503, "the vote could not be written; the terminal says why")


def _json(body: Any, status: int) -> Response:
    # In ASCII, since what models wrote may hold half a character, which has no UTF-8.
    return Response(json.dumps(body), status, media_type="application/json")


async def _say_no(_request: Request, refused: Exception) -> Response:
    assert isinstance(refused, _Refused)
    return _json({"error": str(refused)}, refused.status)
