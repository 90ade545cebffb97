"""The built book as a static host sends it: from loopback, text compressed, answers noted."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

_TEXT = (".html", ".css", ".js", ".svg", ".json", ".txt", ".md", ".ipynb", ".py")


@dataclass
class Site:
    """A running server: its address, and (path, bytes) of all that it sent."""

    address: str
    sent: list[tuple[str, int]] = field(default_factory=list)

    def weight(self) -> int:
        """The bytes sent since the list was last cleared."""
        return sum(size for _, size in self.sent)


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args: object, site: Site, **kwargs: object) -> None:
        self.site = site
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            self.send_error(404)
            return None
        body = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix in _TEXT:
            body = gzip.compress(body, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.site.sent.append((self.path, len(body)))
        return io.BytesIO(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    """Serve a folder until the block ends."""
    site = Site("")
    handler = partial(_Handler, directory=str(folder), site=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        site.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
