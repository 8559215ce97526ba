-- mapping: prefect3
-- about: Prefect 3.4 to 3.9, on PostgreSQL or SQLite
-- tool: Prefect's web page, or prefect flow-run
-- needs: alembic_version(version_num)
-- needs: flow(id, name)
-- needs: flow_run(id, flow_id, name, state_id, state_type, state_name, run_count, start_time, end_time, expected_start_time, empirical_policy, parent_task_run_id, deployment_id, work_queue_id)
-- needs: flow_run_state(id, message, state_details)
-- needs: task_run(id, flow_run_id, task_key, state_id, state_type, state_name, run_count, start_time, end_time, expected_start_time, empirical_policy, task_inputs, tags)
-- needs: task_run_state(id, message, state_details)
-- needs: deployment(id, name, last_polled, concurrency_limit_id)
-- needs: work_queue(id, name, work_pool_id, is_paused, last_polled, concurrency_limit)
-- needs: work_pool(id, name, is_paused, concurrency_limit)
-- needs: concurrency_limit_v2(id, name, active, active_slots)
-- index: flow_run(state_type)
-- index: flow_run(start_time)
-- index: flow_run(end_time)
-- index: flow_run(flow_id)
-- index: flow_run(parent_task_run_id)
-- index: task_run(state_type)
-- index: task_run(start_time)
-- index: task_run(end_time)
-- index: task_run(flow_run_id)

-- A definition is a flow. The key of a task is its function's name and a hash of its code,
-- which is left out.

-- query: probe
SELECT version_num AS version FROM alembic_version

-- query: definitions
SELECT CAST(id AS VARCHAR(36)) AS definition, name AS net, 1 AS version, NULL AS name FROM flow

-- query: tasks
-- Prefect stores no graph of tasks. This is that of the ten newest runs; of a mapped task
-- it takes one run.
WITH r AS (SELECT id FROM flow_run WHERE flow_id = :definition AND start_time IS NOT NULL ORDER BY start_time DESC LIMIT 10),
t AS (SELECT CAST(x.id AS VARCHAR(36)) AS id, x.flow_run_id, CAST(x.task_inputs AS TEXT) AS inputs,
    CASE WHEN x.task_key LIKE '%-________' THEN SUBSTR(x.task_key, 1, LENGTH(x.task_key) - 9) ELSE x.task_key END AS task
  FROM task_run x JOIN r ON r.id = x.flow_run_id),
one AS (SELECT MIN(id) AS id FROM t GROUP BY flow_run_id, task)
SELECT 'flow-run' AS task, NULL AS downstream, 'flow run' AS name
UNION
SELECT task, NULL, NULL FROM t
UNION
SELECT u.task, d.task, NULL FROM one JOIN t d ON d.id = one.id JOIN t u ON u.flow_run_id = d.flow_run_id AND d.inputs LIKE CONCAT('%"', u.id, '"%')

-- query: open
-- Prefect schedules runs ahead: one whose time has not come is not there yet.
SELECT CAST(f.id AS VARCHAR(36)) AS token, CAST(f.flow_id AS VARCHAR(36)) AS definition, 'flow-run' AS activity, CAST(f.id AS VARCHAR(36)) AS instance,
  COALESCE(f.start_time, f.expected_start_time) AS since, f.name AS label
FROM flow_run f
WHERE f.state_type IN ('SCHEDULED', 'PENDING', 'RUNNING', 'PAUSED', 'CANCELLING') AND (f.start_time IS NOT NULL OR f.expected_start_time <= :now)
UNION ALL
SELECT CAST(t.id AS VARCHAR(36)), CAST(f.flow_id AS VARCHAR(36)),
  CASE WHEN t.task_key LIKE '%-________' THEN SUBSTR(t.task_key, 1, LENGTH(t.task_key) - 9) ELSE t.task_key END,
  CAST(f.id AS VARCHAR(36)), COALESCE(t.start_time, t.expected_start_time), f.name
FROM task_run t JOIN flow_run f ON f.id = t.flow_run_id
WHERE t.state_type IN ('SCHEDULED', 'PENDING', 'RUNNING', 'PAUSED', 'CANCELLING')
  AND f.state_type IN ('SCHEDULED', 'PENDING', 'RUNNING', 'PAUSED', 'CANCELLING')
LIMIT :limit

