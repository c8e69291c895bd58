"""People who label battles in a real browser: by keys and clicks, with votes kept in the run."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.annotated import rankings, votes
from tests.support.browser import NARROW, WIDE, Browser, Page, Theme
from tests.support.played import battle, play, slot, video
from tests.support.traps import NAME, TRAPS
from tests.support.votes import written
from tests.support.whole_runs import command, environment
from videoautoarena.memory.records.records import Battle, Sampling
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.agreement import remember
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import FOLDER_FILE
from videoautoarena.video.folder.find import read_video
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

pytestmark = pytest.mark.slow
BAR = ".vote-bar"
THEMES: tuple[Theme, ...] = ("light", "dark")
LONG = "\n\n".join(TRAPS)
SHORT = " ".join(trap for trap in TRAPS if len(trap) <= 3000)


@contextmanager
def session(out: Path, *words: object) -> Iterator[list[str]]:
    """Hold a session with the command itself, and give its links; it ends by Ctrl-C, well."""
    line = command("arena", "annotate", out, *map(str, words))
    pipe = subprocess.PIPE
    process = subprocess.Popen(line, env=environment(), stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    try:
        count = max(1, sum(str(word).startswith("--labeller") for word in words))
        yield [process.stdout.readline().strip().split(": ")[-1] for _ in range(count)]
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said


def settled(page: Page) -> None:
    """Wait until a vote counts: nobody votes on what they have not seen."""
    page.wait("() => document.querySelector('main[aria-busy=false]')")
    time.sleep(0.75)


def number(page: Page) -> str:
    """Return how far the page says that its labeller is."""
    return page.text(".progress-head p").partition(" ·")[0]


def shown(page: Page) -> list[str]:
    """Return the question and the answers that are out."""
    return [page.text("h1.question"), *page.texts(".answer .md")]


CLIPS = ("carousel.mp4", "kites.mp4")


@pytest.fixture(scope="module")
def labelled(sample_clips: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over two real clips, whose frames are known."""
    films = [read_video(sample_clips, name) for name in CLIPS]
    battles = [battle(slot(film, k)) for film in films for k in range(4)]
    out = play(tmp_path_factory.mktemp("labelled") / "out", battles, videos=films)

    async def decode() -> None:
        with Store.open(out / "run.sqlite", write=True) as store:
            store.put_file(FOLDER_FILE, str(sample_clips))
            async with Decoders(FrameCache(out.parent / "cache")) as decoders:
                for film in films:
                    path = sample_clips / film.path
                    await store.put_frames(await decoders.frames(path, film, Sampling()))

    asyncio.run(decode())
    remember(resolve(RunRequest()).config, sample_clips, names=())
    return out


@pytest.fixture
def run(labelled: Path, tmp_path: Path) -> Path:
    """The same run, nobody else's to label."""
    return Path(shutil.copytree(labelled, tmp_path / "out"))


@dataclass(frozen=True)
class Shared:
    """A session that several tests vote in, each under names of its own."""

    out: Path
    links: dict[str, str]

    def votes(self, name: str) -> list[Any]:
        return [cast for cast in votes(self.out) if cast.vote.labeller == name]


