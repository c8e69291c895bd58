"""Reading a reply: the last complete JSON object in it binds, held to the role's schema.

What a model thought aloud is no reply. Whatever would have to be guessed goes back to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import ValidationError

from videoautoarena.agents.calls.json_objects import Reader, Twice
from videoautoarena.agents.prompting.contracts import Reply, plain
from videoautoarena.agents.transport.faults import ending_word

R = TypeVar("R", bound=Reply)

MOST_FAULTS = 5
"""So many faults of one reply are named to its model."""
LONGEST_NAME = 40
PLACEHOLDERS = frozenset({"...", "…", "A person ..."})
"""What the contracts' examples hold: a model that repeats its task has not done it."""
NO_OBJECT = "there is no complete JSON object in the reply"
CUT_ENDINGS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
)
"""Why providers say a reply ended that was not at its end."""

_NAME = r"(?:think|thinking|thoughts?|reasoning)"
_OPENED = rf"^[ \t]*(?:<{_NAME}>|\[THINK\]|◁think▷)"
_CLOSED = rf"</{_NAME}>|\[/THINK\]|◁/think▷"
_MARKS = re.compile(
    rf"\{{(?=\s*[\"/}}])|(?P<open>{_OPENED})|(?P<close>{_CLOSED})", re.IGNORECASE | re.MULTILINE
)
_FIRST_THOUGHT = re.compile(rf"\s*(?:{_OPENED})", re.IGNORECASE | re.MULTILINE)
_CLOSE = re.compile(_CLOSED, re.IGNORECASE)
_CLOSE_ALONE = re.compile(rf"(?:{_CLOSED})[ \t]*\n", re.IGNORECASE)


class BadReply(ValueError):
    """A reply that is not in the asked form; the message, which its model is sent, says why."""


class _Found(NamedTuple):
    value: dict[str, Any] | None
    is_cut: bool = False
    is_thought: bool = False
    """There is an object, but among the model's reasoning."""


def read_reply(text: str, schema: type[R], *, ending: str | None = None) -> R:
    """Return the last complete JSON object in `text` as `schema`.

    Keys of the schema count whatever their case, with blanks and hyphens for underscores. `ending`
    is why the provider says the reply ended. Raises BadReply where there is no object, it breaks
    the schema, or it gives one key two values.
    """
    try:
        return _read(text, schema)
    except BadReply as fault:
        if not was_cut(ending):
            raise
        why = "the reply was cut off at the longest it may be; think and write less"
        raise BadReply(f"{fault}; {why}") from None


def was_cut(ending: str | None) -> bool:
    """Return whether a provider's word for a reply's end means that there should be more."""
    return ending_word(ending or "") in CUT_ENDINGS


def without_reasoning(text: str) -> str:
    """Return what follows a model's thoughts, whose opening tag may be missing."""
    is_opened = _FIRST_THOUGHT.match(text) is not None
    closed = (_CLOSE if is_opened else _CLOSE_ALONE).search(text)
    if closed is None:
        return "" if is_opened else text
    return text[closed.end() :].lstrip()


_MARK = re.compile(
    r"""(?ix)
    </?(?:seed:)?(?:think|thinking|thoughts?|reasoning)> | \[/?THINK\] | ◁/?think▷
    | <\|(?:channel|START_THINKING|END_THINKING)\|?> | <channel\|> | <unused9[45]>
    """
)


def thought_mark(text: str) -> str | None:
    """Return the first mark of a model's thoughts that a text holds; None where it holds none."""
    found = _MARK.search(text)
    return found[0] if found else None


def _read(text: str, schema: type[R]) -> R:
    found = _look(text)
    if found.value is None:
        ending = " outside your reasoning" if found.is_thought else ""
        raise BadReply(NO_OBJECT + ("; the one it begins has no end" if found.is_cut else ending))
    try:
        reply = schema.model_validate(_named(found.value, schema))
    except ValidationError as error:
        raise BadReply(_faults(error)) from None
    if any(leaf.strip() in PLACEHOLDERS for leaf in _leaves(reply.model_dump())):
        raise BadReply('"..." stands for words of your own; write them out')
    return reply


def _look(text: str) -> _Found:
    """Return the object that binds."""
    reader, found = Reader(text), _Found(None)
    at, is_thinking, cut_from = 0, False, len(text)
    while mark := _MARKS.search(text, at):
        at = mark.end()
        if mark["open"] is not None:
            is_thinking = True
        elif mark["close"] is not None:
            # Some servers take off the tag that opens, and all that led here was reasoning.
            if not is_thinking:
                found = _Found(None, is_thought=found.value is not None)
            is_thinking = False
        else:
            value = reader.object_at(mark.start())
            if value is None:
                cut_from = min(cut_from, mark.start()) if reader.is_cut else cut_from
                continue
            at = reader.at
            if is_thinking:
                found = found._replace(is_thought=True)
            elif mark.start() < cut_from:
                found = _Found(value)
    return found._replace(is_cut=cut_from < len(text))


def _named(value: dict[str, Any], schema: type[Reply]) -> dict[str, Any]:
    """Return an object with the schema's names for its keys, as deep as the schema goes."""
    names = {plain(name): name for name in schema.model_fields}
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = names.get(plain(key), key)
        below = _schema_of(schema, name)
        if below is not None:
            inner = _named_below(inner, below)
        if isinstance(inner, Twice) or (name in found and found[name] != inner):
            raise BadReply(f"{key[:LONGEST_NAME]}: stands there twice with different values")
        found[name] = inner
    return found


def _named_below(value: Any, schema: type[Reply]) -> Any:
    if isinstance(value, list):
        return [_named_below(inner, schema) for inner in value]
    return _named(value, schema) if isinstance(value, dict) else value


def _schema_of(schema: type[Reply], name: str) -> type[Reply] | None:
    """Return what a field's value, or each of its values, is held to; None for plain ones."""
    if name not in schema.model_fields:
        return None
    kind = schema.model_fields[name].annotation
    inner = next(iter(get_args(kind)), kind)
    return inner if isinstance(inner, type) and issubclass(inner, Reply) else None


def _faults(error: ValidationError) -> str:
    """Return what is wrong and where, without the values, which may be anything."""
    faults = [
        f"{'.'.join(str(part)[:LONGEST_NAME] for part in fault['loc']) or 'the object'}: "
        f"{fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    return "; ".join(faults[:MOST_FAULTS]) + more


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
