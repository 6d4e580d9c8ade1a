"""Parameters as somebody sets them, checked against an analyzer's manifest when they are set, never at run time."""

from __future__ import annotations

from collections.abc import Mapping

from provenloop.analyzers.contract import Manifest, Parameter, Parameters, ParameterValue
from provenloop.domain.errors import ParameterError


def parse_parameters(manifest: Manifest, given: object) -> Parameters:
    """Every parameter of a manifest: as given, and where it is not given at its default.

    Args:
        manifest: of the analyzer whose parameters they are.
        given: a JSON object. An int is fine for a float; true is no number, 3.0 is no int.

    Raises:
        ParameterError: no object, a name the manifest does not have, a wrong type, out of range, too long, or none of
            the choices; its field is ``parameters.<name>``.
    """
    if not isinstance(given, Mapping):
        raise ParameterError("an object of names and values", field="parameters")
    known = {parameter.name: parameter for parameter in manifest.parameters}
    for name in given:
        if name not in known:
            names = ", ".join(known) or "it has none"
            raise ParameterError(f"{manifest.id} has no such parameter; {names}", field=f"parameters.{name}")
    return {
        name: _parsed(parameter, given[name]) if name in given else parameter.default
        for name, parameter in known.items()
    }


def _parsed(parameter: Parameter, value: object) -> ParameterValue:
    field = f"parameters.{parameter.name}"
    if parameter.kind == "bool":
        if not isinstance(value, bool):
            raise ParameterError("true or false", field=field)
        return value
    if parameter.kind == "str":
        return _text(parameter, value, field)
    return _number(parameter, value, field)


def _text(parameter: Parameter, value: object, field: str) -> str:
    if not isinstance(value, str):
        raise ParameterError("a text", field=field)
    if parameter.choices and value not in parameter.choices:
        named = ", ".join(choice or '""' for choice in parameter.choices)
        raise ParameterError(f"one of {named}", field=field)
    if parameter.high is not None and len(value) > parameter.high:
        raise ParameterError(f"at most {parameter.high} characters", field=field)
    return value


def _number(parameter: Parameter, value: object, field: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError("a number", field=field)
    if parameter.kind == "int" and not isinstance(value, int):
        raise ParameterError("a whole number", field=field)
    # Written so that NaN, which compares to nothing, is refused as well.
    low, high = parameter.low, parameter.high
    if not ((low is None or value >= low) and (high is None or value <= high)):
        raise ParameterError(f"{low} to {high}", field=field)
    return value if parameter.kind == "int" else float(value)
