"""RSA signatures are checked as a library of cryptography checks them, and nothing malformed passes."""

from __future__ import annotations

import base64
from functools import cache

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.rsa_signature import PublicKeyError, is_signed, read_public_key

MESSAGE = b'{"root":"abc"}'


@cache
def private_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


def public_bytes(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, encoding: Encoding = Encoding.DER) -> bytes:
    return key.public_key().public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)


@cache
def signature(message: bytes = MESSAGE) -> bytes:
    return private_key().sign(message, padding.PKCS1v15(), hashes.SHA256())


@pytest.mark.parametrize("encoding", [Encoding.DER, Encoding.PEM])
def test_a_signature_of_the_key_is_known_by_its_public_half_in_either_form(encoding: Encoding) -> None:
    key = read_public_key(public_bytes(private_key(), encoding))
    assert is_signed(MESSAGE, signature(), key)


def test_another_message_another_key_and_another_scheme_are_not_signed() -> None:
    key = read_public_key(public_bytes(private_key()))
    assert not is_signed(MESSAGE + b" ", signature(), key)
    assert not is_signed(MESSAGE, private_key().sign(MESSAGE, padding.PKCS1v15(), hashes.SHA512()), key)
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    assert not is_signed(MESSAGE, private_key().sign(MESSAGE, pss, hashes.SHA256()), key)
    other = read_public_key(public_bytes(private_key(3072)))
    assert not is_signed(MESSAGE, signature(), other)


@given(st.integers(0, 255), st.integers(1, 255))
def test_no_changed_byte_passes(place: int, change: int) -> None:
    changed = bytearray(signature())
    changed[place] ^= change
    assert not is_signed(MESSAGE, bytes(changed), read_public_key(public_bytes(private_key())))


def test_a_signature_of_another_length_or_over_the_modulus_does_not_pass() -> None:
    key = read_public_key(public_bytes(private_key()))
    number = int.from_bytes(signature(), "big") + key.modulus
    for wrong in (b"", signature()[1:], b"\x00" + signature(), number.to_bytes(257, "big"), b"\xff" * 256):
        assert not is_signed(MESSAGE, wrong, key)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no key",
        b"-----BEGIN PUBLIC KEY-----\n!!!\n-----END PUBLIC KEY-----",
        b"-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(b"0") + b"\n-----END PUBLIC KEY-----",
        public_bytes(ec.generate_private_key(ec.SECP256R1())),
        public_bytes(private_key(1024)),
        public_bytes(private_key())[:-9],
    ],
    ids=["nothing", "text", "not base64", "cut off early", "elliptic", "too short", "cut off late"],
)
def test_what_is_no_rsa_key_of_2048_bits_is_refused(data: bytes) -> None:
    with pytest.raises(PublicKeyError):
        read_public_key(data)
