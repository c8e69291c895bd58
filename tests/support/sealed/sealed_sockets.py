"""Importing this seals the process for good: sockets reach this machine and nothing else."""

import ipaddress
import sys

REACHING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
RESOLVING = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})


class OutboundBlocked(RuntimeError):
    """A test tried to leave the machine."""


def is_local(host):
    """Say whether a host, by address or name, is this machine."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_numeric(host):
    """Say whether a host is an address already, so that resolving it asks nobody."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def refuse(event, args, reaching=REACHING, resolving=RESOLVING):
    """Raise OutboundBlocked on a connection or a name look-up that would leave the machine.

    It is called while the interpreter ends, too, when names of the module are gone.
    """
    if event in reaching:
        address = args[1]
        is_internet = isinstance(address, tuple) and address and isinstance(address[0], str)
        if is_internet and not is_local(address[0]):
            raise OutboundBlocked(f"{event} to {address}: tests reach 127.0.0.1 only")
    elif event in resolving and not is_local(args[0]) and not is_numeric(args[0]):
        raise OutboundBlocked(f"{event} of {args[0]!r}: tests reach 127.0.0.1 only")


sys.addaudithook(refuse)
