"""The offline examiner as it remembers a video: captions, what belongs together, things.

It speaks of light, colours and motion, and of coloured areas that stand out from what is around
them. What it reads of captions and descriptions is their words alone.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np

from videoautoarena.agents.offline.vision.areas import (
    PATCH,
    SAME_SIZE,
    DepictedObject,
    things_in,
)
from videoautoarena.agents.offline.vision.frame_features import COLOURS, ModelInput
from videoautoarena.agents.offline.vision.looks import LIGHTS
from videoautoarena.agents.offline.vision.sequence import sight_of

MOST_THINGS = 8
GROUND = "ground"
ALIKE = 0.5
"""Share of the telling words of two captions that both have, from which on they are of one scene:
if both speak of the first colour of either."""
_MOTIONS = ((0.01, "hardly anything moves"), (0.06, "something moves"), (1.0, "much moves"))
_HABITS = frozenset({"a", "and", "picture", "mostly", "in", "which", "moves"})
"""Words that every caption written here holds."""
_SECOND = 0.1
"""A second colour with less of the picture is not spoken of."""
_WORD = re.compile(r"[^\W_]+")
_LINE = re.compile(r"^\s*\d+\.\s?(.*)$")
_SIZE = re.compile(r"(\d+) % of the picture wide and (\d+) % high")


def caption_scene(sent: ModelInput, _blocks: dict[str, str]) -> dict[str, object]:
    """Return what a stretch looks like, and its colours as the theme."""
    seen = sight_of(sent)
    shares = seen.shares.mean(axis=0)
    # Stable, so that equal shares come in one order on every machine.
    main, second = (int(place) for place in np.argsort(-shares, kind="stable")[:2])
    colours = [COLOURS[main]] + [COLOURS[second]] * bool(shares[second] >= _SECOND)
    light = min(LIGHTS, key=lambda word: abs(LIGHTS[word] - float(seen.luma.mean())))
    moved = float(seen.motion.mean()) if len(seen.motion) else 0.0
    motion = next(words for most, words in _MOTIONS if moved <= most)
    both = " and ".join(colours)
    return {
        "caption": f"A {light} picture, mostly {both}, in which {motion}.",
        "theme": f"{both} pictures",
    }


def merge_scenes(blocks: dict[str, str]) -> dict[str, object]:
    """Return which neighbours have captions of the same colours and many of the same words."""
    captions = _lines(blocks.get("scenes", ""))
    return {"together": ["yes" if _is_alike(*pair) else "no" for pair in pairwise(captions)]}


def find_objects(sent: ModelInput, _blocks: dict[str, str]) -> dict[str, object]:
    """Return the coloured areas that stand out, the largest first; else the ground alone."""
    found = [_found(sent, thing) for thing in things_in(sent.pictures)[:MOST_THINGS]]
    if found:
        return {"objects": found}
    colour = COLOURS[int(sight_of(sent).shares.mean(axis=0).argmax())]
    whole = {"left": 0.0, "top": 0.0, "right": 1.0, "bottom": 1.0}
    middle = sent.pictures[len(sent.pictures) // 2].time_s
    ground = {
        "name": f"{colour} {GROUND}",
        "description": f"What fills the picture: mostly {colour}, and nothing stands out from it.",
        "regions": [{"time_s": middle, **whole}],
    }
    return {"objects": [ground]}


def match_objects(blocks: dict[str, str]) -> dict[str, object]:
    """Return which pairs are described alike: same colour and shape, and about the same size.

    A patch without a shape is never known again, nor is a ground: there are too many like them.
    """
    return {"same": ["yes" if _is_same(line) else "no" for line in _lines(blocks.get("pairs", ""))]}


def _is_alike(caption: str, other: str) -> bool:
    first, second = ([*_WORD.findall(text.casefold())] for text in (caption, other))
    mains = {next((word for word in words if word in COLOURS), None) for words in (first, second)}
    one, two = (frozenset(words) - _HABITS for words in (first, second))
    return mains - {None} <= one & two and len(one & two) >= ALIKE * len(one | two)


def _found(sent: ModelInput, thing: DepictedObject) -> dict[str, object]:
    place, area = thing.typical
    left, top, right, bottom = (round(share, 3) for share in area.box)
    region = {"time_s": sent.pictures[place].time_s, "left": left, "top": top}
    wide, high = (max(1, round(100 * side)) for side in area.size)
    return {
        "name": f"{area.colour} {area.shape}",
        "description": f"A plain {area.shape} of {area.colour}, about {wide} % of the picture wide "
        f"and {high} % high.",
        "regions": [region | {"right": right, "bottom": bottom}],
    }


def _is_same(line: str) -> bool:
    texts = _texts(line)
    if len(texts) != 4:
        return False
    (name, what), (other_name, other_what) = texts[:2], texts[2:]
    if GROUND in _words(name) | _words(other_name):
        return False
    sizes = [_SIZE.search(text) for text in (what, other_what)]
    if None in sizes:
        return _words(f"{name} {what}") == _words(f"{other_name} {other_what}")
    pairs = zip(*(map(int, size.groups()) for size in sizes if size), strict=True)
    # Sizes are said in whole shares: of a small thing that is not exact.
    is_known = _words(name) == _words(other_name) and PATCH not in _words(name)
    return is_known and all(max(a, b) <= SAME_SIZE * min(a, b) + 1 for a, b in pairs)


def _texts(line: str) -> list[str]:
    """Return name and description of both things, in that order; empty if they cannot be read."""
    decoder = json.JSONDecoder()
    place = 0
    texts = list[str]()
    while (start := line.find("[", place)) >= 0:
        try:
            both, place = decoder.raw_decode(line, start)
        except ValueError:
            return []
        texts += map(str, both)
    return texts


def _lines(text: str) -> list[str]:
    found = (_LINE.match(line) for line in text.splitlines())
    return [line[1] for line in found if line]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
