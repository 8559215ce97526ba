-- mapping: dagster
-- about: Dagster 1.13, on PostgreSQL
-- tool: Dagster's web page, or its GraphQL API
-- task: run
-- needs: runs(id, run_id, pipeline_name, status, create_timestamp, update_timestamp, end_time)
-- needs: event_logs(id, run_id, dagster_event_type, step_key, timestamp)
-- needs: daemon_heartbeats(daemon_type, timestamp)
-- index: runs(id)
-- index: runs(status)
-- index: runs(pipeline_name)
-- index: event_logs(run_id)

-- A definition is a job. Dagster stores UTC, and the end of a run in seconds since the Unix epoch.

-- query: probe
SELECT 'not stored by Dagster' AS version

-- query: definitions
-- From each job to the next, by the index.
WITH RECURSIVE k AS (
  (SELECT pipeline_name AS name FROM runs ORDER BY pipeline_name LIMIT 1)
  UNION ALL
  SELECT (SELECT r.pipeline_name FROM runs r WHERE r.pipeline_name > k.name ORDER BY r.pipeline_name LIMIT 1) FROM k WHERE k.name IS NOT NULL)
SELECT name AS definition, name AS net, 1 AS version, NULL AS name FROM k WHERE name IS NOT NULL

-- query: open
SELECT run_id AS token, pipeline_name AS definition, 'run' AS activity, run_id AS instance, create_timestamp AS since, NULL AS label
FROM runs WHERE status IN ('QUEUED', 'NOT_STARTED', 'MANAGED', 'STARTING', 'STARTED', 'CANCELING')
LIMIT :limit

-- query: why
-- A step that has started has not ended until its last event of these types is another one.
WITH o AS (SELECT run_id, status FROM runs WHERE status IN ('QUEUED', 'NOT_STARTED', 'MANAGED', 'STARTING', 'STARTED', 'CANCELING')
), e AS (
  SELECT DISTINCT ON (l.run_id, l.step_key) l.run_id, l.step_key, l.dagster_event_type AS type, l.timestamp
  FROM o JOIN event_logs l ON l.run_id = o.run_id
  WHERE l.step_key IS NOT NULL AND l.dagster_event_type IN ('STEP_START', 'STEP_RESTARTED', 'STEP_UP_FOR_RETRY', 'STEP_SUCCESS', 'STEP_FAILURE', 'STEP_SKIPPED')
  ORDER BY l.run_id, l.step_key, l.id DESC
), s AS (
  SELECT run_id, STRING_AGG(CONCAT('step ', step_key, CASE WHEN type = 'STEP_UP_FOR_RETRY' THEN ' failed, to be tried again, since ' ELSE ' runs since ' END,
    TO_CHAR(timestamp, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')), ', ' ORDER BY timestamp, step_key) AS steps
  FROM e WHERE type IN ('STEP_START', 'STEP_RESTARTED', 'STEP_UP_FOR_RETRY') GROUP BY run_id
), d AS (SELECT MAX(timestamp) AS last FROM daemon_heartbeats WHERE daemon_type = 'QUEUED_RUN_COORDINATOR')
SELECT o.run_id AS token, 'run' AS activity, CASE WHEN o.status = 'QUEUED' AND d.last IS NULL THEN 'noWorker' WHEN o.status IN ('QUEUED', 'NOT_STARTED', 'MANAGED') THEN 'enabled' ELSE 'running' END AS reason, NULL AS until,
  CONCAT(CASE o.status WHEN 'QUEUED' THEN CONCAT('queued, ', CASE WHEN d.last IS NULL THEN 'there is no daemon' ELSE 'the daemon has not launched it' END)
      WHEN 'STARTING' THEN 'launched, its process has not begun' WHEN 'STARTED' THEN 'running' WHEN 'CANCELING' THEN 'running, to be canceled' ELSE 'not launched' END,
    ', ' || s.steps) AS what,
  NULL AS detail, CASE WHEN o.status = 'QUEUED' THEN d.last END AS heartbeat
FROM o CROSS JOIN d LEFT JOIN s ON s.run_id = o.run_id
LIMIT :limit

-- query: floor
SELECT COALESCE(MAX(id), 0) AS floor FROM runs

-- query: started
-- No index has the creation alone; ids grow with it. The first poll has no floor.
SELECT run_id AS id, create_timestamp AS at, pipeline_name AS definition, 'run' AS activity FROM runs
WHERE id >= GREATEST(:floor, (SELECT MAX(id) FROM runs) - 1000000) AND create_timestamp >= :since AND (create_timestamp > :since OR run_id > :after)
ORDER BY create_timestamp, run_id LIMIT :limit

-- query: ended
-- An index has the last update, which is not before the end.
SELECT run_id AS id, CAST(end_time * 1000 AS bigint) AS at, pipeline_name AS definition, 'run' AS activity, create_timestamp AS millis,
  CASE WHEN status = 'SUCCESS' THEN 0 ELSE 1 END AS canceled
FROM runs
WHERE status IN ('SUCCESS', 'FAILURE', 'CANCELED') AND update_timestamp >= CAST(:since AS timestamp) - INTERVAL '1 minute'
  AND CAST(end_time * 1000 AS bigint) >= :since_ms AND (CAST(end_time * 1000 AS bigint) > :since_ms OR run_id > :after)
ORDER BY CAST(end_time * 1000 AS bigint), run_id LIMIT :limit
