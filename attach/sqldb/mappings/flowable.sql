-- mapping: flowable
-- about: Flowable 6.6 and later, and 7, on PostgreSQL, MySQL or MariaDB
-- tool: Flowable's web applications, or its REST API
-- needs: ACT_GE_PROPERTY(NAME_, VALUE_)
-- needs: ACT_GE_BYTEARRAY(NAME_, DEPLOYMENT_ID_, BYTES_)
-- needs: ACT_RE_PROCDEF(ID_, KEY_, VERSION_, NAME_, DEPLOYMENT_ID_, RESOURCE_NAME_)
-- needs: ACT_RU_EXECUTION(ID_, PROC_DEF_ID_, PROC_INST_ID_, PARENT_ID_, SUPER_EXEC_, ACT_ID_, IS_SCOPE_, IS_EVENT_SCOPE_, IS_MI_ROOT_, SUSPENSION_STATE_, START_TIME_, BUSINESS_KEY_)
-- needs: ACT_RU_ACTINST(EXECUTION_ID_, ACT_ID_, ACT_TYPE_, START_TIME_)
-- needs: ACT_RU_JOB(EXECUTION_ID_, PROC_DEF_ID_, ELEMENT_ID_, HANDLER_TYPE_, HANDLER_CFG_, DUEDATE_, LOCK_OWNER_, LOCK_EXP_TIME_, CREATE_TIME_, EXCEPTION_MSG_)
-- needs: ACT_RU_TIMER_JOB(EXECUTION_ID_, PROC_DEF_ID_, ELEMENT_ID_, HANDLER_TYPE_, HANDLER_CFG_, RETRIES_, DUEDATE_, CREATE_TIME_, EXCEPTION_MSG_)
-- needs: ACT_RU_SUSPENDED_JOB(EXECUTION_ID_, PROC_DEF_ID_, ELEMENT_ID_, HANDLER_TYPE_, HANDLER_CFG_, DUEDATE_, CREATE_TIME_, EXCEPTION_MSG_)
-- needs: ACT_RU_DEADLETTER_JOB(EXECUTION_ID_, PROC_DEF_ID_, ELEMENT_ID_, HANDLER_TYPE_, HANDLER_CFG_, DUEDATE_, CREATE_TIME_, EXCEPTION_MSG_)
-- needs: ACT_RU_EXTERNAL_JOB(EXECUTION_ID_, ELEMENT_ID_, HANDLER_CFG_, LOCK_OWNER_, LOCK_EXP_TIME_, RETRIES_, EXCEPTION_MSG_)
-- needs: ACT_RU_EVENT_SUBSCR(EXECUTION_ID_, ACTIVITY_ID_, EVENT_TYPE_, EVENT_NAME_)
-- needs: ACT_RU_TASK(EXECUTION_ID_, TASK_DEF_KEY_, ASSIGNEE_)
-- needs: ACT_HI_PROCINST(ID_, PROC_DEF_ID_, START_ACT_ID_, END_TIME_, DELETE_REASON_)
-- needs: ACT_HI_ACTINST(ID_, PROC_INST_ID_, PROC_DEF_ID_, ACT_ID_, ACT_TYPE_, START_TIME_, END_TIME_, DURATION_, DELETE_REASON_)
-- index: ACT_HI_ACTINST(START_TIME_)
-- index: ACT_HI_ACTINST(END_TIME_)
-- index: ACT_HI_PROCINST(END_TIME_)
-- index: ACT_RU_ACTINST(EXECUTION_ID_)

-- query: probe
SELECT VALUE_ AS version FROM ACT_GE_PROPERTY WHERE NAME_ = 'schema.version'

-- query: definitions
SELECT ID_ AS definition, KEY_ AS net, VERSION_ AS version, NAME_ AS name FROM ACT_RE_PROCDEF

-- query: model
SELECT b.BYTES_ AS model
FROM ACT_RE_PROCDEF d JOIN ACT_GE_BYTEARRAY b ON b.DEPLOYMENT_ID_ = d.DEPLOYMENT_ID_ AND b.NAME_ = d.RESOURCE_NAME_
WHERE d.ID_ = :definition

-- query: open
-- Boundary events have executions of their own: their token is that of the activity. An
-- execution at a parallel join has an activity instance that has ended. Before an
-- asynchronous activity there is a job, and no activity instance.
SELECT e.ID_ AS token, e.PROC_DEF_ID_ AS definition, e.ACT_ID_ AS activity, e.PROC_INST_ID_ AS instance,
  COALESCE((SELECT MAX(a.START_TIME_) FROM ACT_RU_ACTINST a WHERE a.EXECUTION_ID_ = e.ID_ AND a.ACT_ID_ = e.ACT_ID_),
    (SELECT MIN(j.CREATE_TIME_) FROM ACT_RU_JOB j WHERE j.EXECUTION_ID_ = e.ID_),
    (SELECT MIN(j.CREATE_TIME_) FROM ACT_RU_TIMER_JOB j WHERE j.EXECUTION_ID_ = e.ID_),
    (SELECT MIN(j.CREATE_TIME_) FROM ACT_RU_DEADLETTER_JOB j WHERE j.EXECUTION_ID_ = e.ID_),
    (SELECT MIN(j.CREATE_TIME_) FROM ACT_RU_SUSPENDED_JOB j WHERE j.EXECUTION_ID_ = e.ID_), e.START_TIME_) AS since,
  p.BUSINESS_KEY_ AS label
