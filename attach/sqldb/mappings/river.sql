-- mapping: river
-- about: River 0.51, on PostgreSQL
-- tool: River UI, or the methods JobRetry, JobCancel and QueueResume of River's client
-- task: job
-- needs: river_job(id, state, attempt, max_attempts, attempted_at, attempted_by, created_at, finalized_at, scheduled_at, errors, kind, metadata, queue)
-- needs: river_queue(name, paused_at, updated_at)
-- index: river_job(id)
-- index: river_job(kind)
-- index: river_job(state)

-- A definition is a kind of job. Apps share names of queues, such as default, but not kinds.
-- The table river_leader is not read, because it is unlogged: a replica has none of its rows.

-- query: probe
-- The number of the migration; apps that migrate by their own means have no river_migration.
SELECT CASE WHEN TO_REGCLASS('river_notification') IS NULL THEN '6 or earlier' ELSE '7 or later' END AS version

-- query: definitions
-- From each kind to the next, by the index.
WITH RECURSIVE k AS (
  (SELECT kind FROM river_job ORDER BY kind LIMIT 1)
  UNION ALL
  SELECT (SELECT j.kind FROM river_job j WHERE j.kind > k.kind ORDER BY j.kind LIMIT 1) FROM k WHERE k.kind IS NOT NULL)
SELECT kind AS definition, kind AS net, 1 AS version, NULL AS name FROM k WHERE kind IS NOT NULL

-- query: open
-- A job that was inserted for a later time is not there yet. One that was started is, until
-- it is finalized. A retry overwrites scheduled_at and attempted_at; the first error has the
-- start of its try. A snooze overwrites both, and leaves no error.
SELECT CAST(id AS text) AS token, kind AS definition, 'job' AS activity, CAST(id AS text) AS instance,
  CASE WHEN metadata ->> 'snoozes' IS NOT NULL THEN created_at
    WHEN state = 'running' OR errors[1] IS NOT NULL THEN LEAST(CAST(errors[1] ->> 'at' AS timestamptz), attempted_at)
    ELSE scheduled_at END AS since,
  NULL AS label
FROM river_job
WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled') AND (attempted_at IS NOT NULL OR scheduled_at <= :now)
LIMIT :limit

-- query: why
-- Each client that works a queue sets updated_at every ten minutes. A leader deletes the
-- row a day after the last did.
SELECT CAST(j.id AS text) AS token, 'job' AS activity,
  CASE WHEN j.state = 'running' AND q.updated_at > CAST(:now AS timestamptz) - INTERVAL '15 minutes' THEN 'running'
    WHEN j.state = 'running' THEN 'noWorker'
    WHEN j.state IN ('retryable', 'scheduled') OR j.scheduled_at > :now THEN 'delayed'
    WHEN j.state = 'pending' OR q.paused_at IS NOT NULL THEN 'manual'
    WHEN q.updated_at > CAST(:now AS timestamptz) - INTERVAL '15 minutes' THEN 'enabled'
    ELSE 'noWorker' END AS reason,
  CASE WHEN j.state NOT IN ('available', 'running') OR j.state = 'available' AND j.scheduled_at > :now THEN j.scheduled_at END AS until,
  CONCAT(
    CASE WHEN j.state = 'running' THEN CONCAT('running in queue ', j.queue, ', try ', j.attempt, ' of ', j.max_attempts)
      WHEN j.state = 'pending' THEN 'pending'
      WHEN j.errors[1] IS NOT NULL THEN CONCAT('failed, try ', j.attempt, ' of ', j.max_attempts)
      WHEN j.metadata ->> 'snoozes' IS NOT NULL THEN 'snoozed'
      WHEN j.state = 'scheduled' THEN 'scheduled' END,
    CASE WHEN j.state = 'available' THEN CONCAT(CASE WHEN j.errors[1] IS NOT NULL OR j.metadata ->> 'snoozes' IS NOT NULL THEN ', ' END, 'in queue ', j.queue,
      CASE WHEN q.paused_at IS NOT NULL THEN ', the queue is paused' WHEN q.updated_at > CAST(:now AS timestamptz) - INTERVAL '15 minutes' THEN ', no client has taken it' END) END,
    CASE WHEN j.metadata ->> 'cancel_attempted_at' IS NOT NULL THEN ', to be cancelled' END,
    CASE WHEN j.state NOT IN ('available', 'running') THEN ''
      WHEN q.name IS NULL THEN ', no client works the queue'
      WHEN q.updated_at <= CAST(:now AS timestamptz) - INTERVAL '15 minutes' THEN
        CONCAT(', no client of the queue has reported since ', TO_CHAR(q.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) END) AS what,
  j.errors[CARDINALITY(j.errors)] ->> 'error' AS detail,
  CASE WHEN j.state = 'running' THEN CONCAT('client ', j.attempted_by[CARDINALITY(j.attempted_by)]) END AS holder
FROM river_job j LEFT JOIN river_queue q ON q.name = j.queue
WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled') AND (j.attempted_at IS NOT NULL OR j.scheduled_at <= :now)
LIMIT :limit

-- query: floor
SELECT COALESCE(MAX(id), 0) AS floor FROM river_job

-- query: started
-- River stores no time when a job came for which it was scheduled, nor its first start. No
-- index has created_at; ids grow with it. The first poll has no floor.
SELECT CAST(id AS text) AS id, created_at AS at, kind AS definition, 'job' AS activity FROM river_job
WHERE id >= GREATEST(:floor, (SELECT MAX(id) FROM river_job) - 1000000) AND created_at >= :since AND (created_at > :since OR CAST(id AS text) > :after)
ORDER BY created_at, CAST(id AS text) LIMIT :limit

-- query: ended
-- A job that is retried after its end ends again, after more tries.
SELECT CONCAT(id, '|', attempt) AS id, finalized_at AS at, kind AS definition, 'job' AS activity,
  CASE WHEN metadata ->> 'snoozes' IS NOT NULL THEN created_at
    WHEN attempted_at IS NOT NULL THEN LEAST(CAST(errors[1] ->> 'at' AS timestamptz), attempted_at)
    ELSE LEAST(scheduled_at, finalized_at) END AS millis,
  CASE WHEN state = 'completed' THEN 0 ELSE 1 END AS canceled
FROM river_job
WHERE state IN ('cancelled', 'completed', 'discarded') AND finalized_at >= :since AND (finalized_at > :since OR CONCAT(id, '|', attempt) > :after)
ORDER BY finalized_at, CONCAT(id, '|', attempt) LIMIT :limit
