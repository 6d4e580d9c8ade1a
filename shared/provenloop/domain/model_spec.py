"""Which model is asked, and where: the text ``provider:model`` of a setting, with Anthropic's API as the default."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from provenloop.domain.errors import ParameterError

ProviderName = Literal["anthropic", "bedrock", "openai"]
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)
DEFAULT_PROVIDER: ProviderName = "anthropic"
#: Names of models have no blanks; those of Bedrock and of gateways may have colons and slashes.
_MODEL = re.compile(r"[!-~]{1,128}\Z")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model by its name at a provider."""

    provider: ProviderName
    model: str


def read_spec(text: str, *, field: str) -> ModelSpec:
    """The model that a setting names.

    Args:
        field: what the setting is called, for the error.

    Raises:
        ParameterError: it is neither ``model`` nor ``provider:model`` with a known provider.
    """
    before, colon, after = text.strip().partition(":")
    model = after if colon else before
    if not _MODEL.match(model):
        raise ParameterError("a model is named by 1 to 128 printable ASCII characters without blanks", field=field)
    if not colon:
        return ModelSpec(DEFAULT_PROVIDER, model)
    known = {name: name for name in PROVIDERS}
    if before not in known:
        wanted = f"provider:model, where the provider is one of {', '.join(PROVIDERS)}"
        raise ParameterError(f"what stands before the first colon is no provider; {wanted}", field=field)
    return ModelSpec(known[before], model)
