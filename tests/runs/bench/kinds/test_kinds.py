"""What a set asks for is said by its kind, and what no scoring is there for is not opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.judged import bench_of
from tests.support.played import invoke
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import ITEMS, MANIFEST, digest_of, manifest_bytes
from videoautoarena.runs.bench.kinds.scorings import SCORINGS, PreferenceSets, scoring_of
from videoautoarena.runs.exchange.interop.exports import SET_EXPORTS

LATER = "dialogue"
"""A kind that this version plays, and one that it is taken from does not."""
COMMANDS: list[tuple[object, ...]] = [
    ("run", "--plan"),
    ("run",),
    ("score",),
    ("compare", "owl", "mole"),
    ("check",),
    ("verify",),
    ("export", "--to", "out.json"),
]


def relabel(bench: Path, **changed: Any) -> None:
    """Write other facts into a manifest, with a digest that fits."""
    raw = {**json.loads((bench / MANIFEST).read_text()), **changed}
    del raw["bench"]
    (bench / MANIFEST).write_bytes(manifest_bytes({**raw, "bench": digest_of(raw)}))


def test_each_kind_that_can_be_read_can_be_played() -> None:
    assert ITEMS.keys() == SCORINGS.keys()


def test_a_set_of_preferences_says_nothing_of_its_kind(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 1)
    assert "kind" not in json.loads((bench.folder / MANIFEST).read_text())
    assert isinstance(scoring_of(bench), PreferenceSets)
    relabel(bench.folder, kind="preference")
    assert isinstance(scoring_of(open_bench(bench.folder)), PreferenceSets)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_a_kind_of_a_later_version_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[object, ...]
) -> None:
    bench = bench_of(tmp_path, 1).folder
    monkeypatch.delitem(ITEMS, LATER)
    relabel(bench, kind=LATER, scale={"of": "what this version never heard of"})
    answer = invoke("bench", command[0], bench, *command[1:])
    assert isinstance(answer.exception, BadInput)
    assert str(answer.exception) == (
        f"{bench} is a set of kind {LATER}, which this version does not play; update videoautoarena"
    )


@pytest.mark.parametrize("kind", ["chioce", "", 1, None, ["choice"]])
def test_a_kind_that_nobody_knows_is_a_broken_manifest(tmp_path: Path, kind: object) -> None:
    bench = bench_of(tmp_path, 1).folder
    relabel(bench, kind=kind)
    with pytest.raises(BadInput, match=r"not an intact bench: manifest\.json is invalid: kind"):
        open_bench(bench)
    checked = invoke("bench", "verify", bench)
    assert checked.exit_code == 1
    assert "is invalid: kind" in checked.output


def test_a_set_goes_out_only_in_the_formats_of_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = bench_of(tmp_path, 1).folder
    other = SET_EXPORTS["videoautobench"]._replace(kinds=("choice",))
    formats = {"inspect": SET_EXPORTS["inspect"], "videoautobench": other}
    monkeypatch.setattr("videoautoarena.runs.exchange.interop.exports.SET_EXPORTS", formats)
    typed = ("--to", tmp_path / "out.json", "--format", "videoautobench")
    answer = invoke("bench", "export", bench, *typed)
    assert answer.exit_code == 2
    assert "a set of kind preference goes out as inspect, not as videoautobench" in answer.output
    assert not (tmp_path / "out.json").exists()
