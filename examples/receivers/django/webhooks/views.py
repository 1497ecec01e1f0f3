"""Receives webhooks with Django: verified over their raw bytes, kept once, answered at once. `manage.py work` works them off."""

import logging

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from gerbang import WebhookError, webhooks

from .models import Event, Job, Payment

PAYMENTS = {f"payment.{end}" for end in ("created", "processing", "succeeded", "failed", "expired", "canceled")}
log = logging.getLogger(__name__)


@csrf_exempt  # the signature says who sends it
@require_POST
def receive(request):
    try:
        event = webhooks.unwrap(request.body, request.headers, settings.WEBHOOK_SECRETS)
    except WebhookError as error:
        log.warning("webhook: %s", error.step)
        return HttpResponse(status=401)
    if event["type"] in PAYMENTS:  # types that you do not know are answered with 2xx, too
        try:
            keep(event)
        except Known:
            pass
    return HttpResponse(status=200)


class Known(Exception):
    """The event was kept before, or is older than what is kept of its payment."""


@transaction.atomic
def keep(event):
    """One transaction: the event is known, the payment is as it says, and the work is queued; or nothing of all that, and it comes again."""
    data = event["data"]
    rank = {"pending": 0, "processing": 1}.get(data["status"], 2)  # what is over stays over, whatever the clocks say
    version = f"{rank} {event['created_at']} {event['id']}"  # within a second, ids are in the order of the events
    try:
        Event.objects.create(id=event["id"])  # the unique key decides, not a look beforehand
    except IntegrityError as error:
        raise Known from error
    state = {"order_id": data["reference_id"], "status": data["status"], "version": version}
    payment, is_new = Payment.objects.select_for_update().get_or_create(reference=data["reference"], defaults=state)
    if not is_new:
        if version < payment.version:
            return
        Payment.objects.filter(pk=payment.pk).update(**state)
    if event["type"] == "payment.succeeded":
        Job.objects.create(order_id=data["reference_id"], due_at=timezone.now())
