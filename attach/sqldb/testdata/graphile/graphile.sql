-- mapping: graphile
-- about: Graphile Worker: the jobs of each task
-- tool: SQL functions of the schema graphile_worker
-- needs: graphile_worker._private_jobs(id, task_id, run_at, locked_at, attempts, max_attempts, created_at)
-- needs: graphile_worker._private_tasks(id, identifier)

-- query: probe
SELECT max(id)::text AS version FROM graphile_worker.migrations

-- query: definitions
SELECT id::text AS definition, identifier AS net, 1 AS version, NULL AS name FROM graphile_worker._private_tasks

-- query: tasks
SELECT 'job' AS task, NULL AS downstream, NULL AS name FROM graphile_worker._private_tasks WHERE id::text = :definition

-- query: open
SELECT id::text AS token, task_id::text AS definition, 'job' AS activity, id::text AS instance, (created_at AT TIME ZONE 'UTC') AS since, NULL AS label
FROM graphile_worker._private_jobs LIMIT :limit

-- query: why
SELECT id::text AS token, 'job' AS activity,
  CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'incident' WHEN run_at AT TIME ZONE 'UTC' > :now THEN 'delayed' ELSE 'enabled' END AS reason,
  (run_at AT TIME ZONE 'UTC') AS until, 'try ' || attempts || ' of ' || max_attempts AS what, last_error AS detail
FROM graphile_worker._private_jobs LIMIT :limit

-- query: started
SELECT id::text AS id, (created_at AT TIME ZONE 'UTC') AS at, task_id::text AS definition, 'job' AS activity FROM graphile_worker._private_jobs
WHERE created_at AT TIME ZONE 'UTC' >= :since AND (created_at AT TIME ZONE 'UTC' > :since OR id::text > :after) ORDER BY created_at, id::text LIMIT :limit

-- query: ended
SELECT '' AS id, (now() AT TIME ZONE 'UTC') AS at, '' AS definition, '' AS activity, 0 AS millis, 0 AS canceled
WHERE :since > now() AT TIME ZONE 'UTC' AND :after = 'none' LIMIT :limit
