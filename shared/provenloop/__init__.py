"""Provenloop: a governed self-improvement loop for hosted AI agents.

The package is a house of rooms, and imports point one way only (import-linter checks it)::

    functions/*/app.py -> entry -> adapters -> services -> (analyzers, lessons, recipes) -> domain

- ``domain``: grains, recommendations, the lifecycle table, the audit chain, policy, errors. Pure; only the
  standard library.
- ``analyzers``: one file each; a read-only view in, drafts out.
- ``services``: the use cases in verbs. They know ports, not AWS.
- ``adapters``: the outside world behind those ports: DynamoDB, SQS, Secrets Manager.
- ``entry``: wiring, HTTP, the principal of a request, the error map, the local stack. The only room that reads the
  clock, the environment and randomness.
"""

__version__ = "0.1.0"
