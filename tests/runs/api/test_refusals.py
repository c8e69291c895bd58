"""What Python refuses is told in the words of Python: arguments and calls, and no flag."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

import videoautoarena as va
from tests.support.loopback import Manners, Mishap, serving
from tests.support.small_benches import freeze_ground
from tests.support.small_runs import toml
from tests.support.task_sets import choice, write_set
from tests.support.whole_runs import KEY
from videoautoarena.video.folder.find import find_videos

PAIR = ("offline:hawk", "offline:mole")
EXAMINER = "offline:examiner"
CARELESS: dict[str, Any] = {"model": "openai:careless", "base_url": "http://127.0.0.1:1/v1"}


class Ground:
    """A run, the bench of it, a set of tasks and what lies about them, which no test writes to."""

    def __init__(self, place: Path) -> None:
        freeze_ground(place, seconds=2)
        self.place = place
        self.videos = place / "videos"
        self.out = place / "out"
        videos = find_videos(self.videos).videos
        self.tasks = place / "tasks"
        write_set(self.tasks, [choice(one.id) for one in videos], videos=self.videos)
        self.real = place / "real.jsonl"
        self.real.write_text(json.dumps({"question": "Which tea is it?", "video": "clip00.mp4"}))
        self.odd = place / "odd"
        self.odd.mkdir()
        (self.odd / "note.txt").write_text("no video")
        self.one_sided = place / "one_sided.jsonl"
        line = json.dumps({"model_a": "a", "model_b": "b", "winner": "model_a"})
        self.one_sided.write_text(f"{line}\n" * 3)
        self.config = place / "arena.toml"
        self.config.write_text(toml({"careless": CARELESS}))

    @property
    def run(self) -> va.Run:
        return va.open_run(self.out)

    @property
    def bench(self) -> va.Bench:
        return va.open_bench(self.place / "bench")

    @property
    def set(self) -> va.Bench:
        return va.open_bench(self.tasks)

    def simulate(self, **how: Any) -> va.Run:
        given = {"models": PAIR, "out": self.place / "new", "config": self.config, "quiet": True}
        return va.simulate(how.pop("videos", self.videos), **{**given, **how})

    def play(self, **how: Any) -> object:
        models = how.pop("models", ["offline:owl"])
        return self.bench.run(models, **{"videos": self.videos, "quiet": True, **how})


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("refused"))


REFUSED: dict[str, tuple[Callable[[Ground], object], str]] = {
    "one model": (lambda g: g.simulate(models=["offline:owl"]), "models="),
    "a model twice": (lambda g: g.simulate(models=["offline:owl"] * 2), "twice"),
    "no examiner": (lambda g: g.simulate(models=["careless", "offline:owl"]), "examiner="),
    "a stand-in judges": (
        lambda g: g.simulate(
            models=["careless", "offline:owl"], examiner="careless", judge="offline:judge",
            allow_self_judging=True,
        ),
        "allow_offline_judge=True",
    ),
    "a contestant judges": (
        lambda g: g.simulate(models=["careless", "offline:owl"], examiner="careless"),
        "allow_self_judging=True",
    ),
    "a judge twice": (
        lambda g: g.simulate(examiner=EXAMINER, judge=["offline:judge", "offline:judge"]),
        "judge=",
    ),
    "a cap without price": (
        lambda g: g.simulate(
            models=["careless", "offline:owl"], examiner="careless", judge="careless",
            allow_self_judging=True, max_usd=1.0,
        ),
        "max_usd=",
    ),
    "no rule": (lambda g: g.simulate(until="tomorrow"), "until="),
    "no round": (lambda g: g.simulate(rounds=0), "rounds="),
    "a rate of another policy": (lambda g: g.simulate(policy="uniform", fps=2), "policy='fps'"),
    "no facts": (lambda g: g.simulate(facts="nowhere.csv"), "facts='none'"),
    "no users": (lambda g: g.simulate(personas=Path("nowhere.jsonl")), "personas="),
    "no folder of a run": (lambda g: g.simulate(out=g.odd), "out="),
    "a file for a run": (lambda g: g.simulate(out=g.real), "out="),
    "fewer rounds": (lambda g: g.simulate(out=g.out, models=(), rounds=-1), "rounds="),
    "another run": (lambda g: g.simulate(out=g.out, seed=9), "va.simulate(out="),
    "a blind judge": (
        lambda g: g.simulate(
            models=["offline:owl", "offline:hawk"], examiner=EXAMINER, judge="seer",
            config=seer(g), quiet=True,
        ),
        "allow_blind_referee=True",
    ),
    "no run": (lambda g: va.open_run(g.odd), "did you mean"),
    "a bench for a run": (lambda g: va.open_run(g.place / "bench"), "va.open_bench"),
    "a newcomer that plays": (lambda g: va.add(g.out, "offline:hawk", quiet=True), "rounds="),
    "a newcomer for a stand-in": (
        lambda g: va.add(g.out, "careless", config=g.config, quiet=True), "judge="
    ),
    "untagged": (lambda g: g.run.categories(), "va.tag("),
    "untagged parts": (lambda g: g.run.leaderboard(by="question-category"), "va.tag("),
    "untagged questions of real users": (
        lambda g: va.realism(g.out, g.real, classifier=EXAMINER, quiet=True), "va.tag("
    ),
    "untagged sheet": (lambda g: va.check_tags(g.out, EXAMINER, quiet=True), ""),
    "two ways of telling": (
        lambda g: va.realism(g.out, g.real, classifier=EXAMINER, categories="words"), "categories="
    ),
    "no category in a file": (lambda g: g.run.realism(g.real, categories="file"), "categories="),
    "no label": (lambda g: g.run.leaderboard(labels=True), ""),
    "labels and style": (lambda g: g.run.leaderboard(labels=True, style=True), "labels=True"),
    "nobody to be an anchor": (lambda g: g.run.leaderboard(anchor="nobody=1"), "anchor="),
    "no number for an anchor": (lambda g: g.run.leaderboard(anchor="nobody=nan"), ""),
    "no finite rating": (lambda g: va.rate(g.one_sided, fit="mle"), "fit='mle'"),
    "no style": (lambda g: va.rate(g.one_sided, style=True), "style=True"),
    "a drawless run": (lambda g: va.rate(g.one_sided, reweight=True), "reweight"),
    "most of nothing": (lambda g: va.freeze(g.out, g.place / "f", most=3), "hard=True"),
    "hard and separating": (
        lambda g: va.freeze(g.out, g.place / "f", hard=True, separating=True), "separating=True"
    ),
    "separating nothing": (lambda g: va.freeze(g.out, g.place / "f", separating=True), "size="),
    "topics of nothing": (
        lambda g: va.freeze(g.out, g.place / "f", embeddings="x"), "length_matched=True"
    ),
    "names of nothing": (
        lambda g: va.freeze(g.out, g.place / "f", name_topics=EXAMINER), "name_topics="
    ),
    "no such language": (lambda g: va.freeze(g.out, g.place / "f", language="elf"), "language="),
    "no licence": (lambda g: va.freeze(g.out, g.place / "f", only_licence=[""]), "only_licence="),
    "no such licence": (
        lambda g: va.freeze(g.out, g.place / "f", only_licence=["mine"]), "only_licence="
    ),
    "no such stratum": (lambda g: va.freeze(g.out, g.place / "f", size=2, by=["x"]), "by="),
    "untagged strata": (
        lambda g: va.freeze(g.out, g.place / "f", size=2, by=["question-category"]), "va.tag("
    ),
    "no hard question": (
        lambda g: va.freeze(g.out, g.place / "f", hard=True, quiet=True), "hard=True"
    ),
    "videos that are gone": (
        lambda g: va.freeze(g.out, g.place / "f", videos=g.odd, with_videos=True), "videos="
    ),
    "one length of a ladder": (
        lambda g: va.cut_tasks(g.videos, g.place / "c", ladder=True, seconds=[60]), "seconds="
    ),
    "no such length": (lambda g: va.cut_tasks(g.videos, g.place / "c", seconds=[1]), "seconds="),
    "a set among its videos": (lambda g: va.cut_tasks(g.videos, g.videos / "set"), "to="),
    "too many written": (
        lambda g: va.write_tasks(g.videos, g.place / "w", kinds="summary", n=99, quiet=True), "n="
    ),
    "no place for a set": (lambda g: va.write_tasks(g.videos, g.real / "w", quiet=True), ""),
    "no results": (lambda g: g.set.score(), "bench.run("),
    "no rulings": (lambda g: g.bench.score(judge="nobody"), ""),
    "no games": (lambda g: g.bench.score(anchor="nobody"), ""),
    "published anyway": (lambda g: g.bench.score(as_published=True), "as_published=True"),
    "an anchor of tasks": (lambda g: g.set.score(anchor="x"), "anchor="),
    "parts of tasks": (lambda g: g.set.score(by="duration"), "by="),
    "no videos": (lambda g: g.play(videos=None), "videos="),
    "no video in a folder": (lambda g: g.play(videos=g.odd), "videos="),
    "rounds of preferences": (lambda g: g.play(history="own"), "history="),
    "two anchors": (lambda g: g.play(models=["offline:owl"], anchor="offline:owl"), "models="),
    "a panel against an anchor": (
        lambda g: g.play(anchor="selected", judge=["offline:judge", "careless"], config=g.config,
                         allow_offline_judge=True),
        "judge=",
    ),
    "a bench model twice": (lambda g: g.play(models=["offline:owl", "offline:owl"]), "twice"),
    "an anchor of choices": (
        lambda g: g.set.run(["offline:owl"], anchor="x", videos=g.videos), "anchor="
    ),
    "a judge of choices": (
        lambda g: g.set.run(["offline:owl"], judge="offline:judge", videos=g.videos), "judge="
    ),
    "what cannot be probed": (lambda g: g.bench.probe(), ""),
    "no such probe": (lambda g: g.set.probe(["offline:owl"], videos=g.odd), "videos="),
    "nothing to plan": (lambda g: va.audit.plan(g.out), ""),
    "no such trial": (lambda g: va.audit(g.out, trials=["nix"]), ""),  # type: ignore[list-item]
    "a panel with one judge": (
        lambda g: va.rejudge(g.out, ["offline:judge", "offline:judge"], quiet=True), "twice"
    ),
    "no batches": (
        lambda g: va.tag(g.out, "careless", config=unbatched(g), batch=True, quiet=True),
        "batch=True",
    ),
}  # fmt: skip
"""What is asked for to what the refusal has to name, if anything."""


def seer(ground: Ground) -> Path:
    """Return a file with a judge that is sent no frames."""
    file = ground.place / "seer.toml"
    file.write_text(toml({"seer": {**CARELESS, "max_frames": 0}}))
    return file


def unbatched(ground: Ground) -> Path:
    """Return a file with a model whose provider takes no batches."""
    file = ground.place / "unbatched.toml"
    local = {**CARELESS, "model": "ollama:careless", "key_env": "LOOPBACK_KEY"}
    file.write_text(toml({"careless": local}))
    return file


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_arguments_and_calls_and_no_flag(
    ground: Ground, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ask, named = REFUSED[case]
    with pytest.raises(va.ArenaError) as refused:
        ask(ground)
    said = str(refused.value)
    assert named in said
    assert not re.search(r"(?<![\w-])--[a-z]", said), said


def test_what_a_run_says_as_it_begins_and_fails_names_no_flag(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = Manners(mishaps=(Mishap("status", "judge", status=401, times=99),))
    with serving(tmp_path / "log", wrong) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        judge = ChatOpenAI(model="judge", base_url=url, api_key=KEY, max_retries=0)
        given: dict[str, Any] = {"out": tmp_path / "out", "models": PAIR, "rounds": 1, "limit": 1}
        with pytest.raises(va.Unfinished) as failed:
            va.simulate(ground.videos, judge=judge, **given)
    said = f"{capsys.readouterr().err}\n{failed.value}"
    assert "va.simulate(out=" in said
    assert f"go to 127.0.0.1:{server.port} for ChatOpenAI judge: at most" in said
    # The one that is left is a command's, by its name.
    assert re.findall(r"(?<![\w-])--[a-z][a-z-]*", said.replace("simulate --plan", "")) == []
