"""A model may be named by what stands behind its provider, where that is one model's name only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.played import battle, invoke, manifest, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.cast import entry_of

CAST = ("offline:hawk", "openai:gpt-4o", "openai:gpt-4o-mini", "vllm:Qwen/Qwen2.5-VL-7B", "mine")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hawk", "offline:hawk"),
        ("gpt-4o", "openai:gpt-4o"),
        ("GPT-4o-Mini", "openai:gpt-4o-mini"),
        ("qwen2.5-vl-7b", "vllm:Qwen/Qwen2.5-VL-7B"),
        ("Qwen/Qwen2.5-VL-7B", "vllm:Qwen/Qwen2.5-VL-7B"),
        ("mine", "mine"),
        ("openai:gpt-4o", "openai:gpt-4o"),
    ],
)
def test_a_short_name_stands_for_the_one_model_that_it_fits(typed: str, meant: str) -> None:
    assert in_full(typed, CAST) == meant


@pytest.mark.parametrize("typed", ["gpt", "nobody", "openai", "", "offline:", "Qwen"])
def test_what_fits_no_model_stays_as_it_was_typed(typed: str) -> None:
    assert in_full(typed, CAST) == typed


def test_a_name_of_its_own_beats_one_that_is_short_for_another() -> None:
    assert in_full("hawk", [*CAST, "hawk"]) == "hawk"


def test_a_provider_behind_another_ones_name_is_another_server() -> None:
    assert in_full("openai:gpt-4o", ["proxy:openai:gpt-4o"]) == "openai:gpt-4o"
    assert in_full("OpenAI:GPT-4o", ["openai:gpt-4o"]) == "openai:gpt-4o"


def test_a_name_that_is_short_for_two_models_is_refused_with_both() -> None:
    told = "gpt-4o is short for openai:gpt-4o, google_genai:gpt-4o; write one of them whole"
    with pytest.raises(BadInput, match=told):
        in_full("gpt-4o", [*CAST, "google_genai:gpt-4o"])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run of models with providers, of which two end alike."""
    models = ["offline:hawk", "openai:owl", "google_genai:owl"]
    entries = {
        name: entry_of(name, ArenaFile()).model_dump(mode="json")
        for name in (*models, "offline:judge", "offline:examiner")
    }
    settings = manifest(
        models=models, cast=entries, judges=["offline:judge"], examiner="offline:examiner"
    )
    pair = {"model_a": "offline:hawk", "model_b": "openai:owl"}
    battles = [
        battle(slot(video(), round_), **pair, verdict=verdict)
        for round_, verdict in enumerate(("a", "b", "a"))
    ]
    return play(tmp_path / "out", battles, settings=settings)


@pytest.mark.parametrize(
    "words",
    [
        ("leaderboard", "OUT", "--anchor", "NAME"),
        ("leaderboard", "OUT", "--anchor", "NAME=1200"),
        ("frames", "f2a7901db329", "--run", "OUT", "--model", "NAME"),
        ("add", "OUT", "--model", "NAME", "--videos", "OUT"),
        ("rejudge", "OUT", "--judge", "NAME", "--plan"),
        ("audit", "OUT", "--trials", "repeat", "--judge", "NAME", "--plan"),
        ("bench", "run", "BENCH", "--model", "NAME", "--plan"),
        ("bench", "run", "BENCH", "--judge", "NAME", "--plan"),
        ("bench", "run", "BENCH", "--anchor", "NAME", "--plan"),
    ],
    ids=lambda words: " ".join(words),
)
def test_every_command_takes_a_short_name_and_names_what_it_may_be_short_for(
    out: Path, words: tuple[str, ...]
) -> None:
    bench = out.parent / "bench"
    if "BENCH" in words:
        both = [battle(slot(video(), 3), model_a="google_genai:owl", model_b="openai:owl")]
        given = play(
            out.parent / "more", both, settings=manifest(models=["google_genai:owl", "openai:owl"])
        )
        assert invoke("freeze", given, "--to", bench).exit_code == 0

    def told(name: str) -> str:
        filled = [w.replace("OUT", str(out)).replace("BENCH", str(bench)) for w in words]
        result = invoke(*(word.replace("NAME", name) for word in filled))
        return result.output if result.exception is None else str(result.exception)

    assert "owl is short for" in told("owl")
    assert "google_genai:owl" in told("owl")
    assert "openai:owl" in told("OWL")
    if "BENCH" not in words:
        assert "no model" not in told("hawk")
        assert "does not play" not in told("hawk")
