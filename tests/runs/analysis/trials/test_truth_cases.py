"""Known truth put to judges: who looks is right, who goes by the words is right half the time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.audited import by_key
from tests.support.loopback import serving
from tests.support.onlooker import onlooker
from tests.support.small_runs import TRIO, toml
from tests.support.textured import draw_textures
from tests.support.whole_runs import KEY
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.records import Sampling
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.trial_figures import audit_truth
from videoautoarena.runs.analysis.trials.runner import TrialOrder, hold_trials
from videoautoarena.runs.analysis.trials.trial import Material, TrialCase
from videoautoarena.runs.analysis.trials.truth_cases import truth_cases
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import begin
from videoautoarena.runs.run.rundir.reader import RUN_FILE, RunReader
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

CASES = 32
FRAMES = 48
"""Few, since every judge is sent them all with every case."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("known truth")
    videos = draw_textures(folder / "videos", 4)
    return begun(videos, folder / "out")


def begun(videos: Path, out: Path) -> Path:
    """Begin a run of which nothing is played: known truth needs no battle."""
    config = resolve(RunRequest(models=TRIO, rounds=1)).config
    config = config.model_copy(update={"sampling": Sampling(frames=FRAMES)})
    found = find_videos(videos)
    prompts = PromptSet.load()
    begin(out, config, prompts=prompts, found=found, folder=videos).store.close()
    return out


def cases_of(out: Path, *, count: int | None = CASES, **changed: Any) -> tuple[list, list[str]]:
    """Return the cases that a run's videos give, and what is said of those they do not."""

    async def make() -> tuple[list[TrialCase], list[str]]:
        with Store.open(out / RUN_FILE, write=True) as store:
            cache = FrameCache(out.parent / "cache" / "videoautoarena" / "frames")
            async with Decoders(cache, workers=1) as decoders:
                material = _material(store, out, decoders, count, changed)
                return await truth_cases(material), material.notes

    return asyncio.run(make())


def _material(
    store: Store, out: Path, decoders: Decoders, count: int | None, changed: dict[str, Any]
) -> Material:
    config = RunConfig.of_manifest(store.manifest()).model_copy(update=changed)
    videos = {video.id: video for video in store.videos()}
    folder = out.parent / "videos"
    files = {id_: folder / v.path for id_, v in videos.items() if (folder / v.path).exists()}
    run_frames = RunFrames(store, decoders, files=files, sampling=config.sampling, videos=videos)
    judges = tuple(config.model_of(alias) for alias in config.judges)
    return Material(RunReader(out, store), config, run_frames, decoders, files, judges, count)


@pytest.fixture(scope="module")
def cases(out: Path) -> list[TrialCase]:
    return cases_of(out)[0]


def test_every_text_is_right_once_and_wrong_once(cases: list[TrialCase]) -> None:
    rights: dict[tuple[str, ...], list[str | None]] = {}
    for case in cases:
        rights.setdefault(tuple(case.case.texts().values()), []).append(case.right)
    assert len(cases) == CASES
    assert all(sorted(right) == ["a", "b"] for right in rights.values())


def test_kinds_forms_and_seats_are_balanced(cases: list[TrialCase]) -> None:
    names = Counter(case.name for case in cases)
    kinds = Counter(name.partition("-")[0] for name in names.elements())
    forms = Counter(name.partition("-")[2] for name in names.elements())
    assert set(kinds.values()) == {8}
    assert set(forms.values()) == {8}
    for form in forms:
        seats = Counter(case.right for case in cases if case.name.endswith(form))
        assert seats == {"a": 4, "b": 4}
    assert len({case.id for case in cases}) == CASES


def test_a_case_shows_its_own_clip_and_can_load_it(out: Path, cases: list[TrialCase]) -> None:
    ids = {video.id for video in Store.open(out / RUN_FILE, write=False).videos()}
    assert {case.video for case in cases} == ids
    assert not {case.frames.video for case in cases} & ids
    assert all(case.frames.subtitles is None and case.load for case in cases)


def test_equal_runs_give_equal_cases_and_another_seed_others(
    out: Path, cases: list[TrialCase]
) -> None:
    def brief(made: list[TrialCase]) -> list[tuple[Any, ...]]:
        return [(case.id, case.case, case.frames, case.right) for case in made]

    assert brief(cases_of(out, count=5)[0]) == brief(cases[:5])
    assert brief(cases_of(out, count=4, seed=1)[0]) != brief(cases[:4])


def test_one_video_gives_all_but_foreign_footage(tmp_path: Path) -> None:
    begun(draw_textures(tmp_path / "videos", 1), tmp_path / "out")
    made, notes = cases_of(tmp_path / "out", count=12)
    assert {case.name.partition("-")[0] for case in made} == {"card", "order", "count"}
    assert len(made) == 12
    [note] = notes
    assert "(needle): pattern0.mp4: there is no second video" in note


