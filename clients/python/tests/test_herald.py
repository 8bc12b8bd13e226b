"""
Against a running Herald: HERALD_URL, HERALD_API_KEY, CONNECTION_ID and CUSTOMER, who wrote within 24 hours, say which.
test/client/python-client.slow.e2e-spec.ts starts one and runs this.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import unittest
import urllib.request
import uuid
from typing import Any, Callable, List, Sequence

from herald import AsyncHerald, Herald, HeraldError, is_herald_error
from herald.models import BatchMessage, SendMessage, SendText

URL = os.environ["HERALD_URL"]
KEY = os.environ["HERALD_API_KEY"]
CONNECTION = os.environ["CONNECTION_ID"]
CUSTOMER = os.environ["CUSTOMER"]


def text(body: str, to: str = CUSTOMER, *, tag: str | None = None) -> SendText:
    message: SendText = {"connection_id": CONNECTION, "to": to, "type": "text", "text": {"body": body}}
    if tag is not None:
        message["tag"] = tag
    return message


def keyed(body: str) -> BatchMessage:
    key = str(uuid.uuid4())
    return {"connection_id": CONNECTION, "to": CUSTOMER, "type": "text", "text": {"body": body}, "idempotency_key": key}


def wait_for(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come within 60 s")


def variants(reply_to: str) -> Sequence[SendMessage]:
    """One of each variant. That mypy accepts them without a cast is part of the test."""
    return [
        {"connection_id": CONNECTION, "to": CUSTOMER, "type": "text", "text": {"body": "Hello", "preview_url": True}},
        {"connection_id": CONNECTION, "to": CUSTOMER, "body": "Hello"},
        {
            "connection_id": CONNECTION,
            "to": CUSTOMER,
            "type": "image",
            "media": {"link": "https://example.com/menu.jpg", "caption": "Today"},
        },
        {
            "connection_id": CONNECTION,
            "to": CUSTOMER,
            "type": "template",
            "template": {"name": "order_update", "language": "en_US", "parameters": {"body": ["Ana", "4711"]}},
        },
        {
            "connection_id": CONNECTION,
            "to": CUSTOMER,
            "type": "interactive",
            "interactive": {
                "type": "button",
                "body": {"text": "Keep it?"},
                "action": {"buttons": [{"type": "reply", "reply": {"id": "y", "title": "Yes"}}]},
            },
        },
        {
            "connection_id": CONNECTION,
            "to": CUSTOMER,
            "type": "location",
            "location": {"latitude": 53.3, "longitude": -6.2, "name": "Lighthouse Coffee"},
        },
        {
            "connection_id": CONNECTION,
            "to": CUSTOMER,
            "type": "reaction",
            "reply_to_message_id": reply_to,
            "reaction": {"emoji": "👍"},
        },
    ]


class HeraldTest(unittest.TestCase):
    def setUp(self) -> None:
        self.herald = Herald(f"{URL}/api/v1/", KEY)
        self.addCleanup(self.herald.close)

    def is_read(self, id: str) -> None:
        wait_for(lambda: self.herald.messages.get(id)["status"] == "read")

    def assert_code(self, code: str, call: Callable[[], Any]) -> HeraldError:
        with self.assertRaises(HeraldError) as caught:
            call()
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_every_variant_is_sent_and_read(self) -> None:
        first = self.herald.messages.send(text("Hello"))
        self.is_read(first["id"])
        for message in variants(first["id"]):
            with self.subTest(message):
                self.assertEqual(self.herald.messages.send(message)["status"], "queued")

    def test_one_key_makes_one_message(self) -> None:
        key = str(uuid.uuid4())
        ids = [self.herald.messages.send(text("Once"), idempotency_key=key)["id"] for _ in range(2)]
        ids.append(self.herald.messages.send(text("Once"))["id"])
        self.assertEqual(ids[0], ids[1])
        self.assertNotEqual(ids[0], ids[2])

    def test_a_batch_repeated_sends_nothing_twice(self) -> None:
        one = keyed("One")
        first = self.herald.messages.send_batch([one, text("Two")])
        again = self.herald.messages.send_batch([one, text("Three", "15559990000")], validation="permissive")
        self.assertEqual(first["data"][0]["id"], again["data"][0]["id"])
        self.assertEqual([error["code"] for error in again["errors"]], ["SERVICE_WINDOW_CLOSED"])
        refused = self.assert_code(
            "BATCH_REFUSED", lambda: self.herald.messages.send_batch([text("No", "15559990000")])
        )
        self.assertEqual(refused.fields["errors"][0]["index"], 0)

    def test_a_message_is_checked_scheduled_canceled_and_retried(self) -> None:
        self.assertTrue(self.herald.messages.check(text("Checked"))["sendable"])
        checked = self.herald.messages.check(text("Checked", "15559990001"))
        self.assertEqual([problem["code"] for problem in checked["problems"]], ["SERVICE_WINDOW_CLOSED"])
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 3_600))
        later = text("Later")
        later["send_at"] = at
        id = self.herald.messages.send(later)["id"]
        self.assertEqual(self.herald.messages.get(id)["scheduled_for"], at)
        self.assertEqual(self.herald.messages.cancel(id)["status"], "failed")
        self.assertEqual(self.herald.messages.retry(id)["id"], id)
        self.is_read(id)
        self.assert_code("MESSAGE_NOT_CANCELABLE", lambda: self.herald.messages.cancel(id))
        self.assertEqual(self.herald.messages.timeline(id)["not_kept"], [])

    def test_lists_turn_their_pages(self) -> None:
        tag = f"python-{uuid.uuid4()}"
        sent = {self.herald.messages.send(text(f"Number {n}", tag=tag))["id"] for n in range(5)}
        found = [message["id"] for message in self.herald.messages.list({"tag": tag, "limit": 2})]
        self.assertEqual((len(found), set(found)), (5, sent))
        listed = self.herald.messages.list({"tag": tag, "limit": 2})
        first = listed.page()
        second = listed.page(first.next)
        self.assertEqual([message["id"] for message in first.items + second.items], found[:4])
        with self.assertRaisesRegex(ValueError, "`next` of a page"):
            listed.page("x")
        self.assertEqual(self.herald.tags.get(tag)["tag"], tag)
        self.assertIn(tag, [each["tag"] for each in self.herald.tags.list({"limit": 1})])
        self.assertEqual([number["id"] for number in self.herald.connections.list()], [CONNECTION])
        self.assertEqual(next(self.herald.connections.list())["id"], CONNECTION)

    def test_templates_turn_their_pages(self) -> None:
        names = [template["name"] for template in self.herald.templates.list(CONNECTION)]
        self.assertIn("order_update", names)
        each = [template["name"] for template in self.herald.templates.list(CONNECTION, {"limit": 1})]
        self.assertEqual(sorted(each), sorted(names))
        unknown = str(uuid.uuid4())
        self.assert_code("CONNECTION_NOT_FOUND", lambda: next(self.herald.templates.list(unknown)))
        preview = self.herald.templates.preview(
            CONNECTION, {"template_name": "order_update", "parameters": {"body": ["Ana", "4711"]}}
        )
        self.assertEqual(preview["missing"], [])

    def test_conversations_are_read_and_closed(self) -> None:
        [found] = self.herald.conversations.list({"to": CUSTOMER})
        self.assertEqual(self.herald.conversations.get(found["id"])["contact"]["phone"], CUSTOMER)
        closed = self.herald.conversations.update(found["id"], {"closed": True, "assignee": "ana@example.com"})
        self.assertEqual((closed["closed"], closed["assignee"]), (True, "ana@example.com"))
        self.herald.conversations.update(found["id"], {"closed": False, "assignee": None})
        self.assert_code("CONVERSATION_NOT_FOUND", lambda: self.herald.conversations.get(str(uuid.uuid4())))

    def test_files_are_kept(self) -> None:
        media = self.herald.media.upload(CONNECTION, b"Soup, bread\n", filename="menu.txt", type="document")
        self.assertEqual((media["filename"], media["size_bytes"]), ("menu.txt", 12))
        with urllib.request.urlopen(self.herald.media.link(media["id"])["url"], timeout=15) as answer:
            self.assertEqual(answer.read(), b"Soup, bread\n")
        self.assertIn(media["id"], [each["id"] for each in self.herald.media.list()])
        self.herald.media.remove(media["id"])
        self.assert_code("MEDIA_NOT_FOUND", lambda: self.herald.media.get(media["id"]))
        with open(__file__, "rb") as file:
            opened = self.herald.media.upload(CONNECTION, file, filename="test.txt", type="document")
        self.assertEqual(opened["size_bytes"], os.path.getsize(__file__))
        self.herald.media.remove(opened["id"])

    def test_profile_webhook_usage_and_opt_outs(self) -> None:
        self.assertEqual(self.herald.profile.update(CONNECTION, {"about": "Open until eight"})["about"], "Open until eight")
        self.assertIn("messages:write", self.herald.key.get()["scopes"])
        self.assert_code("WEBHOOK_NOT_FOUND", self.herald.webhook.get)
        self.assertIsInstance(self.herald.usage.get({"group_by": "connection_id"})["data"], list)
        opt_out = self.herald.opt_outs.put({"to": "15550100009", "category": "marketing", "reason": "Asked"})
        self.assertIn(opt_out["id"], [each["id"] for each in self.herald.opt_outs.list()])
        self.herald.opt_outs.remove(opt_out["id"])
        answer = self.herald.request("GET", "/api/v1/key")
        self.assertEqual(answer["data"], self.herald.key.get())

    def test_errors_have_code_fields_and_request_id(self) -> None:
        wrong: Any = {**text("Hello"), "text": {"words": "Hello"}}
        error = self.assert_code("VALIDATION_FAILED", lambda: self.herald.messages.send(wrong))
        self.assertEqual((error.status, error.doc_url), (422, f"{URL}/docs/errors#VALIDATION_FAILED"))
        self.assertIn("text.body", [detail["field"] for detail in error.details])
        for part in (error.text, error.code, error.request_id, error.details[0]["message"]):
            self.assertTrue(part)
            self.assertIn(part, str(error))
        self.assertTrue(is_herald_error(error, "VALIDATION_FAILED"))
        self.assertFalse(is_herald_error(error, "RATE_LIMITED"))
        with Herald(URL, "hrld_live_wrong") as stranger:
            self.assert_code("API_KEY_INVALID", lambda: list(stranger.connections.list()))

    def test_events_come_once_and_in_order_to_their_end_and_as_they_come(self) -> None:
        start: str = self.herald.request("GET", "/api/v1/events", query={"after": "now"})["next"]
        first = self.herald.messages.send(text("Hi"))["id"]

        def statuses(id: str) -> List[str]:
            return [
                event["data"]["status"]
                for event in self.herald.events.list(after=start, limit=2)
                if event["type"] == "message.status.updated" and event["data"]["message_id"] == id
            ]

        wait_for(lambda: len(statuses(first)) == 4)
        stop = threading.Event()
        followed: List[str] = []

        def follow() -> None:
            for event in self.herald.events.follow(after=start, types=["message.status.updated"], stop=stop, every=0.05):
                if event["type"] == "message.status.updated":
                    followed.append(event["data"]["message_id"])

        thread = threading.Thread(target=follow)
        thread.start()
        try:
            wait_for(lambda: followed.count(first) == 4)
            second = self.herald.messages.send(text("Hi again"))["id"]
            wait_for(lambda: followed.count(second) == 4)
        finally:
            stop.set()
            thread.join(30)
        self.assertFalse(thread.is_alive())
        self.assertEqual(followed.count(first), 4)
        self.assert_code("INVALID_REQUEST", lambda: next(self.herald.events.list(after="yesterday")))


class AsyncHeraldTest(unittest.IsolatedAsyncioTestCase):
    async def test_messages_lists_files_and_errors(self) -> None:
        async with AsyncHerald(URL, KEY) as herald:
            number = await herald.connections.list().__anext__()
            self.assertEqual(number["id"], CONNECTION)
            tag = f"async-{uuid.uuid4()}"
            sent = await asyncio.gather(*(herald.messages.send(text("Hello", tag=tag)) for _ in range(5)))
            listed = [message["id"] async for message in herald.messages.list({"tag": tag, "limit": 2})]
            self.assertEqual((len(listed), set(listed)), (5, {message["id"] for message in sent}))
            page = await herald.messages.list({"tag": tag, "limit": 2}).page()
            self.assertEqual([message["id"] for message in page.items], listed[:2])
            media = await herald.media.upload(CONNECTION, b"Soup\n", filename="menu.txt", type="document")
            await herald.media.remove(media["id"])
            with self.assertRaises(HeraldError) as caught:
                await herald.media.get(media["id"])
            self.assertEqual(caught.exception.code, "MEDIA_NOT_FOUND")

    async def test_events_are_followed_by_a_waiting_server(self) -> None:
        async with AsyncHerald(URL, KEY) as herald:
            listening = asyncio.Event()

            async def follow(id: "asyncio.Future[str]") -> List[str]:
                statuses: List[str] = []
                start = (await herald.request("GET", "/api/v1/events", query={"after": "now"}))["next"]
                listening.set()
                async for event in herald.events.follow(after=start, types=["message.status.updated"]):
                    if event["type"] == "message.status.updated" and event["data"]["message_id"] == await id:
                        statuses.append(event["data"]["status"])
                        if len(statuses) == 4:
                            break
                return statuses

            id: "asyncio.Future[str]" = asyncio.get_running_loop().create_future()
            following = asyncio.create_task(follow(id))
            await listening.wait()
            id.set_result((await herald.messages.send(text("Followed")))["id"])
            statuses = await asyncio.wait_for(following, 60)
            self.assertEqual(sorted(statuses), ["accepted", "delivered", "read", "sent"])


if __name__ == "__main__":
    unittest.main()
