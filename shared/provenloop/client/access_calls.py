"""Memories, tokens, and what is about the tenant or the service itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from provenloop.client import forms
from provenloop.client.calls import Calls, segment


class AccessCalls(Calls):
    """Operations of administration. ``key`` is an Idempotency-Key of the caller's own; else each call has a new one."""

    def health(self) -> forms.HealthReply:
        """The service answers; no token is needed."""
        return self._read(forms.HealthReply, "/health")

    def create_memory(self, *, key: str | None = None) -> forms.MemoryReply:
        """Make the memory; making it again changes nothing."""
        return self._write(forms.MemoryReply, self.path_in_memory(), {}, key, "PUT")

    def delete_memory(self, because: str, *, wait_s: float = 0.0, key: str | None = None) -> forms.JobReply:
        """Erase the memory for good, by a job, which is waited for up to ``wait_s`` seconds."""
        begun = self._write(forms.JobReply, self.path_in_memory(), {"because": because}, key, "DELETE")
        return self._until(
            lambda: self._read(forms.JobReply, self.path_in_memory("/jobs/{job}", job=begun["job"])),
            lambda reply: reply["status"] != "running",
            wait_s,
            begun,
        )

    def memories(self) -> forms.MemoriesReply:
        """The tenant's memories that the token may use."""
        return self._read(forms.MemoriesReply, "/v1/memories")

    def mint_token(
        self,
        label: str,
        kind: str,
        scopes: Sequence[str],
        *,
        memories: str,
        key: str | None = None,
        **rest: Unpack[forms.TokenRequestRest],
    ) -> forms.MintedReply:
        """Mint a token; its secret is shown once. ``memories`` is a glob over names."""
        body = {"label": label, "kind": kind, "scopes": list(scopes), "memories": memories, **rest}
        return self._write(forms.MintedReply, "/v1/tokens", body, key)

    def tokens(self, **query: Unpack[forms.TokensQuery]) -> forms.TokensReply:
        """One page of the tenant's tokens."""
        return self._read(forms.TokensReply, "/v1/tokens", query)

    def revoke_token(self, token: str, *, key: str | None = None) -> forms.RevokedReply:
        """Revoke the token of that id, and all that was minted under it."""
        return self._write(forms.RevokedReply, f"/v1/tokens/{segment(token)}", None, key, "DELETE")

    def tenant_audit(self, **query: Unpack[forms.AuditExportQuery]) -> Iterator[dict[str, Any]]:
        """The tenant's own audit trail, entry by entry."""
        return self._lines("/v1/audit", query)

    def verify_tenant_audit(self, **query: Unpack[forms.AuditQuery]) -> forms.AuditVerifyReply:
        """Whether the tenant's own audit chains hold."""
        return self._read(forms.AuditVerifyReply, "/v1/audit/verify", query)
