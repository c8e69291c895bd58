"""A run becomes a bench, the bench is played by the same models, and both say the same of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.typed import run

CAST = "offline:hawk,offline:owl,offline:mole,offline:blind,offline:parrot"


@pytest.mark.slow
def test_a_bench_orders_the_models_as_its_run_does(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "v", 10)
    out = tmp_path / "out"
    bench = tmp_path / "bench"
    run("simulate", "--videos", videos, "--out", out, "--rounds", "2", "--models", CAST, "--quiet")
    run("arena", "freeze", out, "--to", bench)
    assert json.loads(run("arena", "bench", "verify", bench, "--videos", videos, "--json"))["ok"]
    typed = ("--videos", videos, "--model", CAST, "--quiet", "--json")
    played = json.loads(run("arena", "bench", "run", bench, *typed))
    assert (played["settled"], played["voids"], played["forfeits"]) == (played["of"], 0, 0)
    agreement = json.loads(run("arena", "bench", "check", bench, "--run", out, "--json"))[
        "agreement"
    ]
    found = {figure["key"]: figure for figure in agreement["figures"]}
    assert found["agree.spearman"]["value"] >= 0.9
    assert found["agree.confidence"]["n"] > 0
    assert found["agree.confidence"]["value"] == 1.0
    assert agreement["turned"] == []
    told = run("arena", "bench", "compare", bench, "offline:parrot", "offline:hawk")
    assert "offline:hawk is better than offline:parrot" in told
