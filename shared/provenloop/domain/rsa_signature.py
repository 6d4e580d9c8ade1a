"""Checking an RSA signature (PKCS #1 v1.5 with SHA-256) with nothing but a public key: whoever audits needs no AWS."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from hashlib import sha256
from typing import NamedTuple

ALGORITHM = "RSASSA_PKCS1_V1_5_SHA_256"
MIN_BITS = 2048
#: What PKCS #1 puts before a SHA-256 digest.
_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_RSA = bytes.fromhex("2a864886f70d010101")
_SEQUENCE, _INTEGER, _BITS, _OBJECT_ID = 0x30, 0x02, 0x03, 0x06
_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----(.+?)-----END PUBLIC KEY-----", re.DOTALL)


class PublicKey(NamedTuple):
    """Modulus and exponent."""

    modulus: int
    exponent: int


class PublicKeyError(ValueError):
    """The bytes are no RSA public key of at least 2,048 bits."""


def read_public_key(data: bytes) -> PublicKey:
    """A SubjectPublicKeyInfo, in PEM or DER, as KMS gives it out.

    Raises:
        PublicKeyError: it is none.
    """
    pem = _PEM.search(data)
    try:
        der = base64.b64decode(b"".join(pem[1].split()), validate=True) if pem else data
        key = _key_of(der)
    except (binascii.Error, IndexError, ValueError) as error:
        raise PublicKeyError("not an RSA public key") from error
    if key.modulus.bit_length() < MIN_BITS or key.exponent < 3:
        raise PublicKeyError(f"an RSA key of at least {MIN_BITS} bits is needed")
    return key


def is_signed(message: bytes, signature: bytes, key: PublicKey) -> bool:
    """Whether the signature is the key's for this message."""
    size = (key.modulus.bit_length() + 7) // 8
    number = int.from_bytes(signature, "big")
    if len(signature) != size or number >= key.modulus:
        return False
    found = pow(number, key.exponent, key.modulus).to_bytes(size, "big")
    ending = _DIGEST_INFO + sha256(message).digest()
    padding = b"\xff" * (size - len(ending) - 3)
    return hmac.compare_digest(found, b"\x00\x01" + padding + b"\x00" + ending)


def _key_of(der: bytes) -> PublicKey:
    outer, _ = _take(der, _SEQUENCE)
    algorithm, rest = _take(outer, _SEQUENCE)
    name, _ = _take(algorithm, _OBJECT_ID)
    bits, _ = _take(rest, _BITS)
    if name != _RSA or bits[0] != 0:
        raise ValueError("another kind of key")
    numbers, _ = _take(bits[1:], _SEQUENCE)
    modulus, rest = _take(numbers, _INTEGER)
    exponent, _ = _take(rest, _INTEGER)
    return PublicKey(int.from_bytes(modulus, "big"), int.from_bytes(exponent, "big"))


def _take(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of the DER element that ``data`` begins with, and what follows it."""
    if data[0] != tag:
        raise ValueError("another element")
    length, start = data[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[2:start], "big")
    if len(data) < start + length:
        raise ValueError("cut off")
    return data[start : start + length], data[start + length :]
