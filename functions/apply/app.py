"""Apply: the only function through which a decision reaches grains."""

from provenloop.entry.http import build_app

lambda_handler = build_app("apply")
