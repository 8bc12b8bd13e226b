# The bill of a month, by category: python3 bill.py 2026-11
import sys
from herald import ask

MONTH = sys.argv[1]
year, month = (int(part) for part in MONTH.split("-"))
following = f"{year + month // 12}-{month % 12 + 1:02}"
# The platform bills months of UTC.
totals = ask("GET", f"/usage?interval=month&since={MONTH}-01T00:00:00Z&until={following}-01T00:00:00Z")["totals"]
print(f'{MONTH}: {totals["submitted"]} submitted, {totals["delivered"]} delivered')
for category, count in sorted(totals["billable"].items()):
    without = totals["unpriced"].get(category, 0)
    print(f"{category}: {count}" + (f", {without} without a price" if without > 0 else ""))
cost = totals["cost_of_priced"]
print("no prices are set" if cost is None else f'estimated: {cost["amount"]} {cost["currency"]}')
