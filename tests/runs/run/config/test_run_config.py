"""Settings: flag beats preset beats file beats default, and what cannot be is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.memory.records.errors import BadInput, StoreError, WrongArgument
from videoautoarena.memory.records.records import CallLimits, Price
from videoautoarena.runs.run.config.arena_file import read_arena_file
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import configured, named_in_full

WHOLE = """
[providers.house]
chat_model = "house_vlm:Chat"
key_env = "HOUSE_KEY"
[models.near]
model = "openai:some/vlm:7b"
base_url = "http://127.0.0.1:8000/v1"
key_env = "NEAR_KEY"
max_frames = 32
timeout_s = 60
detail = "low"
cache_breakpoint = true
frame_tokens = 85
structured = "auto"
parameters = { temperature = 0.2 }
[models.near.limits]
concurrency = 4
requests_per_minute = 60
tokens_per_minute = 100000
images_per_request = 16
body_bytes = 5000000
[models.near.price]
input_usd = 0.5
output_usd = 1.5
cached_usd = 0.1
written_usd = 0.6
[models.far]
model = "house:big"
[roles]
models = ["near", "far"]
examiner = "openai:gpt-4.1"
"""
TOML = """
[models.near]
model = "openai:some/vlm:7b"
base_url = "http://127.0.0.1:8000/v1"
max_frames = 32
[models.near.parameters]
temperature = 0.2
[models.far]
model = "google_genai:gemini-2.5-flash"
[roles]
models = ["near", "far"]
examiner = "openai:gpt-4.1"
[run]
seed = 7
rounds = 5
swap = "all"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "arena.toml"
    path.write_text(TOML)
    return path


def test_with_nothing_named_the_offline_cast_plays_three_rounds_on_seed_0() -> None:
    settings = resolve(RunRequest())
    assert settings.assumed_cast
    assert settings.config.models[0] == "offline:hawk"
    assert (settings.config.rounds, settings.config.seed, settings.config.offline) == (3, 0, True)


def test_a_file_gives_models_names_of_their_own(file: Path) -> None:
    config = resolve(RunRequest(config=file)).config
    near = config.model_of("near")
    assert (near.name, near.max_frames, near.parameters) == (
        "some/vlm:7b",
        32,
        {"temperature": 0.2},
    )
    assert (config.examiner, config.judges) == ("openai:gpt-4.1", ("openai:gpt-4.1",))


def test_a_flag_beats_the_preset_and_the_preset_beats_the_file(file: Path) -> None:
    paper = resolve(RunRequest(config=file, preset="paper", rounds=2)).config
    assert (paper.rounds, paper.seed, paper.swap, paper.pairing) == (2, 7, 0.0, "keep-pair")
    assert resolve(RunRequest(config=file, preset="paper", swap=0.5)).config.swap == 0.5


def test_the_paper_preset_turns_every_choice_back() -> None:
    config = resolve(RunRequest(preset="paper")).config
    assert config.sampling.fit == "stretch"
    assert config.rules.model_dump() == {
        "overall_only": True,
        "share_analyses": False,
        "fixed_seats": True,
    }


