-- mapping: airflow2
-- about: Airflow 2.10, on PostgreSQL or SQLite
-- tool: Airflow's web page, or airflow tasks clear
-- needs: alembic_version(version_num)
-- needs: serialized_dag(dag_id, data, data_compressed, dag_hash)
-- needs: dag(dag_id, is_paused, is_active, owners, max_active_tasks, next_dagrun_create_after)
-- needs: dag_run(id, dag_id, run_id, state, queued_at, start_date, end_date, clear_number)
-- needs: task_instance(dag_id, task_id, run_id, map_index, state, queued_dttm, start_date, end_date, updated_at, try_number, max_tries, pool, pool_slots, queue, hostname, job_id, next_method)
-- needs: task_instance_history(dag_id, task_id, run_id, map_index, start_date, max_tries)
-- needs: task_reschedule(dag_id, task_id, run_id, map_index, reschedule_date)
-- needs: slot_pool(pool, slots, include_deferred)
-- needs: job(id, job_type, latest_heartbeat)
-- index: task_instance(state)
-- index: task_instance(dag_id)
-- index: task_instance_history(dag_id)
-- index: dag_run(state)
-- index: job(job_type)

-- A definition is a DAG with the hash of its tasks, because Airflow 2 keeps only the newest.

-- query: probe
SELECT version_num AS version FROM alembic_version

-- query: definitions
SELECT CONCAT(dag_id, '|', dag_hash) AS definition, dag_id AS net, 1 AS version, NULL AS name FROM serialized_dag

-- query: model
SELECT data AS model, data_compressed AS compressed FROM serialized_dag WHERE CONCAT(dag_id, '|', dag_hash) = :definition

-- query: open
-- What has a state is active. What has none waits for its upstream tasks, or for its run to
-- begin. A retry overwrites the row; the history has its former tries. Clearing a task
-- raises max_tries, so that earlier tries do not count.
SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index) AS token, CONCAT(t.dag_id, '|', s.dag_hash) AS definition, t.task_id AS activity, t.run_id AS instance,
  COALESCE((SELECT MIN(h.start_date) FROM task_instance_history h
    WHERE h.dag_id = t.dag_id AND h.task_id = t.task_id AND h.run_id = t.run_id AND h.map_index = t.map_index AND h.max_tries = t.max_tries),
    CASE t.state WHEN 'scheduled' THEN t.updated_at WHEN 'queued' THEN t.queued_dttm ELSE t.start_date END) AS since, NULL AS label
FROM task_instance t JOIN serialized_dag s ON s.dag_id = t.dag_id
WHERE t.state IN ('scheduled', 'queued', 'running', 'restarting', 'up_for_retry', 'up_for_reschedule', 'deferred')
UNION ALL
SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index), CONCAT(t.dag_id, '|', s.dag_hash), t.task_id, t.run_id, r.start_date, NULL
FROM dag_run r JOIN task_instance t ON t.dag_id = r.dag_id AND t.run_id = r.run_id JOIN serialized_dag s ON s.dag_id = t.dag_id
WHERE r.state = 'running' AND t.state IS NULL
UNION ALL
SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index), CONCAT(t.dag_id, '|', s.dag_hash), t.task_id, t.run_id, r.queued_at, NULL
FROM dag_run r JOIN task_instance t ON t.dag_id = r.dag_id AND t.run_id = r.run_id JOIN serialized_dag s ON s.dag_id = t.dag_id
WHERE r.state = 'queued' AND t.state IS NULL
LIMIT :limit

-- query: done
SELECT CONCAT(t.dag_id, '|', s.dag_hash) AS definition, t.run_id AS instance, t.task_id AS activity, t.end_date AS at
FROM dag_run r JOIN task_instance t ON t.dag_id = r.dag_id AND t.run_id = r.run_id JOIN serialized_dag s ON s.dag_id = t.dag_id
WHERE r.state = 'running' AND t.state IN ('success', 'failed', 'skipped', 'upstream_failed', 'removed')
LIMIT :limit

