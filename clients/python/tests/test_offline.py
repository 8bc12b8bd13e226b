"""What needs no Herald: repeats, pages and events against a server that fails on purpose, and webhooks."""

from __future__ import annotations

import asyncio
import email.utils
import io
import json
import pathlib
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request
import wsgiref.simple_server
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Tuple

from herald import (
    AsyncHerald,
    Herald,
    HeraldAdmin,
    HeraldConnectionError,
    HeraldError,
    WebhookVerificationError,
    received_content,
    verify_webhook,
    webhook_app,
)
from herald.models import SendText

ROOT = pathlib.Path(__file__).resolve().parents[3]
VECTORS = json.loads((ROOT / "docs/webhook-vectors.json").read_text())["vectors"]
MESSAGE: SendText = {"connection_id": "c", "to": "+15550001234", "type": "text", "text": {"body": "Hello"}}
TAKEN = {"data": {"id": "m-1", "status": "queued"}}
Answer = Tuple[int, Dict[str, str], Any]


def refusal(status: int, code: str, **headers: str) -> Answer:
    error = {"code": code, "message": "m", "request_id": "r", "doc_url": "d"}
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, {"error": error}


class Server(ThreadingHTTPServer):
    """Answers what the test says; None cuts the connection."""

    daemon_threads = True

    def __init__(self) -> None:
        self.seen: List[Tuple[str, str | None]] = []
        self.answer: Callable[[int, str], Answer | None] = lambda _count, _path: (202, {}, TAKEN)
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                server.seen.append((self.path, self.headers.get("idempotency-key")))
                answer = server.answer(len(server.seen), self.path)
                self.close_connection = True
                if answer is None:
                    return
                status, headers, body = answer
                content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"content-length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, *_args: Any) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class WithServer(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.stop)

    def client(self, **options: Any) -> Herald:
        settings: Dict[str, Any] = {"max_pause": 1.0, **options}
        herald = Herald(self.server.url, "k", **settings)
        self.addCleanup(herald.close)
        return herald

    def failing(self, times: int, how: Answer | None) -> None:
        self.server.answer = lambda count, _path: how if count <= times else (202, {}, TAKEN)


class Repeats(WithServer):
    def test_a_refused_or_lost_message_is_sent_again_under_the_same_key(self) -> None:
        for how in (refusal(429, "RATE_LIMITED", retry_after="0"), refusal(503, "SERVICE_UNAVAILABLE", retry_after="0"), None):
            with self.subTest(how):
                self.server.seen = []
                self.failing(2, how)
                self.assertEqual(self.client().messages.send(MESSAGE)["status"], "queued")
                self.assertEqual(len(self.server.seen), 3)
                self.assertEqual(len({key for _, key in self.server.seen}), 1)

    def test_the_same_with_await(self) -> None:
        self.failing(2, None)

        async def send() -> str:
            async with AsyncHerald(self.server.url, "k", max_pause=1.0) as herald:
                return (await herald.messages.send(MESSAGE))["status"]

        self.assertEqual(asyncio.run(send()), "queued")
        self.assertEqual((len(self.server.seen), len({key for _, key in self.server.seen})), (3, 1))

    def test_it_gives_up_after_four_tries(self) -> None:
        self.failing(9, None)
        with self.assertRaises(HeraldConnectionError):
            self.client().messages.send(MESSAGE)
        self.assertEqual(len(self.server.seen), 4)

    def test_it_waits_no_longer_than_it_may(self) -> None:
        self.failing(9, refusal(429, "OTP_RESEND_TOO_SOON", retry_after="42"))
        with self.assertRaises(HeraldError) as caught:
            self.client().otp.send({"to": "+15550001234"})
        self.assertEqual((caught.exception.retry_after, len(self.server.seen)), (42, 1))

    def test_a_time_in_retry_after_is_read(self) -> None:
        later = email.utils.formatdate(time.time() + 90, usegmt=True)
        self.failing(9, refusal(503, "SERVICE_UNAVAILABLE", retry_after=later))
        with self.assertRaises(HeraldError) as caught:
            list(self.client().connections.list())
        asked = caught.exception.retry_after or 0
        self.assertTrue(60 < asked <= 91)
        self.assertEqual(len(self.server.seen), 1)

    def test_nothing_is_repeated_that_might_happen_twice(self) -> None:
        self.failing(9, None)
        herald = self.client()
        calls: List[Callable[[], Any]] = [herald.webhook.rotate_secret, lambda: herald.templates.remove("c", "t")]
        for call in calls:
            with self.assertRaises(HeraldConnectionError):
                call()
        self.assertEqual(len(self.server.seen), 2)

    def test_a_slow_answer_is_no_answer(self) -> None:
        held = threading.Event()
        self.addCleanup(held.set)

        def answer(_count: int, _path: str) -> None:
            held.wait(60)

        self.server.answer = answer
        with self.assertRaises(HeraldConnectionError):
            self.client(timeout=0.1, max_attempts=1).messages.get("m")

    def test_something_else_than_herald_is_said_so(self) -> None:
        for status in (404, 200):
            self.server.answer = lambda _count, _path: (status, {}, "<h1>Not here</h1>")
            with self.assertRaisesRegex(HeraldError, "is base_url right"):
                list(self.client().connections.list())

    def test_names_in_paths_are_escaped(self) -> None:
        self.client().tags.get("a/b c")
        self.assertEqual(self.server.seen[0][0], "/api/v1/tags/a%2Fb%20c")


