"""Folding of path-shaped categories: which card a line merges into, and where the concrete target stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenloop.domain.address import Addresses
from provenloop.lessons.card import card_id
from provenloop.lessons.folding import DANGEROUS_BASH, FACTGATE, SECRET_PATH, fold
from tests.builders import KEY
from tests.lessons import make_line

FOLDED: list[tuple[str, str, dict[str, Any], str, str | None, str | None]] = [
    # category, signature, evidence -> key; signature and target that stay in the evidence
    ("edit-before-factgate", "edit-before-factgate", {"target": "src/a.py"}, FACTGATE, None, "src/a.py"),
    ("edit-before-factgate:src/a.py", "edit-before-factgate", {}, FACTGATE, None, "src/a.py"),
    ("factgate-deny", "edit-before-factgate", {"target": "src/b.py"}, FACTGATE, None, "src/b.py"),
    ("Factgate-Deny", "src/c.py", {}, FACTGATE, None, "src/c.py"),
    ("edit-before-secret-path", "/home/ann/.env", {}, SECRET_PATH, "/home/ann/.env", None),
    ("edit-before-secret-path:/etc/shadow", "edit-before-secret-path", {}, SECRET_PATH, "/etc/shadow", None),
    ("edit-before-secret-path/etc/shadow", "edit-before-secret-path", {}, SECRET_PATH, "/etc/shadow", None),
    ("secret-path", "x", {"signature": "/run/secrets/Db"}, SECRET_PATH, "/run/secrets/Db", None),
    ("edit-before-/srv/Keys/id_rsa", "edit-before-secret-path", {}, SECRET_PATH, "/srv/Keys/id_rsa", None),
    ("edit-before-/srv/app.py", "edit-before-factgate", {"target": "/srv/app.py"}, FACTGATE, None, "/srv/app.py"),
    ("dangerous-bash", "rm -rf /", {}, DANGEROUS_BASH, "rm -rf /", None),
    ("dangerous-bash: dd if=/dev/zero", "dangerous-bash", {}, DANGEROUS_BASH, "dd if=/dev/zero", None),
    ("  DANGEROUS-BASH ", "mkfs", {"signature": "mkfs /dev/sda"}, DANGEROUS_BASH, "mkfs /dev/sda", None),
]


@pytest.mark.parametrize(("category", "signature", "evidence", "key", "kept", "target"), FOLDED)
def test_a_path_shaped_category_folds_into_its_key_and_the_target_stays_in_the_evidence(
    category: str, signature: str, evidence: dict[str, Any], key: str, kept: str | None, target: str | None
) -> None:
    folded = fold(make_line(category=category, signature=signature, evidence=evidence))
    assert folded.key == (key, key)
    assert (folded.evidence.signature, folded.evidence.target) == (kept, target)


@pytest.mark.parametrize(
    "category", ["migrations", "dangerous-bashful", "edit-before", "edit-before-review", "src/secret-path", "factgate"]
)
def test_any_other_category_is_its_own_and_keeps_its_signature(category: str) -> None:
    folded = fold(make_line(category=category, signature="Sig/One", evidence={"target": "t"}))
    assert folded.key == (category, "Sig/One")
    assert (folded.evidence.signature, folded.evidence.target) == (None, "t")


def test_a_memory_can_have_folds_of_its_own_that_go_first() -> None:
    own = {"deploy-on": "deploy-day", "dangerous-bash": "shell"}
    friday = fold(make_line(category="deploy-on:friday", signature="x"), own)
    assert (friday.key, friday.evidence.signature) == (("deploy-day", "deploy-day"), "x")
    assert fold(make_line(category="dangerous-bash"), own).key == ("shell", "shell")


@given(st.text(max_size=12), st.text(max_size=12), st.sampled_from(["dangerous-bash", "secret-path", "factgate-deny"]))
def test_whatever_stands_behind_the_category_it_is_one_card(one: str, other: str, category: str) -> None:
    keys = {fold(make_line(category=f"{category}:{text}", signature=text or "s")).key for text in (one, other)}
    assert len(keys) == 1


def test_a_card_is_of_one_project_one_key_and_one_memory() -> None:
    key = fold(make_line()).key
    other = fold(make_line(signature="other")).key
    mine, theirs = Addresses(KEY), Addresses(bytes(32))
    ids = {
        card_id(mine, "shop", key),
        card_id(mine, "shop", other),
        card_id(mine, "till", key),
        card_id(theirs, "shop", key),
    }
    assert len(ids) == 4
    assert all(len(each) == 26 and each.islower() for each in ids)
