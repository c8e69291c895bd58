"""How replies were read at first, kept for what was begun so: its replay must read alike.

The last complete object bound in replies that were cut off as well, whatever followed it, and
thoughts were known by four pairs of marks. See `agents.calls.replies` for how they are read now.
"""

from __future__ import annotations

import re

from videoautoarena.agents.calls.json_objects import Found, Reader

_NAME = r"(?:think|thinking|thoughts?|reasoning)"
_OPENED = rf"^[ \t]*(?:<{_NAME}>|\[THINK\]|◁think▷)"
_CLOSED = rf"</{_NAME}>|\[/THINK\]|◁/think▷"
_MARKS = re.compile(
    rf"\{{(?=\s*[\"/}}])|(?P<open>{_OPENED})|(?P<close>{_CLOSED})", re.IGNORECASE | re.MULTILINE
)
_FIRST_THOUGHT = re.compile(rf"\s*(?:{_OPENED})", re.IGNORECASE | re.MULTILINE)
_CLOSE = re.compile(_CLOSED, re.IGNORECASE)
_CLOSE_ALONE = re.compile(rf"(?:{_CLOSED})[ \t]*\n", re.IGNORECASE)


def without_thoughts(text: str) -> str:
    """Return what follows a model's thoughts, whose opening tag may be missing."""
    is_opened = _FIRST_THOUGHT.match(text) is not None
    closed = (_CLOSE if is_opened else _CLOSE_ALONE).search(text)
    if closed is None:
        return "" if is_opened else text
    return text[closed.end() :].lstrip()


def find_object(text: str) -> Found:
    """Return the object that binds."""
    reader = Reader(text)
    found = Found(None)
    at = 0
    is_thinking = False
    cut_from = len(text)
    while mark := _MARKS.search(text, at):
        at = mark.end()
        if mark["open"] is not None:
            is_thinking = True
        elif mark["close"] is not None:
            # Some servers take off the tag that opens, and all that led here was reasoning.
            if not is_thinking:
                found = Found(None, is_thought=found.value is not None)
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
                found = Found(value)
    return found._replace(is_cut=cut_from < len(text))
