"""`manage.py work`: does what is queued, for ever."""

import time
from datetime import timedelta

from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils import timezone

from webhooks.models import Job


def fulfil(order):
    print(f"paid: {order}", flush=True)  # in your shop: fulfil it


class Command(BaseCommand):
    help = "Does what is queued. What fails, or a crash interrupts, is done again after a minute: let fulfil bear that."

    def handle(self, **_):
        while True:
            job = claimed()
            if job is None:
                time.sleep(0.2)
                continue
            try:
                fulfil(job.order_id)
            except Exception as error:
                print(f"order {job.order_id} is not fulfilled yet: {error}", flush=True)
            else:
                job.delete()


@transaction.atomic
def claimed():
    now = timezone.now()
    job = Job.objects.select_for_update().filter(due_at__lte=now).order_by("due_at", "id").first()
    if job is not None:
        job.due_at = now + timedelta(minutes=1)
        job.save()
    return job
