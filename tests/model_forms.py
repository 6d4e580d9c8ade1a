"""The forms of API that ``tests.model_server`` speaks: Anthropic's messages, gateways' chat completions, and Converse.

What is refused is what the real ones refuse of what we send; a message has the parts that they send.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from provenloop.domain.model_cost import Usage

MESSAGES = "/v1/messages"
CHAT = "/v1/chat/completions"
Body = Mapping[str, Any]
_FINISHED = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}


def is_wrong(path: str, headers: Mapping[str, str], body: Body) -> bool:
    """Whether the API refuses a request for its form."""
    if _is_converse(path):
        return _is_wrong_converse(body)
    if {"model", "messages"} - body.keys() or not {"max_tokens", "max_completion_tokens"} & body.keys():
        return True
    if path == CHAT:
        return _is_wrong_chat(body)
    return path != MESSAGES or "anthropic-version" not in headers or _is_wrong_message(body)


def instructions(body: Body) -> str:
    """What a request says as the system."""
    if "system" in body:
        return "".join(block["text"] for block in body["system"] if "text" in block)
    return "".join(turn["content"] for turn in body["messages"] if turn["role"] == "system")


def blocks(body: Body) -> list[str]:
    """The texts of a request's user turn."""
    turns = [turn for turn in body["messages"] if turn["role"] == "user"]
    return [block["text"] for turn in turns for block in turn["content"]]


def as_told(path: str, charged: Usage) -> Usage:
    """What an API can say of the tokens of a call: gateways do not tell of what was kept for the next one."""
    if path != CHAT:
        return charged
    return Usage(
        charged.prompt_tokens - charged.cache_read_tokens,
        charged.output_tokens,
        cache_read_tokens=charged.cache_read_tokens,
    )


def message(path: str, body: Body, text: str | None, stop_reason: str, model: str | None, charged: Usage) -> bytes:
    """An answer."""
    if _is_converse(path):
        return json.dumps(_converse(body, text, stop_reason, charged)).encode()
    made = _chat if path == CHAT else _message
    return json.dumps(made(text, stop_reason, model or body["model"], charged)).encode()


def _is_converse(path: str) -> bool:
    return path.startswith("/model/") and path.endswith("/converse")


def _is_wrong_message(body: Body) -> bool:
    wanted = body.get("output_config", {})
    if body["model"].startswith("claude-haiku-4-5") and "effort" in wanted:
        return True
    schema = wanted.get("format", {}).get("schema")
    return not isinstance(schema, dict) or not _is_closed(schema)


def _is_wrong_chat(body: Body) -> bool:
    if body.keys() - {"model", "max_tokens", "max_completion_tokens", "messages", "temperature", "response_format"}:
        return True
    wanted = body["response_format"]
    if wanted["type"] == "json_object":
        return "JSON" not in instructions(body)
    schema = wanted["json_schema"]
    return schema["strict"] is not True or not schema["name"] or not _is_closed(schema["schema"])


def _is_wrong_converse(body: Body) -> bool:
    if "toolConfig" in body:
        [tool] = body["toolConfig"]["tools"]
        return bool(body["toolConfig"]["toolChoice"] != {"tool": {"name": tool["toolSpec"]["name"]}})
    form = body["outputConfig"]["textFormat"]
    return form["type"] != "json_schema" or not _is_closed(json.loads(form["structure"]["jsonSchema"]["schema"]))


def _is_closed(schema: Mapping[str, Any]) -> bool:
    """Structured output wants every object to say that it has no further fields, and all of its own."""
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        return False
    nested = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return all(_is_closed(part) for part in nested)


def _message(text: str | None, stop_reason: str, model: str, charged: Usage) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": charged.input_tokens,
            "output_tokens": charged.output_tokens,
            "cache_creation_input_tokens": charged.cache_write_tokens + charged.cache_write_1h_tokens,
            "cache_read_input_tokens": charged.cache_read_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": charged.cache_write_tokens,
                "ephemeral_1h_input_tokens": charged.cache_write_1h_tokens,
            },
        },
    }


def _chat(text: str | None, stop_reason: str, model: str, charged: Usage) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text or None, "refusal": None},
                "finish_reason": _FINISHED[stop_reason],
            }
        ],
        "usage": {
            "prompt_tokens": charged.prompt_tokens,
            "completion_tokens": charged.output_tokens,
            "total_tokens": charged.prompt_tokens + charged.output_tokens,
            "prompt_tokens_details": {"cached_tokens": charged.cache_read_tokens},
        },
    }


def _converse(body: Body, text: str | None, stop_reason: str, charged: Usage) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"text": text}] if text else []
    if "toolConfig" in body:
        content.append({"toolUse": {"toolUseId": "t1", "name": "answer", "input": json.loads(text or "{}")}})
        stop_reason = "tool_use"
    written = charged.cache_write_tokens + charged.cache_write_1h_tokens
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop_reason,
        "usage": {
            "inputTokens": charged.input_tokens,
            "outputTokens": charged.output_tokens,
            "totalTokens": charged.prompt_tokens + charged.output_tokens,
            "cacheReadInputTokens": charged.cache_read_tokens,
            "cacheWriteInputTokens": written,
            "cacheDetails": [
                {"ttl": "5m", "inputTokens": charged.cache_write_tokens},
                {"ttl": "1h", "inputTokens": charged.cache_write_1h_tokens},
            ],
        },
        "metrics": {"latencyMs": 1},
    }
