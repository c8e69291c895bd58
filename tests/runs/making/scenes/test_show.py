"""Scenes and objects are shown as they are remembered, and nobody is asked twice."""

from __future__ import annotations

import asyncio
import io
import json
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from PIL import Image
from rich.console import Console

import videoautoarena.runs.making.scenes.sheet
from tests.support.asking import MODEL
from tests.support.lives import Life
from tests.support.loopback import Loopback, Manners, Mishap, serving
from tests.support.played import battle, call, manifest, play, slot, video
from tests.support.quoted import misquoting
from tests.support.returns import Story, draw_story, invent, recalled
from tests.support.whole_runs import command, committed_keys
from videoautoarena.agents.prompting.prompts import SCENE_SLOTS, PromptSet
from videoautoarena.agents.roles.remember import scope_of
from videoautoarena.memory.records.records import Nonce, Sampling, Video
from videoautoarena.memory.records.scenes import Appearance, Scene, SceneMemory, SceneObject
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.jobs.paid_job import answered_in, plan_lines
from videoautoarena.runs.making.scenes.bank import load_of, name_of, scene_calls, scene_frames
from videoautoarena.runs.making.scenes.sheet import COLOURS, boxed, scene_shots, write_scene_sheet
from videoautoarena.runs.making.scenes.show import ScenePictures, SceneReport, ScenesOrder
from videoautoarena.runs.run.config.disclosure import REPAIR
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.frames import WHOLE, RunFrames
from videoautoarena.runs.views.results.forms import ReportView
from videoautoarena.runs.views.results.scenes import scenes_report
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

HOSTILE = "\x1b[2J[red]$(id)\n| <b>"


@pytest.fixture(scope="module")
def story() -> Story:
    return invent(0, scenes=3)


