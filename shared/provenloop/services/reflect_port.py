"""What a pass is given of models: which one makes findings, and which one checks whether evidence bears them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from provenloop.domain.quoting import Quoted
from provenloop.services.model_port import ModelKey, ModelProvider


@dataclass(frozen=True, slots=True)
class ReflectionModel:
    """One model: where it is asked, with which key, its name there, and what it is sent of texts that it is asked about
    (which may be longer than they are).
    """

    provider: ModelProvider
    key: ModelKey
    model: str
    shown: Callable[[Sequence[Quoted]], Sequence[Quoted]] = tuple


@dataclass(frozen=True, slots=True)
class ReflectionModels:
    """``main`` finds, judges and explains; ``ground`` checks whether the evidence bears a finding out."""

    main: ReflectionModel
    ground: ReflectionModel