def test_a_file_in_the_working_folder_is_used_when_nobody_names_models(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert resolve(RunRequest()).config.models == ("near", "far")


def test_a_configuration_comes_back_from_its_manifest(file: Path) -> None:
    config = resolve(RunRequest(config=file)).config
    found = RunConfig.of_manifest(config.manifest("0.1.0", {"judge": "f" * 64}))
    assert found.model_dump() == config.model_dump()
    assert found.identity() == config.identity()


def test_every_setting_of_a_model_comes_to_the_model_and_through_the_manifest(file: Path) -> None:
    file.write_text(WHOLE)
    config = resolve(RunRequest(config=file)).config
    manifest = json.loads(json.dumps(config.manifest("0.1.0", {})))
    for found in (config, RunConfig.of_manifest(manifest)):
        near = found.model_of("near")
        far = found.model_of("far")
        assert near.with_settings(is_received=False) == Model(
            alias="near",
            model="openai:some/vlm:7b",
            max_frames=32,
            base_url="http://127.0.0.1:8000/v1",
            key_env="NEAR_KEY",
            parameters={"temperature": 0.2},
            timeout_s=60.0,
            detail="low",
            cache_breakpoint=True,
            limits=CallLimits(
                concurrency=4,
                requests_per_minute=60,
                tokens_per_minute=100_000,
                images_per_request=16,
                body_bytes=5_000_000,
            ),
            price=Price(input_usd=0.5, output_usd=1.5, cached_usd=0.1, written_usd=0.6),
            frame_tokens=85,
            structured="auto",
        )
        assert far.declared == Declaration(chat_model="house_vlm:Chat", key_env="HOUSE_KEY")


def test_a_run_keeps_the_names_of_keys_and_no_key(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEAR_KEY", "planted-near-0123456789")
    monkeypatch.setenv("HOUSE_KEY", "planted-house-0123456789")
    file.write_text(WHOLE)
    manifest = json.dumps(resolve(RunRequest(config=file)).config.manifest("0.1.0", {}))
    assert "NEAR_KEY" in manifest
    assert "planted" not in manifest


def test_a_mark_for_the_cache_is_the_models_need_unless_the_file_says_so(file: Path) -> None:
    flags = RunRequest(models=("openai:gpt-5.6", "openai:gpt-4o"), examiner="openai:e", config=file)
    cast = resolve(flags).config.cast
    marks = [cast[name].cache_breakpoint for name in flags.models]
    assert marks == [True, False]
    file.write_text('[models.new]\nmodel = "openai:gpt-5.6"\ncache_breakpoint = false\n')
    models = ("new", "openai:gpt-4o")
    config = resolve(RunRequest(models=models, examiner="openai:e", config=file)).config
    assert not config.cast["new"].cache_breakpoint


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("concurrency = 4", "concurrency = 9", True),
        ("body_bytes = 5000000", "body_bytes = 9", True),
        ("input_usd = 0.5", "input_usd = 5", True),
        ("timeout_s = 60", "timeout_s = 61", True),
        ("house_vlm:Chat", "moved_vlm:Chat", True),
        ("images_per_request = 16", "images_per_request = 64", False),
        ("images_per_request = 16", "images_per_request = 8", False),
        ('detail = "low"', 'detail = "high"', False),
        ("max_frames = 32", "max_frames = 8", False),
        ("house:big", "house:small", False),
        ('structured = "auto"', 'structured = "json_schema"', False),
        ('structured = "auto"\n', "", False),
    ],
)
def test_a_run_is_another_one_where_its_models_are_sent_something_else(
    file: Path, old: str, new: str, is_same: bool
) -> None:
    file.write_text(WHOLE)
    here = resolve(RunRequest(config=file)).config
    file.write_text(WHOLE.replace(old, new))
    assert (resolve(RunRequest(config=file)).config.identity() == here.identity()) is is_same


def test_structured_output_that_is_off_is_as_if_nobody_spoke_of_it(file: Path) -> None:
    silent = WHOLE.replace('structured = "auto"\n', "")
    manifests = []
    for text in (silent, WHOLE.replace('"auto"', '"off"')):
        file.write_text(text)
        manifests.append(json.dumps(resolve(RunRequest(config=file)).config.manifest("0.1.0", {})))
    assert manifests[0] == manifests[1]
    assert "structured" not in manifests[0]


