"""`va.open_run` returns what the command line prints, `va.rate` rates whatever holds battles."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import pyarrow as pa
import pytest

import videoautoarena as va
from tests.support.labelled import label_all
from tests.support.played import (
    battle,
    call,
    evolution,
    invoke,
    lineage,
    manifest,
    play,
    slot,
    video,
)
from tests.support.small_benches import freeze_ground
from videoautoarena.runs.api import run as api
from videoautoarena.runs.rating import method

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'\x1b[2J\u202e"
ROWS = [
    {"model_a": a, "model_b": b, "winner": winner, "video": f"v{k}"}
    for k, (a, b, winner) in enumerate(
        [("x", "y", "model_a"), ("y", "z", "a"), ("x", "z", "tie"), ("z", "y", "model_b")] * 6
    )
]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return freeze_ground(tmp_path_factory.mktemp("ground"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()))


def printed(*words: object) -> Any:
    return json.loads(invoke(*words, "--json").stdout)


def as_read(found: Any) -> Any:
    """Return JSON-ready values as they come back out of JSON."""
    return json.loads(json.dumps(found))


_METHODS = (
    *("leaderboard", "battles", "audit", "status", "labels"),
    *("setup", "videos", "users", "costs", "rounds", "standards"),
)


class Markup(HTMLParser):
    """What a browser takes for markup."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), {}),
        (("--style", "--seats", "--elo"), {"style": True, "seats": True, "elo": True}),
        (("--ties", "davidson", "--pairs"), {"ties": "davidson", "pairs": True}),
        (("--without", "ties"), {"without": ("ties",)}),
        (("--anchor", "offline:hawk=1200"), {"anchor": "offline:hawk=1200"}),
        (("--by", "round"), {"by": "round"}),
        (("--by", "pair"), {"by": "pair"}),
    ],
)
def test_a_leaderboard_is_what_the_command_prints(
    ground: Path, words: tuple[str, ...], options: dict[str, Any]
) -> None:
    board = va.open_run(ground / "out").leaderboard(**options)
    assert as_read(board.to_json()) == printed("leaderboard", ground / "out", *words)
    text = invoke("leaderboard", ground / "out", *words).stdout
    assert board.to_text() == text.removesuffix("\n")
    pasted = invoke("leaderboard", ground / "out", *words, "--format", "csv").stdout
    assert board.to_markup("csv") == pasted.removesuffix("\n")


def test_battles_audit_and_status_are_what_the_commands_print(ground: Path) -> None:
    with va.open_run(ground / "out") as run:
        assert as_read(run.battles().to_json()) == printed("battles", ground / "out")
        assert as_read(run.audit().to_json()) == printed("audit", ground / "out")
        assert as_read(run.status().to_json()) == printed("status", ground / "out")
        assert run.status().to_text() == invoke("status", ground / "out").stdout.removesuffix("\n")
        assert run.audit().to_text() == invoke("audit", ground / "out").stdout.removesuffix("\n")
        assert run.models == printed("status", ground / "out")["models"]


def test_labels_are_what_the_command_prints(ground: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(ground / "out", tmp_path / "out"))
    ids = [battle.id for battle in va.open_run(out).battles() if battle.verdict != "void"]
    label_all(out, dict.fromkeys(ids, "a"))
    labels = va.open_run(out).labels()
    assert as_read(labels.to_json()) == printed("labels", "show", out)
    assert labels.to_text() == invoke("labels", "show", out).stdout.removesuffix("\n")
    assert [row["labeller"] for row in labels] == ["anna"]
    assert labels.record.votes.cast == 0


@pytest.mark.parametrize("what", ["setup", "videos", "users", "costs", "rounds", "standards"])
def test_what_describes_a_run_is_what_the_export_prints(ground: Path, what: str) -> None:
    found = getattr(va.open_run(ground / "out"), what)()
    lines = invoke("export", ground / "out", "--what", what).stdout.splitlines()
    told = [json.loads(line) for line in lines]
    assert as_read(found.to_json()) == (told if isinstance(found, va.Records) else told[0])
    assert len(found.to_frame()) == len(found) > 0
    if what in ("setup", "costs"):
        assert [str(found)] == lines


def test_costs_have_their_parts_with_types_and_as_tables(ground: Path) -> None:
    costs = va.open_run(ground / "out").costs()
    assert {row.role for row in costs.roles} >= {"contestant", "judge"}
    assert sum(row.calls for row in costs.roles) == sum(row.calls for row in costs.models)
    first = next(iter(costs.battles.values()))
    assert {who.partition(":")[0] for who in first} == {"contestant", "judge", "questioner"}
    names, row = costs.to_markup("csv").splitlines()[:2]
    assert dict(zip(names.split(","), row.split(","), strict=True))["role"] == "contestant"
    assert va.open_run(ground / "out").setup().record.roles.judges == ("offline:judge",)


