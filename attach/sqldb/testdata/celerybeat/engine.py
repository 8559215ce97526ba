# SPDX-License-Identifier: Apache-2.0
"""Celery Beat with the schedules of django-celery-beat for the tests: python engine.py DATABASE. Its broker is in memory.

It reads commands from standard input, and answers each with lines and "ok":

    interval NAME SECONDS [START]   a periodic task, also one that is to begin in some seconds
    crontab NAME ZONE FIELD...      with the five fields of crontab
    sunset NAME
    clocked NAME SECONDS            a task that is sent once, in some seconds
    disable NAME                    as Django's admin does
    work ID                         starts a beat in a process of its own
    kill ID                         kills it
    report                          "job" with the time when beat sends a task next, by its own schedule, and "at" for what is due
                                    or disabled
"""

import os
import sys
from datetime import datetime, timedelta, timezone
from urllib.parse import urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import django
from celery import Celery
from celery.signals import beat_init
from commands import Workers, serve
from django.conf import settings
from django.core.management import call_command


def new_app(database):
    url = urlsplit(database)
    settings.configure(
        USE_TZ=True,
        TIME_ZONE="UTC",
        INSTALLED_APPS=["django_celery_beat"],
        DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": url.path[1:], "USER": url.username, "HOST": url.hostname, "PORT": url.port}},
    )
    django.setup()
    app = Celery("shop", broker="memory://", set_as_current=True)
    app.conf.update(timezone="UTC", beat_sync_every=1)
    return app


def millis(at):
    return int(at.timestamp() * 1000)


def now():
    return datetime.now(timezone.utc)


class Engine:
    def __init__(self, app):
        from django_celery_beat import models, schedulers

        call_command("migrate", verbosity=0)
        self.app, self.models, self.entry = app, models, schedulers.ModelEntry

    def add(self, name, **of):
        self.models.PeriodicTask.objects.create(name=name, task="shop." + name, **of)

    def interval(self, name, seconds, start=None):
        every, _ = self.models.IntervalSchedule.objects.get_or_create(every=int(seconds), period="seconds")
        self.add(name, interval=every, start_time=start and now() + timedelta(seconds=int(start)))

    def crontab(self, name, zone, *fields):
        names = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
        self.add(name, crontab=self.models.CrontabSchedule.objects.create(timezone=zone, **dict(zip(names, fields))))

    def sunset(self, name):
        self.add(name, solar=self.models.SolarSchedule.objects.create(event="sunset", latitude=52.5, longitude=13.4))

    def clocked(self, name, seconds):
        at = self.models.ClockedSchedule.objects.create(clocked_time=now() + timedelta(seconds=int(seconds)))
        self.add(name, clocked=at, one_off=True)

    def disable(self, name):
        task = self.models.PeriodicTask.objects.get(name=name)
        task.enabled = False
        task.save()

    def report(self):
        at = now()
        for task in self.models.PeriodicTask.objects.all():
            if not task.enabled:
                if not task.one_off:
                    print("at", task.name, task.pk, "send", millis(task.date_changed))
                continue
            entry = self.entry(task, app=self.app)
            wait = entry.schedule.remaining_estimate(entry.last_run_at)
            due = entry.last_run_at + entry.schedule.run_every if task.interval else at + (wait or timedelta())
            if task.clocked:
                due = task.clocked.clocked_time
            if task.start_time:
                due = max(due, task.start_time)
            print("job", task.name, task.pk, task.name, "send", millis(due))
            if due <= at:
                print("at", task.name, task.pk, "send", millis(due))


def beat(app):
    beat_init.connect(lambda **_: os.write(1, b"beats\n"), weak=False)
    app.Beat(scheduler="django_celery_beat.schedulers:DatabaseScheduler", schedule="", quiet=True, loglevel="CRITICAL", redirect_stdouts=False, max_interval=1).run()


if __name__ == "__main__":
    app = new_app(sys.argv[1])
    if len(sys.argv) > 2:
        beat(app)
    else:
        serve(Engine(app), Workers(sys.executable, __file__, sys.argv[1]))
