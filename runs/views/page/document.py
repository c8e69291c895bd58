"""One HTML document made of the files in `front/`, under a policy that lets nothing else run.

`make front` makes one script and one stylesheet of all that a page consists of, its libraries too
(`front/build.js`). Both stand inside the document; the policy names their hashes, so that no other
script, style or address has any effect, wherever the text of a model or of a file may end up.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from videoautoarena.memory.records.standards import STANDARDS

FRONT = Path(__file__).with_name("front")
Page = Literal["report", "annotate", "set"]
TITLES: dict[Page, str] = {
    "report": "VideoAutoArena",
    "annotate": "Labelling",
    "set": "Frozen set",
}
LOADING: dict[Page, str] = {
    "report": "Loading the run …",
    "annotate": "Loading what there is to label …",
    "set": "Loading the set …",
}
"""Text on a page until its script has drawn it."""
Place = Literal["file", "split", "served"]
"""Where a page gets its data: blocks inside it, files beside it, or the server it came from."""
SIBLINGS = "arena-siblings"
"""Name of the Trusted Types policy of a split report, whose script loads the files beside it."""


@dataclass(frozen=True)
class Assets:
    """The script and the style of a page, the same bytes every time."""

    script: str
    style: str


@cache
def assets(page: Page) -> Assets:
    """Return the script and the style of a page, each as one text."""
    return Assets(_read(f"dist/{page}.js"), _read(f"dist/{page}.css"))


def document(
    page: Page,
    *,
    place: Place = "served",
    title: str = "",
    summary: Any = None,
    plain: str = "This page needs JavaScript.",
) -> tuple[str, str]:
    """Return an HTML document in two parts, between which the blocks of its data belong.

    Args:
        page: which one.
        place: where its data come from.
        title: for the tab of a browser; if empty, the usual title of the page.
        summary: JSON-ready values that the script reads before anything else; None without.
        plain: HTML that is shown where no script runs, with every text in it escaped.
    """
    found = assets(page)
    # Beside the data, so that a new standard changes no script.
    titles = [[name, standard.words.capitalize()] for name, standard in STANDARDS.items()]
    inline = "" if summary is None else block("summary", safe_json(summary), "application/json")
    slots = {
        "CSP": html.escape(policy(page, place)),
        "TITLE": html.escape(title or TITLES[page]),
        "STYLE": found.style,
        "LOADING": LOADING[page],
        "PLAIN": plain,
        "STANDARDS": block("judging-standards", safe_json(titles), "application/json"),
        "SUMMARY": inline,
        "SCRIPT": found.script,
    }
    head, tail = _read("page.html").split("%DATA%")
    # One pass over the template: what was filled in is not read again, so a text may hold %SCRIPT%.
    filled = "".join(slots.get(part, part) for part in head.split("%"))
    return filled, tail


GENERATOR = b'<meta name="generator" content="VideoAutoArena">'
"""Mark near the beginning of every page that was made here."""


def is_ours(file: Path) -> bool:
    """Return whether a file is a page that was made here."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return GENERATOR in stream.read(400)


def policy(page: Page, place: Place = "served") -> str:
    """Return the Content-Security-Policy of a page: nothing but its own bytes runs."""
    found = assets(page)
    server = " 'self'" if place == "served" else ""
    # Opened from disk a page has no origin that every browser takes for 'self'.
    beside = " 'self' file:" if place == "split" else ""
    parts = [
        # Whatever is not named below is refused.
        "default-src 'none'",
        f"script-src {_hash(found.script)}{beside}",
        f"style-src {_hash(found.style)}",
        # Thumbnails come as text, of which the script makes blobs.
        f"img-src blob:{server}",
        "base-uri 'none'",
        "form-action 'none'",
        # Where a browser knows it, no text can become markup, even by a mistake of ours.
        "require-trusted-types-for 'script'",
        f"trusted-types {SIBLINGS if place == 'split' else chr(39) + 'none' + chr(39)}",
    ]
    if place == "served":
        # A page opened from disk asks nobody for anything.
        parts += ["connect-src 'self'", "media-src 'self'"]
    return "; ".join(parts)


def block(name: str, text: str, kind: str = "text/plain") -> str:
    """Return text that no browser runs or shows, to be found by its name; it holds no `<`."""
    return f'<script type="{kind}" id="{html.escape(name)}">{text}</script>'


def safe_json(value: Any) -> str:
    """Return JSON that no HTML parser can leave, and that stands for itself in UTF-8."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # No sign that HTML reads, and no U+2028 or U+2029, which older JavaScript takes for ends of
    # lines.
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A file name may hold half a character, which has no UTF-8.
    return text.encode("utf-8", "replace").decode()


def _read(name: str) -> str:
    return (FRONT / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


Parts = list[str | dict[str, Any]]
_PROVIDER_PATH = re.compile(r"[\w.-]+:(?:[\w.:@+-]+/)*([\w.:@+-]+(?: \([\w ,]+\))*)")
"""`provider:model` or `provider:owner/model`, perhaps with how it played: `(4 frames)`. Other names
are what somebody called a model."""


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return each name without provider and owner, if all names still differ then.

    A name that is no provider's path stays whole, whatever slashes it has.
    """
    distinct = list(dict.fromkeys(names))
    paths = {name: _PROVIDER_PATH.fullmatch(name) for name in distinct}
    cut = {name: path[1] if path else name for name, path in paths.items()}
    return cut if len(set(cut.values())) == len(distinct) else {name: name for name in distinct}


def as_text(parts: Parts, names: Mapping[str, str]) -> str:
    """Return a sentence without its links."""
    texts = (
        part if isinstance(part, str) else part.get("figure") or names[part["model"]]
        for part in parts
    )
    return "".join(texts).strip()