class Store:
    def __init__(self, cursor: str | None = None) -> None:
        self.cursor = cursor

    def load(self) -> str | None:
        return self.cursor

    def save(self, cursor: str) -> None:
        self.cursor = cursor


class Events(WithServer):
    def prepare(self) -> None:
        def page(*cursors: str) -> Answer:
            events = [{"id": cursor, "type": "webhook.test", "cursor": cursor, "data": {}} for cursor in cursors]
            return 200, {}, {"data": events, "next": cursors[-1], "done": True}

        answers = [refusal(503, "SERVICE_UNAVAILABLE"), None, page("b", "c"), refusal(503, "SERVICE_UNAVAILABLE"), page("d")]
        self.server.answer = lambda count, _path: answers[count - 1]

    def test_they_go_on_after_503_and_lost_networks_behind_what_the_store_keeps(self) -> None:
        self.prepare()
        store = Store("a")
        interruptions: List[str] = []
        handled: List[str] = []
        with unittest.mock.patch("herald._sync.pages.pause"):
            for event in self.client(max_attempts=1).events.follow(
                store=store, on_interruption=lambda error: interruptions.append(type(error).__name__)
            ):
                # A program that ends here has not handled it.
                self.assertEqual(store.cursor, handled[-1] if handled else "a")
                handled.append(event["cursor"])
                if event["cursor"] == "d":
                    break
        self.assertEqual((handled, store.cursor), (["b", "c", "d"], "c"))
        self.assertEqual(interruptions, ["HeraldError", "HeraldConnectionError", "HeraldError"])
        places = [path.split("after=")[1][0] for path, _ in self.server.seen]
        self.assertEqual(places, ["a", "a", "a", "c", "c"])

    def test_the_same_with_await(self) -> None:
        self.prepare()
        store = Store("a")

        async def follow() -> List[str]:
            handled: List[str] = []
            async with AsyncHerald(self.server.url, "k", max_attempts=1) as herald:
                async for event in herald.events.follow(store=store):
                    handled.append(event["cursor"])
                    if event["cursor"] == "d":
                        break
            return handled

        with unittest.mock.patch("herald._async.pages.pause"):
            self.assertEqual(asyncio.run(follow()), ["b", "c", "d"])
        self.assertEqual(store.cursor, "c")

    def test_an_error_that_no_time_mends_ends_them(self) -> None:
        self.server.answer = lambda _count, _path: refusal(401, "API_KEY_INVALID")
        with self.assertRaises(HeraldError) as caught:
            next(self.client().events.follow())
        self.assertEqual(caught.exception.status, 401)

    def test_a_stop_that_is_set_ends_them(self) -> None:
        stop = threading.Event()
        stop.set()
        self.assertEqual(list(self.client().events.follow(stop=stop)), [])
        self.assertEqual(self.server.seen, [])


