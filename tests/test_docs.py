"""The documents say what is so: every command, field, path and drawing is held against the code."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import sqlite3
import tomllib
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import click
import pytest
from langgraph.graph.state import CompiledStateGraph

from docs.generate import DOCS, ROOT, every_command, pages
from tests.support.held import held
from tests.support.played import call, invoke, lineage, play, slot, video
from videoautoarena.agents.providers import Declaration
from videoautoarena.memory.records.records import Attempt, Battle, Evolution, Grade, Judging
from videoautoarena.memory.store.evidence import Label, Sample, Trial
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import Result, Ruling, Vote, write_result
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.cli.ending import _state
from videoautoarena.runs.cli.main import arena, load
from videoautoarena.runs.config.arena_file import ModelTable, RolesTable, RunTable, read_arena_file
from videoautoarena.runs.config.run_config import Flags, resolve
from videoautoarena.runs.tournament.simulate import Finished

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
OTHERS_FLAGS = {"--limit-mm-per-prompt"}
"""Of programs that are not ours."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def command_lines(page: Path) -> list[list[str]]:
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [shlex.split(line.partition(" | ")[0], comments=True) for line in lines if line]


ALL_LINES = [(page.name, words) for page in PAGES for words in command_lines(page)]
OUR_LINES = [words for _, words in ALL_LINES if words[0] in ("simulate", "arena")]


def parsed(words: list[str]) -> click.Context:
    """Return the context of a command line; raise where it would be refused."""
    command: click.Command = load("simulate") if words[0] == "simulate" else arena
    rest = words[1:]
    while isinstance(command, click.Group) and rest:
        found = command.get_command(click.Context(command), rest[0])
        assert found is not None, f"{rest[0]} is no command"
        command, rest = found, rest[1:]
    return command.make_context(words[0], list(rest))


def options(command: click.Command) -> set[str]:
    found = [param for param in command.params if isinstance(param, click.Option)]
    return {flag for option in found for flag in (*option.opts, *option.secondary_opts)}


def section(page: str, heading: str) -> str:
    text = (DOCS / page).read_text()
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no section {heading!r}"
    return found[1]


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def fields(model: Any) -> list[str]:
    return [field.serialization_alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize("words", OUR_LINES, ids=" ".join)
def test_a_command_line_in_the_documents_is_accepted(words: list[str]) -> None:
    assert parsed(words).params is not None


def test_other_lines_in_the_documents_are_make_targets_or_known() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for _, words in ALL_LINES:
        assert words[0] in ("simulate", "arena", "make", "export"), words
        if words[0] == "make":
            assert words[1] in targets


def test_the_file_in_the_readme_and_the_lines_around_it_make_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, text = blocks(README, "toml")
    monkeypatch.chdir(tmp_path)
    Path("arena.toml").write_text(first)
    assert resolve(Flags()).config.models == ("one", "two")
    Path("arena.toml").write_text(text)
    assert set(read_arena_file(Path("arena.toml")).models) == {"gpt", "flash", "qwen", "referee"}
    casts = []
    for words in command_lines(README):
        if words[0] == "simulate":
            typed = parsed(words).params
            flags = {name: typed[name] for name in Flags.__dataclass_fields__ if name in typed}
            casts.append(resolve(Flags(**flags)).config.models)
    assert ("gpt", "flash", "qwen") in casts
    assert ("openai:gpt-4o", "google_genai:gemini-2.5-flash") in casts


def test_every_command_has_a_section_with_its_arguments() -> None:
    text = (DOCS / "commands.md").read_text()
    headings = re.findall(r"^## `([^`]+)`", text, re.MULTILINE)
    named = {re.sub(r"( [A-Z]+)+$", "", heading): heading for heading in headings}
    assert set(named) == set(every_command())
    for words, command in every_command().items():
        arguments = [p.name or "" for p in command.params if isinstance(p, click.Argument)]
        assert named[words].removeprefix(words).split() == [name.upper() for name in arguments]


@pytest.mark.parametrize("words", every_command())
def test_a_section_names_every_option_and_no_other(words: str) -> None:
    text = (DOCS / "commands.md").read_text()
    pattern = rf"^## `{words}[ A-Z]*`\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    assert found
    rows = re.findall(r"^\| (`-[^|]+) \|", found[1], re.MULTILINE)
    assert {flag for row in rows for flag in re.findall(r"`(-[^`]+)`", row)} == options(
        every_command()[words]
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_names_an_option_that_is_not_there(page: Path) -> None:
    known = set().union(*map(options, every_command().values())) | {"--help", "--version"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text()))
    assert named - known - OTHERS_FLAGS == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_path_leads_somewhere(page: Path) -> None:
    text = page.read_text()
    for link in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"`([a-z_]+/[\w/]*\w\.(?:py|txt|json|md|svg)|(?:[a-z_]+/)+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    "what", ["a role", "a provider", "a task kind", "an audit figure", "an export", "a page"]
)
def test_contributing_says_in_which_files_to_add(what: str) -> None:
    rows = re.findall(
        rf"^\| {what}[^|]*\|([^|]+)\|([^|]+)\|$",
        (ROOT / "CONTRIBUTING.md").read_text(),
        re.MULTILINE,
    )
    (row,) = rows
    for cell in row:
        named = [ROOT / path for path in re.findall(r"`([\w/.]*/[\w/.]*)`", cell)]
        assert named
        assert [path for path in named if not path.exists()] == []


