"""Rounds of dialogues are asked with the history before them, and held against their checklists."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.clips import draw_folder
from tests.support.dialogue_sets import dialogue, speaker, turn, write_dialogues
from tests.support.loopback import Loopback, serving
from tests.support.small_benches import calls_of, run_bench
from tests.support.whole_runs import KEY
from videoautoarena.agents.prompting.contracts import FORMAT_LINE
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import VideoFrames
from videoautoarena.runs.bench.dialogues.game import DialogueGame, asked_rounds
from videoautoarena.runs.bench.dialogues.rules import DialogueRules
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import (
    Answers,
    DialogueResult,
    read_dialogues,
    write_answers,
)
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.play import runner
from videoautoarena.runs.bench.play.cast import BenchCast, CastRequest
from videoautoarena.runs.bench.play.runner import BenchOrder
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.jobs.paid_job import NOBODY
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.video.folder.find import find_videos

MODELS = ("able", "silent", "failing", "judge")


PREFIXES: list[tuple[str, str]] = []
"""Of each answer that was asked for: what came before the text, and the text."""
MARKED: list[tuple[int, dict[str, str]]] = []
"""Of each marking that was asked for: how many frames came with it, and its blocks."""


def heard(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Reply as a speaker, and write down what was sent; a judge has no form for a muddle."""
    *frames, block = messages[-1].content_blocks
    text = str(block.get("text"))
    if FORMAT_LINE not in text:
        system = [str(message.content) for message in messages[:-1]]
        PREFIXES.append((digest(repr([system, frames])), text))
    else:
        MARKED.append((len(frames), open_fences(text)[1]))
        if "muddle" in MARKED[-1][1]["question"]:
            return AIMessage("I would not know.")
    return speaker(model, messages)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    with serving(tmp_path_factory.mktemp("server") / "log", brain=heard) as running:
        yield running


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory, server: Loopback) -> Path:
    """Two clips and a dialogue about each, one of a stretch, which no test writes to."""
    place = tmp_path_factory.mktemp("dialogues")
    first, second = find_videos(draw_folder(place / "videos", 2, seconds=3)).videos
    items = [dialogue(first.id), dialogue(second.id, 1, spans=[(1.0, 2.0)])]
    write_dialogues(place / "set", items, videos=place / "videos")
    lines = ['[roles]\njudge = "judge"']
    for name in MODELS:
        lines += [f'[models.{name}]\nmodel = "openai:{name}"\nbase_url = "{server.openai_url}"']
        lines += ['key_env = "LOOPBACK_KEY"\nprice = { input_usd = 1.0, output_usd = 2.0 }']
    lines += ['max_frames = 4\n[models.clips.retrieval]\nmodel = "offline:mole"']
    lines += ['frames_per_clip = 2\nembeddings = "offline:colours"']
    (place / "arena.toml").write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture
