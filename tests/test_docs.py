"""The documents say what is so: every command, field, path and drawing is held against the code."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import FunctionType

import click
import pytest
from langgraph.graph.state import CompiledStateGraph

from docs.generate import (
    DOCS,
    GROUPS,
    ROOT,
    anchor,
    every_command,
    heading,
    index,
    page_of,
    pages,
    rooms,
)
from tests.support.pages import OF_THE_READER, by_hand, section, sentences
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.cli.program.main import arena, load
from videoautoarena.runs.formats.words import roughly
from videoautoarena.runs.run.config.arena_file import read_arena_file
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.tournament.plan import RemainingWork, Whole, plan_of

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
GROUP_PAGES = sorted((DOCS / "commands").glob("*.md"))
OTHERS_FLAGS = {"--limit-mm-per-prompt", "--num-cpus", "--head", "--port", "--export", "--overlap"}
"""Of programs that are not ours."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def command_lines(page: Path) -> list[list[str]]:
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [shlex.split(line.partition(" | ")[0], comments=True) for line in lines if line]


ALL_LINES = [(name_of(page), words) for page in PAGES for words in command_lines(page)]
OUR_LINES = [words for _, words in ALL_LINES if words[0] in ("simulate", "arena")]


def parsed(words: list[str]) -> click.Context:
    """Return the context of a command line; raise where it would be refused."""
    command: click.Command = load("simulate") if words[0] == "simulate" else arena
    rest = words[1:]
    while isinstance(command, click.Group) and rest:
        found = command.get_command(click.Context(command), rest[0])
        assert found is not None, f"{rest[0]} is no command"
        command = found
        rest = rest[1:]
    return command.make_context(words[0], list(rest))


