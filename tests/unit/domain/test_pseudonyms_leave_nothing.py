"""Properties: whatever a text is made of, nothing leaves it that names somebody, and all of it comes back."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from unicodedata import category, lookup, name, normalize
from urllib.parse import quote, unquote

from hypothesis import given, settings
from hypothesis import strategies as st

from provenloop.domain.pseudonyms import Pseudonyms
from provenloop.domain.quoting import WHOLE
from tests.examples import examples
from tests.unit.domain.test_pseudonyms import IDENTIFYING, replaced

VOICED = "\u3099\u309a"
SELECTORS = "\u034f\u115f\u3164\uffa0\u180b\u180d\ufe00\ufe0f\U000e0100\U000e01ef"
NAMES = [
    "Maria Lopez",
    "Nguyễn Thị Hoa",
    "O'Brien",
    "José",
    "Will",
    "Weiß",
    "田中太郎",
    "マリア",
    "김민수",
    "Zoë van Dyk",
    "Łukasz",
    "Søren Đurić",
    "Қали",
]
AROUND = ["", " ", "\n", "「", "」", '"', "'", "(", ")", ",", ".", "<b>", "/", "-", "→", "。", "[", "=", ": "]
WORDS = [
    "the order of",
    "is late",
    "ORDER",
    "注文は",
    "и",
    "x = 1;",
    "&",
    "\\n",
    "%",
    "{",
    "PVL_PERSON_1",
    "PVL_ID_1s",
    "id_1",
    "e1",
    "100",
]
#: What is not seen, and what is only added to a letter; the marks that make another kana of one are neither.
HIDDEN = st.characters(categories=["Cf", "Cc"], exclude_characters="\t\n\r") | st.sampled_from(SELECTORS)
ADDED = st.characters(categories=["Mn", "Me"], exclude_characters=VOICED)


def bare(text: str) -> str:
    """A text without accents, strokes and the like, as somebody writes it who has another keyboard."""
    letters: list[str] = []
    for char in normalize("NFKD", text):
        base, _, added = name(char, "").partition(" WITH ")
        letters.append(lookup(base) if added else "" if category(char) in ("Mn", "Me") and char not in VOICED else char)
    return normalize("NFC", "".join(letters))


@st.composite
def spelled(draw: st.DrawFn, value: str) -> str:
    """A text in another case, in escapes, or split by what nobody sees."""
    hows = [
        "plain",
        "upper",
        "lower",
        "decomposed",
        "bare",
        "wide",
        "split",
        "marked",
        "html",
        "json",
        "percent",
        "many",
    ]
    how = draw(st.sampled_from([*hows, "split", "split", "split"]))
    at = draw(st.integers(0, len(value) - 1))
    char = value[at]
    hidden = draw(HIDDEN | HIDDEN | st.sampled_from(["&#8203;", "&#8203", "&#x200b;", "\\u200b"]))
    added = draw(st.text(ADDED, min_size=1, max_size=3))
    wide = "".join(chr(ord(each) + 0xFEE0) if each.isascii() and each.isalnum() else each for each in value)
    return {
        "plain": value,
        "upper": value.upper(),
        "lower": value.lower(),
        "decomposed": normalize("NFD", value) if value.isascii() or value[0].isascii() else value,
        "wide": wide,
        "split": value[: at + 1] + hidden + value[at + 1 :],
        "marked": value[: at + 1] + added + value[at + 1 :] if char.isalpha() else value,
        "bare": bare(value),
        "many": f"{value}s" if value.isascii() else value,
        "html": f"{value[:at]}&#{ord(char)}{draw(st.sampled_from(['', ';']))}{value[at + 1 :]}",
        "json": f"{value[:at]}\\u{ord(char):04x}{value[at + 1 :]}",
        "percent": value[:at] + quote(char, safe="") + value[at + 1 :],
    }[how]


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A text, and what in it names somebody."""
    values = draw(st.lists(st.sampled_from([*NAMES, *IDENTIFYING]), min_size=1, max_size=4))
    parts: list[str] = []
    for value in values:
        written = draw(spelled(value)) if value in NAMES else value
        before, after = draw(st.sampled_from(AROUND)), draw(st.sampled_from(AROUND))
        parts += [draw(st.sampled_from(WORDS)), " ", before, written, after, " "]
    return "".join(parts), values


