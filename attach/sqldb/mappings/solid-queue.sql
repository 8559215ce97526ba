-- mapping: solid-queue
-- about: Solid Queue 1, on PostgreSQL
-- tool: Mission Control Jobs, or the Rails console
-- command: incident: rails runner 'j = SolidQueue::Job.find('{token}'); j.failed? ? j.retry : j.claimed_execution.release'
-- task: job
-- needs: solid_queue_jobs(id, queue_name, class_name, arguments, scheduled_at, finished_at, concurrency_key, created_at)
-- needs: solid_queue_ready_executions(job_id)
-- needs: solid_queue_claimed_executions(job_id, process_id)
-- needs: solid_queue_blocked_executions(job_id)
-- needs: solid_queue_scheduled_executions(job_id, scheduled_at)
-- needs: solid_queue_failed_executions(job_id, error, created_at)
-- needs: solid_queue_pauses(queue_name)
-- needs: solid_queue_processes(id, kind, last_heartbeat_at, name)
-- needs: solid_queue_recurring_tasks(key, schedule, class_name, created_at)
-- needs: solid_queue_recurring_executions(task_key, run_at)
-- index: solid_queue_jobs(id)
-- index: solid_queue_jobs(class_name)
-- index: solid_queue_jobs(finished_at)

-- A definition is a class of jobs. A job that has not ended has an execution: its table is the state. Active Job's
-- retry is a new job, of which the arguments have the number of executions before.

-- query: probe
SELECT 'not stored by Solid Queue' AS version

-- query: definitions
-- From each class to the next, by the index.
WITH RECURSIVE n AS (
  SELECT CAST(MIN(class_name) AS text) AS name FROM solid_queue_jobs
  UNION ALL
  SELECT (SELECT CAST(MIN(j.class_name) AS text) FROM solid_queue_jobs j WHERE j.class_name > n.name) FROM n WHERE n.name IS NOT NULL)
SELECT name AS definition, name AS net, 1 AS version, NULL AS name FROM n WHERE name IS NOT NULL
UNION SELECT COALESCE(class_name, 'SolidQueue::RecurringJob'), COALESCE(class_name, 'SolidQueue::RecurringJob'), 1, NULL FROM solid_queue_recurring_tasks

-- query: open
-- A job that is scheduled ahead is not there yet, unless it is a retry.
WITH x AS (
  SELECT job_id, CAST(NULL AS timestamp) AS failed FROM solid_queue_ready_executions
  UNION ALL SELECT job_id, NULL FROM solid_queue_claimed_executions
  UNION ALL SELECT job_id, NULL FROM solid_queue_blocked_executions
  UNION ALL SELECT job_id, NULL FROM solid_queue_scheduled_executions
  UNION ALL SELECT job_id, created_at FROM solid_queue_failed_executions)
SELECT CAST(j.id AS text) AS token, j.class_name AS definition, 'job' AS activity, CAST(j.id AS text) AS instance,
  COALESCE(x.failed, CASE WHEN j.scheduled_at <= :now THEN j.scheduled_at END, j.created_at) AS since, NULL AS label
FROM x JOIN solid_queue_jobs j ON j.id = x.job_id
WHERE x.failed IS NOT NULL OR j.scheduled_at IS NULL OR j.scheduled_at <= :now OR j.arguments NOT LIKE '%"executions":0,%'
LIMIT :limit

-- query: why
-- Each process reports every minute. The others delete one that is silent for five, and its jobs have failed then.
WITH x AS (
  SELECT job_id, 'ready' AS state, CAST(NULL AS bigint) AS process, CAST(NULL AS text) AS error FROM solid_queue_ready_executions
  UNION ALL SELECT job_id, 'claimed', process_id, NULL FROM solid_queue_claimed_executions
  UNION ALL SELECT job_id, 'blocked', NULL, NULL FROM solid_queue_blocked_executions
  UNION ALL SELECT job_id, 'scheduled', NULL, NULL FROM solid_queue_scheduled_executions
  UNION ALL SELECT job_id, 'failed', NULL, error FROM solid_queue_failed_executions),
h AS (
  SELECT MAX(CASE WHEN kind = 'Worker' THEN last_heartbeat_at END) AS worker, MAX(CASE WHEN kind = 'Dispatcher' THEN last_heartbeat_at END) AS dispatcher FROM solid_queue_processes),
