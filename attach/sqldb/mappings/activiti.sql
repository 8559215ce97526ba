-- mapping: activiti
-- about: Activiti 7, on PostgreSQL
-- tool: Activiti's runtime bundle, or the engine's RuntimeService and ManagementService
-- needs: ACT_GE_PROPERTY(NAME_, VALUE_)
-- needs: ACT_GE_BYTEARRAY(NAME_, DEPLOYMENT_ID_, BYTES_)
-- needs: ACT_RE_PROCDEF(ID_, KEY_, VERSION_, NAME_, DEPLOYMENT_ID_, RESOURCE_NAME_)
-- needs: ACT_RU_EXECUTION(ID_, PROC_DEF_ID_, PROC_INST_ID_, PARENT_ID_, SUPER_EXEC_, ACT_ID_, IS_SCOPE_, IS_EVENT_SCOPE_, IS_MI_ROOT_, SUSPENSION_STATE_, START_TIME_, BUSINESS_KEY_)
-- needs: ACT_RU_JOB(EXECUTION_ID_, HANDLER_TYPE_, LOCK_OWNER_, LOCK_EXP_TIME_, EXCEPTION_MSG_)
-- needs: ACT_RU_TIMER_JOB(EXECUTION_ID_, HANDLER_TYPE_, RETRIES_, DUEDATE_, EXCEPTION_MSG_)
-- needs: ACT_RU_SUSPENDED_JOB(EXECUTION_ID_, HANDLER_TYPE_, EXCEPTION_MSG_)
-- needs: ACT_RU_DEADLETTER_JOB(EXECUTION_ID_, HANDLER_TYPE_, EXCEPTION_MSG_)
-- needs: ACT_RU_EVENT_SUBSCR(EXECUTION_ID_, ACTIVITY_ID_, EVENT_TYPE_, EVENT_NAME_)
-- needs: ACT_RU_TASK(EXECUTION_ID_, TASK_DEF_KEY_, ASSIGNEE_)
-- needs: ACT_HI_PROCINST(ID_, PROC_DEF_ID_, START_ACT_ID_, END_TIME_, DELETE_REASON_)
-- needs: ACT_HI_ACTINST(ID_, EXECUTION_ID_, PROC_INST_ID_, PROC_DEF_ID_, ACT_ID_, ACT_TYPE_, START_TIME_, END_TIME_, DURATION_, DELETE_REASON_)
-- index: ACT_HI_ACTINST(START_TIME_)
-- index: ACT_HI_ACTINST(END_TIME_)
-- index: ACT_HI_ACTINST(EXECUTION_ID_)
-- index: ACT_HI_PROCINST(END_TIME_)

-- query: probe
SELECT VALUE_ AS version FROM ACT_GE_PROPERTY WHERE NAME_ = 'schema.version'

-- query: definitions
SELECT ID_ AS definition, KEY_ AS net, VERSION_ AS version, NAME_ AS name FROM ACT_RE_PROCDEF

-- query: model
SELECT b.BYTES_ AS model
FROM ACT_RE_PROCDEF d JOIN ACT_GE_BYTEARRAY b ON b.DEPLOYMENT_ID_ = d.DEPLOYMENT_ID_ AND b.NAME_ = d.RESOURCE_NAME_
WHERE d.ID_ = :definition

-- query: open
-- A boundary event has an execution below that of its activity, and no activity instance until it
-- occurs; its token is that of the activity. Jobs have no time when they were made: before an
-- asynchronous activity, and at a join, the token came when the activity instance before ended.
SELECT e.ID_ AS token, e.PROC_DEF_ID_ AS definition, e.ACT_ID_ AS activity, e.PROC_INST_ID_ AS instance,
  COALESCE((SELECT MAX(a.START_TIME_) FROM ACT_HI_ACTINST a WHERE a.EXECUTION_ID_ = e.ID_ AND a.ACT_ID_ = e.ACT_ID_ AND a.END_TIME_ IS NULL),
    (SELECT MAX(a.END_TIME_) FROM ACT_HI_ACTINST a WHERE a.EXECUTION_ID_ = e.ID_), e.START_TIME_) AS since,
  i.BUSINESS_KEY_ AS label