def read(text: str) -> str:
    """A text with all its escapes resolved, folded: as somebody reads it who tries hard."""
    for _ in range(3):
        text = re.sub(r"&#(x?)([0-9a-f]+);?", lambda found: chr(int(found[2], 16 if found[1] else 10)), text)
        text = unescape(unquote(re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)))
    kept = "".join(
        char for char in text if char in "\t\n\r" or (category(char) not in ("Cf", "Cc") and char not in SELECTORS)
    )
    return re.sub(r"[\W_]+", " ", bare(normalize("NFKC", kept).casefold()).casefold())


def assert_gone(values: list[str], shown: str) -> None:
    left = f" {read(shown)} "
    for value in values:
        gone = read(value).strip()
        assert f" {gone} " not in left, (value, shown)
        assert f" {gone}s " not in left, (value, shown)


@given(texts())
def test_nothing_that_is_listed_or_identifies_somebody_leaves_and_all_of_it_comes_back(
    made: tuple[str, list[str]],
) -> None:
    text, values = made
    assert_gone(values, replaced(text, *NAMES))


@settings(max_examples=examples(400))
@given(st.data(), st.sampled_from(NAMES))
def test_no_listed_name_leaves_whatever_stands_in_it_or_is_left_out_of_it(data: st.DataObject, value: str) -> None:
    # Common names, and words with a capital, would be found without a list: this is about how they are spelled.
    rare = value.lower().translate(str.maketrans("aeo", "xqz"))
    assert_gone([rare], replaced(f"is {data.draw(spelled(rare))} late", rare))


@given(st.lists(texts(), min_size=1, max_size=3), st.booleans(), st.booleans())
def test_nothing_leaves_json_either_and_it_stays_json(
    made: list[tuple[str, list[str]]], nested: bool, ascii_only: bool
) -> None:
    value: Any = {text: [text, {"deep": text}] for text, _ in made}
    if nested:
        value = {"body": json.dumps(value, ensure_ascii=ascii_only)}
    names = Pseudonyms(NAMES)
    text = json.dumps(value, ensure_ascii=ascii_only)
    names.learn([text])
    found = json.loads(names.replace(text))
    assert names.restore_value(found) == value
    assert_gone([name for _, values in made for name in values], json.dumps(found, ensure_ascii=False))


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_comes_back_as_it_was(first: str, second: str) -> None:
    names = Pseudonyms(["Ann Lee"])
    text = f"{first} Ann Lee {second} ann@example.com"
    names.learn([text])
    assert names.restore(names.replace(text)) == text if text.lstrip()[:1] not in "{[" else True


@given(st.text(alphabet="PVL_PERSONEMAILIDs_0123456789 aé田\u200b\\u&#;%@.-", max_size=60))
def test_no_text_made_of_placeholders_and_escapes_confuses_the_way_back(text: str) -> None:
    names = Pseudonyms(["aé", "田"])
    assert names.restore(names.replace(text)) == text


PIECES = [
    "PVL_PERSON_1",
    "pvl_id_1",
    "PVL_LITERAL_2",
    "PVL_",
    "PERSON_1",
    "_2",
    "_",
    "s",
    "S",
    "'s",
    "1",
    "&#95;",
    "\u200b",
]


@given(st.lists(st.sampled_from([*PIECES, "Ann Lee", "ann@example.com", " ", "x", "田"]), max_size=12), st.booleans())
def test_texts_that_hold_placeholders_and_parts_of_them_come_back(pieces: list[str], learns: bool) -> None:
    names, text = Pseudonyms(["Ann Lee", "田"]), "".join(pieces)
    if learns:
        names.learn([text])
    assert names.restore(names.replace(text)) == text


@given(
    st.lists(st.sampled_from([*NAMES, *IDENTIFYING, "is late", "\U0001f600"]), min_size=1, max_size=6),
    st.integers(0, 80),
)
def test_what_names_somebody_and_is_cut_is_replaced_whole(values: list[str], limit: int) -> None:
    names, text = Pseudonyms(NAMES), " ; ".join(values)
    names.learn([text])
    found = names.replace(text, {WHOLE: limit})
    whole = names.replace(text)
    assert whole.startswith(found)
    assert names.restore(found).startswith(text[:limit])
    assert json.loads(names.replace(json.dumps({"a": [text], "b": text}), {"a": limit})) == {"a": [found], "b": whole}
