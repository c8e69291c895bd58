"""No battle is decided by what a judge only drafted, nor by what a contestant only thought."""

from __future__ import annotations

import json
from collections.abc import Sequence
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


def saying(judge: str, ending: str, contestant: str) -> Brain:
    """Return a brain whose judge says this when it is first asked, and a verdict for A then."""

    def say(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        task = str(messages[-1].content_blocks[-1].get("text", ""))
        usage = {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108}
        more: dict[str, Any] = {"usage_metadata": usage}
        if f"{FORMAT_LINE}judge" in task:
            is_repair = task.count(f"{FORMAT_LINE}judge") > 1
            said = FINAL if is_repair else judge
            more["response_metadata"] = {"ending": "stop" if is_repair else ending}
            return AIMessage.model_validate({"content": said, **more})
        if FORMAT_LINE not in task:
            return AIMessage.model_validate({"content": contestant, **more})
        return canned(model, messages)

    return say


def play(place: Path, brain: Brain, terminal: Terminal) -> Path:
    clips = draw_folder(place / "clips", 1, seconds=2)
    config = place / "arena.toml"
    out = place / "run"
    with serving(place / "log", brain=brain) as server:
        write_config(config, "openai", server)
        where = ("--videos", clips, "--config", config, "--out", out)
        assert terminal.simulate(*where, "--rounds", "1", "--plain", "--swap", "0").code == 0
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


@pytest.mark.parametrize("kind", DRAFTED)
def test_no_battle_is_decided_by_a_draft(kind: str, tmp_path: Path, terminal: Terminal) -> None:
    said, ending = DRAFTED[kind]
    out = play(tmp_path, saying(said, ending, ANSWER), terminal)
    battles, rows = played(out)
    asked = [row.nonce.ordinal for row in rows if row.nonce.role == "judge"]
    assert [battle.verdict for battle in battles] == ["a"] * 3
    assert asked.count(0) == asked.count(1) == 3
    assert terminal.arena("replay", out).code == 0


@pytest.mark.parametrize("dialect", ENDED)
def test_a_verdict_behind_thoughts_needs_no_second_ask(
    dialect: str, tmp_path: Path, terminal: Terminal
) -> None:
    out = play(tmp_path, saying(ENDED[dialect], "stop", ANSWER), terminal)
    battles, rows = played(out)
    assert [battle.verdict for battle in battles] == ["a"] * 3
    assert sum(row.nonce.role == "judge" for row in rows) == 3


def test_what_a_contestant_thought_is_neither_judged_nor_kept(
    tmp_path: Path, terminal: Terminal
) -> None:
    thinking = f"<unused94>thought\nA lamp, or a kettle?<unused95>{ANSWER}"
    out = play(tmp_path, saying(FINAL, "stop", thinking), terminal)
    battles, rows = played(out)
    assert {battle.answer_a for battle in battles} == {ANSWER}
    assert {row.reply for row in rows if row.nonce.role == "contestant"} == {thinking}
