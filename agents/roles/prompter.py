"""What a role works with: the way out to the models, the prompts and the run's seed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from videoautoarena.agents.calls.ask import Asker, journal_key
from videoautoarena.agents.calls.replies import BadReply, answer_of, read_reply
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    HISTORY_LINE,
    KNOWN_LINES,
    QUESTION_LINE,
    Reply,
    contract,
)
from videoautoarena.agents.prompting.fences import (
    Turn,
    fence,
    fence_code,
    history_blocks,
)
from videoautoarena.agents.prompting.layout import Request, thinned, uncaptioned
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.transport.redaction import redacted, sound
from videoautoarena.memory.records.errors import CallFailed, JournalMiss, UnusableReply
from videoautoarena.memory.records.records import CallRow, Nonce, Role, VideoFrames

R = TypeVar("R", bound=Reply)
NO_REPAIR: Mapping[str, str] = MappingProxyType({})

_MEND = (
    "The reply block holds what came back for this task, and the error block says why it cannot "
    "be used. Do the task again and reply in the form below."
)


@dataclass(frozen=True, slots=True)
class Task:
    """What one role is to do, before it is put into words."""

    role: Role
    frames: VideoFrames | None
    """Frames that are shown; None if none are."""
    scope: str
    """The video id for examiner and persona, else the slot id."""
    ask: int = 0
    """Number, from 0, of this deliberate ask among those of its role and scope."""
    texts: Mapping[str, str] = field(default_factory=dict)
    question: str | None = None
    """What a contestant is asked; stands unfenced behind its prompt."""
    history: Sequence[Turn] = ()
    """The rounds before it, each fenced; they stand between prompt and question."""
    known: Mapping[str, str] = field(default_factory=dict)
    """What is known besides, by the name of its line in KNOWN_LINES; fenced behind the prompt."""
    note: str = ""
    """A sentence of our own behind all of that, as on the language; never anybody else's text."""


class ReadReply(NamedTuple, Generic[R]):
    """A reply in the asked form, and the call that gave it."""

    reply: R
    row: CallRow


def worded(
    prompts: PromptSet, task: Task, seed: int = 0, repair: Mapping[str, str] = NO_REPAIR
) -> str:
    """Return the text of a task, which stands behind its frames."""
    # One code for all blocks of a prompt, the repair's among them: the first block's binds.
    said = history_blocks(task.history)
    untold = prompts.untold(task.role)
    told = {name: block for name, block in task.texts.items() if name not in untold}
    fenced = {**told, **task.known, **said, **repair}
    code = fence_code(seed, task.scope, task.role, fenced)
    text = prompts.fill(task.role, told, code=code)
    for name, block in task.known.items():
        text = f"{text}\n\n{KNOWN_LINES[name]}\n{fence(name, code, block)}"
    if task.note:
        text = f"{text}\n\n{task.note}"
    if task.question is not None:
        if said:
            earlier = (fence(name, code, block) for name, block in said.items())
            text = "\n".join([f"{text}\n\n{HISTORY_LINE}", *earlier])
        return f"{text}\n\n{QUESTION_LINE}\n{task.question}"
    ending = contract(task.role, prompts.contracts)
    text = f"{text}\n\n{ending}"
    if not repair:
        return text
    blocks = [fence(name, code, block) for name, block in repair.items()]
    # The form is asked for once more: its last occurrence outside the fences binds.
    return "\n\n".join([text, *blocks, _MEND, ending])


