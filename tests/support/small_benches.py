"""A bench of two clips, frozen from a run of one round, and what its playing left behind."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from tests.support.clips import draw_folder
from tests.support.small_runs import play
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import Result as Played
from videoautoarena.runs.bench.format.results import read_results
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.cli.program.main import arena


def freeze_ground(place: Path, *, seconds: int = 3) -> Path:
    """Make `videos`, a run `out` over them and its `bench` in a folder, and return the folder."""
    play(draw_folder(place / "videos", 2, seconds=seconds), place / "out", rounds=1)
    freeze(place / "out", place / "bench")
    return place


def run_bench(bench: Path, *typed: object, word: str = "run") -> Result:
    """Play a bench, or what another word does with it; `return_value` is the exit code."""
    line = ["bench", word, str(bench), *map(str, typed)]
    return CliRunner().invoke(arena, line, standalone_mode=False)


def results_of(bench: Path) -> dict[str, Played]:
    """Return the results on a bench, by model."""
    return {result.model: result for result in read_results(open_bench(bench))}


def calls_of(bench: Path) -> list[CallRow]:
    """Return every call that the playing of a bench has made."""
    with Store.open(bench / "results" / CALLS, write=False) as store:
        return store.journal.calls()
