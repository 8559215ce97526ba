-- mapping: celery
-- about: Celery 5.7 with its results on PostgreSQL, with result_extended and task_track_started
-- tool: celery control revoke, or Flower
-- command: running: celery -A "$CELERY_APP" inspect query_task {token}
-- command: enabled: celery -A "$CELERY_APP" inspect query_task {token}
-- task: task
-- needs: celery_taskmeta(id, task_id, status, date_done, name, worker, retries, queue)
-- index: celery_taskmeta(id)
-- index: celery_taskmeta(date_done)

-- A definition is a task. A run has a row once a worker has begun it: what waits in the broker has none. date_done is
-- the time of the last change of state, and NULL after the first, to STARTED.

-- query: probe
SELECT 'not stored by Celery' AS version

-- query: definitions
-- No index has the name: those of runs that have not ended, and of the newest results.
SELECT name AS definition, name AS net, 1 AS version, NULL AS name FROM celery_taskmeta
WHERE status NOT IN ('SUCCESS', 'FAILURE', 'REVOKED', 'REJECTED', 'IGNORED') AND name IS NOT NULL
UNION
SELECT name, name, 1, NULL FROM (SELECT name FROM celery_taskmeta ORDER BY id DESC LIMIT 10000) n WHERE name IS NOT NULL

-- query: open
-- Other states than Celery's own are those that a task sets while it runs.
SELECT task_id AS token, name AS definition, 'task' AS activity, task_id AS instance, date_done AS since, NULL AS label
FROM celery_taskmeta WHERE status NOT IN ('SUCCESS', 'FAILURE', 'REVOKED', 'REJECTED', 'IGNORED') AND name IS NOT NULL
LIMIT :limit

-- query: why
SELECT task_id AS token, 'task' AS activity, CASE WHEN status IN ('PENDING', 'RECEIVED', 'RETRY') THEN 'enabled' ELSE 'running' END AS reason, NULL AS until,
  CONCAT(CASE status WHEN 'PENDING' THEN 'received' WHEN 'RECEIVED' THEN 'received' WHEN 'RETRY' THEN 'failed' ELSE 'running' END, ', try ', retries + 1,
    CASE WHEN status = 'RETRY' THEN ', time of the next try not known' WHEN status NOT IN ('PENDING', 'RECEIVED', 'STARTED') THEN CONCAT(', state ', status) END,
    ', queue ' || queue) AS what,
  NULL AS detail, 'worker ' || worker AS holder
FROM celery_taskmeta WHERE status NOT IN ('SUCCESS', 'FAILURE', 'REVOKED', 'REJECTED', 'IGNORED') AND name IS NOT NULL
LIMIT :limit

-- query: ended
-- Celery overwrites the row of a run, and stores no time of its begin.
SELECT task_id AS id, date_done AS at, name AS definition, 'task' AS activity, NULL AS millis, CASE WHEN status = 'SUCCESS' THEN 0 ELSE 1 END AS canceled
FROM celery_taskmeta
WHERE date_done >= :since AND (date_done > :since OR task_id > :after) AND status IN ('SUCCESS', 'FAILURE', 'REVOKED', 'REJECTED', 'IGNORED') AND name IS NOT NULL
ORDER BY date_done, task_id LIMIT :limit
