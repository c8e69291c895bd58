"""A set that a model writes appears whole or not at all, says how, and no call is paid twice."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.clips import draw_folder
from tests.support.lives import Life
from tests.support.loopback import Loopback, Manners, Mishap, serving
from tests.support.played import invoke
from tests.support.set_cards import read_card
from tests.support.whole_runs import command
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.making.tasks import watch
from videoautoarena.runs.run.rundir.failures import UNUSABLE

KEY = "sk-planted-2b77f01c9d54e8a3"
ALL = ("--kind", "topic,plot,scene,summary")
ONE = ("--kind", "summary", "--n", 1)
CALLS = "making.sqlite"


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips of three scenes; copy, never change."""
    return draw_folder(tmp_path_factory.mktemp("watched") / "clips", 2)


@pytest.fixture(scope="module")
def summary(clips: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of one summary; copy, never change."""
    to = tmp_path_factory.mktemp("summary") / "set"
    assert make(clips, to, *ONE).return_value == 0
    return to


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def config(place: Path, server: Loopback, *, price: str = "") -> Path:
    """Write an arena.toml in which `far` examines over HTTP."""
    path = place / "far.toml"
    path.write_text(
        f'[models.far]\nmodel = "openai:examiner"\nbase_url = "{server.openai_url}"\n'
        f'key_env = "TEST_KEY"\nmax_frames = 16\n{price}\n[roles]\nexaminer = "far"\n'
    )
    return path


def make(clips: Path, to: Path, *typed: object) -> Result:
    """Return what `arena tasks make` says to this; `return_value` is its exit code."""
    line = ["tasks", "make", clips, "--to", to, *(() if "--kind" in typed else ALL), *typed]
    return CliRunner().invoke(arena, [str(word) for word in line], standalone_mode=False)


def rows_of(file: Path) -> list[CallRow]:
    with Store.open(file, write=False) as store:
        return store.journal.latest(10_000)


def draft_of(to: Path) -> Path:
    return to.with_name(f".{to.name}.writing") / CALLS


def sealed(to: Path) -> dict[str, bytes]:
    return {
        path.relative_to(to).as_posix(): path.read_bytes()
        for path in to.rglob("*")
        if path.is_file() and path.parent.name != "results"
    }


def test_descriptions_are_a_set_of_their_own_and_nothing_is_asked_again(
    clips: Path, tmp_path: Path
) -> None:
    typed = ("--kind", "scene,summary", "--n", 2, "--json")
    done = make(clips, tmp_path / "set", *typed)
    assert done.return_value == 0, done.output
    found = json.loads(done.stdout)
    assert (found["items"], found["fallen"], found["shortcuts"]) == (2, {}, None)
    bench = open_bench(tmp_path / "set")
    assert (bench.manifest.kind, bench.manifest.source.kind) == ("generation", "made")
    calls = rows_of(bench.results / CALLS)
    assert Counter(row.nonce.role for row in calls) == {
        "scene_writer": 1, "summary_writer": 1, "point_checker": 2,
    }  # fmt: skip
    lines = invoke("export", bench.results / CALLS).stdout.splitlines()
    assert sorted(json.loads(line)["key"] for line in lines) == sorted(row.key for row in calls)
    assert not draft_of(tmp_path / "set").parent.exists()
    again = json.loads(make(clips, tmp_path / "set", *typed).stdout)
    assert (again["was_there"], again["bench"]) == (True, bench.bench)
    assert rows_of(bench.results / CALLS) == calls
    planned = json.loads(make(clips, tmp_path / "set", *typed, "--plan").stdout)
    assert planned == again
    for more in ((), ("--plan",)):
        other = make(clips, tmp_path / "set", *typed, "--seed", 4, *more)
        assert isinstance(other.exception, BadInput)
        assert "holds something else" in str(other.exception)


@pytest.mark.slow
def test_a_set_is_intact_and_each_item_says_who_wrote_and_checked_it(
    clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    done = make(clips, to, "--seed", 3, "--json")
    assert done.return_value == 0, done.output
    found = json.loads(done.stdout)
    assert (found["items"], found["wanted"], found["failed"]) == (8, 8, [])
    assert invoke("bench", "verify", to).exit_code == 0
    assert invoke("bench", "probe", to).exit_code == 0
    bench = open_bench(to)
    assert bench.manifest.kind == "tasks"
    kinds = Counter(item.task for item in bench.items)
    assert kinds == dict.fromkeys(("topic", "plot", "scene", "summary"), 2)
    for item in bench.items:
        made: Any = item.made
        said = made["written"]
        checked = made["checked"]
        assert made["examiner"] == "offline:examiner"
        assert len(made["prompts"]) == 2
        assert len(said["frames_s"]) == len(checked["frames_s"]) > 16
        if item.is_choice:
            assert sorted(item.options) == sorted([said["answer"], *said["distractors"]])
            assert item.options["ABCD".index(checked["answer"])] == item.answer
        else:
            shown = [one["shown"] for one in checked["points"]]
            assert 3 <= len(item.points) == shown.count("yes")
    card = read_card(to)
    assert "a model's word" in card
    assert "Anomaly and ego items cannot be made" in card
    assert BEFORE_PASSING_ON in card


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--kind", "topic,needle"), "make two sets"),
        (("--kind", "topic,ego"), "needs data from outside"),
        (("--kind", "plot", "--seconds", 30), "--seconds is for needle, order, count; leave it"),
        (("--kind", "plot", "--size", 640), "--size is for needle"),
        (("--kind", "needle", "--examiner", "offline:examiner"), "--examiner is for topic"),
        (("--kind", "order", "--max-usd", 1), "--max-usd is for topic, plot"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(
    typed: tuple[object, ...], words: str, clips: Path, tmp_path: Path
) -> None:
    refused = invoke("tasks", "make", clips, "--to", tmp_path / "set", *typed)
    assert isinstance(refused.exception, WrongArgument)
    assert words in str(refused.exception)


def test_what_cannot_begin_is_refused_in_a_line_and_leaves_no_trace(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for named, words in (
        ("offline:hawk", "cannot take this role"),
        ("gpt-4o", "is no model"),
    ):
        refused = make(clips, tmp_path / "set", "--examiner", named, "--plan")
        assert words in str(refused.exception)
    keyless = make(clips, tmp_path / "set", "--examiner", "openai:gpt-4o")
    assert "OPENAI_API_KEY" in str(keyless.exception)
    unpriced = make(clips, tmp_path / "set", "--examiner", "openai:nobody", "--max-usd", 1)
    assert "--max-usd cannot be kept" in str(unpriced.exception)
    too_many = make(clips, tmp_path / "set", "--n", 51, "--plan")
    assert "of 2 videos there are 50 items at most" in str(too_many.exception)
    for kinds in (ALL, ("--kind", "needle")):
        inside = invoke("tasks", "make", clips, "--to", clips / "sets" / "one", *kinds, "--plan")
        assert "would be taken for its videos" in str(inside.exception)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    below = make(clips, tmp_path / "file" / "set")
    assert "Not a directory; pass another with --to" in str(below.exception)


def test_calls_that_a_killed_process_left_in_the_log_are_kept(
    summary: Path, clips: Path, tmp_path: Path
) -> None:
    to = Path(shutil.copytree(summary, tmp_path / "set"))
    draft = draft_of(to).parent
    draft.mkdir()
    with Store.open(to / "results" / CALLS, write=True) as store:
        store.put_file("the last", "before the end")
        for path in (to / "results").iterdir():
            shutil.copy(path, draft)
    shutil.rmtree(to / "results")
    assert make(clips, to, *ONE).return_value == 0
    with Store.open(to / "results" / CALLS, write=False) as kept:
        assert kept.file("the last") is not None


@pytest.mark.slow
def test_a_video_without_frames_is_looked_at_again_where_that_is_asked_for(
    clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    with serving(tmp_path / "log", Manners(mishaps=(Mishap("status", status=400),))) as server:
        typed = (*ONE, "--config", config(tmp_path, server), "--json")
        assert make(clips, to, *typed).return_value == 3
        with Store.open(draft_of(to), write=True) as store:
            for video in store.videos():
                store.put_file(f"{UNUSABLE}{video.id}", "it is damaged", replace=True)
        again = make(clips, to, *typed)
        (failed,) = json.loads(again.stdout)["failed"]
        assert (again.return_value, failed["reason"]) == (3, "no frames: it is damaged")
        assert make(clips, to, *typed, "--retry-failed").return_value == 0


def test_a_set_that_another_process_put_meanwhile_is_not_paid_again(
    summary: Path, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = Path(shutil.copytree(summary, tmp_path / "set"))
    # It looked before the other one was done.
    monkeypatch.setattr(watch, "_there", lambda _order, _found: None)
    late = make(clips, to, *ONE)
    assert "was made meanwhile" in str(late.exception)
    assert not draft_of(to).parent.exists()
    assert (to / "results" / CALLS).is_file()


def test_subtitles_that_changed_are_refused_before_a_call_and_moved_ones_are_found(
    clips: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "clips"
    to = tmp_path / "set"
    folder.mkdir()
    video = Path(shutil.copy(min(clips.iterdir()), folder / "one.mp4"))
    said = video.with_suffix(".srt")
    said.write_text("1\n00:00:00,000 --> 00:00:03,000\nhello\n")
    assert make(folder, to, *ONE).return_value == 0
    # As it stood before the set was there.
    draft_of(to).parent.mkdir()
    (to / "results" / CALLS).rename(draft_of(to))
    shutil.rmtree(to)
    before = said.read_bytes()
    said.write_bytes(before.replace(b"hello", b"other"))
    for more in ((), ("--plan",)):
        refused = make(folder, to, *ONE, *more)
        assert "not those that this set was begun with" in str(refused.exception)
    (folder / "below").mkdir()
    video.rename(folder / "below" / "two.mp4")
    (folder / "below" / "two.srt").write_bytes(before)
    assert make(folder, to, *ONE).return_value == 0
    assert next((to / "videos").glob("*.srt")).read_bytes() == before


def test_a_plan_says_calls_dollars_and_time_and_writes_nothing(clips: Path, tmp_path: Path) -> None:
    to = tmp_path / "set"
    typed = ("--examiner", "openai:gpt-4o", "--plan")
    planned = make(clips, to, *typed, "--json")
    plan = json.loads(planned.stdout)["plan"]
    assert 16 <= plan["calls"] <= 1.2 * 16
    assert plan["calls_at_most"] == 2 * 3 * 16
    assert 0 < plan["cost_usd"] < plan["bound90_usd"]
    assert "api.openai.com" in plan["notices"][0]
    one_by_one = json.loads(make(clips, to, *typed, "--concurrency", 1, "--json").stdout)["plan"]
    assert one_by_one["duration_s"] == pytest.approx(8 * plan["duration_s"], abs=8)
    told = " ".join(make(clips, to, *typed, "--concurrency", 1).stdout.split())
    assert re.search(r"takes about \d+ min with 1 call at once ", told)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_equal_replies_give_equal_bytes_in_any_folder_and_at_any_speed(
    clips: Path, tmp_path: Path
) -> None:
    turned = tmp_path / "turned"
    turned.mkdir()
    for path, name in zip(sorted(clips.iterdir()), ("z.mp4", "a.mp4"), strict=True):
        shutil.copy(path, turned / name)
    assert make(clips, tmp_path / "one").return_value == 0
    assert make(turned, tmp_path / "other", "--concurrency", 1).return_value == 0
    assert sealed(tmp_path / "one") == sealed(tmp_path / "other")


@pytest.mark.slow
def test_replies_that_are_no_use_are_counted_and_none_becomes_an_item(
    clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    # The first ask fails in form twice, another is refused, a third is an error for good.
    mishaps = (
        Mishap("prose", times=2),
        Mishap("refusal", nth=3),
        Mishap("status", nth=4, status=400),
        Mishap("fence", nth=5),
    )
    with serving(tmp_path / "log", Manners(mishaps=mishaps)) as server:
        named = ("--config", config(tmp_path, server), "--concurrency", 1)
        done = make(clips, to, *named, "--json")
        assert done.return_value == 3, done.output
        found = json.loads(done.stdout)
        reasons = [one["reason"] for one in found["failed"]]
        assert len(reasons) == 3
        assert "gave no usable reply twice" in reasons[0]
        assert "400" in reasons[2]
        assert found["bench"] is None
        assert found["items"] == 5
        assert not to.exists()
        paid = {row.key for row in rows_of(draft_of(to)) if row.reply}
        less = tmp_path / "less"
        shutil.copytree(draft_of(to).parent, draft_of(less).parent)
        taken = make(clips, less, *named, "--at-most", "--json")
        assert taken.return_value == 0, taken.output
        before = len(server.events("arrived"))
        again = make(clips, to, *named, "--retry-failed", "--json")
        assert again.return_value == 0, again.output
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert json.loads(taken.stdout)["items"] == len(open_bench(less).items) == 5
    assert open_bench(less).manifest.selection["failed"] == 3
    assert json.loads(again.stdout)["items"] == 8
    assert before == 4 + 2 * 5
    assert {key: sent[key] for key in paid} == dict.fromkeys(paid, 1)


@pytest.mark.slow
def test_a_task_that_the_second_ask_denies_is_written_anew_and_counted(
    clips: Path, tmp_path: Path
) -> None:
    from tests.support.loopback import ask_offline

    def deny(model: str, messages: Any) -> Any:
        reply = ask_offline(model, messages)
        text = str(messages[-1].content_blocks[-1].get("text", ""))
        if "Reply format: option_checker" in text:
            said = json.loads(str(reply.content))
            said["answer"] = "several" if len(denied) < 2 else said["answer"]
            denied.append(text)
            return reply.model_copy(update={"content": json.dumps(said)})
        return reply

    denied: list[str] = []
    to = tmp_path / "set"
    with serving(tmp_path / "log", brain=deny) as server:
        typed = ("--config", config(tmp_path, server), "--concurrency", 1, "--json")
        done = make(clips, to, *typed)
    assert done.return_value == 0, done.output
    found = json.loads(done.stdout)
    assert (found["items"], found["fallen"]) == (8, {"key": 2})
    assert open_bench(to).manifest.selection["fallen"] == {"key": 2}
    assert len(denied) == 6


@pytest.mark.slow
def test_a_cap_ends_it_with_4_and_more_money_goes_on(clips: Path, tmp_path: Path) -> None:
    price = "price = { input_usd = 0.0, output_usd = 1000.0 }\nparameters = { max_tokens = 300 }"
    to = tmp_path / "set"
    with serving(tmp_path / "log") as server:
        typed = ("--config", config(tmp_path, server, price=price), "--concurrency", 1)
        assert make(clips, to, *typed, "--max-usd", 0.9).return_value == 4
        kept = rows_of(draft_of(to))
        assert 0 < sum(row.cost_usd or 0 for row in kept) <= 0.9
        assert make(clips, to, *typed).return_value == 4
        assert make(clips, to, *typed, "--max-usd", "none").return_value == 0
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert set(sent.values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "sent_before"),
    [(signal.SIGINT, 5), (signal.SIGKILL, 5)],
)
def test_what_is_cut_off_goes_on_and_pays_nothing_twice(
    clips: Path, tmp_path: Path, number: signal.Signals, sent_before: int
) -> None:
    to = tmp_path / "set"
    with serving(tmp_path / "log", Manners(latency_s=(0.1, 0.1))) as server:
        typed = ("--config", config(tmp_path, server), "--concurrency", 2)
        line = command("arena", "tasks", "make", clips, "--to", to, *ALL, *map(str, typed))
        with Life(line, extra={"TEST_KEY": KEY}) as life:
            life.until(lambda: len(server.events("sent")) >= sent_before)
            life.interrupt(number)
            code = life.end()
        assert not to.exists()
        paid = {row.key for row in rows_of(draft_of(to))}
        assert make(clips, to, *typed).return_value == 0
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert code == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert paid
    assert {key: sent[key] for key in paid} == dict.fromkeys(paid, 1)
    if number == signal.SIGINT:
        assert set(sent.values()) == {1}
    assert invoke("bench", "verify", to).exit_code == 0


@pytest.mark.slow
def test_a_journal_that_came_along_gives_the_same_set_with_nobody_to_ask(
    clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    copy = tmp_path / "copy"
    with serving(tmp_path / "log") as server:
        named = ("--config", config(tmp_path, server))
        assert make(clips, to, *named).return_value == 0
    draft_of(copy).parent.mkdir()
    shutil.copy(to / "results" / CALLS, draft_of(copy))
    assert make(clips, copy, *named).return_value == 0
    assert sealed(copy) == sealed(to)
