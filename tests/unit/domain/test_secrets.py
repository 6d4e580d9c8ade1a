"""Secrets leave every text and JSON value before it is stored; ordinary text does not change."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.secrets import redact, redact_json
from tests.growth import QUADRATIC, growth

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
DIGITS = "0123456789"
ALNUM = LOWER + UPPER + DIGITS


def chars(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    """Texts out of an alphabet that hold a digit, as all but a vanishing part of real secrets do."""
    length = most or least
    return st.text(alphabet, min_size=least - 1, max_size=length - 1).map(lambda text: text + "7")


FORMS = {
    "aws_key": st.tuples(st.sampled_from(["AKIA", "ASIA"]), chars(UPPER + DIGITS, 16)).map("".join),
    "api_key": st.one_of(
        st.tuples(st.sampled_from(["ghp_", "gho_", "ghs_"]), chars(ALNUM, 36)).map("".join),
        chars(ALNUM, 40, 80).map("sk-".__add__).filter(lambda key: key != key.lower()),
        chars(ALNUM + "_-", 60, 90).map("sk-ant-api03-A".__add__),
        chars("0123456789abcdef", 64).map("sk-or-v1-".__add__),
        st.tuples(chars(DIGITS, 12), chars(ALNUM, 24)).map(lambda pair: f"xoxb-{pair[0]}-{pair[1]}"),
        chars(ALNUM + "_-", 35).map("AIza".__add__),
        chars(ALNUM, 24).map("sk_live_".__add__),
        chars(ALNUM + "_", 60).map("github_pat_".__add__),
        chars(ALNUM + "_-", 20).map("glpat-".__add__),
        chars(LOWER + "234567", 52).map("pvl_".__add__),
    ),
    "jwt": st.tuples(chars(ALNUM + "_-", 20), chars(ALNUM + "_-", 30), chars(ALNUM + "_-", 43)).map(
        lambda part: f"eyJ{part[0]}.eyJ{part[1]}.{part[2]}"
    ),
}
any_form = st.one_of(*FORMS.values())
prose = st.text(alphabet="abc DEF.,:;!?\n\t(){}[]'\"=/-_12é漢", max_size=40)
edges = st.sampled_from([" ", "\n", '"', "'", "(", "=", ": ", ","])
secret_values = st.text(alphabet=ALNUM + "_/+=!@#%^*~.-", min_size=12, max_size=40).map(lambda text: f"k7{text}Z")
password_names = st.sampled_from(["password", "DB_PASSWORD", "userPassword", "passwd", "passphrase", "pwd"])
key_names = st.sampled_from(
    ["api_key", "apiKey", "X-Api-Key", "secret", "client_secret", "access_token", "authToken", "AWS_SECRET_ACCESS_KEY"]
)
names = password_names | key_names


@given(prose, edges, any_form, edges, prose)
def test_no_key_or_token_with_an_issuers_form_survives(
    before: str, left: str, secret: str, right: str, after: str
) -> None:
    clean, counts = redact(f"{before}{left}{secret}{right}{after}")
    assert secret not in clean
    assert sum(counts.values()) >= 1


@given(
    names,
    secret_values,
    st.sampled_from(["{}={}", "{}: {}", '"{}": "{}"', "'{}':'{}'", '{{\\"{}\\":\\"{}\\"}}', "--{} {}"]),
)
def test_no_value_of_a_secret_field_survives_in_text(name: str, secret: str, form: str) -> None:
    clean, counts = redact("x " + form.format(name, secret))
    assert secret not in clean
    assert counts


@given(names, st.text(min_size=12, max_size=40).map(lambda text: f"k7{text}Z"))
def test_no_value_of_a_secret_field_survives_in_json(name: str, secret: str) -> None:
    clean, counts = redact_json({"a": [{name: secret, "n": 1}], "note": "kept"})
    assert secret not in json.dumps(clean, ensure_ascii=False)
    assert clean["note"] == "kept"
    assert clean["a"][0]["n"] == 1
    assert sum(counts.values()) == 1


@given(
    st.lists(
        prose | any_form | st.tuples(names, st.sampled_from(["=", ": ", '": "', " is "]), secret_values).map("".join)
    )
)
def test_redacting_twice_is_redacting_once(parts: list[str]) -> None:
    once, _ = redact(" ".join(parts))
    assert redact(once) == (once, {})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | prose | any_form,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(prose | names, inner, max_size=3),
    max_leaves=12,
)


def shape_of(value: object) -> object:
    """Kinds and lengths of a JSON value's parts; names and texts may be redacted, a number only to a text."""
    if isinstance(value, dict):
        return [shape_of(item) for item in value.values()]
    if isinstance(value, list):
        return [shape_of(item) for item in value]
    return "scalar"


@given(json_values)
def test_json_keeps_its_shape_and_redacts_once(value: object) -> None:
    once, _ = redact_json(value)
    assert redact_json(once) == (once, {})
    assert shape_of(once) == shape_of(value)


