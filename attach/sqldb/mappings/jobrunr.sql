-- mapping: jobrunr
-- about: JobRunr 8, on PostgreSQL
-- tool: JobRunr's dashboard, or the methods of its JobScheduler
-- command: incident: curl -sS -X POST "$JOBRUNR_DASHBOARD_URL"/api/jobs/{token}/requeue
-- task: job
-- needs: jobrunr_jobs(id, version, jobAsJson, jobSignature, state, createdAt, updatedAt, scheduledAt, recurringJobId)
-- needs: jobrunr_recurring_jobs(id, jobAsJson, createdAt)
-- needs: jobrunr_backgroundjobservers(pollIntervalInSeconds, lastHeartbeat)
-- index: jobrunr_jobs(jobSignature)
-- index: jobrunr_jobs(createdAt)
-- index: jobrunr_jobs(state)
-- index: jobrunr_jobs(recurringJobId)

-- A definition is a signature of jobs: the class, the method and its parameters. jobAsJson has
-- each state that a job was in, and when; the paths below read the JSON of all its mappers.

-- query: probe
SELECT 'not stored by JobRunr' AS version

-- query: definitions
-- From each signature to the next, by the index.
WITH RECURSIVE n AS (
  SELECT CAST(MIN(jobSignature) AS text) AS name FROM jobrunr_jobs
  UNION ALL
  SELECT (SELECT CAST(MIN(j.jobSignature) AS text) FROM jobrunr_jobs j WHERE j.jobSignature > n.name) FROM n WHERE n.name IS NOT NULL)
SELECT name AS definition, name AS net, 1 AS version, NULL AS name FROM n WHERE name IS NOT NULL
UNION SELECT CAST(jobAsJson AS jsonb) ->> 'jobSignature', CAST(jobAsJson AS jsonb) ->> 'jobSignature', 1, NULL FROM jobrunr_recurring_jobs

