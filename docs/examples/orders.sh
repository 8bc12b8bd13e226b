#!/bin/sh
# Confirms the orders of orders.csv (id,name,number) by the template order_update: sh orders.sh
set -e
cd "$(dirname "$0")"
. ./herald.sh
CONNECTION=$(call GET /connections | first id)

confirm() { # ID NAME NUMBER
  parameters="[\"$(text "$2")\", \"$(text "$1")\"]"
  template="{\"name\": \"order_update\", \"language\": \"en_US\", \"parameters\": {\"body\": $parameters}}"
  # The key comes from the order: after a crash the same message is asked for, not a second one.
  call POST /messages "{\"connection_id\": \"$CONNECTION\", \"to\": \"$3\", \"type\": \"template\", \"template\": $template}" \
    "$(key_of "orders.sh/$1")" | first id
}

outcome() { # MESSAGE
  for _ in $(seq 60); do
    message=$(call GET "/messages/$1")
    case $(echo "$message" | first status) in
      delivered | read) echo confirmed; return ;;
      failed) echo "failed, $(next_step "$(echo "$message" | first failure_category)")"; return ;;
      outcome_unknown) echo 'unknown, ask the customer: it may have arrived'; return ;;
    esac
    sleep 1
  done
  echo 'on its way; the next run looks again'
}

next_step() { # CATEGORY
  case $1 in
    invalid_recipient | recipient_unreachable) echo 'send an e-mail' ;;
    rate_limited | platform_unavailable) echo 'retry later: POST /messages/{id}/retry' ;;
    *) echo "ask the operator of Herald: $1" ;;
  esac
}

while IFS=, read -r id name to; do
  if message=$(confirm "$id" "$name" "$to"); then echo "$id: $(outcome "$message")"; else echo "$id: not taken"; fi
done < orders.csv