-- query: why
SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index) AS token, t.task_id AS activity,
  CASE t.state WHEN 'running' THEN 'running' WHEN 'up_for_retry' THEN 'retry' WHEN 'up_for_reschedule' THEN 'delayed' WHEN 'deferred' THEN 'manual' ELSE 'enabled' END AS reason,
  CASE t.state WHEN 'up_for_retry' THEN t.end_date WHEN 'up_for_reschedule' THEN (SELECT MAX(p.reschedule_date) FROM task_reschedule p WHERE p.dag_id = t.dag_id AND p.task_id = t.task_id AND p.run_id = t.run_id AND p.map_index = t.map_index) END AS until,
  CONCAT(
    CASE t.state WHEN 'up_for_retry' THEN 'failed' WHEN 'up_for_reschedule' THEN 'sensor, waits for its next poke' WHEN 'deferred' THEN 'deferred to a triggerer'
      WHEN 'queued' THEN CONCAT('in queue ', COALESCE(t.queue, ''), ', no worker has taken it')
      WHEN 'scheduled' THEN CASE
        WHEN l.slots >= 0 AND COALESCE(u.taken, 0) + t.pool_slots > l.slots THEN CONCAT('pool ', t.pool, ' is full, ', COALESCE(u.taken, 0), ' of ', l.slots, ' slots')
        WHEN a.active >= d.max_active_tasks THEN CONCAT(a.active, ' of ', d.max_active_tasks, ' active tasks of the DAG')
        ELSE 'scheduled, not queued yet' END
      ELSE t.state END,
    CASE WHEN t.max_tries > 0 THEN CONCAT(', try ', t.try_number, ' of ', t.max_tries + 1) ELSE '' END,
    CASE WHEN t.map_index >= 0 THEN CONCAT(', map index ', t.map_index) ELSE '' END) AS what,
  CONCAT('owner ', d.owners) AS detail,
  CASE t.state WHEN 'running' THEN j.latest_heartbeat WHEN 'deferred' THEN (SELECT MAX(latest_heartbeat) FROM job WHERE job_type = 'TriggererJob')
    ELSE (SELECT MAX(latest_heartbeat) FROM job WHERE job_type = 'SchedulerJob') END AS heartbeat,
  CASE t.state WHEN 'running' THEN CONCAT('host ', t.hostname) END AS holder
FROM task_instance t
  JOIN dag d ON d.dag_id = t.dag_id
  LEFT JOIN job j ON j.id = t.job_id
  LEFT JOIN slot_pool l ON l.pool = t.pool
  LEFT JOIN (SELECT o.pool, SUM(o.pool_slots) AS taken FROM task_instance o JOIN slot_pool q ON q.pool = o.pool
    WHERE o.state IN ('running', 'queued') OR o.state = 'deferred' AND q.include_deferred = TRUE GROUP BY o.pool) u ON u.pool = t.pool
  LEFT JOIN (SELECT dag_id, COUNT(*) AS active FROM task_instance WHERE state IN ('running', 'queued') GROUP BY dag_id) a ON a.dag_id = t.dag_id
WHERE t.state IN ('scheduled', 'queued', 'running', 'restarting', 'up_for_retry', 'up_for_reschedule', 'deferred')
UNION ALL
SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index), t.task_id, 'manual', NULL, 'the DAG is paused', NULL, NULL, NULL
FROM task_instance t JOIN dag d ON d.dag_id = t.dag_id WHERE t.state = 'scheduled' AND d.is_paused = TRUE
UNION ALL
SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index), t.task_id, 'missing', NULL, CASE WHEN d.is_paused = TRUE THEN 'the DAG is paused' ELSE '' END, CONCAT('owner ', d.owners),
  (SELECT MAX(latest_heartbeat) FROM job WHERE job_type = 'SchedulerJob'), NULL
FROM dag_run r JOIN dag d ON d.dag_id = r.dag_id JOIN task_instance t ON t.dag_id = r.dag_id AND t.run_id = r.run_id
WHERE r.state = 'running' AND t.state IS NULL
UNION ALL
SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index), t.task_id, 'missing', NULL, CASE WHEN d.is_paused = TRUE THEN 'the DAG is paused' ELSE 'the run is queued' END, CONCAT('owner ', d.owners),
  (SELECT MAX(latest_heartbeat) FROM job WHERE job_type = 'SchedulerJob'), NULL
FROM dag_run r JOIN dag d ON d.dag_id = r.dag_id JOIN task_instance t ON t.dag_id = r.dag_id AND t.run_id = r.run_id
WHERE r.state = 'queued' AND t.state IS NULL
LIMIT :limit

-- query: schedules
-- When the scheduler is to make the next run, which begins with the first task that none comes before. A DAG that is paused
-- or gone gets none, nor one that has as many active runs as it may.
SELECT CONCAT(d.dag_id, '|', s.dag_hash) AS definition, NULL AS activity, d.next_dagrun_create_after AS next
FROM dag d JOIN serialized_dag s ON s.dag_id = d.dag_id
WHERE d.is_paused = FALSE AND d.is_active = TRUE AND d.next_dagrun_create_after IS NOT NULL
LIMIT :limit

