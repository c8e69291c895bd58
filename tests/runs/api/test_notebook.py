"""The notebook of the docs runs from the first cell to the last, as a kernel runs it."""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder

NOTEBOOK = Path(__file__).parents[3] / "docs" / "examples" / "tournament.ipynb"


async def run(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell in a turning event loop, as a kernel does; return what its last line comes to."""
    *before, last = ast.parse(cell).body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    exec(compile(ast.Module([last], []), "cell", "exec"), names)
    return None


def test_every_cell_of_the_notebook_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_folder(tmp_path / "arena-samples", 6, seconds=2)
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in code)
    names: dict[str, Any] = {}

    async def kernel() -> list[Any]:
        return [await run("".join(cell["source"]), names) for cell in code]

    shown = asyncio.run(kernel())
    assert shown[0] is None
    board, _, alarms, scores = shown[1:]
    assert "offline:hawk" in str(board)
    assert isinstance(alarms, list)
    assert [row["model"] for row in scores.rows] == ["offline:owl"]
    told = capsys.readouterr()
    assert " against " in told.out
    assert "36 of 36 battles" in told.err
