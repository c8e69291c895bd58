"""Questions are tagged once, in one call each, beside the battles, and nothing is paid twice."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from tests.support.canned import Brain
from tests.support.clips import draw_folder
from tests.support.lives import Life
from tests.support.loopback import Loopback, Manners, Mishap, serving
from tests.support.played import invoke
from tests.support.small_runs import battles_of, play, play_again
from tests.support.whole_runs import battles, command
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.evidence import QuestionTag
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.categories.tagging import draw, prompts_with
from videoautoarena.runs.analysis.categories.tags import (
    TaggedQuestion,
    categories_of,
    classifier_of,
    questions_of,
    standing_tags,
)
from videoautoarena.runs.analysis.leaderboard.board import slices_in
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.run.rundir.reader import RUN_FILE, open_run

KEY = "sk-planted-5f0c7d21a4b8e936"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run over two clips, which no test writes to."""
    place = tmp_path_factory.mktemp("ground")
    play(draw_folder(place / "videos", 2, seconds=3), place / "out", rounds=2)
    return place


@pytest.fixture
def out(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "out", tmp_path / "out"))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def tags_in(out: Path) -> list[QuestionTag]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return sorted(store.evidence.tags(), key=lambda tag: tag.id)


def calls_of(out: Path) -> list[CallRow]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return [row for row in store.journal.calls() if row.nonce.role == "classifier"]


def tag(out: Path, *typed: object) -> Result:
    """Tag; `return_value` is the exit code."""
    line = [str(word) for word in ("categories", "tag", out, *typed)]
    return CliRunner().invoke(arena, line, standalone_mode=False)


def stranger(place: Path, server: Loopback, *, price: str = "") -> tuple[object, ...]:
    path = place / "models.toml"
    path.write_text(
        f'[models.stranger]\nmodel = "openai:judge"\nbase_url = "{server.openai_url}"\n'
        f'key_env = "TEST_KEY"\n{price}\n'
    )
    return ("--classifier", "stranger", "--config", path)


def test_each_question_is_tagged_in_one_call_and_no_battle_changes(ground: Path, out: Path) -> None:
    assert tag(out).return_value == 0
    asked = questions_of(battles_of(out))
    assert [t.question for t in tags_in(out)] == sorted(one.id for one in asked)
    assert len(calls_of(out)) == len(asked)
    assert battles(out) == battles(ground / "out")
    assert play_again(out).differences == []
    again = tag(out, "--json")
    assert json.loads(again.stdout)["known"] == len(asked)
    assert len(calls_of(out)) == len(asked)


def test_a_run_reads_as_before_but_for_its_calls(ground: Path, out: Path) -> None:
    tag(out)
    for reader in (("battles",), ("status", "--json"), ("leaderboard", "--json")):
        before, after = (invoke(reader[0], place, *reader[1:]) for place in (ground / "out", out))
        assert _without_calls(after) == _without_calls(before)


def _without_calls(told: Result) -> object:
    if not told.output.startswith("{"):
        return told.output
    found: dict[str, Any] = json.loads(told.output)
    return {k: v for k, v in found.items() if k not in ("calls", "calls_by_model", "cache", "next")}


def test_equal_questions_about_one_video_are_one(out: Path) -> None:
    first, second, *_ = battles_of(out)
    twice = [first, second.model_copy(update={"question": first.question, "video": first.video})]
    assert len(questions_of(twice)) == 1
    elsewhere = first.model_copy(update={"video": "another"})
    assert len(questions_of([first, elsewhere])) == 2


def test_a_battle_stands_in_every_category_of_its_question(out: Path) -> None:
    tag(out)
    with open_run(out) as run:
        found = categories_of(run)
        parts = {part.name: part for part in slices_in(run, "question-category").parts}
        decided = [one.id for one in run.battles if one.verdict != "void"]
    for name, part in parts.items():
        plain = name.replace(" ", "_")
        in_it = [id_ for id_ in decided if plain in found[id_]]
        assert part.battles == len(in_it) or name == "none of these"
    assert {"order and time"} <= parts.keys()
    assert sum(part.battles for part in parts.values()) >= len(decided)


