"""How videos are looked at: flag beats preset beats file beats default; it is part of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import BadInput, ForeignRun
from videoautoarena.memory.records.records import Sampling
from videoautoarena.runs.run.config.run_config import (
    RunConfig,
    RunSettings,
    about_sampling,
    resolve,
)
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import configured

TABLE = '[sampling]\npolicy = "fps"\nfps = 4.0\nframes = 64\nsize = 256\nfit = "pad"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "arena.toml"
    path.write_text(TABLE)
    return path


def chosen(**typed: object) -> Sampling:
    return resolve(RunRequest(**typed)).config.sampling  # type: ignore[arg-type]


def test_with_nothing_said_frames_are_spread_evenly_over_time() -> None:
    assert chosen() == Sampling()


def test_a_file_says_how_videos_are_looked_at(file: Path) -> None:
    assert chosen(config=file) == Sampling(policy="fps", fps=4, frames=64, size_px=256, fit="pad")


def test_a_flag_beats_the_preset_and_the_preset_beats_the_file(file: Path) -> None:
    assert chosen(config=file, preset="paper").fit == "stretch"
    assert chosen(config=file, preset="paper", fit="keep").fit == "keep"
    assert chosen(config=file, frames=9).frames == 9


def test_another_policy_leaves_the_files_frames_a_second_behind(file: Path) -> None:
    sampling = chosen(config=file, policy="scenes")
    assert (sampling.policy, sampling.fps) == ("scenes", None)


def test_the_policy_fps_is_one_a_second_unless_told() -> None:
    assert chosen(policy="fps").fps == 1.0
    assert chosen(policy="fps", fps=0.5).fps == 0.5


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"fps": 2.0}, "fps= is for policy='fps', and the policy is uniform"),
        ({"fps": 2.0, "policy": "scenes"}, "and the policy is scenes"),
        ({"frames": 1}, "--frames is 1; give a number greater than or equal to 2"),
        ({"size_px": 9000}, "--size is 9000; give a number less than or equal to 4096"),
        ({"quality": 0}, "--quality is 0; give"),
        ({"policy": "fps", "fps": float("nan")}, "--fps is nan; give"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(typed: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput) as refusal:
        chosen(**typed)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_frames_a_second_in_a_file_without_their_policy_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[sampling]\nfps = 2.0\n")
    with pytest.raises(BadInput, match="policy='fps'"):
        chosen(config=path)


@pytest.mark.parametrize(
    "line", ["fps = 0", "frames = 1", "size = 9", "policy = 'all'", "zoom = 2"]
)
def test_a_mistake_in_the_table_is_told_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"[sampling]\n{line}\n")
    with pytest.raises(BadInput, match=f"sampling.{line.split()[0]}"):
        chosen(config=path)


def test_a_run_is_not_continued_with_other_frames_and_is_told_which() -> None:
    begun = resolve(RunRequest(frames=40))
    other = resolve(RunRequest(frames=41))
    with pytest.raises(ForeignRun, match="frames 40, here 41"):
        configured(Path("out"), begun.config, other, generation=1)


def test_a_run_is_not_continued_with_another_model_under_a_name_and_is_told_which(
    tmp_path: Path,
) -> None:
    def chosen_with(model: str) -> RunSettings:
        path = tmp_path / "arena.toml"
        path.write_text(f'[models.one]\nmodel = "offline:{model}"\n')
        return resolve(RunRequest(models=("one", "offline:mole"), config=path))

    begun = chosen_with("hawk")
    with pytest.raises(ForeignRun, match="cast one model offline:hawk, here offline:owl"):
        configured(Path("out"), begun.config, chosen_with("owl"), generation=1)


@pytest.mark.parametrize("said", ["true", "false"])
def test_that_text_in_the_picture_is_no_longer_read_is_said_where_a_file_asks_for_it(
    tmp_path: Path, said: str
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"[sampling]\nocr = {said}\n")
    with pytest.raises(BadInput) as refused:
        chosen(config=path)
    assert str(refused.value) == (
        f"{path}: sampling.ocr was removed, text in the picture is no longer read; take the key out"
    )


def test_sampling_comes_back_from_the_manifest(file: Path) -> None:
    config = resolve(RunRequest(config=file)).config
    assert RunConfig.of_manifest(config.manifest("0.1.0", {})).sampling == config.sampling


@pytest.mark.parametrize(
    ("sampling", "line"),
    [
        (
            Sampling(),
            "frames: up to 128 a video, evenly over time, 512 px on the longer side, quality 85",
        ),
        (
            Sampling(policy="fps", fps=2, fit="pad", decoder="decord"),
            "frames: up to 128 a video, 2 a second, 512 px on a black square, quality 85, "
            "by decord",
        ),
    ],
)
def test_it_is_said_in_one_line(sampling: Sampling, line: str) -> None:
    assert about_sampling(sampling) == line
