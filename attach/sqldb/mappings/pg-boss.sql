-- mapping: pg-boss
-- about: pg-boss 12.38, on PostgreSQL
-- tool: the methods retry, cancel, resume and redrive of pg-boss, or its dashboard
-- task: job
-- needs: pgboss.version(version)
-- needs: pgboss.queue(name)
-- needs: pgboss.job(id, name, state, retry_limit, retry_count, expire_seconds, singleton_key, start_after, created_on, started_on, completed_on, output, policy, heartbeat_on, heartbeat_seconds, blocked, pending_dependencies)
-- needs: pgboss.job_dependency(child_name, child_id, parent_name, parent_id)
-- needs: pgboss.schedule(name, kind, cron, timezone, updated_on, last_job_id)
-- needs: pgboss.instance(heartbeat_seconds, workers, heartbeat_on, stopped_on)

-- A definition is a queue; those of pg-boss itself are left out. All indexes of jobs begin with the queue.

-- query: probe
SELECT CAST(version AS text) AS version FROM pgboss.version

-- query: definitions
SELECT name AS definition, name AS net, 1 AS version, NULL AS name FROM pgboss.queue WHERE name NOT LIKE '\_\_pgboss\_\_%'

-- query: open
-- A job that is scheduled ahead is not there yet. A try that fails overwrites start_after, so that only the
-- time when the job was sent is left.
SELECT CAST(j.id AS text) AS token, j.name AS definition, 'job' AS activity, CAST(j.id AS text) AS instance,
  CASE WHEN j.state <> 'retry' AND j.retry_count = 0 THEN GREATEST(j.created_on, LEAST(j.start_after, j.started_on)) ELSE j.created_on END AS since, NULL AS label
FROM pgboss.queue q JOIN pgboss.job j ON j.name = q.name
WHERE q.name NOT LIKE '\_\_pgboss\_\_%' AND j.state IN ('created', 'retry', 'active') AND (j.state <> 'created' OR j.start_after <= :now)
LIMIT :limit

