"""langgraph.json loads as the LangGraph server loads it: a file by its path, under another name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = json.loads((ROOT / "langgraph.json").read_text())

# The server puts the dependencies on the path, loads each file afresh and takes the attribute.
LOAD = """
import importlib.util, json, sys
root, graphs = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, root)
from langgraph.graph.state import CompiledStateGraph
for name, place in graphs.items():
    path, _, attribute = place.rpartition(":")
    spec = importlib.util.spec_from_file_location(f"served_{name}", f"{root}/{path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    graph = getattr(module, attribute)
    assert isinstance(graph, CompiledStateGraph), place
    nodes = len(graph.get_graph(xray=True).nodes)
    print(json.dumps([name, graph.name, nodes, sorted(graph.get_input_jsonschema())]))
"""


def loaded(cwd: Path) -> list[list[object]]:
    words = [sys.executable, "-c", LOAD, str(ROOT), json.dumps(CONFIG["graphs"])]
    done = subprocess.run(words, cwd=cwd, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def graph_at(place: str, name: str, patch: pytest.MonkeyPatch) -> Any:
    path, _, attribute = place.rpartition(":")
    spec = spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    patch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return getattr(module, attribute)


def test_every_graph_loads_from_its_path_under_another_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, place in CONFIG["graphs"].items():
        graph = graph_at(place, f"served_{name}", monkeypatch)
        assert graph.name == name
        assert len(graph.get_graph(xray=True).nodes) > 5


@pytest.mark.slow
def test_every_graph_loads_from_its_path_wherever_the_server_stands(tmp_path: Path) -> None:
    graphs = loaded(tmp_path)
    assert [name for name, *_ in graphs] == list(CONFIG["graphs"])
    for name, own_name, nodes, schema in graphs:
        assert own_name == name
        assert isinstance(nodes, int)
        assert nodes > 5
        assert "properties" in schema  # type: ignore[operator]


def test_it_asks_for_what_the_server_must_have_and_nothing_else() -> None:
    assert set(CONFIG) == {"dependencies", "graphs", "python_version"}
    for dependency in CONFIG["dependencies"]:
        assert (ROOT / dependency / "pyproject.toml").is_file()
