"""A real language model behind a real server: what it says is seldom what was asked for.

SmolLM2-135M on one thread, no frames, at most 48 tokens a reply. Prompts are what takes time, so
those of the roles are short here; their contracts are the usual ones.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import real
from tests.support.asking import Pages, load_bytes, no_pause, request_of
from tests.support.clips import draw_folder
from tests.support.lives import Life
from tests.support.published_tasks import write
from tests.support.real_model import NAME, Counts, RealModel, real_model, require
from tests.support.small_runs import battles_of, play_again
from tests.support.typed import run
from tests.support.whole_runs import command, opened
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.replies import BadReply, read_reply
from videoautoarena.agents.models.registry import parse_model
from videoautoarena.agents.prompting.contracts import Reply, judge_reply, scene_merger_reply
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import DECIDED, CallRow, Nonce

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("real model")]
WORDS = 48
"""Tokens of a reply at most."""
CHOICE_WORDS = 12
NEEDLES = 8
NAMES_AN_OPTION = re.compile(r"\b([A-D]|red|blue|green|white)\b", re.IGNORECASE)
PROMPTS = {
    "examiner": "Say what this video shows.",
    "judge": "The person:\n\n$persona\n\nThe question:\n\n$question\n\nAnswer A:\n\n$answer_a\n\n"
    "Answer B:\n\n$answer_b\n\nWhich is better?",
}


@pytest.fixture(scope="module")
def server() -> Iterator[RealModel]:
    require()
    with real_model() as running:
        yield running


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("real") / "videos", 1, seconds=2)


def prompts(folder: Path) -> Path:
    folder.mkdir()
    for role, words in PROMPTS.items():
        (folder / f"{role}.txt").write_text(words + "\n")
    return folder


def write_arena(path: Path, server: RealModel, names: Sequence[str], words: int = WORDS) -> Path:
    """Declare the model under some names, each with a seed of its own."""
    tables = [
        server.table(name, parameters=f"{{ max_tokens = {words}, temperature = 0.7, seed = {n} }}")
        for n, name in enumerate(names)
    ]
    path.write_text("\n".join(tables) + "\n")
    return path


def calls(out: Path, name: str = "run.sqlite") -> list[dict[str, Any]]:
    """Return the rows of the real model's calls in the order in which they ended."""
    with opened(out, name) as file:
        found = file.execute(
            "SELECT role, scope, key, body FROM calls WHERE model = ? ORDER BY rowid", [NAME]
        )
        return [
            {"role": role, "scope": scope, "key": key, **json.loads(body)}
            for role, scope, key, body in found
        ]


