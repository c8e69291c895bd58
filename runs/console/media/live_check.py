"""The doctor's calls: one small question with one drawn frame to each model over the network."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.models.registry import Model, build_chat_model, check_keys
from videoautoarena.agents.roles.answer import EyeTest, stripes_of
from videoautoarena.agents.transport.answers import was_cut
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.errors import ArenaError, BadInput, CallFailed
from videoautoarena.memory.records.records import CallRow, Intent, LearntLimits, Usage
from videoautoarena.runs.formats.record_json import LEFT_OUT
from videoautoarena.runs.run.config.disclosure import tracing_lines
from videoautoarena.runs.run.config.first_file import toml_text
from videoautoarena.runs.run.rundir.reader import counted, named, one_line

AT_ONCE = 4
"""Models that are asked at the same time."""
MOST_TRIES = 2
LONGEST_TRY_S = 60.0
LONGEST_PAUSE_S = 5.0
LONGEST_QUOTE = 100
"""The most characters of a wrong answer that are shown."""
_HINTS = {
    "unreachable": "is the server running, and is base_url right?",
    "connection": "is the server running, and is base_url right?",
    "timeout": "is it still loading? a larger timeout_s may help",
    "http-401": "check the key",
    "http-403": "check the key and its permissions",
    "http-404": "check the model's name and base_url",
    "http-429": "its rate limit is reached; try again later",
    "malformed": "does base_url point to an API, such as http://HOST:PORT/v1?",
    "empty": "a larger max_tokens may help, if it reasons first",
}
"""Kind of failure to what a person should check."""
_NO_WORDS = re.compile(
    r"\w*(?:error|exception)\b|\b(?:code|http|status|bad request|client|for url)\b|[\W\d_]+",
    re.IGNORECASE,
)
"""Parts of a refusal that give no reason."""
PROXIES = tuple(
    spelt
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    for spelt in (name, name.lower())
)
"""Variables that redirect calls; only their names are shown, since values may hold a password."""


@dataclass(frozen=True)
class ModelCheck:
    """The result of the questions to one model."""

    model: str
    """Its name in the run."""
    resolved: str
    """`provider:model`."""
    host: str
    """Where the question went."""
    answered: bool = False
    """Whether there was a reply."""
    sees: bool | None = None
    """Whether it named two of three stripes right; None without an answer or frames."""
    json: bool | None = None
    """Whether the reply had the required form; None without an answer."""
    was_cut: bool | None = field(default=None, metadata=LEFT_OUT)
    """True where the reply stopped at the limit of its tokens; left out otherwise."""
    frames_asked: int | None = None
    """Pictures in the second question; None without one."""
    frames_taken: int | None = None
    """Pictures the reply was made from; 0 if that call failed."""
    frames_reason: str | None = None
    """Why that call failed, else None."""
    arena_toml: str | None = None
    """What its table of `arena.toml` should say, such as `limits = { images_per_request = 8 }`;
    None: nothing."""
    failure: str | None = None
    """`settings`, or the kind of failure as in a call; None if it answered."""
    reason: str | None = None
    """Why it failed, or what it said to which colours; None if all is well."""
    latency_s: float | None = None
    """Seconds of the last attempt; None if nothing was sent."""
    tries: int = 0
    """Attempts; 0 if nothing was sent."""
    usage: Usage | None = None
    """As in a call; None without one."""
    cost_usd: float | None = None
    """Cost in dollars; None if unknown."""
    cost_from: str | None = None
    """Source of the cost."""
    served_by: str | None = None
    """What the server called the model."""


@dataclass
class _VisitJournal:
    """A journal in memory, for as long as the check lasts."""

    rows: dict[str, CallRow] = field(default_factory=dict)

    def find(self, key: str, _scope: str) -> CallRow | None:
        """Return the row of a finished call."""
        return self.rows.get(key)

    async def record(self, row: CallRow) -> None:
        """Keep a row."""
        self.rows[row.key] = row

    async def intend(self, intent: Intent) -> None:
        """Keep nothing of a try, since nobody goes on with a check."""

    def withdraw(self, key: str, attempt: int) -> None:
        """Do nothing, since no try was kept."""

    def leave_over(self, key: str, attempt: int) -> None:
        """Do nothing for a try that is made again."""

    def has_answered(self, endpoint: str) -> bool:
        """Return whether an address has answered in this check."""
        return any(row.endpoint == endpoint and row.reply for row in self.rows.values())


def warnings(models: Iterable[Model], frames: Mapping[str, int]) -> Iterable[str]:
    """Yield a line for each host on what leaves the machine.

    `frames` is the number of pictures in a second question, by model; empty if there is none.
    """
    hosts: dict[str, list[Model]] = {}
    for model in models:
        # A model without its key is asked nothing, so nothing leaves the machine for it.
        if not model.is_offline and lacking_key(model) is None:
            hosts.setdefault(model.endpoint, []).append(model)
    for host, asked_there in hosts.items():
        aliases = [model.alias for model in asked_there]
        is_shown = any(not EyeTest(model).is_blind for model in asked_there)
        asked = f"one question with {'one drawn' if is_shown else 'no'} picture goes"
        if most := max((frames.get(alias, 0) for alias in aliases), default=0):
            asked = f"two questions, with one drawn picture and with up to {most}, go"
        calls = counted(len(aliases) * (2 if most else 1), "call")
        yield (
            f"{asked} to {host} for {', '.join(aliases)}: {calls}, tried at most {MOST_TRIES} "
            f"times, {_cost_at_most(asked_there, frames)}"
        )
    if hosts:
        yield from tracing_lines()


def _cost_at_most(models: Iterable[Model], frames: Mapping[str, int]) -> str:
    """Return the most that one try of each question costs, in tokens and dollars."""
    estimates = Estimates()
    tokens = 0
    usd = 0.0
    unknown = list[str]()
    for model in models:
        test = EyeTest(model)
        count = frames.get(model.alias, 0)
        # One picture goes with the first question already.
        requests = [test.request, *([test.with_frames(count)] if count > 1 else [])]
        most = [estimates.most(model, request) for request in requests]
        tokens += sum(one.tokens for one in most)
        usd += sum(one.usd or 0.0 for one in most)
        unknown += [model.alias] if most[0].usd is None else []
    price = f"${usd:.2f}" if usd >= 0.01 or not usd else f"${usd:.4f}"
    known = [] if unknown and not usd else [f"{price} at most"]
    parts = [*known, *([f"price of {', '.join(unknown)} unknown"] if unknown else [])]
    return f"{tokens:,} tokens at most ({'; '.join(parts)})"


async def ask_models(
    models: Iterable[Model], say: Callable[[str], None], *, frames: Mapping[str, int]
) -> list[ModelCheck]:
    """Return the checks of all models that are not offline; say each as it comes."""
    places = asyncio.Semaphore(AT_ONCE)
    remote = [model for model in models if not model.is_offline]
    # Built once beforehand, so that no import of a package counts as anybody's latency.
    lacks = {model: await _unbuilt(model) for model in remote}

    async def visit(model: Model) -> ModelCheck:
        async with places:
            lack = lacks[model]
            count = frames.get(model.alias, 0)
            found = await _ask(model, count) if lack is None else _failed(model, "settings", lack)
            say(verdict(found))
            return found

    # In the order of the cast, whoever answers first.
    return list(await asyncio.gather(*map(visit, remote)))


def verdict(found: ModelCheck) -> str:
    """Return the check of a model as one line."""
    name = named(found.model, found.resolved)
    if not found.answered:
        return f"{name}: FAILED: {found.reason}"
    if found.sees is False:
        said = f"{name}: does NOT see the images it is sent: {found.reason}"
    else:
        said = f"{name}: answered" + (", sees images" if found.sees else ", is sent no images")
    form = "replies in JSON" if found.json else "does NOT reply in JSON when asked to"
    room = [_room(found)] if found.frames_asked else []
    line = "; ".join([said, form, *room, f"{found.latency_s:.1f} s", *_spent(found)])
    if not found.arena_toml:
        return line
    return f"{line}; in arena.toml under [models.{_quoted(found.model)}]: {found.arena_toml}"


def hints(kind: str, model: Model, said: str = "") -> Iterable[str]:
    """Yield hints after a kind of failure, if there are any; `said` is its reason."""
    if kind == "http-400" and not _NO_WORDS.sub("", said):
        # Whatever a server says is better than a guess.
        is_shown = model.frame_limit("contestant") > 0
        yield f"does it accept {'images and ' if is_shown else ''}all parameters?"
    is_refused = kind in ("http-401", "http-403")
    if is_refused and model.base_url and not model.key_names:
        yield model.key_source.removeprefix("as ")
    elif kind in _HINTS:
        names = " or ".join(model.key_names)
        about_key = f" (in {names})" if names else f", {model.key_source}"
        yield _HINTS[kind] + (about_key if is_refused else "")
    if kind in ("unreachable", "connection") and (
        proxies := [name for name in PROXIES if os.environ.get(name, "").strip()]
    ):
        yield f"{' and '.join(proxies)} in the environment may redirect the calls"


def _room(found: ModelCheck) -> str:
    asked = found.frames_asked
    taken = found.frames_taken
    if taken == asked:
        return f"takes {asked} images in a call"
    if taken:
        return f"takes only {taken} of {asked} images"
    return f"FAILS with {asked} images: {found.frames_reason}"


def _spent(found: ModelCheck) -> Iterable[str]:
    usage = found.usage
    if usage is None or usage.input_tokens is None:
        yield "reports no token counts"
    else:
        yield f"{usage.input_tokens:,} tokens in, {usage.output_tokens or 0:,} out"
    cost = found.cost_usd
    yield "price unknown" if cost is None else f"${cost:.6f} ({found.cost_from})"


def lacking_key(model: Model) -> str | None:
    """Return the sentence on the key that a model lacks, or None."""
    try:
        check_keys([model])
    except BadInput as wrong:
        return str(wrong)
    return None


async def _unbuilt(model: Model) -> str | None:
    """Return the sentence on why a model's client cannot be built, or None."""
    try:
        await model.maker.close(build_chat_model(model))
    except BadInput as wrong:
        return str(wrong)
    return None


