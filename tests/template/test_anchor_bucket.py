"""The bucket of anchors: what is in it stays as it is, for as long as the parameters say."""

from provenloop.entry.local.resources import buckets
from provenloop.entry.local.template import Template
from tests.template.reading import DOCUMENT, ROOT, TEMPLATE

KEY = "arn:aws:kms:us-east-1:123456789012:key/anchors"


def test_objects_are_locked_from_the_first_moment_for_as_long_as_the_parameters_say() -> None:
    resource = TEMPLATE.resources["AnchorBucket"]
    (bucket,) = (each for each in buckets(TEMPLATE) if each.name == TEMPLATE.ref("AnchorBucket"))

    assert bucket.retention == {"Mode": TEMPLATE.ref("AnchorLockMode"), "Days": TEMPLATE.ref("AnchorRetentionDays")}
    assert resource.get("VersioningConfiguration") == {"Status": "Enabled"}
    assert set(resource.get("PublicAccessBlockConfiguration").values()) == {True}
    body = DOCUMENT["Resources"]["AnchorBucket"]
    assert (body["DeletionPolicy"], body["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_nobody_may_put_an_object_that_might_be_there_already() -> None:
    policy = TEMPLATE.resources["AnchorBucketPolicy"]
    once = next(each for each in policy.need("PolicyDocument")["Statement"] if each["Sid"] == "OncePerKey")

    assert (once["Effect"], once["Principal"], once["Action"]) == ("Deny", "*", "s3:PutObject")
    assert once["Condition"] == {"Null": {"s3:if-none-match": "true"}}


def test_only_where_there_is_a_key_anchor_may_sign_and_only_with_that_one() -> None:
    def signing(template: Template) -> list[object]:
        (policy,) = template.resources["AnchorFunction"].need("Policies")
        return [each["Resource"] for each in policy["Statement"] if each["Action"] == "kms:Sign"]

    assert signing(TEMPLATE) == []
    assert signing(Template(DOCUMENT, folder=ROOT, parameters={"AnchorKeyArn": KEY})) == [KEY]
