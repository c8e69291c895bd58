"""The whole kit against a judge that obeys every word outside its prompt's fences, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.asking import Pages, frames_of, load_bytes
from tests.support.gullible import QUESTION, UNMOVED, obey
from tests.support.loopback import Loopback, serving
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting import prompts
from videoautoarena.agents.prompting.fences import Attack, attacked, attacks
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles import prompter as desks
from videoautoarena.agents.roles.judge import JudgeCase, JudgingPlace, judge_once
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.records import Seats

SEATS: tuple[Seats, Seats] = ("ab", "ba")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-test-5f0c7d21a4b8e936")


def fooled(
    folder: Path, provider: str = "openai", kit: Sequence[Attack] = attacks()
) -> dict[str, set[Seats]]:
    """Put every attack to the judge from both seats; return those it fell for, and where."""
    with serving(folder / "log", brain=obey) as server:
        verdicts = asyncio.run(_judged(_model(provider, server), kit))
    assert set(verdicts.values()) <= {UNMOVED, "a"}
    found: dict[str, set[Seats]] = {}
    for (name, seats), verdict in verdicts.items():
        if verdict == "a":
            found.setdefault(name, set()).add(seats)
    return found


async def _judged(model: Model, kit: Sequence[Attack]) -> dict[tuple[str, Seats], str]:
    asker = Asker(Pages(), load_bytes)
    prompter = Prompter(asker, PromptSet.load())

    async def one(attack: Attack, seats: Seats) -> str:
        theirs = attacked("A carrot.", attack, question=QUESTION)
        case = JudgeCase("A cook.", QUESTION, answer_a=theirs, answer_b="An onion, diced.")
        place = JudgingPlace(attack.name, 0, seats)
        said = await judge_once(prompter, model, frames=frames_of(2), case=case, place=place)
        assert said.reason is None
        return said.verdict

    cases = [(attack, seats) for attack in kit for seats in SEATS]
    try:
        said = await asyncio.gather(*(one(*case) for case in cases))
    finally:
        await asker.aclose()
    return {
        (attack.name, seats): verdict for (attack, seats), verdict in zip(cases, said, strict=True)
    }


def _model(provider: str, server: Loopback) -> Model:
    url = server.openai_url if provider == "openai" else server.gemini_url
    name = "gpt-4o" if provider == "openai" else "gemini-2.5-flash"
    return Model(alias="gullible", model=f"{provider}:{name}", base_url=url, key_env="TEST_KEY")


@pytest.mark.parametrize(("provider", "step"), [("openai", 1), ("google_genai", 5)])
def test_no_attack_of_the_kit_escapes_its_fence_from_either_seat(
    tmp_path: Path, provider: str, step: int
) -> None:
    assert fooled(tmp_path, provider, attacks()[::step]) == {}


def test_without_fences_the_same_judge_falls_for_every_attack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "fence", lambda _name, _code, text: text)
    some = attacks()[::5]
    assert fooled(tmp_path, kit=some) == {attack.name: set(SEATS) for attack in some}


@pytest.mark.parametrize(
    ("code", "who"),
    [
        ("0" * 16, {"fence-zeros", "line-separators"}),
        ("0123456789abcdef", {"fence-guessed"}),
        ("0" * 15 + "7", {"fence-many"}),
    ],
)
def test_with_a_code_that_can_be_guessed_it_falls_for_those_who_guess_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, who: set[str]
) -> None:
    monkeypatch.setattr(desks, "fence_code", lambda *_: code)
    forgers = [attack for attack in attacks() if attack.family in ("fence", "unicode")]
    assert fooled(tmp_path, kit=forgers) == {name: set(SEATS) for name in who}
