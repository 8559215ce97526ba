// SPDX-License-Identifier: Apache-2.0

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.activiti.engine.ManagementService;
import org.activiti.engine.ProcessEngine;
import org.activiti.engine.ProcessEngineConfiguration;
import org.activiti.engine.delegate.DelegateExecution;
import org.activiti.engine.delegate.JavaDelegate;
import org.activiti.engine.history.HistoricActivityInstance;
import org.activiti.engine.history.HistoricProcessInstance;
import org.activiti.engine.impl.cfg.StandaloneProcessEngineConfiguration;
import org.activiti.engine.runtime.Execution;
import org.activiti.engine.runtime.Job;
import org.activiti.engine.runtime.ProcessInstance;
import org.activiti.engine.task.Task;

/** Activiti for tests. The arguments are a JDBC address, a user and a directory with BPMN files. */
public class Engine extends Peer {
  private final StandaloneProcessEngineConfiguration configuration = new StandaloneProcessEngineConfiguration();
  private String dir;
  private ProcessEngine engine;

  /** A task that holds. */
  public static class Hold implements JavaDelegate {
    @Override
    public void execute(DelegateExecution execution) {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Engine e = new Engine();
    e.configuration.setJdbcUrl(args[0]).setJdbcUsername(args[1]).setJdbcPassword("").setJdbcDriver("org.postgresql.Driver")
        .setDatabaseSchemaUpdate(ProcessEngineConfiguration.DB_SCHEMA_UPDATE_TRUE);
    e.dir = args[2];
    e.run(args, 3);
  }

  @Override
  void tables() throws Exception {
    engine = configuration.buildProcessEngine();
    engine.getRepositoryService().createDeployment().addInputStream("stuck.bpmn", Files.newInputStream(Path.of(dir, "stuck.bpmn"))).deploy();
  }

  @Override
  void work(String name) {
    configuration.setAsyncExecutorActivate(true);
    configuration.setAsyncExecutorNumberOfRetries(1);
    configuration.setAsyncExecutorDefaultAsyncJobAcquireWaitTime(200);
    configuration.setAsyncExecutorDefaultTimerJobAcquireWaitTime(200);
    configuration.buildProcessEngine();
  }

  @Override
  void command(String[] c, PrintStream out) {
    switch (c[0]) {
      case "start":
        out.println(engine.getRuntimeService().startProcessInstanceByKey("stuck").getId());
        break;
      case "complete": // TASK-DEFINITION
        for (Task t : engine.getTaskService().createTaskQuery().taskDefinitionKey(c[1]).list()) {
          engine.getTaskService().complete(t.getId());
        }
        break;
      case "message": // NAME
        for (Execution e : engine.getRuntimeService().createExecutionQuery().messageEventSubscriptionName(c[1]).list()) {
          engine.getRuntimeService().messageEventReceived(c[1], e.getId());
        }
        break;
      case "suspend": // INSTANCE
        engine.getRuntimeService().suspendProcessInstanceById(c[1]);
        break;
      case "cancel": // INSTANCE
        engine.getRuntimeService().deleteProcessInstance(c[1], "test");
        break;
      case "report":
        report(out);
        break;
      default:
        throw new IllegalArgumentException("unknown command " + c[0]);
    }
  }

  private String key(String definition) {
    return engine.getRepositoryService().getProcessDefinition(definition).getKey();
  }

  /** Prints what the engine's API says about where every instance is, and what was counted. */
  private void report(PrintStream out) {
    for (HistoricActivityInstance a : engine.getHistoryService().createHistoricActivityInstanceQuery().unfinished().list()) {
      out.printf("at %s %s %s %d%n", key(a.getProcessDefinitionId()), a.getProcessInstanceId(), a.getActivityId(), a.getStartTime().getTime());
    }
    // Before an asynchronous task there is a job, since the gateway before it ended. An execution at a join has an activity instance that has ended.
    ManagementService m = engine.getManagementService();
    List<Job> jobs = new ArrayList<>(m.createJobQuery().list());
    jobs.addAll(m.createTimerJobQuery().list());
    jobs.addAll(m.createSuspendedJobQuery().list());
    jobs.addAll(m.createDeadLetterJobQuery().list());
    for (Job j : jobs) {
      String at = engine.getRuntimeService().createExecutionQuery().executionId(j.getExecutionId()).singleResult().getActivityId();
      if (at.equals("charge") || at.equals("hold")) {
        out.printf("at stuck %s %s %d%n", j.getProcessInstanceId(), at, ended(j.getProcessInstanceId(), "fork"));
      }
      Date due = j.getDuedate();
      out.printf("job %s %s %s %d %d%n", key(j.getProcessDefinitionId()), j.getProcessInstanceId(), at, j.getRetries(), due == null ? 0 : due.getTime());
    }
    for (ProcessInstance p : engine.getRuntimeService().createProcessInstanceQuery().list()) {
      for (Execution e : engine.getRuntimeService().createExecutionQuery().processInstanceId(p.getId()).list()) {
        if ("join".equals(e.getActivityId())) {
          for (HistoricActivityInstance a : engine.getHistoryService().createHistoricActivityInstanceQuery().executionId(e.getId()).activityId("join").list()) {
            out.printf("at stuck %s join %d%n", p.getId(), a.getStartTime().getTime());
          }
        }
      }
    }
    Map<String, long[]> counts = new TreeMap<>();
    for (HistoricActivityInstance h : engine.getHistoryService().createHistoricActivityInstanceQuery().list()) {
      count(counts, key(h.getProcessDefinitionId()) + " " + h.getActivityId(), h.getEndTime() == null ? 0 : 1, h.getEndTime() == null || h.getDeleteReason() != null ? 0 : 1);
    }
    for (HistoricProcessInstance h : engine.getHistoryService().createHistoricProcessInstanceQuery().list()) {
      count(counts, key(h.getProcessDefinitionId()) + " instances", h.getEndTime() == null || h.getDeleteReason() != null ? 0 : 1, h.getDeleteReason() == null ? 0 : 1);
    }
    counts.forEach((k, n) -> out.printf("count %s %d %d %d%n", k, n[0], n[1], n[2]));
  }

  private long ended(String instance, String activity) {
    return engine.getHistoryService().createHistoricActivityInstanceQuery().processInstanceId(instance).activityId(activity).singleResult().getEndTime().getTime();
  }

  private static void count(Map<String, long[]> counts, String key, long ended, long fired) {
    long[] n = counts.computeIfAbsent(key, k -> new long[3]);
    n[0]++;
    n[1] += ended;
    n[2] += fired;
  }
}