def test_the_frames_of_a_video_are_those_that_the_run_has_shown(ground: Path) -> None:
    run = va.open_run(ground / "out")
    first = run.battles()[0].video
    frames = run.frames(first)
    assert as_read(frames.to_json()) == printed("frames", first, "--run", ground / "out")
    assert len(frames) == len(frames.jpegs) == len(frames.to_frame())
    assert all(jpeg.startswith(b"\xff\xd8") for jpeg in frames.jpegs)
    words = ("frames", first, "--run", ground / "out")
    for name, value in (("model", "mole"), ("seen", 3)):
        found = run.frames(first, **{name: value})  # type: ignore[arg-type]
        assert as_read(found.to_json()) == printed(*words, f"--{name}", value)
    assert frames._repr_html_().count("data:image/jpeg") == len(frames)


def test_a_notebook_whose_event_loop_runs_can_ask_for_frames(ground: Path) -> None:
    run = va.open_run(ground / "out")
    first = run.battles()[0].video

    async def cell() -> int:
        return len(run.frames(first, seen=2))

    with asyncio.Runner() as runner:
        assert runner.run(cell()) == 2


def test_reading_changes_no_byte_of_a_run(out: Path) -> None:
    before = (out / "run.sqlite").read_bytes()
    files = {path.name for path in out.iterdir()}
    with va.open_run(out) as run:
        assert None not in [getattr(run, name)() for name in _METHODS]
    assert {path.name for path in out.iterdir()} == files
    assert (out / "run.sqlite").read_bytes() == before


def test_a_closed_run_says_so_and_an_open_one_needs_no_closing(out: Path) -> None:
    with va.open_run(out) as run:
        assert len(run.battles()) > 0
    with pytest.raises(va.BadInput, match="was closed; open it again"):
        run.battles()


def test_to_frame_has_a_row_a_model_and_a_column_a_figure(out: Path) -> None:
    board = va.open_run(out).leaderboard()
    frame = board.to_frame()
    assert list(frame["model"]) == list(board.ratings)
    assert frame["rating"].iloc[0] == board.rows[0]["rating"]
    assert "mean_tokens.value" in frame.columns
    assert len(va.open_run(out).battles().to_frame()) == len(va.open_run(out).battles())


@pytest.mark.parametrize("name", _METHODS)
def test_a_notebook_shows_hostile_text_as_text(tmp_path: Path, name: str) -> None:
    cast = {
        alias: {**manifest()["cast"]["owl"], "model": f"offline:{SCRIPT}"}
        for alias in (SCRIPT, "owl", "mole", "examiner", "judge")
    }
    settings = manifest(models=[SCRIPT, "owl", "mole"], cast=cast, judges=[SCRIPT])
    found_in = evolution("x").model_copy(update={"weaknesses_a": (SCRIPT,)})
    fought = battle(
        slot(film := video(path=SCRIPT), 0),
        model_a=SCRIPT,
        model_b="owl",
        persona_text=SCRIPT,
        question=SCRIPT,
        evolution=(found_in,),
    )
    called = call(fought.id, alias=SCRIPT)
    played = play(tmp_path / "out", [fought], videos=[film], calls=[called], settings=settings)
    label_all(played, {fought.id: "a"}, labeller=SCRIPT)
    run = va.open_run(played)
    shown = getattr(run, name)()._repr_html_()
    found = Markup(shown)
    assert found.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert found.attributes <= {"style"}
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    if name not in ("audit", "standards"):
        assert "&lt;script&gt;" in shown


