"""template.yaml, read once, and the parts of it that the tests ask about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from provenloop.entry.local.template import Resource, Template, load_template

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCUMENT = load_template(ROOT / "template.yaml")
TEMPLATE = Template(DOCUMENT, folder=ROOT)

#: Functions by folder.
FUNCTIONS: dict[str, Resource] = {
    Path(str(resource.need("CodeUri"))).name: resource for resource in TEMPLATE.of_kind("AWS::Serverless::Function")
}


def triggers(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every event of one type, as the function's folder and the event's evaluated properties."""
    for folder, function in FUNCTIONS.items():
        for event in function.get("Events", {}).values():
            if event["Type"] == kind:
                yield folder, event["Properties"]


def routes() -> Iterator[tuple[str, str, str]]:
    """Folder, method and path of every HTTP route; both are ``$default`` for the route that takes the rest."""
    for folder, properties in triggers("HttpApi"):
        yield folder, properties.get("Method", "$default"), properties.get("Path", "$default")


def queue_of(arn: str) -> Resource:
    """The queue that has this ARN."""
    return next(
        queue for queue in TEMPLATE.of_kind("AWS::SQS::Queue") if TEMPLATE.attribute(queue.logical_id, "Arn") == arn
    )
