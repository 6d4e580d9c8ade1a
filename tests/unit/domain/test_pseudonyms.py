"""What of a text names somebody leaves it, however it is written, and comes back exactly."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from unicodedata import category, normalize
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.pseudonyms import Pseudonyms, people_in

ROOT = Path(__file__).parents[3]
#: Lines that were written beside the rules, and lines that were written when the rules were there.
LABELLED = ("names_in_text.txt", "names_in_other_text.txt")
MARKED = re.compile(r"\[\[(.+?)\]\]")

IDENTIFYING = [
    "ann@example.com",
    "ann.o'neil+news@mail.example.co.uk",
    "müller@bücher.example",
    "ann [at] example [dot] com",
    "ann at example dot com",
    "+49 30 901820",
    "+1 (555) 010-9999",
    "0044 20 7946 0018",
    "(030) 90 18 20",
    "555-010-9999",
    "07911 123456",
    "06 12 34 56 78",
    "550e8400-e29b-41d4-a716-446655440000",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "a1b2c3d4e5",
    "JBSWY3DPEHPK3PXP",
    "dGhpcyBpcyBub3QgYSBzZWNyZXQ0Mg==",
    "ORD-12345",
    "INV_2024_0017",
    "cus_9s6XKzkNRiZ8i3",
    "12345678",
    "DE89 3704 0044 0532 0130 00",
    "GB29NWBK60161331926819",
    "4111 1111 1111 1111",
    "192.168.10.77",
    "2001:db8::8a2e:370:7334",
    "00:1B:44:11:3A:B7",
    "https://ann:pass@example.com/inbox",
]


def replaced(text: str, *listed: str) -> str:
    names = Pseudonyms(listed)
    names.learn([text])
    found = names.replace(text)
    assert names.restore(found) == text
    return found


@pytest.mark.parametrize("value", IDENTIFYING)
def test_what_identifies_somebody_by_its_form_is_replaced_wherever_it_stands(value: str) -> None:
    for text in (value, f"see {value}, please", f'"{value}"', f"({value})", f"to:{value};", f"連絡先{value}です"):
        found = replaced(text)
        assert value not in found
        assert re.search(r"(EMAIL|PHONE|ID)_1", found)


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 404 after 30 seconds on port 8080",
        "2024-01-05T10:00:00Z and 05/01/2024 and 12:30:45",
        "version 1.2.3 of python3.11, sha256, utf-8, x86_64",
        "error code E11, exit code 137, 1.234.567 rows, 99.95 percent",
        "from 2023-2024, 10 of 12 calls, e12, c1, us-east-1",
        "loop.tool_failure/1 found in entity:lessons/refund",
        "lodash@4.17.21",
    ],
)
def test_figures_dates_versions_and_codes_of_programs_stay(text: str) -> None:
    assert replaced(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Account 4711 is closed", "Account ID_1 is closed"),
        ("order no. 991 and #5512", "order no. ID_1 and #ID_2"),
        ("mail ann@example.com or bob@example.com", "mail EMAIL_1 or EMAIL_2"),
        ("/home/thandiwe/.ssh", "/home/PERSON_1/.ssh"),
        ("Priya asked, and PRIYA was told", "PERSON_1 asked, and PERSON_1_2 was told"),
        ('{"assignee":"nkechi","note":"nkechi is away"}', '{"assignee":"PERSON_1","note":"PERSON_1 is away"}'),
        ('{"ann@example.com":{"account":12345678}}', '{"EMAIL_1":{"account":"ID_1"}}'),
        ("notandiwe, annex", "notandiwe, annex"),
    ],
)
def test_the_same_text_has_the_same_placeholder_and_nothing_else_of_the_text_changes(text: str, expected: str) -> None:
    names = Pseudonyms()
    names.learn([text])
    assert names.replace(text) == expected


def test_numbers_tell_nothing_but_the_order_in_which_texts_are_met() -> None:
    first, second = Pseudonyms(), Pseudonyms()
    assert first.replace("ann@example.com, bob@example.com") == second.replace("eve@example.com, dan@example.com")
    assert first.replace("bob@example.com") == "EMAIL_2"


def test_a_name_that_one_text_shows_is_replaced_in_others_that_do_not_show_it() -> None:
    names = Pseudonyms()
    names.learn(["My name is Isolde Quandt", "isolde is unhappy"])
    assert names.replace("isolde is unhappy with quandt") == "PERSON_1 is unhappy with PERSON_2"


def test_a_listed_name_goes_in_any_case_even_where_it_is_a_common_word() -> None:
    assert replaced("will the ZEUS team, project-zeus, ProjectZeus?", "will", "Project Zeus", "Zeus") == (
        "PERSON_1 the PERSON_2 team, PERSON_3, PERSON_3_2?"
    )


def test_what_looks_like_a_placeholder_already_comes_back_as_itself_and_never_as_a_name() -> None:
    text = "ann@example.com wrote EMAIL_1, email_1, _PERSON_1_ and Person\u200b_1"
    names = Pseudonyms()
    found = names.replace(text)
    assert re.findall(r"[A-Z]+_\d+(?:_\d)?", found) == [
        "EMAIL_1", "LITERAL_1", "LITERAL_1_2", "LITERAL_2", "LITERAL_3",
    ]  # fmt: skip
    assert names.restore(found) == text


@pytest.mark.parametrize(
    "said", ["PERSON_1", "person_1", "Person_1", "_PERSON_1_", "(PERSON_1)", "PERSON_1's", "PERSON_1さん"]
)
def test_a_placeholder_is_restored_in_whatever_case_and_beside_whatever_sign_it_comes_back(said: str) -> None:
    names = Pseudonyms(["Ann Lee"])
    names.replace("Ann Lee")
    assert names.restore(said) == re.sub("person_1", "Ann Lee", said, flags=re.IGNORECASE)


@pytest.mark.parametrize(
    "said", ["PERSON_99", "PERSON_1_9", "PERSON_0", "PERSON_12", "XPERSON_1", "PERSON_1X", "PERSON_"]
)
def test_a_placeholder_that_was_never_given_stays_what_it_is(said: str) -> None:
    names = Pseudonyms(["Ann Lee"])
    names.replace("Ann Lee")
    assert names.restore(said) == said


def test_values_and_keys_of_an_answer_are_restored_however_deep_they_lie() -> None:
    names = Pseudonyms(['Ann "A" Lee'])
    names.replace('Ann "A" Lee')
    value = {"a": ["PERSON_1", 1, None, True, {"entity:shared/PERSON_1": "x"}]}
    assert names.restore_value(value) == {"a": ['Ann "A" Lee', 1, None, True, {'entity:shared/Ann "A" Lee': "x"}]}


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (("ann", "reports_to", "bob"), ["ann", "bob"]),
        (("ann", "Primary Email", "x@example.com"), ["ann", "x@example.com"]),
        (("ticket 12", "assignedTo", "bob"), ["bob"]),
        (("checkout", "owner", "platform team"), []),
        (("checkout", "deploy_target", "bob"), []),
        (("bob", "lives_in", "oslo"), ["bob"]),
        (("x" * 81, "lives_in", "oslo"), []),
    ],
)
def test_facts_about_people_name_them(fact: tuple[str, str, str], expected: list[str]) -> None:
    assert list(people_in(*fact)) == expected


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
]
AROUND = ["", " ", "\n", "「", "」", '"', "'", "(", ")", ",", ".", "<b>", "/", "-", "→", "。", "[", "=", ": "]
WORDS = ["the order of", "is late", "ORDER", "注文は", "и", "x = 1;", "&", "\\n", "%", "{", "PERSON_1", "e1", "100"]


@st.composite
def spelled(draw: st.DrawFn, value: str) -> str:
    """A text in another case, in escapes, or split by what nobody sees."""
    how = draw(st.sampled_from(["plain", "upper", "lower", "decomposed", "wide", "split", "html", "json", "percent"]))
    at = draw(st.integers(0, len(value) - 1))
    char = value[at]
    hidden = draw(st.sampled_from(["\u200b", "\u200d", "\u00ad", "\u2060", "\ufeff", "&#8203;", "\\u200b"]))
    wide = "".join(chr(ord(each) + 0xFEE0) if each.isascii() and each.isalnum() else each for each in value)
    return {
        "plain": value,
        "upper": value.upper(),
        "lower": value.lower(),
        "decomposed": normalize("NFD", value) if value.isascii() or value[0].isascii() else value,
        "wide": wide,
        "split": value[: at + 1] + hidden + value[at + 1 :],
        "html": f"{value[:at]}&#{ord(char)};{value[at + 1 :]}",
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
        text = unescape(unquote(re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)))
    kept = "".join(char for char in normalize("NFKC", text) if category(char) != "Cf")
    return re.sub(r"[\W_]+", " ", kept.casefold())


def assert_gone(values: list[str], shown: str) -> None:
    for value in values:
        assert f" {read(value).strip()} " not in f" {read(shown)} ", (value, shown)


@given(texts())
def test_nothing_that_is_listed_or_identifies_somebody_leaves_and_all_of_it_comes_back(
    made: tuple[str, list[str]],
) -> None:
    text, values = made
    assert_gone(values, replaced(text, *NAMES))


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


@given(st.text(alphabet="PERSONEMAILID_0123456789 aé田\u200b\\u&#;%@.-", max_size=60))
def test_no_text_made_of_placeholders_and_escapes_confuses_the_way_back(text: str) -> None:
    names = Pseudonyms(["aé", "田"])
    assert names.restore(names.replace(text)) == text


def measured(file: str) -> tuple[int, int, int, int]:
    """Of labelled lines: how many there are, names of which no word is left, names, other words that are gone."""
    found = names = wrong = 0
    lines = Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()
    for line in lines:
        wanted, text = MARKED.findall(line), MARKED.sub(r"\1", line)
        known = Pseudonyms()
        known.learn([text])
        left = set(words(known.replace(text)))
        names += len(wanted)
        found += sum(left.isdisjoint(words(name)) for name in wanted)
        # Where no blanks part words, one "word" holds a name and more.
        others = {word for word in words(text) if not any(part in word for name in wanted for part in words(name))}
        wrong += len(others - left)
    return len(lines), found, names, wrong


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", text)


@pytest.mark.parametrize("file", LABELLED)
def test_the_figures_that_the_docs_give_for_names_in_running_text_are_those_that_are_measured(file: str) -> None:
    document = (ROOT / "shared" / "PSEUDONYMS.md").read_text(encoding="utf-8")
    told = re.search(rf"^\| `{file}` \| (\d+) \| (\d+) of (\d+) \| (\d+) \|$", document, re.MULTILINE)
    assert told is not None
    assert tuple(map(int, told.groups())) == measured(file)
