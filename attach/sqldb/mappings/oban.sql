-- mapping: oban
-- about: Oban's jobs on PostgreSQL, as of Oban for Python 0.7
-- tool: Oban Web, or the functions retry_job and cancel_job of Oban
-- task: job
-- needs: oban_jobs(id, state, queue, worker, attempt, max_attempts, meta, errors, attempted_by, inserted_at, scheduled_at, completed_at, cancelled_at, discarded_at)
-- index: oban_jobs(id)
-- index: oban_jobs(state)

-- A definition is a worker. Only columns are read that Elixir's Oban has, too, where errors is an array of JSON. States are
-- in the order of their type: those from completed on have ended.

-- query: probe
SELECT 'not stored by Oban' AS version

-- query: definitions
-- No index has the worker: those of open jobs, and of the newest ones.
SELECT worker AS definition, worker AS net, 1 AS version, NULL AS name FROM oban_jobs WHERE state < 'completed'
UNION
SELECT worker, worker, 1, NULL FROM (SELECT worker FROM oban_jobs ORDER BY id DESC LIMIT 10000) n

-- query: open
-- A job that was inserted for a later time is not there yet. A retry and a snooze overwrite scheduled_at, so that only the
-- time when the job was inserted is left.
SELECT CAST(id AS text) AS token, worker AS definition, 'job' AS activity, CAST(id AS text) AS instance,
  CASE WHEN JSONB_ARRAY_LENGTH(TO_JSONB(errors)) > 0 OR meta ->> 'snoozed' IS NOT NULL THEN inserted_at ELSE GREATEST(inserted_at, scheduled_at) END AS since, NULL AS label
FROM oban_jobs
WHERE state < 'completed' AND (state <> 'scheduled' OR scheduled_at <= :now OR meta ->> 'snoozed' IS NOT NULL)
LIMIT :limit

-- query: why
-- Oban for Python and Oban Pro have oban_producers: each instance reports there that it works a queue, every 15 seconds.
-- Free Oban for Elixir has no such table, and a replica does not have its rows. So p reads it only if it can be read.
WITH p AS (SELECT CASE WHEN HAS_TABLE_PRIVILEGE(TO_REGCLASS('oban_producers'), 'SELECT') AND NOT PG_IS_IN_RECOVERY() THEN
    QUERY_TO_XML('SELECT queue, node, MAX(updated_at) AS seen FROM oban_producers GROUP BY queue, node', TRUE, FALSE, '') END AS rows),
w AS (SELECT x.queue, x.node, x.seen FROM p CROSS JOIN XMLTABLE('/table/row' PASSING p.rows COLUMNS queue text, node text, seen timestamp) x),
q AS (SELECT queue, MAX(seen) AS seen FROM w GROUP BY queue)
SELECT CAST(j.id AS text) AS token, 'job' AS activity,
  CASE WHEN state = 'executing' AND p.rows IS NOT NULL AND w.node IS NULL OR state = 'available' AND p.rows IS NOT NULL AND q.queue IS NULL THEN 'noWorker'
    WHEN state = 'executing' THEN 'running' WHEN state = 'available' THEN 'enabled' WHEN state IN ('retryable', 'scheduled') THEN 'delayed' ELSE 'manual' END AS reason,
  CASE WHEN state IN ('retryable', 'scheduled') THEN scheduled_at END AS until,
  CONCAT(
    CASE WHEN state = 'executing' THEN CONCAT('running in queue ', j.queue, ', try ', attempt, ' of ', max_attempts, CASE WHEN p.rows IS NOT NULL AND w.node IS NULL THEN ', its instance is gone' END)
      WHEN JSONB_ARRAY_LENGTH(TO_JSONB(errors)) > 0 THEN CONCAT('failed, try ', attempt, ' of ', max_attempts)
      WHEN meta ->> 'snoozed' IS NOT NULL THEN 'snoozed'
      WHEN attempt > 0 THEN CONCAT('rescued, try ', attempt, ' of ', max_attempts) END,
    CASE WHEN state = 'available' THEN CONCAT(CASE WHEN attempt > 0 OR meta ->> 'snoozed' IS NOT NULL THEN ', ' END, 'in queue ', j.queue,
        CASE WHEN attempt >= max_attempts THEN ', no leader has discarded it' WHEN p.rows IS NOT NULL AND q.queue IS NULL THEN ', no instance works the queue' ELSE ', no worker has taken it' END)
      WHEN state = 'scheduled' AND attempt = 0 AND meta ->> 'snoozed' IS NULL THEN CONCAT('scheduled in queue ', j.queue)
      WHEN CAST(state AS text) = 'suspended' THEN 'suspended' END) AS what,
  TO_JSONB(errors) -> -1 ->> 'error' AS detail,
  CASE state WHEN 'executing' THEN w.seen WHEN 'available' THEN q.seen END AS heartbeat,
  CASE WHEN state = 'executing' THEN CONCAT('node ', attempted_by[1]) END AS holder
FROM oban_jobs j CROSS JOIN p LEFT JOIN w ON w.queue = j.queue AND w.node = j.attempted_by[1] LEFT JOIN q ON q.queue = j.queue
WHERE state < 'completed' AND (state <> 'scheduled' OR scheduled_at <= :now OR meta ->> 'snoozed' IS NOT NULL)
LIMIT :limit

-- query: floor
SELECT COALESCE(MAX(id), 0) AS floor FROM oban_jobs

-- query: started
-- No index has inserted_at; ids grow with it. The first poll has no floor.
SELECT CAST(id AS text) AS id, inserted_at AS at, worker AS definition, 'job' AS activity FROM oban_jobs
WHERE id >= GREATEST(:floor, (SELECT MAX(id) FROM oban_jobs) - 1000000) AND inserted_at >= :since AND (inserted_at > :since OR CAST(id AS text) > :after)
ORDER BY inserted_at, CAST(id AS text) LIMIT :limit

-- query: ended
-- A job that is retried after its end ends again, after more tries.
WITH e AS (
  SELECT *, completed_at AS at FROM oban_jobs WHERE state = 'completed' AND completed_at >= :since
  UNION ALL SELECT *, cancelled_at FROM oban_jobs WHERE state = 'cancelled' AND cancelled_at >= :since
  UNION ALL SELECT *, discarded_at FROM oban_jobs WHERE state = 'discarded' AND discarded_at >= :since)
SELECT CONCAT(id, '|', attempt) AS id, at, worker AS definition, 'job' AS activity,
  CASE WHEN JSONB_ARRAY_LENGTH(TO_JSONB(errors)) > 0 OR meta ->> 'snoozed' IS NOT NULL THEN inserted_at ELSE LEAST(GREATEST(inserted_at, scheduled_at), at) END AS millis,
  CASE WHEN state = 'completed' THEN 0 ELSE 1 END AS canceled
FROM e WHERE at > :since OR CONCAT(id, '|', attempt) > :after
ORDER BY at, CONCAT(id, '|', attempt) LIMIT :limit
