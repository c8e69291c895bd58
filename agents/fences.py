"""Delimiters around text that is data, which that text can neither know nor contain.

A fenced block reads

    <<<answer_a 5f0c7d21a4b8e936>>>
    ... the text, verbatim ...
    <<<end answer_a 5f0c7d21a4b8e936>>>

and all blocks of one prompt share one code.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

_BLOCK = re.compile(
    r"^<<<(?P<name>\w+) (?P<code>[0-9a-f]{16})>>>\n(?P<text>.*?)\n?^<<<end (?P=name) (?P=code)>>>$",
    re.DOTALL | re.MULTILINE,
)


def fence_code(seed: int, scope: str, role: str, texts: Mapping[str, str]) -> str:
    """Return 16 hex digits that occur in none of `texts`; equal input gives the equal code."""
    counter = 0
    while True:
        material = json.dumps(
            [seed, scope, role, counter, sorted(texts.items())], separators=(",", ":")
        )
        code = hashlib.sha256(material.encode()).hexdigest()[:16]
        if not any(code in text for text in texts.values()):
            return code
        counter += 1


def fence(name: str, code: str, text: str) -> str:
    """Return `text` between the two marks of one block."""
    return f"<<<{name} {code}>>>\n{text}\n<<<end {name} {code}>>>"


def open_fences(prompt: str) -> tuple[str, dict[str, str]]:
    """Split a prompt into the words outside all blocks and {block name: text}.

    The code of the first block binds: a block with another code is text somebody smuggled in,
    and stays where it stood.
    """
    first = _BLOCK.search(prompt)
    if first is None:
        return prompt, {}
    code = first["code"]
    block = re.compile(
        rf"^<<<(\w+) {code}>>>\n(.*?)\n?^<<<end \1 {code}>>>$", re.DOTALL | re.MULTILINE
    )
    return block.sub("", prompt), {m[1]: m[2] for m in block.finditer(prompt)}
