"""A small run in which every answer was called bad, and one model of it behind a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.clips import draw_folder
from tests.support.loopback import Loopback
from tests.support.small_runs import altered, play
from videoautoarena.runs.run.config.agreement import remember
from videoautoarena.runs.run.config.run_config import RunConfig

MODELS = ("offline:hawk", "offline:mole", "offline:terse", "offline:blind")


def play_badly(place: Path, **flags: Any) -> Path:
    """Return a finished run over two clips whose battles all ended with both answers bad."""
    out = place / "out"
    play(draw_folder(place / "videos", 2, seconds=3), out, models=MODELS, rounds=1, **flags)
    with altered(out) as file:
        file.execute("UPDATE battles SET body = json_set(body, '$.verdict', 'tie_bad')")
    return out


def put_behind(out: Path, server: Loopback, *names: str, **changed: Any) -> None:
    """Have models of a run, called `offline:KIND`, answer over HTTP; who they are stays.

    That was agreed to, as if the run had been begun so.
    """
    with altered(out) as file:
        ((body,),) = file.execute("SELECT body FROM manifest")
        settings = json.loads(body)
        for name in names:
            there = {"base_url": server.openai_url, "key_env": "TEST_KEY"}
            model = f"openai:{name.partition(':')[2]}"
            settings["cast"][name] |= {"model": model, **there, **changed}
        file.execute("UPDATE manifest SET body = ?", (json.dumps(settings),))
    remember(RunConfig.of_manifest(settings), None)
