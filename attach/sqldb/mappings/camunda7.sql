-- mapping: camunda7
-- about: Camunda 7, on PostgreSQL, MySQL or MariaDB
-- tool: Camunda Cockpit and Tasklist, or Camunda's REST API
-- needs: ACT_GE_SCHEMA_LOG(VERSION_, TIMESTAMP_)
-- needs: ACT_GE_BYTEARRAY(NAME_, DEPLOYMENT_ID_, BYTES_)
-- needs: ACT_RE_PROCDEF(ID_, KEY_, VERSION_, NAME_, DEPLOYMENT_ID_, RESOURCE_NAME_)
-- needs: ACT_RU_EXECUTION(ID_, PROC_DEF_ID_, PROC_INST_ID_, PARENT_ID_, SUPER_EXEC_, ACT_ID_, ACT_INST_ID_, IS_EVENT_SCOPE_, SUSPENSION_STATE_, BUSINESS_KEY_)
-- needs: ACT_RU_JOB(EXECUTION_ID_, PROCESS_DEF_ID_, JOB_DEF_ID_, TYPE_, RETRIES_, DUEDATE_, LOCK_OWNER_, LOCK_EXP_TIME_, CREATE_TIME_, SUSPENSION_STATE_, EXCEPTION_MSG_)
-- needs: ACT_RU_JOBDEF(ID_, ACT_ID_)
-- needs: ACT_RU_EVENT_SUBSCR(EXECUTION_ID_, ACTIVITY_ID_, EVENT_TYPE_, EVENT_NAME_, CREATED_)
-- needs: ACT_RU_TASK(EXECUTION_ID_, TASK_DEF_KEY_, ASSIGNEE_, CREATE_TIME_)
-- needs: ACT_RU_EXT_TASK(EXECUTION_ID_, ACT_ID_, TOPIC_NAME_, WORKER_ID_, RETRIES_, LOCK_EXP_TIME_, ERROR_MSG_)
-- needs: ACT_RU_INCIDENT(EXECUTION_ID_, ACTIVITY_ID_, INCIDENT_TYPE_, INCIDENT_MSG_)
-- needs: ACT_GE_PROPERTY(NAME_, VALUE_)
-- needs: ACT_HI_PROCINST(ID_, PROC_DEF_ID_, START_TIME_, END_TIME_, STATE_)
-- needs: ACT_HI_ACTINST(ID_, PROC_DEF_ID_, ACT_ID_, ACT_TYPE_, START_TIME_, END_TIME_, DURATION_, ACT_INST_STATE_)
-- index: ACT_HI_ACTINST(START_TIME_)
-- index: ACT_HI_ACTINST(END_TIME_)
-- index: ACT_HI_PROCINST(START_TIME_)
-- index: ACT_HI_PROCINST(END_TIME_)
-- index: ACT_RU_EXECUTION(PARENT_ID_)

-- query: probe
SELECT VERSION_ AS version FROM ACT_GE_SCHEMA_LOG ORDER BY TIMESTAMP_ DESC LIMIT 1

-- query: flow
-- The history level 0 is none: the engine writes no history.
SELECT CASE WHEN VALUE_ = '0' THEN 0 ELSE 1 END AS flow FROM ACT_GE_PROPERTY WHERE NAME_ = 'historyLevel'

-- query: definitions
SELECT ID_ AS definition, KEY_ AS net, VERSION_ AS version, NAME_ AS name FROM ACT_RE_PROCDEF

-- query: model
SELECT b.BYTES_ AS model
FROM ACT_RE_PROCDEF d JOIN ACT_GE_BYTEARRAY b ON b.DEPLOYMENT_ID_ = d.DEPLOYMENT_ID_ AND b.NAME_ = d.RESOURCE_NAME_
WHERE d.ID_ = :definition

-- query: open
-- The leaves of the tree of executions are where an instance is. Before and after an
-- activity that continues asynchronously there is a job, and no activity instance.
SELECT e.ID_ AS token, e.PROC_DEF_ID_ AS definition, e.ACT_ID_ AS activity, e.PROC_INST_ID_ AS instance,
  COALESCE(CASE WHEN h.ACT_ID_ = e.ACT_ID_ AND h.END_TIME_ IS NULL THEN h.START_TIME_ END,
    (SELECT MIN(j.CREATE_TIME_) FROM ACT_RU_JOB j WHERE j.EXECUTION_ID_ = e.ID_),
    (SELECT MIN(t.CREATE_TIME_) FROM ACT_RU_TASK t WHERE t.EXECUTION_ID_ = e.ID_),
    (SELECT MIN(s.CREATED_) FROM ACT_RU_EVENT_SUBSCR s WHERE s.EXECUTION_ID_ = e.ID_)) AS since,
  p.BUSINESS_KEY_ AS label