def place(ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    return Path(shutil.copytree(ground, tmp_path / "place"))


def play(place: Path, *typed: object, code: int = 0) -> Any:
    where = ("--videos", place / "videos", "--config", place / "arena.toml", "--json")
    done = run_bench(place / "set", *where, *typed)
    assert done.return_value == code, done.output
    return json.loads(done.stdout)


def results_in(place: Path) -> dict[str, DialogueResult]:
    return {one.model: one for one in read_dialogues(open_bench(place / "set"))}


def test_scored_rounds_are_asked_after_the_reference_answers(place: Path) -> None:
    plan = play(place, "--model", "able,silent", "--plan")
    assert plan["calls_at_most"] == {"able": 4, "silent": 4, "judge": 16}
    board = play(place, "--model", "able,silent")["scores"]
    made = Counter((row.alias, row.nonce.role) for row in calls_of(place / "set"))
    assert made == {
        ("able", "contestant"): 4, ("silent", "contestant"): 4, ("judge", "checklist_marker"): 8,
    }  # fmt: skip
    found = results_in(place)
    for line, number in zip(found["able"].lines, (2, 3, 12, 13), strict=True):
        assert line.round == number % 10
        assert line.response == f"It is heron{number}. That is after {line.round - 1}."
        assert line.answers == ["yes"] * 3 + ["no"] * 2
        assert line.ending == "stop"
        assert line.usd is not None
        assert line.usd > 0
    assert {row["model"]: row["overall"]["value"] for row in board["models"]} == {
        "able": 100.0, "silent": 40.0,
    }  # fmt: skip
    assert found["able"].facts["rounds"] == 4
    assert found["able"].facts["prompts"].keys() == {"contestant", "checklist_marker"}
    rows = {row.nonce.role: row for row in calls_of(place / "set")}
    assert rows["checklist_marker"].frames in (0, None)


def test_a_second_run_pays_nothing_and_writes_the_same_bytes(place: Path) -> None:
    play(place, "--model", "able", "--concurrency", 1)
    files = {file.name: file.read_bytes() for file in (place / "set/results").glob("*.jsonl")}
    before = len(calls_of(place / "set"))
    again = run_bench(
        place / "set", "--model", "able", "--config", place / "arena.toml", "--concurrency", 16
    )
    assert again.return_value == 0, again.output
    assert len(calls_of(place / "set")) == before
    assert {f.name: f.read_bytes() for f in (place / "set/results").glob("*.jsonl")} == files


def test_nobody_is_paid_for_a_round_behind_the_last_that_is_scored() -> None:
    item = dialogue("a", rounds=[turn(1, 0, 0), turn(2), turn(3, 0, 0), turn(4), turn(5, 0, 0)])
    assert asked_rounds(item, "golden") == [2, 4]
    assert asked_rounds(item, "own") == [1, 2, 3, 4]
    assert asked_rounds(dialogue("a", rounds=[turn(1, 0, 0)]), "own") == []


def test_own_history_asks_every_round_and_is_a_player_of_its_own(place: Path) -> None:
    PREFIXES.clear()
    play(place, "--model", "able")
    plan = play(place, "--model", "able", "--history", "own", "--plan")
    # The first round has no history, so it alone is the same; it was not asked, being unscored.
    assert plan["calls_at_most"] == {"able": 6, "judge": 8}
    play(place, "--model", "able", "--history", "own")
    golden = results_in(place)["able"]
    own = results_in(place)["able (own history)"]
    assert (golden.history, own.history) == ("golden", "own")
    assert [line.round for line in own.lines] == [2, 3, 2, 3]
    asked = Counter(row.nonce.role for row in calls_of(place / "set"))
    # What is answered alike to one round is marked once, whatever came before.
    assert asked == {"contestant": 10, "checklist_marker": 4}
    sent = [text for _, text in PREFIXES if "That is after 0." in text]
    assert len(sent) == 4
    assert not [text for text in sent if "It is heron1.\n" in text]
    scored = json.loads(run_bench(place / "set", "--json", word="score").stdout)
    assert [(row["model"], row["history"]) for row in scored["models"]] == [
        ("able", "golden"), ("able (own history)", "own"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_reply_of_its_own_that_failed_ends_the_dialogue(place: Path) -> None:
    (first, _) = find_videos(place / "videos").videos
    rounds = [turn(1), turn(2, user="fail here"), turn(3)]
    shutil.rmtree(place / "set")
    write_dialogues(place / "set", [dialogue(first.id, rounds=rounds)], videos=place / "videos")
    lines = (place / "arena.toml").read_text().replace('"openai:able"', '"openai:failing"')
    (place / "arena.toml").write_text(lines)
    play(place, "--model", "able", "--history", "own")
    (own,) = results_in(place).values()
    assert [line.end for line in own.lines] == ["answered", "forfeit", "forfeit"]
    assert own.lines[2].reason is not None
    assert own.lines[2].reason.startswith("round 2, which it goes on from, has no answer")
    play(place, "--model", "able")
    golden = results_in(place)["able"]
    assert [line.end for line in golden.lines] == ["answered", "forfeit", "answered"]
    plan = play(place, "--model", "able", "--history", "own", "--plan")
    assert plan["calls_at_most"] == {}
    again = play(place, "--model", "able", "--history", "own", "--retry-failed", "--plan")
    assert again["calls_at_most"] == {}
    play(place, "--model", "able", "--history", "own", "--retry-failed")
    asked = [row for row in calls_of(place / "set") if row.nonce.scope.endswith(":r2")]
    assert len(asked) == 3


def test_the_judge_sees_question_reference_reply_and_checklist_and_no_frames(place: Path) -> None:
    MARKED.clear()
    play(place, "--model", "able", "--limit", 1)
    frames, seen = MARKED[0]
    assert frames == 0
    number = seen["reference"].removeprefix("It is heron").removesuffix(".")
    assert seen["question"] == f"What comes {number}th, after what you named before?"
    assert seen["answer"].startswith(f"It is heron{number}. That is after")
    assert len(seen["checklist"].splitlines()) == 5
    assert len(seen) == 4


def test_failed_replies_and_failed_markings_are_counted_apart_and_asked_once(place: Path) -> None:
    first, second = find_videos(place / "videos").videos
    both = [turn(1, user="muddle here"), turn(2, user="fail here"), turn(3)]
    items = [dialogue(first.id, rounds=both), dialogue(second.id, 1, rounds=both[:1])]
    shutil.rmtree(place / "set")
    write_dialogues(place / "set", items, videos=place / "videos")
    done = play(place, "--model", "failing", code=3)
    # A dialogue with both is a forfeit, which is the model's fault.
    assert (done["settled"], done["forfeits"], done["voids"]) == (2, 1, 1)
    result = results_in(place)["failing"]
    ends = [line.end for line in result.lines]
    assert sorted(ends) == ["answered", "forfeit", "unscored", "unscored"]
    counted = {key: result.facts[key] for key in ("dialogues", "rounds", "unscored", "voids")}
    assert counted == {"dialogues": 2, "rounds": 4, "unscored": 2, "voids": 0}
    assert play(place, "--model", "failing", "--plan")["calls_at_most"] == {}
    before = len(calls_of(place / "set"))
    play(place, "--model", "failing", code=3)
    assert len(calls_of(place / "set")) == before


def test_half_a_character_in_a_set_stops_no_play(place: Path) -> None:
    (first, _) = find_videos(place / "videos").videos
    shutil.rmtree(place / "set")
    half = turn(2, user="What comes 2th \ud800?", reference="It is heron2 \udfff.")
    items = [dialogue(first.id, rounds=[half, turn(3)])]
    write_dialogues(place / "set", items, videos=place / "videos")
    play(place, "--model", "able")
    assert [line.end for line in results_in(place)["able"].lines] == ["answered"] * 2


class _Dark(DialogueGame):
    """A game in which a video turns out to give no frames."""

    async def frames(self, _item: DialogueItem) -> VideoFrames:
        raise UnusableVideo("dark")


class _DarkRules(DialogueRules):
    def game(
        self, cast: BenchCast, prompter: Prompter, run_frames: RunFrames, films: BenchVideos
    ) -> DialogueGame:
        return _Dark(cast, prompter, run_frames, films)


def test_what_no_model_was_shown_is_no_fault_of_a_round_before(place: Path) -> None:
    wanted = CastRequest(models=("able",), config=place / "arena.toml", history="own")
    asked = BenchOrder(wanted, videos=place / "videos")
    opened = open_bench(place / "set")
    playing = runner.run_bench(opened, asked, rules=_DarkRules(), audience=NOBODY)
    tally = asyncio.run(playing).tally
    assert (tally.forfeits, tally.voids) == (0, 2)
    assert {line.end for line in results_in(place)["able (own history)"].lines} == {"void"}


def test_a_preset_is_the_papers_and_sends_no_model_more_than_it_takes(place: Path) -> None:
    wanted = CastRequest(models=("able", "judge"), judges=("silent",), config=place / "arena.toml")
    cast = DialogueRules().cast(open_bench(place / "set"), wanted._replace(preset="paper"))
    assert (cast.config.sampling.frames, cast.config.sampling.size_px) == (32, 720)
    limits = {one.name: one.model and one.model.frame_limit("contestant") for one in cast.players}
    assert limits == {"able (paper)": 32, "judge (paper)": 4}


def test_who_cannot_play_rounds_is_refused(place: Path) -> None:
    bench = open_bench(place / "set")
    given = {item.qid: "It is so." for item in bench.items}
    write_answers(bench, Answers(bench=bench.bench, model="theirs", how="import", responses=given))
    for name, why in (("theirs", "were handed in"), ("clips", "found by a question alone")):
        where = ("--videos", place / "videos", "--config", place / "arena.toml")
        wrong = run_bench(place / "set", *where, "--model", name).exception
        assert isinstance(wrong, BadInput)
        assert why in str(wrong)


def test_frames_are_of_the_stretches_and_of_the_preset(place: Path) -> None:
    play(place, "--model", "able")
    shown = {
        row.nonce.scope: row.frames for row in calls_of(place / "set")
        if row.nonce.role == "contestant"
    }  # fmt: skip
    assert len(set(shown.values())) == 2
    play(place, "--model", "able", "--preset", "paper")
    paper = results_in(place)["able (paper)"]
    assert (paper.facts["preset"], paper.facts["max_frames"]) == ("paper", 32)
    # The clips are smaller than either size and shorter than 32 frames: nothing is paid again.
    assert Counter(row.nonce.role for row in calls_of(place / "set"))["contestant"] == 4
    with pytest.raises(BadInput, match="leave --sweep out"):
        raise (
            run_bench(place / "set", "--preset", "paper", "--sweep", "frames=2").exception
            or AssertionError
        )


def test_frames_come_first_and_are_the_same_in_all_rounds(place: Path) -> None:
    PREFIXES.clear()
    play(place, "--model", "able")
    play(place, "--model", "able", "--history", "own")
    before, texts = zip(*PREFIXES, strict=True)
    assert len(before) == 10
    assert len(set(before)) == 2
    # A text begins with the contestant's prompt, and ends with what the user says.
    assert {text[: text.index("\n")] for text in texts} == {texts[0][: texts[0].index("\n")]}
    assert all(text.endswith("after what you named before?") for text in texts)


@pytest.mark.slow
def test_a_sweep_plays_a_model_once_a_number_of_frames(place: Path) -> None:
    play(place, "--model", "able", "--sweep", "frames=2,8")
    assert set(results_in(place)) == {"able (2 frames)", "able (8 frames)"}
    frames = Counter(
        row.frames for row in calls_of(place / "set") if row.nonce.role == "contestant"
    )
    # The stretch has six frames in all.
    assert frames == {2: 4, 8: 2, 6: 2}


@pytest.mark.parametrize(
    "spans", [[(2.0, 1.0)], [(1.0, 2.0), (1.5, 2.5)], [(0.0, 1.0), (3.0, 4.0)]]
)
def test_a_stretch_that_the_video_has_not_is_void_and_the_rest_is_asked(
    place: Path, spans: list[tuple[float, float]]
) -> None:
    first, second = find_videos(place / "videos").videos
    items = [dialogue(first.id, spans=spans), dialogue(second.id, 1)]
    shutil.rmtree(place / "set")
    write_dialogues(place / "set", items, videos=place / "videos")
    play(place, "--model", "able", code=3)
    (result,) = results_in(place).values()
    assert [line.end for line in result.lines] == ["void"] * 2 + ["answered"] * 2
    start, end = spans[-1]
    why = f"no answer: the video has no stretch from {start:g} s to {end:g} s"
    assert result.lines[0].reason == why
    assert play(place, "--model", "able", "--plan")["calls_at_most"] == {}


def test_what_is_for_dialogues_alone_is_refused_elsewhere(place: Path) -> None:
    from tests.support.task_sets import choice, write_set

    (first, _) = find_videos(place / "videos").videos
    write_set(place / "tasks", [choice(first.id)], videos=place / "videos")
    for typed in (("--history", "own"), ("--preset", "paper")):
        wrong = run_bench(place / "tasks", "--model", "offline:owl", *typed).exception
        assert isinstance(wrong, BadInput)
        assert "are for dialogues" in str(wrong)
    for word in ("probe", "check"):
        wrong = run_bench(place / "set", word=word).exception
        assert isinstance(wrong, BadInput)
        assert "\n" not in str(wrong)
