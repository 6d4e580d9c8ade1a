"""What an ``UpdateItem`` does to the size of an item, read off its expression.

Exact where attributes are set whole, removed, or added to as numbers. Where the new size depends on what is stored
and not known here (members added to a set, a path into a document), an upper bound is given and marked as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from provenloop.adapters.dynamodb.units import AttributeValue, Item, attribute_sizes, name_size, value_size

_CLAUSE = re.compile(r"(?<![\w#:.])(SET|REMOVE|ADD|DELETE)\s+", re.IGNORECASE)
_PATH_END = re.compile(r"[.\[]")
_FUNCTION = re.compile(r"(if_not_exists|list_append)\s*\(([^,]+),(.+)\)", re.DOTALL)


class Action(NamedTuple):
    """One action of an update expression, in its own text: verb, attribute or path, and operand."""

    verb: str
    path: str
    operand: str


@dataclass(slots=True)
class Effect:
    """Attributes after an update.

    ``sizes`` is what to remember of the item; ``extra`` bytes more are its upper bound now. ``written`` names the
    attributes touched, ``values`` holds those set to a value of the request.
    """

    sizes: dict[str, int]
    written: set[str] = field(default_factory=set)
    values: dict[str, AttributeValue] = field(default_factory=dict)
    extra: int = 0
    exact: bool = True

    def corrected(self, shown: Item) -> Effect:
        """The effect with the attributes AWS has shown of those that the update touched."""
        # Of a document only the touched paths are shown.
        plain = {name: value for name, value in shown.items() if not value.keys() & {"M", "L"}}
        sizes = {**self.sizes, **attribute_sizes(plain)}
        values = {**self.values, **plain}
        if (self.written & sizes.keys()) <= plain.keys():
            return Effect(sizes, self.written, values)
        return Effect(sizes, self.written, values, self.extra, self.exact)


@lru_cache(maxsize=1024)
def actions_of(expression: str) -> tuple[Action, ...]:
    """The actions of an update expression, in order."""
    parts = _CLAUSE.split(expression)
    return tuple(
        _action(verb.upper(), text)
        for verb, body in zip(parts[1::2], parts[2::2], strict=True)
        for text in _split(body)
    )


def effect_of(
    expression: str, names: Mapping[str, str], values: Mapping[str, AttributeValue], before: Mapping[str, int]
) -> Effect:
    """What the expression makes of an item whose attributes had these sizes (bytes, name included)."""
    effect = Effect(dict(before))
    operands = _Operands(names, values, before)
    for action in actions_of(expression):
        name, nested = _named(action.path, names), _is_nested(action.path)
        effect.written.add(name)
        if action.verb == "SET":
            _set(effect, name, action.operand, operands, nested=nested)
        elif action.verb == "ADD":
            _add(effect, name, values[action.operand])
        elif action.verb == "DELETE" or nested:
            effect.exact = False
        else:
            effect.sizes.pop(name, None)
    return effect


def effect_shown(expression: str, names: Mapping[str, str], shown: Item) -> Effect:
    """The effect of an expression, where AWS has shown the whole item as it is now."""
    written = {_named(action.path, names) for action in actions_of(expression)}
    return Effect(attribute_sizes(shown), written, dict(shown))


class _Operands(NamedTuple):
    names: Mapping[str, str]
    values: Mapping[str, AttributeValue]
    before: Mapping[str, int]

    def size(self, operand: str) -> int:
        """Bytes of the value of an operand; sums of numbers take as much as the larger one."""
        if operand in self.values:
            return value_size(self.values[operand])
        return max(self._term(term) for term in _terms(operand))

    def known(self, operand: str) -> AttributeValue | None:
        """The value of an operand that is just a value of the request."""
        return self.values.get(operand)

    def stored(self, path: str) -> int | None:
        """Bytes of the value stored at a path, if the attribute is known."""
        name = _named(path, self.names)
        return self.before[name] - name_size(name) if name in self.before else None

    def _term(self, term: str) -> int:
        if term in self.values:
            return value_size(self.values[term])
        call = _FUNCTION.fullmatch(term)
        if call is None:
            return self.stored(term) or 0
        function, first, second = call[1].lower(), call[2].strip(), call[3].strip()
        if function == "list_append":
            return self._term(first) + self._term(second)
        stored = self.stored(first)
        return self.size(second) if stored is None else stored


def _named(path: str, names: Mapping[str, str]) -> str:
    """The attribute a path starts at."""
    top = _PATH_END.split(path, maxsplit=1)[0] if _is_nested(path) else path
    return names.get(top, top)


def _is_nested(path: str) -> bool:
    return "." in path or "[" in path


def _set(effect: Effect, name: str, operand: str, operands: _Operands, *, nested: bool) -> None:
    size = operands.size(operand)
    if nested:
        # What is replaced inside the document is unknown: at most all of the new value comes on top.
        effect.extra += size
        effect.exact = False
        effect.sizes.setdefault(name, name_size(name) + size)
        return
    effect.sizes[name] = name_size(name) + size
    value = operands.known(operand)
    call = _FUNCTION.fullmatch(operand)
    if call is not None and call[1].lower() == "if_not_exists" and name not in operands.before:
        value = operands.known(call[3].strip())
    if value is not None:
        effect.values[name] = value


def _add(effect: Effect, name: str, value: AttributeValue) -> None:
    size = name_size(name) + value_size(value)
    stored = effect.sizes.get(name)
    if stored is not None and "N" not in value:
        # Members may be there already: remember no more than is sure, and count all as new this time.
        effect.extra += value_size(value)
        effect.exact = False
    effect.sizes[name] = size if stored is None else max(stored, size)


def _action(verb: str, text: str) -> Action:
    if verb == "SET":
        path, _, operand = text.partition("=")
    else:
        path, _, operand = text.partition(" ")
    return Action(verb, path.strip(), operand.strip())


def _split(body: str) -> Iterator[str]:
    """The parts between commas that stand outside of brackets."""
    yield from (part.strip() for part in _outside(body, ","))


@lru_cache(maxsize=1024)
def _terms(operand: str) -> tuple[str, ...]:
    return tuple(term.strip() for term in _outside(operand, "+-"))


def _outside(text: str, separators: str) -> Iterator[str]:
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in separators:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def described(params: Mapping[str, Any]) -> tuple[str, Mapping[str, str], Mapping[str, AttributeValue]]:
    """Expression, names and values of the parameters of an update."""
    return (
        params.get("UpdateExpression", ""),
        params.get("ExpressionAttributeNames", {}),
        params.get("ExpressionAttributeValues", {}),
    )
