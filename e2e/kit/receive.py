"""The receiver for Python behind the standard library's own server: for tests, where no framework is installed."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from inbox import receive


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(receive(body, self.headers) if self.path == "/webhooks" else 404)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
