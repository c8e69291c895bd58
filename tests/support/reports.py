"""Reports that are looked at, and what their run holds, counted from its battles alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlencode

from tests.support.browser import Page
from tests.support.played import invoke
from tests.support.small_runs import battles_of
from videoautoarena.memory.records.records import Battle


@dataclass(frozen=True)
class Shown:
    """A run and the report of it."""

    out: Path
    file: Path

    @cached_property
    def battles(self) -> list[Battle]:
        """The battles in the order in which they were played."""
        return battles_of(self.out)

    @cached_property
    def ranked(self) -> list[str]:
        """The models, the best first."""
        told = invoke("leaderboard", self.out, "--json")
        return [row["model"] for row in json.loads(told.stdout)["models"]]

    def count(self, fits: Callable[[Battle], bool]) -> int:
        """How many battles are so."""
        return sum(map(fits, self.battles))


def report_of(out: Path, file: Path, *words: object) -> Shown:
    """Write the report of a run; without pictures unless the words ask for some."""
    done = invoke("report", out, "--to", file, *(words or ("--thumbs", 0)))
    assert done.exit_code == 0, (done.output, done.exception)
    return Shown(out, file)


def winner_of(battle: Battle) -> str | None:
    """Return who won; None where nobody did."""
    return {"a": battle.model_a, "b": battle.model_b}.get(battle.verdict)


def met(battle: Battle) -> set[str | None]:
    """Return who met in a battle."""
    return {battle.model_a, battle.model_b}


def asking(**wanted: object) -> str:
    """Return the fragment of the list of battles, narrowed."""
    return f"#battles?{urlencode(wanted)}"


def open_list(page: Page, shown: Shown, fragment: str = "#battles") -> Page:
    """Open the list of battles and wait until it is there."""
    page.goto(shown.file, fragment)
    page.see(".count b")
    return page


def listed(page: Page) -> int:
    """Return how many battles the list says it holds."""
    return int(page.text(".count b").replace(",", ""))


def first_battle(page: Page) -> str:
    """Return the id of the battle in the first row."""
    link = "() => document.querySelector('.battle-row a').getAttribute('href')"
    return str(page.evaluate(link)).removeprefix("#battle=")


def cursor(page: Page) -> int:
    """Return the place of the row on which the keys are, from 1."""
    place = "() => Number(document.querySelector('.cursor').getAttribute('aria-posinset'))"
    return int(page.evaluate(place))
