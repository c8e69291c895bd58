"""A run as one file: what it holds is what the commands print, and nothing of the machine."""

from __future__ import annotations

import getpass
import gzip
import json
import re
import socket
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import videoautoarena as va
from tests.runs.analysis.audit.test_audit import biased
from tests.runs.analysis.leaderboard.test_effects_by_slice import film_of, fought
from tests.runs.views.results.test_leaderboard import Bout
from tests.support.audited import entry
from tests.support.clips import draw_folder
from tests.support.played import battle, call, invoke, lineage, manifest, play, slot, video
from tests.support.small_runs import play as play_run
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Frame, Nonce, VideoFrames
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.rating.fit import MOVED
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.views.page import report
from videoautoarena.runs.views.page.data import CHUNK, PageData
from videoautoarena.runs.views.page.report import ReportOptions, plain_table, write_report
from videoautoarena.runs.views.page.sheets import worth_a_thumbnail
from videoautoarena.runs.views.results.leaderboard import leaderboard_report


class Blocks(HTMLParser):
    """The data in a report, by the names of its blocks."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._name: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._name = dict(attrs).get("id") if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._name and self.cdata_elem:
            self.found[self._name] = self.found.get(self._name, "") + data

    def read(self, name: str) -> Any:
        text = self.found[name]
        if name in ("summary", "judging-standards"):
            return json.loads(text)
        return json.loads(gzip.decompress(b64decode(text)))


def written(out: Path, to: Path | None = None, **order: Any) -> Blocks:
    done = run_async(write_report(ReportOptions(out, to or out / "report.html", **order)))
    return Blocks(done.to.read_text(encoding="utf-8"))


def test_a_large_run_says_how_long_it_is_read_and_how_far_its_pictures_are(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    heard: list[tuple[int, int, str]] = []
    order = ReportOptions(small, small / "report.html")
    for least in (9, 1):
        monkeypatch.setattr(report, "WORTH_SAYING", least)
        run_async(write_report(order, lambda *how_far: heard.append(how_far), said.append))
    assert [line.rpartition(" about ")[0] for line in said] == ["reading 3 battles takes"]
    assert heard == 2 * [(k, 1, "pictures of videos") for k in (0, 1)]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two real clips with three stand-ins."""
    folder = tmp_path_factory.mktemp("report")
    play_run(draw_folder(folder / "clips", 2), folder / "out", rounds=2)
    return folder / "out"


@pytest.fixture(scope="module")
def page(played: Path) -> Path:
    """Its report with a few pictures, which no test changes."""
    written(played, played.parent / "page.html", thumbs=4)
    return played.parent / "page.html"


@pytest.fixture(scope="module")
def blocks(page: Path) -> Blocks:
    return Blocks(page.read_text(encoding="utf-8"))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()))


def table_of(summary: Any, section: str) -> list[list[dict[str, Any]]]:
    tables = summary["sections"][section]["tables"]
    return [[row["fields"] for row in table["rows"]] for table in tables]


def as_read(found: Any) -> Any:
    return json.loads(json.dumps(found))


def test_a_page_has_at_its_top_the_alarms_that_stand_first_under_the_board(
    tmp_path: Path,
) -> None:
    films = [video(bytes([k])) for k in range(30)]
    out = play(tmp_path / "out", biased(), videos=films)
    words = written(out, thumbs=0).read("summary")["words"]
    said = [
        "".join(p if isinstance(p, str) else p["figure"] for p in one) for one in words["alarms"]
    ]
    board = " ".join(invoke("leaderboard", out, "--notes").stdout.split())
    assert said
    assert all(one.startswith("AUDIT ALARM: ") and one in board for one in said)
    assert board.count("AUDIT ALARM: ") == len(said)


