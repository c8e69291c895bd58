"""The language of a text is told where that is sure, offline, and of anybody's text."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.prompting.languages import (
    LANGUAGES,
    UNKNOWN,
    asked_language,
    told_language,
)

ASKED = {
    "ar": "كم مرة ترفع الطاهية غطاء القدر قبل أن تضيف الملح إلى الحساء؟",
    "bn": "রাঁধুনি স্যুপে লবণ দেওয়ার আগে কতবার ঢাকনা তোলে?",
    "cs": "Kolikrát kuchařka zvedne poklici, než do polévky přidá sůl?",
    "de": "Wie oft hebt die Köchin den Deckel, bevor sie Salz in die Suppe gibt?",
    "el": "Πόσες φορές σηκώνει η μαγείρισσα το καπάκι πριν βάλει αλάτι στη σούπα;",
    "en": "How often does the cook lift the lid before she puts salt into the soup?",
    "es": "¿Cuántas veces levanta la cocinera la tapa antes de echar sal a la sopa?",
    "fi": "Kuinka monta kertaa kokki nostaa kantta ennen kuin hän lisää suolaa keittoon?",
    "fr": "Combien de fois la cuisinière soulève-t-elle le couvercle avant de saler la soupe ?",
    "he": "כמה פעמים הטבחית מרימה את המכסה לפני שהיא מוסיפה מלח למרק?",
    "hi": "सूप में नमक डालने से पहले रसोइया कितनी बार ढक्कन उठाती है?",
    "hu": "Hányszor emeli fel a szakácsnő a fedőt, mielőtt sót tesz a levesbe?",
    "it": "Quante volte la cuoca solleva il coperchio prima di mettere il sale nella zuppa?",
    "ja": "料理人はスープに塩を入れる前に何回ふたを開けますか？",
    "ko": "요리사가 수프에 소금을 넣기 전에 뚜껑을 몇 번 들어 올리나요?",
    "nl": "Hoe vaak tilt de kokkin het deksel op voordat ze zout in de soep doet?",
    "pl": "Ile razy kucharka podnosi pokrywkę, zanim doda sól do zupy?",
    "pt": "Quantas vezes a cozinheira levanta a tampa antes de pôr sal na sopa?",
    "ru": "Сколько раз повариха поднимает крышку, прежде чем посолить суп?",
    "sv": "Hur ofta lyfter kocken på locket innan hon lägger salt i soppan?",
    "th": "แม่ครัวเปิดฝากี่ครั้งก่อนที่จะใส่เกลือลงในซุป",
    "tr": "Aşçı çorbaya tuz koymadan önce kapağı kaç kez kaldırıyor?",
    "uk": "Скільки разів кухарка піднімає кришку, перш ніж посолити суп?",
    "vi": "Đầu bếp mở nắp bao nhiêu lần trước khi cho muối vào súp?",
    "zh": "厨师在往汤里放盐之前掀了几次锅盖？",
}
SURELY = 0.9
"""So many of them are told; of the rest it is not sure, and none is told wrong."""


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a language is told without a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_a_whole_question_is_told_and_never_for_another_language() -> None:
    told = {code: told_language(text) for code, text in ASKED.items()}
    assert {code: said for code, said in told.items() if said not in (code, UNKNOWN)} == {}
    assert sum(code == said for code, said in told.items()) >= SURELY * len(ASKED), told


@pytest.mark.parametrize("text", ["", "???", "1 2 3", "ok", "Why?", "GPT-4", "😀", "\x00\ud800"])
def test_a_text_without_a_sentence_is_unknown(text: str) -> None:
    assert told_language(text) == UNKNOWN


def test_a_language_that_is_not_in_the_table_is_unknown() -> None:
    welsh = "Sawl gwaith mae'r cogydd yn codi'r caead cyn rhoi halen yn y cawl?"
    assert "cy" not in LANGUAGES
    assert told_language(welsh) == UNKNOWN


@given(st.text(max_size=200))
def test_any_text_has_a_code_or_is_unknown(text: str) -> None:
    assert told_language(text) in {*LANGUAGES, UNKNOWN}


def test_no_more_of_a_text_is_read_than_tells_its_language() -> None:
    assert told_language(ASKED["de"] + " " + ASKED["en"] * 100_000) in ("en", "de", UNKNOWN)


def test_what_was_drawn_beats_what_the_text_tells() -> None:
    assert asked_language("de", ASKED["en"]) == "de"
    assert asked_language(None, ASKED["en"]) == "en"
    assert asked_language(None, None) == UNKNOWN