-- query: why
SELECT CAST(f.id AS VARCHAR(36)) AS token, 'flow-run' AS activity,
  CASE WHEN f.state_name IN ('AwaitingRetry', 'Scheduled') THEN 'delayed'
    WHEN f.state_type IN ('RUNNING', 'CANCELLING') THEN 'running'
    WHEN f.state_type = 'PAUSED' OR f.state_type = 'SCHEDULED' AND (q.is_paused = TRUE OR p.is_paused = TRUE) THEN 'manual'
    WHEN f.state_type = 'SCHEDULED' AND q.id IS NOT NULL AND COALESCE(q.last_polled, d.last_polled) IS NULL THEN 'noWorker'
    ELSE 'enabled' END AS reason,
  s.state_details ->> 'scheduled_time' AS until,
  CONCAT(
    CASE WHEN f.state_name = 'AwaitingRetry' THEN 'failed'
      WHEN f.state_name = 'AwaitingConcurrencySlot' THEN CONCAT('deployment ', d.name, ' is full, ', l.active_slots, ' of ', l."limit", ' slots')
      WHEN f.state_type = 'PAUSED' THEN CONCAT(LOWER(f.state_name), CASE WHEN s.state_details ->> 'run_input_keyset' IS NULL THEN '' ELSE ', waits for input' END,
        CASE WHEN s.state_details ->> 'pause_timeout' IS NULL THEN '' ELSE CONCAT(', until ', SUBSTR(s.state_details ->> 'pause_timeout', 1, 19), 'Z') END)
      WHEN f.state_type = 'SCHEDULED' AND q.id IS NOT NULL THEN CONCAT(LOWER(f.state_name), ', in queue ', q.name, ' of pool ', p.name,
        CASE WHEN p.is_paused = TRUE THEN ', the pool is paused' WHEN q.is_paused = TRUE THEN ', the queue is paused' WHEN COALESCE(q.last_polled, d.last_polled) IS NULL THEN ', no worker has polled it' ELSE ', no worker has taken it' END)
      ELSE LOWER(f.state_name) END,
    CASE WHEN CAST(f.empirical_policy ->> 'retries' AS INTEGER) > 0 THEN CONCAT(', try ', f.run_count, ' of ', CAST(f.empirical_policy ->> 'retries' AS INTEGER) + 1) ELSE '' END) AS what,
  s.message AS detail,
  CASE WHEN f.state_type = 'SCHEDULED' AND (q.id IS NULL OR q.is_paused = FALSE AND p.is_paused = FALSE) THEN COALESCE(q.last_polled, d.last_polled) END AS heartbeat,
  NULL AS before
FROM flow_run f
  LEFT JOIN flow_run_state s ON s.id = f.state_id
  LEFT JOIN deployment d ON d.id = f.deployment_id
  LEFT JOIN concurrency_limit_v2 l ON l.id = d.concurrency_limit_id
  LEFT JOIN work_queue q ON q.id = f.work_queue_id
  LEFT JOIN work_pool p ON p.id = q.work_pool_id
WHERE f.state_type IN ('SCHEDULED', 'PENDING', 'RUNNING', 'PAUSED', 'CANCELLING') AND (f.start_time IS NOT NULL OR f.expected_start_time <= :now)
UNION ALL
SELECT CAST(t.id AS VARCHAR(36)), CASE WHEN t.task_key LIKE '%-________' THEN SUBSTR(t.task_key, 1, LENGTH(t.task_key) - 9) ELSE t.task_key END,
  CASE WHEN c.id IS NOT NULL THEN 'running'
    WHEN t.state_type = 'SCHEDULED' THEN 'delayed'
    WHEN t.state_type IN ('RUNNING', 'CANCELLING') THEN 'running'
    WHEN t.state_type = 'PAUSED' THEN 'manual'
    WHEN t.state_name = 'NotReady' THEN 'incident'
    ELSE 'enabled' END,
  s.state_details ->> 'scheduled_time',
  CONCAT(
    CASE WHEN c.id IS NOT NULL THEN CONCAT('in called flow ', g.name, ' ', CAST(c.id AS VARCHAR(36)))
      WHEN t.state_name = 'AwaitingRetry' THEN 'failed'
      WHEN t.state_name = 'NotReady' THEN 'a task before it failed'
      WHEN t.state_type = 'PENDING' AND l.id IS NOT NULL THEN CONCAT('limit ', l.name, ' is full, ', l.active_slots, ' of ', l."limit", ' slots')
      ELSE LOWER(t.state_name) END,
    CASE WHEN CAST(t.empirical_policy ->> 'retries' AS INTEGER) > 0 THEN CONCAT(', try ', t.run_count, ' of ', CAST(t.empirical_policy ->> 'retries' AS INTEGER) + 1) ELSE '' END),
  s.message, NULL, CASE WHEN t.state_type = 'PENDING' AND t.state_name <> 'NotReady' THEN CAST(t.task_inputs AS TEXT) END
