"""Dialogues made by command: the same bytes whatever the pace, nothing lost, one line for each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.clips import draw_clip, draw_folder
from tests.support.lives import Life
from tests.support.loopback import Loopback, Manners, Mishap, serving
from tests.support.plain_videos import PAIRS, draw_two_colours
from tests.support.played import invoke
from tests.support.returns import draw_story, invent
from tests.support.set_cards import read_card
from tests.support.whole_runs import KEY, command, folder_bytes, write_config
from videoautoarena.graph.dialogue import TRIES
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput, RunLocked, WrongArgument
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import digest_of
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.jobs.paid_job import FailedScopes
from videoautoarena.runs.making.dialogues import make as making
from videoautoarena.runs.making.dialogues.video_dialogues import SPARE, DialogueWish
from videoautoarena.runs.making.tasks.drafting import CALLS
from videoautoarena.runs.run.config.disclosure import REPAIR

FEW = ("--abilities", "answer_refusal", "--turns", 5)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips of three scenes; copy, never change."""
    return draw_folder(tmp_path_factory.mktemp("talked") / "clips", 2, seconds=3)


@pytest.fixture(scope="module")
def few(clips: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The set of FEW and what was said as it was made; copy, never change."""
    to = tmp_path_factory.mktemp("few") / "set"
    return to, make(clips, to, *FEW, "--json")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)


def make(clips: Path, to: Path, *typed: object) -> Result:
    """Return what `arena dialogues make` says to this; `return_value` is its exit code."""
    line = ["dialogues", "make", clips, "--to", to, *typed]
    return CliRunner().invoke(arena, [str(word) for word in line], standalone_mode=False)


def draft_of(to: Path) -> Path:
    return to.with_name(f".{to.name}.writing") / CALLS


def rows_of(file: Path) -> list[CallRow]:
    with Store.open(file, write=False) as store:
        return store.journal.latest(10_000)


def sealed(to: Path) -> dict[str, bytes]:
    return {name: data for name, data in folder_bytes(to).items() if "results/" not in name}


def far(place: Path, server: Loopback, *, price: str = "") -> tuple[object, ...]:
    """Return what has the examiner asked over HTTP."""
    config = write_config(place / "far.toml", "openai", server)
    if price:
        text = config.read_text()
        config.write_text(text.replace('"openai:examiner"', f'"openai:examiner"\n{price}'))
    return ("--config", config)


def test_a_set_says_what_it_holds(few: tuple[Path, Result]) -> None:
    to, done = few
    assert done.return_value == 0, done.output
    found = json.loads(done.stdout)
    bench = open_bench(to)
    assert (found["bench"], found["dialogues"]) == (bench.bench, len(bench.items))
    refusal, twin = found["abilities"]
    assert (refusal["ability"], twin["ability"]) == ("answer_refusal", "refusal_twin")
    assert (refusal["wanted"], refusal["made"], refusal["dropped"]) == (2, 2, {})
    assert invoke("bench", "verify", to).exit_code == 0
    card = read_card(to)
    assert "| by ability | dialogues |" in card
    assert BEFORE_PASSING_ON in card
    assert f"copies of videos are in {to}: before others get them," in done.stderr
    assert not draft_of(to).parent.exists()


def test_a_second_making_asks_nobody(few: tuple[Path, Result], clips: Path, tmp_path: Path) -> None:
    to, _ = few
    bench = open_bench(to)
    rows = rows_of(to / "results" / CALLS)
    again = json.loads(make(clips, to, *FEW, "--json").stdout)
    assert (again["was_there"], again["bench"]) == (True, bench.bench)
    assert rows_of(to / "results" / CALLS) == rows
    assert json.loads(make(clips, to, *FEW, "--plan", "--json").stdout) == again
    assert "already holds this set" in " ".join(make(clips, to, *FEW).stdout.split())
    for more in (("--seed", 4), ("--examiner", "openai:gpt-4o")):
        other = make(clips, to, *FEW, *more)
        assert isinstance(other.exception, BadInput)
        assert "holds something else" in str(other.exception)
    # Who has the calls has the set, with nobody to ask.
    copy = tmp_path / "copy"
    draft_of(copy).parent.mkdir()
    shutil.copy(to / "results" / CALLS, draft_of(copy))
    planned = json.loads(make(clips, copy, *FEW, "--plan", "--json").stdout)["plan"]
    assert (planned["calls"], planned["lines"]) == (0, [])
    assert make(clips, copy, *FEW).return_value == 0
    assert sealed(copy) == sealed(to)
    assert rows_of(copy / "results" / CALLS) == rows


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--abilities", "answer_refusal,singing"), "'singing' is none of object_reference"),
        (("--turns", "9"), "give 5-8"),
        (("--turns", "8-5"), "give 5-8"),
        (("--turns", "٥"), "give 5-8"),
        (("--turns", "5-"), "give 5-8"),
    ],
)
def test_what_is_no_ability_and_no_number_of_rounds_is_refused_in_a_line(
    typed: tuple[object, ...], words: str, clips: Path, tmp_path: Path
) -> None:
    refused = make(clips, tmp_path / "set", *typed)
    assert isinstance(refused.exception, WrongArgument)
    assert words in str(refused.exception)
    assert "\n" not in str(refused.exception)


def test_what_cannot_begin_is_refused_in_a_line_and_leaves_no_trace(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    place = tmp_path / "place"
    place.mkdir()
    empty = tmp_path / "empty"
    there = tmp_path / "there"
    empty.mkdir()
    there.mkdir()
    (there / "mine.txt").touch()
    for folder, to, typed, words in (
        (empty, place / "set", (), "no video of the folder can be used"),
        (clips, clips / "sets" / "one", (), "would be taken for its videos"),
        (clips, there, (), "holds something else"),
        (clips, place / "set", ("--examiner", "offline:hawk"), "cannot take this role"),
        (clips, place / "set", ("--examiner", "openai:gpt-4o"), "OPENAI_API_KEY"),
    ):
        refused = make(folder, to, *typed)
        assert words in str(refused.exception), (refused.exception, refused.output)
        assert "\n" not in str(refused.exception)
    assert list(place.iterdir()) == []
    assert [path.name for path in there.iterdir()] == ["mine.txt"]


def test_a_second_process_is_refused_and_a_set_that_was_put_meanwhile_is_kept(
    few: tuple[Path, Result], clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = Path(shutil.copytree(few[0], tmp_path / "set"))
    before = sealed(to)
    monkeypatch.setattr(making, "_there", lambda _order, _found: None)
    late = make(clips, to, *FEW)
    assert "was made meanwhile" in str(late.exception)
    other = tmp_path / "other"
    draft_of(other).parent.mkdir()
    shutil.copy(to / "results" / CALLS, draft_of(other))
    with Store.open(draft_of(other), write=True):
        locked = make(clips, other, *FEW)
    assert isinstance(locked.exception, RunLocked)
    assert sealed(to) == before


def test_what_is_asked_again_is_no_longer_known_as_failed(tmp_path: Path) -> None:
    with Store.create(tmp_path / CALLS, {"schema": 2}) as store:
        FailedScopes(store).add("dialogues-v-whole")
        assert FailedScopes(store).scopes == {"dialogues-v-whole"}
        FailedScopes(store).ask_again()
        assert FailedScopes(store).scopes == set()


def test_subtitles_that_changed_are_refused_before_a_call(clips: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    to = tmp_path / "set"
    folder.mkdir()
    video = Path(shutil.copy(min(clips.iterdir()), folder / "one.mp4"))
    said = video.with_suffix(".srt")
    said.write_text("1\n00:00:00,000 --> 00:00:03,000\nhello\n")
    assert make(folder, to, *FEW).return_value == 0
    assert next((to / "videos").glob("*.srt")).read_bytes() == said.read_bytes()
    draft_of(to).parent.mkdir()
    (to / "results" / CALLS).rename(draft_of(to))
    shutil.rmtree(to)
    said.write_text("1\n00:00:00,000 --> 00:00:03,000\nother\n")
    for more in ((), ("--plan",)):
        refused = make(folder, to, *FEW, *more)
        assert "not those that this set was begun with" in str(refused.exception)


def test_a_video_that_cannot_be_decoded_holds_nothing_up(
    few: tuple[Path, Result], clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from videoautoarena.memory.records.errors import UnusableVideo
    from videoautoarena.video.workers.decoders import Decoders

    folder = Path(shutil.copytree(clips, tmp_path / "folder"))
    draw_clip(folder / "short.mp4", 7, seconds=2)
    theirs = Decoders.scenes

    async def scenes(self: Decoders, path: Path, video: Any) -> Any:
        if path.name == "short.mp4":
            raise UnusableVideo("cannot be decoded\x1b[2J")
        return await theirs(self, path, video)

    monkeypatch.setattr(Decoders, "scenes", scenes)
    done = make(folder, tmp_path / "set", *FEW, "--json")
    assert done.return_value == 0, done.output
    found = json.loads(done.stdout)
    assert [one["video"] for one in found["unusable"]] == ["short.mp4"]
    assert (found["failed"], found["videos"]) == ([], 3)
    assert "not used: short.mp4 cannot be decoded" in done.stderr
    assert "\x1b" not in done.stderr
    assert open_bench(tmp_path / "set").manifest.selection["unusable"] == 1
    ours = (few[0] / "questions.jsonl").read_bytes()
    assert (tmp_path / "set" / "questions.jsonl").read_bytes() == ours


def test_a_folder_of_one_clip_of_half_a_second_ends_in_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    draw_two_colours(folder / "short.mp4", PAIRS[0], seconds=0.5)
    done = make(folder, tmp_path / "set")
    assert done.return_value == 0 or "gives no dialogue about 1 video" in str(done.exception)
    assert "\n" not in str(done.exception)


@pytest.mark.slow
def test_equal_replies_give_equal_bytes_at_any_pace_in_any_folder_and_over_http(
    clips: Path, tmp_path: Path
) -> None:
    turned = tmp_path / "turned"
    turned.mkdir()
    for path, name in zip(sorted(clips.iterdir()), ("z.mp4", "a.mp4"), strict=True):
        shutil.copy(path, turned / name)
    assert make(clips, tmp_path / "here").return_value == 0
    assert make(turned, tmp_path / "turned-set", "--concurrency", 1).return_value == 0
    assert sealed(tmp_path / "here") == sealed(tmp_path / "turned-set")
    with serving(tmp_path / "log", Manners(latency_s=(0.0, 0.02))) as server:
        done = make(clips, tmp_path / "far", *far(tmp_path, server), "--concurrency", 16)
        assert done.return_value == 0, done.output
        arrived = Counter(event["key"] for event in server.events("arrived"))
    assert set(arrived.values()) == {1}
    assert nameless(tmp_path / "far") == nameless(tmp_path / "here")


def nameless(to: Path) -> list[dict[str, Any]]:
    """Return the dialogues of a set without what names or sets the model."""
    lines = [json.loads(line) for line in (to / "questions.jsonl").read_text().splitlines()]
    for line in lines:
        del line["made"]["examiner"], line["made"]["parameters"]
    return lines


@pytest.mark.slow
def test_what_failed_is_asked_again_or_left_out_and_nothing_is_paid_twice(
    clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    less = tmp_path / "less"
    mishaps = (Mishap("prose", nth=9, times=2), Mishap("status", nth=26, status=400))
    with serving(tmp_path / "log", Manners(mishaps=mishaps)) as server:
        named = far(tmp_path, server)
        done = make(clips, to, *named, "--concurrency", 1, "--json")
        assert done.return_value == 3, done.output
        found = json.loads(done.stdout)
        assert found["bench"] is None
        assert 1 <= len(found["failed"]) <= 2
        assert "to repeat what failed, add --retry-failed" in done.stderr
        assert not to.exists()
        shutil.copytree(draft_of(to).parent, draft_of(less).parent)
        taken = make(clips, less, *named, "--at-most", "--json")
        assert taken.return_value == 0, taken.output
        paid = {row.key for row in rows_of(draft_of(to)) if row.reply}
        again = make(clips, to, *named, "--retry-failed", "--json")
        assert again.return_value == 0, again.output
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert open_bench(less).manifest.selection["failed"] == len(found["failed"])
    assert json.loads(again.stdout)["failed"] == []
    assert make(clips, tmp_path / "calm").return_value == 0
    assert nameless(to) == nameless(tmp_path / "calm")
    assert {key: sent[key] for key in paid if sent[key] > 1} == {}


@pytest.mark.slow
def test_what_hangs_on_a_failed_call_waits_for_it(clips: Path, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    shutil.copy(min(clips.iterdir()), tmp_path / "clips")
    with serving(tmp_path / "log") as server:
        typed = (tmp_path / "clips", tmp_path / "calm", *far(tmp_path, server), *FEW)
        assert make(*typed, "--concurrency", 1).return_value == 0
    calm = rows_of(tmp_path / "calm" / "results" / CALLS)[::-1]
    roles = [row.nonce.role for row in calm]
    for role in ("object_finder", "dialogist", "checklist_marker"):
        to = tmp_path / role
        nth = roles.index(role) + 1
        mishaps = (Mishap("status", nth=nth, status=400),)
        with serving(tmp_path / "log", Manners(mishaps=mishaps)) as server:
            typed = (tmp_path / "clips", to, *far(tmp_path, server), *FEW)
            done = make(*typed, "--concurrency", 1)
            assert (done.return_value, role) == (3, role), done.output
        paid = [row for row in rows_of(draft_of(to))[::-1] if row.reply]
        spoken = [row.key for row in paid if row.nonce.scope.startswith("dialogues-")]
        assert set(spoken) <= {row.key for row in calm[: nth - 1]}
        planned, again = (
            json.loads(make(*typed, "--plan", "--json", *more).stdout)
            for more in ((), ("--retry-failed",))
        )
        # What is remembered of the video is known again only as a whole.
        is_known = role != "object_finder"
        assert (planned["plan"]["lines"] == [], planned["failed"] != []) == (is_known, is_known)
        assert again["plan"]["calls"] >= 1
        assert again["failed"] == []


@pytest.mark.slow
def test_a_cap_ends_it_with_4_and_a_server_that_is_gone_with_5(clips: Path, tmp_path: Path) -> None:
    price = "price = { input_usd = 0.0, output_usd = 1000.0 }\nparameters = { max_tokens = 300 }"
    to = tmp_path / "set"
    with serving(tmp_path / "log") as server:
        typed = (*far(tmp_path, server, price=price), *FEW, "--concurrency", 2)
        capped = make(clips, to, *typed, "--max-usd", 0.9)
        assert capped.return_value == 4, capped.output
        kept = rows_of(draft_of(to))
        assert 0 < sum(row.cost_usd or 0 for row in kept) <= 0.9
    gone = make(clips, to, *typed, "--max-usd", "none", "--patience", "0")
    assert gone.return_value == 5, gone.output
    assert {row.key for row in rows_of(draft_of(to))} >= {row.key for row in kept}


@pytest.mark.slow
def test_an_interrupt_ends_it_with_130_and_the_same_command_goes_on(
    clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    with serving(tmp_path / "log", Manners(latency_s=(0.1, 0.1))) as server:
        typed = (*far(tmp_path, server), *FEW, "--concurrency", 2)
        line = command("arena", "dialogues", "make", clips, "--to", to, *map(str, typed))
        with Life(line) as life:
            life.until(lambda: len(server.events("sent")) >= 5)
            life.interrupt(signal.SIGINT)
            assert life.end() == 130
        assert not to.exists()
        assert make(clips, to, *typed).return_value == 0
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert set(sent.values()) == {1}
    assert os.listdir(to / "results") == [CALLS]


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips of six scenes in which things come back."""
    folder = tmp_path_factory.mktemp("stories") / "clips"
    folder.mkdir()
    for seed in range(2):
        draw_story(invent(seed), folder / f"story{seed}.mp4")
    return folder


@pytest.mark.slow
def test_a_plan_is_within_a_fifth_of_what_is_asked_before_and_half_way(
    stories: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    half = tmp_path / "half"
    before = json.loads(make(stories, to, "--plan", "--json").stdout)["plan"]
    assert make(stories, to, "--concurrency", 1).return_value == 0
    rows = rows_of(to / "results" / CALLS)
    assert abs(before["calls"] - len(rows)) <= 0.2 * len(rows)
    roles = Counter(row.nonce.role for row in rows)
    for line in before["lines"]:
        assert roles[line["role"]] <= line["calls_at_most"]
        assert abs(line["calls"] - roles[line["role"]]) <= 0.1 * len(rows), line
    assert before["cost_usd"] in (0, None)
    draft_of(half).parent.mkdir()
    shutil.copy(to / "results" / CALLS, draft_of(half))
    with closing(sqlite3.connect(draft_of(half))) as file, file:
        file.execute("DELETE FROM calls WHERE rowid > ?", (len(rows) // 2,))
        # Nor was the last video remembered by then.
        last = rows[0].nonce.scope.split("-")[1]
        file.execute("DELETE FROM files WHERE name LIKE ?", (f"scenes-{last}/%",))
    left = json.loads(make(stories, half, "--plan", "--json").stdout)["plan"]
    rest = len(rows) - len(rows) // 2
    assert abs(left["calls"] - rest) <= 0.2 * rest
    assert make(stories, half, "--concurrency", 1).return_value == 0
    assert sealed(half) == sealed(to)
    assert len(rows_of(half / "results" / CALLS)) == len(rows)


def test_a_plan_says_tokens_and_dollars_of_who_is_far_away_video_by_video(
    clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    planned = make(clips, to, "--examiner", "openai:gpt-4o", "--plan", "--json")
    plan = json.loads(planned.stdout)["plan"]
    assert 0 < plan["cost_usd"] < plan["bound90_usd"]
    lines = {line["role"]: line for line in plan["lines"]}
    assert len(lines) == len(plan["lines"]) == 11
    assert "api.openai.com" in plan["notices"][0]
    # Every try may be written and its reply be mended.
    tries = 2 * len(DialogueWish().kinds) * (1 + SPARE) * TRIES
    assert lines["dialogist"]["calls_at_most"] == tries * REPAIR
    # Whoever sees no frames mostly says that nothing is known, which is held against no checklist.
    calls = {role: line["calls"] for role, line in lines.items()}
    answers = calls["dialogue_answerer"]
    assert answers < calls["checklist_marker"] < answers + calls["leak_checker"] / 2
    # What sees no frames reads less than what sees all.
    each = {role: line["input_tokens"] / line["calls"] for role, line in lines.items()}
    assert each["leak_checker"] < each["scene_captioner"] < each["dialogist"]
    assert list(tmp_path.iterdir()) == []
    parts = []
    for clip in sorted(clips.iterdir()):
        (tmp_path / clip.stem).mkdir()
        shutil.copy(clip, tmp_path / clip.stem)
        typed = ("--examiner", "openai:gpt-4o", "--plan", "--json")
        parts.append(json.loads(make(tmp_path / clip.stem, to, *typed).stdout)["plan"])
    together = sum(part["duration_s"] for part in parts)
    assert 0.9 * together / len(parts) < plan["duration_s"] < together
    for name in ("calls_at_most", "cost_usd"):
        assert plan[name] == pytest.approx(sum(part[name] for part in parts))
    # Bounds of two parts are not both needed.
    assert plan["bound90_usd"] < sum(part["bound90_usd"] for part in parts)


def test_as_many_rounds_are_scored_as_were_wished_for_and_the_set_says_so(
    few: tuple[Path, Result], clips: Path, tmp_path: Path
) -> None:
    to = tmp_path / "more"
    done = make(clips, to, *FEW, "--scored", 3, "--json")
    assert done.return_value == 0, done.output
    found = json.loads(done.stdout)
    bench = open_bench(to)
    refusals = [item for item in bench.items if item.ability == "answer_refusal"]
    assert {sum(one.is_scored for one in item.rounds) for item in refusals} == {3}
    assert found["scored_rounds"] > json.loads(few[1].stdout)["scored_rounds"]
    assert bench.manifest.selection["scored"] == 3
    assert "rounds: 5 to 5, 3 of them to be scored" in read_card(to)
    # Without the wish a set says nothing of it, and is another one.
    plain = open_bench(few[0])
    assert "scored" not in plain.manifest.selection
    assert "to be scored" not in read_card(few[0])
    assert plain.manifest.source.digest != bench.manifest.source.digest


def test_a_set_of_before_there_was_a_number_of_scored_rounds_is_known_again(
    few: tuple[Path, Result], clips: Path
) -> None:
    manifest = open_bench(few[0]).manifest
    # All that its order was, with the fields that there were then.
    wish = {"abilities": ["answer_refusal"], "per_video": 1, "turns": [5, 5], "seed": 0}
    config = making.examining(None, None, 0)
    examiner = config.cast[config.examiner].identity(config.sampling.frames)
    made_of = sorted(digest(file.read_bytes()) for file in clips.glob("*.mp4"))
    assert manifest.source.digest == digest_of(["dialogues", "1", wish, examiner, made_of])