def test_a_contestant_without_a_limit_has_the_frames_that_it_was_really_sent(
    tmp_path: Path,
) -> None:
    film = video()
    sent = {"hawk": (64,), "owl": (4, 64), "mole": (0,)}
    shots = tuple(Frame(time_s=k / 8, digest=digest(str(k))) for k in range(64))
    settings = manifest()
    settings["cast"] |= {name: entry(f"openai:{name}", None) for name in sent}
    out = play(tmp_path / "out", lineage(film), settings=settings)

    async def put(store: Store) -> None:
        await store.put_frames(VideoFrames(video=film.id, width_px=64, height_px=36, frames=shots))
        for name, each in sent.items():
            for k, frames in enumerate(each):
                nonce = Nonce(scope=f"{film.id}-p1-r{k}", role="contestant")
                row = call(nonce.scope, nonce=nonce, alias=name, model=name, frames=frames)
                await store.journal.record(row)

    with Store.open(out / "run.sqlite", write=True) as store:
        run_async(put(store))
    rows = written(out, thumbs=0).read("summary")["models"]
    assert {row["model"]: row["frames_sent"] for row in rows} == {
        "hawk": "64 frames", "owl": "4 to 64 frames", "mole": ""
    }  # fmt: skip


def test_what_a_report_shows_is_what_open_run_returns(played: Path, blocks: Blocks) -> None:
    summary = blocks.read("summary")
    run = va.open_run(played)
    board = run.leaderboard(pairs=True).to_json()
    rows = {row["model"]: row for row in summary["models"]}
    for row in as_read(board["models"]):
        assert row.items() <= rows[row["model"]].items()
    # How far the zero has moved is for those who compare boards, not for a page's banner.
    cautions = [text for text in board["settings"]["warnings"] if MOVED not in text]
    assert summary["settings"] == as_read(board["settings"] | {"warnings": cautions})
    assert summary["pairs"] == as_read(run.leaderboard(by="pair").rows)
    assert summary["audit"] == as_read(run.audit().rows)
    assert summary["rounds"] == as_read(run.rounds().to_json())
    assert summary["spending"] == as_read(run.costs().to_json()["roles"])
    table = invoke("leaderboard", played, "--format", "csv").stdout
    assert summary["csv"] == table.removesuffix("\n")
    rows = {name: table_of(summary, name) for name in ("spending", "methods")}
    assert [row["calls"] for row in rows["spending"][0]] == [
        one["calls"] for one in summary["spending"]
    ]
    assert {one["name"]: one["text"] for one in rows["methods"][0]}["Pairing"] == (
        "mix; 10 % of battles judged in both orders"
    )
    assert {one["name"] for one in rows["methods"][1]} == summary["methods"]["cast"].keys()
    status = as_read(run.status().to_json())
    assert summary["status"].items() <= status.items()
    for trait, parts in summary["slices"].items():
        known = as_read(run.leaderboard(by=trait).to_json()["slices"])
        assert [part["slice"] for part in parts] == [part["slice"] for part in known]
        for part, whole in zip(parts, known, strict=True):
            for row, full in zip(part["rows"], whole["models"], strict=True):
                assert row.items() <= full.items()


def test_every_battle_is_in_a_part_with_its_words_and_what_it_took(
    played: Path, blocks: Blocks
) -> None:
    run = va.open_run(played)
    index = blocks.read("index")
    costs = run.costs().to_json()["battles"]
    told = json.loads(invoke("battles", played, "--sort", "surprise", "--json").stdout)
    by_surprise = sorted(range(len(told)), key=index["surprise"].__getitem__)
    assert [index["id"][k] for k in by_surprise] == [one["id"] for one in told]
    battles = as_read(run.battles().to_json())
    parts = [of for k in range(0, len(battles), CHUNK) for of in blocks.read(f"part-{k // CHUNK}")]
    assert index["id"] == [of["id"] for of in battles] == [of["id"] for of in parts]
    for whole, part, place in zip(battles, parts, range(len(parts)), strict=True):
        took = part.pop("took")
        assert part.items() <= whole.items()
        assert took == as_read(costs[part["id"]])
        assert index["models"][index["a"][place]] == part["model_a"]
        assert index["videos"][index["video"][place]] == part["video"]
    assert blocks.read("videos").keys() == {of["video"] for of in battles}


@pytest.mark.slow
def test_the_ladder_has_ratings_without_style_only_where_these_are_known(
    played: Path, tmp_path: Path
) -> None:
    few = PageData.read(played).summary
    assert [row["style"] for row in few["models"]] == [None] * len(few["models"])
    assert few["words"]["control"]
    films = [film_of("Movies", number) for number in range(60)]
    out = play(tmp_path / "out", fought("Movies", videos=60, each=8), videos=films)
    many = PageData.read(out).summary
    assert many["words"]["control"] == []
    styled = va.open_run(out).leaderboard(style=True, seats=True).ratings
    found = {row["model"]: row["style"]["rating"] for row in many["models"] if row["style"]}
    assert found == styled


