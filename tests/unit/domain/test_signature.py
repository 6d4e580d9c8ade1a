"""Two errors of one cause share a signature, two causes do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.signature import NO_OUTPUT, SHOWN_CHARS, Signature, explicit_signature, signature_of
from tests.growth import QUADRATIC, growth

#: Name of the cause -> occurrences that must share a signature.
ONE_CAUSE: dict[str, list[Any]] = {
    "uuid": [
        "no such order 3f1c9a52-7b1e-4d0c-9f44-0a6b2c1d8e90",
        "no such order b7e2d410-12aa-4f6e-8c3d-55fe0918a7cc",
    ],
    "hex id": ["commit a94f3cd is not reachable", "commit 07bc1e2 is not reachable", "commit ffe19d0 is not reachable"],
    "e-mail": ["mailbox ann@shop.test unavailable", "mailbox bob2@mail.test unavailable"],
    "quoted name": ['column "price" does not exist', 'column "total" does not exist', "column 'x_y' does not exist"],
    "iso time": ["2027-01-15T07:58:01Z gateway timed out", "2027-02-01T23:59:44.123+02:00 gateway timed out"],
    "time with names": [
        "Fri Jan 1 08:00:00 2027 gateway timed out",
        "Mon Feb 12 18:00:01 2027 gateway timed out",
        "Fri, 01 Jan 2027 08:00:00 GMT gateway timed out",
    ],
    "number": ["declined after 100 ms", "declined after 2 ms", "declined after 2.5 s", "declined after -7 seconds"],
    "width of a number": [
        f"Order {number} could not be charged because the issuing bank refused the transfer twice in a row today"
        for number in ("7", "4212", "9000001")
    ],
    "digits of another script": ["بطاقة رقم ١٢٣ مرفوضة", "بطاقة رقم ٩ مرفوضة"],
    "full width": ["card １２ declined", "card 12 declined", "ＣＡＲＤ 7 declined"],
    "path": ["cannot open /srv/a.csv", "cannot open /tmp/x/y.csv", "cannot open C:\\Program Files\\App 2\\x.dll"],
    "quoted path with blanks": ["open failed: '/tmp/a b.csv'", "open failed: '/srv/c'"],
    "address": [
        "connect to 10.0.0.1:5432 refused",
        "connect to fe80::12 refused",
        "connect to db.shop.internal refused",
    ],
    "value of a key": ["denied uid=1 user=root tty=ssh", "denied uid=7 user=guest tty=ssh"],
    "quoted value of a key": ['lock tag="View Lock" held', 'lock tag="Other" held'],
    "user": ["Invalid user admin from 10.0.0.1", "Invalid user oracle from 10.0.0.2"],
    "password of a user": ["Failed password for root from 10.0.0.1", "Failed password for git from 10.0.0.2"],
    "request id": ["boom (Request ID: AbCdEfGhXyZ)", "boom (Request ID: kQweRtyU)"],
    "case": ["Card Declined", "card declined", "CARD DECLINED"],
    "blanks": ["card  declined", " card declined\n", "card\tdeclined", "card\u00a0declined"],
    "final punctuation": ["card declined", "card declined.", "card declined!", "card declined …"],
    "label": ["Error: declined", "declined", "error: Declined.", "Error: Error: declined"],
    "composition": ["café closed", "cafe\u0301 closed"],
    "Turkish i": ["İPTAL edildi", "iptal edildi", "IPTAL edildi"],
    "Chinese": ["订单12345未找到", "订单7未找到", "订单A12未找到"],
    "Japanese": ["注文番号123は無効です", "注文番号9は無効です"],
    "colours": ["\x1b[31mfatal\x1b[0m: no disk", "fatal: no disk"],
    "json order and blanks": [
        '{"code":"declined","message":"Card declined"}',
        '{ "message": "Card declined",\n "code": "declined" }',
        {"message": "Card declined", "code": "declined"},
    ],
    "json ids": [
        '{"request_id": "req_9aQx", "error": "card declined", "timestamp": 1}',
        '{"traceId": "zz8T", "error": "card declined", "stack": ["a", "b"]}',
        {"error": "card declined"},
    ],
    "json against text": [{"error": "declined"}, '{"error":"declined"}', '"declined"', "declined", "Error: declined"],
    "json inside json": [
        '{"body": "{\\"error\\": \\"declined\\"}", "statusCode": "error"}',
        '"{\\"error\\":\\"declined\\"}"',
    ],
    "typed json against text": [{"type": "TimeoutError", "message": "slow"}, "TimeoutError: slow"],
    "nested json": [
        {"error": {"code": "card_declined", "message": "Your card was declined", "param": None}},
        {"code": "card_declined", "message": "Your card was declined"},
        {"errors": [{"message": "Your card was declined", "code": "card_declined"}]},
    ],
    "tool result of MCP": [{"content": [{"type": "text", "text": "Error: declined"}], "isError": True}, "declined"],
    "json behind words": [
        'HTTP 404: {"request_id": "x9", "error": "no such user"}',
        'HTTP 404: {"error": "no such user", "request_id": "b2"}',
    ],
    "repr of a dict": [
        "Error code: 400 - {'error': {'message': \"Invalid 'tools': empty\", 'type': 'invalid', 'code': None}}",
        "Error code: 400 - {'error': {'type': 'invalid', 'message': \"Invalid 'tools': empty\", 'param': 'b'}}",
    ],
    "python trace": [
        'Traceback (most recent call last):\n  File "/app/a.py", line 3, in go\n    x()\nTimeoutError: slow',
        'Traceback (most recent call last):\n  File "/app/b.py", line 44, in go\n    y()\nTimeoutError: slow',
        'starting\nTraceback (most recent call last):\n  File "b.py", line 1, in z\nTimeoutError: slow\n\nbye',
        "TimeoutError: slow",
    ],
    "python exception group": [
        (
            '  + Exception Group Traceback (most recent call last):\n  |   File "a.py", line 1, in x\n'
            "  | ExceptionGroup: unhandled errors (1 sub-exception)\n  +-+---------------- 1 ----------------\n"
            '    | Traceback (most recent call last):\n    |   File "b.py", line 2, in y\n    | ValueError: bad\n'
            "    +------------------------------------"
        ),
        "ValueError: bad",
    ],
    "java trace": [
        (
            "java.lang.RuntimeException: boom 12\n\tat com.foo.A.b(A.java:12)\n\t... 12 more\n"
            "Caused by: java.io.IOException: disk full\n\tat x.y(Z.java:3)"
        ),
        (
            "java.lang.RuntimeException: boom 7\n\tat com.foo.C.d(C.java:99)\n\tat q.r(S.java:1)\n"
            "Caused by: java.io.IOException: disk full\n\tat t.u(V.java:8)\n\t... 3 more"
        ),
    ],
    "javascript trace": [
        "/app/x.js:3\n    throw new Error('boom')\n    ^\n\nError: boom\n    at foo (/a/b.js:1:2)\n    at bar",
        "Error: boom\n    at async baz (node:internal/x:7:1)",
        "boom",
    ],
    "go panic": [
        "panic: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d",
        "panic: index out of range [9] with length 1\n\ngoroutine 7 [running]:\nmain.other()\n\t/app/o.go:2 +0x1f",
    ],
    "ids in a URL": [
        "GET https://api.shop.test/v1/orders/991/items?page=2 returned 404",
        "GET http://eu.shop.test/v1/orders/17/items returned 404",
    ],
    "file of another scheme": ["upload to s3://bucket/a.csv failed", "upload to s3://other/b/c.csv failed"],
    "airline: amounts": [
        "Error: payment amount does not add up, total price is 1002, but paid 957",
        "Error: payment amount does not add up, total price is 4875, but paid 1625",
    ],
    "nothing": ["", "  \n ", None, {}, [], "{}", '""', {"error": None}.get("error")],
}

#: Occurrences of which no two share a signature.
DIFFERENT_CAUSES: dict[str, list[Any]] = {
    "http status": ["status 404 from api", "status 500 from api", "status 503 from api"],
    "status line": ["HTTP/1.1 503 Service Unavailable", "HTTP/1.1 502 Bad Gateway"],
    "status and reason": [
        "404 Client Error: Not Found for url: https://a.test/x",
        "403 Client Error: Forbidden for url: https://a.test/x",
    ],
    "status at the end": ["server returned 404", "server returned 500"],
    "status in json": [{"status": 404, "error": "failed"}, {"status": 500, "error": "failed"}],
    "exit code": [
        "Command failed with exit code 1",
        "Command failed with exit code 137",
        "Command failed with exit code -11",
    ],
    "errno": ["[Errno 2] failed", "[Errno 13] failed"],
    "sqlstate": ["SQLSTATE[42S02]: failed", "SQLSTATE[23000]: failed", "SQLSTATE 42P01: failed"],
    "vendor code": ["ORA-00942: failed", "ORA-01017: failed", "error TS2304: failed", "error[E0425]: failed"],
    "hresult": ["HRESULT 0x80070005", "HRESULT 0x80070002"],
    "code in json": [{"code": "P2002", "message": "failed"}, {"code": "P2025", "message": "failed"}],
    "endpoint": [
        "GET https://shop.test/orders returned 404",
        "GET https://shop.test/users returned 404",
        "GET https://other.test/users returned 404",
        "POST https://shop.test/users returned 404",
    ],
    "endpoint without a host": ["GET /api/orders/1 failed", "GET /api/users/1 failed"],
    "name with a digit": ["no s3 access", "no ec2 access", "no sqs access"],
    "encoding": ["cannot decode utf-8", "cannot decode utf-16"],
    "protocol": ["needs ipv4", "needs ipv6", "needs oauth2"],
    "class with a digit": ["psycopg2.errors.UndefinedTable: failed", "psycopg2.errors.UniqueViolation: failed"],
    "long preamble": [("please read the manual first, " * 20) + fault for fault in ("disk full", "no route", "denied")],
    "airline: not found": [
        "Error: payment method not found",
        "Error: payment method certificate_4856383 not found",
        "Error: not enough balance in payment method gift_card_5094406",
        "Error: gift card balance is not enough",
    ],
    "cause at the end of a chain": [
        "java.lang.Error: boom\n\tat a.b(C.java:1)\nCaused by: java.io.IOException: disk full\n\tat x.y(Z.java:3)",
        "java.lang.Error: boom\n\tat a.b(C.java:1)\nCaused by: java.io.IOException: no route\n\tat x.y(Z.java:3)",
    ],
    "quoted sentence": ["refused: 'card is blocked'", "refused: 'card is stolen'"],
    "cause in a key": ["failed reason=timeout", "failed reason=quota"],
    "signs only": ["???", "!!!", "💥", "🔥"],
    "Chinese": ["订单12345未找到", "订单12345已取消"],
    "quoted Chinese sentence": ["失败: “卡被拒绝”", "失败: “余额不足”"],
    "letters with marks": ["Żubr closed", "Zubr closed"],
    "nothing against a word for it": ["", NO_OUTPUT],
    "count of rows": ["returned 404 rows", "server returned 404"],
}

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            words | st.sampled_from(["error", "code", "message", "type", "status", "body"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("occurrences", ONE_CAUSE.values(), ids=ONE_CAUSE)
def test_occurrences_of_one_cause_share_a_signature(occurrences: list[Any]) -> None:
    assert {signature_of(occurrence) for occurrence in occurrences} == {signature_of(occurrences[0])}


@pytest.mark.parametrize("occurrences", DIFFERENT_CAUSES.values(), ids=DIFFERENT_CAUSES)
def test_different_causes_do_not_share_a_signature(occurrences: list[Any]) -> None:
    assert len({signature_of(occurrence).hash for occurrence in occurrences}) == len(occurrences)


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("", NO_OUTPUT),
        ("Order 7 not found.", "order <*> not found"),
        ({"error": {"code": "x_y", "message": "Bad 5"}}, "x_y: bad <*>"),
        ("GET https://api.shop.co.uk/v1/orders/9 returned 404", "get shop.co.uk/v1/orders/<*> returned 404"),
        ("at 5 ms (10.0.0.1), 7, 9 done", "at <*> done"),
        ("12345", "<*>"),
        ("connect failed: 10.0.0.1:80 (refused)", "connect failed: <*> (refused)"),
    ],
)
def test_what_is_shown_is_the_masked_text(result: object, shown: str) -> None:
    assert signature_of(result).shown == shown


def test_all_of_the_text_counts_and_its_beginning_is_shown() -> None:
    long = "step failed " * 400
    one, other = signature_of(long + "disk full"), signature_of(long + "no route")
    assert one.hash != other.hash
    assert one.shown == other.shown
    assert len(one.shown) <= SHOWN_CHARS
    assert len(one.hash) == 32


def test_a_huge_body_is_signed_by_its_head_and_tail() -> None:
    def body(head: str, middle: str, tail: str) -> str:
        return "\n".join([head, *[middle] * 20_000, tail])

    base = signature_of(body("job 12 began", "row 7 copied", "disk full"))
    assert signature_of(body("job 9999999 began", "row 7 copied", "disk full")) == base
    assert signature_of(body("job 12 began", "row 7 copied", "no route")) != base
    assert signature_of(body("task 12 began", "row 7 copied", "disk full")) != base


def test_lists_of_numbers_of_any_length_are_one_mark() -> None:
    assert signature_of("bad ids [1, 2, 3]") == signature_of(f"bad ids {list(range(30_000))}")


def test_a_callers_signature_is_exact_and_meets_no_computed_one() -> None:
    assert explicit_signature("pay-404") == explicit_signature(" pay-404 ")
    assert (
        len(
            {explicit_signature("pay-404").hash, explicit_signature("pay-405").hash, explicit_signature("PAY-404").hash}
        )
        == 3
    )
    assert explicit_signature("declined").hash != signature_of("declined").hash
    assert explicit_signature("x" * 500) == Signature(explicit_signature("x" * 500).hash, "x" * SHOWN_CHARS)


def test_signatures_are_stable_across_releases() -> None:
    """Stored signatures stay findable: a change here needs a new ``SIGNATURE_VERSION``."""
    assert signature_of("") == Signature("45fd2f9df187bc411dc80df5c4c4844a", NO_OUTPUT)
    assert signature_of("Order 7 not found").hash == "5c4bc158f32724f52abd9164c1ac8f0f"
    assert explicit_signature("pay-404").hash == "10a3b1bcad81c6d49fc15c3c6f4bb5a9"


@given(json_values)
def test_any_result_has_a_signature_whose_keys_have_no_order(value: object) -> None:
    def turned(part: object) -> object:
        if isinstance(part, dict):
            return {key: turned(item) for key, item in reversed(part.items())}
        return [turned(item) for item in part] if isinstance(part, list) else part

    signature = signature_of(value)
    assert signature == signature_of(turned(value))
    assert 0 < len(signature.shown) <= SHOWN_CHARS


@given(
    st.text(alphabet="ab{}[]()'\":,=<>/\\.@0٣漢 \n\x00\x01Error:", max_size=80),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
)
def test_a_number_in_any_text_may_change(around: str, one: int, other: int) -> None:
    assert signature_of(f"{around} order {one} lost") == signature_of(f"{around} order {other} lost")


@given(words)
def test_masking_twice_is_masking_once(text: str) -> None:
    shown = signature_of(text).shown
    if len(shown) < SHOWN_CHARS and "<*>" not in shown:
        assert signature_of(shown).shown == shown


_HOSTILE_WORDS = (
    'a 1 a1 \' " ` \'a "a { [{ {"a": {\' :// a:// http://a / \\ a/ = a= =" . a. - @ a@ : a: 1: < ( [redacted: \x00 $ '
    '{"error":" Error ErrorException 漢 漢1 a\u0301\u0316 \u0301\u0316 \x1b['
)
_HOSTILE_PHRASES = (
    "\n| \x00|( | for user |user a|password for x |Error:\n|error: |at x\n|Traceback (most recent call last):\n|"
    "Caused by: |id: |request id: |returned 404 |Jan |5 ms "
)


@pytest.mark.parametrize("unit", [*_HOSTILE_WORDS.split(" "), *_HOSTILE_PHRASES.split("|")])
def test_hostile_repetitions_take_linear_time(unit: str) -> None:
    assert growth(signature_of, unit) < QUADRATIC


@pytest.mark.parametrize("unit", ["\n", "a=", "at x\n", "漢1", "\u0301\u0316", '{"error":"', "Error:\n"])
def test_a_hostile_megabyte_has_a_signature(unit: str) -> None:
    assert signature_of(unit * (1_000_000 // len(unit))).hash


def test_deeply_nested_json_is_signed() -> None:
    deep: Any = "end"
    for _ in range(200):
        deep = {"error": deep}
    assert signature_of(json.dumps(deep)).hash
    assert signature_of("[" * 100_000).hash
    assert signature_of('{"a":' * 100_000).hash
