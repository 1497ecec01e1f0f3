"""Receives webhooks with Flask: verified over their raw bytes, kept once, answered at once. `python3 inbox.py` works them off."""

import os

from flask import Flask, request

from inbox import receive

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 1_000_000


@app.post("/webhooks")
def webhooks():
    return "", receive(request.get_data(), request.headers)  # the bytes as they came, never request.json


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ.get("PORT", "3000")), threaded=True)
