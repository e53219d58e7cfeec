"""Where a request comes from. uvicorn has already put what a trusted proxy says in the place of the proxy's address."""
from __future__ import annotations

import hashlib
import ipaddress

from starlette.requests import HTTPConnection


def network_of(caller: HTTPConnection) -> str:
    """The caller's address; of version 6 the network, which is what one subscriber gets."""
    peer = caller.client.host if caller.client else ""
    try:
        address = ipaddress.ip_address(peer.split("%")[0])
    except ValueError:
        return hashlib.sha256(peer.encode("utf-8", "replace")).hexdigest()[:32]  # of any length and kind
    if address.version == 6 and address.ipv4_mapped:
        address = address.ipv4_mapped
    return str(address) if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))
