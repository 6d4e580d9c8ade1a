"""What of a text names somebody leaves it, however it is written, and comes back exactly."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from provenloop.domain.pseudonyms import Pseudonyms, people_in
from tests.growth import QUADRATIC, growth

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
        ("Account 4711 is closed", "Account PVL_ID_1 is closed"),
        ("order no. 991 and #5512", "order no. PVL_ID_1 and #PVL_ID_2"),
        ("mail ann@example.com or bob@example.com", "mail PVL_EMAIL_1 or PVL_EMAIL_2"),
        ("/home/thandiwe/.ssh", "/home/PVL_PERSON_1/.ssh"),
        ("Priya asked, and PRIYA was told", "PVL_PERSON_1 asked, and PVL_PERSON_1_2 was told"),
        ('{"assignee":"nkechi","note":"nkechi is away"}', '{"assignee":"PVL_PERSON_1","note":"PVL_PERSON_1 is away"}'),
        ('{"ann@example.com":{"account":12345678}}', '{"PVL_EMAIL_1":{"account":"PVL_ID_1"}}'),
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
    assert first.replace("bob@example.com") == "PVL_EMAIL_2"


def test_a_name_that_one_text_shows_is_replaced_in_others_that_do_not_show_it() -> None:
    names = Pseudonyms()
    names.learn(["My name is Isolde Quandt", "isolde is unhappy"])
    assert names.replace("isolde is unhappy with quandt") == "PVL_PERSON_1 is unhappy with PVL_PERSON_2"


def test_a_listed_name_goes_in_any_case_even_where_it_is_a_common_word() -> None:
    assert replaced("will the ZEUS team, project-zeus, ProjectZeus?", "will", "Project Zeus", "Zeus") == (
        "PVL_PERSON_1 the PVL_PERSON_2 team, PVL_PERSON_3, PVL_PERSON_3_2?"
    )


def test_what_looks_like_a_placeholder_already_comes_back_as_itself_and_never_as_a_name() -> None:
    text = "ann@example.com wrote PVL_EMAIL_1, pvl_email_1, _PVL_PERSON_1_, PVL_PERSON_1s and Pvl_Person\u200b_1"
    names = Pseudonyms()
    found = names.replace(text)
    assert re.findall(r"PVL_[A-Z]+_\d+(?:_\d)?", found) == [
        "PVL_EMAIL_1", "PVL_LITERAL_1", "PVL_LITERAL_1_2", "PVL_LITERAL_2", "PVL_LITERAL_3", "PVL_LITERAL_4",
    ]  # fmt: skip
    assert names.restore(found) == text


@pytest.mark.parametrize(
    "said",
    [
        "PVL_PERSON_1",
        "pvl_person_1",
        "Pvl_Person_1",
        "_PVL_PERSON_1_",
        "PVL_PERSON_1s",
        "(PVL_PERSON_1)",
        "PVL_PERSON_1's",
        "PVL_PERSON_1さん",
    ],
)
def test_a_placeholder_is_restored_in_whatever_case_and_beside_whatever_sign_it_comes_back(said: str) -> None:
    names = Pseudonyms(["Ann Lee"])
    names.replace("Ann Lee")
    assert names.restore(said) == re.sub("pvl_person_1", "Ann Lee", said, flags=re.IGNORECASE)


@pytest.mark.parametrize(
    "said",
    [
        "PVL_PERSON_99",
        "PVL_PERSON_1_9",
        "PVL_PERSON_0",
        "PVL_PERSON_12",
        "XPVL_PERSON_1",
        "PVL_PERSON_1X",
        "PVL_PERSON_",
        "PVL_PERSON_1st",
    ],
)
def test_a_placeholder_that_was_never_given_stays_what_it_is(said: str) -> None:
    names = Pseudonyms(["Ann Lee"])
    names.replace("Ann Lee")
    assert names.restore(said) == said


@pytest.mark.parametrize("code", ["person_1 = id_1 + PERSON_1", "EMAIL_1s", "phone_1(ID_1_2)"])
def test_variables_in_code_are_no_placeholders_and_stay_in_texts_and_in_answers(code: str) -> None:
    names = Pseudonyms(["Ann Lee"])
    names.replace("Ann Lee, ann@example.com, +49 30 901820, ORD-77120")
    assert names.replace(code) == names.restore(code) == code


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("A\x00nn Lee", "PVL_PERSON_1"),
        ("ann\x00lee", "PVL_PERSON_1"),
        ("Ann L\ufe0fee", "PVL_PERSON_1"),
        ("Ann L\U000e0101ee", "PVL_PERSON_1"),
        ("Ann L\u180bee", "PVL_PERSON_1"),
        ("Ann L\u20ddee", "PVL_PERSON_1"),
        ("Ann L\u200d\u0301ee", "PVL_PERSON_1"),
        ("Ann L" + "\u0301" * 40 + "ee", "PVL_PERSON_1"),
        ("bob\x00ann lee\x1fbob", "bob\x00PVL_PERSON_1\x1fbob"),
        ("bob\u200bann lee\u200bbob", "bob\u200bPVL_PERSON_1\u200bbob"),
        ("to ann@example.com\x00bob@example.com", "to PVL_EMAIL_1"),
        ("&#65nn &#0000000076;ee", "PVL_PERSON_1"),
        ("&#x41;nn L&eacutee", "PVL_PERSON_1"),
        ("the ann lees, aNN LEES", "the PVL_PERSON_1s, PVL_PERSON_1_2S"),
        ("Ann Lee's", "PVL_PERSON_1's"),
    ],
)
def test_what_is_not_seen_or_is_added_to_a_listed_name_does_not_hide_it(written: str, shown: str) -> None:
    assert replaced(written, "Ann Lee") == shown


@pytest.mark.parametrize(
    ("listed", "written"),
    [
        ("Łukasz", "lukasz"), ("Søren", "SOREN"), ("Đorđe", "Dorde"), ("Weiß", "WEISS"), ("Ðorþur", "dorthur"),
        ("Æsa", "aesa"), ("Işık", "ISIK"), ("Αλέξης", "αλεξης"), ("Алёна", "алена"), ("Зейнеп Қали", "зейнеп кали"),
        ("مُحَمَّد", "محمد"), ("דָּוִד", "דוד"), ("김민수", "김민수"),
    ],
)  # fmt: skip
def test_a_listed_name_is_found_with_and_without_what_is_added_to_its_letters(listed: str, written: str) -> None:
    assert replaced(f"ask {written} today", listed) == "ask PVL_PERSON_1 today"
    assert replaced(f"ask {listed} today", written) == "ask PVL_PERSON_1 today"


def test_a_kana_is_another_one_with_its_voice_marks() -> None:
    assert replaced("カトウ", "ガトウ") == "カトウ"


def test_how_long_finding_takes_does_not_grow_with_how_many_names_begin_alike() -> None:
    def find(text: str) -> None:
        listed = [f"Ma{number:x}n Lee" for number in range(len(text) // 100)]
        names = Pseudonyms(listed)
        names.replace(" and ".join(listed))

    assert growth(find, "x") < QUADRATIC


def test_how_long_replacing_takes_does_not_grow_with_how_many_spellings_a_name_has() -> None:
    spellings = list(map("".join, product(*zip("constantinopoul", "CONSTANTINOPOUL", strict=True))))

    def replace(text: str) -> None:
        Pseudonyms(["constantinopoul"]).replace(" ".join(spellings[: len(text) // 16]))

    assert growth(replace, "x") < QUADRATIC


def test_values_and_keys_of_an_answer_are_restored_however_deep_they_lie() -> None:
    names = Pseudonyms(['Ann "A" Lee'])
    names.replace('Ann "A" Lee')
    value = {"a": ["PVL_PERSON_1", 1, None, True, {"entity:shared/PVL_PERSON_1": "x"}]}
    assert names.restore_value(value) == {"a": ['Ann "A" Lee', 1, None, True, {'entity:shared/Ann "A" Lee': "x"}]}


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (("ann", "reports_to", "bob"), ["ann", "bob"]),
        (("ann", "Primary Email", "x@example.com"), ["ann", "x@example.com"]),
        (("ticket 12", "assignedTo", "bob"), ["bob"]),
        (("ticket 12", "customer", "bob"), ["bob"]),
        (("ticket 12", "Client", "bob"), ["bob"]),
        (("ticket 12", "assigned", "bob"), ["bob"]),
        (("ticket 12", "user", "bob"), ["bob"]),
        (("ticket 12", "customer", "the team"), []),
        (("checkout", "owner", "platform team"), []),
        (("checkout", "deploy_target", "bob"), []),
        (("bob", "lives_in", "oslo"), ["bob"]),
        (("x" * 81, "lives_in", "oslo"), []),
    ],
)
def test_facts_about_people_name_them(fact: tuple[str, str, str], expected: list[str]) -> None:
    assert list(people_in(*fact)) == expected


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
