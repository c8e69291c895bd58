"""Every figure of an audit has a name, a group, a unit and what a fair judge would show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.audited import audited, entry, fought
from tests.support.pages import section
from tests.support.played import invoke, lineage, play, video
from tests.support.seasons import Nature, Season
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.runs.analysis.audit.checks import _KINDS, GROUPS, check_of, with_checks
from videoautoarena.runs.analysis.audit.report import SECTIONS, find_all
from videoautoarena.runs.analysis.trials.truth_cases import KINDS

ROOMS = Path(__file__).parents[4] / "runs" / "analysis" / "audit"
FORMS = ("short", "long")
HOLES = {
    "language.{key}": [f"language.{one}" for one in ("flips", "first", "longer", "truth")],
    "{kind}": KINDS,
    "{right}-{wrong}": [f"{one}-{two}" for one in FORMS for two in FORMS],
    "labels.{name}": [f"labels.{name}" for name in STANDARDS],
    "people_{name}": [f"people_{name}" for name in STANDARDS],
    "judge_{name}": [f"judge_{name}" for name in STANDARDS],
    "panel.{key}": ["panel.unanimous", "panel.majority", "panel.split"],
    "canary.{key}": ["canary.windbag", "canary.trickster"],
}
"""What the code fills into a key where its figure stands."""


def keys_in_the_code() -> set[str]:
    """Return section and figure of every key that a module of the audit writes."""
    sections = "|".join(GROUPS)
    found = set()
    for path in ROOMS.glob("*.py"):
        if path.name in ("checks.py", "report.py"):
            continue
        for text in re.findall(rf'f?"((?:{sections})\.[^" ]+)"', path.read_text()):
            hole = next((hole for hole in HOLES if hole in text), "")
            whole = [text.replace(hole, one) for one in HOLES[hole]] if hole else [text]
            found |= {".".join(key.split(".")[:2]) for key in whole}
    return found


def test_every_key_that_the_code_writes_has_a_name_and_every_name_a_key() -> None:
    assert keys_in_the_code() == set(_KINDS)
    assert {key.partition(".")[0] for key in _KINDS} == set(GROUPS)


def test_no_two_figures_of_one_group_are_called_the_same() -> None:
    called = [(GROUPS[key.partition(".")[0]], kind.name) for key, kind in _KINDS.items()]
    assert len(set(called)) == len(called)


def test_a_season_with_everything_is_named_from_end_to_end() -> None:
    given = Season(3, 20, Nature(length=50.0, mishaps=0.05), panel=True).audited()
    found = find_all(given)
    assert {one.key.partition(".")[0] for one in found} >= {"labels", "truth", "attack", "panel"}
    for one in with_checks(found):
        assert one.check == check_of(one.key)
        assert {"name", "group", "unit", "fair"} <= set(one.to_json())
        if one.check and one.check.unit == "share" and one.value == one.value:
            assert -1.0 <= one.value <= 1.0
    assert len(SECTIONS) > 5


def test_what_a_fair_judge_comes_to_is_the_threshold_of_those_that_chance_crosses() -> None:
    cast = {name: entry(f"offline:{name}") for name in ("terse", "windbag", "judge")}
    fights = [fought(k, "terse", "windbag", "a" if k % 2 else "b") for k in range(30)]
    given = Season(3, 20, Nature(length=50.0, mishaps=0.05), panel=True).audited()
    found = (*find_all(given), *find_all(audited(fights, cast=cast)))
    even = [one for one in with_checks(found) if one.is_even]
    fair = {one.key.rpartition(".")[0] if one.key.count(".") > 1 else one.key: one for one in even}
    assert {key: one.check and one.check.fair for key, one in fair.items()}.items() >= {
        "seats.first": 0.5,
        "swap.first": 0.5,
        "truth.longer": 0.5,
        "canary.windbag": 0.0,
    }.items()
    assert all(one.check and one.check.fair in (0.0, 0.5) for one in even)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("seats.first", "First answer wins"),
        ("swap.flips.gpt-4.1", "Verdicts changed by order (gpt-4.1)"),
        ("attack.by.polite.gpt", "Attack wins (polite.gpt)"),
        ("repeat.same.\x1b[2J", "Same verdict again (\\x1b[2J)"),
    ],
)
def test_the_owner_of_a_figure_stands_behind_its_name_and_is_harmless(key: str, name: str) -> None:
    assert check_of(key).name == name


def test_audit_and_labels_print_it_and_a_leaderboard_stays_as_it_was(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    every = json.loads(invoke("audit", out, "--json").stdout)["findings"]
    board = json.loads(invoke("leaderboard", out, "--json").stdout)["audit"]
    labels = json.loads(invoke("labels", "show", out, "--json").stdout)["findings"]
    named = {one["key"]: one for one in every}
    for one in labels:
        assert [one[of] for of in ("name", "group", "unit", "fair")] == [
            named[one["key"]][of] for of in ("name", "group", "unit", "fair")
        ]
    assert labels
    assert {name for one in board for name in one} == {*named["seats.first"]} - {
        *("name", "group", "unit", "fair")
    }
    groups = set(re.findall(r"`([A-Z][^`]+)`", section("records.md", "A finding")))
    assert set(GROUPS.values()) <= groups
