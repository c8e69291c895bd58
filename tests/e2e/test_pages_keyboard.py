"""Nobody needs a mouse: the Tab key reaches everything, and shows where it is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser import NARROW, WIDE, Browser, Page
from tests.support.reports import Shown, listed, met, open_list

pytestmark = pytest.mark.slow
MOST = 500
"""Presses of Tab on a page."""
MARK = """() => {
  const wanted = 'a[href], button, input, select, textarea, summary, [tabindex]';
  const looks = (one) => ['', '::before', '::after'].map((part) => {
    const style = getComputedStyle(one, part || null);
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = style;
    return [outlineStyle, outlineWidth, outlineColor, boxShadow, style.borderColor,
      style.backgroundColor, style.textDecorationLine].join();
  }).join();
  const isReached = (one) =>
    one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0;
  const all = [...document.querySelectorAll(wanted)].filter(isReached);
  const name = (one) => `${one.tagName} ${one.className.baseVal ?? one.className} ` +
    (one.ariaLabel ?? one.textContent).trim().slice(0, 30);
  const known = new Map(all.map((one, place) => [one, place]));
  const before = all.map(looks);
  window.arenaFocus = () => {
    const now = document.activeElement;
    if (!now || now === document.body) return null;
    const place = known.get(now);
    const box = now.getBoundingClientRect();
    const isSeen = box.bottom > 0 && box.top < innerHeight && box.right > 0;
    if (place === undefined) return { place: -1, isSeen, isShown: true, name: name(now) };
    return { place, isSeen, isShown: looks(now) !== before[place], name: name(now) };
  };
  return all.map(name);
}"""

CELL = """([row, column]) => document.querySelector('.matrix').rows[row].cells[column]
  .querySelector('[tabindex]').focus()"""

WHERE = """() => {
  const cell = document.activeElement.closest('td');
  return [cell.parentElement.rowIndex, cell.cellIndex];
}"""


def walked(page: Page) -> tuple[list[str], list[dict[str, Any]]]:
    """Return what can be reached, and what was, one press of Tab after another."""
    names = page.evaluate(MARK)
    seen = []
    for _ in range(MOST):
        page.ask("keyboard.press", "Tab")
        now = page.evaluate("() => arenaFocus()")
        if now is None:
            break
        seen.append(now)
    return names, seen


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desk", "phone"])
@pytest.mark.parametrize("page_name", ["report", "battles", "battle", "models", "model"])
def test_tab_reaches_everything_and_one_sees_where_it_is(
    browser: Browser, demo: Shown, page_name: str, size: tuple[int, int]
) -> None:
    fragments = {"battle": f"#battle={demo.battles[7].id}", "model": f"#model={demo.ranked[0]}"}
    with browser.looking(size) as page:
        page.goto(demo.file, fragments.get(page_name, f"#{page_name}"))
        page.see("main h1, main .count")
        page.wait("() => !document.querySelector('.loading')")
        page.settle()
        names, seen = walked(page)
        reached = {one["place"] for one in seen}
        assert len(seen) < MOST
        assert [name for place, name in enumerate(names) if place not in reached] == []
        assert [one["name"] for one in seen if not one["isShown"]] == []
        assert [one["name"] for one in seen if not one["isSeen"]] == []


def test_tab_goes_on_through_rows_that_were_not_drawn_yet(browser: Browser, demo: Shown) -> None:
    with browser.looking() as page:
        open_list(page, demo)
        page.evaluate("() => document.querySelector('.battle-row a').focus()")
        place = "() => document.activeElement.parentElement.getAttribute('aria-posinset')"
        found = []
        for _ in range(60):
            found.append(int(page.evaluate(place)))
            page.ask("keyboard.press", "Tab")
        assert found == list(range(1, 61))


def test_arrows_reach_every_cell_of_the_table_and_enter_lists_its_battles(
    browser: Browser, demo: Shown
) -> None:
    count = len(demo.ranked)
    with browser.looking() as page:
        page.goto(demo.file)
        page.see(".matrix")
        page.evaluate(CELL, [1, 2])
        visited = {(1, 2)}

        def go(key: str) -> None:
            page.ask("keyboard.press", key)
            visited.add(tuple(page.evaluate(WHERE)))

        for row in range(1, count):
            for key in (*["ArrowLeft"] * count, *["ArrowRight"] * count):
                go(key)
            # No model meets itself, so the way down leaps over the diagonal.
            for key in (["ArrowLeft"] if row == count - 1 else []) + ["ArrowDown"]:
                go(key)
        for key in (*["ArrowLeft"] * count, *["ArrowRight"] * count):
            go(key)
        assert len(visited) == count * (count - 1)
        page.evaluate(CELL, [3, 5])
        page.press("Enter")
        page.see(".count b")
        pair = {demo.ranked[2], demo.ranked[4]}
        assert listed(page) == demo.count(lambda battle: met(battle) == pair)


def test_the_first_stop_skips_to_the_content(browser: Browser, demo: Shown) -> None:
    with browser.looking() as page:
        page.goto(demo.file)
        page.see(".ladder-row")
        page.press("Tab")
        assert "Skip" in page.evaluate("() => document.activeElement.textContent")
        page.press("Enter")
        assert page.evaluate("() => document.activeElement.id") == "main"
        page.press("Tab")
        assert page.evaluate("() => document.activeElement.closest('main') !== null")
