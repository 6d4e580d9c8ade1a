"""Lessons: what guards report, the cards it merges into, and what people decide about them."""

from provenloop.entry.http import build_app

lambda_handler = build_app("lessons")
