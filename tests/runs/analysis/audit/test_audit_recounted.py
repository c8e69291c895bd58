"""Every figure that an audit prints, held against one computed anew from what a run exports."""

from __future__ import annotations

import ast
import asyncio
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import videoautoarena.runs
from tests.support.audited import entry
from tests.support.clips import draw_folder
from tests.support.played import battle, invoke, judging, manifest, slot, video
from tests.support.played import play as put
from tests.support.recounted import Recount
from tests.support.refigured import Figure
from tests.support.seasons import CAST, Nature, Season
from tests.support.small_runs import play
from videoautoarena.agents.offline import KINDS
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.memory.store.store import Store

STAND_INS = ("hawk", "mole", "terse", "windbag", "blind", "parrot", "trickster")


class Audited(NamedTuple):
    """An audit as it is printed for programs, and its figures computed anew."""

    findings: list[dict[str, Any]]
    again: Recount


def exported(out: Path, what: str) -> list[dict[str, Any]]:
    told = invoke("export", out, "--what", what)
    assert told.exit_code == 0, told.exception
    return [json.loads(line) for line in told.output.splitlines()]


def audit(
    out: Path, cast: dict[str, tuple[str, int | None]], *judges: str, seats_count: bool = False
) -> Audited:
    told = invoke("audit", out, "--json")
    assert told.exit_code == 0, told.exception
    rows, labels, trials = (exported(out, what) for what in ("battles", "labels", "trials"))
    findings: list[dict[str, Any]] = json.loads(told.output)["findings"]
    return Audited(findings, Recount(rows, cast, judges, labels, trials, seats_count))


def stand_ins(place: Path) -> Audited:
    """A run of stand-ins judged from both seatings, by two judges one of whom sees little."""
    videos = draw_folder(place / "videos", 2, seconds=3.5)
    arena = place / "arena.toml"
    arena.write_text('[models.dim]\nmodel = "offline:judge"\nmax_frames = 2\n')
    models = tuple(f"offline:{kind}" for kind in STAND_INS)
    flags = {"models": models, "judge": ("offline:judge", "dim"), "config": arena}
    play(videos, place / "out", swap="all", rounds=4, **flags)
    held = invoke("audit", place / "out", "--trials", "--cases", 8, "--config", arena, "-q")
    assert held.exit_code == 0, held.exception
    drawn = [row for row in exported(place / "out", "battles") if row["verdict"] in "ab"]
    lines = [
        f"{row['id']},anna,{'ab'[k % 2]},{('a', 'b', 'tie')[k % 3]},{'abb'[k % 3]}"
        for k, row in enumerate(drawn)
    ]
    heads = "battle,labeller,verdict,accuracy,helpfulness"
    (place / "labels.csv").write_text("\n".join([heads, *lines]))
    assert invoke("labels", "import", place / "labels.csv", place / "out").exit_code == 0
    cast = {f"offline:{kind}": (f"offline:{kind}", frames) for kind, frames in KINDS.items()}
    cast["dim"] = ("offline:judge", 2)
    return audit(place / "out", cast, "offline:judge", "dim", seats_count=True)


