"""What secrets look like: names of fields that hold them, and forms that are secrets wherever they stand.

Invariant: every pattern is linear: it begins with fixed words and consumes what follows in one sweep.
Fields of text (``password=...``) are found in ``secret_fields``.
"""

from __future__ import annotations

import re

_NOT_IN_WORD = r"(?<![A-Za-z0-9_-])"

# Secrets that are told by their look alone: issuers' prefixes. Nothing is told by entropy, so that digests, ids and
# encoded images are left alone.
AWS_KEY = re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])")
JWT = re.compile(_NOT_IN_WORD + r"eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){1,3}")
API_KEY = re.compile(
    _NOT_IN_WORD + r"(?:"
    r"gh[oprsu]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+|gl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{20,}+|"
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{20,}+|xoxe\.xox[bp]-[A-Za-z0-9-]{20,}+|"
    r"AIza[A-Za-z0-9_-]{30,}+|ya29\.[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{20,}+|"
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}+|whsec_[A-Za-z0-9+/=]{20,}+|"
    r"npm_[A-Za-z0-9]{30,}+|pypi-[A-Za-z0-9_-]{50,}+|dckr_pat_[A-Za-z0-9_-]{20,}+|"
    r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+|hf_[A-Za-z0-9]{30,}+|dop_v1_[a-f0-9]{40,}+|"
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{30,}+|dapi[a-f0-9]{32}(?![A-Za-z0-9])|AGE-SECRET-KEY-1[A-Z0-9]{50,}+|"
    r"pvl_[A-Za-z0-9_-]{24,}+|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}+"
    r")"
)
#: Keys with a short prefix also need the look of chance: ordinary names begin that way too.
SHORT_PREFIX_KEY = re.compile(
    _NOT_IN_WORD + r"(?:sk|gsk|r8|pplx|xai|tvly|lin_api|sbp|nvapi|figd)[_-][A-Za-z0-9_-]{20,}+"
)

PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-\"']|-(?!----))*+"
    r"(?:-----END [A-Z0-9 ]{0,40}(?:-----)?)?"
)
#: The user part of an address keeps its name and loses its password; a name alone is a token when it is long.
URL_PASSWORD = re.compile(r"(?<=://)([^\s/@:\"'<>\\\[]{0,256}:)(?!\[redacted:)([^\s/\"'<>\\]+)(?=@)")
URL_TOKEN = re.compile(r"(?<=://)[A-Za-z0-9_.~%+=-]{20,}+(?=@)")

BEARER = re.compile(r"\b(bearer\s{1,3})([A-Za-z0-9._~+/=-]{8,}+)", re.IGNORECASE)
_AUTHORIZATION = r"\b((?:proxy-)?authorization\\?[\"']?[ \t]{0,3}[:=][ \t]{0,3}\\?[\"']?"
#: Schemes with one credential after them, and none: the credential ends at a blank.
HEADER = re.compile(
    _AUTHORIZATION + r"(?:(?:bearer|basic|token|apikey)[ \t]{1,3})?+)(?!\[redacted:)([^\s\"'\\<>,;]++)", re.IGNORECASE
)
#: Schemes with parameters: everything to the end of the line.
HEADER_LINE = re.compile(
    _AUTHORIZATION + r"(?:digest|negotiate|ntlm|hawk|oauth|aws4-hmac-sha256)[ \t]{1,3})(?!\[redacted:)([^\r\n'\\<>]++)",
    re.IGNORECASE,
)
COOKIE = re.compile(
    r"\b((?:set-)?cookie\\?[\"']?[ \t]{0,3}:[ \t]{0,3}\\?[\"']?)([\w.-]{1,128}=[^\r\n\"'\\]++)", re.IGNORECASE
)

FLAG = re.compile(
    r"((?<![\w-])--?[\w-]{0,24}(?:password|passwd|passphrase|pwd|token|secret|api[_-]?key|access[_-]?key)[ \t]{1,3})"
    r"(?!-|\[redacted:)"
    r"([\"'][^\"'\n]++[\"']?|[^\s\"',;|]++)",
    re.IGNORECASE,
)
_PASSWORD_NAMES = ("password", "passwd", "passphrase", "passcode", "pwd", "pass")
_KEY_NAMES = (
    "apikey accesskey accesskeyid secretkey secretaccesskey privatekey signingkey encryptionkey accountkey authkey "
    "sharedkey subscriptionkey"
).split()
_TOKEN_NAMES = ("token", "secret", "credential", "credentials", "connectionstring")
_SECRET_NAMES = {
    **dict.fromkeys(_PASSWORD_NAMES, "password"),
    **dict.fromkeys(_KEY_NAMES, "api_key"),
    **dict.fromkeys(_TOKEN_NAMES, "token"),
    "authorization": "bearer",
    "cookie": "cookie",
    "xamzsignature": "token",
    "sig": "token",
}
_BY_LENGTH = tuple(sorted(_SECRET_NAMES, key=len, reverse=True))
#: Tokens that are no secrets: places in a listing, counts, idempotency, and the units of a text.
_HARMLESS_BEFORE = tuple(
    "next page continuation pagination sync cursor resume skip start max min num new input output total prompt "
    "completion idempotency client count unexpected invalid missing unknown bad illegal stop eos bos pad mask unk cls "
    "sep current previous end expected byte".split()
)
_NOT_LETTERS = re.compile(r"[^a-z0-9]+")

#: A whole value that is no secret: a word about it, or a placeholder.
NO_SECRET = re.compile(
    r"(?:no|none|null|nil|true|false|yes|ok|invalid|required|missing|incorrect|wrong|expired|revoked|denied|empty|blank|"
    r"unknown|failed|failure|error|field|values?|string|text|optional|redacted|hidden|masked|undefined|needed|rejected|"
    r"mismatch|reset|changed|updated|weak|short|long|unauthorized|forbidden|unset|set|valid|accepted|blocked|disabled|"
    r"enabled|rotated|bearer|basic|authentication|authorization|credentials|<[^>]*>|\*+|[xX]{3,}|\.{2,}|\$\w*|\$?\{[^}]*\}|%\w+%|\{\{.*\}\})[\s.,;:!?)]*\Z",
    re.IGNORECASE | re.DOTALL,
)
#: How a sentence about a secret begins.
ABOUT_SECRET = re.compile(
    r"(?:this|that|is|are|was|must|should|shall|cannot|can't|could not|may not|does|did|not|invalid|required|missing|"
    r"incorrect|wrong|expired|denied|unknown|failed|error|too|field|value|please|has|have|contains?|needs?|expected|"
    r"blocked|doesn't|didn't|isn't)[\s:;,]",
    re.IGNORECASE,
)


def kind_of_name(name: str) -> str | None:
    """The kind of secret that a field of this name holds (``dbPassword``, ``API-Key``, ``password2``), or None."""
    plain = _NOT_LETTERS.sub("", name[-64:].lower()).rstrip("0123456789")
    if plain.endswith(("passwords", "secrets", "apikeys")):
        plain = plain[:-1]
    exact = _SECRET_NAMES.get(plain)
    if exact:
        return exact
    for secret in _BY_LENGTH:
        # "sig" and "pass" are ends of many other words.
        if plain.endswith(secret) and secret not in ("sig", "pass"):
            harmless = secret == "token" and is_harmless_before(plain[: -len(secret)])
            return None if harmless else _SECRET_NAMES[secret]
    return None


def is_harmless_before(text: str) -> bool:
    """Whether the word before "token" makes it something else than a secret."""
    return _NOT_LETTERS.sub("", text[-24:].lower()).endswith(_HARMLESS_BEFORE)