def test_a_part_that_is_read_alone_is_the_one_in_the_file(played: Path, blocks: Blocks) -> None:
    data = PageData.read(played)
    assert as_read(data.part(0)) == blocks.read("part-0")
    assert data.part(1) == []


def test_thumbnails_show_every_frame_of_those_who_saw_few(blocks: Blocks) -> None:
    for id_, body in blocks.read("videos").items():
        sheet = body["sprite"]
        assert len(sheet["of"]) >= 4
        for places in body["seen"].values():
            assert len(places) > 16 or set(places) <= set(sheet["of"])
        picture = b64decode(blocks.found[f"sprite-{id_}"])
        assert picture[:4] + picture[8:12] == b"RIFFWEBP"


def test_the_same_run_gives_the_same_report(played: Path, page: Path, tmp_path: Path) -> None:
    written(played, tmp_path / "two.html", thumbs=4)
    assert page.read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_report_names_neither_the_machine_nor_its_folders_nor_who_made_it(
    played: Path, blocks: Blocks
) -> None:
    names = [name for name in blocks.found if not name.startswith("sprite-")]
    text = "\n".join(json.dumps(blocks.read(name)) for name in names)
    home = str(Path.home())
    for hidden in (str(played.parent), home, socket.gethostname(), getpass.getuser()):
        if len(hidden) > 3 and hidden not in ("root", "localhost"):
            assert hidden not in text
    assert not re.findall(r"[\" ]/(?:home|root|tmp|usr|var|Users)/", text)


def test_a_video_that_is_gone_has_no_pictures_and_is_named(tmp_path: Path, small: Path) -> None:
    done = run_async(write_report(ReportOptions(small, small / "report.html")))
    assert done.pictures_bytes == 0
    assert Blocks(done.to.read_text()).read("videos")[video().id]["sprite"] is None


def test_hostile_text_comes_back_as_it_is_and_ends_no_block(tmp_path: Path) -> None:
    trap = "</script><script>alert(1)</script><!--\u2028\x00\x1b[31m\u202e\ud800"
    of = slot(video(path="</script>.mp4"), 0)
    clean = trap.replace("\ud800", "")
    hostile = battle(of, question=clean, answer_a=clean, persona_text=clean, reason=clean)
    out = play(tmp_path / "out", [hostile], videos=[video(path="</script>.mp4")])
    blocks = written(out)
    assert blocks.read("part-0")[0]["question"] == clean
    assert blocks.read("videos")[of.video]["path"] == "</script>.mp4"
    head = (out / "report.html").read_text()
    assert head.lower().count("</script>") == head.lower().count("<script")


def test_without_scripts_the_leaderboard_is_a_table_with_every_name_escaped() -> None:
    board = build([Bout("v", "<b>owl", "mole", "a")], ["<b>owl", "mole", "wren"])
    report = leaderboard_report(board).to_json()
    words = {"lead": report["headline"], "short": {name: name for name in ("<b>owl", "mole")}}
    table = plain_table({"tables": report["tables"], "words": words})
    assert "<b>" not in table
    assert "&lt;b&gt;owl is rated highest" in table
    assert "<td>–<td>&lt;b&gt;owl<td>1,0" not in table
    assert "<td>wren<td>unrated" in table


@pytest.mark.parametrize(
    ("total", "seen", "thumbs", "shown"),
    [
        (128, [], 0, ()),
        (0, [], 16, ()),
        (1, [[0]], 16, (0,)),
        (9, [[0, 8]], 3, (0, 4, 8)),
        (10, [], 16, tuple(range(10))),
        (128, [[5, 77], range(128)], 2, (0, 5, 77, 127)),
    ],
)
def test_frames_are_chosen_evenly_and_whole_for_short_lists(
    total: int, seen: list[Any], thumbs: int, shown: tuple[int, ...]
) -> None:
    assert worth_a_thumbnail(total, seen, thumbs) == shown


