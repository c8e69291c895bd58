"""Panels, seatings, pairings and the paper's preset, each end to end, and each replayed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.asking import Script, frames_of, run
from tests.support.canned import canned
from tests.support.clips import draw_folder
from tests.support.loopback import Brain, ask_offline, serving
from tests.support.runfiles import video
from tests.support.small_runs import TRIO, battles_of, play, play_again, toml
from tests.support.stage import Stage
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.prompts import SLOTS, PromptSet
from videoautoarena.memory.records.records import DIFFICULTY_SCALES, Battle, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import play_run
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.runs.console.progress.live import plain_lines
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import begin
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.tournament.runner import Limits, RunSession
from videoautoarena.video.folder.find import Findings


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "videos", 2, seconds=3)


def lineages(battles: list[Battle]) -> list[list[Battle]]:
    def place(battle: Battle) -> tuple[str, int]:
        return battle.video, battle.persona

    return [list(group) for _, group in groupby(sorted(battles, key=place), key=place)]


def pair(battle: Battle) -> frozenset[str | None]:
    return frozenset({battle.model_a, battle.model_b})


def test_a_panel_of_two_judges_every_battle_twice(videos: Path, tmp_path: Path) -> None:
    panel = {name: {"model": "offline:judge"} for name in ("one", "two")}
    (tmp_path / "arena.toml").write_text(toml(panel))
    given = {"judge": ("one", "two"), "config": tmp_path / "arena.toml", "swap": 0.0}
    play(videos, tmp_path / "out", limit=1, rounds=1, **given)
    for battle in battles_of(tmp_path / "out"):
        assert [(j.judge, j.seats) for j in battle.verdicts] == [("one", "ab"), ("two", "ab")]
    assert play_again(tmp_path / "out").battles == 3


def test_with_both_seatings_every_battle_is_judged_from_both(videos: Path, tmp_path: Path) -> None:
    play(videos, tmp_path / "out", limit=1, rounds=1, swap="all")
    for battle in battles_of(tmp_path / "out"):
        there, back = battle.verdicts
        assert (there.seats, back.seats) == ("ab", "ba")
        assert battle.verdict == there.verdict or there.verdict != back.verdict
    assert play_again(tmp_path / "out").battles == 3


def test_a_kept_pair_is_kept_through_its_lineage(videos: Path, tmp_path: Path) -> None:
    play(videos, tmp_path / "out", pairing="keep-pair", limit=1)
    for lineage in lineages(battles_of(tmp_path / "out")):
        assert len({pair(battle) for battle in lineage}) == 1
        assert {battle.propensity for battle in lineage} == {0.333333}
    assert play_again(tmp_path / "out").battles == 6


def test_round_robin_deals_every_pair_equally_often(videos: Path, tmp_path: Path) -> None:
    play(videos, tmp_path / "out", pairing="round-robin", rounds=1)
    found = battles_of(tmp_path / "out")
    pairs = [pair(battle) for battle in found]
    assert sorted(map(pairs.count, set(pairs))) == [2, 2, 2]
    assert {battle.propensity for battle in found} == {None}
    assert play_again(tmp_path / "out").battles == 6


@pytest.mark.slow
def test_the_papers_preset_tells_and_asks_every_role_what_the_paper_does(
    videos: Path, tmp_path: Path
) -> None:
    heard: list[str] = []

    def brain(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        heard.append(messages[-1].content[-1]["text"])  # type: ignore[index]
        return ask_offline(model, messages)

    with serving(tmp_path / "log", brain=brain) as server:
        names = ("examiner", "judge", "hawk")
        remote = {n: {"model": f"openai:{n}", "base_url": server.openai_url} for n in names}
        (tmp_path / "arena.toml").write_text(toml(remote))
        given = {"config": tmp_path / "arena.toml", "preset": "paper", "limit": 1}
        models = ("hawk", *TRIO[1:])
        out = tmp_path / "out"
        play(videos, out, models=models, examiner="examiner", judge=("judge",), **given)
        asked = {n: [e for e in server.events("arrived") if e["model"] == n] for n in names}
    assert {e["sampling"]["max_tokens"] for e in asked["hawk"]} == {2048}
    assert {e["sampling"]["temperature"] for e in asked["hawk"]} == {0.7}
    assert not [e for e in asked["judge"] if "temperature" in e["sampling"]]
    found = battles_of(tmp_path / "out")
    for lineage in lineages(found):
        assert len({(battle.model_a, battle.model_b) for battle in lineage}) == 1
        assert all(len(battle.verdicts) == 1 for battle in lineage)
    with Store.open(tmp_path / "out" / RUN_FILE, write=False) as store:
        frames = store.frames(found[0].video)
    assert frames is not None
    assert (frames.width_px, frames.height_px) == (512, 512)
    told = {
        role: {frozenset(open_fences(text)[1]) for text in heard if form in text}
        for role, form in ((role, f"Reply format: {role} (3)") for role in SLOTS)
    }
    both = {"persona", "question", "answer_a", "answer_b"}
    assert told == {
        "examiner": {frozenset()},
        "persona": {frozenset()},
        "questioner": {frozenset({"persona", "asked"})},
        "contestant": set(),
        "judge": {frozenset(both)},
        "evolver": {frozenset({*both, "refused"})},
        "grader": {frozenset({"persona", "question_1", "question_2"})},
    }
    assert not [text for text in heard if "own_answer" in text or "abstain" in text]
    judgings = [one for battle in found for one in battle.verdicts]
    assert all(one.analyses and one.own_answer is None for one in judgings)
    assert {one.standards for one in judgings} == {None}
    grades = [one.new for battle in found for one in battle.evolution]
    assert grades
    assert all(value.is_integer() for grade in grades for value in grade.model_dump().values())
    assert play_again(out).differences == []


EVOLVED = "and which the next?"
"""What `tests/support/canned.py` asks in every evolved question, and in no other."""


def grading(*, overall: float, others: float) -> Brain:
    """Return an examiner that grades evolved questions so, and all others 3 throughout."""

    def brain(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        said = canned(model, messages)
        _, texts = open_fences(messages[-1].content[-1]["text"])  # type: ignore[index, arg-type]
        if "question_1" not in texts:
            return said
        names = [name for name in ("question_1", "question_2") if EVOLVED in texts[name]]
        grades = dict.fromkeys(
            ("question_1", "question_2"), dict.fromkeys((*DIFFICULTY_SCALES, "overall"), 3.0)
        )
        for name in names:
            grades[name] = {**dict.fromkeys(DIFFICULTY_SCALES, others), "overall": overall}
        return said.model_copy(update={"content": json.dumps(grades)})

    return brain


@pytest.mark.parametrize(
    ("overall", "others", "preset", "origin"),
    [
        (3.0, 5.0, "paper", "fresh"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                (3.0, 5.0, None, "evolved"),
                (4.0, 1.0, "paper", "evolved"),
                (2.9, 5.0, None, "fresh"),
            )
        ),
    ],
)
def test_by_the_papers_rule_the_overall_grade_alone_lets_a_question_pass(
    videos: Path, tmp_path: Path, overall: float, others: float, preset: str | None, origin: str
) -> None:
    with serving(tmp_path / "log", brain=grading(overall=overall, others=others)) as server:
        remote = {"model": "openai:examiner", "base_url": server.openai_url}
        (tmp_path / "arena.toml").write_text(toml({"examiner": remote}))
        given = {"config": tmp_path / "arena.toml", "preset": preset, "limit": 1}
        play(videos, tmp_path / "out", examiner="examiner", judge=("offline:judge",), **given)
    first, second = (
        [battle for battle in battles_of(tmp_path / "out") if battle.round == round_]
        for round_ in (0, 1)
    )
    assert {battle.verdict for battle in first}.isdisjoint({"void"})
    assert {battle.origin for battle in second} == {origin}
    for battle in second:
        grades = [(attempt.new.overall, attempt.new.accuracy) for attempt in battle.evolution]
        assert grades == [(overall, others)] * (1 if origin == "evolved" else 2)
        assert [attempt.accepted for attempt in battle.evolution][-1] == (origin == "evolved")
    assert play_again(tmp_path / "out").battles == 6


def many(count: int) -> list[Video]:
    return [video(f"clip{number}.mp4") for number in range(count)]


def test_many_videos_are_played_with_two_blocks_open_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = RunRequest(models=("offline:owl", "offline:mole"), rounds=1, block=2)
    config = resolve(flags).config
    out = tmp_path / "out"
    said = list[str]()
    found = Findings(many(6), [], [])
    ready = begin(out, config, prompts=PromptSet.load(), found=found, folder=tmp_path)
    store = ready.store
    blocks = {slot.video: slot.block for slot in ready.store.slots()}
    slots = {block: [s.id for s in store.slots() if s.block == block] for block in range(3)}
    most_open: list[int] = []
    begun: set[int] = set()
    stage = Stage()

    def speak(sending: OutgoingCall) -> str:
        assert sending.frames is not None
        block = blocks[sending.frames.video]
        if block not in begun:
            begun.add(block)
            settled = set(store.settled_ids())
            most_open.append(sum(not settled.issuperset(slots[b]) for b in begun))
        said = stage._speak(sending)
        assert isinstance(said, str)
        return said

    async def play_all() -> None:
        for one in store.videos():
            await store.put_frames(frames_of(3, video=one.id))
        ended = await play_run(RunSession(ready, out, limits=Limits(16), listeners=told))
        assert (ended.settled, ended.voids) == (18, 0)

    told = Listeners(said.append, plain_lines(said.append))
    monkeypatch.setattr(
        "videoautoarena.runs.run.rundir.context.Asker", partial(Asker, make_client=Script(speak))
    )
    run(play_all())
    assert begun == set(range(3))
    assert max(most_open) <= 2
    assert len(said) == 18
    assert play_again(out).battles == 18
