"""The local stack: the deployed system in one process, built from template.yaml itself.

What lives here: the template reader (``template``, ``intrinsics``, ``naming``, ``resources``, ``triggers``), AWS made
of moto (``aws``), the functions as Lambda would run them (``functions``), the HTTP API in front of them (``routing``,
``gateway``), what fires without HTTP (``tick``), all of it together (``stack``), and the server that ``make dev``
starts (``server``, ``control``, ``commands``).

Invariants: tables, queues, routes, schedules and environment come from the template and from nowhere else, so tests and
deployment cannot disagree; what the template has and this stack lacks is listed, not dropped; the functions are the
deployed ones, unchanged, and see only what Lambda would give them; moto is imported in ``aws`` alone, so that a
deployed function never needs it.
"""