-- query: floor
-- A run that ends, or that is new, is one that is open or has at least the number of those
-- that are. The sum keeps PostgreSQL from looking for the smallest id from run 1 on.
SELECT MIN(i) - 100 AS floor FROM (
  SELECT id + 0 AS i FROM dag_run WHERE state = 'running'
  UNION ALL SELECT id + 0 FROM dag_run WHERE state = 'queued'
  UNION ALL SELECT MAX(id) FROM dag_run) r

-- query: started
-- No index has start_date or end_date. So these are the tasks of runs that are running, or
-- that ended since then, are above the floor and among the newest 20,000. A task that was cleared keeps the
-- times of its last try until it starts.
SELECT id, at, definition, activity FROM (
  SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index, '|', t.max_tries) AS id,
    COALESCE((SELECT MIN(h.start_date) FROM task_instance_history h
    WHERE h.dag_id = t.dag_id AND h.task_id = t.task_id AND h.run_id = t.run_id AND h.map_index = t.map_index AND h.max_tries = t.max_tries), t.start_date) AS at,
    CONCAT(t.dag_id, '|', s.dag_hash) AS definition, t.task_id AS activity
  FROM (SELECT dag_id, run_id FROM dag_run WHERE state = 'running'
    UNION ALL
    SELECT n.dag_id, n.run_id FROM (SELECT dag_id, run_id, state, end_date FROM dag_run WHERE id >= :floor ORDER BY id DESC LIMIT 20000) n
    WHERE n.state <> 'running' AND n.end_date >= :since) r
  JOIN task_instance t ON t.dag_id = r.dag_id AND t.run_id = r.run_id JOIN serialized_dag s ON s.dag_id = t.dag_id
  WHERE t.start_date >= :since AND t.state IS NOT NULL AND (t.state NOT IN ('scheduled', 'queued') OR t.next_method IS NOT NULL)) f
WHERE at >= :since AND (at > :since OR id > :after)
ORDER BY at, id LIMIT :limit

-- query: ended
SELECT id, at, definition, activity, began AS millis, canceled FROM (
  SELECT CONCAT(t.dag_id, '|', t.run_id, '|', t.task_id, '|', t.map_index, '|', t.max_tries) AS id, t.end_date AS at,
    CONCAT(t.dag_id, '|', s.dag_hash) AS definition, t.task_id AS activity,
    COALESCE((SELECT MIN(h.start_date) FROM task_instance_history h
    WHERE h.dag_id = t.dag_id AND h.task_id = t.task_id AND h.run_id = t.run_id AND h.map_index = t.map_index AND h.max_tries = t.max_tries), t.start_date) AS began,
    CASE WHEN t.state = 'success' THEN 0 ELSE 1 END AS canceled
  FROM (SELECT dag_id, run_id FROM dag_run WHERE state = 'running'
    UNION ALL
    SELECT n.dag_id, n.run_id FROM (SELECT dag_id, run_id, state, end_date FROM dag_run WHERE id >= :floor ORDER BY id DESC LIMIT 20000) n
    WHERE n.state <> 'running' AND n.end_date >= :since) r
  JOIN task_instance t ON t.dag_id = r.dag_id AND t.run_id = r.run_id JOIN serialized_dag s ON s.dag_id = t.dag_id
  WHERE t.end_date >= :since AND t.state IN ('success', 'failed', 'skipped', 'upstream_failed', 'removed')) f
WHERE at > :since OR id > :after
ORDER BY at, id LIMIT :limit

-- query: created
SELECT id, at, definition FROM (
  SELECT CONCAT(r.dag_id, '|', r.run_id, '|', r.clear_number) AS id, r.start_date AS at, CONCAT(r.dag_id, '|', s.dag_hash) AS definition
  FROM (SELECT dag_id, run_id, start_date, clear_number FROM dag_run WHERE id >= :floor ORDER BY id DESC LIMIT 20000) r JOIN serialized_dag s ON s.dag_id = r.dag_id
  WHERE r.start_date >= :since) f
WHERE at > :since OR id > :after
ORDER BY at, id LIMIT :limit

-- query: finished
SELECT id, at, definition, failed FROM (
  SELECT CONCAT(r.dag_id, '|', r.run_id, '|', r.clear_number) AS id, r.end_date AS at, CONCAT(r.dag_id, '|', s.dag_hash) AS definition,
    CASE WHEN r.state = 'success' THEN 0 ELSE 1 END AS failed
  FROM (SELECT dag_id, run_id, state, end_date, clear_number FROM dag_run WHERE id >= :floor ORDER BY id DESC LIMIT 20000) r JOIN serialized_dag s ON s.dag_id = r.dag_id
  WHERE r.end_date >= :since AND r.state IN ('success', 'failed')) f
WHERE at > :since OR id > :after
ORDER BY at, id LIMIT :limit
