"""The host policy as passes and readers meet it: read from its source, held in view, shown with its faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from provenloop.analyzers import ANALYZERS
from provenloop.analyzers.model_findings import LLM
from provenloop.domain.errors import LoopError
from provenloop.domain.policy import CLOSED, UNKNOWN, Fault, HostPolicy
from provenloop.domain.policy_reading import name_lists, read_policy
from provenloop.domain.registered import RegisteredAnalyzer
from provenloop.services.call import Call
from provenloop.services.memories import require_heads
from provenloop.services.ports import PolicySource, Store


def load_policy(
    source: PolicySource | None,
    last: HostPolicy | None = None,
    *,
    is_local: bool = False,
    commands: Sequence[RegisteredAnalyzer] = (),
) -> HostPolicy:
    """Read the policy. Whatever is wrong with it, there is one to go on with.

    Args:
        source: where it is; None where the installation has none.
        last: the policy that was in force before. While the source cannot be read, what it forbids goes on to hold,
            and what it grants does not; while it is refused, the names that were
            listed go on to be kept from models.
        is_local: whether this is a local stack.
        commands: external analyzers that the local stack was begun with.
    """
    if source is None:
        return HostPolicy(replace(CLOSED, analyzers=tuple(commands)))
    try:
        text = source.read()
        names = [source.read_names(number) for number in range(1, name_lists(text) + 1)]
    except LoopError as error:
        before = HostPolicy() if last is None else last
        # Where it was never read, nobody knows what it keeps from models.
        held = replace(before.policy if before.state != "none" else UNKNOWN, auto_apply_enabled=False)
        return HostPolicy(held, "unreadable", (Fault("", error.code, error.message),))
    ours = [analyzer.manifest.id for analyzer in ANALYZERS]
    host = read_policy(text, ours, models=(LLM.id,), is_local=is_local, commands=commands, names=names)
    return host if last is None or host.state != "refused" else _with_names_of(host, last)


def _with_names_of(host: HostPolicy, last: HostPolicy) -> HostPolicy:
    """A refused policy may have lost the names it listed; those of the one before are kept beside what is read."""
    masked, before = host.policy.pseudonymize, last.policy.pseudonymize
    names = tuple(dict.fromkeys((*masked.names, *before.names)))
    is_known = masked.is_known or (before.is_known and bool(before.names))
    return replace(host, policy=replace(host.policy, pseudonymize=replace(masked, names=names, is_known=is_known)))


def show_policy(store: Store, call: Call, host: HostPolicy) -> dict[str, Any]:
    """The policy in force in this memory. It is the host's: nothing here changes it.

    Returns:
        ``{state, faults: [{field, code, detail}], digest, policy}``.

    Raises:
        ScopeDeniedError, NotFoundError.
    """
    call.require("read")
    require_heads(store, call.memory)
    return {**told(host), "digest": host.policy.digest, "policy": _shown(host)}


def told(host: HostPolicy) -> dict[str, Any]:
    """How the policy in force came about: ``{state, faults}``."""
    return {"state": host.state, "faults": [asdict(fault) for fault in host.faults]}


def _shown(host: HostPolicy) -> dict[str, Any]:
    fields = host.policy.shown
    grants = [{**grant, "targets": list(grant["targets"])} for grant in fields["auto_apply"]]
    analyzers = [{**each, "needs": list(each["needs"])} for each in fields["analyzers"]]
    return {**fields, "auto_apply": grants, "deny": list(fields["deny"]), "analyzers": analyzers}
