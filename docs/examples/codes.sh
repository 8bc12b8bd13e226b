#!/bin/sh
# Logs a person in by a one-time code: sh codes.sh +15550100003. HERALD_API_KEY is the key of an OTP project.
set -e
cd "$(dirname "$0")"
. ./herald.sh
sent=$(call POST /otp/send "{\"to\": \"$(text "$1")\"}" "$(key_of "codes.sh/$1/$(date +%s)/$$")")
id=$(echo "$sent" | first id)
# Only a sandbox answers with the code.
test_code=$(echo "$sent" | first test_code || true)
[ -z "$test_code" ] || echo "test code $test_code"
echo 'Type the code:'
while read -r typed; do
  if answer=$(call POST /otp/verify "{\"id\": \"$id\", \"code\": \"$(text "$typed")\"}" 2> /dev/null); then
    echo "logged in: $(echo "$answer" | first recipient)"
    exit
  fi
  code=$(echo "$answer" | first code)
  # Anything else needs a new code: it has expired, was used, or its guesses are used up.
  case $code in OTP_CODE_INCORRECT | INVALID_REQUEST) ;; *) echo "ask for a new code: $code"; exit 1 ;; esac
  echo "not right: $code"
  echo 'Type the code:'
done