o AS (
  SELECT x.*, j.queue_name, j.scheduled_at, j.concurrency_key, CAST(CAST(j.arguments AS jsonb) ->> 'executions' AS integer) AS tries, p.last_heartbeat_at, p.name,
    q.queue_name IS NOT NULL AS paused, CASE x.state WHEN 'ready' THEN h.worker WHEN 'scheduled' THEN h.dispatcher END AS taker
  FROM x JOIN solid_queue_jobs j ON j.id = x.job_id LEFT JOIN solid_queue_processes p ON p.id = x.process LEFT JOIN solid_queue_pauses q ON q.queue_name = j.queue_name CROSS JOIN h
  WHERE x.state = 'failed' OR j.scheduled_at IS NULL OR j.scheduled_at <= :now OR j.arguments NOT LIKE '%"executions":0,%')
SELECT CAST(job_id AS text) AS token, 'job' AS activity,
  CASE WHEN state = 'failed' OR state = 'claimed' AND last_heartbeat_at IS NULL THEN 'incident' WHEN state = 'claimed' THEN 'running' WHEN scheduled_at > :now THEN 'delayed'
    WHEN state = 'ready' AND paused THEN 'manual' WHEN state <> 'blocked' AND taker IS NULL THEN 'noWorker' ELSE 'enabled' END AS reason,
  CASE WHEN state <> 'claimed' THEN scheduled_at END AS until,
  CASE WHEN state = 'claimed' THEN CONCAT('running in queue ', queue_name, ', try ', tries + 1, CASE WHEN last_heartbeat_at IS NULL THEN ', its worker is gone' END)
    WHEN state = 'failed' THEN CONCAT('failed, try ', tries + 1)
    ELSE CONCAT_WS(', ', CASE WHEN tries > 0 THEN CONCAT('failed, try ', tries) END, CASE WHEN state = 'scheduled' AND scheduled_at > :now THEN NULL ELSE CONCAT('in queue ', queue_name, CASE
      WHEN state = 'blocked' THEN ', waits for its concurrency limit'
      WHEN state = 'scheduled' THEN CASE WHEN taker IS NULL THEN ', there is no dispatcher' ELSE ', no dispatcher has made it ready' END
      WHEN paused THEN ', the queue is paused'
      WHEN taker IS NULL THEN ', there is no worker' ELSE ', no worker has taken it' END) END) END AS what,
  CASE WHEN state = 'failed' THEN CAST(error AS jsonb) ->> 'message' ELSE concurrency_key END AS detail,
  CASE WHEN state = 'claimed' THEN last_heartbeat_at WHEN NOT paused AND (state = 'ready' OR scheduled_at <= :now) THEN taker END AS heartbeat, 120 AS late,
  'worker ' || name AS holder
FROM o
LIMIT :limit

-- query: floor
SELECT COALESCE(MAX(id), 0) AS floor FROM solid_queue_jobs

-- query: schedules
-- Only texts that are a cron expression, with or without a zone, are read, and not 'every hour'. The executions of a task are
-- deleted with their jobs, which are kept for a day by default: without one it is known only while the task is that young.
SELECT COALESCE(t.class_name, 'SolidQueue::RecurringJob') AS definition, 'job' AS activity,
  COALESCE((SELECT MAX(e.run_at) FROM solid_queue_recurring_executions e WHERE e.task_key = t.key), CASE WHEN t.created_at + INTERVAL '1 day' > :now THEN t.created_at END) AS next,
  COALESCE(SUBSTRING(t.schedule FROM '^(\S+ \S+ \S+ \S+ \S+) [A-Z]\S*$'), t.schedule) AS cron, SUBSTRING(t.schedule FROM '^\S+ \S+ \S+ \S+ \S+ ([A-Z]\S*)$') AS zone
FROM solid_queue_recurring_tasks t LIMIT :limit

-- query: started
-- No index has created_at; ids grow with it. The first poll has no floor.
SELECT CAST(id AS text) AS id, created_at AS at, class_name AS definition, 'job' AS activity FROM solid_queue_jobs
WHERE id >= GREATEST(:floor, (SELECT MAX(id) FROM solid_queue_jobs) - 1000000) AND created_at >= :since AND (created_at > :since OR CAST(id AS text) > :after)
ORDER BY created_at, CAST(id AS text) LIMIT :limit

-- query: ended
SELECT CAST(id AS text) AS id, finished_at AS at, class_name AS definition, 'job' AS activity, LEAST(COALESCE(scheduled_at, created_at), finished_at) AS millis, 0 AS canceled
FROM solid_queue_jobs
WHERE finished_at >= :since AND (finished_at > :since OR CAST(id AS text) > :after)
ORDER BY finished_at, CAST(id AS text) LIMIT :limit
