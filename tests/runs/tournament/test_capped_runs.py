"""A cap ends a run of this process as it ends one of a terminal, and takes nothing from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_cap import ROSTER, brain, write_arena
from tests.support.clips import draw_folder
from tests.support.loopback import Loopback, serving
from tests.support.small_runs import battles_of, play, play_again
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.runs.api.simulate import Finished
from videoautoarena.runs.cli.program.ending import ending


class Stage:
    """A few videos, two rounds, and models that cost something."""

    def __init__(self, folder: Path, server: Loopback, videos: int = 1) -> None:
        self.videos = draw_folder(folder / "videos", videos, seconds=2)
        self.config = write_arena(folder / "arena.toml", server.openai_url, 2.0)
        self.said: list[str] = []

    def play(self, out: Path, **flags: Any) -> Finished:
        cast = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",)}
        return play(self.videos, out, said=self.said, config=self.config, **cast, **flags)


@pytest.mark.parametrize(
    ("unit", "places", "rounds", "shares"),
    [
        ("max_usd", 16, 1, (0.6,)),
        pytest.param("max_tokens", 1, 2, (0.4, 0.8), marks=pytest.mark.slow),
    ],
)
def test_caps_in_steps_come_to_the_end_of_the_uncapped_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    unit: str,
    places: int,
    rounds: int,
    shares: tuple[float, ...],
) -> None:
    ways = {"concurrency": places, "rounds": rounds}
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    with serving(tmp_path / "log", brain=brain) as server:
        stage = Stage(tmp_path, server)
        whole = stage.play(tmp_path / "whole", **ways)
        tokens = whole.spent.input_tokens + whole.spent.output_tokens
        full = whole.spent.usd if unit == "max_usd" else tokens
        for share in shares:
            found = stage.play(tmp_path / "out", **ways, **{unit: share * full})
            assert found.is_capped
            assert not found.interrupted
            spent = found.spent
            told = spent.usd if unit == "max_usd" else spent.input_tokens + spent.output_tokens
            assert told <= share * full
            assert ending(found, tmp_path / "out") == 4
        lifted = stage.play(tmp_path / "out", **ways, **{unit: float("inf")})
    assert ending(lifted, tmp_path / "out") == 0
    assert lifted.spent.calls == whole.spent.calls
    assert lifted.spent.usd == pytest.approx(whole.spent.usd)
    assert battles_of(tmp_path / "out") == battles_of(tmp_path / "whole")
    assert not play_again(tmp_path / "out").differences
    assert any("budget cap reached" in line for line in stage.said)


@pytest.mark.slow
def test_a_cap_buys_about_its_share_of_the_battles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    with serving(tmp_path / "log", brain=brain) as server:
        stage = Stage(tmp_path, server, videos=4)
        whole = stage.play(tmp_path / "whole", concurrency=16)
        kept = {battle.id: battle for battle in battles_of(tmp_path / "whole")}
        for places, share in ((1, 0.5), (16, 0.25)):
            out = tmp_path / f"of-{share}-{places}"
            cap = share * whole.spent.usd
            found = stage.play(out, concurrency=places, max_usd=cap)
            assert found.is_capped
            assert found.settled >= 0.6 * share * whole.total
            assert all(kept[battle.id] == battle for battle in battles_of(out))


@pytest.mark.parametrize(
    ("caps", "needed", "flags"),
    [
        (SpendCaps(usd=2.0), SpendCaps(2.5, 10**6), "--max-usd 4"),
        (SpendCaps(usd=0.3), SpendCaps(0.65, 10**6), "--max-usd 1.3"),
        (SpendCaps(usd=0.0001), SpendCaps(0.0512, 10**6), "--max-usd 0.11"),
        (SpendCaps(tokens=1000), SpendCaps(9.0, 1200), "--max-tokens 2000"),
        (SpendCaps(tokens=1000), SpendCaps(9.0, 2345), "--max-tokens 4700"),
        (SpendCaps(usd=1.0, tokens=1000), SpendCaps(9.0, 2345), "--max-usd 18 --max-tokens 4700"),
    ],
)
def test_the_cap_that_is_named_to_go_on_with_lets_the_next_call_through(
    caps: SpendCaps, needed: SpendCaps, flags: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = Finished(9, 3, 0, False, 0.05, is_capped=True, caps=caps, needed=needed)
    assert ending(ended, Path("out")) == 4
    assert capsys.readouterr().err.splitlines()[-1] == f"to continue: arena resume out {flags}"
