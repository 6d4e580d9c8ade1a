"""JWTs of an issuer that serves its keys over HTTP: which are believed, and how often the issuer is asked."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from provenloop.adapters.oidc.documents import MAX_BYTES
from provenloop.adapters.oidc.issuer import OidcIssuer
from provenloop.adapters.oidc.signing_keys import FAILED_MS, FRESH_MS, KEPT_MS, UNKNOWN_MS
from provenloop.domain.errors import InternalError, IssuerUnavailableError, UnauthenticatedError
from tests.oidc_issuer import AUDIENCE, CONFIGURATION, KEYS, NOW, LocalIssuer, ec_key, local_issuer, public, rsa_key

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with local_issuer() as served:
        yield served


@pytest.fixture
def oidc(issuer: LocalIssuer) -> OidcIssuer:
    return OidcIssuer(issuer.address, AUDIENCE)


def refused(oidc: OidcIssuer, token: str, now: int = NOW) -> None:
    with pytest.raises(UnauthenticatedError):
        oidc.claims(token, now)


def believed(oidc: OidcIssuer, token: str) -> Mapping[str, Any] | None:
    """The claims; None where they are refused."""
    try:
        return oidc.claims(token, NOW)
    except UnauthenticatedError:
        return None


def unavailable(oidc: OidcIssuer, token: str, now: int = NOW) -> None:
    with pytest.raises(IssuerUnavailableError):
        oidc.claims(token, now)


def assembled(
    header: dict[str, Any], claims: dict[str, Any], sign: Callable[[bytes], bytes] = lambda _signed: b""
) -> str:
    """A JWT that no careful library would make; unsigned, if nothing signs it."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    signed = b".".join(parts)
    return (signed + b"." + base64.urlsafe_b64encode(sign(signed)).rstrip(b"=")).decode()


# what is believed


def test_a_jwt_that_the_issuer_signed_for_us_is_believed(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    assert oidc.claims(issuer.sign(), NOW)["sub"] == "u-1"
    assert oidc.claims(issuer.sign(aud=["other", AUDIENCE]), NOW)["sub"] == "u-1"
    assert oidc.claims(issuer.sign(header={"typ": "at+JWT"}), NOW)["sub"] == "u-1"


def test_an_elliptic_key_is_as_good(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    issuer.keys.append(public(ec_key("curve"), "curve"))
    assert oidc.claims(issuer.sign(ec_key("curve"), kid="curve", algorithm="ES256"), NOW)["sub"] == "u-1"


def test_no_clock_of_the_machine_is_asked(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    assert oidc.claims(issuer.sign(exp=1, iat=9_999_999_999, nbf=9_999_999_999), NOW)["exp"] == 1


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "other"},
        {"aud": []},
        {"aud": None},
        {"aud": AUDIENCE + "x"},
        {"iss": "https://issuer.example"},
        {"iss": None},
        {"sub": None},
        {"exp": None},
    ],
)
def test_a_jwt_of_others_or_for_others_is_refused(
    issuer: LocalIssuer, oidc: OidcIssuer, claims: dict[str, Any]
) -> None:
    refused(oidc, issuer.sign(**claims))


