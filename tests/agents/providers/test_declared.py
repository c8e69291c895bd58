"""Chat models named by the path of their class, and those that a package offers by entry point."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict, Field, SecretStr, ValidationError

from tests.support.asking import frames_of, load_bytes
from videoautoarena.agents.calls.clients import ChatClient, OutgoingCall
from videoautoarena.agents.models.registry import build_chat_model, check_keys, parse_model
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.memory.records.errors import BadInput

HERE = __name__


class Parrot(BaseChatModel):
    """Repeats how many images it got and with what it was called."""

    model_config = ConfigDict(populate_by_name=True)
    model_name: str = Field(alias="model")
    house_api_key: SecretStr = Field(alias="api_key")
    base_url: str = "http://house.invalid"
    timeout: float = 1.0
    max_retries: int = 6
    temperature: float | None = None
    max_tokens: int = 7

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        kwargs.pop("run_manager", None)
        blocks = [block for block in messages[-1].content if isinstance(block, dict)]
        seen = sum(block["type"] == "image" for block in blocks)
        said = AIMessage(f"{seen} {sorted(kwargs.items())}")
        return ChatResult(generations=[ChatGeneration(message=said)])


class Plain(Parrot):
    """Has names of its own for everything."""

    model_name: str = "fixed"
    house_api_key: SecretStr = SecretStr("its own")
    title: str = ""
    secret: str = ""


class Nothing(BaseChatModel):
    """Takes neither a name nor a key."""

    @property
    def _llm_type(self) -> str:
        return "nothing"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError(f"asked, with {args} and {kwargs}")


def declared(name: str = "Parrot", **said: Any) -> dict[str, Any]:
    return {"declared": Declaration(chat_model=f"{HERE}:{name}", **said)}


def parse(name: str = "Parrot", *, settings: dict[str, Any] | None = None, **said: Any) -> Any:
    return parse_model("house:big:7b", {**declared(name, **said), **(settings or {})})


def test_what_a_class_takes_is_found_out_by_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "word")
    settings = {"timeout_s": 9.0, "parameters": {"temperature": 0.5}}
    chat: Any = build_chat_model(parse(key_env="HOUSE_KEY", settings=settings))
    assert (chat.model_name, chat.timeout, chat.max_retries, chat.temperature, chat.base_url) == (
        "big:7b",
        9.0,
        0,
        0.5,
        "http://house.invalid",
    )
    assert chat.house_api_key.get_secret_value() == "word"


def test_a_dot_may_stand_for_the_colon_of_a_path() -> None:
    model = parse_model("house:x", {"declared": Declaration(chat_model=f"{HERE}.Parrot")})
    assert type(build_chat_model(model)).__name__ == "Parrot"


def test_arguments_with_names_of_their_own_are_named() -> None:
    said = {"model_parameter": "title", "key_parameter": "secret", "url_parameter": "base_url"}
    chat: Any = build_chat_model(parse("Plain", base_url="http://there.invalid", **said))
    assert (chat.title, chat.secret, chat.base_url) == ("big:7b", "none", "http://there.invalid")


def test_a_class_gets_no_key_that_was_not_named_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "word")
    elsewhere = {"base_url": "http://elsewhere.invalid"}
    for model in (parse(), parse(key_env="HOUSE_KEY", settings=elsewhere)):
        chat: Any = build_chat_model(model)
        assert chat.house_api_key.get_secret_value() == "none"


def test_what_a_role_adds_elsewhere_is_left_to_the_class() -> None:
    assert parse().sampling("contestant") == {}
    assert parse(settings={"parameters": {"top_p": 0.1}}).sampling("judge") == {"top_p": 0.1}


def test_frames_are_standard_blocks_and_the_key_a_header_where_it_is_declared() -> None:
    frames = frames_of(3)
    sending = OutgoingCall("abc", "contestant", "Look.", frames)

    async def said(**declaration: Any) -> str:
        client = ChatClient(parse(**declaration), load_bytes)
        return (await client.send(sending)).text

    assert asyncio.run(said()) == "3 []"
    told = asyncio.run(said(headers_parameter="extra_headers"))
    assert told == "3 [('extra_headers', {'Idempotency-Key': 'abc'})]"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("langchain_nowhere:Chat", "pip install langchain-nowhere"),
        ("langchain_nowhere.chat_models.Chat", "pip install langchain-nowhere"),
        (f"{HERE}:Nobody", "is not there"),
        (f"{HERE}:HERE", "no LangChain chat model"),
        ("pathlib:Path", "no LangChain chat model"),
        (f"{HERE}:Nothing", "set model_parameter in [providers.house]"),
    ],
)
def test_a_path_that_leads_nowhere_is_one_line(path: str, words: str) -> None:
    model = parse_model("house:x", {"declared": Declaration(chat_model=path)})
    with pytest.raises(BadInput) as caught:
        check_keys([model])
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_package_that_breaks_while_it_is_imported_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_house.py").write_text("raise RuntimeError('no\\nlicence')")
    monkeypatch.syspath_prepend(tmp_path)
    model = parse_model("house:x", {"declared": Declaration(chat_model="broken_house:Chat")})
    with pytest.raises(BadInput, match="cannot be imported: RuntimeError: no licence"):
        check_keys([model])


@pytest.mark.parametrize(
    "path", ["os", "os.", ":x", "os:", "os:system()", "a b:C", "../x:C", "x:C\n"]
)
def test_what_is_no_path_is_refused_before_anything_is_imported(path: str) -> None:
    with pytest.raises(ValidationError, match=r"package\.module:Class"):
        Declaration(chat_model=path)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"parameters": {"seed": 1}}, "'seed', which"),
        ({"parameters": {"model_kwargs": {}}}, "unknown parameter 'model_kwargs'"),
        ({"parameters": {"api_key": "x"}}, "key_env"),
        ({"detail": "low"}, "house has none"),
    ],
)
def test_what_a_class_does_not_take_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        check_keys([parse(settings=settings)])


def test_a_key_that_a_class_has_no_place_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "word")
    with pytest.raises(BadInput, match="no argument 'pass'"):
        check_keys([parse(key_env="HOUSE_KEY", key_parameter="pass")])


def test_a_missing_key_of_a_declared_provider_is_named() -> None:
    with pytest.raises(BadInput, match="set HOUSE_KEY"):
        check_keys([parse(key_env="HOUSE_KEY")])


@pytest.mark.parametrize("name", ["openai", "offline", "google_genai"])
def test_a_built_in_provider_is_not_declared_anew(name: str) -> None:
    with pytest.raises(BadInput, match="built in"):
        parse_model(f"{name}:hawk", declared())


def test_a_refusal_of_the_class_is_told_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "q7" * 12)
    model = parse(key_env="HOUSE_KEY", settings={"parameters": {"temperature": "hot"}})
    with pytest.raises(BadInput, match="temperature") as caught:
        build_chat_model(model)
    assert "q7q7" not in str(caught.value)


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a package that offers one provider."""

    def install(source: str, name: str, thing: str) -> None:
        (tmp_path / "offered_house.py").write_text(source)
        info = tmp_path / "offered_house-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offered-house\nVersion: 1\n")
        points = f"[videoautoarena.providers]\n{name} = offered_house:{thing}\n"
        (info / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "offered_house", raising=False)

    return install