async def _ask(model: Model, count: int) -> ModelCheck:
    # A person waits for it: what takes longer is told as a failure with a hint.
    brief = model.with_settings(timeout_s=min(model.timeout_s, LONGEST_TRY_S))
    test = EyeTest(brief)
    notes = _VisitJournal()

    async def load(_video: str, digests: list[str]) -> list[bytes]:
        return [test.jpeg] * len(digests)

    async def pause(seconds: float) -> None:
        await asyncio.sleep(min(seconds, LONGEST_PAUSE_S))

    asker = Asker(notes, load, concurrency=1, pause=pause, most_tries=MOST_TRIES)
    # Of a call that fails the row says more than the exception.
    try:
        with suppress(CallFailed):
            await asker.ask(brief, test.request)
            if count > 1:
                await asker.ask(brief, test.with_frames(count))
    except ArenaError as wrong:
        return _failed(model, "settings", str(wrong))
    finally:
        await asker.aclose()
    # In the order of asking; where the first call failed there is no second row.
    first, *rest = notes.rows.values()
    found = _answered(model, test, first)
    for row in rest:
        found = replace(
            found,
            frames_asked=count,
            frames_taken=0 if row.reply is None else row.frames,
            frames_reason=f"{row.failure_kind}: {row.failure}" if row.reply is None else None,
        )
    return replace(found, arena_toml=_settings(model, asker.estimates.limits.known(brief)))