FROM ACT_RU_EXECUTION e LEFT JOIN ACT_RU_EXECUTION p ON p.ID_ = e.PROC_INST_ID_
WHERE e.ACT_ID_ IS NOT NULL AND e.IS_SCOPE_ = FALSE AND e.IS_EVENT_SCOPE_ = FALSE AND e.IS_MI_ROOT_ = FALSE
  AND NOT EXISTS (SELECT 1 FROM ACT_RU_ACTINST b WHERE b.EXECUTION_ID_ = e.ID_ AND b.ACT_ID_ = e.ACT_ID_ AND b.ACT_TYPE_ = 'boundaryEvent')
LIMIT :limit

-- query: why
-- What a boundary event waits for is said of its parent, the activity; of each run of one
-- that runs several times.
WITH w AS (
  SELECT EXECUTION_ID_ AS token, ELEMENT_ID_ AS activity, 'incident' AS reason, NULL AS until,
    'job in the dead-letter table' AS what, EXCEPTION_MSG_ AS detail, NULL AS holder
  FROM ACT_RU_DEADLETTER_JOB
  UNION ALL
  SELECT EXECUTION_ID_, ELEMENT_ID_, 'delayed', DUEDATE_,
    CASE WHEN HANDLER_TYPE_ = 'async-continuation' THEN CONCAT('job, failed, ', RETRIES_, ' retries left') ELSE 'timer' END, EXCEPTION_MSG_, NULL
  FROM ACT_RU_TIMER_JOB
  UNION ALL
  SELECT EXECUTION_ID_, ELEMENT_ID_, CASE WHEN LOCK_EXP_TIME_ IS NOT NULL THEN 'running' ELSE 'enabled' END, LOCK_EXP_TIME_, 'job', EXCEPTION_MSG_, LOCK_OWNER_
  FROM ACT_RU_JOB
  UNION ALL
  SELECT EXECUTION_ID_, ELEMENT_ID_, 'manual', NULL, 'job, suspended', EXCEPTION_MSG_, NULL FROM ACT_RU_SUSPENDED_JOB
  UNION ALL
  SELECT x.EXECUTION_ID_, x.ELEMENT_ID_,
    CASE WHEN x.RETRIES_ = 0 THEN 'incident' WHEN x.LOCK_EXP_TIME_ IS NOT NULL THEN 'running' WHEN l.HANDLER_CFG_ IS NULL THEN 'noWorker' ELSE 'enabled' END,
    CASE WHEN x.RETRIES_ = 0 THEN NULL ELSE x.LOCK_EXP_TIME_ END,
    CONCAT('external task ', x.HANDLER_CFG_,
      CASE WHEN x.RETRIES_ = 0 THEN ', out of retries' WHEN x.LOCK_EXP_TIME_ IS NOT NULL THEN '' WHEN l.HANDLER_CFG_ IS NULL THEN ', no worker has any of its topic' ELSE ', no worker has taken it' END),
    x.EXCEPTION_MSG_, CASE WHEN x.RETRIES_ = 0 OR x.LOCK_EXP_TIME_ IS NULL THEN NULL ELSE CONCAT('worker ', x.LOCK_OWNER_) END
  FROM ACT_RU_EXTERNAL_JOB x
    LEFT JOIN (SELECT DISTINCT HANDLER_CFG_ FROM ACT_RU_EXTERNAL_JOB WHERE LOCK_EXP_TIME_ > :now) l ON l.HANDLER_CFG_ = x.HANDLER_CFG_
  UNION ALL
  SELECT EXECUTION_ID_, ACTIVITY_ID_, 'manual', NULL, CONCAT(EVENT_TYPE_, ' ', COALESCE(EVENT_NAME_, '')), NULL, NULL
  FROM ACT_RU_EVENT_SUBSCR WHERE EVENT_TYPE_ <> 'compensate'
  UNION ALL
  SELECT EXECUTION_ID_, TASK_DEF_KEY_, 'manual', NULL, 'user task', ASSIGNEE_, NULL FROM ACT_RU_TASK
  UNION ALL
  SELECT e.ID_, e.ACT_ID_, 'running', NULL, CONCAT('in called process ', d.KEY_, ' ', c.ID_), NULL, NULL
  FROM ACT_RU_EXECUTION c JOIN ACT_RU_EXECUTION e ON e.ID_ = c.SUPER_EXEC_ JOIN ACT_RE_PROCDEF d ON d.ID_ = c.PROC_DEF_ID_
  UNION ALL
  SELECT e.ID_, e.ACT_ID_, 'manual', NULL, 'suspended', NULL, NULL FROM ACT_RU_EXECUTION e WHERE e.SUSPENSION_STATE_ = 2
)
SELECT token, activity, reason, until, what, detail, holder FROM w
WHERE token IS NOT NULL
UNION ALL
SELECT e.PARENT_ID_, w.activity, w.reason, w.until, w.what, w.detail, w.holder
FROM w JOIN ACT_RU_EXECUTION e ON e.ID_ = w.token JOIN ACT_RU_ACTINST b ON b.EXECUTION_ID_ = e.ID_ AND b.ACT_ID_ = e.ACT_ID_ AND b.ACT_TYPE_ = 'boundaryEvent'
WHERE e.PARENT_ID_ IS NOT NULL
UNION ALL
SELECT r.ID_, w.activity, w.reason, w.until, w.what, w.detail, w.holder
FROM w JOIN ACT_RU_EXECUTION e ON e.ID_ = w.token JOIN ACT_RU_ACTINST b ON b.EXECUTION_ID_ = e.ID_ AND b.ACT_ID_ = e.ACT_ID_ AND b.ACT_TYPE_ = 'boundaryEvent'
  JOIN ACT_RU_EXECUTION p ON p.ID_ = e.PARENT_ID_ AND p.IS_MI_ROOT_ = TRUE JOIN ACT_RU_EXECUTION r ON r.PARENT_ID_ = p.ID_ AND r.ID_ <> e.ID_
