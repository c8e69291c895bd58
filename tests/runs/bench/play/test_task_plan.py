"""What a plan says tasks will take is what they take: calls, tokens and dollars."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.canned import billing
from tests.support.clips import draw_folder
from tests.support.loopback import Loopback, ask_offline, serving
from tests.support.small_benches import calls_of, run_bench
from tests.support.task_sets import choice, free, write_set
from tests.support.whole_runs import KEY
from videoautoarena.memory.records.records import CallRow
from videoautoarena.video.folder.find import find_videos

FRAME_TOKENS = 85
NEAR = 0.2
ITEMS = 16
"""Of choice as many as of free text, about two videos."""
ROLES = ("contestant", "scene_marker")
PRICES = {"hawk": (2.5, 10.0), "mole": (0.15, 0.6), "judge": (2.0, 8.0)}
FRAMES = {"hawk": 64, "mole": 4, "judge": 64}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(log, brain=billing(ask_offline, frame_tokens=FRAME_TOKENS)) as running:
        yield running


@pytest.fixture
def ground(tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    videos = find_videos(draw_folder(tmp_path / "videos", 2, seconds=3)).videos
    items = [
        make(video.id, k) for video in videos for k in range(ITEMS // 4) for make in (choice, free)
    ]
    write_set(tmp_path / "set", items, videos=tmp_path / "videos")
    lines = ['[roles]\njudge = "judge"']
    for name, (read, written) in PRICES.items():
        lines += [f'[models.{name}]\nmodel = "openai:{name}"\nbase_url = "{server.openai_url}"']
        lines += [f'key_env = "LOOPBACK_KEY"\nframe_tokens = {FRAME_TOKENS}']
        lines += [f"max_frames = {FRAMES[name]}"]
        lines += [f"price = {{ input_usd = {read}, output_usd = {written} }}"]
    (tmp_path / "arena.toml").write_text("\n".join(lines) + "\n")
    return tmp_path


def bench(ground: Path, *typed: object) -> Any:
    where = ("--videos", ground / "videos", "--config", ground / "arena.toml", "--json")
    done = run_bench(ground / "set", *where, *typed)
    assert done.return_value == 0, done.output
    return json.loads(done.stdout)


def said(plan: Any, name: str) -> float:
    """Return what a plan expects."""
    tokens = plan["input_tokens"] + plan["output_tokens"]
    return float({**plan, "tokens": tokens}[name])


def at_most(plan: Any, name: str) -> float:
    """Return the most that a plan says; of tokens it says none."""
    return {"calls": sum(plan["calls_at_most"].values()), "cost_usd": plan["bound90_usd"]}.get(
        name, math.inf
    )


def taken(rows: list[CallRow]) -> dict[str, float]:
    return {
        "calls": len(rows),
        "tokens": sum(row.usage.total or 0 for row in rows),
        "cost_usd": sum(row.cost_usd or 0.0 for row in rows),
    }


@pytest.mark.parametrize(
    "typed",
    [
        ("--model", "mole"),
        pytest.param(("--model", "hawk", "--sweep", "frames=2,8,32,64"), marks=pytest.mark.slow),
        pytest.param(("--model", "hawk,mole"), marks=pytest.mark.slow),
    ],
)
def test_a_plan_is_within_a_fifth_of_what_is_then_taken(
    ground: Path, typed: tuple[str, ...]
) -> None:
    known = set[str]()
    for limit in (3 * ITEMS // 4, ITEMS):
        plan = bench(ground, *typed, "--limit", limit, "--plan")
        assert {line["measured"] for line in plan["lines"] if line["calls"]} == {bool(known)}
        bench(ground, *typed, "--limit", limit)
        rows = [row for row in calls_of(ground / "set") if row.key not in known]
        known |= {row.key for row in rows}
        assert {row.nonce.role for row in rows} == set(ROLES)
        for name, amount in taken(rows).items():
            assert said(plan, name) == pytest.approx(amount, rel=NEAR), name
            assert amount <= at_most(plan, name)
    spent = taken(calls_of(ground / "set"))["cost_usd"]
    done = bench(ground, *typed, "--plan")
    assert (done["calls"], done["lines"], done["cost_usd"]) == (0, [], 0.0)
    assert done["spent_usd"] == pytest.approx(spent, abs=1e-6)


@pytest.mark.slow
def test_what_calls_took_so_far_mends_what_was_stated(ground: Path) -> None:
    file = ground / "arena.toml"
    stated = f"frame_tokens = {FRAME_TOKENS}"
    file.write_text(file.read_text().replace(stated, f"frame_tokens = {4 * FRAME_TOKENS}"))
    first, rest = (("--model", "hawk", "--limit", limit) for limit in (3 * ITEMS // 4, ITEMS))
    wrong = bench(ground, *first, "--plan")
    bench(ground, *first)
    took = taken(calls_of(ground / "set"))
    assert said(wrong, "tokens") > 2 * took["tokens"]
    plan = bench(ground, *rest, "--plan")
    bench(ground, *rest)
    all_took = taken(calls_of(ground / "set"))
    for name, amount in took.items():
        assert said(plan, name) == pytest.approx(all_took[name] - amount, rel=NEAR), name


@pytest.mark.slow
def test_a_bench_is_planned_by_what_another_one_took_here(ground: Path) -> None:
    shutil.copytree(ground / "set", ground / "other")
    where = ("--videos", ground / "videos", "--config", ground / "arena.toml", "--json")
    typed = ("--model", "hawk", "--sweep", "frames=2,8")
    run_bench(ground / "other", *where, *typed)
    plan = bench(ground, *typed, "--plan")
    assert {line["basis"] for line in plan["lines"]} == {"machine"}
    bench(ground, *typed)
    took = taken(calls_of(ground / "set"))
    for name, amount in took.items():
        assert said(plan, name) == pytest.approx(amount, rel=NEAR), name
    assert took["cost_usd"] <= plan["bound90_usd"] < 1.6 * plan["cost_usd"]


def test_a_plan_for_a_person_has_a_line_a_model_and_role_and_its_price(ground: Path) -> None:
    where = ("--videos", ground / "videos", "--config", ground / "arena.toml")
    told = run_bench(ground / "set", *where, "--model", "hawk,offline:owl", "--plan").stdout
    heads = [line.split()[:2] for line in told.splitlines()]
    assert [head for head in heads if head[1:] in (["contestant"], ["scene_marker"])] == [
        ["hawk", "contestant"],
        ["judge", "scene_marker"],
        ["offline:owl", "contestant"],
    ]
    assert "prices of" in told
    assert "judge, hawk" in told or "hawk, judge" in told
    assert "spent so far $0.00" in told
    assert not (ground / "set" / "results").exists()


def test_without_a_price_a_plan_says_so_and_guesses_no_sum(ground: Path) -> None:
    file = ground / "arena.toml"
    file.write_text(file.read_text().replace(f"price = {{ input_usd = {PRICES['hawk'][0]}", "#"))
    plan = bench(ground, "--model", "hawk,mole", "--plan")
    assert (plan["cost_usd"], plan["prices"]["hawk"]) == (None, None)
    assert {line["model"]: line["cost_usd"] is None for line in plan["lines"]} == {
        "hawk": True, "judge": False, "mole": False,
    }  # fmt: skip


@pytest.mark.slow
def test_subtitles_are_counted_as_they_are_sent(ground: Path) -> None:
    bare = bench(ground, "--model", "hawk", "--plan")["input_tokens"]
    for video in list((ground / "videos").iterdir()):
        cue = "00:00:00,200 --> 00:00:02,500\n" + "so it is said " * 50
        video.with_suffix(".srt").write_text(f"1\n{cue}\n")
    plan = bench(ground, "--model", "hawk", "--plan")
    more = plan["input_tokens"] - bare
    assert more == pytest.approx(ITEMS * 14 * 50 / 4, rel=0.1)
    bench(ground, "--model", "hawk")
    assert said(plan, "tokens") == pytest.approx(
        taken(calls_of(ground / "set"))["tokens"], rel=NEAR
    )
