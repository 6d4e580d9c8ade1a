"""From an Authorization header to a principal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from provenloop.domain.errors import UnauthenticatedError
from provenloop.domain.principal import Principal
from provenloop.domain.records import Token
from provenloop.entry.credentials import CACHE_ENTRIES, CACHE_MS, Credentials, bootstrap_principal
from provenloop.services.tokens import digest_of_secret

NOW = 1_800_000_000_000
SECRET = "pvl_" + "s" * 43
BOOTSTRAP = "the-bootstrap-token-of-this-deployment"
TOKEN = Token(
    digest=digest_of_secret(SECRET),
    id="tok_writer",
    principal_id="tok_writer",
    label="writer",
    kind="agent",
    tenant="acme",
    memories="support-*",
    scopes=("read", "write"),
    lineage=("tok_writer", "bootstrap"),
    created_at=NOW,
)


class Tokens:
    """Tokens by digest; counts how often it was asked."""

    def __init__(self, *tokens: Token) -> None:
        self.by_digest = {token.digest: token for token in tokens}
        self.asked = 0

    def token(self, digest: str) -> Token | None:
        self.asked += 1
        return self.by_digest.get(digest)


class Bootstrap:
    """The bootstrap token; counts how often it was read."""

    def __init__(self, secret: str = BOOTSTRAP) -> None:
        self.secret = secret
        self.read = 0

    def __call__(self) -> str:
        self.read += 1
        return self.secret


def bearer(secret: str) -> str:
    return f"Bearer {secret}"


def test_a_minted_token_is_its_principal() -> None:
    principal = Credentials(Tokens(TOKEN), Bootstrap()).principal(bearer(SECRET), NOW, fresh=False)
    assert (principal.tenant, principal.label, principal.kind) == ("acme", "writer", "agent")
    assert principal.scopes == {"read", "write"}
    assert principal.lineage == ("tok_writer", "bootstrap")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer  ",
        "Basic dXNlcjpwYXNz",
        SECRET,
        f"Bearer {SECRET} {SECRET}",
        f"Bearer {SECRET},Bearer {SECRET}",
        f"Bearer {SECRET}\n",
        "Bearer pvl_unknown",
        "Bearer naïve",
        "Bearer " + "x" * 10_000,
        f"Bearer @{BOOTSTRAP}",
        "Bearer @",
        "Bearer @acme",
    ],
)
def test_anything_else_authenticates_nobody(header: str | None) -> None:
    with pytest.raises(UnauthenticatedError):
        Credentials(Tokens(TOKEN), Bootstrap()).principal(header, NOW, fresh=False)


@pytest.mark.parametrize("header", ["Bearer @acme", "Bearer @", "Bearer x"])
def test_an_empty_bootstrap_secret_authenticates_nobody(header: str) -> None:
    with pytest.raises(UnauthenticatedError):
        Credentials(Tokens(), Bootstrap("")).principal(header, NOW, fresh=False)


def test_the_scheme_is_read_in_any_case() -> None:
    assert Credentials(Tokens(TOKEN), Bootstrap()).principal(f"bEARER  {SECRET}", NOW, fresh=False).label == "writer"


def test_the_bootstrap_token_is_a_person_with_admin_in_the_default_tenant() -> None:
    principal = Credentials(Tokens(), Bootstrap()).principal(bearer(BOOTSTRAP), NOW, fresh=True)
    assert (principal.id, principal.token_id, principal.label) == ("bootstrap", "bootstrap", "bootstrap")
    assert (principal.kind, principal.tenant, principal.memories) == ("human", "default", "*")
    assert principal.scopes == {"admin"}
    assert principal.lineage == ("bootstrap",)


def test_the_bootstrap_token_names_its_tenant_behind_an_at_sign() -> None:
    principal = Credentials(Tokens(), Bootstrap()).principal(bearer(f"{BOOTSTRAP}@acme"), NOW, fresh=True)
    assert principal.tenant == "acme"


@pytest.mark.parametrize("tenant", ["", "ACME", "a#b", "a/b", "x" * 65, "a@b"])
def test_a_tenant_that_cannot_be_authenticates_nobody(tenant: str) -> None:
    with pytest.raises(UnauthenticatedError):
        Credentials(Tokens(), Bootstrap()).principal(bearer(f"{BOOTSTRAP}@{tenant}"), NOW, fresh=True)


def test_a_bootstrap_secret_may_hold_an_at_sign() -> None:
    credentials = Credentials(Tokens(), Bootstrap("p@ss"))
    assert credentials.principal(bearer("p@ss"), NOW, fresh=True).tenant == "default"
    assert credentials.principal(bearer("p@ss@acme"), NOW, fresh=True).tenant == "acme"
    with pytest.raises(UnauthenticatedError):
        credentials.principal(bearer("p"), NOW, fresh=True)


def test_a_minted_token_takes_no_tenant_behind_an_at_sign() -> None:
    with pytest.raises(UnauthenticatedError):
        Credentials(Tokens(TOKEN), Bootstrap()).principal(bearer(f"{SECRET}@other"), NOW, fresh=True)


def test_a_verified_principal_is_reused_for_a_minute() -> None:
    tokens = Tokens(TOKEN)
    credentials = Credentials(tokens, Bootstrap())
    for at in (NOW, NOW + 1, NOW + CACHE_MS - 1):
        credentials.principal(bearer(SECRET), at, fresh=False)
    assert tokens.asked == 1
    credentials.principal(bearer(SECRET), NOW + CACHE_MS, fresh=False)
    assert tokens.asked == 2


def test_a_clock_that_steps_back_reuses_nothing() -> None:
    tokens = Tokens(TOKEN)
    credentials = Credentials(tokens, Bootstrap())
    credentials.principal(bearer(SECRET), NOW, fresh=False)
    credentials.principal(bearer(SECRET), NOW - 1, fresh=False)
    assert tokens.asked == 2


def test_a_fresh_check_never_reuses_and_ends_what_was_reused() -> None:
    tokens = Tokens(TOKEN)
    credentials = Credentials(tokens, Bootstrap())
    credentials.principal(bearer(SECRET), NOW, fresh=False)
    tokens.by_digest[TOKEN.digest] = replace(TOKEN, revoked_at=NOW)
    assert credentials.principal(bearer(SECRET), NOW + 1, fresh=False).label == "writer"
    for fresh in (True, False):
        with pytest.raises(UnauthenticatedError):
            credentials.principal(bearer(SECRET), NOW + 2, fresh=fresh)


def test_a_token_that_expires_while_it_is_reused_authenticates_nobody() -> None:
    credentials = Credentials(Tokens(replace(TOKEN, expires_at=NOW + 1000)), Bootstrap())
    credentials.principal(bearer(SECRET), NOW, fresh=False)
    with pytest.raises(UnauthenticatedError):
        credentials.principal(bearer(SECRET), NOW + 1000, fresh=False)


def test_an_expired_token_authenticates_nobody() -> None:
    credentials = Credentials(Tokens(replace(TOKEN, expires_at=NOW + 1)), Bootstrap())
    assert credentials.principal(bearer(SECRET), NOW, fresh=True).label == "writer"
    with pytest.raises(UnauthenticatedError):
        credentials.principal(bearer(SECRET), NOW + 1, fresh=True)


def test_a_replaced_bootstrap_secret_takes_effect_at_the_next_fresh_check() -> None:
    bootstrap = Bootstrap()
    credentials = Credentials(Tokens(), bootstrap)
    credentials.principal(bearer(BOOTSTRAP), NOW, fresh=True)
    bootstrap.secret = "another"
    with pytest.raises(UnauthenticatedError):
        credentials.principal(bearer(BOOTSTRAP), NOW + 1, fresh=True)


def test_what_cannot_be_a_minted_token_costs_no_read_of_the_table() -> None:
    tokens = Tokens(TOKEN)
    with pytest.raises(UnauthenticatedError):
        Credentials(tokens, Bootstrap()).principal(bearer("guess"), NOW, fresh=True)
    assert tokens.asked == 0


def test_a_minted_token_costs_no_read_of_the_bootstrap_secret() -> None:
    bootstrap = Bootstrap()
    Credentials(Tokens(TOKEN), bootstrap).principal(bearer(SECRET), NOW, fresh=True)
    assert bootstrap.read == 0


JWT = "eyJhbGciOiJub25lIn0.e30."


class People:
    """A person for every JWT; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, token: str, _now: int) -> Principal:
        self.asked += 1
        assert token == JWT
        return replace(bootstrap_principal("acme"), label="oidc:ann", expires_at=NOW + 30_000)


