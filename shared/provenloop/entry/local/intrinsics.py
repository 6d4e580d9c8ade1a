"""CloudFormation's intrinsic functions, evaluated on plain Python values.

Invariants: values are in long form (``{"Ref": ...}``, ``{"Fn::Sub": ...}``); an intrinsic that cannot be evaluated is
an error that names it, never a guess; ``AWS::NoValue`` removes the key or list entry that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

_PLACEHOLDER = re.compile(r"\$\{(!?)([^}]*)\}")


class TemplateError(ValueError):
    """The template says something that the local stack cannot carry out; the message says where and what."""


class Scope(Protocol):
    """What intrinsics may look at."""

    def ref(self, name: str) -> Any:
        """Value of a parameter, a pseudo parameter or a resource."""

    def attribute(self, logical_id: str, name: str) -> Any:
        """Value of ``Fn::GetAtt``."""

    def condition(self, name: str) -> bool:
        """Whether a named condition holds."""

    def mapping(self, name: str, first: str, second: str) -> Any:
        """Value of ``Fn::FindInMap``."""


class _NoValue:
    """Marks a value that is to be left out."""


NO_VALUE = _NoValue()


def resolve(value: Any, scope: Scope) -> Any:
    """``value`` with every intrinsic in it evaluated.

    Raises:
        TemplateError: an unknown intrinsic, a wrong argument, or a name that does not exist.
    """
    if isinstance(value, list):
        return [item for item in (resolve(each, scope) for each in value) if item is not NO_VALUE]
    if not isinstance(value, dict):
        return value
    name = intrinsic_of(value)
    if name is None:
        resolved = {key: resolve(each, scope) for key, each in value.items()}
        return {key: each for key, each in resolved.items() if each is not NO_VALUE}
    evaluate = _INTRINSICS.get(name)
    if evaluate is None:
        raise TemplateError(f"{name} is not supported by the local stack")
    return evaluate(value[name], scope)


def intrinsic_of(value: Any) -> str | None:
    """The name of the intrinsic that ``value`` is, None if it is an ordinary value."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    name = next(iter(value))
    return name if name == "Ref" or (isinstance(name, str) and name.startswith("Fn::")) else None


def holds(expression: Any, scope: Scope) -> bool:
    """Whether a condition expression is true; ``{"Condition": name}`` stands for a named one.

    Raises:
        TemplateError: the expression is not a truth value.
    """
    if isinstance(expression, dict) and set(expression) == {"Condition"}:
        return scope.condition(expression["Condition"])
    outcome = resolve(expression, scope)
    if isinstance(outcome, bool):
        return outcome
    raise TemplateError(f"{expression!r} is not a condition")


def _ref(argument: Any, scope: Scope) -> Any:
    if not isinstance(argument, str):
        raise TemplateError("Ref needs a name")
    return NO_VALUE if argument == "AWS::NoValue" else scope.ref(argument)


def _get_att(argument: Any, scope: Scope) -> Any:
    parts = argument.split(".", 1) if isinstance(argument, str) else argument
    logical_id, name = _items(parts, 2, "Fn::GetAtt")
    return scope.attribute(logical_id, resolve(name, scope))


def _sub(argument: Any, scope: Scope) -> str:
    text, variables = (argument, {}) if isinstance(argument, str) else _items(argument, 2, "Fn::Sub")

    def value_of(match: re.Match[str]) -> str:
        literal, name = match.groups()
        if literal:
            return f"${{{name}}}"
        if name in variables:
            return text_of(resolve(variables[name], scope))
        logical_id, dot, attribute = name.partition(".")
        return text_of(scope.attribute(logical_id, attribute) if dot else scope.ref(name))

    return _PLACEHOLDER.sub(value_of, text)


def _join(argument: Any, scope: Scope) -> str:
    separator, parts = _items(argument, 2, "Fn::Join")
    return str(separator).join(text_of(part) for part in resolve(parts, scope))


def _select(argument: Any, scope: Scope) -> Any:
    index, options = _items(argument, 2, "Fn::Select")
    found = resolve(options, scope)
    position = int(resolve(index, scope))
    if not 0 <= position < len(found):
        raise TemplateError(f"Fn::Select has no entry {position}")
    return found[position]


def _split(argument: Any, scope: Scope) -> list[str]:
    separator, text = _items(argument, 2, "Fn::Split")
    return text_of(resolve(text, scope)).split(separator)


def _find_in_map(argument: Any, scope: Scope) -> Any:
    name, first, second = (text_of(resolve(part, scope)) for part in _items(argument, 3, "Fn::FindInMap"))
    return scope.mapping(name, first, second)


def _if(argument: Any, scope: Scope) -> Any:
    name, then, otherwise = _items(argument, 3, "Fn::If")
    return resolve(then if scope.condition(name) else otherwise, scope)


def _equals(argument: Any, scope: Scope) -> bool:
    left, right = (resolve(part, scope) for part in _items(argument, 2, "Fn::Equals"))
    return text_of(left) == text_of(right)


def _not(argument: Any, scope: Scope) -> bool:
    (only,) = _items(argument, 1, "Fn::Not")
    return not holds(only, scope)


def _and(argument: Any, scope: Scope) -> bool:
    return all(holds(each, scope) for each in argument)


def _or(argument: Any, scope: Scope) -> bool:
    return any(holds(each, scope) for each in argument)


_INTRINSICS: Mapping[str, Callable[[Any, Scope], Any]] = {
    "Ref": _ref,
    "Fn::GetAtt": _get_att,
    "Fn::Sub": _sub,
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::FindInMap": _find_in_map,
    "Fn::If": _if,
    "Fn::Equals": _equals,
    "Fn::Not": _not,
    "Fn::And": _and,
    "Fn::Or": _or,
}


def text_of(value: Any) -> str:
    """A scalar as CloudFormation writes it into text: ``true`` and ``false`` in lower case.

    Raises:
        TemplateError: a list, a mapping or nothing.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise TemplateError(f"{value!r} cannot stand inside a text")


def _items(argument: Any, count: int, name: str) -> list[Any]:
    if not isinstance(argument, list) or len(argument) != count:
        raise TemplateError(f"{name} needs a list of {count}")
    return argument
