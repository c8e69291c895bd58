"""A run of two models and a referee against a server of one personality, and what was wrong."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Loopback, serving
from tests.support.personalities import (
    CONTESTANTS,
    COST_USD,
    FRAMES,
    MARKS,
    MUSING,
    REFEREE,
    Personality,
    Playing,
    Seen,
)
from tests.support.small_runs import battles_of, play_again
from tests.support.virtual import skipping
from tests.support.whole_runs import KEY, opened
from videoautoarena.runs.cli.program.main import arena, guarded, load
from videoautoarena.runs.formats import terminal

LATE_S = 3600
"""How long a call may take by its clock, of which pauses of others are skipped."""
ABSTAINED = "the judge could not tell"


@dataclass(frozen=True)
class Played:
    """How a run went."""

    personality: Personality
    code: int
    said: str
    """What stood on stderr."""
    status: str
    """What `arena status` told afterwards."""
    verdicts: Counter[str]
    endings: list[str | None]
    """Why each battle is void or forfeit."""
    seen: list[Seen]
    calls: int
    """That the run wrote down."""
    reasons: str
    """Why tries failed, as it is written down."""
    tokens: tuple[int, int]
    """In and out, of all replies as the run wrote them down."""
    cost_usd: float
    texts: dict[str, str]
    """What battles hold: their answers, their verdicts, and what was asked."""
    differences: int
    """Between the run and its replay."""
    seconds: float

    @property
    def decided(self) -> int:
        """Battles that have a verdict."""
        return sum(self.verdicts.values()) - self.voids - self.forfeits

    @property
    def voids(self) -> int:
        """Battles without one, through nobody's fault."""
        return self.verdicts["void"]

    @property
    def abstained(self) -> int:
        """Those of them in which the referee was asked, and said that it could not tell."""
        return sum(ABSTAINED in (reason or "") for reason in self.endings)

    @property
    def forfeits(self) -> int:
        """Battles whose answer did not come."""
        return self.verdicts["forfeit_a"] + self.verdicts["forfeit_b"]

    @property
    def refusals(self) -> int:
        """Requests that brought nothing."""
        return sum(not one.is_good for one in self.seen)

    @property
    def served(self) -> tuple[int, int]:
        """Tokens of all good replies as the server counts them."""
        return sum(one.tokens[0] for one in self.seen), sum(one.tokens[1] for one in self.seen)

    @property
    def frames(self) -> str:
        """Frames with which each contestant was answered last."""
        last = {one.model: one.images for one in self.seen if one.is_good}
        return " ".join(str(last.get(name, "-")) for name in (*CONTESTANTS, REFEREE))

    @property
    def told(self) -> str:
        """All that a user reads."""
        return f"{self.said}\n{self.status}"

    @property
    def words(self) -> str:
        """Whether the server's own words are shown, kept with the tries, or lost."""
        wanted = (*self.personality.shown, *self.personality.kept)
        if all(words in self.told for words in wanted):
            return "shown" if wanted else "-"
        everywhere = self.told + self.reasons
        return "kept" if all(words in everywhere for words in wanted) else "lost"

    @property
    def telling(self) -> str:
        """The line that says most of the server."""
        lines = self.told.splitlines()
        wanted = (*self.personality.shown, *self.personality.kept, "refus", "gave no answer")
        found = (line.strip() for words in wanted for line in lines if words in line)
        return next(found, "")


def play_against(personality: Personality, clips: Path, place: Path) -> Played:
    """Play a run of one round as `simulate` does; pauses are skipped."""
    place.mkdir()
    playing = Playing(personality)
    out = place / "out"
    began_s = time.monotonic()
    with serving(place / "log", script=playing) as server:
        config = place / "arena.toml"
        config.write_text("\n".join(_arena(personality, server)) + "\n")
        with skipping(server.is_idle):
            line = ("--videos", clips, "--config", config, "--out", out, "--rounds", 1, "--plain")
            code, said = _command("simulate", *line)
    if not (out / "run.sqlite").exists():
        raise AssertionError(f"{personality.name}: no run was begun:\n{said}")
    _, status = _command("arena", "status", out)
    battles = battles_of(out)
    judgings = [judging for battle in battles for judging in battle.verdicts]
    with opened(out) as file:
        rows = [json.loads(body) for (body,) in file.execute("SELECT body FROM calls")]
    tries = [attempt for row in rows for attempt in row.get("attempts", ())]
    reasons = [row.get("failure") for row in rows] + [one.get("reason") for one in tries]
    return Played(
        personality=personality,
        code=code,
        said=said,
        status=status,
        verdicts=Counter(battle.verdict for battle in battles),
        endings=[battle.reason for battle in battles],
        seen=playing.seen,
        calls=len(rows),
        reasons="\n".join(filter(None, reasons)),
        tokens=(_tokens(rows, "input_tokens"), _tokens(rows, "output_tokens")),
        cost_usd=sum(row.get("cost_usd") or 0.0 for row in rows),
        texts={
            "an answer": json.dumps([(battle.answer_a, battle.answer_b) for battle in battles]),
            "a verdict": json.dumps([one.model_dump(mode="json") for one in judgings]),
            "a question": json.dumps(
                [(battle.question, battle.persona_text) for battle in battles]
            ),
        },
        differences=len(play_again(out).differences),
        seconds=time.monotonic() - began_s,
    )


