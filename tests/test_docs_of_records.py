"""Every shape that other programs rely on is written down field by field in docs/records.md."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, Field

from docs.generate import DOCS, fields_table, meanings
from tests.support.clips import draw_folder
from tests.support.held import held
from tests.support.json_schemas import problems
from tests.support.pages import first_column, section
from tests.support.played import call, invoke, lineage, play, slot, video
from tests.support.published_dialogues import lay, published
from tests.support.published_tasks import mlvu_choice, write
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.graph.dialogue_checks import FALLS
from videoautoarena.memory.records.records import (
    Attempt,
    Battle,
    CallLimits,
    Evolution,
    Grade,
    Judging,
    Price,
)
from videoautoarena.memory.store.evidence import BattleVote as BattleVote
from videoautoarena.memory.store.evidence import (
    Label,
    LabelSample,
    QuestionTag,
    RankedQuestion,
    RankingVote,
    Trial,
)
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import Finished
from videoautoarena.runs.bench.dialogues.score import (
    AbilityFigure,
    ConstantScore,
    DialogueComparison,
    DialogueGap,
    DialogueScore,
    DialogueSetScores,
    PartFigure,
)
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import (
    Comparison,
    Result,
    ResultFacts,
    ResultHeader,
    RoundLine,
    Ruling,
    TaskLine,
    Vote,
    write_result,
)
from videoautoarena.runs.bench.format.schema import (
    BenchVideo,
    Check,
    DialogueItem,
    Hardness,
    Item,
    JudgeVerdict,
    Manifest,
    TaskItem,
    Votes,
)
from videoautoarena.runs.bench.format.schema import Round as DialogueRound
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.score.compare import BenchComparison as BenchComparison
from videoautoarena.runs.bench.score.sweep import LadderRung, LengthLadder, Sweep, SweepSetting
from videoautoarena.runs.bench.score.task_points import PositionCell, Positions, ScoreFigure
from videoautoarena.runs.bench.score.task_score import (
    TaskBoard,
    TaskComparison,
    TaskFigure,
    TaskGap,
    TaskScore,
    TaskSetScores,
)
from videoautoarena.runs.cli.program.ending import state_of
from videoautoarena.runs.exchange.interop.mt_video_bench import DialogueSetImport
from videoautoarena.runs.exchange.interop.task_sets import TaskSetImport
from videoautoarena.runs.exchange.training import rows
from videoautoarena.runs.formats.record_json import SPREAD, fields_json, keyed, record_json
from videoautoarena.runs.run.battles.export import KINDS, records_schema
from videoautoarena.runs.run.battles.rounds import Difficulty, Gate, Points, RunRound
from videoautoarena.runs.run.battles.standards import StandardVerdicts
from videoautoarena.runs.run.config.arena_file import (
    ModelTable,
    RetrievalTable,
    RolesTable,
    RunTable,
    SamplingTable,
)
from videoautoarena.runs.run.inputs.users import RunUser
from videoautoarena.runs.run.rundir.account import Member, Roles, RunSetup, RunVideo
from videoautoarena.runs.run.rundir.spending import RunCosts, Spending, Took, Waits


class Written(BaseModel):
    tokens: int = Field(default=0, serialization_alias="in")
    """Of the
    prompt."""
    hidden: int = Field(default=0, exclude=True)
    own: int = 0
    """Its own."""


class WrittenAgain(Written):
    more: int = 0
    """`a` | `b`."""
    tokens: int = Field(default=1, serialization_alias="in")


@dataclass
class Laid:
    own: int
    """Its own."""


class Paired(NamedTuple):
    own: int
    """Its own."""


class Keyed(TypedDict):
    own: int
    """Its own."""


class KeyedFurther(Keyed):
    more: NotRequired[int]
    """`a` | `b`."""


@dataclass
class Chosen:
    SHOWN: ClassVar = ("laid", "more", "own")
    own: int = field(metadata=keyed("lambda"))
    """Under another name."""
    laid: Laid | None = field(metadata=SPREAD)
    """Its fields stand here."""
    hidden: int = 0

    @property
    def more(self) -> int:
        """Computed."""
        return 1


class Silent(BaseModel):
    own: int = 0
    more: int = 0
    """Said."""


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (WrittenAgain, {"in": "Of the prompt.", "own": "Its own.", "more": "`a` | `b`."}),
        (Laid, {"own": "Its own."}),
        (Paired, {"own": "Its own."}),
        (KeyedFurther, {"own": "Its own.", "more": "`a` | `b`."}),
        (Chosen, {"own": "Its own.", "more": "Computed.", "lambda": "Under another name."}),
    ],
)
def test_a_field_means_what_stands_below_it(declared: type, expected: dict[str, str]) -> None:
    assert list(meanings(declared).items()) == list(expected.items())


def test_what_is_written_down_of_a_class_is_what_its_json_has() -> None:
    assert list(fields_json(Chosen(1, Laid(2)))) == list(meanings(Chosen))


def test_a_field_without_a_meaning_is_named() -> None:
    with pytest.raises(ValueError, match=r"^Silent\.own has no docstring; say what it holds$"):
        meanings(Silent)


def test_a_table_of_fields_is_markdown_in_the_order_of_its_classes() -> None:
    table = fields_table("memory.records.records:StoredAnswer memory.records.records:Grade")
    rows = table.splitlines()
    assert rows[:3] == [
        "| field | what it holds |",
        "|---|---|",
        "| `battle` | Id of the battle it was given in |",
    ]
    assert first_column(table)[2:] == fields(Grade)


def fields(model: Any) -> list[str]:
    return [field.serialization_alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize(
    ("heading", "shapes"),
    [
        ("A battle", (Battle,)),
        ("A task", (TaskItem, TaskSetImport)),
        ("A dialogue", (DialogueItem, DialogueRound, DialogueSetImport)),
        ("A judging", (Judging,)),
        ("An evolution", (Evolution,)),
        ("A grade", (Grade,)),
        ("A label", (Label,)),
        ("A vote", (BattleVote,)),
        ("A ranking", (RankingVote,)),
        ("An attempt", (Attempt,)),
        ("A draw", (LabelSample,)),
        ("A trial", (Trial,)),
        ("A tag", (QuestionTag,)),
        ("Settings of a run", (RunSetup, Roles, Member)),
        ("A video of a run", (RunVideo,)),
        ("A user of a run", (RunUser,)),
        ("Costs of a run", (RunCosts,)),
        ("A sum of calls", (Spending,)),
        ("What a battle took", (Took,)),
        ("A round", (RunRound,)),
        ("Verdicts by standard", (StandardVerdicts,)),
        ("A preference", (rows.Preference, rows.SentFrames)),
        ("A conversation", (rows.Conversation, rows.Turn)),
        ("A result on tasks", (TaskLine,)),
        ("Scores on tasks", (TaskSetScores,)),
        ("A board of tasks", (TaskBoard,)),
        ("A score on tasks", (TaskScore, TaskFigure, Positions)),
        ("A result on dialogues", (RoundLine,)),
        ("Scores in dialogues", (DialogueSetScores, ConstantScore)),
        ("A score in dialogues", (DialogueScore, AbilityFigure, PartFigure)),
        ("Two models in dialogues", (DialogueComparison, DialogueGap)),
        ("A sweep", (Sweep, SweepSetting)),
        ("A ladder", (LengthLadder, LadderRung)),
        ("Two models on tasks", (TaskComparison, TaskGap)),
        ("models.NAME", (ModelTable, CallLimits, Price)),
        ("providers.NAME", (Declaration,)),
        ("roles", (RolesTable,)),
        ("run", (RunTable,)),
        ("sampling", (SamplingTable,)),
        ("models.NAME.retrieval", (RetrievalTable,)),
        ("manifest.json", (Manifest,)),
        ("A video of a bench", (BenchVideo,)),
        ("questions.jsonl", (Item,)),
        ("A result", (ResultHeader, Ruling)),
        ("Facts of a result", (ResultFacts,)),
        ("A result against an anchor", (Comparison,)),
        ("Two models on a bench", (BenchComparison,)),
    ],
)
def test_a_shape_is_written_down_where_it_is_told_of(heading: str, shapes: Any) -> None:
    marked = re.findall(
        r"^<!-- fields: (?:schema )?(\S+) -->$", section("records.md", heading), re.MULTILINE
    )
    inside = [name.partition(":") for name in marked]
    found = [getattr(import_module(f"videoautoarena.{place}"), name) for place, _, name in inside]
    assert found[: len(shapes)] == list(shapes)


@pytest.mark.parametrize(
    ("heading", "models"),
    [
        ("A sum of calls", (Waits,)),
        ("A round", (Difficulty, Gate, Points)),
        ("A preference", (rows.Ruled,)),
        ("A conversation", (rows.Message,)),
        ("A score on tasks", (ScoreFigure, PositionCell)),
        ("A dialogue", (Check,)),
        ("questions.jsonl", (Votes, Hardness, JudgeVerdict)),
    ],
)
def test_what_stands_within_a_record_is_named_where_it_stands(heading: str, models: Any) -> None:
    words = set(re.findall(r"`(\w+)`", section("records.md", heading)))
    for model in models:
        assert set(fields(model)) <= words, model


def test_each_reason_for_which_a_dialogue_is_dropped_is_named() -> None:
    assert set(FALLS) <= set(re.findall(r"`(\w+)`", section("records.md", "A made dialogue")))


def assert_written_down(heading: str, found: Mapping[str, Any]) -> None:
    """Fail where the first table of a section lacks a key, or has those there are otherwise."""
    text = section("records.md", heading).split("<!-- end -->")[0]
    assert [name for name in first_column(text) if name in found] == list(found)


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
    assert first_column(short) == list(record_json(state_of(Finished(1, 1, 0, False, 0.05), run)))
    for heading, found in {
        "A battle with everything around it": shown,
        "A call": shown["calls"][0],
        "A leaderboard": board,
        "A row": board["models"][0],
        "Settings": board["settings"],
        "Slices": sliced["slices"][0],
    }.items():
        assert_written_down(heading, found)


def test_profiles_are_written_down(run: Path) -> None:
    found = json.loads(invoke("leaderboard", run, "--profile", "--json").output)
    one = json.loads(invoke("leaderboard", run, "--profile", "hawk", "--json").output)
    assert_written_down("Profiles", found)
    assert first_column(section("records.md", "A profile")) == [k for k in one if k != "schema"]
    theme = section("records.md", "A theme of weaknesses")
    assert first_column(theme) == list(one["themes"][0])


def test_an_export_is_written_down(run: Path) -> None:
    words = section("records.md", "An export") + section("records.md", "A call")
    for what in ("calls", "battles"):
        line = invoke("export", run, "--what", what).output.splitlines()[0]
        fields_of_battle = set(first_column(section("records.md", "A battle")))
        assert set(json.loads(line)) <= set(re.findall(r"`(\w+)`", words)) | fields_of_battle


def test_the_schema_of_what_describes_a_run_is_published() -> None:
    published = json.loads((DOCS / "run-records.schema.json").read_text())
    assert published == records_schema(), "make docs"


@pytest.mark.parametrize("what", KINDS)
def test_what_describes_a_run_fits_its_schema(run: Path, what: str) -> None:
    whole = records_schema()
    lines = [json.loads(line) for line in invoke("export", run, "--what", what).stdout.splitlines()]
    assert lines
    for line in lines:
        assert problems(line, whole["properties"][what], whole) == []
        assert next(iter(line)) == "schema"
    assert problems({**lines[0], "more": 1}, whole["properties"][what], whole)


def test_what_labels_show_is_written_down(run: Path) -> None:
    told = Label(battle=slot(video(), 1).id, labeller="anna", verdict="a")
    posed = (RankedQuestion(source="x", text="?"), RankedQuestion(source="y", text="?"))
    ranked = RankingVote(video=video().id, labeller="anna", questions=posed, ranks=(2, 1))
    with Store.open(run / "run.sqlite", write=True) as store:
        store.evidence.add_labels([told])
        asyncio.run(store.evidence.votes.put(ranked))
    shown = json.loads(invoke("labels", "show", run, "--json").output)
    assert_written_down("Labels", shown)
    text = section("records.md", "Labels") + section("records.md", "Ranked questions")
    words = set(re.findall(r"`(\w+)`", text))
    assert set(shown["sample"]) | set(shown["labellers"][0]) | set(shown["calibration"][0]) <= words
    ranking = shown["ranking"]
    assert set(shown["votes"]) | set(ranking) | set(ranking["sources"][0]) <= words


def test_what_a_doctor_finds_is_written_down(tmp_path: Path) -> None:
    found = json.loads(invoke("doctor", "--videos", tmp_path, "--json").stdout)
    assert_written_down("What a doctor finds", found)
    text = section("records.md", "What a doctor finds")
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
    # That a reply was cut off is left out where none was.
    told = [name for name in first_column(text) if name != "was_cut"]
    assert told == list(found["live"][0])


def test_an_audit_is_written_down_and_so_is_every_figure_with_its_threshold(run: Path) -> None:
    found = json.loads(invoke("audit", run, "--json").output)
    assert first_column(section("records.md", "An audit")) == list(found)
    assert_written_down("A finding", found["findings"][0])
    told = section("commands/trust.md", "`arena audit OUT`")
    for finding in found["findings"]:
        name, figure = finding["key"].split(".")[:2]
        assert f"`{name}.{figure}`" in told or name in ("labels", "canary"), finding["key"]


def test_names_inside_a_cell_are_those_of_the_code(run: Path) -> None:
    board = json.loads(invoke("leaderboard", run, "--json").output)
    status = json.loads(invoke("status", run, "--json").output)
    shown = json.loads(invoke("show", run, slot(video(), 1).id, "--json").output)
    text = (DOCS / "records.md").read_text()
    for name, inner in {
        "totals": board["settings"]["totals"],
        "calls": status["calls"]["judge"],
        "usage": shown["calls"][0]["usage"],
    }.items():
        rows = re.findall(rf"^\| `{name}` \| (.*) \|$", text, re.MULTILINE)
        assert any(set(re.findall(r"`(\w+)`", row)) == set(inner) for row in rows), name


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
        # The manifest ends in a digest of itself, which is no field of it.
        assert set(found) - {"bench"} <= set(first_column(section("records.md", heading)))
    checked = json.loads(invoke("bench", "verify", tmp_path / "bench", "--json").output)
    told = set(re.findall(r"`(\w+)`", section("records.md", "A bench folder")))
    assert set(frozen) <= told
    assert set(checked) <= told


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
    told = section("records.md", "A result")
    assert {*head, *line} <= set(first_column(told))
    assert first_column(section("records.md", "Scores")) == list(sliced)
    row = sliced["models"][0]
    text = section("records.md", "A score")
    # Nobody here is judged against itself.
    assert [name for name in first_column(text) if name != "copies"] == list(row)
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


def test_what_is_told_of_videos_and_their_frames_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    draw_folder(tmp_path / "clips", 1, seconds=2.0)
    listed = json.loads(invoke("videos", "clips", "--json").stdout)
    seen = json.loads(invoke("frames", "clips/clip00.mp4", "--frames", "2", "--json").stdout)
    assert first_column(section("records.md", "A folder of videos")) == list(listed)
    assert first_column(section("records.md", "A video that was listed")) == list(
        listed["videos"][0]
    )
    text = section("records.md", "Frames of a video")
    assert first_column(text) == list(seen)
    told = set(re.findall(r"`(\w+)`", text + section("records.md", "A folder of videos")))
    assert set(seen["frames"][0]) | set(listed["totals"]) <= told


def test_what_an_import_of_dialogues_prints_is_written_down(tmp_path: Path) -> None:
    file = lay(tmp_path, "summary", published("summary"))
    line = ("import", "mt-video-bench", file, "--to", tmp_path / "set", "--json")
    told = set(re.findall(r"`(\w+)`", section("records.md", "A dialogue")))
    assert set(json.loads(invoke(*line).stdout)) <= told


def test_what_a_set_gives_away_is_written_down_field_by_field(tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", mlvu_choice(20))
    taken = json.loads(invoke("import", "mlvu", file, "--to", tmp_path / "set", "--json").stdout)
    told = set(re.findall(r"`(\w+)`", section("records.md", "A task")))
    assert set(taken) <= told
    found = json.loads(invoke("bench", "probe", tmp_path / "set", "--json").stdout)
    heading = section("records.md", "What a set gives away")
    told = set(first_column(heading))
    assert set(found) <= told
    assert set(taken["shortcuts"]) <= set(found)
    (part,) = found["parts"]
    assert set(part) | set(part["results"][0]) <= told


def test_what_a_made_dialogue_says_of_itself_is_written_down(tmp_path: Path) -> None:
    clips = draw_folder(tmp_path / "clips", 1)
    to = tmp_path / "set"
    typed = ("--abilities", "answer_refusal", "--turns", "5", "--json")
    done = invoke("dialogues", "make", clips, "--to", to, "-q", *typed)
    text = section("records.md", "A made dialogue")
    of_dialogue, of_round = re.split(r"^And of a round", text, flags=re.MULTILINE)
    bench = open_bench(to)
    assert {*first_column(of_dialogue)} == {key for item in bench.items for key in item.made}
    of_rounds = {key for item in bench.items for one in item.rounds for key in one.made}
    assert of_rounds <= {*first_column(of_round)}
    found = json.loads(done.stdout)
    keys = {*found, *found["abilities"][0], *bench.manifest.selection}
    assert [key for key in keys if f"`{key}`" not in text] == []
