# What the shell programs of this folder share: `. ./herald.sh`. HERALD_URL and HERALD_API_KEY say where Herald is, and who calls.
API="${HERALD_URL:?set it to the address of Herald}/api/v1"
: "${HERALD_API_KEY:?set it to your API key}"

# call METHOD PATH [BODY] [KEY]: prints the answer, and fails where it is a refusal. What may be repeated is: reads, what has a key,
# and what needs none, whose KEY is -.
call() {
  method=$1 path=$2 body=$3 key=$4 out=$(mktemp)
  set -- -sS --fail-with-body --max-time 40 -o "$out" -H "Authorization: Bearer $HERALD_API_KEY"
  # curl waits as long as Retry-After says.
  if [ "$method" = GET ] || [ -n "$key" ]; then set -- "$@" --retry 5 --retry-connrefused; fi
  if [ -n "$key" ] && [ "$key" != - ]; then set -- "$@" -H "Idempotency-Key: $key"; fi
  if [ -n "$body" ]; then set -- "$@" -H 'Content-Type: application/json' --data-binary "$body"; fi
  code=0
  curl "$@" -X "$method" "$API$path" || code=$?
  cat "$out"
  rm "$out"
  return "$code"
}

# first NAME: the first text of this name in JSON. For ids, numbers and states, which have no quotes in them.
first() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# number NAME: the first number of this name; nothing where there is none.
number() { grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d : -f 2; }

# text TEXT: within quotes of JSON.
text() { printf '%s' "$1" | sed 's/[\\"]/\\&/g'; }

# key_of NAME: the same key for the same name: a program that starts again makes no second message.
key_of() {
  printf '%s' "$1" | { sha1sum 2>/dev/null || shasum; } |
    sed 's/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\).*/\1-\2-5\3-8\4-\5/'
}
