#!/bin/sh
# Answers each customer once, by events: sh inbox.sh place.txt. A shell has no server for a webhook.
set -e
cd "$(dirname "$0")"
. ./herald.sh
FILE=$1

# From the place where the last run ended; at first from now on.
[ -f "$FILE" ] || call GET '/events?after=now' | first next > "$FILE"
while page=$(call GET "/events?types=message.received&limit=1&wait=20&after=$(cat "$FILE")"); do
  event=$(echo "$page" | first id)
  if [ -n "$event" ]; then
    from=$(echo "$page" | first from)
    body="{\"connection_id\":\"$(echo "$page" | first connection_id)\",\"to\":\"+$from\",\"type\":\"text\",\"text\":{\"body\":\"We answer soon.\"}}"
    # Once for each event, however often it comes: the key is made of its id.
    if [ -n "$from" ] && call POST /messages "$body" "$(key_of "inbox.sh/$event")" > /dev/null; then
      echo "answered +$from"
    else
      echo "not answered: $event"
    fi
  fi
  # Only now: a program that dies before reads this event again.
  echo "$page" | sed 's/.*"next":"\([^"]*\)".*/\1/' > "$FILE.new"
  mv "$FILE.new" "$FILE"
done