@pytest.fixture(scope="module")
def film(story: Story, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_story(story, tmp_path_factory.mktemp("scenes") / "film.mp4")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-77aa90e1b2c3d4f5")


def ask(film: Path, *typed: object) -> Result:
    """Return what `arena scenes` says to this; `return_value` is its exit code."""
    line = [str(word) for word in ("scenes", film, *typed)]
    return CliRunner().invoke(arena, line, standalone_mode=False)


def config(place: Path, server: Loopback) -> tuple[object, ...]:
    path = place / "far.toml"
    path.write_text(
        f'[models.far]\nmodel = "openai:examiner"\nbase_url = "{server.openai_url}"\n'
        'key_env = "TEST_KEY"\n[roles]\nexaminer = "far"\n'
    )
    return "--config", path


def said(result: Result, code: int = 0) -> dict[str, Any]:
    assert result.return_value == code, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def remembered(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("scenes", "objects", "clips")}


def memory_in(found: dict[str, Any]) -> SceneMemory:
    return SceneMemory.model_validate_json(
        json.dumps(
            {
                "video": found["video"]["id"],
                "duration_s": found["video"]["duration_s"],
                "scenes": found["scenes"],
                "objects": found["objects"],
            }
        )
    )


def keys_in(found: dict[str, Any]) -> list[str]:
    with Store.open(Path(found["calls"]), write=False) as store:
        return sorted(row.key for row in store.journal.latest(10_000))


@pytest.mark.slow
def test_what_comes_back_is_known_again_and_a_second_look_asks_nobody(
    film: Path, story: Story, tmp_path: Path
) -> None:
    first = said(ask(film, "--json", "--sheet", tmp_path / "sheet.png"))
    assert first["shots"] == len(first["scenes"]) == 3
    assert [one["why"] for one in first["clips"]][-1] == "whole"
    assert "object" in {one["why"] for one in first["clips"]}
    known = recalled(story, memory_in(first))
    assert (known.precision, known.recall) == (1.0, 1.0)
    assert known.there > 0
    with Image.open(tmp_path / "sheet.png") as sheet:
        colours = {colour for _, colour in sheet.getcolors(1_000_000) or ()}
    assert COLOURS[0] in colours
    keys = keys_in(first)
    again = said(ask(film, "--json"))
    assert (remembered(again), keys_in(again)) == (remembered(first), keys)
    Path(again["calls"]).rename(kept := tmp_path / "kept.sqlite")
    Path(again["calls"]).write_bytes(b"\0" * 100)
    assert "is damaged; remove it" in str(ask(film).exception)
    kept.rename(again["calls"])
    planned = ask(film, "--plan")
    assert planned.stdout.splitlines()[-1] == "nothing is left to be called"
    existing = ask(film, "--sheet", tmp_path / "sheet.png")
    assert "already exists" in str(existing.exception)


@pytest.mark.slow
def test_memory_is_the_same_in_process_and_over_http_and_at_any_speed(
    film: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = said(ask(film, "--json", "--concurrency", 1))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with serving(tmp_path / "log") as server:
        far = said(ask(film, *config(tmp_path, server), "--json"))
        planned = said(ask(film, *config(tmp_path, server), "--json", "--plan"))
    assert remembered(far) == remembered(near)
    assert (far["examiner"], near["examiner"]) == ("openai:examiner", "offline:examiner")
    assert planned["plan"]["calls"] == 0


@pytest.mark.slow
def test_calls_that_failed_are_named_and_only_those_are_repeated(
    film: Path, tmp_path: Path
) -> None:
    mishaps = (Mishap("status", nth=2, status=400), Mishap("status", nth=5, status=400))
    with serving(tmp_path / "log", Manners(mishaps=mishaps)) as server:
        typed = (*config(tmp_path, server), "--concurrency", 1)
        done = ask(film, *typed, "--json")
        found = said(done, 3)
        assert "--retry-failed" in done.stderr
        assert len(found["failures"]) == 2
        assert any(one["caption"] == "" for one in found["scenes"])
        before = len(server.events("arrived"))
        assert remembered(said(ask(film, *typed, "--json"), 3)) == remembered(found)
        assert len(server.events("arrived")) == before
        assert said(ask(film, "--json"))["failures"] == {}  # another examiner's, kept beside
        mended = said(ask(film, *typed, "--json", "--retry-failed"))
        assert len(server.events("arrived")) > before
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert mended["failures"] == {}
    assert all(one["caption"] for one in mended["scenes"])
    assert max(sent.values()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "sent_before"),
    [(signal.SIGINT, 2), (signal.SIGKILL, 4)],
)
def test_a_look_that_is_cut_off_goes_on_and_pays_nothing_twice(
    film: Path, tmp_path: Path, number: signal.Signals, sent_before: int
) -> None:
    with serving(tmp_path / "log", Manners(latency_s=(0.2, 0.2))) as server:
        typed = ("scenes", film, *config(tmp_path, server), "--concurrency", 1, "--json")
        planned = said(ask(film, *typed[2:], "--plan"))
        whole = planned["plan"]["calls"]
        with Life(command("arena", *map(str, typed))) as life:
            life.until(lambda: len(server.events("sent")) >= sent_before)
            life.interrupt(number)
            code = life.end()
            assert code == (130 if number == signal.SIGINT else -signal.SIGKILL)
            assert ("to continue, repeat the command" in life.said) == (number == signal.SIGINT)
        calls = Path(planned["calls"])
        paid = committed_keys(calls.parent, calls.name)
        left = said(ask(film, *typed[2:], "--plan"))["plan"]["calls"]
        found = said(ask(film, *typed[2:]))
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert len(found["scenes"]) == 3
    assert len(paid) >= sent_before - 1
    assert {key: sent[key] for key in paid} == dict.fromkeys(paid, 1)
    assert 0 < left <= round(whole - len(paid), 1)


@pytest.mark.slow
def test_a_plan_counts_calls_and_dollars_and_leaves_no_file(film: Path, home: Path) -> None:
    found = said(ask(film, "--examiner", "openai:gpt-4o", "--plan", "--json"))
    # Three captions and finds, two passes, and merged scenes that may be captioned anew.
    assert 8 <= found["plan"]["calls"] <= 11
    assert 0 < found["plan"]["cost_usd"] < found["plan"]["bound90_usd"]
    assert found["scenes"] is None
    assert not Path(found["calls"]).exists()
    assert list(home.rglob("*.sqlite")) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [("nothing.mp4", "there is no file"), ("", "is a folder"), ("notes.txt", "notes.txt")],
)
def test_what_is_no_video_is_refused_in_a_line(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no video")
    refused = ask(tmp_path / name)
    assert words in str(refused.exception)
    assert "\n" not in str(refused.exception)


def memory_of(text: str) -> SceneMemory:
    box = (0.25, 0.25, 0.75, 0.75)
    seen = [
        Appearance(scene=n, description=text, time_s=4.0 * n - 4, box=box if n == 1 else None)
        for n in (1, 2)
    ]
    return SceneMemory(
        video="v",
        duration_s=8.0,
        scenes=tuple(
            Scene(number=n, start_s=4.0 * n - 4, end_s=4.0 * n, caption=text, shots=())
            for n in (1, 2)
        ),
        objects=(SceneObject(id="o1", name=text, appearances=tuple(seen)),),
        failures={"scenes-v:shot-2": text},
    )


def shown(memory: SceneMemory, jpeg: bytes = b"") -> SceneReport:
    video = Video(
        id="v", sha256="0" * 64, path="v.mp4", size_bytes=1, duration_s=8, width_px=64,
        height_px=36, fps=8, codec="h264",
    )  # fmt: skip
    pictures = tuple(ScenePictures((4.0 * n,), (jpeg,)) for n in (0, 1))
    return SceneReport(
        ScenesOrder(Path("v.mp4")), video, "offline:examiner", Path("c"), 2, memory, None, pictures
    )


def test_words_of_an_examiner_are_shown_as_they_are_and_command_no_terminal() -> None:
    console = Console(file=io.StringIO(), width=200, force_terminal=True, color_system="truecolor")
    memory = memory_of(HOSTILE)
    console.print(ReportView(scenes_report(shown(memory), memory)))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[2J" in text
    assert "\x1b[2J" not in text
    assert "[red]$(id)" in text
    assert "failed, shot-2" in text
    assert misquoting(scenes_report(shown(memory), memory)) == []


def test_clips_beyond_the_first_are_counted() -> None:
    memory = memory_of("kettle")
    scenes = tuple(
        Scene(number=n, start_s=5.0 * n, end_s=5.0 * n + 5, caption=f"{n}", shots=())
        for n in range(1, 31)
    )
    long = memory.model_copy(update={"scenes": scenes, "objects": ()})
    report = scenes_report(shown(long), long)
    assert report.sentences[-1].text.endswith("s24 and 7 more")
    assert misquoting(report) == []


def test_a_box_is_drawn_around_an_object_where_one_was_said() -> None:
    held = io.BytesIO()
    Image.new("RGB", (200, 100), (10, 10, 10)).save(held, "JPEG", quality=95)
    memory = memory_of("kettle")
    first, second = scene_shots(shown(memory, held.getvalue()), memory)
    assert (first.label, first.note) == ("s1  0.0 s", "o1")
    assert second.jpeg == held.getvalue()
    with Image.open(io.BytesIO(first.jpeg)) as drawn:
        edge = drawn.getpixel((150, 50))
        inside = drawn.getpixel((100, 50))
    assert isinstance(edge, tuple)
    assert isinstance(inside, tuple)
    assert max(abs(a - b) for a, b in zip(edge, COLOURS[0], strict=True)) < 60
    assert max(inside) < 60
    assert boxed(held.getvalue(), []) != first.jpeg


def test_a_sheet_has_so_many_pictures_at_most_and_those_are_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_of("kettle")
    jpegs = []
    for colour in ("red", "lime"):
        held = io.BytesIO()
        Image.new("RGB", (200, 100), colour).save(held, "JPEG", quality=95)
        jpegs.append(held.getvalue())
    pictures = tuple(ScenePictures((4.0 * n,), (jpeg,)) for n, jpeg in enumerate(jpegs))
    whole = replace(shown(memory), pictures=pictures)

    def greens() -> int:
        write_scene_sheet(whole, memory, tmp_path / "sheet.png")
        with Image.open(tmp_path / "sheet.png") as sheet:
            colours = sheet.convert("RGB").getcolors(1_000_000) or []
        return sum(n for n, rgb in colours if isinstance(rgb, tuple) and rgb[1] > 240 > 2 * rgb[0])

    assert greens() > 5000
    monkeypatch.setattr(videoautoarena.runs.making.scenes.sheet, "MOST_PICTURES", 1)
    assert greens() == 0


def test_objects_that_come_back_are_listed_first() -> None:
    memory = memory_of("kettle")
    (back,) = memory.objects
    once = back.model_copy(update={"name": "spoon", "appearances": back.appearances[:1]})
    objects = (once, back.model_copy(update={"id": "o2"}))
    memory = memory.model_copy(update={"objects": objects})
    console = Console(file=io.StringIO(), width=200)
    console.print(ReportView(scenes_report(shown(memory), memory)))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line.split()[0] for line in lines if line.startswith("o")] == ["object", "o2", "o1"]


def test_what_is_kept_is_of_one_examiner_as_it_is_asked() -> None:
    ours = PromptSet.load(dialogues=True)
    others = (
        MODEL.with_settings(model="offline:other"),
        MODEL.with_settings(max_frames=3),
    )
    names = {name_of("v", one, ours) for one in (MODEL, *others)}
    assert len(names | {name_of("w", MODEL, ours)}) == 4
    assert name_of("v", MODEL, PromptSet.load(dialogues=True)) in names
    for role in SCENE_SLOTS:
        mine = PromptSet.from_texts(
            {**ours.texts, role: f"{ours.texts[role]} Mine."},
            contracts=ours.contracts,
            reading=ours.reading,
        )
        names.add(name_of("v", MODEL, mine))
    assert len(names) == 3 + len(SCENE_SLOTS)


def test_a_plan_takes_off_what_the_journal_has_of_its_own_video_alone(tmp_path: Path) -> None:
    nonces = [Nonce(scope=f"{scope_of('v')}:shot-{n}", role="scene_captioner") for n in (1, 2)]
    calls = [call(nonce.scope, nonce=nonce) for nonce in nonces]
    out = play(tmp_path / "out", [battle(slot(video(), 0))], calls=calls)
    config = RunConfig.of_manifest(manifest())
    shots = [(0.0, 4.0), (4.0, 8.0)]

    def captions(video: str, store: Store | None) -> tuple[float, int]:
        calls = scene_calls(config.examiner, video, shots, answered_in(store))
        lines = {line.role: line for line in plan_lines(config, calls, store)}
        return lines["scene_captioner"].calls, lines["scene_captioner"].most_calls

    with Store.open(out / "run.sqlite", write=False) as store:
        expected, most = captions("v", None)
        # A shot may be captioned again once it is merged, and each call be repaired.
        assert most == (2 + 1) * REPAIR
        assert captions("v", store) == (pytest.approx(expected - 2), most - 2)
        assert captions("w", store) == (expected, most)


@pytest.mark.slow
def test_frames_of_scenes_and_of_dialogues_lie_apart_and_are_loaded_by_their_id(
    film: Path, tmp_path: Path
) -> None:
    [video] = find_videos(film.parent).videos
    files = {video.id: film}
    videos = {video.id: video}
    few = Sampling(frames=4, size_px=64)

    async def sizes() -> list[tuple[int, int]]:
        async with Decoders(FrameCache()) as decoders:
            with Store.create(tmp_path / "calls.sqlite", {"schema": 1}) as store:
                store.add_videos([video])
                scenes = scene_frames(store, decoders, files=files, videos=videos)
                others = RunFrames(store, decoders, files=files, sampling=few, videos=videos)
                load = load_of(scenes, others)
                found = []
                for one, spans in ((scenes, [(0.0, 2.5)]), (others, [(0.0, 2.5)]), (others, WHOLE)):
                    frames = await one.frames(video.id, spans)
                    (jpeg,) = await load(frames.video, [frames.frames[0].digest])
                    with Image.open(io.BytesIO(jpeg)) as picture:
                        found.append((picture.width, len(frames.frames)))
        return found

    assert asyncio.run(sizes()) == [(320, 5), (64, 4), (64, 4)]
