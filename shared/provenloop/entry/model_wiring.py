"""Which models are asked: what stands behind the settings that name them. Part of ``Wiring``.

A setting, never a request, says which provider is asked. All is made when it is first used, for the SDK of a provider
is slow to import.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from provenloop.domain.errors import InternalError
from provenloop.domain.model_spec import ModelSpec, ProviderName
from provenloop.domain.policy import HostPolicy
from provenloop.entry.settings import Settings, variables_of_commands
from provenloop.entry.telemetry import log_error, tell_lost_rows
from provenloop.services.model_port import ModelAccess, ModelKey, ModelProvider
from provenloop.services.reflect_port import ReflectionModel, ReflectionModels


class ModelWiring(ABC):
    """The part of ``Wiring`` that functions use which ask models."""

    settings: Settings

    @property
    @abstractmethod
    def policy(self) -> HostPolicy:
        """The host policy in force."""

    @cached_property
    def _providers(self) -> dict[ProviderName, ModelProvider]:
        return {}

    def provider_of(self, spec: ModelSpec) -> ModelProvider:
        """Where a model is asked.

        Raises:
            InternalError: the address of its provider is none, or not set.
        """
        if spec.provider not in self._providers:
            self._providers[spec.provider] = self._made(spec.provider)
        return self._providers[spec.provider]

    def _made(self, provider: ProviderName) -> ModelProvider:
        if provider == "bedrock":
            from provenloop.adapters.bedrock_model import BedrockModel

            return BedrockModel()
        if provider == "openai":
            from provenloop.adapters.openai_model import OpenAiModel

            return OpenAiModel(self.settings.gateway_url)
        from provenloop.adapters.anthropic_model import AnthropicModel

        return AnthropicModel(self.settings.model_url)

    def key_of(self, spec: ModelSpec) -> ModelKey:
        """The installation's key for a model."""
        from provenloop.adapters.model_key import NoKeyNeeded, SecretModelKey

        if spec.provider == "bedrock":
            return NoKeyNeeded()
        return SecretModelKey(self.settings.model_key_secret, spec.provider)

    def models(self, spec: ModelSpec, own_key: str | None = None) -> ModelAccess:
        """A model for one request, under the host policy, with the caller's own key where it brought one."""
        from provenloop.services.pseudonymous_model import ModelUnderPolicy

        provider = ModelUnderPolicy(self.provider_of(spec), lambda: self.policy.policy)
        return ModelAccess(provider, self.key_of(spec), own_key, tell_lost_rows, self._may_ask)

    def _may_ask(self) -> bool:
        """Not while nobody knows which names the host policy lists."""
        return self.policy.policy.pseudonymize.is_known

    @property
    def reflection_models(self) -> ReflectionModels | None:
        """The models of passes, which put them under the host policy; None where none is named, or what is named
        cannot be, which the log tells of.
        """
        try:
            return self._reflection_models()
        except InternalError as error:
            log_error("reflection_models", error, detail=error.message)
            return None

    def _reflection_models(self) -> ReflectionModels | None:
        if self.settings.llm_command is not None:
            return _behind_command(self.settings.llm_command)
        if self.settings.model is None:
            return None
        main, ground = self._asked(self.settings.model), self.settings.ground_model
        return ReflectionModels(main, main if ground is None else self._asked(ground))

    def _asked(self, spec: ModelSpec) -> ReflectionModel:
        return ReflectionModel(self.provider_of(spec), self.key_of(spec), spec.model)


def _behind_command(command: str) -> ReflectionModels:
    """A local stack's; a new one each time, so that a command may change."""
    from provenloop.adapters.command_model import UNSPECIFIED, CommandModel
    from provenloop.adapters.model_key import NoKeyNeeded

    model = ReflectionModel(CommandModel(command, variables_of_commands()), NoKeyNeeded(), UNSPECIFIED)
    return ReflectionModels(model, model)
