"""`arena import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from runs.commands.groups import TellingGroup

if TYPE_CHECKING:
    from runs.imports_battles import Format


@click.group(
    "import",
    cls=TellingGroup,
    epilog="Example: arena import videoautobench bench.json --to my-bench",
)
def command() -> None:
    """Take in test sets, judgments and answers that others publish."""


@command.command(
    "videoautobench", epilog="Example: arena import videoautobench bench.json --to my-bench"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path),
              help="Folder of the bench, new or empty.")  # fmt: skip
@click.option("--licence", help="Under which it is published, such as CC-BY-NC-SA-4.0.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def videoautobench(file: Path, to: Path, licence: str | None, as_json: bool) -> None:
    """Make a bench of FILE, a published VideoAutoBench file, without loss.

    FILE is a JSON object of questions by their qid: video_id, persona, question, selected answer,
    rejected answer. Other keys are kept. arena bench export writes the same file again.
    """
    import json

    from runs.console import safe, say, tell
    from runs.imports import import_videoautobench

    taken = import_videoautobench(file, to, licence=licence)
    if taken.extra:
        say(f"{taken.extra} of {taken.questions} questions have keys that are only kept")
    say(f"score what was judged on it: arena bench score {safe(str(to))}")
    tell(json.dumps(taken.as_json()) if as_json else taken.as_line())


@command.command(
    "videoautobench-judgments",
    epilog="Example: arena import videoautobench-judgments judged/selected judged/rejected "
    "--bench my-bench --model aria",
)
@click.argument("selected", type=click.Path(path_type=Path))
@click.argument("rejected", type=click.Path(path_type=Path))
@click.option("--bench", required=True, type=click.Path(path_type=Path),
              help="The bench that was judged.")  # fmt: skip
@click.option("--model", required=True, help="Whose answers were judged.")
@click.option("--judge", default="gpt-4o", show_default=True, help="Who judged them.")
@click.option("--allow-differing", is_flag=True,
              help="Take in what is about another question or video, and count it.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace what that judge said of that model.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def judgments(
    selected: Path,
    rejected: Path,
    bench: Path,
    model: str,
    judge: str,
    allow_differing: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Take in a model's published judge outputs, against SELECTED and against REJECTED answers.

    Both are folders, nested or not, of <qid>.jsonl files of one line. The reference is A, so
    [[B>A]] after the last [Overall Judge] is a win. What cannot be read is void.
    """
    import json

    from runs.benches import open_bench
    from runs.console import safe, say, tell, tell_lines
    from runs.imports_judgments import import_judgments

    taken = import_judgments(
        selected,
        rejected,
        open_bench(bench),
        model,
        judge=judge,
        allow_differing=allow_differing,
        force=force,
    )
    say(f"what they come to: arena bench score {safe(str(bench))}")
    if as_json:
        tell(json.dumps(taken.as_json()))
    else:
        tell_lines(taken.as_lines())


@command.command(
    "videoautobench-submission",
    epilog="Example: arena import videoautobench-submission aria.json --bench my-bench "
    "--model aria",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--bench", required=True, type=click.Path(path_type=Path),
              help="The bench that was answered.")  # fmt: skip
@click.option("--model", required=True, help="Who answered it.")
@click.option("--allow-differing", is_flag=True,
              help="Take in answers to another text than the bench's.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the answers of that model.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def submission(
    file: Path, bench: Path, model: str, allow_differing: bool, force: bool, as_json: bool
) -> None:
    """Take in a model's answers from FILE, a JSON object of them by qid, to be judged later."""
    import json

    from runs.benches import open_bench
    from runs.console import tell
    from runs.imports_submission import import_submission

    taken = import_submission(
        file, open_bench(bench), model, allow_differing=allow_differing, force=force
    )
    tell(json.dumps(taken.as_json()) if as_json else taken.as_line())


@command.command(
    "battles", epilog="Example: arena import battles battle.history.json --to battles.jsonl"
)
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--to", required=True, type=click.Path(path_type=Path),
              help="File to write: .jsonl.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["videoautoarena", "fastchat", "arena-hard"]),
              help="Whose battles they are.  [default: by their keys]")  # fmt: skip
@click.option("--baseline", help="Whom arena-hard held all against, where the file does not say.")
@click.option("--force", is_flag=True, help="Replace the file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def battles(
    files: tuple[Path, ...],
    to: Path,
    form: str | None,
    baseline: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Turn the battles in FILES, as others publish them, into lines that arena rate reads.

    FILES are VideoAutoArena's histories, Chatbot Arena's or FastChat's battles, or arena-hard's
    judgments: JSON or JSON lines. A verdict that cannot be read is void.
    """
    import json

    from runs.console import safe, say, tell
    from runs.imports_battles import import_battles

    found = import_battles(
        files, to, form=cast("Format | None", form), baseline=baseline, force=force
    )
    say(f"rate them: arena rate {safe(str(to))}")
    tell(json.dumps(found.as_json()) if as_json else found.as_line())


@command.command("arena-hard", epilog="Example: arena import arena-hard data --bench my-bench")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--bench", required=True, type=click.Path(path_type=Path),
              help="The bench whose questions were judged.")  # fmt: skip
@click.option("--baseline", help="Whom all were held against, where a line does not say.")
@click.option("--allow-differing", is_flag=True,
              help="Take in what is about another text of a question.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace what those judges said of those models.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def arena_hard(
    folder: Path,
    bench: Path,
    baseline: str | None,
    allow_differing: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Take in judgments against a baseline from FOLDER, as arena-hard keeps them.

    FOLDER is of either of its versions; it holds model_judgment/JUDGE/MODEL.jsonl and may hold
    model_answer and question.jsonl. The ids of questions are those of the bench. What has no
    verdict that can be read is void.
    """
    import json

    from runs.benches import open_bench
    from runs.console import safe, say, tell, tell_lines
    from runs.imports_arena_hard import import_arena_hard

    taken = import_arena_hard(
        folder, open_bench(bench), baseline=baseline, allow_differing=allow_differing, force=force
    )
    say(f"what they come to: arena bench score {safe(str(bench))}")
    if as_json:
        tell(json.dumps(taken.as_json()))
    else:
        tell_lines(taken.as_lines())
