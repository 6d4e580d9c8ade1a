"""Masking of one error text: what differs between two occurrences of one fault becomes a mark, the rest stays.

In one walk over the pieces of the text: a piece that holds a digit is masked unless it is a code of the fault or a
known name; likewise e-mails, hosts, paths, values of ``key=value``, single quoted words and names of users. A URL
keeps its host's registrable name and the shape of its path, so that endpoints stay apart.

Invariants: linear time (every pattern is bounded or consumes what it scans), no state, no order. The walk works on
split text (pieces at even, separators at odd indices).
"""

from __future__ import annotations

import re

from provenloop.domain import signature_words as words
from provenloop.domain.text import normalise

MARK = "<*>"
#: One character stands for a mark while masking, another in front of a piece that is final as it is.
_MARK = "\x00"
_FINAL = "\x01"

_SEPARATORS = r"\s=,;()\[\]{}<>\"'`|"
#: Blanks, brackets, quotes, ``= , ; |``; also ``: ! ?`` at the end of a word, and dots from two on. It begins with one
#: class of characters since the engine then skips to the next of them at once.
_SPLIT = re.compile(
    rf"([{_SEPARATORS}.:!?](?:(?<=[{_SEPARATORS}])[{_SEPARATORS}]*|(?<=[:!?])(?=\s|\Z)[{_SEPARATORS}]*|(?<=\.)\.+))"
)
_DIGIT = re.compile(r"\d")
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,19}://[^\s\"'<>`|\\^{}]++")
_QUOTED = re.compile(
    r"""(?<![\w"'`])(?<!["']:)(?<!["']:\s)"""
    r"""(?:"[^\s"]{1,80}"|'[^\s']{1,80}'|`[^\s'`]{1,80}['`]|(["'`])(?:\.{0,2}/|~/|[A-Za-z]:[/\\])[^"'`\n]{1,200}\1)"""
    r"""(?![\w"'`]|\s?:\s?["'\d{\[])"""
)
_QUOTED_VALUE = re.compile(r"""=\s?(?:"[^"\n]{0,200}"|'[^'\n]{0,200}')""")
_ASIDE = re.compile("\x00\\s?(?:\\(\x00?\\)|\\[\x00?\\]|\\{\x00?\\})")
_RUN = re.compile("\x00(?:[\\s,:;./|+-]*+\x00)+")
_USER = re.compile(
    r"\b((?:for|by|as|of|invalid|unknown|illegal|such)\s{1,3}user|"
    r"(?:password|publickey|login|logon|credentials?|authentication(?:\sfailures?)?)\sfor)\s{1,3}([\w.$-]{1,64})"
    r"(?=\s{1,3}(?:from|by|on|at|via)\b|\s?[\[(,;]|\.?\s*\Z)",
    re.IGNORECASE,
)
_REQUEST_ID = re.compile(
    r"\b((?:request|trace|correlation|transaction|span|invocation|operation|activity|ray)[\s_-]?id\s?[:#]?\s)"
    r"[\w.+/=-]{4,128}",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")
_UNBROKEN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_BROKEN_RUN = re.compile(f"[^{_UNBROKEN.pattern[1:-1]}]++")
_KEYED = re.compile(r"([^\W\d][^\W\d.\-]*+(?:\.[^\W\d]++)*+[:#])(.+)", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+")
_STATUS = re.compile(r"[1-5][0-9]{2}\Z")
_SHORT_CODE = re.compile(r"-?[0-9]{1,3}\Z")
_LONG_CODE = re.compile(r"(?:-?[0-9]{3,5}|[A-Z]{1,6}[-_]?[0-9]{2,6}|0[xX][0-9A-Fa-f]{2,8})\Z")
_SQLSTATE = re.compile(r"[0-9A-Z]{5}\Z")
_LEADING_CODE = re.compile(r"(?:(?:ORA|TNS|PLS|MSB|LNK|TS|CS|MY|E|C|W)-?[0-9]{3,5}|E[0-9]{5})\Z")
_FILE_LEAF = re.compile(r"[^/\\]*\.[A-Za-z0-9]{1,5}\Z")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_HOST = re.compile(r"[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){1,8}\Z")
_VERSION_SEGMENT = re.compile(r"v[0-9]{1,2}\Z")
_MAX_SEGMENTS = 8
_MAX_SEGMENT_CHARS = 24


def mask(text: str) -> str:
    """The text with marks, case-folded, blanks folded, final punctuation cut off.

    Args:
        text: in form NFKC, so that digits and letters of any width are the same.
    """
    if not text.isprintable():
        text = _COLOUR.sub("", text).replace(_MARK, " ").replace(_FINAL, " ")
    text = _mask_spans(text.strip())
    parts = _SPLIT.split(text)
    for index in range(0, len(parts), 2):
        piece = parts[index]
        if piece.isalpha():
            if index and "=" in parts[index - 1]:
                parts[index] = _masked_value(parts, index)
        elif piece:
            _mask_piece(parts, index)
    masked = "".join(parts)
    if masked.count(_MARK) > 1:
        masked = _joined(masked)
    masked = masked.replace(_FINAL, "").replace(_MARK, MARK)
    return _without_final_marks(normalise(masked))


def _mask_spans(text: str) -> str:
    """Mask what may hold separators: URLs, quoted words and values, names of users."""
    if "://" in text:
        text = _URL.sub(_masked_url, text)
    if '"' in text or "'" in text or "`" in text:
        if "=" in text:
            text = _QUOTED_VALUE.sub("=" + _MARK, text)
        text = _QUOTED.sub(_masked_quoted, text)
    if " for " in text or "user " in text or "User " in text:
        text = _USER.sub(_masked_user, text)
    if "id: " in text or "ID: " in text or "Id: " in text:
        text = _REQUEST_ID.sub(rf"\1{_MARK}", text)
    return text


def _masked_quoted(match: re.Match[str]) -> str:
    # A quoted word is a name and differs; in scripts without blanks it may be a whole sentence, which does not.
    quoted = match.group()
    return quoted if _FINAL in quoted or (not quoted.isascii() and _UNBROKEN.search(quoted)) else _MARK


def _masked_user(match: re.Match[str]) -> str:
    return match.group() if match[2].lower() in words.NOT_A_USER else f"{match[1]} {_MARK}"


def _joined(masked: str) -> str:
    """Runs of marks become one, and so does a mark with an aside of nothing but a mark: ``<*> (<*>)``, ``<*> ()``."""
    masked = _ASIDE.sub(_MARK, _RUN.sub(_MARK, masked))
    return _RUN.sub(_MARK, masked)


def _without_final_marks(text: str) -> str:
    return text.rstrip(" .!?;:,-\u2013\u2014\u2026\u3002") or text


def _mask_piece(parts: list[str], index: int) -> None:
    """Mask one piece that is not of letters only, and the words beside it that belong to it."""
    piece = parts[index]
    if piece[0] == _FINAL or piece == _MARK:
        return
    if index and "=" in parts[index - 1]:
        parts[index] = _masked_value(parts, index)
    elif _DIGIT.search(piece):
        parts[index] = _masked_digits(parts, index)
        if parts[index] == _MARK:
            _mask_beside(parts, index)
    else:
        parts[index] = _masked_plain(parts, index)


def _mask_beside(parts: list[str], index: int) -> None:
    """Days and months before a number, units and zones after it: ``Fri Jan 1 08:00 UTC``, ``5 ms``."""
    before = index - 2
    while before >= 0 and parts[before].rstrip(".") in words.DATE_WORDS:
        parts[before] = _MARK
        before -= 2
    after = index + 2
    if after < len(parts) and parts[after]:
        word = parts[after].rstrip(".,")
        if (word.lower() in words.AFTER_NUMBER and parts[index + 1].isspace()) or word in words.DATE_WORDS:
            parts[after] = _MARK


def _masked_value(parts: list[str], index: int) -> str:
    """The value after ``key=``: a mark, unless the key names the cause or ``=`` is part of a comparison."""
    between = parts[index - 1]
    compared = between.count("=") > 1 or "<" in between or ">" in between
    if not compared and _word_before(parts, index) not in words.CAUSE_KEYS:
        return _MARK
    return _masked_digits(parts, index) if _DIGIT.search(parts[index]) else parts[index]


def _masked_digits(parts: list[str], index: int) -> str:
    """A piece that holds a digit: kept as a known name or a code of the fault, else masked."""
    piece = parts[index]
    bare = piece.rstrip(".:!?*%")
    if _is_known(bare) or _is_code(parts, index, bare):
        return piece
    if not piece.isascii() and _UNBROKEN.search(piece):
        return _BROKEN_RUN.sub(lambda run: _MARK if _DIGIT.search(run.group()) else run.group(), piece)
    if index > 1 and piece[0] == "/" and parts[index - 2] in words.HTTP_METHODS:
        return _FINAL + _path_shape(piece)
    keyed = _KEYED.match(piece)
    if keyed and len(keyed[1]) > 2:
        return keyed[1] + _MARK
    return _MARK


def _masked_plain(parts: list[str], index: int) -> str:
    """A piece without digits that is not a plain word: e-mail, host or path are masked."""
    piece = parts[index]
    if "/" in piece or "\\" in piece:
        if index > 1 and piece[0] == "/" and parts[index - 2] in words.HTTP_METHODS:
            return _FINAL + _path_shape(piece)
        within = index > 1 and "\\" in piece and parts[index - 2] == _MARK and parts[index - 1].isspace()
        return _MARK if within or _is_path(piece.rstrip(".:")) else piece
    if "@" in piece and 0 < piece.find("@") < len(piece) - 1:
        return _MARK
    if "." in piece and _is_host(piece.rstrip(".")):
        return _MARK
    key, colon, value = piece.partition(":")
    if colon and value in ("true", "false", "null", "True", "False", "None"):
        return f"{key}:{_MARK}"
    return piece


def _is_known(bare: str) -> bool:
    """A name that holds a digit and is the same everywhere: ``utf-8``, ``psycopg2.errors.X``, ``S3UploadError``."""
    if bare.lower() in words.KNOWN_NAMES or bare.endswith(("Error", "Exception")):
        return True
    labels = bare.split(".")
    return len(labels) > 1 and all(
        label.lower() in words.KNOWN_NAMES or (label.isidentifier() and not _DIGIT.search(label)) for label in labels
    )


def _word_before(parts: list[str], index: int) -> str:
    """The word before a piece, as one case-folded word without marks between its parts: ``status_code`` is
    ``statuscode``.
    """
    if index > 1 and parts[index - 2].isalpha():
        return parts[index - 2].lower()
    for before in range(index - 2, max(index - 6, -1), -2):
        found = "".join(_LETTERS.findall(parts[before][-64:]))
        if found:
            return found.lower()
        if parts[before]:
            return ""
    return ""


def _is_code(parts: list[str], index: int, bare: str) -> bool:
    """Whether a piece is a code that tells one fault from another: HTTP, exit, errno, SQLSTATE, vendor codes."""
    if len(bare) > 12:
        return False
    if index == 0 and _LEADING_CODE.match(bare) and parts[1:2] and parts[1][0] == ":":
        return True
    word = _word_before(parts, index)
    following = parts[index + 2] if index + 2 < len(parts) else ""
    if _STATUS.match(bare):
        if following.lower() in words.REASON_PHRASES.get(bare, ()):
            return True
        if bare[0] in "45" and word in words.BEFORE_STATUS and _ends_clause(parts, index):
            return True
    if word in words.CODE_WORDS or word.endswith(words.CODE_ENDINGS):
        return bool(_SHORT_CODE.match(bare) or _SQLSTATE.match(bare) or _LONG_CODE.match(bare))
    return word in words.ERROR_WORDS and bool(_LONG_CODE.match(bare))


def _ends_clause(parts: list[str], index: int) -> bool:
    """Whether nothing, or a separator other than a blank, follows a piece: ``returned 404 rows`` is a count."""
    return index + 1 >= len(parts) or not parts[index + 1].isspace()


def _is_path(piece: str) -> bool:
    slashes = piece.count("/") + piece.count("\\")
    if slashes >= 2 or piece.startswith(("./", "~/")):
        return True
    return bool(_DRIVE.match(piece)) or (
        len(piece) > 1 and bool(_FILE_LEAF.match(piece.replace("\\", "/").rpartition("/")[2]))
    )


def _is_host(piece: str) -> bool:
    first, last = piece.partition(".")[0], piece.rpartition(".")[2].lower()
    if last in words.TOP_LEVEL:
        known = first.lower() not in words.TOP_LEVEL
    else:
        known = last in words.COUNTRIES and piece.count(".") >= 2 and piece.islower()
    return known and bool(_HOST.match(piece))


def _masked_url(match: re.Match[str]) -> str:
    """Registrable name and path shape of a web address; of others (files, buckets, databases) only the scheme."""
    url = match.group()
    kept = url.rstrip(".,;:!?)]")
    scheme, _, rest = kept.partition("://")
    if scheme.lower() not in ("http", "https", "ws", "wss"):
        return f"{_FINAL}{scheme.lower()}:{_MARK}{url[len(kept) :]}"
    place = re.split(r"[?#]", rest, maxsplit=1)[0]
    authority, _, path = place.partition("/")
    host = authority.rpartition("@")[2].partition(":")[0]
    return f"{_FINAL}{_registrable(host)}{_path_shape('/' + path) if path else ''}{url[len(kept) :]}"


def _registrable(host: str) -> str:
    labels = host.lower().split(".")
    if labels[-1].isdigit() or "[" in host:
        return _MARK
    kept = 3 if len(labels) > 2 and labels[-2] in words.SECOND_LEVEL and len(labels[-1]) == 2 else 2
    name = ".".join(labels[-kept:])
    return _MARK if len(labels) == 1 and _DIGIT.search(name) else name


def _path_shape(path: str) -> str:
    """The path with a mark for each segment that looks like an id, a file or a slug; at most eight segments."""
    place = re.split(r"[?#]", path, maxsplit=1)[0]
    segments = [segment for segment in place.split("/") if segment][:_MAX_SEGMENTS]
    return "".join("/" + (_MARK if _is_variable(segment) else segment) for segment in segments)


def _is_variable(segment: str) -> bool:
    if _VERSION_SEGMENT.match(segment) or segment.lower() in words.KNOWN_NAMES:
        return False
    digits = bool(_DIGIT.search(segment))
    return digits or len(segment) > _MAX_SEGMENT_CHARS or "." in segment or "%" in segment or segment.count("-") > 2
