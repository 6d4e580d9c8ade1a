"""What stands behind external analyzers: for each that is registered, the adapter its endpoint asks for.

Part of ``Wiring``. Who is registered is said by the host policy or by whoever begins a local stack, never by a request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from provenloop.domain.recommendation import family_of
from provenloop.domain.registered import COMMAND, RegisteredAnalyzer
from provenloop.entry.settings import Settings, variables_of_commands
from provenloop.services.external_port import ExternalAnalyzer, ExternalAnalyzers


class ExternalWiring:
    """The part of ``Wiring`` that passes use to ask external analyzers."""

    settings: Settings
    now: Callable[[], int]

    @property
    def external_analyzers(self) -> ExternalAnalyzers:
        """Gives what stands behind a registration."""
        return self._external_analyzer

    @cached_property
    def commands(self) -> tuple[RegisteredAnalyzer, ...]:
        """The external analyzers that a local stack was begun with."""
        if not self.settings.analyzer_commands:
            return ()
        from provenloop.services.name_commands import registered_commands

        return registered_commands(self.settings.analyzer_commands, self.external_analyzers)

    def _external_analyzer(self, registered: RegisteredAnalyzer) -> ExternalAnalyzer:
        endpoint = registered.endpoint
        if endpoint.startswith(COMMAND):
            from provenloop.adapters.external_command import CommandAnalyzer

            return CommandAnalyzer(endpoint.removeprefix(COMMAND), variables_of_commands())
        if endpoint.startswith("arn:"):
            from provenloop.adapters.external_lambda import LambdaAnalyzer

            return LambdaAnalyzer(endpoint)
        from provenloop.adapters.external_https import HttpsAnalyzer
        from provenloop.adapters.external_keys import external_key

        key = partial(external_key, self.settings.external_keys_secret, family_of(registered.id))
        return HttpsAnalyzer(registered.id, endpoint, key, self.now)
