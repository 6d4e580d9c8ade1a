"""Every error the service can answer with, its stable code, and whether trying again can help.

LoopError
├─ InvalidInputError        400  the request can never succeed as sent (``field`` names the place)
│  ├─ AmbiguousPrefixError  400  an id prefix matches several recommendations
│  └─ ParameterError        400  an analyzer parameter is unknown, mistyped or out of range
├─ UnauthenticatedError     401
├─ ForbiddenError           403
│  ├─ ScopeDeniedError           the principal lacks the scope
│  ├─ SelfApprovalError          decider and creator share a lineage
│  ├─ DestructiveGateError       a removal needs admin and allow_destructive
│  └─ PrincipalKindError         only a person may do this
├─ NotFoundError            404
├─ ConflictError            409  a race was lost; nothing was written
│  ├─ IllegalTransitionError     the status may not change that way
│  ├─ TargetChangedError         a target changed since the proposal was made
│  ├─ StaleDecisionError         the decider saw another proposal
│  ├─ MemoryErasedError          the name belonged to a memory that was erased
│  └─ IdempotencyMismatchError   same Idempotency-Key, other body
├─ TooLargeError            413
├─ ThrottledError           429
├─ UnavailableError         503  outside reason; trying again later helps
│  ├─ BusyError                  too many writers at once
│  ├─ IssuerUnavailableError     people cannot be verified without the keys of their issuer
│  └─ ModelUnavailableError      no model is configured or it did not answer
├─ AnalyzerError            500  one analyzer failed; the pass goes on without it
├─ IntegrityError           500  a chain or an address does not verify; never retried
└─ InternalError            500

Codes are append-only: a code once published keeps its meaning. Class names are a contract too, since
Step Functions matches them in ``ErrorEquals``. Messages name the rule that was broken, never an AWS text.
"""

from __future__ import annotations

from typing import ClassVar


class LoopError(Exception):
    """Base of all errors of the service.

    Args:
        message: what rule was broken; safe to show to the caller.
        field: path of the offending input field, for example ``events[3].object``.
    """

    code: ClassVar[str] = "PVL-E099"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class InvalidInputError(LoopError):
    """The request can never succeed as it was sent."""

    code = "PVL-E011"


class AmbiguousPrefixError(InvalidInputError):
    """An id prefix matches more than one recommendation or card; the message says how many."""

    code = "PVL-E013"


class ParameterError(InvalidInputError):
    """An analyzer parameter or a setting of lessons is unknown, has the wrong type or is out of range."""

    code = "PVL-E031"


class TooLargeError(LoopError):
    """The request, an item or a proposal is over a stated limit."""

    code = "PVL-E012"


class UnauthenticatedError(LoopError):
    """No token, or one that is unknown, revoked or expired."""

    code = "PVL-E025"


class ForbiddenError(LoopError):
    """The principal is known and may not do this."""

    code = "PVL-E026"


class ScopeDeniedError(ForbiddenError):
    """The principal lacks the scope, or may not use this memory."""

    code = "PVL-E022"


class SelfApprovalError(ForbiddenError):
    """The decider, or whoever minted the decider's token, is creator of what is decided."""

    code = "PVL-E021"


class DestructiveGateError(ForbiddenError):
    """A removal needs the scope admin and ``allow_destructive: true``."""

    code = "PVL-E023"


class PrincipalKindError(ForbiddenError):
    """Only a principal of another kind (a person, say) may do this."""

    code = "PVL-E024"


class NotFoundError(LoopError):
    """The thing named does not exist in this memory."""

    code = "PVL-E040"


class ConflictError(LoopError):
    """Somebody else changed the same thing first; nothing was written."""

    code = "PVL-E043"
    retryable = True


class IllegalTransitionError(ConflictError):
    """The lifecycle has no such step from the present status."""

    code = "PVL-E020"
    retryable = False


class TargetChangedError(ConflictError):
    """What a proposal or an undo would change is no longer as it was."""

    code = "PVL-E041"
    retryable = False


class StaleDecisionError(ConflictError):
    """The proposal's digest differs from the one the decider saw."""

    code = "PVL-E042"
    retryable = False


class MemoryErasedError(ConflictError):
    """The memory of that name was erased; the name is never given again."""

    code = "PVL-E044"
    retryable = False


class IdempotencyMismatchError(ConflictError):
    """The same Idempotency-Key came with another body."""

    code = "PVL-E014"
    retryable = False


class ThrottledError(LoopError):
    """Too many requests of this caller."""

    code = "PVL-E002"
    retryable = True


class UnavailableError(LoopError):
    """An outside reason: throttled, timed out, unreachable. Nothing is known to be written."""

    code = "PVL-E001"
    retryable = True


class BusyError(UnavailableError):
    """Concurrent writers kept colliding; the request may be sent again."""

    code = "PVL-E003"


class IssuerUnavailableError(UnavailableError):
    """The OIDC issuer did not answer, and no key of it is known; other tokens work."""

    code = "PVL-E004"


class ModelUnavailableError(UnavailableError):
    """No model is configured, or it did not answer."""

    code = "PVL-E050"


class AnalyzerError(LoopError):
    """One analyzer failed; it becomes a skip entry of the pass."""

    code = "PVL-E030"


class IntegrityError(LoopError):
    """Stored data contradicts itself (a chain, an address, a status)."""

    code = "PVL-E060"


class InternalError(LoopError):
    """A fault of ours."""

    code = "PVL-E099"


def error_classes() -> tuple[type[LoopError], ...]:
    """All error classes, the base first, in a fixed order."""
    found: list[type[LoopError]] = [LoopError]
    for cls in found:
        found.extend(cls.__subclasses__())
    return tuple(found)
