"""Holds a day's payments against your own orders: `python3 reconcile.py orders.csv [YYYY-MM-DD]`, yesterday (UTC) where no day is given.

The file has the columns reference_id and amount_minor, one line for each order that you hold for paid. Exit status 1: there are differences.
Set GERBANG_CLIENT_ID, GERBANG_SECRET and GERBANG_BASE_URL.
"""

import csv
import datetime
import sys

from gerbang import Gerbang, GerbangError

PAID = ("succeeded", "partially_refunded", "refunded")


def own_orders(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {line["reference_id"]: int(line["amount_minor"]) for line in csv.DictReader(file)}


def differences(orders, payments):
    """What the two sides disagree about, as sentences."""
    paid = {payment["reference_id"]: payment for payment in payments if payment["status"] in PAID}
    for id, payment in paid.items():
        amount = payment["amount_minor"]
        if id not in orders:
            yield f"{id}: {payment['reference']} was paid, {amount} {payment['currency']}, and you have no such order"
        elif orders[id] != amount:
            yield f"{id}: {payment['reference']} was paid with {amount}, your order says {orders[id]}"
    for id in orders.keys() - paid.keys():
        yield f"{id}: you hold it for paid, and no payment of that day says so"


def main(path, day):
    with Gerbang() as gerbang:
        try:
            payments = list(gerbang.payments.list(created_from=day, created_to=day))
            batches = list(gerbang.settlements.list(date_from=day, date_to=day))
        except GerbangError as error:
            sys.exit(f"{error}\n{error.advice}")
    found = sorted(differences(own_orders(path), payments))
    paid = [payment for payment in payments if payment["status"] in PAID]
    print(f"{day}: {len(payments)} payments, {len(paid)} paid, {sum(one['net_minor'] for one in paid)} net in minor units")
    for batch in batches:
        print(f"{batch['uuid']}: {batch['status']}, {batch['payment_count']} payments, {batch['net_minor']} net")
    print(*(found or ["Everything agrees."]), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    yesterday = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else yesterday.isoformat()))
