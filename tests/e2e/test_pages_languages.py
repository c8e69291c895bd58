"""Text from right to left in a report: it runs its own way, and moves nothing around it."""

from __future__ import annotations

import pytest

from tests.support.browser import Browser
from tests.support.played import lineage, play, video
from tests.support.reports import Shown, report_of

pytestmark = pytest.mark.slow
TEXTS = {
    "ar": ("كم مرة ترفع الطاهية غطاء القدر؟", "ترفعه 3 مرات (انظر clip.mp4)."),
    "he": ("כמה פעמים הטבחית מרימה את המכסה?", "היא מרימה אותו 3 פעמים (clip.mp4)."),
    "en": ("How often does the cook lift the lid?", "She lifts it three times."),
}
WAY = """(selector) => getComputedStyle(document.querySelector(selector)).direction"""
WAYS = """(selector) => [...document.querySelectorAll(selector)].map(
    (one) => getComputedStyle(one).direction)"""
ORDER = """() => {
  const left = (selector) => document.querySelector(selector).getBoundingClientRect().left;
  return [left(".answer-a"), left(".answer-b")];
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Return a report on a run in Arabic, Hebrew and English."""
    place = tmp_path_factory.mktemp("languages")
    films = [video(code.encode(), path=f"{code}.mp4") for code in TEXTS]
    played = []
    for film, (code, (question, answer)) in zip(films, TEXTS.items(), strict=True):
        said = {"question": question, "answer_a": answer, "answer_b": answer}
        said |= {"persona_text": answer, "language": code}
        played += [battle.model_copy(update=said) for battle in lineage(film)]
    return report_of(play(place / "out", played, videos=films), place / "report.html")


@pytest.mark.parametrize("code", TEXTS)
def test_question_user_and_answers_run_the_way_of_their_language(
    browser: Browser, report: Shown, code: str
) -> None:
    battle = next(one for one in report.battles if one.language == code)
    way = "ltr" if code == "en" else "rtl"
    with browser.looking() as page:
        page.goto(report.file, f"#battle={battle.id}")
        page.see(".answers .answer >> nth=1")
        assert page.evaluate(WAY, "h1.question") == way
        assert page.evaluate(WAY, ".persona > bdi") == way
        assert set(page.evaluate(WAYS, ".answers .md")) == {way}


@pytest.mark.parametrize("code", ["ar", "he"])
def test_the_page_around_such_text_stays_as_it_is(
    browser: Browser, report: Shown, code: str
) -> None:
    battle = next(one for one in report.battles if one.language == code)
    with browser.looking() as page:
        page.goto(report.file, f"#battle={battle.id}")
        page.see(".answers .answer >> nth=1")
        first, second = page.evaluate(ORDER)
        assert first < second
        assert page.evaluate(WAY, "main") == page.evaluate(WAY, ".ruling") == "ltr"
        assert page.surplus() <= 0


def test_in_a_list_each_question_is_isolated(browser: Browser, report: Shown) -> None:
    with browser.looking() as page:
        page.goto(report.file, "#battles")
        page.see(".row-question")
        assert set(page.evaluate(WAYS, ".row-question bdi")) == {"ltr", "rtl"}
        assert set(page.evaluate(WAYS, ".row-question")) == {"ltr"}


def test_the_judge_in_each_language_stands_before_the_board_by_language(
    browser: Browser, report: Shown
) -> None:
    with browser.looking() as page:
        page.goto(report.file, "#report")
        page.click("#slices button:has-text('Language')")
        page.see("#slices .slices")
        text = page.text("#slices")
        assert text.index("First, the judge in each language") < text.index("3 battles")
        assert "In Arabic (ar)" in text
