-- mapping: good-job
-- about: GoodJob 4, on PostgreSQL
-- tool: GoodJob's dashboard, or the Rails console
-- task: job
-- needs: good_jobs(id, active_job_id, job_class, queue_name, scheduled_at, performed_at, finished_at, created_at, error, executions_count, locked_by_id, retried_good_job_id)
-- needs: good_job_executions(active_job_id, created_at)
-- needs: good_job_processes(id, updated_at)
-- index: good_jobs(finished_at)
-- index: good_job_executions(active_job_id)

-- A definition is a class of jobs. GoodJob's advisory locks are not read, because a replica has none of them.

-- query: probe
SELECT 'not stored by GoodJob' AS version

-- query: definitions
-- No index has the class: those of open jobs, and of the newest ones that ended.
SELECT job_class AS definition, job_class AS net, 1 AS version, NULL AS name FROM good_jobs WHERE finished_at IS NULL AND job_class IS NOT NULL
UNION
SELECT job_class, job_class, 1, NULL FROM (SELECT job_class FROM good_jobs WHERE finished_at IS NOT NULL AND retried_good_job_id IS NULL ORDER BY finished_at DESC LIMIT 10000) n
WHERE job_class IS NOT NULL

-- query: open
-- A job that is scheduled ahead is not there yet. A retry overwrites scheduled_at and created_at; an execution has the start of each try.
SELECT CAST(j.id AS text) AS token, COALESCE(j.job_class, 'job') AS definition, 'job' AS activity, CAST(j.id AS text) AS instance,
  COALESCE((SELECT MIN(x.created_at) FROM good_job_executions x WHERE x.active_job_id = j.active_job_id), j.scheduled_at, j.created_at) AS since, NULL AS label
FROM good_jobs j
WHERE j.finished_at IS NULL AND (j.performed_at IS NOT NULL OR j.error IS NOT NULL OR COALESCE(j.scheduled_at, j.created_at) <= :now)
LIMIT :limit

-- query: why
-- A process reports every half a minute, and deletes those whose connection has ended. Their jobs are taken again.
WITH h AS (SELECT MAX(updated_at) AS last FROM good_job_processes)
SELECT CAST(j.id AS text) AS token, 'job' AS activity,
  CASE WHEN j.performed_at IS NOT NULL AND p.id IS NOT NULL THEN 'running' WHEN j.scheduled_at > :now THEN 'delayed'
    WHEN h.last IS NULL THEN 'noWorker' ELSE 'enabled' END AS reason,
  CASE WHEN j.performed_at IS NULL OR p.id IS NULL THEN j.scheduled_at END AS until,
  CASE WHEN j.performed_at IS NOT NULL AND p.id IS NOT NULL THEN CONCAT('running in queue ', j.queue_name, ', try ', COALESCE(j.executions_count, 1))
    ELSE CONCAT_WS(', ', CASE WHEN j.performed_at IS NOT NULL THEN CONCAT('interrupted, try ', COALESCE(j.executions_count, 1)) WHEN j.error IS NOT NULL THEN CONCAT('failed, try ', j.executions_count) END,
      CASE WHEN j.scheduled_at > :now THEN NULL ELSE CONCAT('in queue ', j.queue_name, CASE WHEN h.last IS NULL THEN ', there is no process' ELSE ', no process has taken it' END) END) END AS what,
  j.error AS detail,
  CASE WHEN j.performed_at IS NOT NULL AND p.id IS NOT NULL THEN p.updated_at WHEN j.scheduled_at > :now THEN NULL ELSE h.last END AS heartbeat, 90 AS late,
  CASE WHEN j.performed_at IS NOT NULL THEN CONCAT('process ', p.state ->> 'pid') || ' of ' || (p.state ->> 'hostname') END AS holder
FROM good_jobs j CROSS JOIN h LEFT JOIN good_job_processes p ON p.id = j.locked_by_id
WHERE j.finished_at IS NULL AND (j.performed_at IS NOT NULL OR j.error IS NOT NULL OR COALESCE(j.scheduled_at, j.created_at) <= :now)
LIMIT :limit

-- query: started
-- No index has created_at: a job that was made since has not ended, or ended since. One that is retried was made before its first try.
SELECT CAST(j.id AS text) AS id, j.created_at AS at, COALESCE(j.job_class, 'job') AS definition, 'job' AS activity
FROM good_jobs j
WHERE (j.finished_at IS NULL OR j.finished_at >= :since AND j.finished_at IS NOT NULL AND j.retried_good_job_id IS NULL)
  AND j.created_at >= :since AND (j.created_at > :since OR CAST(j.id AS text) > :after)
  AND NOT EXISTS (SELECT 1 FROM good_job_executions x WHERE x.active_job_id = j.active_job_id AND x.created_at < j.created_at)
ORDER BY j.created_at, CAST(j.id AS text) LIMIT :limit

-- query: ended
-- A job that is retried after its end ends again, after more tries.
SELECT CONCAT(j.id, '|', j.executions_count) AS id, j.finished_at AS at, COALESCE(j.job_class, 'job') AS definition, 'job' AS activity,
  COALESCE((SELECT MIN(x.created_at) FROM good_job_executions x WHERE x.active_job_id = j.active_job_id), LEAST(j.scheduled_at, j.finished_at), j.created_at) AS millis,
  CASE WHEN j.error IS NULL THEN 0 ELSE 1 END AS canceled
FROM good_jobs j
WHERE j.finished_at >= :since AND j.finished_at IS NOT NULL AND j.retried_good_job_id IS NULL AND (j.finished_at > :since OR CONCAT(j.id, '|', j.executions_count) > :after)
ORDER BY j.finished_at, CONCAT(j.id, '|', j.executions_count) LIMIT :limit
