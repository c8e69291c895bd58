"""The two seats keep apart for eyes of every kind, in both themes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.support.browser import Browser, Page, Theme
from tests.support.reports import Shown

pytestmark = pytest.mark.slow
EYES = ("none", "protanopia", "deuteranopia", "tritanopia", "achromatopsia")
MARKS = (".answer-{} .side", ".lane-{} .side")
APART = 10.0
"""In CIELAB; 2.3 is what can just be told apart side by side."""
_TO_XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
])  # fmt: skip
_WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a colour of a screen in CIELAB."""
    part = rgb / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    x, y, z = (
        np.cbrt(t) if t > 0.008856 else 7.787 * t + 16 / 116 for t in _TO_XYZ @ linear / _WHITE
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def colour(page: Page, selector: str, picture: Path) -> NDArray[np.float64]:
    """Return the colour of most of what is drawn of a mark, as the window shows it."""
    box = page.evaluate(
        "(css) => document.querySelector(css).getBoundingClientRect().toJSON()", selector
    )
    clip = {key: box[key] for key in ("x", "y", "width", "height")}
    page.ask("screenshot", path=str(picture), clip=clip)
    pixels = np.asarray(Image.open(picture).convert("RGB")).reshape(-1, 3)
    values, counts = np.unique(pixels, axis=0, return_counts=True)
    return lab(values[counts.argmax()].astype(np.float64))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_and_b_are_told_apart_by_all_eyes(
    browser: Browser, demo: Shown, tmp_path: Path, theme: Theme
) -> None:
    found = {}
    with browser.looking(theme=theme) as page:
        page.goto(demo.file, f"#battle={demo.battles[7].id}")
        page.see(".answers")
        page.ask("set_viewport_size", {"width": 1440, "height": 4000})
        page.settle()
        for eyes in EYES:
            page.ask("protocol", "Emulation.setEmulatedVisionDeficiency", {"type": eyes})
            page.settle()
            for mark in MARKS:
                a, b = (colour(page, mark.format(side), tmp_path / "mark.png") for side in "ab")
                found[eyes, mark] = float(np.linalg.norm(a - b))
    near = {key: gap for key, gap in found.items() if gap < APART and key[0] != "achromatopsia"}
    assert near == {}, found


def test_the_seats_have_letters_for_eyes_that_see_no_colour(browser: Browser, demo: Shown) -> None:
    with browser.looking() as page:
        page.goto(demo.file, f"#battle={demo.battles[7].id}")
        page.see(".answers")
        assert page.texts(".answer .side") == ["A", "B"]
        assert page.texts(".lane .side") == ["A", "B", "J"]
