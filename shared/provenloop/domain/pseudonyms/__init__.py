"""Pseudonyms: what a text says of people, replaced by placeholders before a model sees it, and put back afterwards."""

from __future__ import annotations

from provenloop.domain.pseudonyms.fields import people_in
from provenloop.domain.pseudonyms.mapping import KINDS, Pseudonyms

__all__ = ["KINDS", "Pseudonyms", "people_in"]
