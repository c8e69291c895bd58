"""What a doctor finds on the machines of a cluster, by their own account."""

from __future__ import annotations

import asyncio
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.typed import Terminal
from videoautoarena.runs.cluster import doctor, probe
from videoautoarena.runs.cluster.connection import Node, own_version
from videoautoarena.runs.cluster.doctor import Examination, examine_machines

KEYS = {
    "hawk": (),
    "openai:gpt-4o": ("OPENAI_API_KEY",),
    "google_genai:gemini-2.5-flash": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
SOUND: dict[str, Any] = {
    "python": platform.python_version(),
    "ray": "2.60.0",
    "empty": ["GOOGLE_API_KEY"],
    "missing": [],
    "free_bytes": 3 << 30,
    "version": own_version(),
}


class Fake:
    """A cluster whose machines say what a test has them say; None: nothing."""

    def __init__(self, **said: Mapping[str, Any] | None) -> None:
        self.said = said

    def nodes(self) -> list[Node]:
        return [Node(f"id-{name}", name, 4) for name in self.said]

    async def probe(
        self, node: Node, _names: Sequence[str], _paths: Sequence[str], /
    ) -> dict[str, Any] | None:
        found = self.said[node.name]
        return None if found is None else dict(found)


def examined(cluster: Fake, videos: Path | None = None) -> Examination:
    return asyncio.run(examine_machines(cluster, KEYS, videos))


def test_a_machine_with_one_of_two_keys_can_play() -> None:
    found = examined(Fake(a=SOUND))
    assert found.machines[0].faults == ()
    assert found.missing == []
    assert list(found.entries()) == [
        ("cluster", "1 of 1 machine can play"),
        (
            "",
            f"a: 4 processors, videoautoarena {own_version()}, Python {SOUND['python']}, "
            "Ray 2.60.0; 3.0 GiB free for the cache",
        ),
    ]


def test_a_worker_without_a_key_is_named_with_the_variable() -> None:
    empty = ["OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"]
    found = examined(Fake(a=SOUND, b=SOUND | {"empty": empty}))
    assert found.machines[1].keys_missing == ("OPENAI_API_KEY", "GOOGLE_API_KEY or GEMINI_API_KEY")
    lines = [text for _, text in found.entries()]
    assert lines[:2] == [
        "1 of 2 machines can play",
        "NOT b: openai:gpt-4o needs a key; set OPENAI_API_KEY; google_genai:gemini-2.5-flash "
        "needs a key; set GOOGLE_API_KEY or GEMINI_API_KEY",
    ]


def test_a_run_could_start_as_long_as_one_machine_can_play() -> None:
    old = SOUND | {"version": "0.0.9"}
    assert examined(Fake(a=SOUND, b=None, c=old)).missing == []
    found = examined(Fake(b=None, c=old))
    assert found.missing == ["no machine of the cluster can play (b: it does not answer)"]
    assert found.machines[1].faults == (
        f"it has videoautoarena 0.0.9, this machine {own_version()}",
    )


def test_a_cluster_without_processors_can_play_nothing() -> None:
    assert examined(Fake()).missing == ["no machine of the cluster has processors to play on"]


def test_a_machine_without_the_package_is_told_to_install_it() -> None:
    lacks = {name: value for name, value in SOUND.items() if name != "version"}
    found = examined(Fake(a=lacks | {"error": "ModuleNotFoundError: No module named 'x'"}))
    assert found.machines[0].version is None
    assert found.machines[0].faults == (
        "videoautoarena cannot be used there (ModuleNotFoundError: No module named 'x'); "
        "install it there",
    )


def test_a_folder_that_a_machine_does_not_see_is_named(tmp_path: Path) -> None:
    found = examined(Fake(a=SOUND | {"missing": [str(tmp_path)]}, b=SOUND), tmp_path)
    assert [one.videos_there for one in found.machines] == [False, True]
    assert found.machines[0].faults == (f"the folder '{tmp_path}' is not there",)


def test_all_faulty_machines_are_named_and_a_few_sound_ones() -> None:
    machines = {f"n{n}": SOUND if n % 2 else None for n in range(60)}
    lines = [text for _, text in examined(Fake(**machines)).entries()]
    assert sum(line.startswith("NOT ") for line in lines) == 30
    assert lines[-1] == ".. and 18 more that can play"


def test_little_room_for_the_cache_stands_out() -> None:
    found = examined(Fake(a=SOUND | {"free_bytes": 1 << 28, "python": "3.99.0"}))
    line = list(found.entries())[1][1]
    assert "ONLY 0.2 GiB free" in line
    assert f"Python 3.99.0 (here {platform.python_version()})" in line


def test_a_probe_names_variables_and_shows_no_value(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(probe.importlib.metadata, "version", lambda _name: "1")
    monkeypatch.setenv("SET_KEY", "sk-planted-0123456789")
    monkeypatch.setenv("BLANK_KEY", " ")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "yet"))
    found = probe.look(["SET_KEY", "BLANK_KEY"], [str(tmp_path), str(tmp_path / "gone")])
    assert found["empty"] == ["BLANK_KEY"]
    assert found["missing"] == [str(tmp_path / "gone")]
    assert found["free_bytes"] > 0
    assert "sk-planted" not in json.dumps(found)


def test_the_command_prints_machines_and_fails_where_none_can_play(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def examine(*_asked: object) -> Examination:
        return await examine_machines(Fake(a=None), KEYS, None)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "examine_cluster", examine)
    terminal = Terminal(capsys)
    said = terminal.arena("doctor", "--engine", "ray")
    assert said.code == 1
    assert "cluster     0 of 1 machine can play\n            NOT a: it does not answer" in said.out
    assert "no machine of the cluster can play (a: it does not answer)" in said.err
    report = json.loads(terminal.arena("doctor", "--engine", "ray", "--json").out)
    assert report["ready"] is False
    assert report["cluster"]["machines"][0]["can_play"] is False


def test_only_machines_that_call_need_the_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def examine(_address: None, keys: Mapping[str, Sequence[str]], _videos: None) -> Any:
        return await examine_machines(Fake(a=SOUND), keys, None)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "examine_cluster", examine)
    models = ("--models", "openai:gpt-4o,openai:gpt-4.1", "--examiner", "openai:gpt-4.1-mini")
    said = Terminal(capsys).arena("doctor", "--engine", "ray", *models)
    assert said.code == 0
    assert "OPENAI_API_KEY" in said.out
    assert "1 of 1 machine can play" in said.out


def test_an_address_alone_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    said = Terminal(capsys).arena("doctor", "--address", "auto")
    assert said.code == 2
    assert "--address goes with --engine ray" in said.err
