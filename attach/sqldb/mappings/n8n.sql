-- mapping: n8n
-- about: n8n 2, on PostgreSQL
-- tool: the page Executions of n8n, or the calls stop and retry of executions of its REST API
-- task: execution
-- needs: workflow_entity(id, name)
-- needs: execution_entity(id, mode, status, "workflowId", "retryOf", "createdAt", "startedAt", "stoppedAt", "waitTill", "deletedAt")
-- index: execution_entity(id)
-- index: execution_entity(stoppedAt)

-- n8n deletes executions after two weeks, and keeps 10,000 of them, by default. An execution that waits has a
-- stoppedAt, too. When it goes on, n8n overwrites startedAt.

-- query: probe
SELECT 'not stored by n8n' AS version

-- query: definitions
SELECT id AS definition, id AS net, 1 AS version, name FROM workflow_entity

-- query: open
-- By workflow, because n8n 2.40 has an index of executions by their workflow and status.
SELECT CAST(id AS text) AS token, "workflowId" AS definition, 'execution' AS activity, CAST(id AS text) AS instance, "createdAt" AS since, NULL AS label
FROM (SELECT id AS workflow FROM workflow_entity) w JOIN execution_entity e ON e."workflowId" = w.workflow
WHERE e.status IN ('new', 'running', 'waiting') AND e."deletedAt" IS NULL
LIMIT :limit

-- query: why
-- What waits for a call or a form waits until the year 3000. n8n resumes what waits for a time up to a minute before that.
SELECT CAST(id AS text) AS token, 'execution' AS activity,
  CASE WHEN status = 'running' THEN 'running' WHEN status = 'new' OR "waitTill" <= :now THEN 'enabled' WHEN "waitTill" >= '3000-01-01' THEN 'manual' ELSE 'delayed' END AS reason,
  CASE WHEN status = 'waiting' THEN "waitTill" END AS until,
  CONCAT(
    CASE WHEN status = 'running' THEN 'running' WHEN status = 'new' THEN 'not begun: no worker has taken it, or as many run as may'
      WHEN "waitTill" <= :now THEN 'its time has come, and n8n has not resumed it' WHEN "waitTill" >= '3000-01-01' THEN 'waits for a call or a form' ELSE 'waits' END,
    ', mode ', mode, CASE WHEN "retryOf" IS NOT NULL THEN CONCAT(', retry of ', "retryOf") ELSE '' END) AS what,
  NULL AS detail
FROM (SELECT id AS workflow FROM workflow_entity) w JOIN execution_entity e ON e."workflowId" = w.workflow
WHERE e.status IN ('new', 'running', 'waiting') AND e."deletedAt" IS NULL
LIMIT :limit

-- query: floor
SELECT COALESCE(MAX(id), 0) AS floor FROM execution_entity

-- query: started
-- No index has createdAt; ids grow with it. The first poll has no floor.
SELECT CAST(id AS text) AS id, "createdAt" AS at, "workflowId" AS definition, 'execution' AS activity
FROM (SELECT id, "createdAt", "workflowId" FROM execution_entity WHERE id >= :floor ORDER BY id DESC LIMIT 1000000) e
WHERE "createdAt" >= :since AND ("createdAt" > :since OR CAST(id AS text) > :after)
ORDER BY "createdAt", CAST(id AS text) LIMIT :limit

-- query: ended
SELECT CAST(id AS text) AS id, "stoppedAt" AS at, "workflowId" AS definition, 'execution' AS activity, "createdAt" AS millis, CASE WHEN status = 'success' THEN 0 ELSE 1 END AS canceled
FROM execution_entity
WHERE "stoppedAt" >= :since AND "deletedAt" IS NULL AND status NOT IN ('new', 'running', 'waiting') AND ("stoppedAt" > :since OR CAST(id AS text) > :after)
ORDER BY "stoppedAt", CAST(id AS text) LIMIT :limit