FROM ACT_RU_EXECUTION e
  LEFT JOIN ACT_HI_ACTINST h ON h.ID_ = e.ACT_INST_ID_
  LEFT JOIN ACT_RU_EXECUTION p ON p.ID_ = e.PROC_INST_ID_
WHERE e.ACT_ID_ IS NOT NULL AND e.IS_EVENT_SCOPE_ = FALSE
  AND NOT EXISTS (SELECT 1 FROM ACT_RU_EXECUTION c WHERE c.PARENT_ID_ = e.ID_ AND c.IS_EVENT_SCOPE_ = FALSE)
LIMIT :limit

-- query: why
-- What a boundary event waits for is at the scope around it. If that runs an activity several
-- times, it is said of each run.
WITH w AS (
  SELECT i.EXECUTION_ID_ AS token, i.ACTIVITY_ID_ AS activity, 'incident' AS reason, NULL AS until,
    CONCAT('incident ', i.INCIDENT_TYPE_) AS what, i.INCIDENT_MSG_ AS detail, NULL AS holder
  FROM ACT_RU_INCIDENT i
  UNION ALL
  SELECT j.EXECUTION_ID_, d.ACT_ID_,
    CASE WHEN j.SUSPENSION_STATE_ = 2 THEN 'manual' WHEN j.RETRIES_ <= 0 THEN 'incident' WHEN j.LOCK_EXP_TIME_ IS NOT NULL THEN 'running'
      WHEN j.DUEDATE_ IS NOT NULL THEN 'delayed' ELSE 'enabled' END,
    COALESCE(j.LOCK_EXP_TIME_, j.DUEDATE_),
    CONCAT(CASE WHEN j.TYPE_ = 'timer' THEN 'timer' ELSE 'job' END,
      CASE WHEN j.SUSPENSION_STATE_ = 2 THEN ', suspended' WHEN j.RETRIES_ <= 0 THEN ', out of retries'
        WHEN j.EXCEPTION_MSG_ IS NOT NULL THEN CONCAT(', failed, ', j.RETRIES_, ' retries left') ELSE '' END),
    j.EXCEPTION_MSG_, j.LOCK_OWNER_
  FROM ACT_RU_JOB j LEFT JOIN ACT_RU_JOBDEF d ON d.ID_ = j.JOB_DEF_ID_ WHERE j.EXECUTION_ID_ IS NOT NULL
  UNION ALL
  SELECT s.EXECUTION_ID_, s.ACTIVITY_ID_, 'manual', NULL, CONCAT(s.EVENT_TYPE_, ' ', COALESCE(s.EVENT_NAME_, '')), NULL, NULL
  FROM ACT_RU_EVENT_SUBSCR s WHERE s.EXECUTION_ID_ IS NOT NULL AND s.EVENT_TYPE_ <> 'compensate'
  UNION ALL
  SELECT t.EXECUTION_ID_, t.TASK_DEF_KEY_, 'manual', NULL, 'user task', t.ASSIGNEE_, NULL
  FROM ACT_RU_TASK t WHERE t.EXECUTION_ID_ IS NOT NULL
  UNION ALL
  SELECT x.EXECUTION_ID_, x.ACT_ID_,
    CASE WHEN x.RETRIES_ = 0 THEN 'incident' WHEN x.LOCK_EXP_TIME_ IS NOT NULL THEN 'running' WHEN l.TOPIC_NAME_ IS NULL THEN 'noWorker' ELSE 'enabled' END,
    CASE WHEN x.RETRIES_ = 0 THEN NULL ELSE x.LOCK_EXP_TIME_ END,
    CONCAT('external task ', x.TOPIC_NAME_,
      CASE WHEN x.RETRIES_ = 0 THEN ', out of retries' WHEN x.LOCK_EXP_TIME_ IS NOT NULL THEN '' WHEN l.TOPIC_NAME_ IS NULL THEN ', no worker has any of its topic' ELSE ', no worker has taken it' END),
    x.ERROR_MSG_, CASE WHEN x.RETRIES_ = 0 OR x.LOCK_EXP_TIME_ IS NULL THEN NULL ELSE CONCAT('worker ', x.WORKER_ID_) END
  FROM ACT_RU_EXT_TASK x
    LEFT JOIN (SELECT DISTINCT TOPIC_NAME_ FROM ACT_RU_EXT_TASK WHERE LOCK_EXP_TIME_ > :now) l ON l.TOPIC_NAME_ = x.TOPIC_NAME_
  WHERE x.EXECUTION_ID_ IS NOT NULL
  UNION ALL
  SELECT e.ID_, e.ACT_ID_, 'running', NULL, CONCAT('in called process ', d.KEY_, ' ', c.ID_), NULL, NULL
  FROM ACT_RU_EXECUTION c JOIN ACT_RU_EXECUTION e ON e.ID_ = c.SUPER_EXEC_ JOIN ACT_RE_PROCDEF d ON d.ID_ = c.PROC_DEF_ID_
  UNION ALL
  SELECT e.ID_, e.ACT_ID_, 'manual', NULL, 'suspended', NULL, NULL
  FROM ACT_RU_EXECUTION e WHERE e.SUSPENSION_STATE_ = 2 AND e.ACT_ID_ IS NOT NULL
)
SELECT token, activity, reason, until, what, detail, holder FROM w
UNION ALL
SELECT COALESCE(g.ID_, c.ID_), w.activity, w.reason, w.until, w.what, w.detail, w.holder
FROM w JOIN ACT_RU_EXECUTION c ON c.PARENT_ID_ = w.token LEFT JOIN ACT_RU_EXECUTION g ON g.PARENT_ID_ = c.ID_
WHERE w.what <> 'suspended'
LIMIT :limit

