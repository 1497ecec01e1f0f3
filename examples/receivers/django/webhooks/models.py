"""What a receiver keeps: the events it knows, the newest state of each payment, and the work that is to be done."""

from django.db import models


class Event(models.Model):
    id = models.CharField(primary_key=True, max_length=60)
    kept_at = models.DateTimeField(auto_now_add=True)


class Payment(models.Model):
    reference = models.CharField(primary_key=True, max_length=60)
    order_id = models.CharField(max_length=100)
    status = models.CharField(max_length=30)
    version = models.CharField(max_length=100)


class Job(models.Model):
    order_id = models.CharField(max_length=100)
    due_at = models.DateTimeField(db_index=True)