FROM ACT_RU_EXECUTION e LEFT JOIN ACT_RU_EXECUTION i ON i.ID_ = e.PROC_INST_ID_ LEFT JOIN ACT_RU_EXECUTION p ON p.ID_ = e.PARENT_ID_
WHERE e.ACT_ID_ IS NOT NULL AND e.IS_SCOPE_ = FALSE AND e.IS_EVENT_SCOPE_ = FALSE AND e.IS_MI_ROOT_ = FALSE
  AND (p.ACT_ID_ IS NULL OR EXISTS (SELECT 1 FROM ACT_HI_ACTINST a WHERE a.EXECUTION_ID_ = e.ID_ AND a.ACT_ID_ = e.ACT_ID_)
    OR EXISTS (SELECT 1 FROM ACT_RU_JOB j WHERE j.EXECUTION_ID_ = e.ID_ AND j.HANDLER_TYPE_ = 'async-continuation')
    OR EXISTS (SELECT 1 FROM ACT_RU_TIMER_JOB j WHERE j.EXECUTION_ID_ = e.ID_ AND j.HANDLER_TYPE_ = 'async-continuation')
    OR EXISTS (SELECT 1 FROM ACT_RU_SUSPENDED_JOB j WHERE j.EXECUTION_ID_ = e.ID_ AND j.HANDLER_TYPE_ = 'async-continuation')
    OR EXISTS (SELECT 1 FROM ACT_RU_DEADLETTER_JOB j WHERE j.EXECUTION_ID_ = e.ID_ AND j.HANDLER_TYPE_ = 'async-continuation'))
LIMIT :limit

-- query: why
-- Rows of executions that are no token are those of boundary events: they are said of the activity, too.
WITH w AS (
  SELECT EXECUTION_ID_ AS token, 'incident' AS reason, NULL AS until, 'job in the dead-letter table' AS what, EXCEPTION_MSG_ AS detail, NULL AS holder FROM ACT_RU_DEADLETTER_JOB
  UNION ALL
  SELECT EXECUTION_ID_, 'delayed', DUEDATE_,
    CASE WHEN HANDLER_TYPE_ = 'async-continuation' THEN CONCAT('job, failed, ', RETRIES_, ' retries left') ELSE 'timer' END, EXCEPTION_MSG_, NULL
  FROM ACT_RU_TIMER_JOB
  UNION ALL
  SELECT EXECUTION_ID_, CASE WHEN LOCK_EXP_TIME_ IS NOT NULL THEN 'running' ELSE 'enabled' END, LOCK_EXP_TIME_,
    CASE WHEN LOCK_EXP_TIME_ IS NOT NULL THEN 'job' ELSE 'job, no executor has taken it' END, EXCEPTION_MSG_, 'executor ' || LOCK_OWNER_
  FROM ACT_RU_JOB
  UNION ALL
  SELECT EXECUTION_ID_, 'manual', NULL, 'job, suspended', EXCEPTION_MSG_, NULL FROM ACT_RU_SUSPENDED_JOB
  UNION ALL
  SELECT EXECUTION_ID_, 'manual', NULL, CONCAT(EVENT_TYPE_, ' ', COALESCE(EVENT_NAME_, '')), NULL, NULL FROM ACT_RU_EVENT_SUBSCR WHERE EVENT_TYPE_ <> 'compensate'
  UNION ALL
  SELECT EXECUTION_ID_, 'manual', NULL, 'user task', ASSIGNEE_, NULL FROM ACT_RU_TASK
  UNION ALL
  SELECT c.SUPER_EXEC_, 'running', NULL, CONCAT('in called process ', d.KEY_, ' ', c.ID_), NULL, NULL
  FROM ACT_RU_EXECUTION c JOIN ACT_RE_PROCDEF d ON d.ID_ = c.PROC_DEF_ID_ WHERE c.SUPER_EXEC_ IS NOT NULL
  UNION ALL
  SELECT ID_, 'manual', NULL, 'suspended', NULL, NULL FROM ACT_RU_EXECUTION WHERE SUSPENSION_STATE_ = 2
)
SELECT e.ID_ AS token, e.ACT_ID_ AS activity, w.reason, w.until, w.what, w.detail, w.holder
FROM w JOIN ACT_RU_EXECUTION e ON e.ID_ = w.token WHERE e.ACT_ID_ IS NOT NULL
UNION ALL
SELECT p.ID_, e.ACT_ID_, w.reason, w.until, w.what, w.detail, w.holder
FROM w JOIN ACT_RU_EXECUTION e ON e.ID_ = w.token JOIN ACT_RU_EXECUTION p ON p.ID_ = e.PARENT_ID_
WHERE e.ACT_ID_ IS NOT NULL AND p.ACT_ID_ IS NOT NULL AND p.IS_SCOPE_ = FALSE AND w.what <> 'suspended'
LIMIT :limit

-- query: started
SELECT ID_ AS id, START_TIME_ AS at, PROC_DEF_ID_ AS definition, ACT_ID_ AS activity
FROM ACT_HI_ACTINST
WHERE START_TIME_ >= :since AND (START_TIME_ > :since OR ID_ > :after)
ORDER BY START_TIME_, ID_ LIMIT :limit

-- query: ended
SELECT ID_ AS id, END_TIME_ AS at, PROC_DEF_ID_ AS definition, ACT_ID_ AS activity,
  DURATION_ AS millis, CASE WHEN DELETE_REASON_ IS NOT NULL THEN 1 ELSE 0 END AS canceled
FROM ACT_HI_ACTINST
WHERE END_TIME_ >= :since AND (END_TIME_ > :since OR ID_ > :after)
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
