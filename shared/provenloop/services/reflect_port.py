"""What a pass is given of models: which one makes findings, and which one checks whether evidence bears them out."""

from __future__ import annotations

from dataclasses import dataclass

from provenloop.services.model_port import ModelKey, ModelProvider


@dataclass(frozen=True, slots=True)
class ReflectionModel:
    """One model: where it is asked, with which key, and its name there."""

    provider: ModelProvider
    key: ModelKey
    model: str


@dataclass(frozen=True, slots=True)
class ReflectionModels:
    """``main`` finds, judges and explains; ``ground`` checks whether the evidence bears a finding out."""

    main: ReflectionModel
    ground: ReflectionModel
