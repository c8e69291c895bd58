"""Who can be put on trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.analysis.trials.trial import Leave, with_judges
from videoautoarena.runs.run.config.arena_file import ArenaFile, arena_file
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest

NO_LEAVE = Leave()


@pytest.fixture
def config() -> RunConfig:
    return resolve(
        RunRequest(models=("openai:gpt-4o", "openai:gpt-4o-mini"), examiner="openai:o3")
    ).config


def file_with(**models: str) -> ArenaFile:
    return ArenaFile.model_validate({"models": {n: {"model": m} for n, m in models.items()}})


def test_nobody_named_leaves_the_runs_own_judges(config: RunConfig) -> None:
    assert with_judges(config, (), file=ArenaFile(), leave=NO_LEAVE) == config
    assert config.judges == ("openai:o3",)


def test_a_name_of_the_file_and_a_model_itself_both_judge(config: RunConfig) -> None:
    file = file_with(strict="google_genai:gemini-2.5-pro")
    tried = with_judges(config, ("strict", "openai:gpt-5"), file=file, leave=NO_LEAVE)
    assert tried.judges == ("strict", "openai:gpt-5")
    assert tried.cast["strict"].model == "google_genai:gemini-2.5-pro"
    assert tried.cast.keys() > config.cast.keys()


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("openai:gpt-5", "openai:gpt-5"), "twice"),
        (("offline:hawk",), "cannot judge"),
        (("offline:judge",), "allow_offline_judge=True"),
        (("openai:gpt-4o",), "allow_self_judging=True"),
        (("nobody",), "is no model"),
    ],
)
def test_who_cannot_judge_is_told_why(
    config: RunConfig, names: tuple[str, ...], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        with_judges(config, names, file=ArenaFile(), leave=NO_LEAVE)


def test_a_judge_that_is_sent_no_frames_has_to_be_allowed(config: RunConfig) -> None:
    file = ArenaFile.model_validate({"models": {"seer": {"model": "openai:o3", "max_frames": 0}}})
    with pytest.raises(BadInput, match="allow_blind_referee=True"):
        with_judges(config, ("seer",), file=file, leave=NO_LEAVE)
    tried = with_judges(config, ("seer",), file=file, leave=Leave(blind=True))
    assert tried.judges == ("seer",)


def test_leave_can_be_given(config: RunConfig) -> None:
    names = ("offline:judge", "openai:gpt-4o")
    tried = with_judges(config, names, file=ArenaFile(), leave=Leave(offline=True, compete=True))
    assert tried.judges == names


def test_a_name_means_one_model_in_a_run(config: RunConfig) -> None:
    names = ("openai:o3",)
    with pytest.raises(BadInput, match="another model in this run"):
        with_judges(config, names, file=file_with(**{"openai:o3": "openai:gpt-5"}), leave=NO_LEAVE)


def test_an_arena_toml_that_lies_here_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert arena_file(None) == ArenaFile()
    (tmp_path / "arena.toml").write_text('[models.strict]\nmodel = "openai:gpt-5"\n')
    assert set(arena_file(None).models) == {"strict"}
    with pytest.raises(BadInput):
        arena_file(tmp_path / "none.toml")
