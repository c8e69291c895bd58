"""No battle is decided by what a judge only drafted, nor by what a contestant only thought."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.canned import canned, judged
from tests.support.clips import draw_folder
from tests.support.loopback import Brain, serving
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, write_config
from videoautoarena.agents.prompting.contracts import FORMAT_LINE
from videoautoarena.memory.records.records import Battle, CallRow
from videoautoarena.runs.run.rundir.reader import open_run

DRAFT = json.dumps(judged("B", "So far."))
FINAL = json.dumps(judged("A", "A names it."))
DRAFTED = {
    "cut off": (f"A first draft: {DRAFT} Wait, A names it, so I have to turn", "cut"),
    "cut off in a thought": (f"<seed:think>so {DRAFT} or", "cut"),
    "cut off in words of its own": (f"<plan>\n{DRAFT}\n", "cut"),
    "taken back": (f"{DRAFT}\n\nWait, no: the verdict should be A.", "stop"),
    "thought without a tag": (f"so {DRAFT}\n</think>\n", "stop"),
}
ENDED = {
    "gpt-oss": f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final"
    f"<|message|>{FINAL}",
    "gemma": f"<|channel>thought\n{DRAFT}<channel|>{FINAL}",
    "cohere": f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>{FINAL}",
}
ANSWER = "The lamp is red."


def saying(judge: Sequence[str], ending: Mapping[str, str], contestant: str) -> Brain:
    """Return a brain whose judge first says one of these after the other, then a verdict for A."""
    first = cycle(judge)

    def say(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        task = str(messages[-1].content_blocks[-1].get("text", ""))
        usage = {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108}
        more: dict[str, Any] = {"usage_metadata": usage}
        if f"{FORMAT_LINE}judge" in task:
            is_repair = task.count(f"{FORMAT_LINE}judge") > 1
            said = FINAL if is_repair else next(first)
            more["response_metadata"] = {"ending": ending.get(said, "stop")}
            return AIMessage.model_validate({"content": said, **more})
        if FORMAT_LINE not in task:
            return AIMessage.model_validate({"content": contestant, **more})
        return canned(model, messages)

    return say


def play(place: Path, brain: Brain, terminal: Terminal, *, rounds: int = 1) -> Path:
    clips = draw_folder(place / "clips", 1, seconds=2)
    config = place / "arena.toml"
    out = place / "run"
    with serving(place / "log", brain=brain) as server:
        write_config(config, "openai", server)
        where = ("--videos", clips, "--config", config, "--out", out)
        assert terminal.simulate(*where, "--rounds", str(rounds), "-q", "--swap", "0").code == 0
    return out


def played(out: Path) -> tuple[list[Battle], list[CallRow]]:
    """Return a run's battles, and the calls of their slots."""
    with open_run(out) as run:
        battles = list(run.battles)
        return battles, [row for one in battles for row in run.store.journal.calls(one.id)]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    return Terminal(capsys)


def asked(rows: list[CallRow]) -> dict[str | None, tuple[int, ...]]:
    """Return which asks of a judge there were in a battle, by what it said first."""
    judged = [row for row in rows if row.nonce.role == "judge"]
    scopes = dict.fromkeys(row.nonce.scope for row in judged)
    found = [[row for row in judged if row.nonce.scope == scope] for scope in scopes]
    return {
        next(row.reply for row in one if row.nonce.ordinal == 0): tuple(
            sorted(row.nonce.ordinal for row in one)
        )
        for one in found
    }


def test_no_battle_is_decided_by_a_draft(tmp_path: Path, terminal: Terminal) -> None:
    ending = dict(DRAFTED.values())
    out = play(tmp_path, saying([*ending], ending, ANSWER), terminal, rounds=2)
    battles, rows = played(out)
    assert [battle.verdict for battle in battles] == ["a"] * 6
    assert asked(rows) == dict.fromkeys(ending, (0, 1))
    assert terminal.arena("replay", out).code == 0


def test_a_verdict_behind_thoughts_needs_no_second_ask(tmp_path: Path, terminal: Terminal) -> None:
    out = play(tmp_path, saying([*ENDED.values()], {}, ANSWER), terminal)
    battles, rows = played(out)
    assert [battle.verdict for battle in battles] == ["a"] * 3
    assert asked(rows) == dict.fromkeys(ENDED.values(), (0,))


def test_what_a_contestant_thought_is_neither_judged_nor_kept(
    tmp_path: Path, terminal: Terminal
) -> None:
    thinking = f"<unused94>thought\nA lamp, or a kettle?<unused95>{ANSWER}"
    out = play(tmp_path, saying([FINAL], {}, thinking), terminal)
    battles, rows = played(out)
    assert {battle.answer_a for battle in battles} == {ANSWER}
    assert {row.reply for row in rows if row.nonce.role == "contestant"} == {thinking}
