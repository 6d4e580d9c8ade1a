"""What the system serves at present, read from its own OpenAPI document and its list of analyzers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provenloop.domain.recommendation import family_of
from provenloop.external.identity import command_id

#: The analyzer that a family of scenarios is about.
ANALYZER_OF_FAMILY = {
    "tool": "tool_failure",
    "con": "contradiction_sweep",
    "dup": "duplicate_sweep",
    "near": "duplicate_sweep",
    "stale": "staleness",
    "skill": "skill_stall",
    "goal": "goal_stagnation",
    "cold": "cold_grains",
    "gap": "coverage_gap",
    "budget": "budget_pressure",
    "keep": "retention_sweep",
    "fork": "fork_surfacing",
    "out": "outcome_review",
}


class NotServedError(Exception):
    """A scenario needs what is not built yet; says what."""


#: What the names of external analyzers begin with.
EXTERNAL = "ext."


def short(analyzer: str) -> str:
    """``tool_failure`` of ``loop.tool_failure/1``; other names than the built-in ones are those of external analyzers,
    which are known here by what they call themselves: ``ext.acme_finder`` of ``acme.finder/1``.
    """
    name = analyzer.removeprefix("loop.").partition("/")[0]
    return family_of(command_id(name) or name) if "." in name else name


@dataclass(frozen=True)
class Served:
    """Routes, event kinds with their fields, and analyzers.

    Args:
        document: OpenAPI.
        analyzers: short names.
    """

    document: Mapping[str, Any]
    analyzers: frozenset[str]

    def need_route(self, method: str, path: str) -> None:
        """Raise NotServedError unless ``path``, below the memory, is served."""
        if method.lower() not in self.document["paths"].get("/v1/memories/{memory}" + path, {}):
            raise NotServedError(f"{method} {path}")

    def need_event(self, event: Mapping[str, Any]) -> None:
        """Raise NotServedError unless events of this kind with these fields are read."""
        schemas = self.document["components"]["schemas"]
        kinds = schemas["EventsRequest"]["properties"]["events"]["items"]["discriminator"]["mapping"]
        if event["kind"] not in kinds:
            raise NotServedError(f"events of kind {event['kind']}")
        known = schemas[kinds[event["kind"]].rpartition("/")[2]]["properties"]
        for name in event:
            if name not in known:
                raise NotServedError(f"{name} of events of kind {event['kind']}")
        if "with" in event and event["with"]["kind"] not in known["with"]["discriminator"]["mapping"]:
            raise NotServedError(f"supersede with {event['with']['kind']}")

    def need_option(self, schema: str, name: str) -> None:
        """Raise NotServedError unless requests of this model have the field."""
        if name not in self.document["components"]["schemas"][schema]["properties"]:
            raise NotServedError(f"{name} of {schema}")

    def need_analyzers(self, names: frozenset[str]) -> None:
        """Raise NotServedError unless all of them are there."""
        missing = sorted(names - self.analyzers)
        if missing:
            raise NotServedError(f"analyzers {', '.join(missing)}")
