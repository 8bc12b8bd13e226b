# Answers each customer once, by events (python3 inbox.py events place.txt) or by webhook (WEBHOOK_SECRET=whsec_… python3 inbox.py webhook).
import json, os, sys, time
from herald import Refused, ask, call, key_of


def answer(event):
    """Once for each event, however often it comes: the key is made of its id."""
    message, contact = event["data"]["message"], event["data"]["contact"]
    if event["type"] != "message.received" or message["type"] != "text":
        return
    to = {"recipient": contact["user_id"]} if contact["phone"] is None else {"to": "+" + contact["phone"]}
    text = {"body": f'We read “{message["body"]}” and answer soon.'}
    body = {"connection_id": message["connection_id"], **to, "type": "text", "text": text}
    try:
        call("POST", "/messages", body, key_of("inbox.py", event["id"]))
        print("answered", message["body"], flush=True)
    except Refused as refused:
        # It is refused the next time too, such as 24 hours later, when the window is closed.
        print("not answered:", refused, flush=True)


def by_events(file):
    """From the place where the last run ended; at first from now on."""
    place = open(file).read() if os.path.exists(file) else ask("GET", "/events?after=now")["next"]
    while True:
        page = ask("GET", f"/events?types=message.received&wait=20&after={place}")
        for event in page["data"]:
            answer(event)
        # Only now: a program that dies before reads this page again.
        place = page["next"]
        with open(file + ".new", "w") as new:
            new.write(place)
        os.replace(file + ".new", file)


def by_webhook():
    from receiver import Receiver, serve, verify

    class Inbox(Receiver):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if not verify(self.headers, body):
                return self.end(401)
            try:
                answer(json.loads(body))
            except OSError as error:
                # Herald delivers the event again.
                print(error, flush=True)
                return self.end(500)
            self.end(204)

        def end(self, status):
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

    serve(Inbox)


if sys.argv[1] == "events":
    by_events(sys.argv[2])
else:
    by_webhook()