def twins(place: Path) -> Audited:
    """A run of one stand-in under two names, whose judge never sees a tie."""
    films = [video(b"film %d" % k, path=f"film{k}.mp4") for k in range(4)]
    slots = [slot(films[k % 4], k // 4, ordinal=k) for k in range(24)]
    same = {"model_a": "x", "model_b": "y", "answer_a": "A pan.", "answer_b": "A pan."}
    battles = [
        battle(at, **same, verdict="ab"[k % 2], verdicts=(judging(verdict="ab"[k % 2]),))
        for k, at in enumerate(slots)
    ]
    cast = {"x": entry("offline:hawk"), "y": entry("offline:hawk"), "judge": entry("offline:judge")}
    settings = manifest(cast=cast, judges=["judge"], models=["x", "y"])
    put(place / "out", battles, videos=films, slots=slots, settings=settings)
    names: dict[str, tuple[str, int | None]] = dict.fromkeys("xy", ("offline:hawk", 8))
    return audit(place / "out", names | {"judge": ("offline:judge", 8)}, "judge")


async def put_all(store: Store, trials: list[Trial]) -> None:
    for trial in trials:
        await store.evidence.put_trial(trial)


def made_up(place: Path, seed: int, videos: int, nature: Nature, *, panel: bool) -> Audited:
    """A run by dice."""
    given = Season(seed, videos, nature, panel=panel).audited()
    films = {f"v{k}": video(b"film %d" % k, path=f"film{k}.mp4") for k in range(videos)}
    slots = [slot(films[b.video], n, ordinal=n) for n, b in enumerate(given.battles)]
    place_of = {
        b.id: {"id": s.id, "video": s.video} for b, s in zip(given.battles, slots, strict=True)
    }
    battles = [b.model_copy(update=place_of[b.id]) for b in given.battles]
    labels = [one.model_copy(update={"battle": place_of[one.battle]["id"]}) for one in given.labels]
    trials = [
        one.model_copy(update={"battle": at["id"], "video": at["video"]})
        for one in given.trials
        if (at := place_of[one.battle or ""])
    ]
    judges = ["judge", "two", "three"][: 3 if panel else 1]
    settings = manifest(cast=CAST, judges=judges, models=sorted(set(CAST) - {"judge"}))
    put(place / "out", battles, videos=films.values(), slots=slots, settings=settings)
    with Store.open(place / "out" / "run.sqlite", write=True) as store:
        store.evidence.add_labels(labels)
        asyncio.run(put_all(store, trials))
    cast = {name: (str(one["model"]), one["max_frames"]) for name, one in CAST.items()}
    return audit(place / "out", cast, *judges)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Audited]:
    """Runs of many kinds."""

    def place(name: str) -> Path:
        return tmp_path_factory.mktemp(name)

    odd = Nature(seat=0.3, mishaps=0.15)
    return {
        "stand-ins": stand_ins(place("stand-ins")),
        "twins": twins(place("twins")),
        "fair": made_up(place("fair"), 1, 12, Nature(), panel=False),
        "odd panel": made_up(place("odd"), 2, 12, odd, panel=True),
        "odd and alone": made_up(place("alone"), 3, 5, odd, panel=False),
        "seats": made_up(place("seats"), 4, 30, Nature(seat=1.5, falls=0.5), panel=False),
        "length": made_up(place("length"), 5, 30, Nature(length=2.5, sees=0.0), panel=False),
        "kin": made_up(place("kin"), 6, 30, Nature(kin=2.0), panel=True),
        "sloppy": made_up(place("sloppy"), 8, 30, Nature(slips=0.4), panel=True),
        "one video": made_up(place("one"), 7, 1, odd, panel=True),
    }


ELSEWHERE = {r"labels\.people_.+", r"language\..+\..+"}
"""Figures of runs that others of these tests make: two people by one standard, two languages."""
RUNS = (
    *(
        "stand-ins",
        "twins",
        "fair",
        "odd panel",
        "odd and alone",
        "seats",
        "length",
        "kin",
        "sloppy",
    ),
    "one video",
)


@pytest.fixture(params=RUNS)
def audited(request: pytest.FixtureRequest, every: dict[str, Audited]) -> Audited:
    return every[request.param]


def test_every_figure_comes_out_the_same_again(audited: Audited) -> None:
    told = {one["key"]: one for one in audited.findings if one["n"]}
    again = {key: of for key, of in audited.again.figures.items() if of.n}
    assert set(told) == set(again)
    for key, one in told.items():
        of = again[key]
        assert one["n"] == of.n, key
        assert one.get("videos", of.clusters) == of.clusters, key
        if key.startswith("canary."):
            gaps = [gap for gap in of.others if one["value"] == pytest.approx(gap, abs=0.01)]
            assert gaps or not of.others, key
        elif math.isnan(of.value):
            assert one["value"] is None, key
        else:
            figures = of.value, *(of.at(0.95) if of.at else ())
            assert [one[k] for k in ("value", "low", "high")] == pytest.approx(figures, abs=1e-6), (
                key
            )


def test_no_sentence_names_a_number_that_was_not_computed_again(audited: Audited) -> None:
    for one in audited.findings:
        of = audited.again.figures.get(one["key"])
        if one["n"] and of is not None:
            assert numbers_in(one["sentence"], audited) <= numbers_of(one, of), one["sentence"]


def test_alarms_are_those_that_the_figures_computed_again_raise(audited: Audited) -> None:
    told = {one["key"] for one in audited.findings if one["alarm"]}
    canaries = {key for key in told if key.startswith("canary.")}
    assert told - canaries == audited.again.alarms
    for one in audited.findings:
        assert not one["alarm"] or (one["n"] >= 20 and one["low"] is not None)


def test_the_figures_of_a_biased_judge_raise_alarms_and_those_of_a_fair_one_none(
    every: dict[str, Audited],
) -> None:
    raised = {name: {f["key"] for f in of.findings if f["alarm"]} for name, of in every.items()}
    assert raised["fair"] == raised["one video"] == raised["stand-ins"] == set()
    assert {"seats.first", "swap.flips", "attack.fallen.judge"} <= raised["seats"]
    assert {"length.matched", "truth.accuracy.judge"} <= raised["length"]
    assert {"family.excess.judge"} <= raised["kin"]
    assert {"verdicts.same_answers.x, y"} <= raised["twins"]
    assert {"repeat.same.judge", "constant.unbeaten.judge"} <= raised["sloppy"]


def test_every_figure_that_an_audit_knows_is_computed_again_in_some_run(
    every: dict[str, Audited],
) -> None:
    told = {one["key"] for of in every.values() for one in of.findings if one["value"] is not None}
    missing = {key for key in known() if not any(re.fullmatch(key, one) for one in told)}
    assert missing == ELSEWHERE


def known() -> Iterator[str]:
    """Yield the keys that the modules of the audit give to findings, as patterns."""
    for path in sorted(Path(videoautoarena.runs.__file__).parent.glob("analysis/audit/*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "finding":
                key = call.args[0]
                if isinstance(key, ast.Constant):
                    yield re.escape(str(key.value))
                elif isinstance(key, ast.JoinedStr):
                    parts = (
                        re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+"
                        for part in key.values
                    )
                    yield "".join(parts)


def numbers_in(sentence: str, audited: Audited) -> set[str]:
    """Return the numbers in a sentence that are no part of a name."""
    names = {*audited.again.cast, *(row["id"] for row in audited.again.rows)}
    for name in sorted(names, key=len, reverse=True):
        sentence = sentence.replace(name, "")
    # A battle is named with the file and the length of its video.
    sentence = re.sub(r" \(\w+\d\.mp4, [\d.]+ s\)", "", sentence)
    found = re.findall(r"(?<![\w.-])[+-]?\d[\d,]*(?:\.\d+)?", sentence)
    return {one.replace(",", "").lstrip("+") for one in found}


def numbers_of(one: dict[str, Any], of: Figure) -> set[str]:
    """Return the numbers that a sentence may name, as it would write them."""
    figures = [one[key] for key in ("value", "low", "high") if one[key] is not None]
    known = {str(of.n), str(of.clusters)}
    if one["key"].startswith("canary."):
        chance = re.search(r"probability of ([\d.]+) %", one["sentence"])
        return known | {f"{figure:.0f}" for figure in figures} | {chance[1] if chance else ""}
    for number in (*figures, *of.others):
        known |= {f"{number:.0f}"} if number == int(number) else set()
        known |= {f"{number:.1f}", f"{number:.2f}", f"{100 * number:.1f}"}
    return known
