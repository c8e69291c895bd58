"""What goes out is one table: a format stands there once, and commands, help and docs follow."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from tests.support.played import battle, invoke, play, slot, video
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.bench.format.schema import ITEMS
from videoautoarena.runs.exchange.interop import exports
from videoautoarena.runs.exchange.interop.exports import (
    BATTLE_EXPORTS,
    SET_EXPORTS,
    SetExport,
    formats_with,
)
from videoautoarena.runs.run.rundir.reader import RunReader

ROOT = Path(__file__).parents[4]
TO_RUNS = {"export_run", "export_set"}
"""What writes a run as logs, and the table itself."""
PAGES = "\n".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))


def test_every_kind_of_set_has_a_format_to_go_out_in() -> None:
    assert {kind for one in SET_EXPORTS.values() for kind in one.kinds} == ITEMS.keys()


def test_each_function_that_writes_a_format_stands_in_a_table() -> None:
    made = {
        name
        for name, _ in inspect.getmembers(exports, inspect.isfunction)
        if name.startswith("_write_") or name.endswith("_battle")
    }
    listed = [*BATTLE_EXPORTS.values(), *(one.write for one in SET_EXPORTS.values())]
    assert made == {one.__name__ for one in listed}


def test_what_a_module_of_a_format_exports_of_a_set_is_called_by_the_table() -> None:
    table = (ROOT / "runs/exchange/interop/exports.py").read_text()
    for file in (ROOT / "runs/exchange/interop").glob("*.py"):
        for made in ast.parse(file.read_text()).body:
            if isinstance(made, ast.FunctionDef) and re.match(
                "export_.*bench|export_re", made.name
            ):
                assert re.search(rf"\b{made.name}\(", table), made.name


@pytest.mark.parametrize("form", [*BATTLE_EXPORTS, *SET_EXPORTS])
def test_the_docs_offer_every_format(form: str) -> None:
    assert re.search(rf"^\| `--format` .*`{re.escape(form)}`", PAGES, re.MULTILINE), form


def test_a_format_of_battles_that_is_one_more_entry_goes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tabbed(one: Battle, _run: RunReader) -> str:
        return f"{one.model_a}\t{one.model_b}"

    out = play(tmp_path / "out", [battle(slot(video(), 0))])
    monkeypatch.setitem(BATTLE_EXPORTS, "videoautoarena", tabbed)  # type: ignore[arg-type]
    said = invoke("export", out, "--what", "battles", "--format", "videoautoarena")
    assert said.stdout == "hawk\towl\n"


def test_options_name_the_formats_that_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    more = SetExport(("choice",), SET_EXPORTS["mlvu"].write, takes=frozenset({"judge"}))
    monkeypatch.setattr(exports, "SET_EXPORTS", {**SET_EXPORTS, "new": more})
    assert formats_with("judge") == "inspect, arena-hard or new"
    assert formats_with("folder", last="and") == "inspect, arena-hard and mt-video-bench"
