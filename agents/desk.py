"""What a role works with: the way out to the models, the prompts and the run's seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from agents.ask import Asker, Request
from agents.contracts import QUESTION_LINE, Reply, contract
from agents.fences import fence, fence_code
from agents.layout import thinned
from agents.models import Model
from agents.prompts import PromptSet
from agents.replies import BadReply, read_reply
from agents.retry import told
from memory.errors import UnusableReply
from memory.records import CallRow, Frames, Nonce, Role

R = TypeVar("R", bound=Reply)

_MEND = (
    "The reply block holds what came back for this task, and the error block says why it cannot "
    "be used. Do the task again and reply in the form below."
)


@dataclass(frozen=True, slots=True)
class Task:
    """What one role is to do, before it is put into words."""

    role: Role
    frames: Frames
    scope: str
    """The video id for examiner and persona, else the slot id."""
    ask: int = 0
    """Which of this role's deliberate asks in this scope it is."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Fenced block name to text."""
    question: str | None = None
    """What a contestant is asked; stands unfenced behind its prompt."""


@dataclass(frozen=True)
class Desk:
    """Everything a role needs besides its task and its model."""

    asker: Asker
    prompts: PromptSet
    seed: int = 0
    generation: int = 0
    """Counts how often a scope was started afresh; part of every nonce."""

    async def ask_text(self, model: Model, task: Task) -> str:
        """Return the reply as it came. One model call."""
        return await self.asker.ask(model, self._request(model, task, repair={}))

    async def ask_row(self, model: Model, task: Task) -> CallRow:
        """Return the reply as it came, with what it was made from. One model call."""
        return await self.asker.ask_row(model, self._request(model, task, repair={}))

    async def ask_json(self, model: Model, task: Task, schema: type[R]) -> R:
        """Return the reply in the asked form. One model call, two where the first must be mended.

        Raises:
            UnusableReply: neither reply holds the asked form.
            CallFailed: a call failed for good.
        """
        reply = await self.ask_text(model, task)
        try:
            return read_reply(reply, schema)
        except BadReply as fault:
            repair = {"reply": reply, "error": str(fault)}
        mended = await self.asker.ask(model, self._request(model, task, repair=repair))
        try:
            return read_reply(mended, schema)
        except BadReply as fault:
            reason = told(f"{task.role} gave no usable reply twice: {fault}")
            raise UnusableReply(reason) from None

    def _request(self, model: Model, task: Task, *, repair: Mapping[str, str]) -> Request:
        ordinal = 2 * task.ask + bool(repair)
        return Request(
            role=task.role,
            text=self._text(task, repair),
            frames=thinned(task.frames, model.frame_limit(task.role)),
            nonce=Nonce(
                scope=task.scope, role=task.role, generation=self.generation, ordinal=ordinal
            ),
            prompt=self.prompts.digests[task.role],
        )

    def _text(self, task: Task, repair: Mapping[str, str]) -> str:
        # One code for all blocks of a prompt, the repair's among them: the first block's binds.
        code = fence_code(self.seed, task.scope, task.role, {**task.texts, **repair})
        text = self.prompts.fill(task.role, task.texts, code=code)
        if task.question is not None:
            return f"{text}\n\n{QUESTION_LINE}\n{task.question}"
        text = f"{text}\n\n{contract(task.role)}"
        if not repair:
            return text
        blocks = [fence(name, code, block) for name, block in repair.items()]
        return "\n\n".join([text, *blocks, _MEND, contract(task.role)])