@dataclass(frozen=True)
class Prompter:
    """Everything a role needs besides its task and its model.

    A scope that is played again, since a call of it had failed, asks in a new generation. What an
    earlier one came to know stays known: only what failed there is asked again.
    """

    asker: Asker
    prompts: PromptSet
    seed: int = 0
    generations: Callable[[str], Sequence[int]] = lambda _scope: (0,)
    """Scope to its generations, ascending; the last is the one that asks."""
    is_past: bool = False
    """A run is replayed, which once took reasoning without an answer for one that is known."""

    async def ask_row(self, model: Model, task: Task, schema: type[Reply] | None = None) -> CallRow:
        """Return the reply as it came, with what it was made from. One model call.

        `schema` is what the reply will be read as; None for free text.
        """
        *earlier, current = self.generations(task.scope)
        thought: CallRow | None = None
        for generation in earlier:
            request = self._request(model, task, schema, generation=generation)
            known = self.asker.recall(model, request)
            # Reasoning alone is no answer, and is asked for again.
            if known is not None and self.answer_in(known).strip():
                return known
            thought = thought or known
        try:
            request = self._request(model, task, schema, generation=current)
            return await self.asker.ask_row(model, request)
        except JournalMiss:
            if thought is None or not self.is_past:
                raise
            return thought

    def answer_in(self, row: CallRow) -> str:
        """Return what a model says in its reply, without what it thought; empty if it thought."""
        return answer_of(row.reply or "", reading=self.prompts.reading)

    def _read(self, row: CallRow, schema: type[R]) -> R:
        reading = self.prompts.reading
        return read_reply(row.reply or "", schema, ending=row.ending, reading=reading)

    async def ask_shared(self, model: Model, request: Request, read: Callable[[CallRow], T]) -> T:
        """Return what `read` makes of a reply that several slots want; CallFailed, also by `read`.

        It is asked for in the first generation, and in each later one up to the request's own
        where all before it failed: so nobody pays for a second one, and what is asked later
        changes nothing of what was found.
        """
        nonce = request.nonce
        *earlier, last = (
            replace(request, nonce=nonce.model_copy(update={"generation": generation}))
            for generation in range(nonce.generation + 1)
        )
        # Slots that want the same at once would put two calls with one key under way.
        async with self.asker.in_turn(journal_key(model, (*earlier, last)[0])):
            for one in earlier:
                with suppress(CallFailed):
                    return read(await self.asker.ask_row(model, one))
            return read(await self.asker.ask_row(model, last))

    async def ask_json(self, model: Model, task: Task, schema: type[R]) -> R:
        """Return the reply in the asked form, after one or two model calls; or CallFailed."""
        return (await self.ask_read(model, task, schema)).reply

    async def ask_read(self, model: Model, task: Task, schema: type[R]) -> ReadReply[R]:
        """Return the reply of `ask_json` with the call it was read from."""
        *earlier, current = self.generations(task.scope)
        for generation in earlier:
            known = self._recalled(model, task, schema, generation)
            if known is not None:
                return known
        repair = NO_REPAIR
        for _ in range(2):
            request = self._request(model, task, schema, generation=current, repair=repair)
            row = await self.asker.ask_row(model, request)
            try:
                return ReadReply(self._read(row, schema), row)
            except BadReply as fault:
                repair = {"reply": row.reply or "", "error": str(fault)}
        # What is wrong with a reply may quote it, and a reply may quote a key.
        why = f"{task.role} gave no usable reply twice: {repair['error']}"
        raise UnusableReply(redacted(why))

    def _recalled(
        self, model: Model, task: Task, schema: type[R], generation: int
    ) -> ReadReply[R] | None:
        """Return what an earlier generation replied, mended or not; None if it is no use."""
        repair: Mapping[str, str] = NO_REPAIR
        for _ in range(2):
            request = self._request(model, task, schema, generation=generation, repair=repair)
            row = self.asker.recall(model, request)
            # What failed for good is asked again in a generation of its own.
            if row is None or row.reply is None:
                return None
            try:
                return ReadReply(self._read(row, schema), row)
            except BadReply as fault:
                repair = {"reply": row.reply, "error": str(fault)}
        return None

    def _request(
        self,
        model: Model,
        task: Task,
        schema: type[Reply] | None,
        *,
        generation: int,
        repair: Mapping[str, str] = NO_REPAIR,
    ) -> Request:
        # An ask and its repair round each have a key of their own.
        ordinal = 2 * task.ask + bool(repair)
        nonce = Nonce(scope=task.scope, role=task.role, generation=generation, ordinal=ordinal)
        frames = task.frames
        if frames is not None:
            # Captions were read for offline models alone, whose old keys hold them.
            frames = frames if model.is_offline else uncaptioned(frames)
            frames = thinned(frames, model.frame_limit(task.role))
        return Request(
            role=task.role,
            # What no server can be sent, half of a character, may stand in a set of anybody's.
            text=sound(worded(self.prompts, task, self.seed, repair)),
            frames=frames,
            nonce=nonce,
            prompt=self.prompts.digests[task.role],
            schema=schema,
        )


T = TypeVar("T")


async def all_done(works: Iterable[Awaitable[T]]) -> list[T]:
    """Return the results of all works; if some raise, raise the first error once all have ended."""
    found = list[T]()
    # Replies that come after a failure are paid for, too, and have to be recorded.
    for outcome in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
        found.append(outcome)
    return found
