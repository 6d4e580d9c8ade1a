"""Forty days of one memory: two agents, a reviewer and an operator, told day by day and checked line by line."""

from provenloop.entry.local.demo.forty_days.tell import tell

__all__ = ["tell"]
