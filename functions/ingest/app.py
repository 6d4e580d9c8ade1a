"""Ingest: POST .../events. May write grains, the log and its head."""

from provenloop.entry.http import build_app

lambda_handler = build_app("ingest")
