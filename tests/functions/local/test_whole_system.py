"""The stack of the system itself: its template is carried out whole, its functions load and answer."""

from __future__ import annotations

from provenloop.entry.local.stack import LocalStack


def test_nothing_of_the_template_is_left_out(stack: LocalStack) -> None:
    assert stack.unsupported == ()


def test_every_function_loads(stack: LocalStack) -> None:
    stack.functions.load()


def test_an_open_route_answers_without_a_token(stack: LocalStack) -> None:
    assert stack.client.get("/health").status_code == 200


def test_an_unknown_path_is_answered_by_a_function(stack: LocalStack) -> None:
    answer = stack.client.get("/nowhere")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def test_the_dev_token_is_the_bootstrap_admins(stack: LocalStack) -> None:
    assert stack.client.get("/v1/memories").status_code == 401
    with stack.client_as(stack.dev_token) as admin:
        assert admin.put("/v1/memories/first").status_code in {200, 201}
        assert "first" in admin.get("/v1/memories").text


def test_each_test_begins_with_empty_tables(stack: LocalStack) -> None:
    assert stack.items() == {"Table": []}


def test_a_tick_with_nothing_due_sends_no_pass(stack: LocalStack) -> None:
    report = stack.tick()
    assert (report.fired, report.failed, report.batches) == (["DispatchFunction.Tick", "AnchorFunction.Daily"], [], 0)
