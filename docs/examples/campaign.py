# Sends the campaign of recipients.csv (to,name,order) under one tag, and reports it: python3 campaign.py spring-sale
import csv, sys, time
from herald import ask, call, key_of

TAG = sys.argv[1]
BATCH = 100
ON_THE_WAY = ("queued", "processing", "accepted", "sent")

connection = call("GET", "/connections")[0]["id"]


def message_to(row):
    parameters = {"body": [row["name"], row["order"]]}
    return {
        # From tag and recipient, not from the line: the file may be sorted anew, and no one gets a second message.
        "idempotency_key": key_of("campaign.py", TAG, row["to"]),
        "connection_id": connection,
        "to": row["to"],
        "type": "template",
        "template": {"name": "order_update", "language": "en_US", "parameters": parameters},
        "tag": TAG,
    }


with open("recipients.csv", newline="") as file:
    messages = [message_to(row) for row in csv.DictReader(file)]
for start in range(0, len(messages), BATCH):
    part = messages[start : start + BATCH]
    # Each message has its key: the whole batch may be sent again.
    answer = ask("POST", "/messages/batch", {"messages": part, "validation": "permissive"}, repeatable=True)
    for error in answer["errors"]:
        print(f'not taken: {part[error["index"]]["to"]} {error["code"]}')

while True:
    tag = call("GET", f"/tags/{TAG}")
    if not any(tag["counts"].get(status) for status in ON_THE_WAY):
        break
    time.sleep(2)
print(f'{tag["messages"]} messages, {tag["counts"].get("failed", 0)} failed')
place = ""
while place is not None:
    page = ask("GET", f"/messages?tag={TAG}&status=failed&limit=100{place}")
    for message in page["data"]:
        print(f'failed: +{message["to"]} {message["failure_category"]}')
    before, id = page["pagination"]["next_before"], page["pagination"]["next_before_id"]
    place = None if before is None else f"&before={before}&before_id={id}"
