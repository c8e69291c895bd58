"""`arena annotate`: whole sessions by keys and clicks; every vote is in the run, none twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.annotated import rankings, votes
from tests.support.browser import NARROW, WIDE, Browser, Page
from tests.support.page_servers import serving
from tests.support.reports import Shown, report_of
from tests.support.traps import write_hostile

pytestmark = pytest.mark.slow
DONE = "(n) => document.querySelector('.progress').ariaValueNow === String(n)"
FAST = "() => { performance.now = () => Date.now() * 100; }"
"""What is out counts as seen at once."""
LEAKS = ("hawk", "owl", "mole", "parrot", "terse", "windbag", "offline", ".mp4")


@pytest.fixture
def run(demo: Shown, tmp_path: Path) -> Path:
    """A copy of the demo's run, to be labelled."""
    shutil.copytree(demo.out, tmp_path / "run")
    return tmp_path / "run"


def settled(page: Page) -> None:
    """Wait until what is out has been seen for so long that a vote on it counts."""
    page.see(".vote-bar, h1")
    page.wait("() => new Promise((done) => setTimeout(done, 750, true))")


def voted(page: Page, key: str, done: int) -> None:
    """Vote by a key and wait until it is saved."""
    settled(page)
    page.press(key)
    page.wait(DONE, done)


def test_a_session_by_keys_ends_in_the_run(browser: Browser, run: Path) -> None:
    with serving("annotate", run, "--n", "6") as (link,), browser.looking() as page:
        page.goto(link)
        for number, key in enumerate("12345", start=1):
            shown = page.evaluate("() => document.getElementById('app').innerHTML")
            assert not [name for name in LEAKS if name in shown]
            voted(page, key, number)
        settled(page)
        page.press("s")
        page.press("Enter")
        page.press("n")
        page.type("the second half is missing")
        page.press("Escape")
        page.press("1")
        page.see("text=That was all: 6 battles.")
    cast = [one.vote for one in votes(run)]
    assert sorted(vote.verdict or "" for vote in cast[2:5]) == ["", "tie_bad", "tie_good"]
    assert {vote.verdict for vote in (cast[0], cast[1], cast[5])} <= {"a", "b"}
    assert cast[5].note == "the second half is missing"
    assert len(cast[5].standards) == 1
    assert len({vote.battle for vote in cast}) == 6


def test_undo_takes_the_last_vote_back_and_it_stays_as_superseded(
    browser: Browser, run: Path
) -> None:
    with serving("annotate", run, "--n", "4") as (link,), browser.looking() as page:
        page.goto(link)
        voted(page, "3", 1)
        first = page.text("h1.question")
        voted(page, "4", 2)
        voted(page, "u", 1)
        assert page.text("h1.question") == first
        voted(page, "3", 2)
    cast = votes(run)
    assert [one.vote.verdict for one in cast if not one.is_superseded] == ["tie_good", "tie_good"]
    assert "tie_bad" in [one.vote.verdict for one in cast if one.is_superseded]


def test_a_key_pressed_twice_votes_once(browser: Browser, run: Path) -> None:
    with serving("annotate", run, "--n", "4") as (link,), browser.looking() as page:
        page.goto(link)
        settled(page)
        for _ in range(5):
            page.ask("keyboard.press", "3")
        page.wait(DONE, 1)
        settled(page)
        assert page.evaluate("() => document.querySelector('.progress').ariaValueNow") == "1"
    assert len(votes(run)) == 1


def test_a_reload_and_another_start_go_on_where_it_was(browser: Browser, run: Path) -> None:
    with serving("annotate", run, "--n", "5") as (link,), browser.looking() as page:
        page.goto(link)
        voted(page, "3", 1)
        voted(page, "4", 2)
        question = page.text("h1.question")
        page.ask("reload")
        page.see("h1.question")
        page.wait(DONE, 2)
        assert page.text("h1.question") == question
    with serving("annotate", run, "--n", "5") as (link,), browser.looking() as page:
        page.goto(link)
        page.see("h1.question")
        assert page.text("h1.question") == question
        voted(page, "3", 3)
    assert [one.vote.verdict for one in votes(run)] == ["tie_good", "tie_bad", "tie_good"]


def test_two_labellers_vote_side_by_side_each_for_themselves(browser: Browser, run: Path) -> None:
    words = ("--labeller", "anna", "--labeller", "ben")
    with (
        serving("annotate", run, "--n", "3", *words) as (hers, his),
        browser.looking() as anna,
        browser.looking() as ben,
    ):
        anna.goto(hers)
        ben.goto(his)
        for number in (1, 2, 3):
            voted(anna, "3", number)
            voted(ben, "4", number)
        assert "anna" in anna.text(".who")
        assert "ben" in ben.text(".who")
    said = {(one.vote.labeller, one.vote.verdict) for one in votes(run)}
    assert said == {("anna", "tie_good"), ("ben", "tie_bad")}
    assert len({one.vote.battle for one in votes(run)}) == 3
    shown = report_of(run, run / "labelled.html")
    with browser.looking() as page:
        page.goto(shown.file, "#report/people")
        page.see("#people")
        assert "6 labels of 3 battles by 2 people" in page.text("#people")
        assert page.surplus() <= 0


def test_questions_are_ranked_by_keys(browser: Browser, run: Path, demo: Shown) -> None:
    lines = ["video,question,source"]
    lines += [f"{id_},What is this about?,plain" for id_ in {one.video for one in demo.battles}]
    file = run / "others.csv"
    file.write_text("\n".join(lines) + "\n")
    words = ("--n", "0", "--against", file)
    with serving("annotate", run, *words) as (link,), browser.looking() as page:
        page.goto(link)
        page.see(".choice")
        settled(page)
        page.press("1", "Enter")
        page.wait(DONE, 1)
        settled(page)
        page.press("5")
        page.wait(DONE, 2)
    ranked, open_ = (one.vote for one in rankings(run))
    assert sorted(ranked.ranks or ()) == [1, 2]
    assert open_.ranks is None


def test_axe_finds_nothing_while_people_label(browser: Browser, run: Path) -> None:
    found: dict[str, list[str]] = {}
    with (
        serving("annotate", run, "--n", "3") as (link,),
        browser.looking(bypass_csp=True) as page,
    ):
        page.goto(link)
        page.see("h1.question")
        page.wait("() => document.querySelector('video').readyState > 0")
        found["desk"] = page.violations()
        page.resize(NARROW)
        assert page.surplus() <= 0
        found["phone"] = page.violations()
        page.press("s")
        found["standards"] = page.violations()
        page.turn("dark")
        found["dark"] = page.violations()
        page.resize(WIDE)
        assert page.surplus() <= 0
        page.press("?")
        found["keys"] = page.violations()
    assert {state: what for state, what in found.items() if what} == {}


def test_hostile_text_does_nothing_to_those_who_label(browser: Browser, tmp_path: Path) -> None:
    """No file lies behind these videos, so that asking for one is answered with 404."""
    out = write_hostile(tmp_path)
    words = ("--n", "30", "--labeller", "<img src=x onerror=window.__ran=40>")
    with serving("annotate", out, *words) as (link,):
        page = browser.page(NARROW)
        page.goto(link)
        page.evaluate(FAST)
        for number in range(1, 31):
            page.see(".vote-bar")
            assert page.surplus() <= 0, number
            page.press("5")
            page.wait(DONE, number)
        assert page.evaluate("() => window.__ran ?? null") is None
        assert page.count("main iframe, main script, main a[href^=http]") == 0
        assert [one for one in page.complaints() if "404 (Not Found)" not in one] == []
        page.close()
