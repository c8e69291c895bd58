"""`arena view`: a run watched while it is played, its videos, and whom the server lets in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.browser import Browser, Page
from tests.support.clips import draw_clip
from tests.support.page_servers import playing, serving
from tests.support.reports import Shown
from tests.support.small_runs import battles_of, play

pytestmark = pytest.mark.slow
SETTLED = "() => Number(document.querySelector('.strip-live b').textContent)"

WATCH = """() => {
  window.arenaSeen = [];
  const look = () => {
    const now = Number(document.querySelector('.strip-live b').textContent);
    if (now !== window.arenaSeen.at(-1)) window.arenaSeen.push(now);
  };
  look();
  const how = { subtree: true, childList: true, characterData: true };
  new MutationObserver(look).observe(document.body, how);
}"""
GROWN = "(n) => Number(document.querySelector('.count b').textContent) > Number(n)"


@pytest.fixture(scope="module")
def link(browser: Browser, demo: Shown) -> Iterator[str]:
    with serving("view", demo.out) as (link,):
        yield link


@pytest.fixture(scope="module")
def page(browser: Browser, link: str) -> Iterator[Page]:
    """A page that opened the link; the link is used up by that."""
    with browser.looking() as page:
        page.goto(link)
        page.see(".ladder-row")
        yield page


@pytest.fixture
def place(page: Page, link: str) -> str:
    """Where the pages are, now that the token is spent."""
    return link.partition("?")[0]


def test_a_run_of_108_battles_is_watched_to_its_end(
    browser: Browser, sample_clips: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with (
        playing(out, sample_clips),
        serving("view", out) as (link,),
        browser.looking() as page,
    ):
        page.goto(link)
        page.see(".strip-live b")
        page.evaluate(WATCH)
        page.press("b")
        page.wait("() => document.querySelectorAll('.battle-row').length > 6")
        page.press("j", "j", "j")
        chosen = page.text(".cursor .row-question")
        before = page.text(".count b")
        page.wait(GROWN, before)
        assert page.text(".cursor .row-question") == chosen
        page.press("r")
        page.wait(f"() => ({SETTLED})() === 108")
        seen = page.evaluate("() => arenaSeen")
        assert len(seen) > 4, seen
        assert seen == sorted(seen)
        page.see("text=played to its end")
        page.wait("() => Number(document.querySelector('.behind .num').textContent) > 100")
        assert page.count(".ladder-row") == 8
        assert page.count("#newest .battle-row") == 6
        page.click("nav >> text=Battles")
        assert page.text(".count b") == "108"


def test_the_video_plays_and_jumps(page: Page, place: str, demo: Shown) -> None:
    page.goto(place, f"#battle={demo.battles[3].id}")
    page.see("video")
    ready = "() => document.querySelector('video').readyState >= 2"
    page.wait(ready)
    assert page.evaluate("() => document.querySelector('video').videoWidth") > 0
    page.evaluate("() => document.querySelector('video').play()")
    page.wait("() => document.querySelector('video').currentTime > 0.2")
    page.evaluate("""async () => {
      const video = document.querySelector('video');
      video.pause();
      video.currentTime = video.duration - 0.5;
      await new Promise((done) => video.addEventListener('seeked', done, { once: true }));
    }""")
    assert page.evaluate("() => document.querySelector('video').currentTime") > 1


def test_a_tick_opens_its_frame_at_full_size_and_arrows_go_on(
    page: Page, place: str, demo: Shown
) -> None:
    battle = next(one for one in demo.battles if len(one.frames_a) >= 8)
    page.goto(place, f"#battle={battle.id}")
    page.see(".lane-a button.lane-plot")
    page.click(".lane-a button.lane-plot")
    page.see(".frame-dialog img")
    loaded = "() => document.querySelector('.frame-dialog img').naturalWidth > 300"
    page.wait(loaded)
    first = page.text(".frame-dialog b")
    page.press("ArrowRight")
    page.wait("(t) => document.querySelector('.frame-dialog b').textContent !== t", first)
    page.wait(loaded)
    assert f"of {len(battle.frames_a)}" in page.text(".frame-dialog p")
    page.press("Escape")
    assert page.count(".frame-dialog[open]") == 0


def test_a_video_that_no_browser_plays_shows_its_frames(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    draw_clip(tmp_path / "clips" / "clip.avi", 1)
    play(tmp_path / "clips", tmp_path / "out", rounds=1)
    battle = battles_of(tmp_path / "out")[0]
    with serving("view", tmp_path / "out") as (link,):
        page = browser.page()
        page.goto(link)
        page.goto(link.partition("?")[0], f"#battle={battle.id}")
        page.see(".frame-player img")
        page.wait("() => document.querySelector('.frame-player img').naturalWidth > 100")
        before = page.text(".frame-player .num")
        page.click("text=Play frames")
        page.wait("(t) => document.querySelector('.frame-player .num').textContent !== t", before)
        assert "cannot play" in page.text(".player")
        page.close()


def test_axe_finds_nothing_on_served_pages(browser: Browser, demo: Shown) -> None:
    with serving("view", demo.out) as (link,), browser.looking(bypass_csp=True) as page:
        page.goto(link)
        page.see(".ladder-row")
        found = page.violations()
        page.goto(link.partition("?")[0], f"#battle={demo.battles[3].id}")
        page.see("video")
        page.settle()
        found += page.violations()
        page.click(".lane-a .lane-plot")
        found += page.violations()
        assert found == []
        assert page.surplus() <= 0


def test_the_link_opens_again_in_its_browser_and_tells_others_what_to_do(
    browser: Browser, page: Page, link: str
) -> None:
    page.goto(link)
    page.see(".ladder-row")
    other = browser.page()
    other.ask("goto", link)
    said = other.text("body")
    assert said.startswith("this link was used")
    assert "run arena view once more" in said
    assert other.count(".ladder-row") == 0
    other.close()


def test_what_cannot_be_loaded_is_said_where_it_is_wanted(browser: Browser, demo: Shown) -> None:
    page = browser.page()
    with serving("view", demo.out) as (link,):
        page.goto(link)
        page.see(".ladder-row")
        assert page.count(".loading") == 0
    page.evaluate("(id) => { location.hash = `#battle=${id}`; }", demo.battles[0].id)
    why = "the server does not answer; start arena view again"
    page.see(f"[role=alert] >> text=This battle cannot be shown: {why}")
    page.close()


def test_a_run_that_is_gone_is_said_in_place_of_the_page(
    browser: Browser, demo: Shown, tmp_path: Path
) -> None:
    out = Path(shutil.copytree(demo.out, tmp_path / "out"))
    page = browser.page()
    with serving("view", out) as (link,):
        (out / "run.sqlite").unlink()
        page.goto(link)
        page.see("[role=alert]")
        assert page.text("h1") == "Nothing to show"
        assert str(out) in page.text("[role=alert]")
        assert page.count(".loading") == 0
    page.close()


def test_a_folder_of_runs_is_listed_and_each_opens(
    browser: Browser, demo: Shown, tmp_path: Path
) -> None:
    (tmp_path / "first").symlink_to(demo.out)
    with serving("view", demo.out.parent) as (link,), browser.looking() as page:
        page.goto(link)
        page.see(".card")
        assert page.count("a.card") == 1
        page.click("a.card")
        page.see(".ladder-row")
        page.click("nav >> text=Runs")
        page.see(".card")


STRANGERS = {
    "another host": ({"Host": "stranger.example"}, "/", 421),
    "a host with a tail": ({"Host": "127.0.0.1.stranger.example"}, "/", 421),
    "another origin": ({"Origin": "https://stranger.example"}, "/api/summary", 403),
    "no origin at all": ({"Origin": "null"}, "/api/summary", 403),
    "another site": ({"Sec-Fetch-Site": "cross-site"}, "/api/summary", 403),
    "without a cookie": ({"Cookie": ""}, "/api/summary", 403),
    "a made-up cookie": ({"Cookie": "arena=0000"}, "/api/summary", 403),
    "a made-up token": ({"Cookie": ""}, "/?token=0000", 403),
    "a climbing path": ({}, "/api/video/../../etc/passwd", 404),
    "an encoded path": ({}, "/api/video/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404),
    "a file of ours": ({}, "/run.sqlite", 404),
    "a frame beyond": ({}, "/api/frame/000000000000/1", 404),
    "no such part": ({}, "/api/part/999999", 200),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_strangers_are_refused(page: Page, link: str, stranger: str) -> None:
    headers, path, status = STRANGERS[stranger]
    port = link.partition("?")[0].rstrip("/").rpartition(":")[2]
    (cookie,) = page.ask("cookies")
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    own = {"Cookie": f"{cookie['name']}={cookie['value']}", "Host": f"127.0.0.1:{port}"}
    with httpx.Client(trust_env=False) as client:
        asked = client.build_request("GET", f"http://127.0.0.1:{port}/", headers=own | headers)
        asked.url = asked.url.copy_with(raw_path=path.encode())
        answer = client.send(asked)
        assert answer.status_code == status, answer.text[:200]
        assert "root:" not in answer.text
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            asked = client.build_request(method, f"http://127.0.0.1:{port}/", headers=own)
            assert client.send(asked).status_code in (403, 405)
