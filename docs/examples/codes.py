# Logs a person in by a one-time code: python3 codes.py +15550100003. HERALD_API_KEY is the key of an OTP project.
import sys, uuid
from herald import Refused, call

sent = call("POST", "/otp/send", {"to": sys.argv[1]}, key=str(uuid.uuid4()))
# Only a sandbox answers with the code.
if "test_code" in sent:
    print("test code", sent["test_code"])
while True:
    print("Type the code:", flush=True)
    try:
        print("logged in:", call("POST", "/otp/verify", {"id": sent["id"], "code": input().strip()})["recipient"])
        break
    except Refused as refused:
        code = refused.error["code"]
        # Anything else needs a new code: it has expired, was used, or its guesses are used up.
        if code not in ("OTP_CODE_INCORRECT", "INVALID_REQUEST"):
            sys.exit(f"ask for a new code: {code}")
        print("not right:", code)
