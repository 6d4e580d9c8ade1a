"""An audit entry comes into a transaction one way only, so that its event cannot be forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import provenloop.services
from provenloop.domain.audit import ChainHead, Note, engine_author, next_entry
from provenloop.domain.bus_events import event_of
from provenloop.services.outbox import audited
from provenloop.services.ports import Put
from tests.builders import NOW

SERVICES = [ast.parse(file.read_text("utf-8")) for file in Path(provenloop.services.__file__).parent.glob("*.py")]
FUNCTIONS = [node for tree in SERVICES for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def is_of_entries(annotation: ast.expr | None) -> bool:
    """Whether something is an audit entry, or a step of a chain that has one."""
    return annotation is not None and any(name in ast.unparse(annotation) for name in ("AuditEntry", "ChainStep"))


MAKERS = {"next_entry", *(function.name for function in FUNCTIONS if is_of_entries(function.returns))}


def calls_in(node: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else ast.unparse(each.func)
            if name in names:
                yield each


def entries_in(function: ast.FunctionDef) -> set[str]:
    """Names in one function that may hold an audit entry: arguments of that type, and what a maker gave."""
    bound = {argument.arg for argument in function.args.args if is_of_entries(argument.annotation)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(calls_in(node.value, MAKERS)):
            bound |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return bound


def names_in(node: ast.AST) -> set[str]:
    """Names that stand in an expression, but for what only goes into the head of a chain."""
    if any(isinstance(node, ast.Call) and call is node for call in calls_in(node, {"head_after"})):
        return set()
    own = {node.id} if isinstance(node, ast.Name) else set[str]()
    return own.union(*(names_in(child) for child in ast.iter_child_nodes(node)))


def test_no_transaction_puts_an_entry_beside_the_one_function_that_adds_its_event() -> None:
    beside = [
        f"{function.name}: {ast.unparse(put)}"
        for function in FUNCTIONS
        if function.name != audited.__name__
        for put in calls_in(function, {"Put"})
        if entries_in(function) & names_in(put.args[0]) or any(calls_in(put, MAKERS))
    ]
    assert beside == []


def test_whatever_makes_an_entry_was_looked_at() -> None:
    made = [function.name for function in FUNCTIONS if any(calls_in(function, MAKERS))]
    audits = [function.name for function in FUNCTIONS if any(calls_in(function, {"audited"}))]
    assert {"transition", "chain_step"} <= MAKERS
    assert len(made) >= len(audits) >= 8


def test_the_writes_are_the_entry_its_note_and_its_event() -> None:
    note = Note("a" * 26, 1, "00" * 16, "so")
    by = engine_author("engine:x")
    entry = next_entry(ChainHead(), subject="a" * 26, before="", after="pending", by=by, at=NOW, note=note)
    expired = next_entry(ChainHead(), subject="a" * 26, before="pending", after="expired", by=by, at=NOW)
    event = event_of(entry)
    assert event is not None
    assert audited(entry, note) == [Put(entry), Put(note), Put(event)]
    assert audited(entry) == [Put(entry), Put(event)]
    assert audited(expired) == [Put(expired)]
