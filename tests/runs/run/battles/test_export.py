"""A run's calls and battles leave it as lines that any program reads."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import (
    battle,
    call,
    invoke,
    judging,
    lineage,
    manifest,
    play,
    slot,
    video,
)
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Attempt, CallRow
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.battles import export as exporting
from videoautoarena.runs.run.battles.export import export, lines_of
from videoautoarena.runs.run.rundir.reader import open_run

CALLS = [call(slot(video(), 0).id, reply=f"{number}\ud800\n\x1b[2J") for number in range(7)]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("played") / "out", lineage(video()), calls=CALLS)


def parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def quiet(_number: int, _total: int) -> None:
    """Say nothing."""


def test_a_call_is_one_line_with_all_that_is_kept_of_it(out: Path) -> None:
    result = invoke("export", out)
    assert (result.exit_code, result.output.isascii()) == (0, True)
    first, *others = parsed(result.output)
    assert len(others) == 6
    assert first["schema"] == 1
    nonce = {name: first.pop(name) for name in ("scope", "role", "generation", "ordinal")}
    assert CallRow.model_validate({k: first[k] for k in first if k != "schema"} | {"nonce": nonce})
    assert first["reply"] == CALLS[0].reply


def test_pages_leave_nothing_out(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PAGE", 3)
    with open_run(out) as run:
        total, lines = lines_of(run, "calls")
        assert [json.loads(line)["key"] for line in lines] == [row.key for row in CALLS]
        assert total == 7


def test_trials_leave_as_their_records(tmp_path: Path) -> None:
    (one,) = lineage(video())[:1]
    held = Trial(
        id="repeat:x",
        kind="repeat",
        battle=one.id,
        video=one.video,
        model="offline:judge",
        judging=judging(analyses=None),
    )
    out = play(tmp_path / "out", [one])
    with Store.open(out / "run.sqlite", write=True) as store:
        asyncio.run(store.evidence.put_trial(held))
    (told,) = parsed(invoke("export", out, "--what", "trials").output)
    assert told.pop("schema") == 1
    assert Trial.model_validate(told) == held


def test_battles_say_whether_they_count(tmp_path: Path) -> None:
    slots = [slot(video(), 0), slot(video(), 0, ordinal=1, generation=1)]
    out = play(tmp_path / "out", map(battle, slots), slots=slots)
    told = parsed(invoke("export", out, "--what", "battles").output)
    assert [(one["id"], one["superseded"]) for one in told] == [
        (slots[0].id, True),
        (slots[1].id, False),
    ]


@pytest.mark.parametrize(
    ("endpoint", "told"),
    [
        ("gpu7.example.org:8000", "own server"),
        ("gpu7.example.org", "own server"),
        ("time:8000", "own server"),
        ("api.openai.com", "api.openai.com"),
        ("mistralai", "mistralai"),
        ("in-process", "in-process"),
    ],
)
def test_servers_of_ones_own_are_not_named_and_providers_are(
    tmp_path: Path, endpoint: str, told: str
) -> None:
    host = endpoint.partition(":")[0]
    why = f"no answer from {endpoint}, says {host}: timed out"
    attempt = Attempt(kind="timeout", reason=why, waited_s=0)
    row = call(slot(video(), 0).id, endpoint=endpoint, failure=why, attempts=(attempt,))
    cast = {"hawk": manifest()["cast"]["hawk"] | {"endpoint": endpoint}}
    failed = judging(verdict="failed", reason=why)
    void = battle(slot(video(), 0), verdict="void", reason=why, verdicts=(failed,))
    out = play(tmp_path / "out", [void], calls=[row], settings=manifest(cast=cast))
    case = {"kind": "repeat", "battle": void.id, "video": void.video, "model": "offline:judge"}
    with Store.open(out / "run.sqlite", write=True) as store:
        asyncio.run(store.evidence.put_trial(Trial(id="repeat:x", judging=failed, **case)))
    (found,) = parsed(invoke("export", out).output)
    (fought,) = parsed(invoke("export", out, "--what", "battles").output)
    (tried,) = parsed(invoke("export", out, "--what", "trials").output)
    said = f"no answer from {told}, says {told}: timed out"
    assert found["endpoint"] == told
    assert found["failure"] == found["attempts"][0]["reason"] == fought["reason"] == said
    assert [one["reason"] for one in (*fought["verdicts"], tried["judging"])] == [said, said]


def test_a_file_is_written_whole_and_replaced_only_when_told_to(out: Path, tmp_path: Path) -> None:
    to = tmp_path / "calls.jsonl"
    assert invoke("export", out, "--to", to).exit_code == 0
    assert to.read_text() == invoke("export", out).output
    to.write_text("mine")
    refused = invoke("export", out, "--to", to).exception
    assert isinstance(refused, BadInput)
    assert "--force" in str(refused)
    assert to.read_text() == "mine"
    assert invoke("export", out, "--to", to, "--force").exit_code == 0
    assert len(parsed(to.read_text())) == 7


def test_a_broken_run_leaves_the_old_file_and_no_draft(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "calls.jsonl").write_text("old")

    def stop(_number: int, _total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "REPORT_EVERY", 2)
    with pytest.raises(KeyboardInterrupt):
        export(out, folder / "calls.jsonl", what="calls", force=True, on_count=stop)
    assert [file.name for file in folder.iterdir()] == ["calls.jsonl"]
    assert (folder / "calls.jsonl").read_text() == "old"


@pytest.mark.parametrize("name", ["out/run.sqlite", "out/run.sqlite-wal", "out", "gone/calls"])
def test_where_nothing_can_be_written_is_named(out: Path, name: str) -> None:
    with pytest.raises(BadInput, match=name.split("/")[-1]):
        export(out, out.parent / name, what="calls", force=True, on_count=quiet)
    with open_run(out) as run:
        assert len(run.battles) == 3


def test_a_run_without_calls_is_an_empty_file(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    assert export(out, tmp_path / "calls", what="calls", force=False, on_count=quiet) == 0
    assert (tmp_path / "calls").read_bytes() == b""
