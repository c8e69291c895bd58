"""Paid jobs from Python: what the commands print, planned for free, and never half in silence."""

from __future__ import annotations

import asyncio
import csv
import inspect
import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

import videoautoarena as va
from tests.support.clips import draw_folder
from tests.support.forks import ended, started
from tests.support.loopback import Manners, Mishap, serving, serving_apart
from tests.support.played import invoke
from tests.support.small_runs import play
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, committed_keys
from videoautoarena.runs.api.jobs import PaidCall
from videoautoarena.runs.bench.freeze.freeze import BenchExtras
from videoautoarena.runs.bench.freeze.selection import BenchSelection
from videoautoarena.runs.bench.play.cast import CastRequest
from videoautoarena.runs.bench.play.runner import BenchOrder
from videoautoarena.runs.jobs.paid_job import JobOrder

EXAMINER = "offline:examiner"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run over three clips and questions of real users, which no test writes to."""
    place = tmp_path_factory.mktemp("ground")
    play(draw_folder(place / "videos", 3, seconds=2), place / "out", rounds=2)
    asked = [f"Which {thing} does the video show?" for thing in ("tea", "hill", "kite", "sail")]
    lines = [{"question": text, "video": f"clip0{k}.mp4"} for k in range(3) for text in asked]
    (place / "real.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return place


@pytest.fixture
def out(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "out", tmp_path / "out"))


def printed(*words: object) -> Any:
    return json.loads(invoke(*words, "--json").stdout)


def test_an_audit_holds_trials_first_and_returns_what_the_command_prints(out: Path) -> None:
    plain = va.audit(out, quiet=True)
    assert plain.to_json() == printed("audit", out)
    run = va.open_run(out)
    tried = va.audit(run, trials=["repeat", "attack"], cases=2, quiet=True)
    assert tried.to_json() == printed("audit", out) == run.audit().to_json()
    assert len(tried) > len(plain)
    # Held before, they cost nothing again.
    assert va.audit.plan(run, trials=["attack"], cases=2).most_calls == 0
    assert va.audit.plan(run, trials="attack", cases=2).most_calls == 0
    with pytest.raises(va.BadInput, match="'nix' is not a kind of trial"):
        va.audit(out, trials=["nix"])  # type: ignore[list-item]
    with pytest.raises(va.BadInput, match="nothing to plan"):
        va.audit.plan(out)


def test_other_judges_are_held_against_the_run(out: Path) -> None:
    found = va.rejudge(out, "offline:judge", cases=3, quiet=True)
    words = ("rejudge", out, "--judge", "offline:judge", "--cases", 3)
    assert found.to_json() == printed(*words)
    assert {row["judge"] for row in found.rows} == {"offline:judge"}
    assert "offline:judge" in found.to_text()
    assert "<table>" in found._repr_html_()


def test_questions_are_tagged_and_held_against_real_ones(ground: Path, out: Path) -> None:
    real = ground / "real.jsonl"
    before = committed_keys(out)
    plan = va.tag.plan(out, EXAMINER, sample=2)
    assert (plan.questions, plan.calls) == (2, 2)
    assert committed_keys(out) == before
    tags = va.tag(out, EXAMINER, quiet=True)
    assert tags.to_json() == printed("categories", "show", out, "--classifier", EXAMINER)
    plain = va.realism(out, real, quiet=True)
    assert plain.to_json() == printed("realism", out, "--against", real)
    plans = va.realism.plan(out, real, classifier=EXAMINER, difficulty=True, grader=EXAMINER)
    assert plans.classifier is not None
    assert plans.grader is not None
    assert plans.as_json().keys() == {"schema", "classifier", "grader"}
    asked: dict[str, Any] = {"classifier": EXAMINER, "difficulty": True}
    graded = va.realism(out, real, **asked, quiet=True)
    words = ("--classifier", EXAMINER, "--difficulty")
    assert graded.to_json() == printed("realism", out, "--against", real, *words)
    with pytest.raises(va.BadInput, match="exclude each other"):
        va.realism(out, real, classifier=EXAMINER, categories="words")


def test_people_s_sheet_is_compared_as_the_command_does(out: Path, tmp_path: Path) -> None:
    va.tag(out, EXAMINER, quiet=True)
    sheet = tmp_path / "sheet.csv"
    invoke("categories", "check", out, "--to", sheet, "--sample", 4)
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row.update({name: "yes" for name, text in row.items() if not text})
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(va.BadInput, match="nothing to plan"):
        va.check_tags.plan(out, sheet)
    found = va.check_tags(out, sheet, quiet=True)
    assert found.to_json() == printed("categories", "check", out, "--against", sheet)
    assert "precision" in found.to_text()


def test_a_loop_of_ones_own_awaits_the_same(out: Path) -> None:
    async def tag() -> va.Categories:
        return await va.tag.aio(out, EXAMINER, sample=2, quiet=True)

    assert asyncio.run(tag()).to_json()["tagged"] == 2


def examiner(port: int) -> ChatOpenAI:
    url = f"http://127.0.0.1:{port}/v1"
    return ChatOpenAI(model="examiner", base_url=url, api_key=KEY, max_retries=0)


def test_a_chat_model_classifies_as_an_object_until_a_cap_and_the_same_call_goes_on(
    out: Path, tmp_path: Path
) -> None:
    with serving(tmp_path / "log") as server:
        whole = examiner(server.port)
        asked: dict[str, Any] = {"classifier": whole, "concurrency": 1, "quiet": True}
        with pytest.raises(va.Unfinished, match="cap is reached") as capped:
            va.tag(out, max_tokens=1, **asked)
        assert capped.value.kind == "cap"
        tags = va.tag(out, max_tokens=float("inf"), **asked)
        questions = tags.to_json()["questions"]
        assert questions == va.tag.plan(out, whole).known
        assert len(server.events("arrived")) == questions
    assert KEY.encode() not in (out / "run.sqlite").read_bytes()


PROGRAM = """
import sys, videoautoarena as va
from langchain_openai import ChatOpenAI
model = ChatOpenAI(model="examiner", base_url=sys.argv[2], api_key="k", max_retries=0)
try:
    tags = va.tag(sys.argv[1], model, concurrency=2)