def test_without_pandas_to_frame_names_what_to_install(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(va.BadInput, match=r"^to_frame\(\) needs pandas; .* pip install pandas$"):
        va.open_run(out).leaderboard().to_frame()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"ties": "thirds"}, "ties cannot be 'thirds': .*'half' or 'davidson'"),
        ({"style": "yes"}, "style cannot be 'yes'"),
        ({"seed": -1}, "seed cannot be -1"),
        ({"tie": "half"}, "tie is no option of rating; there are ties,"),
        ({"by": "colour"}, 'by cannot be "colour"; this run has duration,'),
        ({"anchor": "nobody"}, "no such model"),
        ({"assume_random": True}, "goes with labels"),
        ({"labels": True}, "no battle of this run has a label"),
        ({"labels": True, "by": "round"}, "leave out by"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(out: Path, wrong: Any, said: str) -> None:
    with pytest.raises(va.BadInput, match=said) as refused:
        va.open_run(out).leaderboard(**wrong)
    assert "\n" not in str(refused.value)


def test_a_folder_without_a_run_and_a_video_that_is_not_there_are_refused(
    tmp_path: Path, ground: Path
) -> None:
    with pytest.raises(va.BadInput, match="is no folder"):
        va.open_run(tmp_path / "nowhere")
    with pytest.raises(va.BadInput, match="holds no run"):
        va.open_run(tmp_path)
    with pytest.raises(va.BadInput, match="has no video nothing"):
        va.open_run(ground / "out").frames("nothing")
    with pytest.raises(va.BadInput, match="give one"):
        va.open_run(ground / "out").frames("nothing", model="hawk", seen=2)


TUPLES = [(row["model_a"], row["model_b"], row["winner"], row["video"]) for row in ROWS]


@pytest.mark.parametrize(
    "given",
    [
        lambda: ROWS,
        lambda: iter(ROWS),
        lambda: TUPLES,
        lambda: pd.DataFrame(ROWS),
        lambda: pa.Table.from_pylist(ROWS),
    ],
    ids=["mappings", "iterator", "tuples", "pandas", "arrow"],
)
def test_battles_are_rated_alike_however_they_are_given(
    tmp_path: Path, given: Callable[[], Any]
) -> None:
    file = tmp_path / "battles.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    expected = printed("rate", file, "--seats")
    assert as_read(va.rate(file, seats=True).to_json()) == expected
    assert as_read(va.rate(given(), seats=True).to_json()) == expected


def test_no_battles_are_called_so() -> None:
    with pytest.raises(va.BadInput, match="battles has no rows"):
        va.rate([])


def test_the_model_that_wins_more_leads_by_what_bradley_and_terry_make_of_it() -> None:
    # Three wins of four are odds of 3, and Elo points are 400 of the logarithm to base 10 of odds.
    games = [("x", "y", 1), ("x", "y", 1), ("x", "y", 1), ("x", "y", 0)] * 25
    ratings = va.rate(games, fit="mle").ratings
    assert ratings["x"] is not None
    assert ratings["y"] is not None
    assert ratings["x"] - ratings["y"] == pytest.approx(190.85, abs=0.1)
    assert ratings["x"] + ratings["y"] == pytest.approx(2000, abs=0.01)


def test_the_battles_of_a_run_are_rated_as_the_run_is(ground: Path) -> None:
    run = va.open_run(ground / "out")
    assert va.rate(run.battles()).ratings == run.leaderboard().ratings


def test_gaps_of_pandas_are_gaps() -> None:
    rows = [*ROWS, {"model_a": None, "model_b": pd.NA, "winner": "void", "video": float("nan")}]
    table = va.rate(pd.DataFrame(rows)).to_json()
    assert table["settings"]["totals"]["voids"] == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (7, "battles are of type int; pass a file, a table, mappings"),
        ({"model_a": "x"}, "battles are of type dict"),
        ([("x", "y")], r"battles, index 0: 2 values; a tuple is \(model_a, model_b, winner, video"),
        ([*ROWS, 5], f"battles, index {len(ROWS)}: not a battle"),
        ([{"model_a": "x", "model_b": "y"}], "battles has no column winner"),
        ([{**ROWS[0], "winner": "me"}], 'battles, index 0: winner is "me"'),
        ([{**ROWS[0], "model_b": "x"}], 'index 0: "x" plays against itself'),
        (pd.DataFrame([{**ROWS[0], "winner": 3}]), "battles, row 0: winner is"),
        (
            pd.DataFrame([{**ROWS[0], "winner": ["a"]}]),
            'battles, column "winner": not a plain column',
        ),
        ("nowhere.csv", "nowhere.csv is no file"),
    ],
)
def test_what_is_no_battle_is_named_by_its_place(wrong: Any, said: str) -> None:
    with pytest.raises(va.BadInput, match=said) as refused:
        va.rate(wrong)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("option", [{"reweight": True}, {"without": ("ties",)}])
def test_what_only_a_run_can_tell_is_refused(option: Any) -> None:
    with pytest.raises(va.BadInput, match="needs a run; leave it out"):
        va.rate(ROWS, **option)


def test_options_of_rating_are_those_of_the_command_line() -> None:
    names = {name: getattr(method, name) for name in ("Ties", "Intervals", "Unwanted", "Fit")}
    options = get_type_hints(api.RatingOptions, localns=names)
    fields = get_type_hints(method.RatingMethod)
    assert list(options.items()) == list(fields.items())


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = (
        "import sys, videoautoarena as va; print(sorted(n for n in sys.modules if "
        "n.startswith('videoautoarena.') or n in ('numpy', 'pydantic', 'rich', 'click')))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_every_name_of_the_package_is_there_and_says_what_it_is() -> None:
    assert set(va.__all__) <= set(dir(va))
    for name in set(va.__all__) - {"__version__"}:
        assert len(getattr(va, name).__doc__ or "") > 40, name
    assert re.fullmatch(r"\d+\.\d+\.\d+", va.__version__)
    assert va.BadInput is importlib.import_module("videoautoarena.memory.records.errors").BadInput
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        va.nothing  # noqa: B018
    assert os.fspath(Path(va.__file__)).endswith("__init__.py")