@pytest.mark.parametrize(
    ("text", "clean", "kind"),
    [
        ("Authorization: Bearer abc.def-123 failed", "Authorization: Bearer [redacted:bearer] failed", "bearer"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted:bearer]", "bearer"),
        ('-H "Authorization: token 0123456789abcdef"', '-H "Authorization: token [redacted:bearer]"', "bearer"),
        ("sent bearer 0a1b2c3d4e5f6a7b.", "sent bearer [redacted:bearer].", "bearer"),
        ("postgres://app:s3cr3t@db.local:5432/x", "postgres://app:[redacted:password]@db.local:5432/x", "password"),
        ("redis://:pw@h/0", "redis://:[redacted:password]@h/0", "password"),
        ("git clone https://0123456789abcdef0123@git.test/x", "git clone https://[redacted:token]@git.test/x", "token"),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b",
            "a [redacted:private_key] b",
            "private_key",
        ),
        (
            "-----BEGIN EC PRIVATE KEY-----\\nMHc=\\n-----END EC PRIVATE KEY-----",
            "[redacted:private_key]",
            "private_key",
        ),
        ("-----BEGIN PRIVATE KEY-----\nProc-Type: 4,X\n\nabc", "[redacted:private_key]", "private_key"),
        ("Cookie: sid=abc; theme=dark", "Cookie: [redacted:cookie]", "cookie"),
        ("password: swordfish", "password: [redacted:password]", "password"),
        ("the password is hunter22!", "the password is [redacted:password]", "password"),
        ('"password": "correct horse battery staple"', '"password": "[redacted:password]"', "password"),
        ('"password": ["one two"]', '"password": ["[redacted:password]"]', "password"),
        ("<Password>hunter2</Password>", "<Password>[redacted:password]</Password>", "password"),
        ('password="cut off before its en', 'password="[redacted:password]', "password"),
        ("Server=x;Pwd=abc;Timeout=5", "Server=x;Pwd=[redacted:password];Timeout=5", "password"),
        ("AccountKey=abc+def/ghi==;End", "AccountKey=[redacted:api_key];End", "api_key"),
        ("https://b.test/f?sig=abc%2Bdef12345&se=1", "https://b.test/f?sig=[redacted:token]&se=1", "token"),
    ],
)
def test_secrets_are_replaced_and_what_stands_around_them_stays(text: str, clean: str, kind: str) -> None:
    assert redact(text) == (clean, {kind: 1})


ORDINARY = [
    "3f1c9a52-7b1e-4d0c-9f44-0a6b2c1d8e90",
    "commit a94f3cd0b1e2d3c4b5a697887766554433221100 is not reachable",
    "order 4212-77-AB12CD34EF was not found",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "password reset requested",
    "Password must be at least 8 characters",
    "password: required",
    "password: try again",
    "password is required",
    "The password is incorrect",
    'password="" and password=null',
    "password=${DB_PASSWORD}",
    "password: ****",
    "<password>",
    "if len(password) > 8:",
    "token limit exceeded",
    "Unexpected token: function",
    "Unexpected token } in JSON at position 5",
    "token expired",
    "max_tokens: 5",
    '"max_tokens": 4096',
    "total_tokens=1234567",
    '"nextToken": "abc123def456ghi789"',
    "page_token=abc123def456ghi789",
    '"token_type": "bearer"',
    "The API key is invalid",
    "API key: missing",
    "Invalid api_key provided",
    "primary key: id",
    "user key=12345",
    "keyword: summer2024",
    "Authorization: required",
    "authorization: denied by policy",
    "bearer of this certificate-of-authenticity",
    "sk-loading-spinner-container and sk-fading-circle-12",
    "xai_update_available_for_device_1",
    "passed: 12, failed: 3",
    "secretary: Jane Doe",
    "the secret is out",
    "tokenizer: cl100k_base",
    "https://shop.test/orders?id=5",
    "https://shop.test/@user/post",
    "postgres://db.local:5432/app",
    "PWD=/srv/app",
    "cookie: blocked by policy",
    "Unable to locate credentials. You can configure credentials by running `aws configure`.",
    '{"errors": {"password": "This field is required."}}',
    '{"errors": {"password": ["is too short"]}}',
    "",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert redact(text) == (text, {})
    assert redact_json({"result": [text]}) == ({"result": [text]}, {})


def test_fields_of_json_are_told_by_their_names() -> None:
    value = {
        "apiKey": "abcd1234",
        "dbPassword": 991,
        "password2": "x",
        "Authorization": "Bearer abcdefgh",
        "passwords": ["one", "two"],
        "max_tokens": 5,
        "token": None,
        "tokens": ["a", "b"],
        "nextToken": "abcdefgh1234",
        "password": "is too short",
    }
    clean, counts = redact_json(value)
    assert clean == {
        **value,
        "apiKey": "[redacted:api_key]",
        "dbPassword": "[redacted:password]",
        "password2": "[redacted:password]",
        "Authorization": "[redacted:bearer]",
        "passwords": ["[redacted:password]", "[redacted:password]"],
    }
    assert counts == {"api_key": 1, "password": 4, "bearer": 1}


def test_secrets_used_as_names_of_fields_are_replaced_one_by_one() -> None:
    keys = ["ghp_" + letter * 36 for letter in "ab"]
    clean, counts = redact_json(dict.fromkeys(keys, 1))
    assert len(clean) == 2
    assert counts == {"api_key": 2}
    assert not any(key in json.dumps(clean) for key in keys)


@pytest.mark.parametrize(
    "unit",
    [
        "password",
        "password=",
        'password="',
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "a://b:c",
        "://a@",
        "Cookie: a=",
        "--token ",
        "sk-a",
        "[redacted:",
        "x_y-",
    ],
)
def test_hostile_repetitions_take_linear_time(unit: str) -> None:
    assert growth(redact, unit) < QUADRATIC
