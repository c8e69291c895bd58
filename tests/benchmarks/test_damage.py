"""Ten clips that are damaged here: what is told damages all behind it, the rest is stated."""

from __future__ import annotations

import re

import pytest

from benchmarks import damage

pytestmark = pytest.mark.slow

CODECS = ("H.264", "VP9")
"""One that loses packets of its stream, one that loses frames; `make bench-damage` has all."""


def test_no_frame_behind_damage_that_is_visibly_wrong_is_called_sound(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert damage.main(["--codecs", *CODECS]) == 0
    told = capsys.readouterr().out
    clips = re.findall(r"^(H\.264|VP9), .* 0 wrongly called sound$", told, re.MULTILINE)
    assert len(clips) == 10
    shares = re.findall(r"^(\S+): .* (\d+)% of those below 30 dB unreported$", told, re.M)
    assert {name for name, _ in shares} == set(CODECS)
    assert told.splitlines()[-1] == "undamaged clips with frames called damaged: none"
