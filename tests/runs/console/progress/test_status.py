"""How far a run is can be told at any moment."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, call, invoke, lineage, play, slot, video
from tests.support.runfiles import intent
from tests.support.small_runs import alter
from tests.support.whole_runs import end_well
from videoautoarena.memory.records.records import (
    Attempt,
    Intent,
    Nonce,
    SkippedFile,
    Usage,
    VideoFrames,
)
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.reader import RUN_FILE

HOLD = """
import sys
from pathlib import Path
from videoautoarena.memory.store.store import Store
with Store.open(Path(sys.argv[1]), write=True):
    print("held", flush=True)
    sys.stdin.readline()
"""

BOTH = """
import sys
from contextlib import suppress
from videoautoarena.runs.cli.program.main import arena_main
out = sys.argv[1]
for more in ([], ["--json"]):
    sys.argv = ["arena", "status", out, *more]
    with suppress(SystemExit):
        arena_main()
"""


def told(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("status", out, "--json").output)
    return found


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A run with one battle of each kind, and two slots still open."""
    slots = [slot(video(), round_) for round_ in range(7)]
    failed = call(slots[1].id, reply=None, failure="no", failure_kind="timeout", cost_usd=0.5)
    settled = [
        battle(slots[0]),
        battle(slots[1], verdict="void", reason="the judge gave no verdict"),
        battle(slots[2], verdict="forfeit_b", reason="empty"),
        battle(slots[3], verdict="tie_bad"),
        battle(slots[4], verdict="split"),
    ]
    return play(tmp_path / "out", settled, slots=slots, calls=[call(slots[0].id), failed])


def test_status_counts_slots_and_kinds_of_verdict(mixed: Path) -> None:
    status = told(mixed)
    assert (status["slots"], status["settled"], status["decided"]) == (7, 5, 3)
    assert status["verdicts"] == {"a": 1, "void": 1, "forfeit_b": 1, "tie_bad": 1, "split": 1}
    assert status["void_reasons"] == {"the judge gave no verdict": 1}
    assert status["forfeits"] == {"owl": 1}


def test_status_counts_calls_failures_and_tokens_by_role(mixed: Path) -> None:
    judge = told(mixed)["calls"]["judge"]
    assert (judge["calls"], judge["failures"]) == (2, 1)
    assert (judge["input_tokens"], judge["output_tokens"]) == (2000, 100)


def test_what_came_back_empty_is_part_of_a_calls_cost_and_tokens(tmp_path: Path) -> None:
    usage = Usage(input_tokens=1000, output_tokens=1)
    where = slot(video(), 0).id
    tried = Attempt(kind="empty", reason="", waited_s=1.0, usage=usage, cost_usd=0.25)
    one = call(where, cost_usd=0.5, attempts=(tried, tried))
    out = play(tmp_path / "out", [battle(slot(video(), 0))], calls=[one])
    status = told(out)
    judge = status["calls"]["judge"]
    assert judge == status["calls_by_model"]["judge"]
    assert (judge["calls"], judge["input_tokens"], judge["output_tokens"]) == (1, 3000, 52)
    assert (judge["cost_usd"], status["cost_usd"], status["cost_usd_a_battle"]) == (1.0,) * 3
    shown = json.loads(invoke("show", out, where, "--json").output)
    assert (shown["cost_usd"], shown["calls"][0]["cost_usd"]) == (1.0, 0.5)
    untold = call(where, attempts=(tried,))
    other = play(tmp_path / "other", [battle(slot(video(), 0))], calls=[untold])
    page = " ".join(invoke("status", other).output.split())
    assert "cost $0.2500 and 1 call of unknown cost" in page


def test_a_try_of_a_set_that_broke_off_is_possibly_paid(tmp_path: Path) -> None:
    broke = Attempt(kind="connection", reason="cut", waited_s=1.0, may_have_cost_usd=0.25)
    tried = {"model": "openai:gpt-x", "cost_usd": 0.5, "attempts": (broke, broke)}
    one = call(slot(video(), 0).id, **tried)
    run = play(tmp_path / "run", [battle(slot(video(), 0))], calls=[one])
    (tmp_path / "set").mkdir()
    shutil.copy(run / RUN_FILE, tmp_path / "set" / "calls.sqlite")
    (kept,) = json.loads(invoke("status", tmp_path / "set", "--json").output)["files"]
    assert (kept["lost"]["tries"], kept["lost"]["usd"]) == (2, 0.5)
    assert "possibly paid: 2 attempts of unknown cost, up to $0.50" in " ".join(
        invoke("status", tmp_path / "set").output.split()
    )


