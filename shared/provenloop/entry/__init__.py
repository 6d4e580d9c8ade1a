"""Entry: where requests come in. Wiring, HTTP, credentials, the error map, request and reply models; no rules."""
