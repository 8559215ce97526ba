-- mapping: procrastinate
-- about: Procrastinate 3.10, on PostgreSQL
-- tool: procrastinate shell, or the methods retry_job_by_id and cancel_job_by_id of the app's job manager
-- command: incident: procrastinate shell retry {token}
-- task: job
-- needs: procrastinate_jobs(id, queue_name, task_name, priority, lock, status, scheduled_at, attempts, abort_requested, worker_id)
-- needs: procrastinate_events(id, job_id, type, at)
-- needs: procrastinate_workers(id, last_heartbeat)
-- index: procrastinate_jobs(id)
-- index: procrastinate_jobs(priority)
-- index: procrastinate_events(id)
-- index: procrastinate_events(job_id)

-- A definition is a task. Apps share the name of the queue default.

-- query: probe
SELECT CASE WHEN TO_REGPROC('procrastinate_retry_job_v2') IS NULL THEN 'before 3.4' ELSE '3.4 or later' END AS version

-- query: definitions
-- No index has the task: those of open jobs, and of the newest events.
SELECT task_name AS definition, task_name AS net, 1 AS version, NULL AS name FROM procrastinate_jobs WHERE status IN ('todo', 'doing')
UNION
SELECT j.task_name, j.task_name, 1, NULL
FROM (SELECT DISTINCT job_id FROM (SELECT job_id FROM procrastinate_events ORDER BY id DESC LIMIT 10000) n) e
  CROSS JOIN LATERAL (SELECT task_name FROM procrastinate_jobs WHERE id = e.job_id LIMIT 1) j

-- query: open
-- A job that was deferred to a later time is not there yet. One that was started is, until it
-- ends. One that failed and is retried by a user comes then.
SELECT CAST(j.id AS text) AS token, j.task_name AS definition, 'job' AS activity, CAST(j.id AS text) AS instance,
  COALESCE(
    (SELECT MIN(s.at) FROM procrastinate_events s WHERE s.job_id = j.id AND s.type = 'started'
      AND s.id > COALESCE((SELECT MAX(r.id) FROM procrastinate_events r WHERE r.job_id = j.id AND r.type = 'retried'), 0)),
    GREATEST((SELECT MAX(d.at) FROM procrastinate_events d WHERE d.job_id = j.id AND d.type IN ('deferred', 'retried')),
      CASE WHEN j.scheduled_at <= :now THEN j.scheduled_at END)) AS since,
  NULL AS label
FROM procrastinate_jobs j
WHERE j.status IN ('todo', 'doing') AND (j.status = 'doing' OR j.attempts > 0 OR j.scheduled_at IS NULL OR j.scheduled_at <= :now)
LIMIT :limit

-- query: why
-- A worker takes no job while another one of its lock is running, or goes before it, also one
-- whose time has not come. A worker that starts deletes those that are gone.
WITH o AS (
  SELECT id, queue_name, lock, status, scheduled_at, attempts, abort_requested, worker_id,
    CASE WHEN lock IS NOT NULL THEN FIRST_VALUE(id) OVER (PARTITION BY lock ORDER BY status = 'doing' DESC, priority DESC, id) ELSE id END AS ahead
  FROM procrastinate_jobs WHERE status IN ('todo', 'doing')
), h AS (SELECT MAX(last_heartbeat) AS last FROM procrastinate_workers)
SELECT CAST(o.id AS text) AS token, 'job' AS activity,
  CASE WHEN o.status = 'doing' AND w.id IS NULL THEN 'incident'
    WHEN o.status = 'doing' THEN 'running'
    WHEN o.scheduled_at > :now THEN 'delayed'
    WHEN o.ahead = o.id AND h.last IS NULL THEN 'noWorker'
    ELSE 'enabled' END AS reason,
  CASE WHEN o.status <> 'doing' AND o.scheduled_at > :now THEN o.scheduled_at END AS until,
  CONCAT(
    CASE WHEN o.status = 'todo' AND o.attempts > 0 THEN CONCAT('failed, try ', o.attempts, CASE WHEN o.scheduled_at > :now THEN '' ELSE ', ' END) END,
    CASE WHEN o.status = 'doing' THEN CONCAT('running in queue ', o.queue_name, ', try ', o.attempts + 1, CASE WHEN w.id IS NULL THEN ', its worker is gone' END)
      WHEN o.scheduled_at > :now THEN ''
      ELSE CONCAT('in queue ', o.queue_name, CASE WHEN o.ahead <> o.id THEN CONCAT(', job ', o.ahead, ' has its lock') WHEN h.last IS NULL THEN ', there is no worker' ELSE ', no worker has taken it' END) END,
    CASE WHEN o.abort_requested THEN ', to be aborted' END) AS what,
  CASE WHEN o.lock IS NOT NULL THEN CONCAT('lock ', o.lock) END AS detail,
  CASE WHEN o.status = 'doing' THEN w.last_heartbeat WHEN o.ahead = o.id AND (o.scheduled_at IS NULL OR o.scheduled_at <= :now) THEN h.last END AS heartbeat,
  CASE WHEN o.status = 'doing' THEN 'worker ' || w.id END AS holder
FROM o CROSS JOIN h LEFT JOIN procrastinate_workers w ON w.id = o.worker_id
WHERE o.status = 'doing' OR o.attempts > 0 OR o.scheduled_at IS NULL OR o.scheduled_at <= :now
LIMIT :limit

-- query: floor
SELECT COALESCE(MAX(id), 0) AS floor FROM procrastinate_events

-- query: started
-- No index has the time of an event; ids grow with it. The first poll has no floor.
SELECT CAST(e.id AS text) AS id, e.at, j.task_name AS definition, 'job' AS activity
FROM procrastinate_events e JOIN procrastinate_jobs j ON j.id = e.job_id
WHERE e.id >= GREATEST(:floor, (SELECT MAX(id) FROM procrastinate_events) - 1000000) AND e.type IN ('deferred', 'retried')
  AND e.at >= :since AND (e.at > :since OR CAST(e.id AS text) > :after)
ORDER BY e.at, CAST(e.id AS text) LIMIT :limit

-- query: ended
SELECT CAST(e.id AS text) AS id, e.at, j.task_name AS definition, 'job' AS activity,
  COALESCE(
    (SELECT MIN(s.at) FROM procrastinate_events s WHERE s.job_id = e.job_id AND s.type = 'started' AND s.id < e.id
      AND s.id > COALESCE((SELECT MAX(r.id) FROM procrastinate_events r WHERE r.job_id = e.job_id AND r.type = 'retried' AND r.id < e.id), 0)),
    (SELECT MAX(d.at) FROM procrastinate_events d WHERE d.job_id = e.job_id AND d.type IN ('deferred', 'retried') AND d.id < e.id)) AS millis,
  CASE WHEN e.type = 'succeeded' THEN 0 ELSE 1 END AS canceled
FROM procrastinate_events e JOIN procrastinate_jobs j ON j.id = e.job_id
WHERE e.id >= GREATEST(:floor, (SELECT MAX(id) FROM procrastinate_events) - 1000000) AND e.type IN ('succeeded', 'failed', 'cancelled', 'aborted')
  AND e.at >= :since AND (e.at > :since OR CAST(e.id AS text) > :after)
ORDER BY e.at, CAST(e.id AS text) LIMIT :limit