def test_a_larger_sample_holds_the_smaller(out: Path) -> None:
    tag(out, "--sample", 3, "--seed", 5)
    few = {one.question for one in tags_in(out)}
    tag(out, "--sample", 7, "--seed", 5)
    more = {one.question for one in tags_in(out)}
    assert (len(few), len(more)) == (3, 7)
    assert few < more
    with open_run(out) as run:
        parts = {part.name for part in slices_in(run, "question-category").parts}
    assert "not tagged" in parts


def test_another_seed_draws_others() -> None:
    asked = [TaggedQuestion(str(k), "v", "?") for k in range(30)]
    draws = [[one.id for one in draw(asked, 6, seed)] for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]


def test_a_tag_is_of_the_settings_and_the_frames_that_it_was_asked_with(
    out: Path, tmp_path: Path
) -> None:
    with serving(tmp_path / "log") as server:
        for changed in ("", "parameters = { max_tokens = 99 }", "max_frames = 2", ""):
            typed = stranger(tmp_path, server, price=changed)
            assert tag(out, "--sample", 1, *typed).return_value == 0
    assert [len(tags_in(out)), len(calls_of(out))] == [3, 3]
    assert sorted(row.frames or 8 for row in calls_of(out))[0] == 2


def test_the_prompt_that_was_used_first_is_used_to_the_end(out: Path) -> None:
    tag(out, "--sample", 1)
    with Store.open(out / RUN_FILE, write=True) as store:
        first = prompts_with(store, "classifier").texts["classifier"]
        store.put_file("tags/classifier", f"{first} As it was then.", replace=True)
        assert prompts_with(store, "classifier").texts["classifier"].endswith(" As it was then.")


def test_a_board_by_categories_needs_tags(out: Path) -> None:
    with open_run(out) as run:
        assert categories_of(run) == {}
        with pytest.raises(BadInput, match=r"va\.tag\("):
            slices_in(run, "question-category")


def test_a_plan_calls_nobody_and_writes_nothing(out: Path, tmp_path: Path) -> None:
    before = (out / RUN_FILE).read_bytes()
    told = tag(out, "--classifier", "openai:gpt-4o-mini", "--sample", 5, "--plan", "--json")
    plan = json.loads(told.stdout)
    assert (plan["questions"], plan["calls"], plan["known"]) == (5, 5, 0)
    assert 0 < plan["cost_usd"] < plan["bound90_usd"]
    assert "(up to 8 per call) go to api.openai.com" in plan["notices"][0]
    assert (out / RUN_FILE).read_bytes() == before


def _words(*replies: str) -> Brain:
    left = itertools.cycle(replies)
    usage = UsageMetadata(input_tokens=1, output_tokens=1, total_tokens=2)
    return lambda _model, _messages: AIMessage(next(left), usage_metadata=usage)


def test_what_cannot_be_read_is_unknown_and_stands_in_no_category(
    out: Path, tmp_path: Path
) -> None:
    brain = _words("I will not say.", '{"captioning": "[yes]", "code": "no idea"}')
    with serving(tmp_path / "log", brain=brain) as server:
        told = tag(out, "--sample", 4, "--concurrency", 1, *stranger(tmp_path, server))
    assert told.return_value == 0
    assert "4 questions, 2 unreadable" in told.output
    read = [one.categories for one in tags_in(out) if one.reason is None]
    blank = [one.categories for one in tags_in(out) if one.reason is not None]
    assert [len(read), len(blank)] == [2, 2]
    assert all(set(one.values()) == {"unknown"} for one in blank)
    assert all((one["captioning"], one["code"]) == ("yes", "unknown") for one in read)
    with open_run(out) as run:
        assert set(categories_of(run).values()) == {("captioning",)}


def test_a_call_that_failed_alone_can_be_made_again_and_only_until_it_is_answered(
    out: Path, tmp_path: Path
) -> None:
    bad = Manners(mishaps=(Mishap(do="status", nth=2, status=400),))
    with serving(tmp_path / "log", bad) as server:
        typed = ("--sample", 3, *stranger(tmp_path, server))
        told = tag(out, *typed)
        assert told.return_value == 3
        assert "add --retry-failed" in told.stderr
        (failed,) = [one for one in tags_in(out) if one.is_failed]
        assert "400" in (failed.reason or "")
        again = tag(out, *typed, "--retry-failed", "--json")
        assert (again.return_value, json.loads(again.stdout)["known"]) == (0, 2)
        assert {one.is_failed for one in standing_tags(tags_in(out))} == {False}
        assert any(one.id == f"{failed.id}~1" for one in tags_in(out))
        again = tag(out, *typed, "--retry-failed", "--json")
        assert (again.return_value, json.loads(again.stdout)["known"]) == (0, 3)
        assert len(server.events("arrived")) == len(calls_of(out)) == 4


