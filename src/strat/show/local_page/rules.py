"""Who may talk to the page: the rules that every request must keep, before anything of it is acted on."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strat.base.limits import LIMITS

OWN_SITE = ("same-origin", "none")  # what a browser says of requests that no other site caused


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused: the status of HTTP, one sentence, and the field that it is about."""

    status: int
    message: str
    field: str | None = None


@dataclass(frozen=True)
class Access:
    """The rules of one page.

    Attributes
    ----------
    port
        The port of this machine's loopback address that the page listens on.
    token
        The secret first part of every path: another user of this machine can reach the port, but doesn't know it. It
        is no cookie, because browsers send the cookies of one port to all ports of a host.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """Where the page is, with its secret."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def place(self, path: str) -> str | None:
        """The path behind the secret; None where the secret is missing or wrong.

        >>> access = Access(8000, "secret")
        >>> access.place("/secret/api/form"), access.place("/wrong/api/form"), access.place("/")
        ('api/form', None, None)
        """
        token, _, rest = path.removeprefix("/").partition("/")
        known = hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())
        return rest if known and path.startswith(f"/{token}/") else None

    def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Why this request must not be answered; None: it may be.

        The host is checked against DNS rebinding, origin and site against posts of other pages, the secret against
        everyone else.

        >>> access = Access(8000, "secret")
        >>> access.refusal("GET", "/secret/", {"Host": "127.0.0.1:8000"})
        >>> access.refusal("GET", "/secret/", {"Host": "rebound.example:8000"}).status
        421
        """
        headers = joined(headers.items())
        host = headers.get("host") or ""
        if host not in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            return Refusal(421, "`Host` must be this machine's loopback address; open the address that strat printed.")
        if method not in ("GET", "POST"):
            return Refusal(405, "The method must be GET or POST.")
        if self.place(path) is None:
            return Refusal(403, "The address must hold the secret of this page; open the address that strat printed.")
        if (headers.get("sec-fetch-site") or "none") not in OWN_SITE:
            return Refusal(403, "The request must come from this page, got one that another site caused.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return Refusal(403, "`Origin` must be this page, got another site.")
        return self._of_post(headers) if method == "POST" else None

    def _of_post(self, headers: Mapping[str, str]) -> Refusal | None:
        if headers.get("origin") is None:
            return Refusal(403, "`Origin` must be this page, got none.")
        length = headers.get("content-length") or ""
        if headers.get("transfer-encoding") is not None or not (length.isascii() and length.isdecimal()):
            return Refusal(411, "`Content-Length` must say how much is sent.")
        if len(length) > LIMITS.page_length_digits:
            return Refusal(413, "The request must have at most 2 GiB; name a larger file by its path.")
        return None


def joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The headers by name in lower case; those of one name that came twice as one list, as HTTP reads them.

    A header that must be one word is so refused when it came twice: nobody can be shown one value and act on another.

    >>> joined([("Host", "a"), ("Content-Length", "1"), ("content-length", "2")])
    {'host': 'a', 'content-length': '1, 2'}
    """
    merged: dict[str, str] = {}
    for name, value in headers:
        known = merged.get(name.lower())
        merged[name.lower()] = value if known is None else f"{known}, {value}"
    return merged


def headers_of(kind: str, *, report: bool = False) -> dict[str, str]:
    """The headers of every answer: nothing from elsewhere, nothing kept, no frame but our own for a report.

    A report runs in a sandbox: its scripts have no origin, and so can't talk to the page.

    >>> "default-src 'none'" in headers_of("text/html")["Content-Security-Policy"]
    True
    """
    own = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    own += "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    framed = "sandbox allow-scripts allow-downloads; connect-src 'none'; form-action 'none'; frame-ancestors 'self'"
    return {
        "Content-Type": f"{kind}; charset=utf-8",
        "Content-Security-Policy": framed if report else own,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
