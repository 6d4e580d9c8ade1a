"""Where the local stack is: a region, an account and keys that exist nowhere."""

from __future__ import annotations

REGION = "us-east-1"
ACCOUNT = "123456789012"
STACK_NAME = "provenloop-local"
#: The keys the functions hold. The emulator takes any.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_SESSION_TOKEN": "local"}