-- query: open
-- A job that is scheduled ahead is not there yet, unless it was tried. Its row was changed then.
SELECT CAST(id AS text) AS token, jobSignature AS definition, 'job' AS activity, CAST(id AS text) AS instance,
  COALESCE(
    CAST(JSONB_PATH_QUERY_FIRST(CAST(jobAsJson AS jsonb), '$.jobHistory[*] ? (@.state == "PROCESSING").createdAt') #>> '{}' AS timestamptz),
    LEAST(CAST(JSONB_PATH_QUERY_FIRST(CAST(jobAsJson AS jsonb), '$.jobHistory[*].scheduledAt') #>> '{}' AS timestamptz),
      CAST(JSONB_PATH_QUERY_FIRST(CAST(jobAsJson AS jsonb), '$.jobHistory[*] ? (@.state == "ENQUEUED").createdAt') #>> '{}' AS timestamptz)),
    createdAt AT TIME ZONE 'UTC') AS since,
  NULL AS label
FROM jobrunr_jobs
WHERE state IN ('ENQUEUED', 'PROCESSING', 'FAILED')
  OR state = 'SCHEDULED' AND (scheduledAt <= :now OR updatedAt > createdAt AND jobAsJson LIKE '%"FAILED"%')
LIMIT :limit

-- query: why
-- Servers report each poll interval, and set updatedAt of the jobs that they process. One that is
-- silent for four is deleted by the next server, which tries its jobs again.
WITH h AS (SELECT MAX(lastHeartbeat) AS last, 4 * COALESCE(MAX(pollIntervalInSeconds), 15) AS late FROM jobrunr_backgroundjobservers),
o AS (
  SELECT id, state, updatedAt, scheduledAt,
    JSONB_PATH_QUERY_ARRAY(CAST(jobAsJson AS jsonb), '$.jobHistory[*] ? (@.state == "FAILED")') AS failures,
    JSONB_PATH_QUERY_ARRAY(CAST(jobAsJson AS jsonb), '$.jobHistory[*].serverName') ->> -1 AS server
  FROM jobrunr_jobs
  WHERE state IN ('ENQUEUED', 'PROCESSING', 'FAILED')
    OR state = 'SCHEDULED' AND (scheduledAt <= :now OR updatedAt > createdAt AND jobAsJson LIKE '%"FAILED"%'))
SELECT CAST(o.id AS text) AS token, 'job' AS activity,
  CASE WHEN o.state = 'PROCESSING' THEN 'running' WHEN o.state = 'FAILED' THEN 'incident' WHEN o.scheduledAt > :now THEN 'delayed'
    WHEN h.last IS NULL THEN 'noWorker' ELSE 'enabled' END AS reason,
  CASE WHEN o.scheduledAt > :now THEN o.scheduledAt END AS until,
  CASE WHEN o.state = 'PROCESSING' THEN CONCAT('running, try ', JSONB_ARRAY_LENGTH(o.failures) + 1)
    ELSE CONCAT_WS(', ', CASE WHEN JSONB_ARRAY_LENGTH(o.failures) > 0 THEN CONCAT('failed, try ', JSONB_ARRAY_LENGTH(o.failures)) END,
      CASE WHEN o.state = 'FAILED' THEN 'no retry is left'
        WHEN o.scheduledAt > :now THEN NULL
        WHEN h.last IS NULL THEN 'there is no server'
        WHEN o.state = 'SCHEDULED' THEN 'no server has enqueued it'
        ELSE 'no server has taken it' END) END AS what,
  o.failures -> -1 ->> 'exceptionMessage' AS detail,
  CASE WHEN o.state = 'PROCESSING' THEN o.updatedAt WHEN o.state = 'ENQUEUED' OR o.scheduledAt <= :now THEN h.last END AS heartbeat,
  h.late, CASE WHEN o.state = 'PROCESSING' THEN CONCAT('server ', o.server) END AS holder
FROM o CROSS JOIN h
LIMIT :limit

-- query: schedules
-- A job of a recurring one is made for a time up to a poll interval ahead. JobRunr deletes jobs that succeeded four and a half days later:
-- without one it is known only while the recurring job is younger than four days.
SELECT r.job ->> 'jobSignature' AS definition, 'job' AS activity,
  COALESCE(j.at, CASE WHEN r.createdAt + 345600000 > :now_ms THEN TO_TIMESTAMP(r.createdAt / 1000.0) END)
    + CASE WHEN r.job ->> 'scheduleExpression' LIKE 'P%' THEN CAST(r.job ->> 'scheduleExpression' AS interval) ELSE INTERVAL '0' END AS next,
  CASE WHEN r.job ->> 'scheduleExpression' NOT LIKE 'P%' THEN r.job ->> 'scheduleExpression' END AS cron, NULLIF(r.job ->> 'zoneId', 'Z') AS zone
FROM (SELECT TRIM(id) AS id, createdAt, CAST(jobAsJson AS jsonb) AS job FROM jobrunr_recurring_jobs) r
  LEFT JOIN LATERAL (
    SELECT COALESCE(CAST(JSONB_PATH_QUERY_FIRST(CAST(n.jobAsJson AS jsonb), '$.jobHistory[*].scheduledAt') #>> '{}' AS timestamptz), n.createdAt AT TIME ZONE 'UTC') AS at
    FROM jobrunr_jobs n WHERE n.recurringJobId = r.id ORDER BY n.createdAt DESC LIMIT 1) j ON TRUE
LIMIT :limit

-- query: started
SELECT CAST(id AS text) AS id, createdAt AS at, jobSignature AS definition, 'job' AS activity FROM jobrunr_jobs
WHERE createdAt >= :since AND (createdAt > :since OR CAST(id AS text) > :after)
ORDER BY createdAt, CAST(id AS text) LIMIT :limit

-- query: ended
-- JobRunr deletes a job some time after it succeeded: first by a state, then its row.
SELECT CONCAT(id, '|', version) AS id, updatedAt AS at, jobSignature AS definition, 'job' AS activity,
  COALESCE(
    CAST(JSONB_PATH_QUERY_FIRST(CAST(jobAsJson AS jsonb), '$.jobHistory[*] ? (@.state == "PROCESSING").createdAt') #>> '{}' AS timestamptz) AT TIME ZONE 'UTC',
    LEAST(CAST(JSONB_PATH_QUERY_FIRST(CAST(jobAsJson AS jsonb), '$.jobHistory[*].scheduledAt') #>> '{}' AS timestamptz) AT TIME ZONE 'UTC', updatedAt)) AS millis,
  CASE WHEN state = 'SUCCEEDED' THEN 0 ELSE 1 END AS canceled
FROM jobrunr_jobs
WHERE state IN ('SUCCEEDED', 'DELETED') AND updatedAt >= :since AND (updatedAt > :since OR CONCAT(id, '|', version) > :after)
  AND (state = 'SUCCEEDED' OR jobAsJson NOT LIKE '%"SUCCEEDED"%')
ORDER BY updatedAt, CONCAT(id, '|', version) LIMIT :limit
