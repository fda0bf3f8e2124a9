"""Runs the pages: many phones at once, each with a stream of its own."""

import logging
import sys
from pathlib import Path
from typing import TextIO

import segno
import waitress

from .access import LARGEST_BODY
from .app import create_app
from .companion import Companion

log = logging.getLogger(__name__)

SPARE_THREADS = 32
"""A stream holds a thread for as long as a phone looks; these are for everything else."""


def main(
    state_dir: Path,
    host: str,
    port: int,
    max_streams: int = 200,
    max_streams_per_client: int = 24,
) -> None:
    """Serve until the process is ended."""
    app = create_app(
        state_dir,
        port=port,
        max_streams=max_streams,
        max_streams_per_client=max_streams_per_client,
    )
    companion: Companion = app.extensions["tafelmaat"]
    server = waitress.create_server(
        app,
        host=host,
        port=port,
        threads=max_streams + SPARE_THREADS,
        connection_limit=2 * max_streams + 100,
        max_request_body_size=2 * LARGEST_BODY,
        outbuf_high_watermark=256 * 1024,
        channel_timeout=60,
        ident="tafelmaat",
    )
    # Phones come and go, and a new stream waits some milliseconds for its thread: no news.
    logging.getLogger("waitress").setLevel(logging.WARNING)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    show_banner(companion, sys.stdout)
    try:
        server.run()
    finally:
        companion.close()


def show_banner(companion: Companion, out: TextIO) -> None:
    """Where the table is found, as text and as a code to scan, and the number of the host."""
    address = companion.address()
    code = segno.make(address, error="l", micro=False)
    print(f"\n  Tafelmaat: {address}  (here: http://localhost:{companion.port})", file=out)
    print(f"  Host PIN:  {companion.safe.keys.pin}\n", file=out)
    try:
        code.terminal(out=out, compact=True, border=2)
    except UnicodeEncodeError:
        log.debug("this terminal cannot show the code")
    print(flush=True, file=out)
