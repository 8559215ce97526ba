-- mapping: celery-beat
-- about: Celery Beat with the schedules of django-celery-beat 2.9, on PostgreSQL
-- tool: the pages Periodic tasks of Django's admin, or the models of django_celery_beat in manage.py shell
-- command: manual: python manage.py shell -c 'from django_celery_beat.models import PeriodicTask; t = PeriodicTask.objects.get(pk='{token}'); t.enabled = True; t.save()'
-- task: send
-- needs: django_celery_beat_periodictask(id, name, interval_id, crontab_id, clocked_id, one_off, start_time, expires, enabled, last_run_at, total_run_count, date_changed)
-- needs: django_celery_beat_intervalschedule(id, every, period)
-- needs: django_celery_beat_crontabschedule(id, minute, hour, day_of_month, month_of_year, day_of_week, timezone)
-- needs: django_celery_beat_clockedschedule(id, clocked_time)

-- A definition is a periodic task, by its name, which is unique. Beat writes when it sent a task within 185 seconds, or at
-- once with beat_sync_every = 1.

-- query: probe
SELECT 'not stored by django-celery-beat' AS version

-- query: definitions
SELECT CAST(id AS text) AS definition, name AS net, 1 AS version, NULL AS name FROM django_celery_beat_periodictask

-- query: open
-- What is due has a row of schedules. Beat itself disables what was to be sent once, and what has expired.
SELECT CAST(id AS text) AS token, CAST(id AS text) AS definition, 'send' AS activity, CAST(id AS text) AS instance, date_changed AS since, NULL AS label
FROM django_celery_beat_periodictask WHERE NOT enabled AND NOT one_off AND (expires IS NULL OR expires > :now)
LIMIT :limit

-- query: why
SELECT CAST(id AS text) AS token, 'send' AS activity, CASE WHEN enabled THEN 'enabled' ELSE 'manual' END AS reason, NULL AS until,
  CASE WHEN enabled THEN 'due, beat has not sent it' ELSE 'the schedule is disabled' END AS what, NULL AS detail
FROM django_celery_beat_periodictask
LIMIT :limit

-- query: schedules
-- Without a last run, the time counts from the last change, or the first is at start_time. A day needs both fields to
-- fit, which no cron expression says; the times of a sunrise are not stored.
WITH s AS (
  SELECT t.*, COALESCE(t.last_run_at, t.date_changed) AS ran, i.every * CAST('1 ' || i.period AS interval) AS every, d.clocked_time, c.timezone,
    CASE WHEN c.day_of_month LIKE '*%' OR c.day_of_week LIKE '*%' THEN
      CONCAT_WS(' ', REPLACE(c.minute, ' ', ''), REPLACE(c.hour, ' ', ''), REPLACE(c.day_of_month, ' ', ''), REPLACE(c.month_of_year, ' ', ''), REPLACE(c.day_of_week, ' ', '')) END AS cron,
    t.last_run_at IS NULL AND t.start_time IS NOT NULL AS first
  FROM django_celery_beat_periodictask t
    LEFT JOIN django_celery_beat_intervalschedule i ON i.id = t.interval_id
    LEFT JOIN django_celery_beat_crontabschedule c ON c.id = t.crontab_id
    LEFT JOIN django_celery_beat_clockedschedule d ON d.id = t.clocked_id
  WHERE t.enabled AND NOT (t.one_off AND t.total_run_count > 0) AND (t.expires IS NULL OR t.expires > :now))
SELECT CAST(id AS text) AS definition, 'send' AS activity,
  CASE WHEN clocked_time IS NOT NULL THEN clocked_time WHEN first THEN GREATEST(start_time, date_changed) WHEN every IS NOT NULL THEN GREATEST(ran + every, start_time)
    WHEN cron IS NOT NULL THEN GREATEST(ran, start_time) END AS next,
  last_run_at AS last, CASE WHEN NOT first THEN cron END AS cron, timezone AS zone, CAST(id AS text) AS token
FROM s LIMIT :limit
