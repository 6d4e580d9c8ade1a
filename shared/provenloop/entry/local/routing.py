"""Which route of an HTTP API takes a request.

Invariants, as API Gateway has them: a full match wins over a match by a greedy variable (``{rest+}``), and any route
over ``$default``; of several matches the more specific path wins, then a route of that very method over one of any
method. Segments are compared as they came; what a variable stands for is decoded afterwards, so an encoded slash does
not end a segment. A variable never stands for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from provenloop.entry.local.triggers import ANY_METHOD, DEFAULT_ROUTE, Route

_STATIC, _VARIABLE, _GREEDY = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Match:
    """A route and what its variables stand for, decoded."""

    route: Route
    variables: Mapping[str, str]


class Router:
    """The routes of an API."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = sorted(routes, key=_rank)

    def match(self, method: str, path: str) -> Match | None:
        """The route for a request, None where no route takes it.

        Args:
            method: in upper case.
            path: still percent-encoded, without the query.
        """
        for route in self._routes:
            if route.method not in (method, ANY_METHOD):
                continue
            variables = _variables(route.path, path)
            if variables is not None:
                return Match(route, variables)
        return None


def _rank(route: Route) -> tuple[bool, bool, tuple[int, ...], bool]:
    kinds = tuple(_kind(segment) for segment in route.path.split("/"))
    return route.path == DEFAULT_ROUTE, _GREEDY in kinds, kinds, route.method == ANY_METHOD


def _kind(segment: str) -> int:
    if not (segment.startswith("{") and segment.endswith("}")):
        return _STATIC
    return _GREEDY if segment.endswith("+}") else _VARIABLE


def _variables(pattern: str, path: str) -> dict[str, str] | None:
    """What the variables of ``pattern`` stand for in ``path``, None if it does not match."""
    if pattern == DEFAULT_ROUTE:
        return {}
    wanted, given = pattern.split("/"), path.split("/")
    found: dict[str, str] = {}
    for position, segment in enumerate(wanted):
        rest = given[position:]
        if not rest:
            return None
        kind = _kind(segment)
        if kind == _GREEDY:
            text = "/".join(rest)
            return {**found, segment[1:-2]: unquote(text)} if text else None
        if kind == _STATIC and unquote(rest[0]) != segment:
            return None
        if kind == _VARIABLE:
            if not rest[0]:
                return None
            found[segment[1:-1]] = unquote(rest[0])
    return found if len(given) == len(wanted) else None