def test_a_cap_ends_it_with_4_and_more_money_goes_on(out: Path, tmp_path: Path) -> None:
    price = "price = { input_usd = 0.0, output_usd = 1000.0 }\nparameters = { max_tokens = 150 }"
    with serving(tmp_path / "log") as server:
        typed = stranger(tmp_path, server, price=price)
        told = tag(out, *typed, "--max-usd", 0.4, "--concurrency", 1)
        assert told.return_value == 4, told.output
        held = len(tags_in(out))
        assert tag(out, *typed, "--concurrency", 1).return_value == 4
        assert len(tags_in(out)) == held
        assert tag(out, *typed, "--max-usd", "none").return_value == 0
        sent = [event["key"] for event in server.events("arrived")]
    assert held < len(tags_in(out))
    assert len(sent) == len(set(sent))


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--classifier", "offline:hawk"), "cannot classify"),
        (("--classifier", "nobody"), "is no model"),
        (("--classifier", "openai:gpt-4o-mini"), "needs a key"),
        (("--videos", "/nowhere"), "/nowhere"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    out: Path, typed: Sequence[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["categories", "tag", str(out), *typed]
    assert guarded(lambda: arena.main(line, standalone_mode=False)) == 1
    assert words in capsys.readouterr().err.splitlines()[-1]


def test_who_read_the_most_questions_counts(out: Path) -> None:
    tag(out)
    tags = tags_in(out)
    few = [t.model_copy(update={"classifier": "strong", "id": f"s{t.id}"}) for t in tags[:2]]
    unread = [t.model_copy(update={"classifier": "a", "reason": "mute"}) for t in tags]
    assert classifier_of([*few, *unread, *tags]) == "offline:examiner"
    assert classifier_of([]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "sent_before"),
    [(signal.SIGINT, 4), *((signal.SIGKILL, sent) for sent in (3, 7))],
)
def test_at_any_concurrency_and_after_any_end_the_tags_are_the_same_and_paid_once(
    ground: Path, out: Path, tmp_path: Path, number: signal.Signals, sent_before: int
) -> None:
    whole = Path(shutil.copytree(out, tmp_path / "whole"))
    with serving(tmp_path / "one") as server:
        assert tag(whole, *stranger(tmp_path, server), "--concurrency", 1).return_value == 0
    with serving(tmp_path / "two", Manners(latency_s=(0.3, 0.3))) as server:
        typed = stranger(tmp_path, server)
        line = command("arena", "categories", "tag", out, "--concurrency", "2", *map(str, typed))
        with Life(line, extra={"TEST_KEY": KEY}) as life:
            life.until(lambda: len(server.events("sent")) >= sent_before)
            life.interrupt(number)
            code = life.end()
        paid = {row.key for row in calls_of(out)}
        assert tag(out, *typed, "--concurrency", 16).return_value == 0
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert code == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert paid
    assert {key: sent[key] for key in paid} == dict.fromkeys(paid, 1)
    assert tags_in(out) == tags_in(whole)
    assert battles(out) == battles(ground / "out")


def test_of_two_words_on_a_question_the_last_that_was_read_stands() -> None:
    def said(id_: str, word: str, reason: str | None = None) -> QuestionTag:
        about: dict[str, Any] = {"video": "v", "text": "?", "classifier": "c", "model": "m"}
        about |= {"question": "q", "categories": {"code": word}, "reason": reason}
        return QuestionTag(id=id_, **about)

    first = said("q:c:0", "no")
    again = said("q:c:0~1", "yes")
    assert standing_tags([first, again]) == [again]
    assert standing_tags([again, first]) == [again]
    mute = said("q:c:0~1", "unknown", "mute")
    assert standing_tags([first, mute]) == [first]
    assert standing_tags([mute, first]) == [first]
