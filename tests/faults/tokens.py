"""The idempotency of ``ClientRequestToken``, for engines that leave it out (moto applies the transaction again)."""

from __future__ import annotations

from typing import Any, ClassVar

from tests.faults.canned import answer, refusal
from tests.faults.hooks import ClientHooks, Exchange, Reply


class ClientTokens(ClientHooks):
    """A transaction repeated with its token succeeds without being done again; with other actions it is refused.

    AWS forgets a token after ten minutes; here it is remembered as long as the object lives.
    """

    #: A transaction whose reply another hook then loses was done.
    after_first: ClassVar[bool] = True

    def __init__(self, *clients: Any) -> None:
        self._done: dict[str, Any] = {}
        super().__init__(*clients)

    def before_call(self, exchange: Exchange) -> Reply | None:
        """Answer a transaction whose token is known."""
        token = exchange.params.get("ClientRequestToken")
        if exchange.operation != "TransactWriteItems" or token not in self._done:
            return None
        same = self._done[token] == exchange.params["TransactItems"]
        return answer({}) if same else refusal("IdempotentParameterMismatchException")

    def after_call(self, exchange: Exchange) -> None:
        """Remember the token of a transaction that was done."""
        if exchange.operation == "TransactWriteItems" and exchange.succeeded:
            token = exchange.params.get("ClientRequestToken")
            if token is not None:
                self._done[token] = exchange.params["TransactItems"]