-- query: why
-- w has the queues that instances work, with the last sign of life of one, and when it is late: after three
-- intervals, as pg-boss has it. b has the job of each key that keeps the others of the key from being started.
WITH w AS (
  SELECT DISTINCT ON (x.queue) x.queue, i.heartbeat_on, 3 * i.heartbeat_seconds AS late
  FROM pgboss.instance i CROSS JOIN LATERAL JSONB_TO_RECORDSET(i.workers) AS x(queue text)
  WHERE i.stopped_on IS NULL ORDER BY x.queue, i.heartbeat_on DESC
), b AS (
  SELECT DISTINCT ON (j.name, COALESCE(j.singleton_key, '')) j.name, COALESCE(j.singleton_key, '') AS key, j.id, j.state
  FROM pgboss.queue q JOIN pgboss.job j ON j.name = q.name
  WHERE j.state = 'active' AND j.policy IN ('singleton', 'stately') OR j.state IN ('active', 'retry', 'failed') AND j.policy = 'key_strict_fifo'
  ORDER BY j.name, COALESCE(j.singleton_key, ''), j.created_on
), o AS (
  SELECT j.*, w.queue, w.heartbeat_on AS beat, w.late, b.id AS ahead, b.state AS ahead_state, CONCAT(', try ', j.retry_count + 1, ' of ', j.retry_limit + 1) AS try,
    j.state = 'active' AND j.started_on + j.expire_seconds * INTERVAL '1 second' < :now AS expired,
    j.blocked AND EXISTS (SELECT 1 FROM pgboss.job_dependency d JOIN pgboss.job p ON p.name = d.parent_name AND p.id = d.parent_id
      WHERE d.child_name = j.name AND d.child_id = j.id AND p.state IN ('failed', 'cancelled')) AS given_up
  FROM pgboss.queue q JOIN pgboss.job j ON j.name = q.name LEFT JOIN w ON w.queue = j.name
    LEFT JOIN b ON b.name = j.name AND b.key = COALESCE(j.singleton_key, '') AND b.id <> j.id AND j.state <> 'active'
  WHERE q.name NOT LIKE '\_\_pgboss\_\_%' AND j.state IN ('created', 'retry', 'active') AND (j.state <> 'created' OR j.start_after <= :now)
)
SELECT CAST(id AS text) AS token, 'job' AS activity,
  CASE WHEN state = 'active' AND queue IS NULL AND NOT expired THEN 'noWorker' WHEN state = 'active' AND NOT expired THEN 'running' WHEN given_up OR ahead_state = 'failed' THEN 'incident' WHEN blocked THEN 'missing' WHEN state = 'retry' AND (queue IS NOT NULL OR start_after > :now) THEN 'delayed' WHEN queue IS NULL AND ahead IS NULL THEN 'noWorker' ELSE 'enabled' END AS reason,
  CASE WHEN state = 'retry' THEN start_after END AS until,
  CONCAT(
    CASE WHEN expired THEN CONCAT('expired', try, ', no instance has failed it') WHEN state = 'active' THEN CONCAT('running', try)
      WHEN given_up THEN 'a job before it failed or was cancelled'
      WHEN state = 'retry' THEN CONCAT('failed', try, CASE WHEN start_after <= :now THEN ', ' END) END,
    CASE WHEN state = 'active' AND queue IS NULL THEN ', no worker works the queue'
      WHEN blocked OR start_after > :now OR state = 'active' THEN ''
      WHEN ahead IS NOT NULL THEN CONCAT('job ', ahead, ' of its key is ', ahead_state)
      WHEN queue IS NULL THEN 'no worker works the queue'
      ELSE 'no worker has taken it' END) AS what,
  CASE WHEN state IN ('active', 'retry') THEN COALESCE(output #>> '{value,message}', output ->> 'message') END AS detail,
  CASE WHEN state = 'active' AND heartbeat_seconds IS NOT NULL THEN heartbeat_on WHEN NOT blocked AND ahead IS NULL AND (state = 'active' OR start_after <= :now) THEN beat END AS heartbeat,
  CASE WHEN state = 'active' AND heartbeat_seconds IS NOT NULL THEN heartbeat_seconds ELSE late END AS late,
  pending_dependencies AS count
FROM o LIMIT :limit

-- query: schedules
-- The job that a schedule sent last is deleted a week after its end; then it is not known.
SELECT s.name AS definition, 'job' AS activity, GREATEST(j.created_on, CASE WHEN s.last_job_id IS NULL OR j.id IS NOT NULL THEN s.updated_on END) AS next,
  s.cron, s.timezone AS zone
FROM pgboss.schedule s LEFT JOIN pgboss.job j ON j.name = s.name AND j.id = s.last_job_id
WHERE s.kind = 'cron' LIMIT :limit

-- query: started
-- A retry is neither an arrival nor a departure.
SELECT CAST(j.id AS text) AS id, j.created_on AS at, j.name AS definition, 'job' AS activity
FROM pgboss.queue q JOIN pgboss.job j ON j.name = q.name
WHERE q.name NOT LIKE '\_\_pgboss\_\_%' AND j.created_on >= :since AND (j.created_on > :since OR CAST(j.id AS text) > :after)
ORDER BY j.created_on, CAST(j.id AS text) LIMIT :limit

-- query: ended
-- A job that is retried after its end ends again, after more tries.
SELECT CONCAT(j.id, '|', j.retry_count) AS id, j.completed_on AS at, j.name AS definition, 'job' AS activity,
  CASE WHEN j.retry_count = 0 THEN LEAST(GREATEST(j.created_on, LEAST(j.start_after, j.started_on)), j.completed_on) ELSE j.created_on END AS millis,
  CASE WHEN j.state = 'completed' THEN 0 ELSE 1 END AS canceled
FROM pgboss.queue q JOIN pgboss.job j ON j.name = q.name
WHERE q.name NOT LIKE '\_\_pgboss\_\_%' AND j.completed_on >= :since AND (j.completed_on > :since OR CONCAT(j.id, '|', j.retry_count) > :after)
ORDER BY j.completed_on, CONCAT(j.id, '|', j.retry_count) LIMIT :limit
