"""Cheap requests in moto: what it would work out anew for each request, and comes to the same, is worked out once.

- Moto 5 lists the methods of the class that answers, for each request.
- It takes a condition apart twice for each write, letter by letter; conditions are few and repeat.
- It looks for each member of an answer under names that it derives anew each time.

What a request does, and what is answered, stays the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from typing import Any

_MARK = "reads_once"
#: So many different conditions are remembered; a pass asks a few dozen.
_CONDITIONS = 512
#: A condition with values longer than this, in characters as Python writes them, is not remembered.
_LONGEST = 10_000


def read_once() -> None:
    """Make moto remember what repeats from request to request. Doing it again changes nothing."""
    from moto.core import responses

    names: Any = responses
    if hasattr(names.method_names_from_class, _MARK):
        return
    listed = lru_cache(names.method_names_from_class)
    setattr(listed, _MARK, True)
    names.method_names_from_class = listed
    _remember_conditions()
    _remember_names()


def validate_definitions_once() -> None:
    """Make moto parse a state machine's definition, to see that it is one, only the first time that it is created.

    Doing it again changes nothing. Apart from the rest, for what it imports takes a second.
    """
    from moto.stepfunctions.parser.models import StepFunctionsParserBackend

    backend: Any = StepFunctionsParserBackend
    original = backend._validate_definition  # noqa: SLF001  (moto offers no public way)
    if hasattr(original, _MARK):
        return
    # One that is refused raises, and is parsed anew each time.
    validated = lru_cache(original)

    def validate(definition: str) -> None:
        validated(definition)

    setattr(validate, _MARK, True)
    backend._validate_definition = staticmethod(validate)  # noqa: SLF001


def _remember_conditions() -> None:
    from moto.dynamodb.comparisons import ConditionExpressionParser

    parser: Any = ConditionExpressionParser
    original, lex = parser.parse, parser._lex_condition_expression  # noqa: SLF001  (moto offers no public way)

    @lru_cache(_CONDITIONS)
    def lexed(expression: str) -> tuple[Any, ...]:
        return tuple(lex(parser(expression, None, None)))

    # Nothing changes what was lexed: later steps build nodes of their own.
    parser._lex_condition_expression = lambda self: deque(lexed(self.condition_expression))  # noqa: SLF001
    parser.parse = _remembering(original)


def _remembering(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``parse`` of a condition, which is asked once for the same text, names and values."""
    known: dict[Hashable, tuple[Any, list[str], list[str]]] = {}

    def parse_once(self: Any) -> Any:
        if not self.condition_expression:
            return parse(self)
        key = (self.condition_expression, repr(self.expression_attribute_names), repr(self.expression_attribute_values))
        if key not in known:
            condition = parse(self)
            if len(key[2]) > _LONGEST:
                return condition
            if len(known) >= _CONDITIONS:
                known.clear()
            known[key] = (condition, list(self.expr_attr_names_found), list(self.expr_attr_values_found))
            return condition
        condition, names, values = known[key]
        self.expr_attr_names_found.extend(names)
        self.expr_attr_values_found.extend(values)
        return condition

    return parse_once


def _remember_names() -> None:
    """Under which names a member may stand in a plain dict depends on the member alone."""
    from moto.core.serialize import DEFAULT_ALIAS_PROVIDERS, XFormedAttributePicker

    picker: Any = XFormedAttributePicker
    original = picker.get_possible_keys
    known: dict[tuple[str, Any], tuple[str, ...]] = {}

    def possible_keys(self: Any, context: Any) -> Iterator[str]:
        if type(context.obj) is not dict or self.alias_providers is not DEFAULT_ALIAS_PROVIDERS:
            return iter(original(self, context))
        member = (context.key, context.shape)
        if member not in known:
            known[member] = tuple(dict.fromkeys(original(self, context)))
        return iter(known[member])

    picker.get_possible_keys = possible_keys
