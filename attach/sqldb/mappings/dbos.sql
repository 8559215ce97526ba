-- mapping: dbos
-- about: DBOS Transact with the tables of Python 3.4, on PostgreSQL
-- tool: dbos workflow cancel, resume and fork, or DBOS Conductor
-- command: incident: dbos workflow resume --sys-db-url "$DBOS_SYSTEM_DATABASE_URL" {token}
-- task: workflow
-- needs: dbos.dbos_migrations(version)
-- needs: dbos.workflow_status(workflow_uuid, status, name, executor_id, created_at, application_version, recovery_attempts, queue_name, delay_until_epoch_ms, completed_at, application_name)
-- needs: dbos.operation_outputs(workflow_uuid, function_id, function_name, output)
-- needs: dbos.queues(name, concurrency)
-- needs: dbos.application_versions(version_name, version_timestamp, application_name)
-- needs: dbos.workflow_schedules(workflow_name, schedule, status, last_fired_at, cron_timezone)
-- index: dbos.workflow_status(status)
-- index: dbos.workflow_status(created_at)
-- index: dbos.workflow_status(completed_at)
-- index: dbos.operation_outputs(workflow_uuid)

-- A definition is the name of a workflow. Times are milliseconds since the Unix epoch.

-- query: probe
SELECT CAST(version AS text) AS version FROM dbos.dbos_migrations

-- query: definitions
-- No index has the name: those of open workflows, and of the newest ones.
SELECT name AS definition, name AS net, 1 AS version, NULL AS name FROM dbos.workflow_status
WHERE status IN ('ENQUEUED', 'PENDING') OR status = 'DELAYED' OR status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'
UNION
SELECT name, name, 1, NULL FROM (SELECT name FROM dbos.workflow_status ORDER BY created_at DESC LIMIT 10000) n

-- query: open
-- A workflow that is delayed is not there before its time. One that was recovered too often waits to be resumed.
SELECT workflow_uuid AS token, name AS definition, 'workflow' AS activity, workflow_uuid AS instance, GREATEST(created_at, delay_until_epoch_ms) AS since, NULL AS label
FROM dbos.workflow_status
WHERE status IN ('ENQUEUED', 'PENDING') OR status = 'DELAYED' AND delay_until_epoch_ms <= :now_ms OR status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'
LIMIT :limit

-- query: why
-- A step is stored when it ends, but a sleep when it begins, with its end in seconds. One that bounds the wait for a
-- message or an event has the number after the one of that step.
WITH v AS (
  SELECT DISTINCT ON (application_name) application_name, version_name FROM dbos.application_versions ORDER BY application_name, version_timestamp DESC
), r AS (
  SELECT queue_name, COUNT(*) AS running FROM dbos.workflow_status WHERE status = 'PENDING' AND queue_name IS NOT NULL GROUP BY queue_name
), o AS (
  SELECT w.*, s.function_name AS step, CASE WHEN s.function_name = 'DBOS.sleep' AND w.status = 'PENDING' THEN CAST(CAST(s.output AS numeric) * 1000 AS bigint) END AS wakes,
    s.function_id > 1 AND NOT EXISTS (SELECT 1 FROM dbos.operation_outputs b WHERE b.workflow_uuid = w.workflow_uuid AND b.function_id = s.function_id - 1) AS receives
  FROM dbos.workflow_status w
    LEFT JOIN LATERAL (SELECT function_id, function_name, output FROM dbos.operation_outputs o WHERE o.workflow_uuid = w.workflow_uuid ORDER BY function_id DESC LIMIT 1) s ON TRUE
  WHERE w.status IN ('ENQUEUED', 'PENDING') OR w.status = 'DELAYED' AND w.delay_until_epoch_ms <= :now_ms OR w.status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'
)
SELECT o.workflow_uuid AS token, 'workflow' AS activity,
  CASE o.status WHEN 'MAX_RECOVERY_ATTEMPTS_EXCEEDED' THEN 'incident' WHEN 'DELAYED' THEN 'delayed' WHEN 'ENQUEUED' THEN 'enabled'
    ELSE CASE WHEN o.wakes IS NULL THEN 'running' WHEN o.receives AND o.wakes > :now_ms THEN 'manual' ELSE 'delayed' END END AS reason,
  COALESCE(o.wakes, o.delay_until_epoch_ms) AS until,
  CONCAT(
    CASE WHEN o.status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED' THEN 'recovered too often'
      WHEN o.status = 'DELAYED' THEN CONCAT('in queue ', o.queue_name, ', no executor has ended its delay')
      WHEN o.status = 'ENQUEUED' AND r.running >= q.concurrency THEN CONCAT('queue ', o.queue_name, ' is full, ', r.running, ' of ', q.concurrency, ' slots')
      WHEN o.status = 'ENQUEUED' THEN CONCAT('in queue ', o.queue_name, ', no executor has taken it')
      WHEN o.wakes IS NULL THEN 'running' WHEN o.receives THEN 'waits for a message or an event' ELSE 'sleeps' END,
    CASE WHEN o.recovery_attempts > 1 THEN CONCAT(', try ', o.recovery_attempts) END,
    CASE WHEN o.wakes IS NULL THEN ', after step ' || o.step END,
    CASE WHEN (SELECT BOOL_AND(v.version_name <> o.application_version) FROM v WHERE v.application_name = o.application_name OR o.application_name IS NULL)
      THEN CONCAT(', for version ', o.application_version, ' of the application, which is not the latest') END) AS what,
  NULL AS detail, CASE WHEN o.status = 'PENDING' THEN 'executor ' || o.executor_id END AS holder
FROM o LEFT JOIN r ON r.queue_name = o.queue_name LEFT JOIN dbos.queues q ON q.name = o.queue_name
LIMIT :limit

-- query: schedules
-- One that has never fired has no time after which its next one counts.
SELECT workflow_name AS definition, 'workflow' AS activity, CAST(last_fired_at AS timestamptz) AS next, schedule AS cron, cron_timezone AS zone
FROM dbos.workflow_schedules WHERE status = 'ACTIVE' LIMIT :limit

-- query: started
SELECT workflow_uuid AS id, created_at AS at, name AS definition, 'workflow' AS activity FROM dbos.workflow_status
WHERE created_at >= :since_ms AND (created_at > :since_ms OR workflow_uuid > :after)
ORDER BY created_at, workflow_uuid LIMIT :limit

-- query: ended
-- A workflow that is resumed after its end ends again.
SELECT CONCAT(workflow_uuid, '|', completed_at) AS id, completed_at AS at, name AS definition, 'workflow' AS activity,
  GREATEST(completed_at - GREATEST(created_at, delay_until_epoch_ms), 0) AS millis, CASE WHEN status = 'SUCCESS' THEN 0 ELSE 1 END AS canceled
FROM dbos.workflow_status
WHERE completed_at >= :since_ms AND (completed_at > :since_ms OR CONCAT(workflow_uuid, '|', completed_at) > :after) AND status IN ('SUCCESS', 'ERROR', 'CANCELLED')
ORDER BY completed_at, CONCAT(workflow_uuid, '|', completed_at) LIMIT :limit
