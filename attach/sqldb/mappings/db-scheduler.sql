-- mapping: db-scheduler
-- about: db-scheduler 16, on PostgreSQL
-- tool: the methods reschedule and cancel of db-scheduler's SchedulerClient, or db-scheduler-ui
-- task: execution
-- needs: scheduled_tasks(task_name, task_instance, execution_time, picked, picked_by, last_success, last_failure, consecutive_failures, last_heartbeat)
-- index: scheduled_tasks(task_name)

-- A definition is a task. db-scheduler deletes an execution that has ended, so nothing is counted.

-- query: probe
SELECT 'not stored by db-scheduler' AS version

-- query: definitions
-- From each task to the next, by the index.
WITH RECURSIVE n AS (
  SELECT MIN(task_name) AS name FROM scheduled_tasks
  UNION ALL
  SELECT (SELECT MIN(t.task_name) FROM scheduled_tasks t WHERE t.task_name > n.name) FROM n WHERE n.name IS NOT NULL)
SELECT name AS definition, name AS net, 1 AS version, NULL AS name FROM n WHERE name IS NOT NULL

-- query: open
-- An execution that is scheduled ahead is not there yet, unless it failed. A retry overwrites
-- execution_time, so only the time of the last failure is left.
SELECT CONCAT(task_name, '|', task_instance) AS token, task_name AS definition, 'execution' AS activity, task_instance AS instance,
  CASE WHEN NOT picked AND execution_time > :now THEN last_failure ELSE execution_time END AS since, NULL AS label
FROM scheduled_tasks
WHERE picked OR execution_time <= :now OR consecutive_failures > 0
LIMIT :limit

-- query: why
-- The scheduler of an execution that runs reports every five minutes, unless it is configured otherwise.
SELECT CONCAT(task_name, '|', task_instance) AS token, 'execution' AS activity,
  CASE WHEN picked THEN 'running' WHEN execution_time > :now THEN 'delayed' ELSE 'enabled' END AS reason,
  CASE WHEN NOT picked THEN execution_time END AS until,
  CASE WHEN picked THEN CONCAT('running, try ', COALESCE(consecutive_failures, 0) + 1)
    ELSE CONCAT(CASE WHEN consecutive_failures > 0 THEN CONCAT('failed, try ', consecutive_failures) END,
      CASE WHEN execution_time > :now THEN '' WHEN consecutive_failures > 0 THEN ', no scheduler has picked it' ELSE 'no scheduler has picked it' END) END AS what,
  NULL AS detail, CASE WHEN picked THEN last_heartbeat END AS heartbeat, 360 AS late, CASE WHEN picked THEN CONCAT('scheduler ', picked_by) END AS holder
FROM scheduled_tasks
WHERE picked OR execution_time <= :now OR consecutive_failures > 0
LIMIT :limit

-- query: schedules
-- A recurring task has one execution, which keeps its time until it ends.
SELECT task_name AS definition, 'execution' AS activity, execution_time AS next, last_success AS last FROM scheduled_tasks WHERE task_instance = 'recurring' LIMIT :limit
