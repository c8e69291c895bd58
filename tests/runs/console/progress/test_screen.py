"""The picture of a run fits every terminal, whatever models and files are called and say."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tests.support.events import HOSTILE, begun, call, judged
from tests.support.virtual import run_virtual
from videoautoarena.agents.limits.outages import Outage
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    CallsDraining,
    RuleRead,
    RunEnded,
    VideoWatched,
)
from videoautoarena.runs.console.progress.live import LEAST_GAP_S, LiveConsole
from videoautoarena.runs.console.progress.screen import LiveBoard, ScreenSize, picture
from videoautoarena.runs.console.progress.snapshot import RunSnapshot
from videoautoarena.runs.formats.terminal_text import ASCII, UNICODE, Marks, fit
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.config.stopping_rule import RuleReading, StoppingRule
from videoautoarena.runs.views.results.forms import ReportView
from videoautoarena.runs.views.results.leaderboard import leaderboard_report

LONG = f"{HOSTILE} {'words 言葉 ' * 60}"


def busy(words: str, *, videos: int = 9) -> RunSnapshot:
    stands = RunSnapshot(lambda: 0.0)
    names = (words, f"{words}:b", "c")
    stands.hear(
        begun(
            videos,
            models=names,
            judges=(words,),
            videos={f"v{v}": f"{words}\udce9" for v in range(videos)},
        )
    )
    for v in range(videos):
        for p in (1, 2, 3):
            told = {"question": words, "model_a": names[0], "model_b": names[1]}
            verdict = ("a", "b", "tie", "void", "forfeit_a")[v % 5]
            reason = {"void": words, "forfeit_a": words}.get(verdict)
            battle = judged(f"v{v}-p{p}-r0", words=words, **{**told, "reason": reason})
            stands.hear(BattleSettled(battle.model_copy(update={"verdict": verdict})))
        stands.hear(call("started", f"v{v}-p1-r1", "contestant", ordinal=0))
        stands.hear(call("started", f"v{v}-p1-r1", "contestant", ordinal=2))
    near = RuleReading(StoppingRule("separated"), 3, 20, False, 1.2, 2.9, names[:2], 80.0)
    stands.hear(RuleRead(near))
    return stands


def lines(stands: RunSnapshot, width: int, height: int, marks: Marks = UNICODE) -> list[str]:
    assert stands.run is not None
    battles = stands.battles()
    board = LiveBoard(build(battles, stands.run.models), len(battles))
    return [line.plain for line in picture(stands, board, ScreenSize(width, height, marks))]


def test_the_head_tells_how_near_a_rule_is_and_that_it_stopped_the_run() -> None:
    stands = busy("hawk")
    assert "until separated: smallest gap 1.2 of 2.9, hawk and hawk:b" in lines(stands, 120, 40)
    stands.hear(RunEnded(interrupted=False))
    assert any("stopped by --until" in line for line in lines(stands, 120, 40))


@pytest.mark.parametrize("words", ["hawk", LONG])
@pytest.mark.parametrize("width", [40, 79, 80, 119, 120, 121, 200])
@pytest.mark.parametrize("height", [6, 18, 24, 48])
def test_no_line_overflows_and_nothing_hostile_is_in_one(
    words: str, width: int, height: int
) -> None:
    drawn = lines(busy(words), width, height)
    assert len(drawn) <= height
    assert max(map(cell_len, drawn)) <= width
    assert all(line.isprintable() for line in drawn)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_part_has_its_place_from_twenty_rows_on(width: int) -> None:
    drawn = "\n".join(lines(busy("hawk"), width, 18))
    for words in ("Leaderboard", "In flight", "Last battles", "seed 7", "27/54", "6 voids"):
        assert words in drawn


def test_what_went_wrong_is_not_what_eighty_columns_cut_off() -> None:
    stands = busy("hawk")
    stands.calls = 118_000
    stands.retries = 1005
    stands.failed = 1115
    stands.tokens_in = 132_000_000
    stands.tokens_out = 13_400_000
    assert "6 voids, 3 forfeits" in "\n".join(lines(stands, 79, 22))


def test_questions_and_reasons_stand_in_columns() -> None:
    drawn = lines(busy("hawk"), 100, 40)
    battles = drawn[next(n for n, line in enumerate(drawn) if "Last battles" in line) + 1 :]
    assert len({line.index("hawk", 20) for line in battles}) == 1


def test_a_run_of_two_hundred_videos_says_what_it_does_not_show() -> None:
    drawn = lines(busy("hawk", videos=200), 80, 24)
    assert any("600 lineages" in line or "not shown" in line for line in drawn)


def test_videos_without_questions_yet_are_counted_as_videos_and_named_whole() -> None:
    stands = standing_of_nothing()
    names = {f"v{v}": f"a name of some length {v}.mp4" for v in range(9)}
    stands.hear(begun(9, videos=names))
    for video in names:
        stands.hear(VideoWatched(video))
    drawn = "\n".join(lines(stands, 80, 18))
    assert "9 videos being read" in drawn
    assert "0 lineages" not in drawn
    assert "a name of some length 0.mp4" in drawn


def test_a_terminal_without_unicode_is_shown_ascii() -> None:
    assert all(line.isascii() for line in lines(busy("x" * 300), 100, 30, ASCII))


def test_a_run_that_is_done_has_nothing_in_flight() -> None:
    stands = busy("hawk")
    stands.hear(RunEnded(False))
    assert not [line for line in lines(stands, 100, 30) if "In flight" in line]


def test_an_empty_run_is_drawn() -> None:
    assert lines(standing_of_nothing(), 80, 20)


def standing_of_nothing() -> RunSnapshot:
    stands = RunSnapshot(lambda: 0.0)
    stands.hear(begun(0, videos={}, slots=[], models=()))
    return stands


@pytest.mark.parametrize("text", ["", "abc", "漢字漢字", "a漢b"])
@pytest.mark.parametrize("width", range(5))
def test_a_text_is_cut_or_filled_to_its_cells(text: str, width: int) -> None:
    assert cell_len(fit(text, width, UNICODE)) == width


def test_a_storm_of_events_is_one_picture() -> None:
    async def storm() -> tuple[int, float]:
        file = io.StringIO()
        live = LiveConsole(Console(file=file, force_terminal=True, width=100, height=30))
        live.hear(begun())
        written = file.tell()
        for n in range(500):
            live.hear(VideoWatched(f"v{n}"))
        assert live._timer is not None
        due = live._timer.when() - live._drawn_s
        grown = file.tell() - written
        live.close()
        return grown, due

    grown, due = asyncio.run(storm())
    assert grown == 0
    assert due >= LEAST_GAP_S


def test_lines_stand_above_the_picture_and_cannot_move_it() -> None:
    async def talk() -> str:
        file = io.StringIO()
        live = LiveConsole(Console(file=file, force_terminal=True, width=100, height=30))
        live.hear(begun())
        live.say("a prompt has changed")
        live.hear(RunEnded(False))
        return file.getvalue()

    said = asyncio.run(talk())
    assert said.index("a prompt has changed") < said.rindex("arena-out")
    assert said.endswith("\x1b[?25h")


class Slow:
    """Ratings that take a while, on virtual time, whoever makes them."""

    def __init__(self, takes_s: float) -> None:
        self.takes_s = takes_s
        self.made = 0

    async def to_thread(self, work: Callable[[], tuple[Any, float]]) -> tuple[Any, float]:
        self.made += 1
        table, _ = work()
        await asyncio.sleep(self.takes_s)
        return table, self.takes_s


@pytest.mark.parametrize("takes_s", [0.001, 0.02, 0.2, 0.6])
@pytest.mark.parametrize("every_s", [0.05, 0.4, 3.0])
def test_the_board_is_two_seconds_or_a_twentieth_behind_at_most(
    monkeypatch: pytest.MonkeyPatch, takes_s: float, every_s: float
) -> None:
    slow = Slow(takes_s)
    told = begun(12, 3)
    monkeypatch.setattr(
        "videoautoarena.runs.console.progress.live.asyncio.to_thread", slow.to_thread
    )
    monkeypatch.setattr(
        "videoautoarena.runs.console.progress.live.build",
        lambda battles, _models: {"models": [], "n": battles},
    )
    seen: list[tuple[float, int, int]] = []

    def drawn(standing: RunSnapshot, board: LiveBoard | None, _size: ScreenSize) -> list[Text]:
        assert board is not None
        seen.append((asyncio.get_running_loop().time(), standing.done, board.battles))
        return []

    monkeypatch.setattr("videoautoarena.runs.console.progress.live.picture", drawn)

    async def play() -> list[float]:
        live = LiveConsole(Console(file=io.StringIO(), force_terminal=True, width=100, height=30))
        live.hear(told)
        ended_s = []
        for slot in told.slots:
            await asyncio.sleep(every_s)
            live.hear(BattleSettled(judged(slot.id)))
            ended_s.append(asyncio.get_running_loop().time())
        await asyncio.sleep(60)
        live.close()
        return ended_s

    ended_s = run_virtual(play())
    for now_s, done, rated in seen:
        is_near = done - rated <= 0.05 * done
        assert is_near or now_s - ended_s[rated] <= 2.0, (now_s, done, rated)
    assert seen[-1][1:] == (len(told.slots), len(told.slots))
    assert slow.made <= len(told.slots)


def test_the_board_says_of_how_many_battles_it_tells() -> None:
    assert any("as of 27 battles " in line for line in lines(busy("hawk"), 120, 40))


def test_an_interval_far_wider_than_the_others_ends_in_the_arrow_that_the_table_has() -> None:
    names = ["hawk", "owl", "kite", "mole"]
    fights = [(names[k % 3], names[(k + 1) % 3], "ab"[k % 5 % 2]) for k in range(180)]
    fights += [("mole", "owl", "a"), ("hawk", "mole", "a"), ("mole", "kite", "b")]
    stands = RunSnapshot(lambda: 0.0)
    stands.hear(begun(60, models=names))
    for k, (a, b, verdict) in enumerate(fights):
        told = judged(f"v{k % 60}-p{k // 60}-r0", model_a=a, model_b=b)
        stands.hear(BattleSettled(told.model_copy(update={"verdict": verdict})))
    live = next(line for line in lines(stands, 120, 40) if "mole" in line and "●" in line)
    table = ReportView(leaderboard_report(build(stands.battles(), names)))
    console = Console(width=120, file=io.StringIO())
    console.print(table)
    shown = next(line for line in console.file.getvalue().splitlines() if "mole" in line)
    for arrow in "◂▸":
        assert (arrow in live) == (arrow in shown)
    assert "◂" in live or "▸" in live


def test_a_server_that_is_waited_for_stands_beside_the_progress_with_its_time() -> None:
    now_s = 0.0
    stands = RunSnapshot(lambda: now_s)
    stands.hear(begun(3))
    stands.hear(Outage("127.0.0.1:8000", "waiting", 900.0, "refused"))
    now_s = 130.0
    assert any("waiting for 127.0.0.1:8000, 2:10" in line for line in lines(stands, 80, 24))
    stands.hear(Outage("far", "waiting", 900.0, "refused"))
    assert any("127.0.0.1:8000 and 1 more, 2:10" in line for line in lines(stands, 80, 24))
    for address in ("far", "127.0.0.1:8000"):
        stands.hear(Outage(address, "over", 131.0))
    assert not any("waiting" in line for line in lines(stands, 80, 24))


def test_a_server_that_is_gone_is_named_at_the_end() -> None:
    stands = standing_of_nothing()
    stands.hear(Outage("far", "given-up", 900.0, "refused"))
    stands.hear(CallsDraining(2, gone="far"))
    assert any("far is unreachable: 0 calls to finish" in line for line in lines(stands, 80, 20))
    stands.hear(RunEnded(True, gone="far"))
    assert any("stopped: far is unreachable" in line for line in lines(stands, 80, 20))
