"""What a setting means is said once, for the command and for whoever reads a request's schema."""

from __future__ import annotations

import click

from videoautoarena.runs.cli.program.main import load
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.setting_texts import SETTINGS

OF_THE_COMMAND_ALONE = {
    *("plan", "yes", "engine", "address", "lease_s", "plain", "trace", "quiet", "as_json"),
    *("otlp", "version"),
}


def test_each_setting_has_one_text_in_the_help_and_in_the_schema() -> None:
    described = {name: field.description for name, field in RunRequest.model_fields.items()}
    assert described.keys() == SETTINGS.keys()
    options = {
        one.name: one.help for one in load("simulate").params if isinstance(one, click.Option)
    }
    assert options.keys() == SETTINGS.keys() | OF_THE_COMMAND_ALONE
    for name, text in SETTINGS.items():
        assert (described[name] or "").startswith(text)
        assert (options[name] or "").startswith(text)
