"""A Django project in one file, for the app `webhooks` beside it. In your project: INSTALLED_APPS, the path, and the database have these lines."""

import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": os.environ.get("INBOX", "inbox.sqlite"),
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 5},  # of SQLite alone: who reads and then writes, waits for its turn
        }
    },
    DATA_UPLOAD_MAX_MEMORY_SIZE=1_000_000,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["webhooks"],
    ROOT_URLCONF="webhooks.urls",
    SECRET_KEY=os.environ.get("SECRET_KEY") or os.urandom(32).hex(),
    USE_TZ=True,
    WEBHOOK_SECRETS=os.environ["GERBANG_WEBHOOK_SECRET"].replace(" ", "").split(","),  # whsec_…; two with a comma between them during a rotation
)

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    django.setup()
    execute_from_command_line(sys.argv)