def test_a_jwt_that_another_key_signed_is_refused(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    refused(oidc, issuer.sign(rsa_key("stranger")))


def test_a_jwt_that_was_changed_is_refused(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    header, _, signature = issuer.sign().split(".")
    _, claims, _ = issuer.sign(sub="u-2").split(".")
    refused(oidc, f"{header}.{claims}.{signature}")


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", None, ["RS256"]])
def test_a_jwt_without_signature_is_refused(issuer: LocalIssuer, oidc: OidcIssuer, algorithm: object) -> None:
    refused(oidc, assembled({"alg": algorithm, "kid": "first", "typ": "JWT"}, issuer.claims()))


def test_a_public_key_is_no_shared_secret(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    half = rsa_key("first").public_key()
    for form in (PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1):
        secret = half.public_bytes(Encoding.PEM, form)
        sign = partial(hmac.digest, secret, digest=hashlib.sha256)
        refused(oidc, assembled({"alg": "HS256", "kid": "first"}, issuer.claims(), sign))


def test_other_algorithms_of_the_same_key_are_refused(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    for algorithm in ("RS384", "RS512", "PS256"):
        refused(oidc, issuer.sign(algorithm=algorithm))


@pytest.mark.parametrize(
    "header",
    [{"crit": ["exp"]}, {"typ": "logout+jwt"}, {"jwk": {}, "kid": ""}, {"jku": "http://127.0.0.1/", "kid": "x"}],
)
def test_a_header_that_asks_for_more_is_refused(issuer: LocalIssuer, oidc: OidcIssuer, header: dict[str, Any]) -> None:
    refused(oidc, issuer.sign(header=header))


def test_a_jwt_that_names_no_key_is_refused(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    refused(oidc, issuer.sign(kid=None))
    assert issuer.asked == []


@pytest.mark.parametrize("token", ["a.b.c", "eyJ.eyJ.", "..", "e30.e30.e30"])
def test_what_only_looks_like_a_jwt_is_refused(oidc: OidcIssuer, token: str) -> None:
    refused(oidc, token)


# which keys count


@pytest.mark.parametrize(
    "members",
    [{"use": "enc"}, {"alg": "RS512"}, {"alg": "HS256"}, {"kty": "oct", "k": "AAAA"}, {"n": "!"}, {"e": None}],
)
def test_a_key_for_something_else_is_passed_over(
    issuer: LocalIssuer, oidc: OidcIssuer, members: dict[str, Any]
) -> None:
    issuer.keys = [public(rsa_key("first"), "first", **members), public(rsa_key("second"), "second")]
    refused(oidc, issuer.sign())
    assert oidc.claims(issuer.sign(rsa_key("second"), kid="second"), NOW)["sub"] == "u-1"


def test_a_key_that_is_too_short_or_of_another_curve_is_passed_over(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    weak, wide = rsa_key("weak", 1024), ec_key("wide", ec.SECP384R1)
    issuer.keys += [public(weak, "weak"), public(wide, "wide"), "no key", None]
    for key, kid, is_believed in ((weak, "weak", False), (rsa_key("first"), "first", True)):
        sign = partial(key.sign, padding=PKCS1v15(), algorithm=SHA256())
        token = assembled({"alg": "RS256", "kid": kid}, issuer.claims(), sign)
        assert is_believed == (believed(oidc, token) is not None), kid
    refused(oidc, issuer.sign(wide, kid="wide", algorithm="ES384"))


# how often the issuer is asked


def test_keys_are_kept_for_ten_minutes(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    for at in (NOW, NOW + 1, NOW + FRESH_MS - 1):
        oidc.claims(issuer.sign(), at)
    assert issuer.asked == [CONFIGURATION, KEYS]
    oidc.claims(issuer.sign(), NOW + FRESH_MS)
    assert len(issuer.asked) == 4


def test_a_new_key_is_found_at_once_and_a_withdrawn_one_is_forgotten(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    old = issuer.sign()
    oidc.claims(old, NOW)
    issuer.keys = [public(rsa_key("second"), "second")]
    new = issuer.sign(rsa_key("second"), kid="second")
    assert oidc.claims(new, NOW + UNKNOWN_MS)["sub"] == "u-1"
    refused(oidc, old, NOW + UNKNOWN_MS)


def test_made_up_key_names_do_not_make_us_call_the_issuer(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    for number in range(20):
        refused(oidc, issuer.sign(kid=f"made-up-{number}"), NOW + number)
    assert issuer.asked == [CONFIGURATION, KEYS]
    refused(oidc, issuer.sign(kid="made-up"), NOW + UNKNOWN_MS)
    assert len(issuer.asked) == 4


def test_without_any_key_nobody_is_refused_for_good(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    issuer.is_down = True
    for at in (NOW, NOW + 1, NOW + FAILED_MS - 1):
        unavailable(oidc, issuer.sign(), at)
    assert issuer.asked == [CONFIGURATION]
    issuer.is_down = False
    assert oidc.claims(issuer.sign(), NOW + FAILED_MS)["sub"] == "u-1"


def test_known_keys_outlast_an_issuer_that_is_down_for_an_hour(issuer: LocalIssuer, oidc: OidcIssuer) -> None:
    oidc.claims(issuer.sign(), NOW)
    issuer.is_down = True
    for at in (NOW + FRESH_MS, NOW + KEPT_MS - 1):
        assert oidc.claims(issuer.sign(), at)["sub"] == "u-1"
    unavailable(oidc, issuer.sign(kid="perhaps-new"), NOW + KEPT_MS - 1)
    unavailable(oidc, issuer.sign(), NOW + KEPT_MS)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (CONFIGURATION, (200, b"not json")),
        (CONFIGURATION, (200, b"[]")),
        (CONFIGURATION, (200, b'{"issuer": "https://issuer.example", "jwks_uri": "http://127.0.0.1/keys"}')),
        (CONFIGURATION, (404, b"{}")),
        (KEYS, (200, b"{}")),
        (KEYS, (200, b'{"keys": {}}')),
        (KEYS, (500, b'{"keys": []}')),
        (KEYS, (302, b"")),
        (KEYS, (200, b'{"keys": []' + b" " * MAX_BYTES + b"}")),
        (KEYS, (200, b'{"keys": ' + b"[" * 100_000)),
    ],
)
def test_an_answer_that_is_none_counts_as_no_answer(
    issuer: LocalIssuer, oidc: OidcIssuer, path: str, answer: tuple[int, bytes]
) -> None:
    issuer.answers[path] = answer
    unavailable(oidc, issuer.sign())


def test_an_issuer_that_nobody_listens_for_does_not_answer() -> None:
    with local_issuer() as gone:
        token = gone.sign()
    unavailable(OidcIssuer(gone.address, AUDIENCE), token)


@pytest.mark.parametrize("address", ["http://issuer.example", "ftp://issuer.example", "file:///etc", "issuer"])
def test_keys_are_fetched_by_https_only(issuer: LocalIssuer, address: str) -> None:
    with pytest.raises(InternalError):
        OidcIssuer(address, AUDIENCE).claims(issuer.sign(), NOW)
