# Confirms the orders of orders.json over WhatsApp: HANDLE=... python3 orders.py
import json, os, time, uuid
from herald import Refused, call

TEMPLATE = "order_confirmed_py"


def upload(connection, name, content):
    boundary = uuid.uuid4().hex
    form = b"".join(
        [
            f'--{boundary}\r\nContent-Disposition: form-data; name="connection_id"\r\n\r\n{connection}\r\n'.encode(),
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode(),
            content,
            f"\r\n--{boundary}--\r\n".encode(),
        ]
    )
    return call("POST", "/media", form, headers={"Content-Type": f"multipart/form-data; boundary={boundary}"})["id"]


def approved(connection):
    """Makes the template where it is missing, and waits for the platform's review."""
    templates = f"/connections/{connection}/templates"
    try:
        template = call("GET", f"{templates}/{TEMPLATE}?language=en_US")["versions"][0]
    except Refused as refused:
        if refused.error["code"] != "TEMPLATE_NOT_FOUND":
            raise
        template = call(
            "POST",
            templates,
            {
                "name": TEMPLATE,
                "language": "en_US",
                "category": "UTILITY",
                "components": [
                    {"type": "HEADER", "format": "DOCUMENT", "example": {"header_handle": [os.environ["HANDLE"]]}},
                    {
                        "type": "BODY",
                        "text": "Hello {{1}}, your order {{2}} is confirmed. The receipt is attached.",
                        "example": {"body_text": [["Ana", "4711"]]},
                    },
                    {
                        "type": "BUTTONS",
                        "buttons": [
                            {
                                "type": "URL",
                                "text": "Follow the order",
                                "url": "https://shop.example.com/orders/{{1}}",
                                "example": ["https://shop.example.com/orders/4711"],
                            }
                        ],
                    },
                ],
            },
        )
    while template["status"] == "pending":
        time.sleep(1)
        template = call("GET", f"{templates}/{TEMPLATE}?language=en_US")["versions"][0]
    if template["status"] != "approved":
        raise SystemExit(f'the template is {template["status"]}: {template["rejected_reason"]}')


def components_for(order, receipt):
    return [
        {"type": "header", "parameters": [{"type": "document", "document": {"id": receipt, "filename": "receipt.pdf"}}]},
        {"type": "body", "parameters": [{"type": "text", "text": order["name"]}, {"type": "text", "text": order["id"]}]},
        {"type": "button", "sub_type": "url", "index": "0", "parameters": [{"type": "text", "text": order["id"]}]},
    ]


def next_step(message):
    """What to do about a message that did not arrive."""
    category = message["failure_category"]
    if message["status"] == "outcome_unknown":
        return "ask the customer: it may have arrived"
    if category in ("invalid_recipient", "recipient_unreachable"):
        return "send an e-mail"
    if category in ("rate_limited", "platform_unavailable"):
        return f'later: POST /messages/{message["id"]}/retry'
    if category in ("template_unavailable", "invalid_content", "media_error"):
        return f'mend the message: {message["error"]["message"]}'
    return f"ask the operator of Herald: {category}"


def main():
    with open("orders.json") as file:
        orders = json.load(file)

    def save():
        with open("orders.json.new", "w") as file:
            json.dump(orders, file, indent=2)
        os.replace("orders.json.new", "orders.json")

    connection = call("GET", "/connections")[0]["id"]
    approved(connection)
    for order in orders:
        if order.get("message") is not None:
            continue
        # The key is stored before the first try: after a crash the same message is asked for, not a second one.
        if order.get("key") is None:
            order["key"] = str(uuid.uuid4())
            order["receipt"] = upload(connection, "receipt.pdf", b"%PDF-1.4\n% " + order["id"].encode() + b"\n%%EOF\n")
            save()
        components = components_for(order, order["receipt"])
        template = {"name": TEMPLATE, "language": {"code": "en_US"}, "components": components}
        body = {"connection_id": connection, "to": order["to"], "type": "template", "template": template}
        try:
            order["message"] = call("POST", "/messages", body, order["key"])["id"]
        except Refused as refused:
            print(f'{order["id"]}: not taken, {refused}')
        save()
    for order in orders:
        if order.get("message") is None:
            continue
        deadline = time.monotonic() + 60
        while True:
            message = call("GET", f'/messages/{order["message"]}')
            if message["status"] in ("delivered", "read"):
                print(f'{order["id"]}: confirmed')
            elif message["status"] in ("failed", "outcome_unknown"):
                print(f'{order["id"]}: {message["status"]}, {next_step(message)}')
            elif time.monotonic() < deadline:
                time.sleep(0.5)
                continue
            else:
                print(f'{order["id"]}: {message["status"]}; the next run looks again')
            break


main()
