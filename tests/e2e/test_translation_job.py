"""The paid job of the documents translates a bench, and pays nothing twice wherever it ends."""

from __future__ import annotations

import json
import runpy
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.lives import Life
from tests.support.loopback import Loopback, Manners, Mishap, always, serving
from tests.support.task_sets import choice, write_set
from tests.support.whole_runs import KEY, committed_keys
from videoautoarena.runs.formats import terminal
from videoautoarena.video.folder.find import find_videos

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "translate.py"
ITEMS = 12
KEPT = "said.sqlite"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A bench of twelve questions, which the script translates."""
    (film,) = find_videos(draw_folder(tmp_path / "videos", 1, seconds=2)).videos
    items = [choice(film.id, k, question=f"How many at {k}?") for k in range(ITEMS)]
    write_set(tmp_path / "set", items, videos=tmp_path / "videos")
    return tmp_path


ARGUMENTS = ("set", "German", "tongue", "said.jsonl")


def configure(place: Path, server: Loopback) -> None:
    table = f'[models.tongue]\nmodel = "openai:tongue"\nbase_url = "{server.openai_url}"\n'
    (place / "arena.toml").write_text(f'{table}key_env = "LOOPBACK_KEY"\n')


def code_of(place: Path, *more: str) -> int:
    """Run the script in this process and return what it ends with."""
    with pytest.MonkeyPatch.context() as env:
        env.chdir(place)
        env.setenv("LOOPBACK_KEY", KEY)
        env.setattr(sys, "argv", [str(SCRIPT), *ARGUMENTS, *more])
        terminal.out.cache_clear()
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(SCRIPT), run_name="__main__")
    terminal.out.cache_clear()
    return int(ended.value.code or 0)


def said(place: Path) -> list[list[str]]:
    return [json.loads(line) for line in (place / "said.jsonl").read_text().splitlines()]


def arrived(server: Loopback) -> Counter[str]:
    return Counter(event["key"] for event in server.events("arrived"))


def test_it_is_short() -> None:
    assert len(SCRIPT.read_text().splitlines()) <= 120


def test_what_failed_alone_is_asked_again_where_that_is_wanted(place: Path) -> None:
    bad = Manners(mishaps=(Mishap(do="status", nth=2, status=400),))
    with serving(place / "log", bad, brain=always("Wie viele?")) as server:
        configure(place, server)
        codes = [code_of(place, *more) for more in ((), (), ("retry",))]
        assert arrived(server).total() == ITEMS + 1
    assert codes == [3, 0, 0]
    assert [text for _, text in said(place)] == ["Wie viele?"] * ITEMS


@pytest.mark.slow
@pytest.mark.parametrize(("number", "calls"), [(signal.SIGKILL, 3), (signal.SIGINT, 7)])
def test_wherever_it_ends_it_goes_on_and_nothing_is_paid_twice(
    place: Path, calls: int, number: signal.Signals
) -> None:
    slow = Manners(latency_s=(0.1, 0.1))
    with serving(place / "log", slow, brain=always("Wie viele?")) as server:
        configure(place, server)
        with Life([sys.executable, str(SCRIPT), *ARGUMENTS], cwd=place) as process:
            process.until(lambda: len(server.events("sent")) >= calls)
            process.interrupt(number)
            code = process.end()
        paid = committed_keys(place, KEPT)
        assert code_of(place) == 0
        sent = arrived(server)
    assert code == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert paid
    assert {key: sent[key] for key in paid} == dict.fromkeys(paid, 1)
    assert [text for _, text in said(place)] == ["Wie viele?"] * ITEMS
    assert len(committed_keys(place, KEPT)) == ITEMS
