-- mapping: delayed-job
-- about: Delayed Job 4.1 with Active Record, on PostgreSQL
-- tool: the Rails console, or delayed_job_web
-- command: incident: rails runner 'Delayed::Job.find('{token}').update!(attempts: 0, failed_at: nil, locked_at: nil, locked_by: nil, run_at: Time.now)'
-- task: job
-- needs: delayed_jobs(id, attempts, handler, last_error, run_at, locked_at, failed_at, locked_by, queue, created_at)

-- A definition is a class of jobs: of Active Job, of an object whose method is delayed, with that
-- method, or that of the job itself. It is in the YAML of the job. Delayed Job deletes a job that
-- has ended, so nothing is counted.

-- query: probe
SELECT 'not stored by Delayed Job' AS version

-- query: definitions
SELECT DISTINCT net AS definition, net, 1 AS version, NULL AS name FROM (
  SELECT COALESCE(SUBSTRING(handler FROM 'job_class: "?([A-Za-z0-9_:]+)'),
    SUBSTRING(handler FROM 'PerformableM.*object: !ruby/[A-Za-z]+[: ]''?([A-Za-z0-9_:]+)') || '.' || SUBSTRING(handler FROM 'method_name: :([A-Za-z0-9_?!]+)'),
    SUBSTRING(handler FROM '^--- !ruby/[A-Za-z]+:([A-Za-z0-9_:]+)'), 'job') AS net
  FROM delayed_jobs) n

-- query: open
-- A job that is scheduled ahead is not there yet. A try that fails overwrites run_at, so that only
-- the time when the job was added is left.
SELECT CAST(id AS text) AS token, COALESCE(SUBSTRING(handler FROM 'job_class: "?([A-Za-z0-9_:]+)'),
    SUBSTRING(handler FROM 'PerformableM.*object: !ruby/[A-Za-z]+[: ]''?([A-Za-z0-9_:]+)') || '.' || SUBSTRING(handler FROM 'method_name: :([A-Za-z0-9_?!]+)'),
    SUBSTRING(handler FROM '^--- !ruby/[A-Za-z]+:([A-Za-z0-9_:]+)'), 'job') AS definition,
  'job' AS activity, CAST(id AS text) AS instance, CASE WHEN attempts = 0 THEN run_at ELSE created_at END AS since, NULL AS label
FROM delayed_jobs
WHERE run_at <= :now OR attempts > 0 OR locked_at IS NOT NULL
LIMIT :limit

-- query: why
-- Workers send no heartbeat. A lock expires after four hours, or as max_run_time has it.
SELECT CAST(id AS text) AS token, 'job' AS activity,
  CASE WHEN failed_at IS NOT NULL THEN 'incident' WHEN locked_at IS NOT NULL THEN 'running' WHEN run_at > :now THEN 'delayed' ELSE 'enabled' END AS reason,
  CASE WHEN failed_at IS NULL THEN COALESCE(locked_at + INTERVAL '4 hours', run_at) END AS until,
  CONCAT(
    CASE WHEN failed_at IS NOT NULL THEN CONCAT('failed, try ', attempts, ', no try is left')
      WHEN locked_at IS NOT NULL THEN CONCAT(CASE WHEN locked_at >= CAST(:now AS timestamp) - INTERVAL '4 hours' THEN 'running' ELSE 'lock expired' END,
        ', try ', attempts + 1, ', locked since ', TO_CHAR(locked_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
      WHEN attempts > 0 THEN CONCAT('failed, try ', attempts) END,
    CASE WHEN failed_at IS NULL AND locked_at IS NULL AND run_at <= :now THEN
      CONCAT(CASE WHEN attempts > 0 THEN ', ' END, CASE WHEN queue IS NOT NULL THEN CONCAT('in queue ', queue, ', ') END, 'no worker has taken it') END) AS what,
  SPLIT_PART(last_error, E'\n', 1) AS detail, CASE WHEN failed_at IS NULL THEN 'worker ' || locked_by END AS holder
FROM delayed_jobs
WHERE run_at <= :now OR attempts > 0 OR locked_at IS NOT NULL
LIMIT :limit
