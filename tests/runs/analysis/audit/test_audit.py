"""`arena audit`, and the lines of it that stand under a leaderboard."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.audited import audited, entry, fought
from tests.support.played import battle, invoke, judging, lineage, manifest, play, slot, video
from tests.support.seasons import Nature, Season
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.report import audit, chosen, find_all
from videoautoarena.runs.rating.finding import is_usual

CAST = {name: entry(f"offline:{name}") for name in ("hawk", "owl", "judge")}


def biased(times: int = 30) -> list[Battle]:
    """Battles whose judge takes whatever it reads first, on as many videos."""
    films = [video(bytes([k])) for k in range(times)]
    both = (judging(seats="ab", verdict="a"), judging(seats="ba", verdict="b"))
    return [
        battle(slot(film, 0, ordinal=k), verdict="split", verdicts=both)
        for k, film in enumerate(films)
    ]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    films = [video(bytes([k])) for k in range(30)]
    return play(tmp_path_factory.mktemp("biased") / "out", biased(), videos=films)


def test_a_leaderboard_asks_for_no_figure_that_cannot_stand_under_it() -> None:
    given = Season(3, 20, Nature(length=50.0, mishaps=0.05), panel=True).audited()
    every = find_all(given)
    asked = find_all(replace(given, is_brief=True))
    assert chosen(asked) == chosen(every)
    assert {found.key.partition(".")[0] for found in every} >= {"labels", "truth", "attack"}
    idle = [f.key for f in asked if f.n and f.crosses is None and not is_usual(f.key)]
    assert len(asked) < len(every) / 2
    assert idle == []


def told(out: Path, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("leaderboard", out, *arguments, "--json").output)
    return found


def test_alarms_stand_first_and_every_section_says_something(out: Path) -> None:
    shown = invoke("audit", out, width=80).output
    assert max(map(len, shown.splitlines())) <= 80
    alarms, rest = shown.split("Seats\n")
    assert "changed" in alarms
    for title in ("Length", "Verdicts", "Panel"):
        assert f"\n{title}\n" in rest
    assert "note: rates stand-ins" in alarms


def test_json_holds_a_sentence_for_every_figure(out: Path) -> None:
    found = json.loads(invoke("audit", out, "--json").output)
    assert found["schema"] == 1
    assert found["judges"] == {"judge": "offline:judge"}
    assert found["totals"]["splits"] == 30
    keys = [finding["key"] for finding in found["findings"]]
    assert len(set(keys)) == len(keys)
    assert all(finding["sentence"].endswith(".") for finding in found["findings"])
    assert {f["key"] for f in found["findings"] if f["alarm"]} >= {"swap.flips", "swap.first"}


def test_a_run_without_alarms_says_so(tmp_path: Path) -> None:
    assert (
        "No alarm: no figure exceeds its threshold"
        in invoke("audit", play(tmp_path / "o", lineage(video()))).output
    )


def test_an_empty_run_is_audited(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [], slots=[slot(video(), 0)])
    found = audit(out).to_json()
    assert all(finding["value"] is None for finding in found["findings"])
    assert "the run is not finished: 1 of 1 slots to go" in found["warnings"]
    assert invoke("audit", out).exit_code == invoke("leaderboard", out).exit_code == 0


def test_a_run_of_nothing_but_voids_is_audited(tmp_path: Path) -> None:
    lost = battle(slot(video(), 0), verdict="void", reason="no frame", answer_a=None, verdicts=())
    found = {f["key"]: f for f in audit(play(tmp_path / "out", [lost])).to_json()["findings"]}
    assert found["verdicts.voids"]["value"] == 1


def test_a_superseded_battle_is_not_audited(tmp_path: Path) -> None:
    places = [slot(video(), 0), slot(video(), 0, ordinal=1, generation=1)]
    out = play(tmp_path / "out", [battle(place) for place in places], slots=places)
    assert audit(out).totals.battles == 1


def test_a_folder_without_a_run_is_the_users_error(tmp_path: Path) -> None:
    assert isinstance(invoke("audit", tmp_path).exception, BadInput)


def test_a_leaderboard_carries_the_alarms_and_what_always_stands_there(out: Path) -> None:
    findings = told(out)["audit"]
    assert [finding["alarm"] for finding in findings][:2] == [True, True]
    keys = {finding["key"] for finding in findings}
    assert {"swap.flips", "length.longer", "length.only", "verdicts.voids"} <= keys
    assert told(out, "--by", "round")["audit"] == findings


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("by", [(), ("--by", "round")])
def test_in_every_form_a_leaderboard_says_what_its_judges_are_worth(
    out: Path, form: str, by: tuple[str, ...]
) -> None:
    few, shown = (
        " ".join(
            invoke("leaderboard", out, *by, "--format", form, *notes, width=200).output.split()
        )
        for notes in ((), ("--notes",))
    )
    assert "AUDIT ALARM: With the answers in swapped order, 100.0" in shown
    assert (few.count("AUDIT ALARM: "), "more alarms and" in few) == (1, True)
    of = "of the whole run, " if by else ""
    assert f"audit: {of}verdicts changed by answer order 100.0" in shown


def test_an_alarm_of_one_judge_is_left_out_where_all_raise_it(tmp_path: Path) -> None:
    both = [judging(judge=j, seats=s, verdict=v) for j in ("judge", "two") for s, v in _FLIPPED]
    battles = [b.model_copy(update={"verdicts": tuple(both)}) for b in biased()]
    films = [video(bytes([k])) for k in range(30)]
    settings = manifest(judges=["judge", "two"])
    out = play(tmp_path / "out", battles, videos=films, settings=settings)
    assert "swap.flips.two" in {f["key"] for f in audit(out).to_json()["findings"] if f["alarm"]}
    assert "swap.flips" in {f["key"] for f in told(out)["audit"]}
    assert "swap.flips.two" not in {f["key"] for f in told(out)["audit"]}


_FLIPPED = (("ab", "a"), ("ba", "b"))


def test_the_order_of_battles_changes_no_figure() -> None:
    said = (("judge:a",), ("judge:b", "judge:a:ba"), ("judge:tie_bad",), ("judge:abstain",))
    battles = [
        fought(k, *("hawk", "owl")[:: 1 - 2 * (k % 2)], "abas"[k % 4].replace("s", "tie"), *words)
        for k, words in enumerate(said * 5)
    ]
    one, two = (find_all(audited(order, cast=CAST)) for order in (battles, battles[::-1]))
    assert [f.to_json() for f in one] == [f.to_json() for f in two]
