"""Who finds clips is part of a run's cast, its plan and its caps; what cannot be is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.letters import Pictures
from videoautoarena.agents.models.registry import build_chat_model, check_keys
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.run.config.disclosure import calls_at_most, remote_notice
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.call_facts import declared_lines

NAMES = ("finder", "offline:mole")
CAST = RunRequest(models=NAMES, examiner="offline:examiner", judge=("offline:judge",), swap=0.0)
SMALL = "frames_per_clip = 2, keep = 2"
PLAIN = f'model = "offline:mole", embeddings = "offline:colours", {SMALL}'


def config_of(folder: Path, retrieval: str, more: str = "") -> RunConfig:
    file = folder / "arena.toml"
    file.write_text(f"[models.finder]\nretrieval = {{ {retrieval} }}\n{more}")
    return resolve(RunRequest(**{**vars(CAST), "config": file})).config


def told_of(config: RunConfig) -> list[str]:
    calls = calls_at_most(config, videos=3, first=10, later=0)
    return list(remote_notice(config, lambda names: sum(calls[of] for of in names), videos=3))


def test_the_model_has_its_frames_from_the_clips_that_are_kept(tmp_path: Path) -> None:
    config = config_of(tmp_path, PLAIN)
    found = config.model_of("finder")
    assert (found.resolved, found.frame_limit("contestant")) == ("offline:mole", 4)
    assert found.retrieval is not None
    assert found.retrieval.embedder.resolved == "offline:colours"
    assert found.retrieval.captioner is None
    assert config.offline
    kept = RunConfig.of_manifest(config.manifest("0", {}))
    assert kept.model_of("finder") == found
    assert kept.identity() == config.identity()


def test_a_cast_without_retrieval_is_written_as_ever(tmp_path: Path) -> None:
    config = config_of(tmp_path, PLAIN)
    cast = config.manifest("0", {})["cast"]
    assert "retrieval" not in cast["offline:mole"]
    assert "retrieval" not in config.identity()["cast"]["offline:mole"]
    other = config_of(tmp_path, PLAIN.replace("keep = 2", "keep = 1"))
    assert other.identity() != config.identity()


def test_calls_of_clips_are_counted_once_a_video_and_of_questions_once_a_slot(
    tmp_path: Path,
) -> None:
    calls = calls_at_most(config_of(tmp_path, PLAIN), videos=3, first=10, later=0)
    assert calls["offline:colours"] == 3 * 64 + 10
    captioned = f'{PLAIN}, captioner = "offline:owl"'
    calls = calls_at_most(config_of(tmp_path, captioned), videos=3, first=10, later=0)
    assert (calls["offline:colours"], calls["offline:owl"]) == (3 * 64 + 10, 3 * 64)
    second = f"[models.second]\nretrieval = {{ {PLAIN.replace('keep = 2', 'keep = 1')} }}\n"
    both = config_of(tmp_path, PLAIN, second)
    both = both.model_copy(update={"cast": {**both.cast, "second": both.cast["finder"]}})
    both = both.model_copy(update={"models": ("finder", "second")})
    assert calls_at_most(both, videos=3, first=10, later=0)["offline:colours"] == 3 * 64 + 10


def test_it_is_said_how_many_frames_a_captioner_is_sent(tmp_path: Path) -> None:
    captioned = f'{PLAIN}, captioner = "openai:gpt-4o"'
    config = config_of(tmp_path, captioned)
    assert not config.offline
    (line,) = told_of(config)
    assert "(up to 2 per call) go to api.openai.com for openai:gpt-4o: at most 192 calls" in line


@pytest.mark.parametrize(
    ("retrieval", "more", "said"),
    [
        ('model = "offline:mole"', "", "models.finder.retrieval.embeddings is missing; add it"),
        ('embeddings = "offline:colours"', "", "models.finder.retrieval.model is missing; add it"),
        (
            f"{PLAIN}, kept = 3",
            "",
            "models.finder.retrieval.kept is not a key here; did you mean keep?",
        ),
        (PLAIN.replace("keep = 2", "keep = 0"), "", "models.finder.retrieval.keep must be greater"),
        (PLAIN.replace("keep = 2", "keep = 3"), "", "models.finder.retrieval.keep: 3 clips of 2"),
        (PLAIN.replace("colours", "owl"), "", "models.finder.retrieval.embeddings: 'offline:owl'"),
        (PLAIN.replace("offline:colours", "no.Such:x"), "", "models.finder.retrieval.embeddings: "),
        (
            PLAIN,
            "max_frames = 4",
            "retrieval stands alone in its table; write max_frames in the table",
        ),
        (PLAIN, 'model = "offline:mole"', "write model in retrieval = { model = .. }"),
        (PLAIN.replace("offline:mole", "finder"), "", "models.finder.retrieval.model: 'finder'"),
        (PLAIN.replace("offline:mole", "embeddings:x.Y:z"), "", "'embeddings:x.Y:z' only embeds"),
        (
            PLAIN.replace("offline:colours", "letters"),
            '[models.letters]\nmodel = "tests.support.letters.Letters:x"\nbase_url = "http://x/v1"',
            "models.finder.retrieval.embeddings: 'letters' embeds and takes no base_url",
        ),
        (PLAIN.replace("offline:colours", "offline:mole"), "", "'offline:mole' speaks, too"),
        (f'{PLAIN}, captioner = "offline:colours"', "", "'offline:colours' speaks, too"),
        (f'{PLAIN}, captioner = "finder"', "", "models.finder.retrieval.captioner: 'finder' has a"),
        (
            PLAIN.replace("offline:colours", "openai:x"),
            '[providers.embeddings]\nchat_model = "tests.support.letters:Letters"',
            "providers.embeddings: this one is built in",
        ),
    ],
)
def test_settings_that_cannot_be_are_one_line(
    tmp_path: Path, retrieval: str, more: str, said: str
) -> None:
    with pytest.raises(BadInput) as wrong:
        config_of(tmp_path, retrieval, more)
    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("role", ["examiner", "judge"])
def test_who_is_sent_clips_alone_can_only_answer(tmp_path: Path, role: str) -> None:
    named = "finder" if role == "examiner" else ("finder",)
    flags = RunRequest(**{**vars(CAST), "models": ("offline:owl", "offline:mole"), role: named})
    (tmp_path / "arena.toml").write_text(f"[models.finder]\nretrieval = {{ {PLAIN} }}")
    with pytest.raises(BadInput, match="'finder' has a retrieval, so that it can only answer"):
        resolve(RunRequest(**{**vars(flags), "config": tmp_path / "arena.toml"}))


def test_a_limit_of_images_is_no_shortfall_of_who_only_finds_clips(tmp_path: Path) -> None:
    limits = "limits = { images_per_request = 8 }"
    captioned = f'{PLAIN}, captioner = "describer"'
    more = f'[models.describer]\nmodel = "offline:owl"\n{limits}'
    config = config_of(tmp_path, captioned, more)
    assert config.scouts == {"offline:colours", "describer"}
    assert list(declared_lines(config)) == []


def test_embeddings_of_a_known_provider_are_reached_like_its_chat_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    texts = PLAIN.replace("offline:colours", "vectors")
    captioned = f'{texts}, captioner = "offline:owl"'
    table = '[models.vectors]\nmodel = "openai:small"\n'
    home = config_of(tmp_path, captioned, table)
    (line,) = told_of(home)
    assert "go to api.openai.com for vectors" in line
    with pytest.raises(BadInput, match="'vectors' needs a key; set OPENAI_API_KEY"):
        check_keys([home.model_of("finder")])
    own = config_of(tmp_path, captioned, f'{table}base_url = "http://127.0.0.1:9/v1"')
    (line,) = told_of(own)
    assert "go to 127.0.0.1:9 for vectors" in line
    check_keys([own.model_of("finder")])


def test_a_class_of_embeddings_is_built_by_the_first_call_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = PLAIN.replace("offline:colours", "tests.support.letters.Pictures:x")
    built = list[str]()
    monkeypatch.setattr(Pictures, "__init__", lambda _self, model: built.append(model))
    found = config_of(tmp_path, texts).model_of("finder").retrieval
    check_keys([config_of(tmp_path, texts).model_of("finder")])
    assert found is not None
    assert built == []
    build_chat_model(found.embedder)
    assert built == ["x"]


def test_embeddings_of_texts_alone_need_a_captioner(tmp_path: Path) -> None:
    texts = PLAIN.replace("offline:colours", "tests.support.letters.Letters:x")
    with pytest.raises(BadInput, match=r"models\.finder\.retrieval\.embeddings: .* name a model"):
        check_keys([config_of(tmp_path, texts).model_of("finder")])
    captioned = config_of(tmp_path, f'{texts}, captioner = "offline:owl"')
    check_keys([captioned.model_of("finder")])
    pictures = texts.replace("Letters", "Pictures")
    check_keys([config_of(tmp_path, pictures).model_of("finder")])


def test_it_is_said_that_captions_leave_the_machine_and_no_frames(tmp_path: Path) -> None:
    texts = PLAIN.replace("offline:colours", "tests.support.letters.Letters:x")
    config = config_of(tmp_path, f'{texts}, captioner = "offline:owl"')
    (line,) = told_of(config)
    assert line.startswith("questions and captions of clips of 3 videos go to tests.support.")
    assert line.endswith("at most 202 calls")
