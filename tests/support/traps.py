"""Text that is out to do harm, wherever a model, a file or a person can write in a run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.support.labelled import label
from tests.support.shown_runs import Move, Season, Shape, filled
from videoautoarena.memory.records.records import Battle, Evolution, SkippedFile
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.evidence import Label
from videoautoarena.memory.store.store import Store

TRAPS = (
    "<script>window.__ran=1</script>",
    '<img src=x onerror="window.__ran=2">',
    "[click](javascript:window.__ran=3)",
    "</script><script>window.__ran=4</script>",
    "<svg onload=window.__ran=5>",
    "<style>*{display:none}</style>",
    "\u202eevil gnp.exe\u202c \u2066x\u2069",
    "<iframe srcdoc='<script>parent.__ran=6</script>'></iframe>",
    "![p](https://stranger.example/track.png)",
    '<a href="data:text/html,<script>window.__ran=7</script>">x</a>',
    "--><!--<script>",
    "]]>",
    "\x00\x07\x1b[31m\x9b2J",
    "${window.__ran=8} {{7*7}} `${alert(1)}`",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.__ran=9>",
    "\ud800 half",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L" * 20,
    "| a | b |\n|--|--|\n| <b onmouseover=window.__ran=10>x</b> | <script>__ran=11</script> |",
    "```\n</pre><script>window.__ran=12</script>\n```",
    "[a]: javascript:window.__ran=13\n[b][a]",
    "<https://stranger.example/x> http://stranger.example/auto",
    "*" * 3000,
    "[" * 3000,
    "> " * 500 + "x",
    "a" * 1_000_000,
    '"><base href=https://stranger.example/><form action=//stranger.example><button>x</button>',
    "<meta http-equiv=refresh content='0;url=https://stranger.example/'>",
    "<link rel=prefetch href=https://stranger.example/x><object data=x></object><video src=x>",
    "__proto__ constructor toString hasOwnProperty",
    "100%; background: url(https://stranger.example/x) '\" expression(window.__ran=14)",
)
NAME = "<img src=x onerror=window.__ran=20>\u202e\"'&amp;</script>"
"""Of a model, a judge, a labeller, a file."""
FOLDER = "<img src=x onerror=window.__ran=21> '&quot; %3Cb%3E \u202e"
"""Of a run."""


class Hostile(Season):
    """Battles each of which holds one trap wherever there is text."""

    def __init__(self) -> None:
        """Draw as many battles as there are traps."""
        super().__init__(Shape(models=4, videos=4, rounds=4, most=len(TRAPS)))
        self.names[-1] = NAME
        self.names[-2] = "__proto__"
        self._strength = {name: -0.4 * k for k, name in enumerate(self.names)}
        self.films[0] = self.films[0].model_copy(update={"path": f"{NAME}\x07.mp4"})
        self.films[1] = self.films[1].model_copy(update={"path": "\udcff\udcfe half.mp4"})
        self._film_of = {film.id: film for film in self.films}

    def manifest(self) -> dict[str, Any]:
        """Return what the run was begun with: names and servers are traps, too."""
        known = super().manifest()
        for entry in known["cast"].values():
            entry |= {"model": f"openai:{NAME}", "endpoint": NAME}
        known["cast"][NAME] = known["cast"].pop("judge")
        return known | {"judges": [NAME], "version": NAME}

    def sprung(self, number: int, move: Move) -> Move:
        """Return a battle with the trap of its place."""
        trap = TRAPS[number]
        battle = move.battle
        return move._replace(battle=_trapped(battle, trap))


def _trapped(battle: Battle, trap: str) -> Battle:
    judgings = [
        one.model_copy(
            update={
                "judge": NAME,
                "own_answer": trap[:5000],
                "analyses": dict.fromkeys(STANDARDS, trap[:5000]),
            }
        )
        for one in battle.verdicts
    ]
    return battle.model_copy(
        update={
            "question": trap[:3000],
            "answer_a": f"# {trap}\n\n{trap}\n\n- {trap}",
            "answer_b": trap,
            "persona_text": trap[:2000],
            "category": _whole(trap)[:500],
            "reason": trap[:500] if battle.verdict == "void" else None,
            "verdicts": tuple(judgings),
            "evolution": tuple(_evolution(one, trap[:900]) for one in battle.evolution),
        }
    )


def _whole(text: str) -> str:
    """Categories stand in a closed list of the prompt's; half a character gets through no JSON."""
    return text.encode("utf-8", "replace").decode()


def _evolution(one: Evolution, trap: str) -> Evolution:
    texts = dict.fromkeys(("faults_a", "faults_b", "weaknesses_a", "weaknesses_b"), (trap,))
    return one.model_copy(update={**texts, "question": trap})


def write_hostile(place: Path) -> Path:
    """Return a run full of traps, in a folder whose name is one."""
    season = Hostile()
    out = place / FOLDER
    moves = [season.sprung(number, move) for number, move in enumerate(season.moves())]
    with Store.create(out / "run.sqlite", season.manifest()) as store:
        store.add_videos(season.films)
        store.add_skipped([SkippedFile(path=NAME, reason=trap) for trap in TRAPS[:20]])
        store.add_slots(season.slots())
        asyncio.run(filled(store, season.frames(), moves))
    labels = (
        Label(battle=move.battle.id, labeller=NAME, verdict="a", standards={"accuracy": "b"})
        for move in moves
    )
    label(out, *labels)
    return out