except va.Unfinished as why:
    print(why.kind)
else:
    print(tags.to_json()["questions"], "tagged")
"""


@pytest.mark.slow
def test_ctrl_c_lets_paid_calls_of_a_job_finish_and_the_same_call_goes_on(
    out: Path, tmp_path: Path
) -> None:
    with serving_apart(tmp_path / "log", "--latency-s", "0.3", "0.5") as server:
        line = [sys.executable, "-c", PROGRAM, str(out), server.openai_url]
        before = committed_keys(out)
        pipe = subprocess.PIPE
        with started(line, stdout=pipe, stderr=pipe, text=True) as program:
            until = time.monotonic() + 60
            while len(committed_keys(out) - before) < 3 and time.monotonic() < until:
                time.sleep(0.1)
            program.send_signal(signal.SIGINT)
            told, said = program.communicate(timeout=60)
        assert told == "interrupted\n", said
        assert "finishing" in said
        assert len(committed_keys(out) - before) == len(server.events("arrived"))
        again = ended(line)
        sent = len(server.events("arrived"))
        assert again.stdout == f"{sent} tagged\n", again.stderr


def test_calls_that_fail_too_often_are_told_and_asked_again_on_demand(
    out: Path, tmp_path: Path
) -> None:
    wrong = Manners(mishaps=(Mishap("status", "examiner", status=400, times=99),))
    with serving(tmp_path / "log", wrong) as server:
        model = examiner(server.port)
        with pytest.raises(va.Unfinished, match="retry_failed=True") as failed:
            va.tag(out, model, sample=3, quiet=True)
    assert failed.value.kind in ("failed", "hopeless")


def test_a_set_is_frozen_by_options_and_models_are_asked_before(
    ground: Path, out: Path, tmp_path: Path
) -> None:
    some = va.freeze(out, tmp_path / "some", size=2, by="duration", licence="CC0-1.0", seed=3)
    assert len(some) <= 2
    typed = ("--size", 2, "--by", "duration", "--licence", "CC0-1.0", "--seed", 3)
    assert printed("freeze", out, "--to", tmp_path / "some", *typed)["was_there"]
    with pytest.raises(va.BadInput, match="needs hard=True"):
        va.freeze(out, tmp_path / "other", most=3)
    with pytest.raises(va.BadInput, match="needs topics"):
        va.freeze(out, tmp_path / "other", name_topics=EXAMINER)
    with pytest.raises(va.BadInput, match="there is no setting 'sise'"):
        va.freeze(out, tmp_path / "other", sise=3)  # type: ignore[call-arg]
    with pytest.raises(va.BadInput, match="nothing to plan"):
        va.freeze.plan(out, tmp_path / "other")
    assert not (tmp_path / "other").exists()
    assert some.run.plan([EXAMINER.replace("examiner", "owl")], videos=ground / "videos").calls


def test_sets_are_made_of_videos(ground: Path, tmp_path: Path) -> None:
    videos = ground / "videos"
    plan = va.write_tasks.plan(videos, tmp_path / "set", kinds="summary")
    assert plan.plan is not None
    assert (plan.wanted, plan.bench) == (3, None)
    bench = va.write_tasks(videos, tmp_path / "set", kinds=["summary"], at_most=True, quiet=True)
    words = ("--kind", "summary", "--at-most")
    again = printed("tasks", "make", videos, "--to", tmp_path / "set", *words)
    assert (again["bench"], again["was_there"]) == (bench.digest, True)
    with pytest.raises(va.BadInput, match="needs data from outside"):
        va.write_tasks(videos, tmp_path / "other", kinds=["ego"])
    with pytest.raises(va.BadInput, match="two lengths at least"):
        va.cut_tasks(videos, tmp_path / "other", ladder=True, seconds=[60])
    with pytest.raises(va.BadInput, match="is none of object_reference"):
        va.make_dialogues(videos, tmp_path / "other", abilities="wit")
    assert va.make_dialogues.plan(videos, tmp_path / "other", per_video=2).plan is not None


@pytest.mark.slow
def test_tasks_are_cut_and_dialogues_made(sample_clips: Path, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    for clip in sorted(sample_clips.glob("*.mp4"))[:4]:
        (tmp_path / "clips" / clip.name).symlink_to(clip)
    asked: dict[str, Any] = {"kinds": ["needle"], "n": 1, "seconds": [15], "longest_px": 64}
    cut = va.cut_tasks(sample_clips, tmp_path / "cut", **asked, quiet=True)
    assert (cut.manifest.kind, len(cut)) == ("choice", 1)
    talks = va.make_dialogues(
        tmp_path / "clips",
        tmp_path / "talks",
        abilities=["content_summary"],
        at_most=True,
        quiet=True,
    )
    assert talks.manifest.kind == "dialogue"
    assert len(talks) > 0


def test_scenes_of_a_video_are_remembered_once(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    clip = next((ground / "videos").glob("*.mp4"))
    plan = va.scenes.plan(clip)
    assert plan.plan is not None
    assert plan.plan.calls > 0
    found = va.scenes(clip, quiet=True)
    again = printed("scenes", clip)
    assert (found.rows, found.objects) == (again["scenes"], again["objects"])
    assert "clips for dialogues" in str(found)


def test_options_are_named_as_the_fields_that_they_set() -> None:
    def named(*records: type) -> set[str]:
        return {field.name for record in records for field in fields(record)}

    own = {*va.JobOptions.__annotations__}
    assert own == named(JobOrder) - {"caps"} | {"max_usd", "max_tokens", "quiet"}
    frozen = named(BenchSelection, BenchExtras) - {"topic_names", "topics_named_by"}
    assert {*va.FreezeOptions.__annotations__} == frozen | own
    of_bench = named(BenchOrder) | {*CastRequest._fields}
    arguments = {"models", "judges", "leave", "wanted", "caps"}
    assert {*va.BenchOptions.__annotations__} == of_bench - arguments | own


def test_a_number_that_cannot_be_is_refused_before_anything(out: Path) -> None:
    for wrong in ({"concurrency": 0}, {"sample": 0}, {"patience_s": -1.0}, {"max_usd": 0.0}):
        with pytest.raises(va.BadInput, match=r"give a number from|a number above 0"):
            va.tag(out, EXAMINER, **wrong)  # type: ignore[arg-type]


def test_each_call_shows_its_arguments_and_its_text() -> None:
    calls = [one for name in va.__all__ if isinstance(one := getattr(va, name), PaidCall)]
    assert len(calls) == 10
    for call in (*calls, va.Bench.run, va.Bench.probe):
        assert call.__doc__
        assert "Raises:" in call.__doc__ or "those of `audit`" in call.__doc__
        assert inspect.signature(call).return_annotation is inspect.Signature.empty


def test_a_run_of_voids_and_one_whose_server_is_gone_are_no_success(
    ground: Path, tmp_path: Path, terminal: Terminal
) -> None:
    wrong = Manners(mishaps=(Mishap("status", "judge", status=400, times=99),))
    cast: dict[str, Any] = {"models": ["offline:hawk", "offline:mole"], "rounds": 1, "limit": 1}
    out = tmp_path / "void"
    with serving(tmp_path / "log", wrong) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        judge = ChatOpenAI(model="judge", base_url=url, api_key=KEY, max_retries=0)
        asked = {"out": out, "judge": judge, "quiet": True, **cast}
        with pytest.raises(va.Unfinished, match="100% of the slots are void") as failed:
            va.simulate(ground / "videos", **asked)
    assert failed.value.kind == "failed"
    assert va.open_run(out).status().settled == 3
    gone = {"out": tmp_path / "gone", "judge": judge, "quiet": True, "patience": 0.0, **cast}
    with pytest.raises(va.Unfinished, match="could not be reached") as lost:
        va.simulate(ground / "videos", **gone)
    assert lost.value.kind == "unreachable"


@pytest.mark.parametrize("name", ["max_usd", "max_tokens", "concurrency", "patience_s", "sample"])
def test_a_word_where_a_number_belongs_is_told_in_one_line(out: Path, name: str) -> None:
    how: Any = {name: "5"}
    with pytest.raises(va.BadInput, match="number"):
        va.tag.plan(out, **how)