def test_the_readme_is_short_and_its_first_60_lines_lead_on() -> None:
    lines = README.read_text().splitlines()
    assert len(lines) <= 200
    first = "\n".join(lines[:60])
    for needed in ("make demo", "simulate --videos", "openai:gpt-4o", "interval", "docs/design.md"):
        assert needed in first


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_knows_a_machine(page: Path) -> None:
    assert not re.findall(
        r"(?<![\w.>)])/(?:home|root|tmp|work|usr|var|opt|Users)/", page.read_text()
    )


@pytest.mark.parametrize("name", ["commands.md", "design.md", "graph.md"])
def test_what_is_generated_is_what_the_code_gives_now(name: str) -> None:
    page = DOCS / name
    assert page.read_text() == pages()[page], "run make docs"


def test_simulate_leads_to_a_battle_in_the_six_files_that_design_names() -> None:
    named = section("design.md", "From `simulate` to a battle record, in six files")
    files = re.findall(r"^\d\. `([\w/]+\.py)`", named, re.MULTILINE)
    assert len(files) == 6
    assert files[0] == "runs/cli/simulate.py"
    for path, following in pairwise(files):
        module = f"videoautoarena.{following.removesuffix('.py').replace('/', '.')}"
        tree = ast.parse((ROOT / path).read_text())
        taken = {
            alias.name: getattr(importlib.import_module(module), alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == module
            for alias in node.names
        }
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert [name for name in taken if name in used and callable_or_graph(taken[name])], path
    last = ast.parse((ROOT / files[-1]).read_text())
    calls = [node.func for node in ast.walk(last) if isinstance(node, ast.Call)]
    assert "Battle" in {func.id for func in calls if isinstance(func, ast.Name)}


def callable_or_graph(found: object) -> bool:
    return isinstance(found, FunctionType | CompiledStateGraph)


@pytest.mark.parametrize("name", ["console.svg", "leaderboard.svg"])
def test_a_picture_loads_nothing_from_elsewhere(name: str) -> None:
    svg = (DOCS / name).read_text()
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", svg))
    assert addresses == {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
    assert "hawk" in svg


def test_langgraph_finds_both_graphs() -> None:
    config = json.loads((ROOT / "langgraph.json").read_text())
    assert config["dependencies"] == ["."]
    for name, place in config["graphs"].items():
        path, attribute = place.split(":")
        assert (ROOT / path).is_file()
        module = importlib.import_module(
            path.removeprefix("./").removesuffix(".py").replace("/", ".")
        )
        assert isinstance(getattr(module, attribute), CompiledStateGraph)
        assert getattr(module, attribute).name == name


def test_langgraph_is_told_the_oldest_python_that_will_do() -> None:
    config = json.loads((ROOT / "langgraph.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={config['python_version']}"


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("A battle", Battle),
        ("A judging", Judging),
        ("An evolution", Evolution),
        ("A grade", Grade),
        ("A label", Label),
        ("An attempt", Attempt),
        ("A draw", Sample),
        ("A trial", Trial),
        ("models.NAME", ModelTable),
        ("providers.NAME", Declaration),
        ("roles", RolesTable),
        ("run", RunTable),
    ],
)
def test_a_record_is_written_down_field_by_field(heading: str, model: Any) -> None:
    assert first_column(section("records.md", heading)) == fields(model)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()), calls=[call(slot(video(), 1).id)])