def test_a_run_without_a_battle_has_a_report_that_says_so(tmp_path: Path) -> None:
    blocks = written(play(tmp_path / "out", []))
    assert blocks.read("summary")["words"]["lead"] == [
        "No battle was decided, so no model is rated."
    ]
    assert blocks.read("index")["id"] == []
    assert blocks.read("videos") == {}


def test_of_more_battles_than_a_file_holds_those_of_some_videos_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    films = [video(bytes([k]) * 9, path=f"{k}.mp4") for k in range(4)]
    battles = [battle(slot(film, k)) for film in films for k in range(3)]
    out = play(tmp_path / "out", battles, videos=films)
    whole = written(out).read("summary")
    monkeypatch.setattr(report, "MOST_BATTLES", 7)
    done = invoke("report", out, "--force", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["battles"] == 6
    assert "those of 2 videos drawn by the run's seed, 6 of 12 battles" in told["note"]
    blocks = Blocks((out / "report.html").read_text())
    index = blocks.read("index")
    assert (len(index["id"]), len(index["videos"])) == (6, 2)
    assert set(blocks.read("videos")) == set(index["videos"])
    part = blocks.read("part-0")
    summary = blocks.read("summary")
    assert [one["id"] for one in part] == index["id"]
    assert summary["settings"]["warnings"] == [*whole["settings"]["warnings"], told["note"]]
    for same in ("models", "pairs", "slices", "audit", "status"):
        assert summary[same] == whole[same]


def test_more_battles_than_a_file_lists_go_beside_it(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MOST_BATTLES", 2)
    done = invoke("report", small, "--split")
    assert done.exit_code == 0
    beside = {path.name for path in (small / "report-files").iterdir()}
    assert beside == {"index.js", "videos.js", "part-0.js"}
    text = (small / "report-files" / "part-0.js").read_text()
    called = re.fullmatch(r'arenaBlock\("part-0","([A-Za-z0-9+/=]+)"\)\n', text)
    assert called
    assert len(json.loads(gzip.decompress(b64decode(called[1])))) == 3
    assert Blocks((small / "report.html").read_text()).read("summary")["siblings"] == "report-files"


def test_a_report_replaces_an_earlier_one_and_nothing_else_unless_asked(
    small: Path, tmp_path: Path
) -> None:
    page = small / "report.html"
    named = tmp_path / "named.html"
    assert invoke("report", small).exit_code == 0
    before = page.stat().st_mtime_ns
    assert invoke("report", small).exit_code == 0
    assert page.stat().st_mtime_ns > before
    assert invoke("report", small, "--to", named).exit_code == 0
    page.write_text("<h1>notes of somebody</h1>")
    for typed in ((), ("--to", named)):
        assert "already exists" in str(invoke("report", small, *typed).exception)
    assert page.read_text() == "<h1>notes of somebody</h1>"
    assert invoke("report", small, "--force").exit_code == 0


def test_a_report_is_opened_where_that_is_asked_for(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    monkeypatch.setattr("click.launch", opened.append)
    assert invoke("report", small).exit_code == 0
    assert opened == []
    assert invoke("report", small, "--open").exit_code == 0
    assert opened == [str((small / "report.html").resolve())]


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("report.txt", "is not the name of a page"),
        ("nowhere/report.html", "is not a folder"),
    ],
)
def test_a_place_that_no_report_can_have_is_refused_in_one_line(
    small: Path, to: str, why: str
) -> None:
    refused = invoke("report", small, "--to", small / to)
    assert refused.exit_code == 1
    assert why in str(refused.exception)
    assert "\n" not in str(refused.exception)


def test_json_says_what_was_written(small: Path) -> None:
    said = json.loads(invoke("report", small, "--json").stdout)
    assert said["battles"] == 3
    assert said["bytes"] == (small / "report.html").stat().st_size


def test_a_run_that_begins_with_other_models_names_them(tmp_path: Path) -> None:
    cast = manifest()["cast"]
    cast["hawk"]["model"] = "openai:gpt-4o"
    out = play(tmp_path / "out", lineage(video()), settings=manifest(cast=cast))
    methods = written(out).read("summary")["methods"]
    assert methods["cast"]["hawk"]["model"] == "openai:gpt-4o"
    assert "endpoint" not in methods["cast"]["hawk"]