def test_a_jwt_is_a_person_where_there_is_an_issuer() -> None:
    tokens, bootstrap = Tokens(TOKEN), Bootstrap()
    person = Credentials(tokens, bootstrap, People()).principal(bearer(JWT), NOW, fresh=True)
    assert (person.label, person.tenant) == ("oidc:ann", "acme")
    assert (tokens.asked, bootstrap.read) == (0, 0)


def test_a_jwt_is_nobody_where_there_is_no_issuer() -> None:
    with pytest.raises(UnauthenticatedError):
        Credentials(Tokens(TOKEN), Bootstrap()).principal(bearer(JWT), NOW, fresh=True)


def test_a_person_is_reused_until_the_jwt_ends_and_never_for_decisions() -> None:
    people = People()
    credentials = Credentials(Tokens(), Bootstrap(), people)
    for at in (NOW, NOW + 1, NOW + 29_999):
        credentials.principal(bearer(JWT), at, fresh=False)
    assert people.asked == 1
    credentials.principal(bearer(JWT), NOW + 29_999, fresh=True)
    credentials.principal(bearer(JWT), NOW + 30_000, fresh=False)
    assert people.asked == 3


@pytest.mark.parametrize("other", [SECRET, BOOTSTRAP, f"{BOOTSTRAP}@acme"])
def test_other_tokens_work_as_before_where_there_is_an_issuer(other: str) -> None:
    people = People()
    assert Credentials(Tokens(TOKEN), Bootstrap(), people).principal(bearer(other), NOW, fresh=True).label != "oidc:ann"
    assert people.asked == 0


def test_the_cache_is_bounded_and_gives_up_the_least_used() -> None:
    secrets = [f"pvl_{number}" for number in range(CACHE_ENTRIES + 1)]
    tokens = Tokens(*(replace(TOKEN, digest=digest_of_secret(secret)) for secret in secrets))
    credentials = Credentials(tokens, Bootstrap())
    for secret in secrets[:-1]:
        credentials.principal(bearer(secret), NOW, fresh=False)
    credentials.principal(bearer(secrets[0]), NOW, fresh=False)
    credentials.principal(bearer(secrets[-1]), NOW, fresh=False)
    before = tokens.asked
    credentials.principal(bearer(secrets[0]), NOW, fresh=False)
    assert tokens.asked == before
    credentials.principal(bearer(secrets[1]), NOW, fresh=False)
    assert tokens.asked == before + 1
