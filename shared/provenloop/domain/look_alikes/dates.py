"""Days and months that a text names, in any language of the lists, and days told from today."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provenloop.domain.look_alikes.atoms import Atom, Kind

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH_NAMES = "january february march april may june july august september october november december".split()
#: Spelling -> number of the month.
MONTHS: dict[str, int] = {name: month for month, name in enumerate(_MONTH_NAMES, start=1)} | {
    name[:3]: month for month, name in enumerate(_MONTH_NAMES, start=1)
}
MONTHS["sept"] = 9
_DAYS: dict[str, str] = {name: name for name in _WEEKDAYS} | {name + "s": name for name in _WEEKDAYS}
_SHORT_DAYS: dict[str, str] = {name[:3]: name for name in _WEEKDAYS} | {
    "tues": "tuesday", "thur": "thursday", "thurs": "thursday",
}  # fmt: skip
_FROM_TODAY: dict[str, str] = {
    **{day: day for day in "today tomorrow yesterday tonight".split()},
    "tmrw": "tomorrow", "今日": "today", "今天": "today", "明日": "tomorrow", "明天": "tomorrow", "昨日": "yesterday",
    "昨天": "yesterday", "오늘": "today", "내일": "tomorrow", "어제": "yesterday",
}  # fmt: skip
#: Names of days and months: no names of anything else.
CALENDAR = frozenset(_DAYS) | frozenset(_SHORT_DAYS) | frozenset(MONTHS)
#: Names that are other words too ("may", "sun", "dec"): a month or day only beside a number or after a preposition.
_CLEAR_MONTHS = frozenset(name for name in _MONTH_NAMES if name not in ("march", "may", "august"))
_BEFORE_MONTH = frozenset("in since until till by of every last next this early late mid during from".split())
#: "last week", "this year", "next quarter": a span told from today.
_WHICH = {
    "last": "last", "previous": "last", "past": "last", "this": "this", "current": "this", "next": "next",
    "coming": "next", "upcoming": "next",
}  # fmt: skip
_SPANS = frozenset("hour day night week weekend month quarter season year decade century".split())
_HAN_DAYS = {
    **dict(zip("一二三四五六日", _WEEKDAYS, strict=True)), "天": "sunday",
    **dict(zip("月火水木金土", _WEEKDAYS, strict=False)),
    **dict(zip("월화수목금토일", _WEEKDAYS, strict=True)),
}  # fmt: skip
_HAN_WEEKDAY = re.compile("(?:星期|礼拜|禮拜|[周週])([一二三四五六日天])|([月火水木金土日])曜|([월화수목금토일])요일")
_HAN_FROM_TODAY = re.compile("|".join(name for name in _FROM_TODAY if not name.isascii()))


def dates(atoms: Sequence[Atom], plain: str) -> tuple[str, ...]:
    """The weekdays, months (``month-5``) and days told from today, sorted, each once."""
    found = {name for index, atom in enumerate(atoms) if (name := _date_at(atoms, index, atom))}
    if not plain.isascii():
        for groups in _HAN_WEEKDAY.findall(plain):
            found.add(_HAN_DAYS["".join(groups)])
        found.update(_FROM_TODAY[day] for day in _HAN_FROM_TODAY.findall(plain))
    return tuple(sorted(found))


def _date_at(atoms: Sequence[Atom], index: int, atom: Atom) -> str:
    word = atom.text
    if word in _DAYS or word in _FROM_TODAY:
        return _DAYS.get(word) or _FROM_TODAY[word]
    if word in _SHORT_DAYS and _beside_number(atoms, index):
        return _SHORT_DAYS[word]
    if word in _WHICH and _at(atoms, index + 1) in _SPANS:
        return f"{_WHICH[word]} {_at(atoms, index + 1)}"
    month = MONTHS.get(word)
    if month is None:
        return ""
    named = word in _CLEAR_MONTHS or _beside_number(atoms, index)
    return f"month-{month}" if named or _after_preposition(atoms, index) else ""


def _after_preposition(atoms: Sequence[Atom], index: int) -> bool:
    return _at(atoms, index - 1) in _BEFORE_MONTH


def _at(atoms: Sequence[Atom], index: int) -> str:
    return atoms[index].text if 0 <= index < len(atoms) else ""


def _beside_number(atoms: Sequence[Atom], index: int) -> bool:
    beside = (*atoms[max(index - 1, 0) : index], *atoms[index + 1 : index + 2])
    return any(atom.kind is Kind.NUMBER for atom in beside)
