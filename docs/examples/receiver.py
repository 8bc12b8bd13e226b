# Receives Herald's webhooks and verifies each. WEBHOOK_SECRET=whsec_… PORT=8080 python3 receiver.py
import base64, hashlib, hmac, json, os, re, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").removeprefix("whsec_"))
if len(KEY) < 24:
    sys.exit("Set WEBHOOK_SECRET to the secret of the webhook, whsec_…: with an empty one any sender could sign.")
TOLERANCE_SECONDS = 300


def verify(headers, body):
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS + 1:
        return False
    expected = hmac.new(KEY, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    wanted = "v1," + base64.b64encode(expected).decode()
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), wanted.encode()) for one in given)


SEEN = set()  # in production, use a table with a unique key


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        good = verify(self.headers, body)
        self.send_response(204 if good else 401)
        self.send_header("content-length", "0")
        self.end_headers()
        if not good:
            print("refused: the signature is not right", flush=True)
        elif self.headers["webhook-id"] not in SEEN:
            SEEN.add(self.headers["webhook-id"])
            event = json.loads(body)
            print("verified", event["type"], event["id"], flush=True)

    def log_message(self, *arguments):
        pass


def serve(receiver):
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), receiver)
    print("listening on port", server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(Receiver)