class Missing(unittest.TestCase):
    def test_it_is_said_when_the_client_is_made(self) -> None:
        for base_url, key, words in (
            (None, "k", "base_url is missing"),
            ("herald.example.com", "k", "no address: herald.example.com"),
            ("https://herald.example.com", None, "api_key is missing"),
            ("https://herald.example.com", " ", "api_key is missing"),
        ):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                Herald(base_url, key)
        with self.assertRaisesRegex(ValueError, "operator_key is missing"):
            HeraldAdmin("https://herald.example.com", "")


class Webhooks(unittest.TestCase):
    def test_the_vectors(self) -> None:
        for vector in VECTORS:
            with self.subTest(vector["title"]), unittest.mock.patch("time.time", return_value=vector["now"]):
                if vector["valid"]:
                    event = verify_webhook(vector["body"].encode(), vector["headers"], vector["secret"])
                    self.assertEqual(event, json.loads(vector["body"]))
                else:
                    with self.assertRaises(WebhookVerificationError):
                        verify_webhook(vector["body"], vector["headers"], vector["secret"])

    def test_one_of_several_secrets_is_enough(self) -> None:
        vector = next(each for each in VECTORS if each["valid"])
        other = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH"
        with unittest.mock.patch("time.time", return_value=vector["now"]):
            self.assertTrue(verify_webhook(vector["body"], vector["headers"], other, vector["secret"]))
            with self.assertRaises(WebhookVerificationError):
                verify_webhook(vector["body"], vector["headers"], other)

    def test_a_secret_that_is_none_is_said(self) -> None:
        cases: List[List[str]] = [[], [""], ["no secret!"]]
        for secrets in cases:
            with self.subTest(secrets), self.assertRaises(ValueError):
                webhook_app(secrets, print, print)

    def serve(self, on_event: Callable[[Any], Any], on_error: Callable[[Exception], Any], secret: str) -> str:
        class Quiet(wsgiref.simple_server.WSGIRequestHandler):
            def log_message(self, *_args: Any) -> None:
                pass

        app: Any = webhook_app([secret], on_event, on_error)
        server = wsgiref.simple_server.make_server("127.0.0.1", 0, app, handler_class=Quiet)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    def deliver(self, url: str, body: bytes, headers: Dict[str, str]) -> int:
        request = urllib.request.Request(url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=15) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    def test_the_application_answers_by_itself(self) -> None:
        vector = next(each for each in VECTORS if each["valid"])
        body, headers = vector["body"].encode(), vector["headers"]
        got: List[Any] = []
        failures: List[Exception] = []

        def handle(event: Any) -> None:
            if len(got) == 1:
                raise RuntimeError("no table")
            got.append(event)

        url = self.serve(handle, failures.append, vector["secret"])
        with unittest.mock.patch("herald.webhooks.time.time", return_value=vector["now"]):
            self.assertEqual(self.deliver(url, body, headers), 204)
            self.assertEqual(got, [json.loads(body)])
            self.assertEqual(self.deliver(url, body + b" ", headers), 401)
            self.assertEqual(self.deliver(url, b"x" * 5_000_000, headers), 413)
            self.assertEqual(failures, [])
            self.assertEqual(self.deliver(url, body, headers), 500)
        self.assertEqual([str(failure) for failure in failures], ["no table"])

    def test_a_body_without_a_length_is_refused(self) -> None:
        answers: List[str] = []
        app: Any = webhook_app(["whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH"], print, print)
        app({"wsgi.input": io.BytesIO(b"{}")}, lambda status, _headers: answers.append(status))
        self.assertEqual(answers, ["411 Length Required"])


class ReceivedContent(unittest.TestCase):
    def test_it_is_told_by_its_type(self) -> None:
        event = {"message": {"type": "location"}, "content": {"latitude": 1, "longitude": 2}}
        self.assertEqual(received_content(event).type, "location")
        known = received_content({"type": "text", "content": {"body": "Hi"}})
        self.assertEqual((known.type, known.content["body"]), ("text", "Hi"))
        for name, content in (("hologram", {"depth": 1}), ("location", {"place": "new form"})):
            other = received_content({"type": name, "content": content})
            self.assertEqual((other.type, other.name, other.content), ("other", name, content))


if __name__ == "__main__":
    unittest.main()
