"""Loop API: reads, decisions that change no grain, memories, tokens, and the answer to unknown paths."""

from provenloop.entry.http import build_app

lambda_handler = build_app("loop_api")