@pytest.fixture(scope="module")
def shared(browser: Browser, labelled: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = Path(shutil.copytree(labelled, tmp_path_factory.mktemp("shared") / "out"))
    names = ("keys", "twice", "anna", "mara", "film")
    with session(out, "--n", 6, *(f"--labeller={name}" for name in names)) as links:
        yield Shared(out, dict(zip(names, links, strict=True)))


def test_votes_by_keys_and_clicks_are_in_the_run_when_the_page_moves_on(
    browser: Browser, shared: Shared
) -> None:
    with browser.looking() as page:
        page.goto(shared.links["keys"])
        page.see(BAR)
        assert number(page) == "1 of 6"
        first = shown(page)
        page.press("n")
        page.type("1 sees more u5")
        page.press("Escape", "s", "Enter")
        settled(page)
        page.press("2")
        page.wait("() => document.title.startsWith('2 of 6')")
        (cast,) = shared.votes("keys")
        assert (cast.vote.note, set(cast.vote.standards)) == (
            "1 sees more u5",
            {"instruction_following"},
        )
        settled(page)
        page.click(".vote-tie_bad")
        page.wait("() => document.title.startsWith('3 of 6')")
        settled(page)
        page.press("u")
        settled(page)
        page.press("u")
        page.wait("() => document.title.startsWith('1 of 6')")
        assert shown(page) == first
        assert page.count(".undo:disabled") == 1
    assert [cast.is_superseded for cast in shared.votes("keys")] == [True, True]


def test_a_key_pressed_twice_votes_once(browser: Browser, shared: Shared) -> None:
    with browser.looking() as page:
        page.goto(shared.links["twice"])
        page.see(BAR)
        settled(page)
        twice = """() => { for (const key of ["1", "1", "3", "u"]) {
          document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); } }"""
        page.evaluate(twice)
        page.wait("() => document.title.startsWith('2 of 6')")
        # A moment later the next battle is out, and has been seen by nobody.
        page.evaluate(twice)
        settled(page)
        assert number(page) == "2 of 6"
    assert len(shared.votes("twice")) == 1


def test_a_reload_and_a_second_session_go_on_where_the_labeller_was(
    browser: Browser, run: Path
) -> None:
    with session(run, "--n", 4) as (link,), browser.looking() as page:
        page.goto(link)
        page.see(BAR)
        settled(page)
        page.press("1")
        page.wait("() => document.title.startsWith('2 of 4')")
        before = shown(page)
        page.ask("reload")
        page.see(BAR)
        assert shown(page) == before
        # The link has been used, but this browser may use it again.
        page.goto(link)
        page.see(BAR)
        assert shown(page) == before
    with session(run, "--n", 4) as (link,), browser.looking() as page:
        page.goto(link)
        page.see(BAR)
        assert shown(page) == before
        for verdict in "345":
            settled(page)
            page.press(verdict)
        page.see("text=That was all: 4 battles")
        assert page.text(".progress-head p").startswith("Done · 1 skipped")
        assert page.count(BAR) == 0
    assert [cast.vote.verdict for cast in votes(run)][1:] == ["tie_good", "tie_bad", None]


def test_two_labellers_vote_at_the_same_time(browser: Browser, shared: Shared) -> None:
    with browser.looking() as anna, browser.looking(NARROW, "dark") as mara:
        for page, name in ((anna, "anna"), (mara, "mara")):
            page.goto(shared.links[name])
            page.see(BAR)
            assert page.text(".who") == name
        settled(mara)
        anna.press("3")
        mara.press("4")
        anna.wait("() => document.title.startsWith('2 of 6')")
        mara.wait("() => document.title.startsWith('2 of 6')")
        assert shown(anna)[0] == shown(mara)[0]
        # A stranger who has seen a link on the screen is too late.
        stranger = browser.page()
        stranger.goto(shared.links["anna"])
        said = stranger.text("body")
        assert said.startswith("this link was used")
        assert "end arena annotate with Ctrl-C and start it again" in said
        stranger.close()
    ((first,), (second,)) = map(shared.votes, ("anna", "mara"))
    assert first.vote.battle == second.vote.battle
    assert (first.vote.verdict, second.vote.verdict) == ("tie_good", "tie_bad")


def test_a_video_plays_and_one_that_browsers_cannot_play_is_shown_by_its_frames(
    browser: Browser, shared: Shared
) -> None:
    with browser.looking() as page:
        page.goto(shared.links["film"])
        page.see("video")
        page.wait("() => document.querySelector('video').readyState >= 1")
        assert page.evaluate("() => document.querySelector('video').videoWidth") > 0
        page.evaluate("() => document.querySelector('video').dispatchEvent(new Event('error'))")
        page.see(".frame-player img")
        page.wait("() => document.querySelector('.frame-player img').naturalWidth > 0")
        # No address of a video or of a frame says which one it is.
        address = re.compile(
            r"http://127\.0\.0\.1:\d+/(\?token=[\w-]+|favicon.ico|api/annotate/battle"
            r"(/(video/[0-9a-f]{24}|frame/[0-9a-f]{24}/\d+))?)?"
        )
        asked = [url for url in page.requests() if url != "about:blank"]
        assert [url for url in asked if not address.fullmatch(url)] == []


def test_questions_are_ranked_by_keys_and_clicks(
    browser: Browser, run: Path, tmp_path: Path
) -> None:
    rows = [(clip, f"What of {s}?", s) for clip in CLIPS for s in ("old", "older")]
    file = written(tmp_path / "against.csv", rows, ("video", "question", "source"))
    with session(run, "--n", 0, "--against", file) as (link,), browser.looking() as page:
        page.goto(link)
        page.see(".questions")
        assert page.count(".vote-save:disabled") == 1
        order = page.texts(".choice bdi")
        page.press("3", "1")
        assert page.texts(".rank") == ["2nd", "3rd", "1st"]
        page.click(".choice >> nth=1")
        assert page.texts(".rank") == ["2nd", "", "1st"]
        page.click(".choice >> nth=1")
        settled(page)
        page.press("Enter")
        page.wait("() => document.title.startsWith('2 of 2')")
        settled(page)
        page.press("5")
        page.see("text=That was all: 2 sets")
    first, second = rankings(run)
    assert [posed.text for posed in first.vote.questions] == order
    assert (first.vote.ranks, second.vote.ranks) == ((2, 3, 1), None)


def test_what_cannot_be_saved_is_said_and_nothing_is_lost(browser: Browser, run: Path) -> None:
    page = browser.page()
    with session(run, "--n", 3) as (link,):
        page.goto(link)
        page.see(BAR)
        settled(page)
        page.press("n")
        page.type("kept")
        page.press("Escape")
    page.press("1")
    page.see("[role=alert] >> text=The server does not answer")
    assert number(page) == "1 of 3"
    assert page.evaluate("() => document.querySelector('.note-field input').value") == "kept"
    page.close()
    assert votes(run) == []


def trapped() -> list[Battle]:
    """Return a battle whose every text is a trap."""
    film = video()
    made: dict[str, Any] = {key: SHORT for key in ("question", "persona_text")}
    return [battle(slot(film, 0), answer_a=SHORT, answer_b=LONG, **made)]


def test_hostile_text_does_nothing_and_fits(browser: Browser, tmp_path: Path) -> None:
    out = play(tmp_path / "out", trapped())
    rows = [("clip.mp4", SHORT, NAME), ("clip.mp4", "x" * 3000, "long")]
    file = written(tmp_path / "x.jsonl", rows, ("video", "question", "source"))
    words = ("--against", file, "--labeller", "<img src=x onerror=alert(1)>")
    with session(out, *words) as (link,):
        page = browser.page()
        page.goto(link)
        page.see(BAR)
        assert surpluses(page) == [0, 0]
        settled(page)
        page.press("1")
        page.click("nav >> text=Questions")
        page.see(".questions")
        assert surpluses(page) == [0, 0]
        assert page.evaluate("() => window.__ran ?? null") is None
        # The file of the video is nowhere, which is all there is to complain of.
        assert [one for one in page.complaints() if "404" not in one] == []
        page.close()


def surpluses(page: Page) -> list[int]:
    """Return by how much the page is too wide for a narrow and a wide window."""
    found = []
    for size in (NARROW, WIDE):
        page.resize(size)
        found.append(page.surplus())
    return found


def violations(page: Page) -> list[str]:
    """Return what axe finds of the page at either size, in either theme."""
    found = []
    for size, theme in product((NARROW, WIDE), THEMES):
        page.resize(size)
        page.turn(theme)
        found += [f"{size} {theme}: {one}" for one in page.violations()]
    return found


def test_axe_finds_nothing(browser: Browser, run: Path, tmp_path: Path) -> None:
    rows = [(CLIPS[0], "What of it?", "old")]
    file = written(tmp_path / "x.csv", rows, ("video", "question", "source"))
    with session(run, "--n", 1, "--against", file) as (link,):
        page = browser.page(bypass_csp=True)
        page.goto(link)
        page.see(BAR)
        page.press("s")
        found = violations(page)
        page.press("?")
        found += violations(page)
        page.press("?")
        settled(page)
        page.press("1")
        page.see("text=That was all: 1 battle")
        found += violations(page)
        page.click("nav >> text=Questions")
        page.see(".questions")
        page.press("1")
        found += violations(page)
        page.close()
    assert found == []
