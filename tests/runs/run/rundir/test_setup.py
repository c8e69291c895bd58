"""The settings of a run, for people: complete, and without a word of any machine."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.golden import exported, unpack
from tests.support.played import battle, call, invoke, manifest, play, slot, video
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.memory.store.store import Store


def test_a_stored_run_says_who_played_and_by_which_rules(tmp_path: Path) -> None:
    (found,) = exported(unpack(tmp_path / "arena-out"), "setup")
    assert (found["name"], found["seed"], found["rounds"]) == ("arena-out", 0, 4)
    assert found["roles"]["judges"] == ["offline:judge"]
    assert set(found["roles"]["contestants"]) | {"offline:judge", "offline:examiner"} == set(
        found["cast"]
    )
    assert found["cast"]["offline:mole"] == {
        "model": "offline:mole",
        "max_frames": 4,
        "parameters": {},
        "detail": None,
    }
    assert found["contracts"] == 1
    assert {"judge", "evolver", "contestant"} <= set(found["prompts"])
    assert found["sampling"]["frames"] == 128


def test_work_is_that_of_a_status_and_begins_with_the_first_process(tmp_path: Path) -> None:
    trial = f"{TRIAL_SCOPE}repeat:x:judge"
    calls = [call(slot(video(), 0).id), call(trial), call(trial, latency_s=2.0)]
    out = play(tmp_path / "out", [battle(slot(video(), 0))], calls=calls)
    assert exported(out, "setup")[0]["began_s"] is None
    with Store.open(out / "run.sqlite", write=True) as store:
        clock = iter((0.0, 60.0))
        store.sessions.begin(clock=lambda: next(clock))
        store.put_file("x", "y")
        began_s = store.sessions.all()[0].began_at_s
    (found,) = exported(out, "setup")
    assert found["began_s"] == began_s
    assert found["work"] == json.loads(invoke("status", out, "--json").stdout)["work"]
    assert found["work"]["seconds"] == 60.0
    assert found["work"]["calls_per_minute"] == 1.0


def test_no_address_key_variable_or_folder_is_in_it(tmp_path: Path) -> None:
    entry = {
        "model": "openai:x",
        "max_frames": 4,
        "endpoint": "gpu7.example.org:8000",
        "base_url": "http://gpu7.example.org:8000/v1",
        "key_env": "SECRET_OF_MINE",
        "timeout_s": 1.0,
        "parameters": {"temperature": 0.5},
    }
    cast = {**manifest()["cast"], "hawk": entry}
    out = play(tmp_path / "out", [], settings=manifest(cast=cast))
    told = invoke("export", out, "--what", "setup").stdout
    assert '"temperature": 0.5' in told
    for private in ("example.org", "SECRET_OF_MINE", str(tmp_path), "in-process"):
        assert private not in told