-- query: started
SELECT ID_ AS id, START_TIME_ AS at, PROC_DEF_ID_ AS definition, ACT_ID_ AS activity
FROM ACT_HI_ACTINST
WHERE START_TIME_ >= :since AND (START_TIME_ > :since OR ID_ > :after) AND ACT_TYPE_ <> 'multiInstanceBody'
ORDER BY START_TIME_, ID_ LIMIT :limit

-- query: ended
SELECT ID_ AS id, END_TIME_ AS at, PROC_DEF_ID_ AS definition, ACT_ID_ AS activity,
  DURATION_ AS millis, CASE WHEN ACT_INST_STATE_ = 2 THEN 1 ELSE 0 END AS canceled
FROM ACT_HI_ACTINST
WHERE END_TIME_ >= :since AND (END_TIME_ > :since OR ID_ > :after) AND ACT_TYPE_ <> 'multiInstanceBody'
ORDER BY END_TIME_, ID_ LIMIT :limit

-- query: created
SELECT ID_ AS id, START_TIME_ AS at, PROC_DEF_ID_ AS definition
FROM ACT_HI_PROCINST
WHERE START_TIME_ >= :since AND (START_TIME_ > :since OR ID_ > :after)
ORDER BY START_TIME_, ID_ LIMIT :limit

-- query: finished
SELECT ID_ AS id, END_TIME_ AS at, PROC_DEF_ID_ AS definition, CASE WHEN STATE_ = 'EXTERNALLY_TERMINATED' THEN 1 ELSE 0 END AS failed
FROM ACT_HI_PROCINST
WHERE END_TIME_ >= :since AND (END_TIME_ > :since OR ID_ > :after)
ORDER BY END_TIME_, ID_ LIMIT :limit

-- query: schedules
-- The job of a timer that starts instances belongs to none. The engine replaces it when it starts one.
SELECT j.PROCESS_DEF_ID_ AS definition, d.ACT_ID_ AS activity, MIN(j.DUEDATE_) AS next
FROM ACT_RU_JOB j JOIN ACT_RU_JOBDEF d ON d.ID_ = j.JOB_DEF_ID_
WHERE j.EXECUTION_ID_ IS NULL AND j.TYPE_ = 'timer' AND j.PROCESS_DEF_ID_ IS NOT NULL
GROUP BY j.PROCESS_DEF_ID_, d.ACT_ID_ LIMIT :limit