LIMIT :limit

-- query: started
SELECT ID_ AS id, START_TIME_ AS at, PROC_DEF_ID_ AS definition, ACT_ID_ AS activity
FROM ACT_HI_ACTINST
WHERE START_TIME_ >= :since AND (START_TIME_ > :since OR ID_ > :after) AND ACT_TYPE_ <> 'sequenceFlow'
ORDER BY START_TIME_, ID_ LIMIT :limit

-- query: ended
SELECT ID_ AS id, END_TIME_ AS at, PROC_DEF_ID_ AS definition, ACT_ID_ AS activity,
  DURATION_ AS millis, CASE WHEN DELETE_REASON_ IS NOT NULL THEN 1 ELSE 0 END AS canceled
FROM ACT_HI_ACTINST
WHERE END_TIME_ >= :since AND (END_TIME_ > :since OR ID_ > :after) AND ACT_TYPE_ <> 'sequenceFlow'
ORDER BY END_TIME_, ID_ LIMIT :limit

-- query: created
-- ACT_HI_PROCINST has no index on the start; its start event has.
SELECT p.ID_ AS id, h.START_TIME_ AS at, p.PROC_DEF_ID_ AS definition
FROM ACT_HI_ACTINST h JOIN ACT_HI_PROCINST p ON p.ID_ = h.PROC_INST_ID_ AND p.START_ACT_ID_ = h.ACT_ID_
WHERE h.START_TIME_ >= :since AND (h.START_TIME_ > :since OR p.ID_ > :after) AND h.ACT_TYPE_ = 'startEvent'
ORDER BY h.START_TIME_, p.ID_ LIMIT :limit

-- query: finished
SELECT ID_ AS id, END_TIME_ AS at, PROC_DEF_ID_ AS definition, CASE WHEN DELETE_REASON_ IS NOT NULL THEN 1 ELSE 0 END AS failed
FROM ACT_HI_PROCINST
WHERE END_TIME_ >= :since AND (END_TIME_ > :since OR ID_ > :after)
ORDER BY END_TIME_, ID_ LIMIT :limit

-- query: schedules
-- The job of a timer that starts instances belongs to none, and its configuration has the start event. The engine
-- replaces it when it starts one.
SELECT c.definition, SUBSTRING(c.rest FROM 1 FOR POSITION('"' IN c.rest) - 1) AS activity, MIN(c.due) AS next FROM (
  SELECT j.definition, SUBSTRING(j.cfg FROM POSITION('"activityId":"' IN j.cfg) + 14) AS rest, j.due FROM (
    SELECT PROC_DEF_ID_ AS definition, HANDLER_CFG_ AS cfg, DUEDATE_ AS due FROM ACT_RU_TIMER_JOB WHERE EXECUTION_ID_ IS NULL AND HANDLER_TYPE_ = 'timer-start-event'
    UNION ALL SELECT PROC_DEF_ID_, HANDLER_CFG_, DUEDATE_ FROM ACT_RU_JOB WHERE EXECUTION_ID_ IS NULL AND HANDLER_TYPE_ = 'timer-start-event'
    UNION ALL SELECT PROC_DEF_ID_, HANDLER_CFG_, DUEDATE_ FROM ACT_RU_SUSPENDED_JOB WHERE EXECUTION_ID_ IS NULL AND HANDLER_TYPE_ = 'timer-start-event'
    UNION ALL SELECT PROC_DEF_ID_, HANDLER_CFG_, DUEDATE_ FROM ACT_RU_DEADLETTER_JOB WHERE EXECUTION_ID_ IS NULL AND HANDLER_TYPE_ = 'timer-start-event') j
  WHERE j.definition IS NOT NULL AND j.cfg LIKE '%"activityId":"%') c
GROUP BY c.definition, SUBSTRING(c.rest FROM 1 FOR POSITION('"' IN c.rest) - 1) LIMIT :limit
