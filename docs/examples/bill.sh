#!/bin/sh
# The bill of a month, by category: sh bill.sh 2026-11
set -e
cd "$(dirname "$0")"
. ./herald.sh
MONTH=$1
year=${MONTH%-*} month=${MONTH#*-}
month=$((${month#0} % 12 + 1))
[ "$month" -ne 1 ] || year=$((year + 1))
# The platform bills months of UTC.
answer=$(call GET "/usage?interval=month&since=$MONTH-01T00:00:00Z&until=$year-$(printf %02d $month)-01T00:00:00Z")
totals=${answer##*'"totals":'}
counts() { echo "$totals" | sed "s/.*\"$1\":{\([^}]*\)}.*/\1/" | tr ',' '\n' | tr -d '"' | sort; }
echo "$MONTH: $(echo "$totals" | number submitted) submitted, $(echo "$totals" | number delivered) delivered"
counts billable | while IFS=: read -r category count; do
  without=$(counts unpriced | sed -n "s/^$category://p")
  [ -z "$count" ] || echo "$category: $count${without:+, $without without a price}"
done
cost=$(echo "$totals" | grep -o '"cost_of_priced":{[^}]*}' || true)
if [ -z "$cost" ]; then echo 'no prices are set'; else echo "estimated: $(echo "$cost" | first amount) $(echo "$cost" | first currency)"; fi