def test_what_reading_commands_print_is_written_down(run: Path) -> None:
    shown = json.loads(invoke("show", run, slot(video(), 1).id, "--json").output)
    board = json.loads(invoke("leaderboard", run, "--json").output)
    status = json.loads(invoke("status", run, "--json").output)
    sliced = json.loads(invoke("leaderboard", run, "--by", "round", "--json").output)
    assert set(sliced) <= set(re.findall(r"`(\w+)`", section("records.md", "Slices")))
    long, short = section("records.md", "How a run stands").split("end with a short form")
    assert first_column(long) == list(status)
    assert first_column(short) == list(_state(Finished(1, 1, 0, False, 0.05), run))
    for heading, found in {
        "A battle with everything around it": shown,
        "A call": shown["calls"][0],
        "A leaderboard": board,
        "A row": board["models"][0],
        "Settings": board["settings"],
        "Slices": sliced["slices"][0],
    }.items():
        assert first_column(section("records.md", heading)) == list(found)


def test_an_export_is_written_down(run: Path) -> None:
    words = section("records.md", "An export") + section("records.md", "A call")
    for what in ("calls", "battles"):
        line = invoke("export", run, "--what", what).output.splitlines()[0]
        fields_of_battle = set(first_column(section("records.md", "A battle")))
        assert set(json.loads(line)) <= set(re.findall(r"`(\w+)`", words)) | fields_of_battle


def test_what_labels_show_is_written_down(run: Path) -> None:
    told = Label(battle=slot(video(), 1).id, labeller="anna", verdict="a")
    with Store.open(run / "run.sqlite", write=True) as store:
        store.evidence.add_labels([told])
    shown = json.loads(invoke("labels", "show", run, "--json").output)
    text = section("records.md", "Labels")
    assert first_column(text) == list(shown)
    words = set(re.findall(r"`(\w+)`", text))
    assert set(shown["sample"]) | set(shown["labellers"][0]) | set(shown["calibration"][0]) <= words


def test_what_a_doctor_finds_is_written_down(tmp_path: Path) -> None:
    found = json.loads(invoke("doctor", "--videos", tmp_path, "--json").stdout)
    text = section("records.md", "What a doctor finds")
    assert first_column(text) == list(found)
    for name in ("decoder", "cache", "disk", "terminal", "tracing", "videos", "calls"):
        assert set(found[name]) <= set(re.findall(r"`(\w+)`", text)), name
    assert set(found["models"][0]) <= set(re.findall(r"`(\w+)`", text))


def test_what_the_cache_holds_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shelf = tmp_path / "videoautoarena" / "frames" / "ab"
    shelf.mkdir(parents=True)
    (shelf / "abcdef012345-1.frames").touch()
    found = json.loads(invoke("cache", "--json").stdout)
    text = section("records.md", "The cache")
    assert first_column(text) == list(found)
    words = set(re.findall(r"`(\w+)`", text))
    assert set(found["videos"][0]) | set(found["spliced"]) <= words


def test_what_a_doctor_says_of_a_model_is_written_down() -> None:
    # Without keys nobody is asked, and the fields are the same.
    cast = ("--models", "openai:a,openai:b", "--examiner", "openai:c")
    found = json.loads(invoke("doctor", "--live", *cast, "--json").stdout)
    text = section("records.md", "A model that was asked")
    assert first_column(text) == list(found["live"][0])


def test_an_audit_is_written_down_and_so_is_every_figure_with_its_threshold(run: Path) -> None:
    found = json.loads(invoke("audit", run, "--json").output)
    assert first_column(section("records.md", "An audit")) == list(found)
    assert first_column(section("records.md", "A finding")) == list(found["findings"][0])
    told = section("commands.md", "`arena audit OUT`")
    for finding in found["findings"]:
        name, figure = finding["key"].split(".")[:2]
        assert f"`{name}.{figure}`" in told or name in ("labels", "canary"), finding["key"]


