"""What a text asks for."""

from __future__ import annotations

from collections.abc import Sequence

_ASKING = frozenset("who whom whose what which when where why how".split())
_YES_NO = frozenset(
    "is are am was were do does did can could will would shall should has have had may might isn't aren't don't "
    "doesn't didn't can't couldn't won't wouldn't shouldn't hasn't haven't".split()
)
#: First words of a request for an answer: "tell me where ...".
_REQUESTS = frozenset({"tell", "explain"})
_OF_HOW = frozenset("many much old often far long".split())
_OF_WHAT = {"time": "when", "day": "when", "date": "when", "reason": "why", "person": "who", "place": "where"}
_PLAIN = {"whom": "who", "which": "what"}
#: "What is the way to" and "how", "what is the number of" and "how many": these may ask for one thing.
_OPEN = "what"
YES_NO = "yes or no"


def question(words: Sequence[str], plain: str) -> str:
    """What is asked for (``who``, ``where``, ``how many``, ``yes or no`` ...); empty where nothing is."""
    if not words or ("?" not in plain and words[0] not in _ASKING | _YES_NO | _REQUESTS):
        return ""
    for index, word in enumerate(words):
        asked = word.removesuffix("'s")
        if asked in _ASKING:
            return _asked(asked, words[index + 1] if index + 1 < len(words) else "")
    request = tuple(words[1:2]) == ("you",) or words[0] in ("may", "might")
    return YES_NO if words[0] in _YES_NO and not request else ""


def asks_otherwise(left: str, right: str) -> bool:
    """Whether two texts both ask, and for what cannot be the same answer."""
    if not left or not right or left == right:
        return False
    return not (_OPEN in (left, right) and (left + right).replace(_OPEN, "", 1).startswith("how"))


def _asked(word: str, following: str) -> str:
    if word == "how" and following in _OF_HOW:
        return f"how {following}"
    if word in ("what", "which") and following in _OF_WHAT:
        return _OF_WHAT[following]
    return _PLAIN.get(word, word)
