"""Which route takes a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.entry.local.routing import Router
from provenloop.entry.local.triggers import Route

KEYS = [
    "GET /things",
    "GET /things/{id}",
    "GET /things/special",
    "POST /things/{id}/parts/{part}",
    "POST /things/{id}/parts/first",
    "ANY /things/{rest+}",
    "ANY /both",
    "GET /both",
]


def _router(*keys: str, default: bool = True) -> Router:
    routes = [Route("F", *key.split(" ")) for key in keys]
    return Router([Route("F", "ANY", "$default"), *routes] if default else routes)


@pytest.mark.parametrize(
    ("method", "path", "key", "variables"),
    [
        ("GET", "/things", "GET /things", {}),
        ("GET", "/things/7", "GET /things/{id}", {"id": "7"}),
        ("GET", "/things/special", "GET /things/special", {}),
        ("GET", "/things/a%20b", "GET /things/{id}", {"id": "a b"}),
        ("GET", "/things/a%2Fb", "GET /things/{id}", {"id": "a/b"}),
        ("GET", "/things/%C3%A9", "GET /things/{id}", {"id": "é"}),
        ("POST", "/things/7/parts/9", "POST /things/{id}/parts/{part}", {"id": "7", "part": "9"}),
        ("POST", "/things/7/parts/first", "POST /things/{id}/parts/first", {"id": "7"}),
        ("PUT", "/things/7", "ANY /things/{rest+}", {"rest": "7"}),
        ("GET", "/things/7/8%20/9", "ANY /things/{rest+}", {"rest": "7/8 /9"}),
        ("GET", "/both", "GET /both", {}),
        ("PUT", "/both", "ANY /both", {}),
        ("GET", "/things/", "$default", {}),
        ("GET", "/Things", "$default", {}),
        ("POST", "/things", "$default", {}),
        ("GET", "/", "$default", {}),
    ],
)
def test_the_most_specific_route_takes_the_request(method: str, path: str, key: str, variables: dict[str, str]) -> None:
    match = _router(*KEYS).match(method, path)
    assert match is not None
    assert (match.route.key, match.variables) == (key, variables)


def test_without_a_default_route_the_rest_is_not_taken() -> None:
    assert _router(*KEYS, default=False).match("DELETE", "/nothing") is None


@given(st.permutations(KEYS))
def test_the_order_of_the_template_does_not_decide(keys: list[str]) -> None:
    router = _router(*keys)
    taken = [
        router.match(method, path) for method, path in [("GET", "/things/special"), ("GET", "/both"), ("GET", "/x")]
    ]
    assert [match and match.route.key for match in taken] == ["GET /things/special", "GET /both", "$default"]