def test_a_class_that_a_package_offers_is_a_provider(offer: Any) -> None:
    offer(f"from {HERE} import Parrot", "offered", "Parrot")
    model = parse_model("offered:x")
    assert (model.endpoint, model.declared, model.is_foreign) == ("offered", None, True)
    assert type(build_chat_model(model)).__name__ == "Parrot"


def test_a_provider_that_a_package_offers_says_what_it_is_itself(
    offer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(
        "from videoautoarena.agents.providers.base import Provider\n"
        "MINE = Provider('offered', home='https://house.invalid/v2', key_names=('HOUSE_KEY',))\n",
        "offered",
        "MINE",
    )
    model = parse_model("offered:x")
    assert (model.endpoint, model.key_names) == ("house.invalid", ("HOUSE_KEY",))
    assert model.sampling("contestant") == {"max_tokens": 4096}
    monkeypatch.setenv("HOUSE_KEY", "key-of-the-house")
    with pytest.raises(BadInput, match="'offered' has no build"):
        build_chat_model(model)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("THING = 3", "neither a Provider nor a class"),
        ("import nothing_of_this_name", "cannot be loaded: ModuleNotFoundError"),
        ("", "cannot be loaded: AttributeError"),
    ],
)
def test_an_offer_that_is_none_is_one_line(offer: Any, source: str, words: str) -> None:
    offer(source, "offered", "THING")
    with pytest.raises(BadInput, match=words):
        parse_model("offered:x")


def test_what_is_offered_is_listed_and_takes_no_built_in_name(offer: Any) -> None:
    offer(f"from {HERE} import Parrot", "openai", "Parrot")
    assert parse_model("openai:x").maker.home == "https://api.openai.com/v1"
