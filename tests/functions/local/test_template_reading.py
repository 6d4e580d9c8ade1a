"""Reading a template: tags, parameters, conditions, intrinsics, globals, and the typed views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.entry.local import resources, triggers
from provenloop.entry.local.intrinsics import TemplateError
from provenloop.entry.local.template import Template, load_template

SMALL = Path(__file__).parent / "small" / "template.yaml"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
THING = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "things"}}


def _template(parameters: dict[str, str] | None = None, **sections: Any) -> Template:
    return Template({"Resources": {"Thing": THING}, **sections}, folder=Path(), parameters=parameters)


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "template.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_short_tags_become_the_long_form(tmp_path: Path) -> None:
    path = _written(
        tmp_path,
        """
        Resources:
          A: {Type: T, Properties: {
            Ref: x, Get: !GetAtt B.Arn.Part, Sub: !Sub "${B}-x", SubWith: !Sub ["${v}", {v: !Ref B}],
            If: !If [C, !Ref B, !Ref "AWS::NoValue"], Not: !Not [!Condition C]}}
        """,
    )
    assert load_template(path)["Resources"]["A"]["Properties"] == {
        "Ref": "x",
        "Get": {"Fn::GetAtt": ["B", "Arn.Part"]},
        "Sub": {"Fn::Sub": "${B}-x"},
        "SubWith": {"Fn::Sub": ["${v}", {"v": {"Ref": "B"}}]},
        "If": {"Fn::If": ["C", {"Ref": "B"}, {"Ref": "AWS::NoValue"}]},
        "Not": {"Fn::Not": [{"Condition": "C"}]},
    }


def test_versions_stay_text_and_are_not_read_as_dates(tmp_path: Path) -> None:
    path = _written(tmp_path, "AWSTemplateFormatVersion: 2010-09-09\nResources: {A: {Type: T}}\n")
    assert load_template(path)["AWSTemplateFormatVersion"] == "2010-09-09"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Resources: {A: {Type: T}, A: {Type: U}}", "A stands twice"),
        ("Resources: [", "template.yaml"),
        ("Parameters: {}", "has no resources"),
        ("Resources: !!python/object:os.system {}", "could not determine a constructor"),
    ],
)
def test_a_template_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        load_template(_written(tmp_path, text))


def test_a_missing_template_is_named(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"there is no template at .*template\.yaml"):
        load_template(tmp_path / "template.yaml")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ({"Ref": "Colour"}, "green"),
        ({"Ref": "Thing"}, "things"),
        ({"Ref": "AWS::Region"}, "us-east-1"),
        ({"Fn::Sub": "${Colour}/${AWS::StackName}/${!Colour}/${Thing.Arn}"},
         "green/provenloop-local/${Colour}/arn:aws:logs:us-east-1:123456789012:log-group:things:*"),
        ({"Fn::Sub": ["${a}${Colour}", {"a": {"Ref": "Count"}}]}, "3green"),
        ({"Fn::Join": ["-", ["a", {"Ref": "Colour"}, 1, True]]}, "a-green-1-true"),
        ({"Fn::If": ["IsGreen", "yes", "no"]}, "yes"),
        ({"Fn::If": ["IsOther", "yes", "no"]}, "no"),
        ({"Fn::Select": [1, {"Fn::Split": [",", "a,b"]}]}, "b"),
        ({"Fn::Select": ["0", {"Ref": "Names"}]}, "x"),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "Colour"}, "wide"]}, 7),
        ({"a": {"Ref": "AWS::NoValue"}, "b": [{"Ref": "AWS::NoValue"}, 1]}, {"b": [1]}),
        ({"Fn::And": [{"Condition": "IsGreen"}, {"Fn::Not": [{"Condition": "IsOther"}]}]}, True),
        ({"Fn::Or": [{"Condition": "IsOther"}, {"Fn::Equals": ["1", 1]}]}, True),
        ({"Ref": "Colour", "Other": 1}, {"Ref": "Colour", "Other": 1}),
    ],
)  # fmt: skip
def test_intrinsics_evaluate_as_in_cloudformation(expression: Any, value: Any) -> None:
    template = _template(
        Parameters={
            "Colour": {"Type": "String", "Default": "green"},
            "Count": {"Type": "Number", "Default": 3},
            "Names": {"Type": "CommaDelimitedList", "Default": "x, y"},
        },
        Conditions={
            "IsGreen": {"Fn::Equals": [{"Ref": "Colour"}, "green"]},
            "IsOther": {"Fn::Not": [{"Condition": "IsGreen"}]},
        },
        Mappings={"Sizes": {"green": {"wide": 7}}},
    )
    assert template.resolve(expression) == value


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ({"Ref": "Nobody"}, "Nobody is neither a parameter nor a resource"),
        ({"Fn::GetAtt": ["Thing", "Colour"]}, "no attribute Colour of Thing"),
        ({"Fn::GetAtt": ["Queer", "Arn"]}, "Queer is a AWS::Other::Type, which the local stack does not have"),
        ({"Fn::If": ["Nowhere", 1, 2]}, "no condition Nowhere"),
        ({"Fn::Cidr": ["a"]}, "Fn::Cidr is not supported"),
        ({"Fn::Join": ["-"]}, "Fn::Join needs a list of 2"),
        ({"Fn::Select": [2, ["a"]]}, "no entry 2"),
        ({"Fn::FindInMap": ["a", "b", "c"]}, "no mapping a.b.c"),
        ({"Fn::Sub": "${List}"}, "cannot stand inside a text"),
    ],
)
def test_what_cannot_be_evaluated_is_an_error_that_names_it(expression: Any, said: str) -> None:
    template = _template(
        Resources={"Thing": THING, "Queer": {"Type": "AWS::Other::Type"}},
        Parameters={"List": {"Type": "CommaDelimitedList", "Default": "a"}},
    )
    with pytest.raises(TemplateError, match=said):
        template.resolve(expression)


@given(VALUES)
def test_values_without_intrinsics_stay_as_they_are(value: Any) -> None:
    assert _template().resolve({"value": value, "beside": 1}) == {"value": value, "beside": 1}


@pytest.mark.parametrize(
    ("declared", "given", "said"),
    [
        ({}, {"Colour": "red"}, "no parameter Colour"),
        ({"Colour": {"Type": "String"}}, {}, "Colour has no default"),
        ({"Colour": {"Type": "String", "AllowedValues": ["red"], "Default": "red"}}, {"Colour": "blue"}, "one of red"),
        ({"Colour": {"Type": "AWS::EC2::VPC::Id", "Default": "x"}}, {}, "has the type AWS::EC2::VPC::Id"),
    ],
)
def test_parameters_must_be_known_given_and_allowed(declared: Any, given: dict[str, str], said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        _template(given, Parameters=declared)


def test_a_resource_whose_condition_does_not_hold_does_not_exist() -> None:
    template = _template(
        Conditions={"Never": {"Fn::Equals": ["a", "b"]}}, Resources={"Thing": {**THING, "Condition": "Never"}}
    )
    assert template.resources == {}


def test_globals_merge_into_functions_and_the_functions_own_values_win() -> None:
    template = _template(
        Globals={"Function": {"Timeout": 5, "Handler": "app.go", "Environment": {"Variables": {"A": "1", "B": "1"}}}},
        Resources={
            "F": {
                "Type": "AWS::Serverless::Function",
                "Properties": {"CodeUri": "f", "Timeout": 7, "Environment": {"Variables": {"B": "2", "C": True}}},
            }
        },
    )
    (function,) = triggers.functions(template)
    assert (function.timeout_s, function.module, function.handler, function.memory_mb) == (7, "app", "go", 128)
    assert function.environment == {"A": "1", "B": "2", "C": "true"}


def test_tables_queues_and_secrets_are_viewed_with_their_keys_and_names() -> None:
    template = Template.load(SMALL)
    (table,) = resources.tables(template)
    assert (table.name, table.hash_key, table.range_key, table.ttl_attribute) == (
        "provenloop-local-Things", "pk", "sk", "ttl",
    )  # fmt: skip
    assert table.attributes == {"pk": "S", "sk": "S", "due_pk": "S", "due_at": "N"}
    assert table.indexes == (resources.Index("due", "due_pk", "due_at", "INCLUDE", ("row",)),)
    work = {queue.logical_id: queue for queue in resources.queues(template)}["Work"]
    assert (work.name, work.fifo, work.visibility_s, work.max_receive_count) == (
        "provenloop-local-work.fifo", True, 60, 2,
    )  # fmt: skip
    assert work.dead_letter_arn == "arn:aws:sqs:us-east-1:123456789012:provenloop-local-DeadWork.fifo"
    assert [secret.name for secret in resources.secrets(template)] == ["provenloop-local-Key"]


def test_dead_letter_queues_come_before_the_queues_that_point_at_them() -> None:
    names = [queue.logical_id for queue in resources.queues(Template.load(SMALL))]
    assert names.index("DeadWork") < names.index("Work")


def test_a_property_without_a_value_is_absent() -> None:
    properties = {"Name": {"Ref": "AWS::NoValue"}, "Size": {"Fn::If": ["Never", 7, {"Ref": "AWS::NoValue"}]}}
    template = _template(
        Conditions={"Never": {"Fn::Equals": ["a", "b"]}}, Resources={"X": {"Type": "X", "Properties": properties}}
    )
    thing = template.resources["X"]
    assert (thing.get("Name"), thing.get("Size", 5), thing.get("Other")) == (None, 5, None)
    with pytest.raises(TemplateError, match="X has no Size"):
        thing.need("Size")


def test_what_the_stack_lacks_is_listed() -> None:
    template = Template.load(SMALL)
    assert resources.unsupported(template) == ("Warehouse (AWS::Kinesis::Stream)",)
    assert triggers.undelivered(template) == ("EchoFunction.Uploads (S3)",)


def test_routes_queues_and_schedules_are_viewed_by_function() -> None:
    template = Template.load(SMALL, {"Rate": "rate(1 hour)"})
    assert {route.key: route.function for route in triggers.routes(template)} == {
        "POST /echo": "EchoFunction",
        "GET /things/{id}": "EchoFunction",
        "GET /things/special": "EchoFunction",
        "ANY /files/{path+}": "EchoFunction",
        "$default": "EchoFunction",
        "PUT /kept/{id}": "KeepFunction",
    }
    assert [(source.function, source.batch_size) for source in triggers.queue_sources(template)] == [
        ("WorkerFunction", 10),
        ("WorkerFunction", 25),
    ]
    assert [(schedule.name, schedule.every_ms) for schedule in triggers.schedules(template)] == [("Beat", 3_600_000)]


@pytest.mark.parametrize(
    "expression", ["rate(1 minutes)", "rate(5 minute)", "rate(0 minutes)", "cron(0 12 * * ? *)", "5"]
)
def test_a_schedule_that_is_no_rate_is_an_error(expression: str) -> None:
    with pytest.raises(TemplateError, match="is not a rate"):
        triggers.schedules(Template.load(SMALL, {"Rate": expression}))


def _with_function_event(event: dict[str, Any]) -> Template:
    function = {"Type": triggers.FUNCTION, "Properties": {"CodeUri": "f", "Handler": "a.b", "Events": {"E": event}}}
    return _template(Resources={"F": function})


def test_a_switched_off_trigger_is_left_out() -> None:
    rule = {"Type": "Schedule", "Properties": {"Schedule": "rate(1 day)", "Enabled": False}}
    scheduled = {"Type": "ScheduleV2", "Properties": {"ScheduleExpression": "rate(1 day)", "State": "DISABLED"}}
    source = {"Type": "SQS", "Properties": {"Queue": "arn", "Enabled": False}}
    assert triggers.schedules(_with_function_event(rule)) == ()
    assert triggers.schedules(_with_function_event(scheduled)) == ()
    assert triggers.queue_sources(_with_function_event(source)) == ()


@pytest.mark.parametrize(
    ("kind", "properties", "said"),
    [
        ("AWS::DynamoDB::Table", {"LocalSecondaryIndexes": [{}]}, "local secondary indexes"),
        ("AWS::SecretsManager::Secret", {"SecretString": "x"}, "does not belong in a template"),
        ("AWS::Serverless::HttpApi", {"CorsConfiguration": {}}, "CorsConfiguration is not supported"),
    ],
)
def test_a_property_that_would_change_behaviour_unseen_is_refused(kind: str, properties: Any, said: str) -> None:
    template = _template(Resources={"X": {"Type": kind, "Properties": properties}})
    with pytest.raises(TemplateError, match=said):
        assert (resources.tables(template), resources.secrets(template), triggers.routes(template)) is None