def test_a_moved_server_is_the_same_run_and_another_temperature_is_not(file: Path) -> None:
    here = resolve(RunRequest(config=file)).config
    file.write_text(TOML.replace(":8000", ":9000"))
    moved = resolve(RunRequest(config=file)).config
    file.write_text(TOML.replace("0.2", "0.3"))
    warmer = resolve(RunRequest(config=file)).config
    assert here.identity() == moved.identity() != warmer.identity()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (RunRequest(models=("offline:hawk",)), "one model"),
        (RunRequest(models=("offline:hawk", "offline:hawk")), "twice"),
        (RunRequest(models=("gpt", "offline:owl")), "provider:model"),
        (RunRequest(models=("offline:eagle", "offline:owl")), "hawk"),
        (RunRequest(rounds=0), "rounds= is 0"),
        (RunRequest(limit=0), "limit= is 0"),
        (RunRequest(concurrency=0), "concurrency= is 0"),
        (RunRequest(swap=1.5), "swap= is 1.5"),
        (RunRequest(judge=("offline:hawk",)), "offline:judge"),
        (RunRequest(models=("openai:a", "openai:b")), "examiner="),
        (
            RunRequest(models=("openai:a", "openai:b"), examiner="openai:a"),
            "allow_self_judging=True",
        ),
        (RunRequest(models=("offline:hawk", "offline:judge")), "compete"),
        (
            RunRequest(
                models=("openai:a", "openai:b"), examiner="openai:c", judge=("offline:judge",)
            ),
            "allow_offline_judge=True",
        ),
        (RunRequest(models=("offline:hawk", "offline:\x1b[2J")), "no offline model"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(flags: RunRequest, words: str) -> None:
    with pytest.raises(BadInput) as refusal:
        resolve(flags)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_judge_that_competes_under_another_name_is_found(file: Path) -> None:
    file.write_text(TOML.replace('examiner = "openai:gpt-4.1"', 'examiner = "openai:some/vlm:7b"'))
    with pytest.raises(BadInput, match="own battles"):
        resolve(RunRequest(config=file))


def test_self_judging_that_was_asked_for_marks_the_run() -> None:
    flags = RunRequest(
        models=("openai:a", "openai:b"), examiner="openai:a", allow_self_judging=True
    )
    assert resolve(flags).config.self_judging


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[run]\nrounds = 'many'", "run.rounds"),
        (
            "[models.x]\nmodle = 'openai:a'",
            "models.x.modle is not a key here; did you mean model? there are model, ",
        ),
        (
            "[model.x]\nmodel = 'openai:a'",
            "model is not a key here; did you mean models? there are models, providers, ",
        ),
        ("[models.x]\nbase_url = 'http://h'", "models.x.model is missing"),
        (
            "[models.x]\nmodel='openai:a'\nlimits={concurrency=0}",
            "models.x.limits.concurrency must",
        ),
        (
            "[models.x]\nmodel='openai:a'\nlimits={calls=1}",
            "calls is not a key here; there are conc",
        ),
        ("[models.x]\nmodel='openai:a'\nlimits=3", "models.x.limits must be a table"),
        (
            "[models.x]\nmodel='openai:a'\n"
            "price={input_usd=1,output_usd=1,source='genai-prices of mine'}",
            "models.x.price must not name genai-prices as its source",
        ),
        ("[models.x]\nmodel='openai:a'\nprice={input_usd=1}", "price.output_usd is missing"),
        ("[models.x]\nmodel='openai:a'\nprice={input_usd=-1,output_usd=1}", "price.input_usd must"),
        ("[models.x]\nmodel='openai:a'\ndetail='max'", "detail must be 'low', 'high' or 'auto'"),
        ("[models.x]\nmodel='openai:a'\nmax_frames=2000", "max_frames must be less than"),
        ("[models.x]\nmodel='openai:a'\ntimeout_s=inf", "timeout_s must be a finite number"),
        ("[models.x]\nmodel='openai:a'\ncache_breakpoint='?'", "must be true or false"),
        ("[models.x]\nmodel='openai:a'\nstructured='yaml'", "must be 'auto', 'json_schema', 'json"),
        ("[providers.x]\nchat_model='os'", "providers.x.chat_model is no path of a class"),
        ("[providers.x]\nclass='a:B'", "class is not a key here; there are chat_model, key_env"),
        ("[roles]\nmodels='x'", "roles.models must be a list"),
        ("[roles]\njudge=[1]", "roles.judge must be a text"),
        ("[run]\nrounds=0", "run.rounds must be greater than or equal to 1"),
        ("[run]\nswap=1.5", "run.swap must be less than or equal to 1"),
        ("[run]\nmax_void=-0.1", "run.max_void must be greater than or equal to 0"),
        ("[run]\nconcurrency=0", "run.concurrency must be greater than or equal to 1"),
        ("[run]\nswap='half'", "run.swap must be a number"),
        ("[run]\nsubtitles='?'", "run.subtitles must be true or false"),
        ("[run]\nsubtitles=1", "run.subtitles must be true or false"),
        ("[run]\nrounds=true", "run.rounds must be a whole number"),
        ("[run]\nseed='7'", "run.seed must be a whole number"),
        ("[run]\nswap=true", "run.swap must be a number"),
        ("[run]\nmax_usd='20'", "run.max_usd must be a number"),
        ("[sampling]\nfps=true", "sampling.fps must be a number"),
        ("[models.x]\nmodel='openai:a'\nmax_frames='8'", "models.x.max_frames must be a whole num"),
        ("[models.x]\nmodel='openai:a'\nlimits={concurrency=true}", "limits.concurrency must be a"),
        (
            "[models.x]\nmodel='openai:a'\nprice={input_usd=1,output_usd='2'}",
            "price.output_usd must be a number",
        ),
        (
            "[models.x.retrieval]\nmodel='offline:owl'\nembeddings='offline:colours'\nkeep=true",
            "models.x.retrieval.keep must be a whole number",
        ),
        ("[run", "not valid TOML"),
        (
            "[models.x]\nmodel='openai:a'\nbase_url='http://u:secret@h/v1'\n[roles]\nmodels=['x','offline:owl']\nexaminer='openai:e'",
            "key_env",
        ),
        (
            "[models.x]\nmodel='openai:a'\nbase_url='ftp://h'\n[roles]\nmodels=['x','offline:owl']\nexaminer='openai:e'",
            "http",
        ),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_place(
    tmp_path: Path, toml: str, words: str
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(toml)
    with pytest.raises(BadInput) as refusal:
        resolve(RunRequest(config=path))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_whole_numbers_lists_and_infinity_are_taken_where_they_are_meant(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        "[run]\nswap = 1\nmax_usd = inf\npatience = 5\nlanguages = ['en']\n"
        "[roles]\nmodels = ['a']\njudge = ['b', 'c']\n"
        "[models.a]\nmodel = 'openai:a'\ntimeout_s = 30\nparameters = { stop = ['x'] }\n"
        "price = { input_usd = 1, output_usd = 4.0 }"
    )
    found = read_arena_file(path)
    assert (found.run.swap, found.run.max_usd, found.run.languages) == (1.0, float("inf"), ("en",))
    assert (found.roles.models, found.roles.judge) == (("a",), ("b", "c"))
    assert found.models["a"].parameters == {"stop": ["x"]}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[models.x]\nmodel='google_genai:g'\ndetail='auto'", "there are low, high"),
        ("[models.x]\nmodel='offline:hawk'\ndetail='low'", "offline has none"),
        ("[models.x]\nmodel='google_genai:g'\ncache_breakpoint=true", "no cache_breakpoint"),
        ("[models.x]\nmodel='openai:g'\nkey_env='sk-planted-1234'", "name of a variable"),
        (
            "[models.x]\nmodel='h:g'\n[providers.h]\nchat_model='a:B'\nkey_env='sk-planted'",
            "providers.h': key_env is",
        ),
        (
            "[models.x]\nmodel='h:g'\n[providers.h]\nchat_model='a:B'\nbase_url='x'",
            "providers.h: base",
        ),
        ("[models.x]\nmodel='openai:g'\n[providers.openai]\nchat_model='a:B'", "built in"),
        (
            "[models.x]\nmodel='h h:g'\n[providers.'h h']\nchat_model='a:B'",
            "no name for a provider",
        ),
        ("[models.x]\nmodel='h:g'", "'h:g' is no model"),
    ],
)
def test_a_model_that_cannot_be_is_refused_in_one_line(
    tmp_path: Path, table: str, words: str
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(table)
    with pytest.raises(BadInput) as refusal:
        resolve(RunRequest(models=("x", "offline:owl"), examiner="openai:e", config=path))
    assert words in str(refusal.value)
    assert "planted" not in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        resolve(RunRequest(config=tmp_path / "none.toml"))


@pytest.mark.parametrize("part", ["models", "examiner", "judge"])
def test_a_name_that_would_move_a_terminal_is_refused_in_any_part(
    part: str, tmp_path: Path
) -> None:
    path = tmp_path / "arena.toml"
    name = "far\x1b[2J"
    path.write_text('[models."far\\u001b[2J"]\nmodel = "openai:m"\n')
    parts = {"models": ("offline:hawk", "offline:mole"), "examiner": "openai:e", "judge": ("far",)}
    chosen = {"models": (name, "offline:mole"), "examiner": name, "judge": (name,)}[part]
    with pytest.raises(BadInput, match="cannot be shown") as caught:
        resolve(RunRequest(**{**parts, part: chosen, "config": path}))  # type: ignore[arg-type]
    assert str(caught.value).isprintable()


def test_languages_are_codes_in_any_order_and_a_flag_beats_the_file(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text('[run]\nlanguages = ["zh", "EN"]\n', encoding="utf-8")
    assert resolve(RunRequest(config=file)).config.languages == ("en", "zh")
    assert resolve(RunRequest(config=file, languages=("de",))).config.languages == ("de",)
    assert resolve(RunRequest()).config.languages == ()
    file.write_text('[run]\nlanguages = ["xx"]\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"^run\.languages knows no 'xx'"):
        resolve(RunRequest(config=file))


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        (("en", "deutsch"), "languages= knows no 'deutsch'; there are ar \\(Arabic\\), "),
        (("de", "en", "DE"), "languages= names de twice; name each language once"),
    ],
)
def test_a_language_that_is_unknown_or_named_twice_is_one_line(
    codes: tuple[str, ...], why: str
) -> None:
    with pytest.raises(WrongArgument, match=why):
        resolve(RunRequest(languages=codes))


def test_a_name_in_other_letters_stands_for_the_same_table(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text('[models."caf\u00e9"]\nmodel = "offline:hawk"\n', encoding="utf-8")
    out = tmp_path / "out"
    flags = RunRequest(config=file, models=("cafe\u0301", "offline:owl"))
    assert resolve(flags).config.cast["cafe\u0301"].model == "offline:hawk"
    assert resolve(named_in_full(out, flags)).config.models == ("caf\u00e9", "offline:owl")


def test_one_model_is_not_named_twice_in_two_kinds_of_letters(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    table = '[models."{}"]\nmodel = "offline:hawk"\n'
    file.write_text(table.format("caf\u00e9"), encoding="utf-8")
    with pytest.raises(BadInput, match="models= names caf\u00e9 twice"):
        resolve(RunRequest(config=file, models=("caf\u00e9", "cafe\u0301")))
    both = table.format("caf\u00e9") + table.format("cafe\u0301")
    file.write_text(both, encoding="utf-8")
    with pytest.raises(BadInput, match="models names caf\u00e9 twice, in composed and in decomp"):
        resolve(RunRequest(config=file))


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (("judges",), ["gone"], "name 'gone', but do not define it"),
        (("models",), ["offline:hawk", "x" * 4000], r"name 'x{79}\\u2026', but do not define it"),
        (("cast", "x" * 501), {}, "more than 500 letters"),
        (("cast", "offline:hawk", "model"), "openai:" + "x" * 500, "more than 500 letters"),
        (
            ("cast", "offline:hawk", "retrieval"),
            {"model": "offline:hawk", "embeddings": "offline:hawk"},
            "clips found by whoever needs clips itself",
        ),
        (("cast", "offline:hawk", "timeout_s"), -1, r"cannot be read \(cast\.offline:hawk\.time"),
        (("cast", "offline:hawk", "max_frames"), -1, r"cannot be read \(cast\.offline:hawk\.max"),
    ],
)
def test_settings_of_a_run_that_cannot_be_are_one_line(
    place: tuple[str, ...], value: object, why: str
) -> None:
    manifest = json.loads(json.dumps(resolve(RunRequest()).config.manifest("0.1.0", {})))
    inner = manifest
    for name in place[:-1]:
        inner = inner[name]
    is_model = place[0] == "cast" and len(place) == 2
    inner[place[-1]] = manifest["cast"]["offline:hawk"] if is_model else value
    with pytest.raises(StoreError, match=why):
        RunConfig.of_manifest(manifest)


def test_who_finds_clips_for_somebody_unnamed_comes_along(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    retrieval = '{ model = "offline:owl", embeddings = "offline:colours" }'
    file.write_text(f"[models.finder]\nretrieval = {retrieval}\n", encoding="utf-8")
    begun = resolve(
        RunRequest(config=file, models=("offline:hawk", "offline:mole", "finder"))
    ).config
    kept = begun.model_copy(update={"guests": {"finder": (1,)}})
    asked = resolve(RunRequest(models=("offline:hawk", "offline:mole")))
    assert configured(tmp_path, kept, asked, generation=1).model_of("finder").retrieval


def test_a_model_that_is_misspelt_is_guessed_among_the_tables(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text('[models.mole]\nmodel = "offline:mole"\n[roles]\nmodels = ["moel", "mole"]\n')
    with pytest.raises(BadInput, match=r"'moel' is no model.*did you mean 'mole'"):
        resolve(RunRequest(config=file))