@cache
def anchors(page: Path) -> set[str]:
    """Return where on a page a link may lead."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {anchor(re.sub(r"\]\([^)]*\)", "", title)) for title in titles}


def options(command: click.Command) -> set[str]:
    found = [param for param in command.params if isinstance(param, click.Option)]
    return {flag for option in found for flag in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("words", OUR_LINES, ids=" ".join)
def test_a_command_line_in_the_documents_is_accepted(words: list[str]) -> None:
    assert parsed(words).params is not None


def test_an_example_opens_what_a_line_before_it_has_made() -> None:
    made = {"clips", "my-run"}
    for group in GROUPS.values():
        for words in command_lines(DOCS / "commands" / f"{group}.md"):
            written = {after for flag, after in pairwise(words) if flag in WRITING}
            for value in parsed(words).params.values():
                for path in value if isinstance(value, tuple) else (value,):
                    if isinstance(path, Path) and str(path) not in written:
                        assert {*path.parts[:1]} <= made | OF_THE_READER, " ".join(words)
            made |= set() if "--plan" in words else written


WRITING = {"--to", "--out", "--sheet", "--subtitles"}
"""Options that name what a command makes."""


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
    assert resolve(RunRequest()).config.models == ("one", "two")
    Path("arena.toml").write_text(text)
    assert set(read_arena_file(Path("arena.toml")).models) == {"gpt", "qwen", "referee"}
    casts = []
    for words in command_lines(README):
        if words[0] == "simulate":
            typed = parsed(words).params
            flags = {name: typed[name] for name in RunRequest.model_fields if name in typed}
            casts.append(resolve(RunRequest(**flags)).config.models)
    assert resolve(RunRequest()).config.models == ("gpt", "qwen")
    assert ("openai:gpt-4o", "google_genai:gemini-2.5-flash") in casts


def test_every_command_has_a_section_with_its_arguments() -> None:
    found = {
        page: re.findall(r"^## (`[^`]+`)$", page.read_text(), re.MULTILINE) for page in GROUP_PAGES
    }
    wanted: dict[Path, list[str]] = {page: [] for page in GROUP_PAGES}
    for words, command in every_command().items():
        wanted[page_of(words)].append(heading(words, command))
    assert {page: sorted(headings) for page, headings in found.items()} == {
        page: sorted(headings) for page, headings in wanted.items()
    }


def test_the_index_leads_to_the_section_on_every_command() -> None:
    rows = re.findall(r"^\| \[`([^`]+)`\]\(([^)#]+)#([^)]+)\) \| \S", index(), re.MULTILINE)
    assert {words for words, _, _ in rows} == set(every_command())
    assert len(rows) == len(every_command())
    for _, page, place in rows:
        assert place in anchors(DOCS / page)


def test_no_help_text_shows_the_sign_that_keeps_its_lines() -> None:
    for words, command in every_command().items():
        assert "\\b" not in f"{command.help}{command.epilog}", words


@pytest.mark.parametrize("words", every_command())
def test_a_section_names_every_option_and_no_other(words: str) -> None:
    text = page_of(words).read_text()
    pattern = rf"^## `{words}[ A-Z]*`\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    assert found
    rows = re.findall(r"^\| (`-[^|]+) \|", found[1], re.MULTILINE)
    assert {flag for row in rows for flag in re.findall(r"`(-[^`]+)`", row)} == options(
        every_command()[words]
    )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_names_an_option_that_is_not_there(page: Path) -> None:
    known = set().union(*map(options, every_command().values())) | {"--help", "--version"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text()))
    assert named - known - OTHERS_FLAGS == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_and_path_leads_somewhere(page: Path) -> None:
    text = page.read_text()
    for link in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
        assert (page.parent / link).exists(), link
    for link, place in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", text):
        target = page.parent / link if link else page
        assert place in anchors(target.resolve()), f"{link}#{place}"
    for path in re.findall(r"`([a-z_]+/[\w/]*\w\.(?:py|txt|json|md|svg)|(?:[a-z_]+/)+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    "what",
    [
        *("a role", "a provider", "a task kind", "a kind for", "an audit figure", "an export"),
        *("an import", "a frame policy", "a page"),
    ],
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


def test_the_documents_are_short() -> None:
    assert sum(len(by_hand(page).split()) for page in PAGES) <= 30_000


def test_what_the_readme_says_an_answer_takes_is_what_a_plan_says() -> None:
    two = ("openai:gpt-4o", "google_genai:gemini-2.5-flash")
    more = ("openai:gpt-4.1-mini", "openai:gpt-4o-mini", "google_genai:gemini-2.5-pro")
    rows = re.findall(
        r"^\| ([^|]+) \| (\d) \| (\d+) \| (\d) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([^|]+) \|$",
        README.read_text(),
        re.MULTILINE,
    )
    assert len(rows) == 5
    for asked, *counts, dollars, bound, time in rows:
        models, videos, rounds, battles = map(int, counts)
        first = 3 * videos
        assert battles == first * rounds
        whole = Whole(models, battles, videos)
        assert whole.separable_gap == next(map(int, re.findall(r"(\d+) points", asked)), None)
        config = resolve(
            RunRequest(models=(*two, *more)[:models], examiner="openai:gpt-4.1")
        ).config
        plan = plan_of(config, RemainingWork(first, battles - first, videos, rounds=rounds))
        # Prices change with their table, and a reader plans anyway.
        assert 0.5 < (plan.expected_usd or 0.0) / float(dollars) < 2.0
        assert 0.5 < (plan.bound90_usd or 0.0) / float(bound) < 2.0
        assert roughly(plan.duration_s or 0.0) == time


def test_no_sentence_stands_twice() -> None:
    counted = Counter(sentence for page in PAGES for sentence in sentences(page))
    assert sum(counted.values()) > 500
    twice = {sentence for sentence, times in counted.items() if times > 1}
    assert [sentence for sentence in twice if len(sentence.split()) >= 8] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_knows_a_machine(page: Path) -> None:
    assert not re.findall(
        r"(?<![\w.>)])/(?:home|root|tmp|work|usr|var|opt|Users)/", page.read_text()
    )


def test_all_that_is_generated_is_what_the_code_gives_now() -> None:
    written = pages()
    marked = {page for page in PAGES if re.search("<!-- (generated|fields): ", page.read_text())}
    assert set(written) == marked
    for page, text in written.items():
        assert page.read_text() == text, f"{name_of(page)}: run make docs"


def test_each_room_says_in_a_line_what_it_owns_and_what_it_leaves_alone() -> None:
    said = re.findall(r"^\| [\d.]+ \| `([\w/]+)/` \| (.+) \|$", rooms(), re.MULTILINE)
    assert len(said) > 40
    assert [room for room, line in said if not re.fullmatch(r"[^;]+; [^;]+", line)] == []


def test_simulate_leads_to_a_battle_in_the_six_files_that_design_names() -> None:
    named = section("design.md", "From `simulate` to a battle record, in six files")
    files = re.findall(r"^\d\. `([\w/]+\.py)`", named, re.MULTILINE)
    assert len(files) == 6
    assert files[0] == "runs/cli/playing/simulate.py"
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
    assert files[-1] == "memory/records/records.py"
    maker = ast.parse((ROOT / files[-2]).read_text())
    calls = [node.func for node in ast.walk(maker) if isinstance(node, ast.Call)]
    assert "Battle" in {func.id for func in calls if isinstance(func, ast.Name)}


def callable_or_graph(found: object) -> bool:
    return isinstance(found, FunctionType | CompiledStateGraph) or found is Battle


@pytest.mark.parametrize("name", ["console.svg", "leaderboard.svg"])
def test_a_picture_loads_nothing_from_elsewhere(name: str) -> None:
    svg = (DOCS / name).read_text()
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", svg))
    assert addresses == {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
    assert "hawk" in svg


@pytest.mark.slow
def test_the_site_is_built_of_all_documents_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = build_site(ROOT, site)
    assert done.returncode == 0, done.stderr
    built = {page.relative_to(site).with_suffix(".md").name for page in site.rglob("*.html")}
    assert built - {"404.md"} == {page.name for page in PAGES} - {
        "README.md", "CONTRIBUTING.md",
    } | {"index.md", "contributing.md", "changelog.md"}  # fmt: skip


@pytest.mark.slow
def test_a_link_to_a_heading_that_is_not_there_stops_the_site(tmp_path: Path) -> None:
    settings, _, _ = (ROOT / "mkdocs.yml").read_text().partition("nav:\n")
    (tmp_path / "mkdocs.yml").write_text(settings)
    (tmp_path / "docs").mkdir()
    shutil.copy(DOCS / "site_pages.py", tmp_path / "docs")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/python.md"):
        (tmp_path / name).write_text("# A page\n")
    (tmp_path / "docs/glossary.md").write_text("# Glossary\n\n[away](python.md#not-there)\n")
    done = build_site(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert "not-there" in done.stderr


def build_site(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", os.fspath(site)]
    told = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(line, cwd=root, env=told, capture_output=True, text=True)


def test_langgraph_finds_the_graph_of_a_run() -> None:
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
