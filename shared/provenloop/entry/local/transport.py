"""An httpx client whose requests go straight to the gateway."""

from __future__ import annotations

import httpx

from provenloop.entry.local.gateway import Gateway
from provenloop.entry.local.http_event import HttpRequest

BASE_URL = "http://localhost"


def client_of(gateway: Gateway, token: str | None) -> httpx.Client:
    """A client that needs no socket; it sends ``token`` with every request, if there is one."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx.Client(transport=GatewayTransport(gateway), base_url=BASE_URL, headers=headers)


class GatewayTransport(httpx.BaseTransport):
    """Carries an httpx client's requests to the gateway, without a socket."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The gateway's answer."""
        path, _, query = request.url.raw_path.decode("ascii").partition("?")
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        response = self._gateway.handle(HttpRequest(request.method, path, query, headers, request.read()))
        return httpx.Response(response.status, headers=list(response.headers), content=response.body)
