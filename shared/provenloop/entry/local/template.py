"""template.yaml as values: YAML with CloudFormation tags, parameters filled in, intrinsics evaluated.

Invariants: nothing is created here and nothing needs AWS, so a test may read the template alone; a name of the
template means the same physical name in every run (``naming``); resources whose condition does not hold do not exist;
dates and versions stay text; a key that stands twice in one mapping is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # a PyYAML built without libyaml: the same, ten times slower
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

from provenloop.entry.local import naming
from provenloop.entry.local.account import ACCOUNT, REGION, STACK_NAME
from provenloop.entry.local.intrinsics import NO_VALUE, TemplateError, holds, intrinsic_of, resolve

_SERVERLESS = "AWS::Serverless::"
_TIMESTAMP_TAG = "tag:yaml.org,2002:timestamp"


class _Loader(_SafeLoader):
    """YAML as CloudFormation reads it."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP_TAG]
    for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
}


def _construct_intrinsic(loader: _SafeLoader, tag: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.ScalarNode):
        text = loader.construct_scalar(node)
        value = text.split(".", 1) if tag == "GetAtt" else text
    return {tag if tag in ("Ref", "Condition") else f"Fn::{tag}": value}


def _construct_mapping(loader: _SafeLoader, node: yaml.MappingNode) -> Iterator[dict[Any, Any]]:
    seen: set[str] = set()
    for key_node, _ in node.value:
        key = str(key_node.value)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"{key} stands twice", key_node.start_mark)
        seen.add(key)
    data: dict[Any, Any] = {}
    yield data
    data.update(loader.construct_mapping(node))


_Loader.add_multi_constructor("!", _construct_intrinsic)
_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)