def test_a_video_of_a_second_gives_nothing_and_says_why(tmp_path: Path) -> None:
    begun(draw_textures(tmp_path / "videos", 1, seconds=1), tmp_path / "out")
    made, notes = cases_of(tmp_path / "out")
    assert made == []
    assert "(card): pattern0.mp4: lasts less than 3 s" in notes[0]


def test_videos_that_are_gone_are_missed_in_words(tmp_path: Path) -> None:
    videos = draw_textures(tmp_path / "videos", 1)
    begun(videos, tmp_path / "out")
    videos.rename(tmp_path / "elsewhere")
    made, notes = cases_of(tmp_path / "out")
    assert made == []
    assert notes[0] == "1 video of the run missing; pass the folder with videos="
    assert any("(card): pattern0.mp4: is not there any more" in note for note in notes)


@pytest.fixture(scope="module")
def trials(out: Path, cases: list[TrialCase]) -> Iterator[list[Trial]]:
    with (
        pytest.MonkeyPatch.context() as env,
        serving(out.parent / "log", brain=onlooker) as server,
    ):
        env.setenv("LOOPBACK_KEY", KEY)
        # Where the clips are that were made before.
        env.setenv("XDG_CACHE_HOME", str(out.parent / "cache"))
        table = {"base_url": server.openai_url, "key_env": "LOOPBACK_KEY"}
        names = ("looker", "longer")
        tables = {name: {**table, "model": f"openai:{name}"} for name in names}
        arena = out.parent / "arena.toml"
        arena.write_text(toml(tables))
        order = TrialOrder(
            ("truth",), judges=(*names, "offline:judge"), cases=CASES, config=arena, concurrency=8
        )
        run_async(hold_trials(out, order))
    with Store.open(out / RUN_FILE, write=False) as store:
        yield store.evidence.trials()


def findings(trials: list[Trial], judge: str) -> dict[str, Finding]:
    mine = [trial for trial in trials if trial.judging.judge == judge]
    found = by_key(audit_truth(AuditInput([], {}, trials=mine)))
    return {key.removesuffix(f".{judge}"): one for key, one in found.items()}


@pytest.mark.slow
def test_a_judge_that_looks_is_right(trials: list[Trial]) -> None:
    found = findings(trials, "looker")
    accuracy = found["truth.accuracy"]
    assert (accuracy.value, accuracy.n, accuracy.is_alarm) == (1.0, CASES, False)
    assert found["truth.longer"].value == 0.5
    assert not found["truth.longer"].is_alarm
    assert "looker is right in 100.0 %" in accuracy.sentence


@pytest.mark.slow
def test_a_judge_that_does_not_look_is_right_half_the_time(trials: list[Trial]) -> None:
    accuracy = findings(trials, "longer")["truth.accuracy"]
    assert (accuracy.value, accuracy.n, accuracy.is_alarm) == (0.5, CASES, True)
    assert "not significantly different" in accuracy.sentence


@pytest.mark.slow
def test_a_judge_that_likes_length_is_found_out_by_form(trials: list[Trial]) -> None:
    found = findings(trials, "longer")
    by_form = {key: found[f"truth.{key}"].value for key in ("long-short", "short-long")}
    assert by_form == {"long-short": 1.0, "short-long": 0.0}
    assert found["truth.longer"].value == 1.0
    assert found["truth.longer"].sentence.endswith("Too few to tell.")


@pytest.mark.slow
def test_the_offline_judge_is_right_on_what_it_can_read_and_abstains_from_the_rest(
    trials: list[Trial],
) -> None:
    found = findings(trials, "offline:judge")
    assert found["truth.accuracy"].value > 0.9
    assert found["truth.accuracy"].n == CASES - 8
    assert found["truth.abstained"].value == 0.25
    assert "it abstained in 8 more" in found["truth.accuracy"].sentence


@pytest.mark.slow
def test_a_trial_says_how_it_came_about(trials: list[Trial]) -> None:
    trial = next(t for t in trials if t.name == "count-short-long")
    assert trial.right in ("a", "b")
    assert set(trial.texts) == {"persona", "question", "answer_a", "answer_b"}
    assert len(trial.frames) == FRAMES


def test_cases_take_turns_in_the_languages_of_the_run_and_say_which(out: Path) -> None:
    cases, notes = cases_of(out, count=64, languages=("de", "en", "hi"))
    spoken = Counter(case.case.language for case in cases)
    assert spoken == {"de": 32, "en": 32}
    assert any("no case with a known answer is worded in hi" in note for note in notes)
    by_kind = Counter((case.name.partition("-")[0], case.case.language) for case in cases)
    assert set(by_kind.values()) == {8}