FROM task_run t JOIN flow_run f ON f.id = t.flow_run_id
  LEFT JOIN task_run_state s ON s.id = t.state_id
  LEFT JOIN flow_run c ON c.parent_task_run_id = t.id AND c.state_type IN ('SCHEDULED', 'PENDING', 'RUNNING', 'PAUSED', 'CANCELLING')
  LEFT JOIN flow g ON g.id = c.flow_id
  LEFT JOIN concurrency_limit_v2 l ON l.active = TRUE AND l.active_slots >= l."limit" AND t.state_type = 'PENDING' AND l.name LIKE 'tag:%'
    AND CAST(t.tags AS TEXT) LIKE CONCAT('%"', SUBSTR(l.name, 5), '"%')
WHERE t.state_type IN ('SCHEDULED', 'PENDING', 'RUNNING', 'PAUSED', 'CANCELLING')
  AND f.state_type IN ('SCHEDULED', 'PENDING', 'RUNNING', 'PAUSED', 'CANCELLING')
LIMIT :limit

-- query: started
SELECT id, at, definition, activity FROM (
  SELECT CAST(id AS VARCHAR(36)) AS id, start_time AS at, CAST(flow_id AS VARCHAR(36)) AS definition, 'flow-run' AS activity FROM flow_run WHERE start_time >= :since
  UNION ALL
  SELECT CAST(t.id AS VARCHAR(36)), t.start_time, CAST(f.flow_id AS VARCHAR(36)),
    CASE WHEN t.task_key LIKE '%-________' THEN SUBSTR(t.task_key, 1, LENGTH(t.task_key) - 9) ELSE t.task_key END
  FROM task_run t JOIN flow_run f ON f.id = t.flow_run_id WHERE t.start_time >= :since) n
WHERE at > :since OR id > :after
ORDER BY at, id LIMIT :limit

-- query: ended
SELECT id, at, definition, activity, millis, canceled FROM (
  SELECT CAST(id AS VARCHAR(36)) AS id, end_time AS at, CAST(flow_id AS VARCHAR(36)) AS definition, 'flow-run' AS activity, start_time AS millis,
    CASE WHEN state_type = 'COMPLETED' THEN 0 ELSE 1 END AS canceled FROM flow_run WHERE end_time >= :since
  UNION ALL
  SELECT CAST(t.id AS VARCHAR(36)), t.end_time, CAST(f.flow_id AS VARCHAR(36)),
    CASE WHEN t.task_key LIKE '%-________' THEN SUBSTR(t.task_key, 1, LENGTH(t.task_key) - 9) ELSE t.task_key END,
    t.start_time, CASE WHEN t.state_type = 'COMPLETED' THEN 0 ELSE 1 END
  FROM task_run t JOIN flow_run f ON f.id = t.flow_run_id WHERE t.end_time >= :since) n
WHERE at > :since OR id > :after
ORDER BY at, id LIMIT :limit

-- query: created
SELECT CAST(id AS VARCHAR(36)) AS id, start_time AS at, CAST(flow_id AS VARCHAR(36)) AS definition FROM flow_run
WHERE start_time >= :since AND (start_time > :since OR CAST(id AS VARCHAR(36)) > :after)
ORDER BY start_time, CAST(id AS VARCHAR(36)) LIMIT :limit

-- query: finished
SELECT CAST(id AS VARCHAR(36)) AS id, end_time AS at, CAST(flow_id AS VARCHAR(36)) AS definition, CASE WHEN state_type = 'COMPLETED' THEN 0 ELSE 1 END AS failed FROM flow_run
WHERE end_time >= :since AND (end_time > :since OR CAST(id AS VARCHAR(36)) > :after)
ORDER BY end_time, CAST(id AS VARCHAR(36)) LIMIT :limit
