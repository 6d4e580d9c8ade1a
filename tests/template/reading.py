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
WITH_SAMPLES = Template(DOCUMENT, folder=ROOT, parameters={"SampleAnalyzers": "true"})


def _functions(template: Template) -> dict[str, Resource]:
    return {Path(str(each.need("CodeUri"))).name: each for each in template.of_kind("AWS::Serverless::Function")}


#: Functions by folder.
FUNCTIONS = _functions(TEMPLATE)
#: The sample analyzers by folder, which are there where somebody wants them.
SAMPLES = {folder: each for folder, each in _functions(WITH_SAMPLES).items() if folder not in FUNCTIONS}


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
