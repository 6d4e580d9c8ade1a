"""Physical names: what ``Ref`` and ``Fn::GetAtt`` of a resource give.

Invariants: a name follows from the template alone, so that it can be known before anything is created and stays the
same when everything is created anew. A type that is not in ``_NAMES`` has no name here; referring to it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenloop.entry.local.intrinsics import TemplateError

if TYPE_CHECKING:
    from provenloop.entry.local.template import Resource

API_ID = "local"


@dataclass(frozen=True, slots=True)
class Identity:
    """``ref`` is what Ref gives; ``attributes`` what Fn::GetAtt gives, by attribute name."""

    ref: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Place:
    region: str
    account: str
    stack_name: str

    def arn(self, service: str, rest: str) -> str:
        return f"arn:aws:{service}:{self.region}:{self.account}:{rest}"

    def name(self, resource: Resource, name_property: str, suffix: str = "") -> str:
        """The name the template gives, or one made of the stack's name and the logical id."""
        return str(resource.get(name_property) or f"{self.stack_name}-{resource.logical_id}{suffix}")


def identity_of(resource: Resource, *, region: str, account: str, stack_name: str) -> Identity:
    """What refers to ``resource`` gets.

    Raises:
        TemplateError: resources of this type have no name here.
    """
    name = _NAMES.get(resource.kind)
    if name is None:
        raise TemplateError(f"{resource.logical_id} is a {resource.kind}, which the local stack does not have")
    return name(resource, _Place(region, account, stack_name))


def _table(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "TableName")
    return Identity(name, {"Arn": place.arn("dynamodb", f"table/{name}")})


def _queue(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "QueueName", ".fifo" if resource.get("FifoQueue") is True else "")
    url = f"https://sqs.{place.region}.amazonaws.com/{place.account}/{name}"
    return Identity(url, {"Arn": place.arn("sqs", name), "QueueName": name, "QueueUrl": url})


def _secret(resource: Resource, place: _Place) -> Identity:
    # Secrets Manager adds six random characters to an ARN, and takes the ARN without them too.
    arn = place.arn("secretsmanager", f"secret:{place.name(resource, 'Name')}")
    return Identity(arn, {"Id": arn})


def _function(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "FunctionName")
    return Identity(name, {"Arn": place.arn("lambda", f"function:{name}")})


def _event_bus(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "Name")
    return Identity(name, {"Arn": place.arn("events", f"event-bus/{name}"), "Name": name})


def _event_rule(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "Name")
    bus = resource.get("EventBusName")
    return Identity(name, {"Arn": place.arn("events", f"rule/{bus}/{name}" if bus else f"rule/{name}")})


def _bucket(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "BucketName").lower()
    return Identity(name, {"Arn": f"arn:aws:s3:::{name}"})


def _layer(resource: Resource, place: _Place) -> Identity:
    return Identity(place.arn("lambda", f"layer:{place.name(resource, 'LayerName')}:1"), {})


def _http_api(_: Resource, place: _Place) -> Identity:
    return Identity(API_ID, {"ApiEndpoint": f"https://{API_ID}.execute-api.{place.region}.amazonaws.com"})


def _log_group(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "LogGroupName")
    return Identity(name, {"Arn": place.arn("logs", f"log-group:{name}:*")})


def _state_machine(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "Name")
    arn = place.arn("states", f"stateMachine:{name}")
    return Identity(arn, {"Arn": arn, "Name": name})


def _topic(resource: Resource, place: _Place) -> Identity:
    name = place.name(resource, "TopicName")
    arn = place.arn("sns", name)
    return Identity(arn, {"TopicArn": arn, "TopicName": name})


_NAMES: Mapping[str, Callable[[Resource, _Place], Identity]] = {
    "AWS::DynamoDB::Table": _table,
    "AWS::SQS::Queue": _queue,
    "AWS::SecretsManager::Secret": _secret,
    "AWS::S3::Bucket": _bucket,
    "AWS::Events::EventBus": _event_bus,
    "AWS::Events::Rule": _event_rule,
    "AWS::Serverless::Function": _function,
    "AWS::Serverless::LayerVersion": _layer,
    "AWS::Serverless::HttpApi": _http_api,
    "AWS::Serverless::StateMachine": _state_machine,
    "AWS::SNS::Topic": _topic,
    "AWS::Logs::LogGroup": _log_group,
}