def test_names_inside_a_cell_are_those_of_the_code(run: Path) -> None:
    board = json.loads(invoke("leaderboard", run, "--json").output)
    status = json.loads(invoke("status", run, "--json").output)
    shown = json.loads(invoke("show", run, slot(video(), 1).id, "--json").output)
    text = (DOCS / "records.md").read_text()
    for field, inner in {
        "totals": board["settings"]["totals"],
        "calls": status["calls"]["judge"],
        "usage": shown["calls"][0]["usage"],
    }.items():
        rows = re.findall(rf"^\| `{field}` \| (.*) \|$", text, re.MULTILINE)
        assert any(set(re.findall(r"`(\w+)`", row)) == set(inner) for row in rows), field


def test_a_bench_is_written_down_as_it_lies_on_disk(run: Path, tmp_path: Path) -> None:
    frozen = freeze(run, tmp_path / "bench").as_json()
    manifest = json.loads((tmp_path / "bench" / "manifest.json").read_text())
    question = json.loads((tmp_path / "bench" / "questions.jsonl").read_text().splitlines()[0])
    (entry,) = manifest["videos"].values()
    for heading, found in {
        "manifest.json": manifest,
        "A video of a bench": entry,
        "questions.jsonl": question,
    }.items():
        assert set(first_column(section("records.md", heading))) == set(found)
    checked = json.loads(invoke("bench", "verify", tmp_path / "bench", "--json").output)
    told = set(re.findall(r"`(\w+)`", section("records.md", "A bench folder")))
    assert set(frozen) <= told
    assert set(checked) <= set(re.findall(r"`(\w+)`", section("records.md", "questions.jsonl")))


def test_results_and_scores_are_written_down(run: Path, tmp_path: Path) -> None:
    freeze(run, tmp_path / "bench")
    bench = open_bench(tmp_path / "bench")
    votes = [Vote(judge=judge, verdict="win") for judge in "jk"]
    ruling = Ruling(qid=bench.items[0].qid, against="selected", verdict="win", votes=votes)
    file = write_result(
        bench, Result(bench=bench.bench, model="m", judge="j,k", how="run", rulings=[ruling])
    )
    head, line = map(json.loads, file.read_text().splitlines())
    sliced = json.loads(invoke("bench", "score", bench.folder, "--by", "topic", "--json").stdout)
    told = section("records.md", "A result").split("a result is a judging")
    assert [first_column(part) for part in told] == [list(head), list(line)]
    assert first_column(section("records.md", "Scores")) == list(sliced)
    row = sliced["models"][0]
    text = section("records.md", "A score")
    assert first_column(text) == list(row)
    assert set(row["selected"]) | set(row["decided"]) <= set(re.findall(r"`(\w+)`", text))


def test_what_was_held_against_an_anchor_is_written_down(run: Path, tmp_path: Path) -> None:
    freeze(run, tmp_path / "bench")
    bench = open_bench(tmp_path / "bench")
    held(bench, "m", ["> >"])
    (file,) = bench.results.glob("*.jsonl")
    _, line, _ = map(json.loads, file.read_text().splitlines())
    text = section("records.md", "A result against an anchor")
    assert first_column(text) == list(line)
    scored = json.loads(invoke("bench", "score", bench.folder, "--json").stdout)
    (board,) = scored["anchored"]
    text = section("records.md", "A board against an anchor")
    assert first_column(text) == list(board)
    assert set(board["seats"]) <= set(re.findall(r"`(\w+)`", text))
    text = section("records.md", "A model against an anchor")
    assert first_column(text) == list(board["models"][0])


def test_the_tables_of_a_run_are_written_down(tmp_path: Path) -> None:
    Store.create(tmp_path / "run.sqlite", {}).close()
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    made = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    columns = {
        name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        for (name,) in made
    }
    connection.close()
    rows = re.findall(
        r"^\| `(\w+)` \| ([^|]+) \|", section("records.md", "The run's file"), re.MULTILINE
    )
    assert {name: re.findall(r"`(\w+)`", cell) for name, cell in rows} == columns