def _settings(model: Model, learnt: LearntLimits | None) -> str | None:
    """Return the settings that a model's table of arena.toml should get, or None."""
    if learnt is None:
        return None
    lines = []
    if learnt.images is not None:
        # The whole table: it takes the place of the one that is there.
        limits = {**model.limits.model_dump(exclude_none=True), "images_per_request": learnt.images}
        lines.append(f"limits = {{ {', '.join(f'{name} = {of}' for name, of in limits.items())} }}")
    if learnt.token_limit_field is not None:
        lines.append(f'token_limit_field = "{learnt.token_limit_field}"')
    if learnt.system_role is not None:
        lines.append(f'system = "{learnt.system_role}"')
    if learnt.is_streaming:
        lines.append(f"parameters = {_inline({**model.parameters, 'stream': True})}")
    if learnt.structured is not None:
        lines.append(f'structured = "{learnt.structured}"')
    return " and ".join(lines) or None


def _inline(value: Any) -> str:
    """Return a value of a model's parameters as TOML writes it."""
    if isinstance(value, Mapping):
        return (
            f"{{ {', '.join(f'{_quoted(name)} = {_inline(of)}' for name, of in value.items())} }}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inline, value))}]"
    return toml_text(value) if isinstance(value, str) else json.dumps(value)


def _quoted(alias: str) -> str:
    # Bare keys of TOML are ASCII letters, digits, "-" and "_"; all others stand in quotes.
    is_bare = alias.isascii() and alias.replace("-", "").replace("_", "").isalnum()
    return alias if is_bare else toml_text(alias)


def _answered(model: Model, test: EyeTest, row: CallRow) -> ModelCheck:
    if row.reply is None:
        kind = row.failure_kind or "failed"
        reason = f"{kind}: {row.failure or 'no reason given'}"
        found = _failed(
            model, kind, "; ".join([reason.rstrip("."), *hints(kind, model, row.failure or "")])
        )
    else:
        sees = test.is_seen(row.reply)
        said = one_line(redacted(row.reply), LONGEST_QUOTE)
        shown = f"shown {', '.join(test.colours)}, it answered {said!r}"
        found = replace(
            _failed(model, None, shown if sees is False else None),
            answered=True,
            sees=sees,
            json=stripes_of(row.reply) is not None,
            was_cut=was_cut(row.ending) or None,
        )
    return replace(
        found,
        latency_s=row.latency_s,
        tries=len(row.attempts) + 1,
        usage=row.usage,
        cost_usd=row.cost_usd,
        cost_from=row.cost_from,
        served_by=row.served_by,
    )


def _failed(model: Model, failure: str | None, reason: str | None) -> ModelCheck:
    """Return the check of a model without an answer."""
    return ModelCheck(model.alias, model.resolved, model.endpoint, failure=failure, reason=reason)
