"""An OIDC issuer on this machine: its keys, its two documents over HTTP, and the JWTs it signs.

Keys are made once a process. A test that uses it is marked ``@pytest.mark.allow_hosts(["127.0.0.1"])``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

NOW = 1_800_000_000_000
AUDIENCE = "provenloop"
CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/keys"


@cache
def rsa_key(_name: str, bits: int = 2048) -> rsa.RSAPrivateKey:
    """An RSA key of that name."""
    return rsa.generate_private_key(65537, bits)


@cache
def ec_key(_name: str, curve: type[ec.EllipticCurve] = ec.SECP256R1) -> ec.EllipticCurvePrivateKey:
    """An elliptic key of that name."""
    return ec.generate_private_key(curve())


def public(key: PrivateKeyTypes, kid: str, **members: Any) -> dict[str, Any]:
    """The public half of a key, as an issuer publishes it."""
    half = key.public_key()
    published = RSAAlgorithm.to_jwk(half) if isinstance(half, rsa.RSAPublicKey) else ECAlgorithm.to_jwk(half)  # type: ignore[arg-type]
    return {"use": "sig", **json.loads(published), "kid": kid, **members}


class LocalIssuer:
    """Serves its documents; ``asked`` are the paths that were asked for, ``answers`` what is answered instead."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.keys: list[Any] = [public(rsa_key("first"), "first")]
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.is_down = False

    def answer(self, path: str) -> tuple[int, bytes]:
        """(status, body) of one request."""
        self.asked.append(path)
        if self.is_down:
            return 503, b"{}"
        if path in self.answers:
            return self.answers[path]
        known = {
            CONFIGURATION: {"issuer": self.address, "jwks_uri": self.address + KEYS},
            KEYS: {"keys": self.keys},
        }
        return (200, json.dumps(known[path]).encode()) if path in known else (404, b"{}")

    def claims(self, **claims: Any) -> dict[str, Any]:
        """What a JWT of somebody in the group reviewers says; None leaves a claim out."""
        usual = {
            "iss": self.address,
            "aud": AUDIENCE,
            "sub": "u-1",
            "exp": NOW // 1000 + 600,
            "iat": NOW // 1000,
            "groups": ["everyone", "reviewers"],
        }
        return {name: value for name, value in {**usual, **claims}.items() if value is not None}

    def sign(
        self,
        key: Any = None,
        *,
        kid: str | None = "first",
        algorithm: str = "RS256",
        header: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A JWT, by the first key if no other is given."""
        names = {**({} if kid is None else {"kid": kid}), **(header or {})}
        return jwt.encode(
            self.claims(**claims), rsa_key("first") if key is None else key, algorithm=algorithm, headers=names
        )


@contextmanager
def local_issuer() -> Iterator[LocalIssuer]:
    """An issuer that is served as long as the context lasts."""
    box: list[LocalIssuer] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = box[0].answer(self.path)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", KEYS)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        box.append(LocalIssuer(server.server_port))
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield box[0]
        finally:
            server.shutdown()
            serving.join()