def test_an_unknown_cost_is_never_free(mixed: Path, tmp_path: Path) -> None:
    said = invoke("status", mixed, width=320).output
    assert "cost $0.5000 and 1 call of unknown cost" in said
    free = call(slot(video(), 0).id, cost_usd=0.0)
    beside = play(tmp_path / "one", lineage(video()), calls=[free, call(slot(video(), 1).id)])
    said = invoke("status", beside).output
    assert "cost unknown (1 of 2 calls)" in said
    assert "$0.00" not in said
    unpriced = play(tmp_path / "two", lineage(video()), calls=[call(slot(video(), 0).id)])
    assert "cost unknown" in invoke("status", unpriced).output


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (0.375, "possibly paid: 2 attempts of unknown cost, up to $0.75"),
        (None, "possibly paid: 2 attempts of unknown cost; caps count them"),
    ],
)
def test_status_lists_what_may_have_been_paid_for_without_a_reply(
    mixed: Path, usd: float | None, words: str
) -> None:
    assert "possibly paid" not in invoke("status", mixed).output
    leave_over(mixed, [intent("one", usd=usd), intent("two", usd=usd)])
    status = told(mixed)
    most = None if usd is None else 0.75
    assert (status["lost"], status["cost_usd"]) == ({"tries": 2, "usd": most, "tokens": 200}, 0.5)
    keys = [intent(name).key for name in ("one", "two")]
    assert [one["key"] for one in status["possibly_paid"]] == keys
    lines = invoke("status", mixed).output
    assert words in " ".join(lines.split())
    assert lines.count("  judge of v-p1-r0, openai:a: ") == 2


def test_only_the_first_attempts_without_a_reply_are_named_to_a_person(mixed: Path) -> None:
    leave_over(mixed, [intent(str(number)) for number in range(8)])
    lines = invoke("status", mixed).output
    assert lines.count("  judge of v-p1-r0") == 5
    assert "  and 3 more: arena status --json" in lines
    assert len(told(mixed)["possibly_paid"]) == 8


def test_what_is_in_flight_is_not_yet_possibly_paid(mixed: Path) -> None:
    leave_over(mixed, [intent("left over", usd=0.25)])
    with Store.open(mixed / "run.sqlite", write=True) as store:
        asyncio.run(store.journal.intend(intent("under way", usd=0.5)))
        # From outside: the holder of a lock loses it where it asks for itself.
        lines, _, report = end_well([sys.executable, "-c", BOTH, str(mixed)]).partition("\n{")
        status = json.loads("{" + report)
    assert [one["key"] for one in status["in_flight"]] == [intent("under way").key]
    assert [one["key"] for one in status["possibly_paid"]] == [intent("left over").key]
    assert status["lost"]["usd"] == 0.25
    assert "in flight: 1 call, up to $0.50" in lines


def leave_over(run: Path, intents: list[Intent]) -> None:
    """Let a process that is gone now have been about to send these."""
    with Store.open(run / "run.sqlite", write=True) as store:
        for one in intents:
            asyncio.run(store.journal.intend(one))


def test_the_first_line_says_how_far(mixed: Path) -> None:
    first = invoke("status", mixed).output.splitlines()[0]
    assert first == "5 of 7 slots settled, 3 decided; stopped; no process is running it"


def test_a_video_with_damaged_frames_is_named(mixed: Path) -> None:
    hurt = VideoFrames(video=video().id, width_px=2, height_px=2, frames=(), damaged=1)
    with Store.open(mixed / "run.sqlite", write=True) as store:
        asyncio.run(store.put_frames(hurt))
    line = (
        f"{video().path}: 1 frame damaged; a frame that cannot be decoded is replaced by its "
        "neighbour"
    )
    assert line in " ".join(invoke("status", mixed).output.split())
    assert json.loads(invoke("status", mixed, "--json").output)["damage"] == [line]


