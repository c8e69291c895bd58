"""How long a page takes for what people wait for, measured inside it, and how much it keeps."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.support.browser import Page

READY = "() => performance.getEntriesByName('arena-ready').length > 0"
MARKS = """() => {
  const at = (name) => performance.getEntriesByName(name)[0].startTime;
  const [document] = performance.getEntriesByType('navigation');
  return [at('arena-first'), at('arena-ready'), document.domContentLoadedEventEnd];
}"""
ACT = """async ([selector, hash, awaited, before]) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const isThere = () => {
    const found = document.querySelector(awaited);
    return found && found.textContent !== before;
  };
  const began = performance.now();
  if (selector) document.querySelector(selector).click();
  else location.hash = hash;
  while (!isThere()) await frame();
  await frame();
  return performance.now() - began;
}"""
HEAP = """() => {
  globalThis.gc?.();
  return performance.memory.usedJSHeapSize / 1e6;
}"""


class Times(NamedTuple):
    """What one visit took, in milliseconds, and megabytes."""

    first_ms: float
    """From the address to the first figure."""
    ready_ms: float
    """To all battles being there to be listed."""
    parsed_ms: float
    """To the last byte of the document."""
    list_ms: float
    filter_ms: float
    search_ms: float
    battle_ms: float
    heap_mb: float
    """After all of it, what is no longer used left out."""
    rows: int
    """Of the list, in the document."""


def visit(page: Page, file: Path) -> Times:
    """Open a report, its list, a filter, a search and a battle."""
    page.goto(file)
    page.wait(READY)
    first, ready, parsed = page.evaluate(MARKS)
    listed = page.evaluate(ACT, ["nav a[href='#battles']", "", ".battle-row", ""])
    rows = page.count(".battle-row")
    all_ = page.text(".count b")
    facet = ".facet-row[title='round 2']"
    narrowed = page.evaluate(ACT, [facet, "", ".count b", all_])
    some = page.text(".count b")
    found = page.evaluate(ACT, ["", "#battles?q=rope+umbrella", ".count b", some])
    opened = page.evaluate(ACT, [".battle-row a", "", ".answers .answer", ""])
    return Times(
        first, ready, parsed, listed, narrowed, found, opened, page.evaluate(HEAP), rows
    )  # fmt: skip