def counted(rows: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Return the tokens in and out that rows hold."""
    usages = [row["usage"] for row in rows]
    return sum(u["input_tokens"] for u in usages), sum(u["output_tokens"] for u in usages)


def since(before: Counts, server: RealModel) -> tuple[int, int]:
    """Return the tokens that the server counted since."""
    now = server.counts()
    return now.input_tokens - before.input_tokens, now.output_tokens - before.output_tokens


def test_an_examiner_that_cannot_keep_to_its_form_leaves_voids_and_no_tie(
    server: RealModel, videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    before = server.counts()
    config = write_arena(tmp_path / "arena.toml", server, ("left", "right", "watcher"))
    typed = ["--models", "left,right", "--examiner", "watcher", "--rounds", "1"]
    typed += [
        "--allow-blind-referee",
        "--allow-self-judging",
        "--max-void",
        "1",
        "--prompts",
        str(prompts(tmp_path / "p")),
    ]
    run("simulate", "--videos", videos, "--out", out, "--config", config, *typed)
    rows = calls(out)
    assert [row["role"] for row in rows] == ["examiner", "examiner"]
    assert {battle.verdict for battle in battles_of(out)} == {"void"}
    assert counted(rows) == since(before, server)


def test_a_server_that_is_killed_in_mid_run_is_waited_for_and_nothing_is_paid_twice(
    videos: Path, tmp_path: Path
) -> None:
    require()
    out = tmp_path / "out"
    with real_model() as server:
        config = write_arena(tmp_path / "arena.toml", server, ("left", "right", "judge"))
        typed = ["--models", "left,right", "--examiner", "offline:examiner", "--judge", "judge"]
        typed += ["--rounds", "1", "--swap", "0", "--concurrency", "1", "--max-void", "1"]
        typed += ["--allow-blind-referee", "--allow-self-judging", "--plain"]
        typed += ["--prompts", str(prompts(tmp_path / "p"))]
        line = command("simulate", "--videos", videos, "--out", out, "--config", config, *typed)
        with Life(line) as life:
            life.until(lambda: is_at_work_again(server.counts()))
            server.kill()
            life.until(life.has_said("cannot be reached"))
            server.restart()
            assert life.end() == 0, life.said
        assert "is back after" in life.said
        rows = calls(out)
        battles = battles_of(out)
        assert all(row["reply"] for row in rows)
        assert len({row["key"] for row in rows}) == len(rows)
        # The server that came back answered what stands behind some place, and nothing twice.
        whole = server.counts()
        tried_twice = next(place for place, row in enumerate(rows) if row.get("attempts"))
        later = [counted(rows[place:]) for place in range(1, tried_twice + 1)]
        assert (whole.input_tokens, whole.output_tokens) in later
        assert len(battles) == 3
        for battle in battles:
            said = [row for row in rows if (row["scope"], row["role"]) == (battle.id, "judge")]
            is_decided = any(is_verdict(row) for row in said)
            assert (battle.verdict in DECIDED) is is_decided
            assert (battle.verdict == "void") is not is_decided
        play_again(out)
        assert server.counts() == whole


def is_verdict(row: dict[str, Any]) -> bool:
    """Say whether a judge's reply is in the asked form."""
    try:
        read_reply(row["reply"], judge_reply(2), ending=row.get("ending"))
    except BadReply:
        return False
    return True


def is_at_work_again(counts: Counts) -> bool:
    """Say whether the server has answered once and works on another request."""
    return counts.output_tokens > 0 and counts.under_way > 0


def needle_rows(count: int) -> list[dict[str, Any]]:
    """Return records in MLVU's form, all of one video."""
    things = ("cup", "hat", "van", "cat", "boat")
    colours = ("red", "blue", "green", "white")
    return [
        {
            "video": "clip00.mp4",
            "duration": 2.0,
            "question": f"What colour is the {things[k % 5]} in scene {k}?",
            "candidates": [colours[(k // 5 + place) % 4] for place in range(4)],
            "answer": colours[k % 4],
            "question_type": "findNeedle",
        }
        for k in range(count)
    ]


def test_a_blind_model_plays_a_file_in_mlvus_form_and_what_it_does_not_choose_is_no_choice(
    server: RealModel, tmp_path: Path
) -> None:
    write(tmp_path / "in" / "2_needle.json", needle_rows(NEEDLES))
    run("arena", "import", "mlvu", tmp_path / "in", "--to", tmp_path / "set")
    config = write_arena(tmp_path / "arena.toml", server, ("blind",), CHOICE_WORDS)
    before = server.counts()
    typed = ("--config", config, "--model", "blind", "--json")
    told = json.loads(run("arena", "bench", "run", tmp_path / "set", *typed))
    (row,) = told["scores"]["boards"][0]["models"]
    counts = {name: row["counts"].get(name, 0) for name in ("right", "wrong", "unreadable")}
    assert (sum(counts.values()), row["missing"]) == (NEEDLES, 0)
    assert row["m_avg"]["value"] == 100 * counts["right"] / NEEDLES
    rows = calls(tmp_path / "set" / "results", "calls.sqlite")
    silent = [one for one in rows if not NAMES_AN_OPTION.search(one["reply"])]
    assert counts["unreadable"] >= len(silent)
    assert len(rows) == NEEDLES
    assert counted(rows) == since(before, server)


def ask(server: RealModel, *requests: Request, **settings: Any) -> list[CallRow | BaseException]:
    """Ask without a run, one after the other."""
    drawn = {"max_tokens": settings.pop("words", 1), "temperature": 0.0}
    model = parse_model(NAME, {"base_url": server.url, "parameters": drawn, **settings})

    async def ask_all() -> list[CallRow | BaseException]:
        asker = Asker(Pages(), load_bytes, concurrency=1, pause=no_pause)
        try:
            asks = (asker.ask_row(model, request) for request in requests)
            return await asyncio.gather(*asks, return_exceptions=True)
        finally:
            await asker.aclose()

    return asyncio.run(ask_all())


def every_reply() -> list[type[Reply]]:
    """Return what any role's reply is read as."""
    from videoautoarena.agents.prompting import contracts

    found = {of.__name__: of for of in vars(contracts).values() if is_reply(of)}
    return [found[name] for name in sorted(found)]


def is_reply(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Reply) and bool(thing.model_fields)


def test_a_real_server_takes_the_schema_of_every_reply(server: RealModel) -> None:
    schemas = every_reply()
    assert len(schemas) > 30
    requests = [
        Request("judge", "Go.", None, Nonce(scope="s", role="judge", ordinal=2 * n), schema=schema)
        for n, schema in enumerate(schemas)
    ]
    rows = ask(server, *requests, structured="json_schema")
    for schema, row in zip(schemas, rows, strict=True):
        assert isinstance(row, CallRow), f"{schema.__name__}: {row}"
        assert row.structured == "json_schema"
        # It lets an object begin with a fence.
        assert (row.reply or "").startswith(("{", "```"))


def test_a_prompt_longer_than_its_context_fails_in_its_own_words(server: RealModel) -> None:
    (failure,) = ask(server, request_of("word " * 9000))
    assert isinstance(failure, CallFailed)
    assert "context" in str(failure)


def test_what_a_real_server_held_to_a_schema_is_read(server: RealModel) -> None:
    nonce = Nonce(scope="s", role="scene_merger")
    schema = scene_merger_reply(3)
    request = Request("scene_merger", "Are these together?", None, nonce, schema=schema)
    (row,) = ask(server, request, words=WORDS, structured="json_schema")
    assert isinstance(row, CallRow)
    assert len(read_reply(row.reply or "", schema, ending=row.ending).together) == 3


def test_the_benchmark_tells_how_many_replies_can_be_read_and_why_others_cannot(
    capsys: pytest.CaptureFixture[str],
) -> None:
    require()
    # Nobody gets to a verdict in so few tokens.
    assert real.main(["--n", "1", "--tokens", str(WORDS)]) == 1
    told = capsys.readouterr().out
    assert re.findall(r"^(\S+) +0 of 1 +0.00 0.00 to 0.79 +\d", told, re.MULTILINE) == [
        "off",
        "json_schema",
    ]
    assert "there is no complete JSON object in the reply" in told


def test_where_no_model_could_be_fetched_it_is_skipped_and_under_ci_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.real_model.ENVIRONMENT", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"NO REAL MODEL"):
        require()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"NO REAL MODEL"):
        require()
