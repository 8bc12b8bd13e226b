# What the Python programs of this folder share. HERALD_URL and HERALD_API_KEY say where Herald is, and who calls.
import json, os, time, urllib.error, urllib.request, uuid

API = os.environ["HERALD_URL"] + "/api/v1"
TRIES = 6


class Refused(Exception):
    """Herald said no: error["code"] says why, and never changes its meaning."""

    def __init__(self, status, error):
        super().__init__(f'{status} {error["code"]}: {error["message"]}')
        self.error = error


def ask(method, path, body=None, key=None, headers=None, repeatable=False):
    """The whole answer. Repeats what may be repeated, each time under the same key."""
    headers = {
        "Authorization": f'Bearer {os.environ["HERALD_API_KEY"]}',
        "Content-Type": "application/json",
        **(headers or {}),
    }
    if key is not None:
        headers["Idempotency-Key"] = key
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    harmless = repeatable or key is not None or method == "GET"
    for attempt in range(1, TRIES + 1):
        pause = 0.5 * 2**attempt
        try:
            request = urllib.request.Request(API + path, data, headers, method=method)
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as answer:
            # 429 was not taken. 503 may have been: with a key the second request makes no second message.
            again = answer.code == 429 or (answer.code == 503 and harmless)
            if not again or attempt == TRIES:
                raise Refused(answer.code, json.load(answer)["error"]) from None
            pause = float(answer.headers.get("Retry-After", pause))
        except OSError:
            # No answer at all: the request may have been taken too.
            if attempt == TRIES or not harmless:
                raise
        time.sleep(min(pause, 60))


def call(method, path, body=None, key=None, headers=None):
    """The answer's data."""
    return ask(method, path, body, key, headers)["data"]


def key_of(*names):
    """The same key for the same names: a program that starts again makes no second message."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(names)))
