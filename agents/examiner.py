"""The examiner: watches a video once and writes down what persona and questioner need of it."""

from __future__ import annotations

from agents.contracts import ExaminerReply
from agents.desk import Desk, Task
from agents.models import Model
from memory.records import CATEGORIES, Brief, Frames, Scene

_BY_NAME = {name.casefold(): name for name in CATEGORIES}


async def examine(desk: Desk, model: Model, *, frames: Frames) -> Brief:
    """Return an account of the video, its category and its scenes. One model call.

    Raises:
        CallFailed: no usable reply; the video cannot be played.

    Source: VideoAutoArena, User Simulation (A.1); the category is one of its ten, else "other".
    """
    task = Task("examiner", frames, scope=frames.video)
    reply = await desk.ask_json(model, task, ExaminerReply)
    return Brief(
        account=reply.account,
        category=_BY_NAME.get(reply.category.casefold(), "other"),
        scenes=tuple(Scene(**scene.model_dump()) for scene in reply.scenes),
    )