def _tokens(rows: list[dict[str, Any]], name: str) -> int:
    return sum((row.get("usage") or {}).get(name) or 0 for row in rows)


def _arena(personality: Personality, server: Loopback) -> Iterator[str]:
    """Yield the lines of an arena.toml."""
    is_openai = personality.protocol == "openai"
    provider, url = (
        ("openai", server.openai_url) if is_openai else ("google_genai", server.gemini_url)
    )
    yield f'[roles]\nmodels = {list(CONTESTANTS)}\nexaminer = "{REFEREE}"\njudge = "{REFEREE}"'
    for name in (*CONTESTANTS, REFEREE):
        yield f'[models.{name}]\nmodel = "{provider}:{name}"\nbase_url = "{url}"'
        yield f'key_env = "LOOPBACK_KEY"\nmax_frames = {FRAMES}\ntimeout_s = {LATE_S}'
        yield personality.settings


def _command(name: str, *words: object) -> tuple[int, str]:
    """Run a command as it is typed; return its exit code and all that it writes."""
    command = load("simulate") if name == "simulate" else arena
    typed = [str(word) for word in words]
    terminal.out.cache_clear()
    with (
        pytest.MonkeyPatch.context() as env,
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
    ):
        env.setenv("LOOPBACK_KEY", KEY)
        code = guarded(lambda: command.main(typed, prog_name=name, standalone_mode=False))
    terminal.out.cache_clear()
    return code, out.getvalue() + err.getvalue()


def faults(played: Played) -> Iterator[str]:
    """Yield what a good client would have done otherwise, each in a line."""
    mine = played.personality
    possible = sum(played.verdicts.values()) - played.abstained - mine.forfeits
    has_cure = mine.or_names and mine.or_names in played.told
    if played.decided < possible and not has_cure:
        yield f"{played.decided} battles decided, of {possible} possible"
    if played.voids > played.abstained and not has_cure:
        yield f"{played.voids - played.abstained} void without a word of the referee's"
    for place, text in played.texts.items():
        if MUSING in text:
            yield f"a thought stands in {place}"
        if marks := [mark for mark in MARKS if mark in text]:
            yield f"marks of the model's stand in {place}: {' '.join(marks)}"
    if any(one.has_musing for one in played.seen):
        yield "a thought was sent on"
    if played.refusals > mine.refusals:
        yield f"{played.refusals} requests refused or failed, of at most {mine.refusals}"
    if wrong := _wrong_frames(played.seen):
        yield wrong
    is_lossless = played.decided + played.abstained == sum(played.verdicts.values())
    for words in mine.shown:
        if words not in played.told and not is_lossless:
            yield f"not shown: {words}"
    for words in (*mine.shown, *mine.kept):
        if words not in f"{played.told}\n{played.reasons}":
            yield f"nowhere: {words}"
    if played.tokens != played.served:
        yield f"{played.tokens} tokens written down, {played.served} used"
    billed_usd = COST_USD * sum(one.is_good for one in played.seen)
    if mine.costs and abs(played.cost_usd - billed_usd) > 1e-9:
        yield f"${played.cost_usd:.5f} written down, ${billed_usd:.5f} billed"
    if "Traceback" in played.said or played.code not in (0, 3):
        yield f"exit code {played.code}"
    if played.differences:
        yield f"{played.differences} differences in a replay"


def _wrong_frames(seen: list[Seen]) -> str | None:
    """Return whose requests held far fewer frames than the server takes, once it had answered.

    A referee's limit is that of its longest request, so one frame is enough for it.
    """
    for one in seen:
        if not one.is_good or not one.images:
            continue
        least = 1 if one.model == REFEREE else max(1, one.fitting // 2)
        if one.images < least:
            return f"{one.model} was sent {one.images} frames, and {one.fitting} fit"
    return None