def load_template(path: Path) -> dict[str, Any]:
    """The template as plain values; every short tag (``!Ref``, ``!Sub`` ...) in its long form.

    Raises:
        TemplateError: the file is missing, is not YAML, or has no resources.
    """
    try:
        # The loader is a SafeLoader: it builds plain values only.
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506
    except FileNotFoundError:
        raise TemplateError(f"there is no template at {path}") from None
    except yaml.YAMLError as error:
        raise TemplateError(f"{path.name}: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("Resources"), dict):
        raise TemplateError(f"{path.name} has no resources")
    return document


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the template. ``raw`` are its properties before evaluation, with SAM's globals merged in."""

    logical_id: str
    kind: str
    raw: Mapping[str, Any]
    template: Template

    def get(self, name: str, default: Any = None) -> Any:
        """A property, evaluated; ``default`` where it is absent, or its value is ``AWS::NoValue``."""
        found = self.template.resolve(self.raw[name]) if name in self.raw else NO_VALUE
        return default if found is NO_VALUE else found

    def need(self, name: str) -> Any:
        """A property that must be there, evaluated."""
        found = self.get(name, NO_VALUE)
        if found is NO_VALUE:
            raise TemplateError(f"{self.logical_id} has no {name}")
        return found


class Template:
    """A template with its parameters filled in.

    Args:
        document: what ``load_template`` returned.
        folder: where the template lies; code paths are relative to it.
        parameters: values instead of the parameters' defaults.
        stack_name: ``AWS::StackName``, and the prefix of names that CloudFormation would make up.

    Raises:
        TemplateError: a parameter is unknown, has no value, or a value that is not allowed.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        *,
        folder: Path,
        parameters: Mapping[str, str] | None = None,
        stack_name: str = STACK_NAME,
    ) -> None:
        self.folder = folder
        self.stack_name = stack_name
        self._document = document
        self._parameters = _parameter_values(document.get("Parameters", {}), parameters or {})
        self._pseudo = {
            "AWS::StackName": stack_name,
            "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{stack_name}/local",
            "AWS::Region": REGION,
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
        }

    @classmethod
    def load(cls, path: Path, parameters: Mapping[str, str] | None = None) -> Template:
        """The template at ``path``."""
        return cls(load_template(path), folder=path.parent, parameters=parameters)

    @cached_property
    def resources(self) -> Mapping[str, Resource]:
        """Every resource that exists, by logical id."""
        return {
            logical_id: Resource(logical_id, body["Type"], self._properties(body), self)
            for logical_id, body in self._document["Resources"].items()
            if "Condition" not in body or self.condition(body["Condition"])
        }

    def of_kind(self, kind: str) -> tuple[Resource, ...]:
        """The resources of one type, in the template's order."""
        return tuple(resource for resource in self.resources.values() if resource.kind == kind)

    def resolve(self, value: Any) -> Any:
        """``value`` with its intrinsics evaluated."""
        return resolve(value, self)

    def ref(self, name: str) -> Any:
        """Value of ``Ref``: a parameter's value, or what a resource's ``Ref`` gives."""
        if name in self._pseudo:
            return self._pseudo[name]
        if name in self._parameters:
            return self._parameters[name]
        return self._identity(name).ref

    def attribute(self, logical_id: str, name: str) -> str:
        """Value of ``Fn::GetAtt``."""
        attributes = self._identity(logical_id).attributes
        if name not in attributes:
            raise TemplateError(f"the local stack knows no attribute {name} of {logical_id}")
        return attributes[name]

    def condition(self, name: str) -> bool:
        """Whether a condition of the template holds."""
        conditions = self._document.get("Conditions", {})
        if name not in conditions:
            raise TemplateError(f"there is no condition {name}")
        return holds(conditions[name], self)

    def mapping(self, name: str, first: str, second: str) -> Any:
        """An entry of the template's mappings."""
        try:
            return self._document["Mappings"][name][first][second]
        except KeyError:
            raise TemplateError(f"there is no mapping {name}.{first}.{second}") from None

    def _identity(self, logical_id: str) -> naming.Identity:
        resource = self.resources.get(logical_id)
        if resource is None:
            raise TemplateError(f"{logical_id} is neither a parameter nor a resource of the template")
        return naming.identity_of(resource, region=REGION, account=ACCOUNT, stack_name=self.stack_name)

    def _properties(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        own: Mapping[str, Any] = body.get("Properties", {})
        if not body["Type"].startswith(_SERVERLESS):
            return own
        shared = self._document.get("Globals", {}).get(body["Type"].removeprefix(_SERVERLESS), {})
        ignored = body.get("IgnoreGlobals", ())
        kept = {} if ignored == "*" else {name: value for name, value in shared.items() if name not in ignored}
        merged: Mapping[str, Any] = _merged(kept, own)
        return merged


def _parameter_values(declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    unknown = sorted(given.keys() - declared.keys())
    if unknown:
        raise TemplateError(f"the template has no parameter {unknown[0]}")
    return {name: _parameter_value(name, body, given.get(name)) for name, body in declared.items()}


def _parameter_value(name: str, body: Mapping[str, Any], given: str | None) -> Any:
    value = body.get("Default") if given is None else given
    if value is None:
        raise TemplateError(f"the parameter {name} has no default and was given no value")
    text = str(value)
    allowed = [str(each) for each in body.get("AllowedValues", [])]
    if allowed and text not in allowed:
        raise TemplateError(f"the parameter {name} must be one of {', '.join(allowed)}")
    kind = body.get("Type", "String")
    if kind in ("CommaDelimitedList", "List<String>", "List<Number>"):
        return [part.strip() for part in text.split(",")]
    if kind not in ("String", "Number"):
        raise TemplateError(f"the parameter {name} has the type {kind}, which the local stack does not know")
    return text


def _merged(shared: Any, own: Any) -> Any:
    """SAM's rule for globals: mappings merge, lists append, anything else of the resource's own wins."""
    if isinstance(shared, dict) and isinstance(own, dict) and not (intrinsic_of(shared) or intrinsic_of(own)):
        return {**shared, **{key: _merged(shared[key], own[key]) if key in shared else own[key] for key in own}}
    if isinstance(shared, list) and isinstance(own, list):
        return [*shared, *own]
    return own
