-- mapping: graphile-worker
-- about: Graphile Worker 0.18, on PostgreSQL
-- tool: SQL functions of the schema graphile_worker, such as reschedule_jobs and force_unlock_workers
-- command: incident: psql "$DATABASE_URL" -c "SELECT id, run_at FROM graphile_worker.reschedule_jobs(ARRAY["{token}"], run_at => now(), attempts => 0)"
-- task: job
-- needs: graphile_worker.migrations(id)
-- needs: graphile_worker._private_tasks(id, identifier)
-- needs: graphile_worker._private_jobs(id, job_queue_id, task_id, run_at, attempts, max_attempts, last_error, created_at, key, locked_at, locked_by)
-- needs: graphile_worker._private_job_queues(id, queue_name, locked_at)

-- A definition is a task, and each job is an instance. Graphile Worker deletes a job that has
-- ended, so nothing is counted.

-- query: probe
SELECT MAX(id)::text AS version FROM graphile_worker.migrations

-- query: definitions
SELECT id::text AS definition, identifier AS net, 1 AS version, NULL AS name FROM graphile_worker._private_tasks

-- query: open
-- A job that is scheduled ahead is not there yet. A try that fails overwrites run_at, so that only
-- the time when the job was added is left.
SELECT id::text AS token, task_id::text AS definition, 'job' AS activity, id::text AS instance,
  CASE WHEN attempts = 0 OR attempts = 1 AND locked_at IS NOT NULL THEN GREATEST(created_at, run_at) ELSE created_at END AS since, key AS label
FROM graphile_worker._private_jobs
WHERE attempts > 0 OR locked_at IS NOT NULL OR run_at <= now()
LIMIT :limit

-- query: retry
SELECT id::text AS token FROM graphile_worker.reschedule_jobs(ARRAY[CAST(:token AS bigint)], run_at => now(), attempts => 0)

-- query: why
-- Workers send no heartbeat. A worker that runs unlocks what has been locked for four hours.
SELECT j.id::text AS token, 'job' AS activity,
  CASE WHEN j.locked_at >= now() - INTERVAL '4 hours' OR j.locked_at IS NOT NULL AND j.attempts < j.max_attempts THEN 'running'
    WHEN j.attempts >= j.max_attempts THEN 'incident'
    WHEN j.attempts > 0 THEN 'delayed'
    ELSE 'enabled' END AS reason,
  COALESCE(j.locked_at + INTERVAL '4 hours', CASE WHEN j.attempts > 0 THEN j.run_at END) AS until,
  CONCAT(
    CASE WHEN j.locked_at >= now() - INTERVAL '4 hours' THEN 'running'
      WHEN j.locked_at IS NOT NULL THEN 'lock expired'
      WHEN j.attempts > 0 AND j.last_error IS NULL THEN 'no result'
      WHEN j.attempts > 0 THEN 'failed'
      WHEN q.locked_at IS NULL THEN 'no worker has taken it' END,
    CASE WHEN j.attempts > 0 THEN CONCAT(', try ', j.attempts, ' of ', j.max_attempts) END,
    CASE WHEN j.locked_at IS NOT NULL THEN CONCAT(', locked since ', to_char(j.locked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
      WHEN j.attempts < j.max_attempts AND q.locked_at IS NOT NULL
      THEN CONCAT(CASE WHEN j.attempts > 0 THEN ', ' END, 'its queue is locked since ', to_char(q.locked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) END) AS what,
  CONCAT_WS('; ', 'queue ' || q.queue_name, j.last_error) AS detail, j.locked_by AS holder
FROM graphile_worker._private_jobs j LEFT JOIN graphile_worker._private_job_queues q ON q.id = j.job_queue_id
WHERE j.attempts > 0 OR j.locked_at IS NOT NULL OR j.run_at <= now()
LIMIT :limit