def test_a_run_of_stand_ins_says_so(mixed: Path) -> None:
    assert "note: rates stand-ins" in invoke("status", mixed).output


def test_lines_name_reasons_models_seed_and_the_next_command(mixed: Path) -> None:
    output = invoke("status", mixed).output
    for said in (
        "won 1, ties 2, void 1, forfeits 1",
        "void, 1: the judge gave no verdict",
        "forfeits of owl, 1: ",
        "seed 7; models: hawk (offline:hawk), owl (offline:owl), mole (offline:mole)",
        f"next: arena resume {mixed}",
    ):
        assert said in output


CUT = (
    "there is no complete JSON object in the reply; the one it begins has no end; the reply was "
    "cut off at the longest it may be; think and write less"
)


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        ("void", f"no judge decided: judge (ab): judge gave no usable reply twice: {CUT}"),
        ("void", f"no verdict: {'a fault of the form; ' * 9}{CUT}"),
        ("forfeit_a", f"contestant gave no usable reply twice: {CUT}"),
    ],
)
def test_that_a_reply_was_cut_off_is_said_however_long_the_reason(
    verdict: Any, reason: str, tmp_path: Path
) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdict=verdict, reason=reason)])
    assert "the reply was cut off" in " ".join(invoke("status", out).output.split())


def test_a_finished_run_goes_on_to_the_leaderboard(tmp_path: Path) -> None:
    out = play(tmp_path / "my run", lineage(video()))
    assert told(out)["next"] == f"arena leaderboard '{out}'"
    assert "finished" in invoke("status", out).output


def test_a_file_that_was_skipped_is_named_with_its_reason(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    with Store.open(out / "run.sqlite", write=True) as store:
        store.add_skipped([SkippedFile(path="a\udcff\x1b.mp4", reason="no video stream")])
    assert "skipped a\\xff\\x1b.mp4: no video stream" in invoke("status", out).output
    assert told(out)["skipped"][0]["path"] == "a\udcff\x1b.mp4"


def test_status_names_the_process_that_runs_it(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    command = [sys.executable, "-c", HOLD, str(out / "run.sqlite")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "held\n"
        assert told(out)["process"] == running.pid
        assert f"process {running.pid} is running it" in invoke("status", out).output
        running.communicate("\n")
    assert told(out)["process"] is None


def test_a_run_that_only_began_has_a_status(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [], slots=[slot(video(), 0)])
    assert told(out)["settled"] == 0
    assert told(out)["calls"] == {}


def test_calls_for_a_whole_video_count_too(tmp_path: Path) -> None:
    examined = call(video().id, nonce=Nonce(scope=video().id, role="examiner"))
    out = play(tmp_path / "out", lineage(video()), calls=[examined])
    assert list(told(out)["calls"]) == ["examiner"]


def test_trials_of_a_judge_are_counted_apart_and_make_no_battle_dearer(tmp_path: Path) -> None:
    only = slot(video(), 0)
    calls = [
        call(only.id, cost_usd=0.5),
        call(f"trial:repeat:{only.id}+1:judge", cost_usd=2.0),
    ]
    status = told(play(tmp_path / "out", [battle(only)], slots=[only], calls=calls))
    assert {role: found["calls"] for role, found in status["calls"].items()} == {
        "judge": 1,
        "trial": 1,
    }
    assert status["cost_usd"] == 2.5
    assert status["cost_usd_a_battle"] == 0.5


def test_a_second_seating_that_decided_is_no_reason_called_none(tmp_path: Path) -> None:
    why = "no judge decided: referee (ab): it was silent; referee (ba): None"
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdict="void", reason=why)])
    told = "referee (ab): it was silent; referee (ba) decided, which only audits"
    for words in (("status", out), ("battles", out), ("show", out, slot(video(), 0).id)):
        said = " ".join(invoke(*words, width=320).output.split())
        assert told in said
        assert "None" not in said
    assert json.loads(invoke("battles", out, "--jsonl").output)["reason"] == why


def test_a_status_reads_no_video(mixed: Path) -> None:
    before = told(mixed)
    # A video that could not be read, without a word of problems.
    alter(mixed, """UPDATE videos SET body = '{"problems":[]}'""")
    assert told(mixed) == before
