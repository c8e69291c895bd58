"""The heat map of a report: readable at any width, and nobody compared who never met."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.runs.analysis.categories.test_topics import asked
from tests.support.browser import NARROW, WIDE, Browser
from tests.support.played import battle, invoke, manifest, play, slot, video
from tests.support.reports import Shown, report_of
from videoautoarena.memory.store.evidence import QuestionTag
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.categories.tags import asked_of
from videoautoarena.runs.run.rundir.reader import RUN_FILE

pytestmark = pytest.mark.slow
FILM = video()
NAMES = [f"a-model-of-a-long-name-{k}" for k in range(8)]
KINDS = (("code", "cause_and_reasoning"), ("code",), ("cause_and_reasoning",))
CUT = """() => [...document.querySelectorAll(".kinds td *, .kinds thead th")].filter((one) =>
    one.scrollWidth > one.parentElement.clientWidth + 1).map((one) => one.textContent)"""
OVER = """() => [...document.querySelectorAll(".kinds tbody tr")].flatMap((row) => {
  const at = [...row.querySelectorAll("td b")].map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect();
  });
  return at.slice(1).filter((one, k) => one.left < at[k].right).map((one) => one.left);
})"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Return a report on two groups of four models that never met, half of one tagged as code."""
    place = tmp_path_factory.mktemp("kinds")
    pairs = [(k, m) for k in range(8) for m in range(k + 1, 8) if (k < 4) == (m < 4)]
    played = [
        battle(slot(FILM, k), model_a=NAMES[a], model_b=NAMES[b], question=f"Question {k}?")
        for k, (a, b) in enumerate(pairs)
    ]

    own = manifest()["cast"]
    cast = {**own, **dict.fromkeys(NAMES, own["owl"])}
    out = play(place / "out", played, settings=manifest(models=NAMES, cast=cast))

    async def put(store: Store) -> None:
        for k, one in enumerate(played):
            asked = asked_of(one.video, str(one.question))
            said = dict.fromkeys(KINDS[k % 3], "yes")
            await store.evidence.put_tag(QuestionTag.model_validate(
                {"id": asked.id, "question": asked.id, "video": one.video, "text": asked.text,
                 "classifier": "c", "model": "offline:judge", "categories": said}
            ))  # fmt: skip

    with Store.open(Path(out) / RUN_FILE, write=True) as store:
        asyncio.run(put(store))
    return report_of(out, place / "report.html")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_no_figure_runs_into_another_at_any_width(
    browser: Browser, report: Shown, size: tuple[int, int]
) -> None:
    with browser.looking(size, bypass_csp=True) as page:
        page.goto(report.file)
        page.click("#slices button:has-text('Kind of question')")
        page.see("#slices .kinds")
        assert page.texts(".kinds tbody th") == ["cause and reasoning", "code"]
        assert page.evaluate(OVER) == []
        assert page.evaluate(CUT) == []
        assert page.surplus() <= 0
        assert page.violations() == []


def test_who_never_met_the_others_of_a_kind_has_no_figure_there(
    browser: Browser, report: Shown
) -> None:
    with browser.looking() as page:
        page.goto(report.file)
        page.click("#slices button:has-text('Kind of question')")
        cells = page.texts(".kinds tbody tr:first-child td")
        assert len(cells) == 9
        assert cells[:8].count("–") == 4
        assert any("one-sided" in cell for cell in cells)


def test_topics_are_a_heat_map_of_their_own_where_they_were_asked_for(
    browser: Browser, tmp_path: Path
) -> None:
    films = [video(f"film {k}".encode(), path=f"film{k}.mp4") for k in range(3)]
    fought = [
        battle(
            slot(films[k % 3], k), question=f"{text} <b>{k}</b>?", model_b=("owl", "mole")[k % 2]
        )
        for k, text in enumerate(asked()[0])
    ]
    out = play(tmp_path / "out", fought, videos=films)
    shown = report_of(out, tmp_path / "report.html", "--thumbs", 0, "--topics")
    names = [one["topic"] for one in json.loads(invoke("topics", out, "--json").stdout)["topics"]]
    with browser.looking(WIDE, bypass_csp=True) as page:
        page.goto(shown.file)
        page.click("#slices button:has-text('Topic')")
        page.see("#slices .kinds")
        assert page.texts(".kinds tbody th") == names
        assert page.surplus() <= 0
        assert page.violations() == []
        plain = report_of(out, tmp_path / "plain.html")
        page.goto(plain.file)
        assert "Topic" not in page.texts("#slices button")
