"""The page's server: the standard library's, on the loopback address, with few and fixed routes.

No server package is needed for one user and a dozen routes: every request is checked by
:mod:`strat.show.local_page.rules` first, each connection serves one request (HTTP/1.0), and the page, its style and its
script are three fixed files.
"""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import tempfile
from collections.abc import Callable
from functools import cached_property
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.show.local_page.form import QUESTIONS, described
from strat.show.local_page.jobs import Jobs
from strat.show.local_page.rules import Access, Refusal, headers_of, joined
from strat.show.local_page.sources import Source, Uploads, of_path
from strat.show.render import write

HERE = Path(__file__).parent
FIXED = {
    "": ("index.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
}


class Server(socketserver.ThreadingTCPServer):
    """Connections from this machine, each in a thread; a port that somebody has is not shared.

    Strangers, which have not shown the secret, are few: beyond `LIMITS.page_strangers` the one that has waited
    longest is hung up on.
    """

    allow_reuse_address = False
    request_queue_size = 128  # connections that wait to be accepted: a crowd must not keep the user out
    daemon_threads = False  # threads are joined when the server closes: none may write into a folder that is deleted
    page: Page

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self.lock = Lock()
        self.connections: dict[socket.socket, bool] = {}  # in the order of coming, and whether each knows the secret
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve the connection in a thread; too many strangers: hang up on the first of them."""
        with self.lock:
            self.connections[request] = False
            strangers = [one for one, known in self.connections.items() if not known]
            for one in strangers[: -LIMITS.page_strangers]:
                self._hang_up(one)
        super().process_request(request, client_address)

    def trust(self, request: socket.socket) -> None:
        """Note that the connection has shown the secret, and give it time."""
        with self.lock:
            if request in self.connections:
                self.connections[request] = True
                request.settimeout(LIMITS.page_patience)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection, and close it."""
        with self.lock:
            self.connections.pop(request, None)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close: uploads under way end at once, and no thread is left that could write."""
        with self.lock:
            for one in list(self.connections):
                self._hang_up(one)
        super().server_close()

    def _hang_up(self, request: socket.socket) -> None:
        self.connections.pop(request, None)
        with contextlib.suppress(OSError):  # it has just gone by itself
            request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is no news; anything else is a traceback on the terminal."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Page:
    """The page while it is open.

    Attributes
    ----------
    address
        Where it is, with its secret.
    folder
        What was uploaded and computed, in a folder that only this user can look into; gone when the page is closed.

    Examples
    --------
    >>> with Page() as page:
    ...     page.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, file: str | None = None) -> None:
        self.first = None if file is None else of_path(file)
        self.opened_with: dict[str, Any] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="strat-", ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)
        self.jobs = Jobs(self.folder)
        self.uploads = Uploads(self.folder)
        self.sources: dict[str, Source] = {}
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.page = self
        self.access = Access(self.server.server_address[1])
        self.address = self.access.address

    def __enter__(self) -> Page:
        if self.first is not None:
            self.opened_with = self._look(self.first)
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()  # joins all that could still upload or start a job
        self.jobs.stop()
        self._folder.cleanup()

    def doorway(self) -> Path:
        """A file that only this user can read and that leads to the page.

        A browser is started with the file's name: the address itself would show its secret in the list of processes.
        """
        file = self.folder / "open.html"
        file.touch(mode=0o600)
        write(
            file,
            f'<!doctype html><meta name="referrer" content="no-referrer"><meta charset="utf-8"><title>strat</title>'
            f'<meta http-equiv="refresh" content="0; url={self.address}"><a href="{self.address}">Open strat</a>',
        )
        return file

    # ---- what the page's script can ask for

    def form(self) -> dict[str, Any]:
        """The questions and fields, and the job that looks at the file that the page was opened with."""
        return described() | {"first": self.opened_with}

    def open(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Look at a table: of a path, of a batch of uploads, a sheet of a workbook that is open, or the example."""
        if asked.get("example") is True:
            return self._look(self.uploads.example())
        if isinstance(asked.get("sheet"), str):
            book = self._opened(asked)
            return self._look(Source(book.folder, f"{book.name}#{asked['sheet']}"))
        if isinstance(asked.get("batch"), str):
            return self._look(self.uploads.source(asked["batch"]))
        return self._look(of_path(_text(asked, "path")))

    def _look(self, source: Source) -> dict[str, Any]:
        job = self.jobs.start({"question": None, "folder": source.folder, "name": source.name})
        self.sources[job] = source
        return {"job": job, "source": job, "name": source.name}

    def _opened(self, asked: dict[str, Any]) -> Source:
        if _text(asked, "source") not in self.sources:
            raise StratError.about("source", "must be a table that this page opened.")
        return self.sources[asked["source"]]

    def run(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer a question about a table that was looked at."""
        question, values = _text(asked, "question"), asked.get("values")
        if question not in QUESTIONS:
            raise StratError.about("question", "must be one of the page's.")
        source = self._opened(asked)
        if not isinstance(values, dict):
            raise StratError.about("values", "must hold the fields.")
        task = {"question": question, "folder": source.folder, "name": source.name, "values": values}
        return {"job": self.jobs.start(task)}

    def stop(self, asked: dict[str, Any]) -> dict[str, Any]:
        """End a job."""
        job = self.jobs[_text(asked, "job")]
        job.stop()
        return job.state()


def _text(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise StratError.about(name, f"must be text, got {type(value).__name__}.")
    return value


class Handler(BaseHTTPRequestHandler):
    """One request: checked, then answered."""

    timeout = LIMITS.page_haste
    server: Server

    def version_string(self) -> str:
        """Nobody needs to know which Python this is."""
        return "strat"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is written down: addresses hold the secret."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A request that is no HTTP, or a method that we don't have, in our own words."""
        self._send(code, json.dumps({"error": {"field": None, "message": "The request can't be read."}}))

    def do_GET(self) -> None:
        """The page, a state, a report."""
        self._checked("GET", self._get)

    def do_POST(self) -> None:
        """An upload, or something to do."""
        self._checked("POST", self._post)

    @cached_property
    def place(self) -> str:
        """The path of the address, without its query."""
        return self.path.partition("?")[0]

    @cached_property
    def asked(self) -> dict[str, str]:
        """The query of the address."""
        return {name: values[-1] for name, values in parse_qs(self.path.partition("?")[2]).items()}

    @cached_property
    def told(self) -> dict[str, str]:
        """The headers."""
        return joined(self.headers.items())

    def _checked(self, method: str, answer: Callable[[str], None]) -> None:
        access = self.server.page.access
        refusal = access.refusal(method, self.place, self.told)
        if refusal is not None:
            self._refuse(refusal)
            return
        self.server.trust(self.connection)
        try:
            answer(access.place(self.place) or "")
        except StratError as error:
            self._refuse(Refusal(400, str(error), error.argument))
        except (ConnectionError, TimeoutError):
            raise
        except OSError as error:  # the disk is full, a folder is gone
            self._refuse(Refusal(500, f"{error.strerror or type(error).__name__}."))

    def _get(self, place: str) -> None:
        page = self.server.page
        if place in FIXED:
            name, kind = FIXED[place]
            self._send(200, (HERE / name).read_text(encoding="utf-8"), kind)
        elif place == "api/form":
            self._json(page.form())
        elif place == "api/job":
            self._json(page.jobs[self.asked.get("job", "")].state())
        elif place == "report":
            self._report()
        else:
            self._refuse(Refusal(404, "There is nothing at this address."))

    def _report(self) -> None:
        file = self.server.page.jobs[self.asked.get("job", "")].report
        if not file.is_file():
            raise StratError.about("job", "must be one that has a report.")
        more = {"Content-Disposition": 'attachment; filename="report.html"'} if "download" in self.asked else {}
        self._send(200, file.read_text(encoding="utf-8"), "text/html", headers_of("text/html", report=True) | more)

    def _post(self, place: str) -> None:
        page = self.server.page
        length = int(self.told["content-length"])
        if place == "api/upload":
            self._upload(length)
            return
        actions = {"api/open": page.open, "api/run": page.run, "api/stop": page.stop}
        if place not in actions:
            self._refuse(Refusal(404, "There is nothing at this address."))
        elif length > LIMITS.page_json:
            self._refuse(Refusal(413, f"The request must have at most {LIMITS.page_json:,} bytes."))
        else:
            self._json(actions[place](_object(self.rfile.read(length))))

    def _upload(self, length: int) -> None:
        if length > LIMITS.upload_bytes:
            raise StratError("A file that is uploaded must be smaller than 2 GiB; name it by its path instead.")
        uploads = self.server.page.uploads
        batch = self.asked.get("batch") or uploads.begin()
        uploads.add(batch, self.asked.get("name", ""), length, self.rfile, folder=self.asked.get("folder", ""))
        self._json({"batch": batch})

    def _refuse(self, refusal: Refusal) -> None:
        error = {"field": refusal.field, "message": refusal.message}
        self._send(refusal.status, json.dumps({"error": error}))

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value))

    def _send(
        self, status: int, text: str, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        body = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        for name, value in (headers or headers_of(kind)).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise StratError("The request must be a JSON object.")
    return value
