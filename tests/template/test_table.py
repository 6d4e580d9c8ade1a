"""The table is the one that the key module and the readers expect, and cannot be lost by accident."""

from provenloop.entry.local.resources import Index, tables
from tests.template.reading import DOCUMENT, TEMPLATE


def test_there_is_one_table_with_a_text_partition_key_and_a_text_sort_key() -> None:
    (table,) = tables(TEMPLATE)

    assert (table.hash_key, table.range_key) == ("pk", "sk")
    assert table.attributes["pk"] == table.attributes["sk"] == "S"


def test_the_indexes_have_the_keys_and_projections_that_the_readers_use() -> None:
    (table,) = tables(TEMPLATE)

    assert set(table.indexes) == {
        Index("queue", "queue_pk", "queue_sk", "INCLUDE", ("row",)),
        Index("due", "wake", "wake_at", "KEYS_ONLY", ()),
        Index("bytime", "time_pk", "time_sk", "KEYS_ONLY", ()),
    }
    assert {name: kind for name, kind in table.attributes.items() if kind == "N"} == {"wake_at": "N"}


def test_rows_expire_by_their_ttl() -> None:
    (table,) = tables(TEMPLATE)

    assert table.ttl_attribute == "ttl"


def test_the_table_is_paid_by_request_and_can_be_restored_to_any_second() -> None:
    (table,) = TEMPLATE.of_kind("AWS::DynamoDB::Table")

    assert table.get("BillingMode") == "PAY_PER_REQUEST"
    assert table.get("PointInTimeRecoverySpecification") == {"PointInTimeRecoveryEnabled": True}


def test_neither_deleting_the_stack_nor_replacing_the_table_deletes_what_it_holds() -> None:
    body = DOCUMENT["Resources"]["Table"]

    assert (body["DeletionPolicy"], body["UpdateReplacePolicy"]) == ("Retain", "Retain")
