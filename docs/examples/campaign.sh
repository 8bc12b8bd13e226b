#!/bin/sh
# Sends the campaign of recipients.csv (to,name,order) under one tag, and reports it: sh campaign.sh spring-sale
set -e
cd "$(dirname "$0")"
. ./herald.sh
TAG=$1
BATCH=100
CONNECTION=$(call GET /connections | first id)

# From tag and recipient, not from the line: the file may be sorted anew, and no one gets a second message.
messages() { # the lines of a batch
  while IFS=, read -r to name order; do
    template="{\"name\":\"order_update\",\"language\":\"en_US\",\"parameters\":{\"body\":[\"$(text "$name")\",\"$(text "$order")\"]}}"
    printf '%s{"idempotency_key":"%s","connection_id":"%s","to":"%s","type":"template","template":%s,"tag":"%s"}' \
      "$comma" "$(key_of "campaign.sh/$TAG/$to")" "$CONNECTION" "$to" "$template" "$TAG"
    comma=,
  done
}

tail -n +2 recipients.csv | split -l "$BATCH" - .batch-
for part in .batch-*; do
  answer=$(call POST /messages/batch "{\"validation\":\"permissive\",\"messages\":[$(comma='' messages < "$part")]}" -)
  # Errors name their line by its index, counted from 0.
  echo "${answer##*'"errors":'}" | grep -o '"index":[0-9]*,"code":"[^"]*"' | while IFS=':,"' read -r _ _ _ index _ _ _ _ code _; do
    echo "not taken: $(sed -n "$((index + 1))s/,.*//p" "$part") $code"
  done
  rm "$part"
done

until tag=$(call GET "/tags/$TAG") && ! echo "$tag" | grep -qE '"(queued|processing|accepted|sent)":[1-9]'; do sleep 2; done
failed=$(echo "$tag" | sed 's/.*"counts"//' | number failed)
echo "$(echo "$tag" | number messages) messages, ${failed:-0} failed"
call GET "/messages?tag=$TAG&status=failed&limit=100" | grep -o '"to":"[^"]*"\|"failure_category":"[^"]*"' |
  cut -d '"' -f 4 | paste -d ' ' - - | sed 's/^/failed: +/'
