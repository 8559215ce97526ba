// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.ibatis.exceptions.PersistenceException;
import org.flowable.bpmn.model.EventGateway;
import org.flowable.bpmn.model.FlowElement;
import org.flowable.bpmn.model.FlowNode;
import org.flowable.bpmn.model.ParallelGateway;
import org.flowable.bpmn.model.SequenceFlow;
import org.flowable.common.engine.api.FlowableOptimisticLockingException;
import org.flowable.engine.ProcessEngine;
import org.flowable.engine.history.HistoricActivityInstance;
import org.flowable.engine.history.HistoricProcessInstance;
import org.flowable.engine.impl.cfg.StandaloneProcessEngineConfiguration;
import org.flowable.engine.repository.DeploymentBuilder;
import org.flowable.engine.runtime.ActivityInstance;
import org.flowable.engine.runtime.Execution;
import org.flowable.engine.runtime.ProcessInstance;
import org.flowable.job.api.ExternalWorkerJob;
import org.flowable.job.api.Job;
import org.flowable.task.api.Task;

/**
 * Flowable engines for tests. The arguments are a user of databases, and a directory with
 * BPMN files. The program prints the port at which it listens, and ends at the end of its input.
 * Each connection has an engine, which its first line starts: "open" and a JDBC address. After it
 * come commands, one a line. The engine answers each line with lines that end with "ok" or "error …".
 */
public class Engine {
  private static final List<String> SCOPES = List.of("boundaryEvent", "subProcess", "transaction", "adhocSubProcess", "sequenceFlow");
  private final PrintStream out;
  private final ProcessEngine engine;

  public static void main(String[] args) throws Exception {
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    Thread accepts = new Thread(() -> {
      while (true) {
        try {
          Socket connection = server.accept();
          new Thread(() -> serve(connection, args[0], Path.of(args[1]))).start();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    });
    accepts.start();
    System.out.println(server.getLocalPort());
    System.in.transferTo(OutputStream.nullOutputStream());
    System.exit(0);
  }

  private static void serve(Socket connection, String user, Path dir) {
    try (connection) {
      PrintStream out = new PrintStream(new BufferedOutputStream(connection.getOutputStream()));
      BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream()));
      String[] open = in.readLine().split(" ");
      try {
        Engine e = new Engine(open[1], user, out);
        out.println("ok");
        out.flush();
        e.answer(in, dir);
        e.engine.close();
      } catch (Exception e) {
        out.println("error " + e.toString().replace('\n', ' '));
        out.flush();
      }
    } catch (IOException e) {
      e.printStackTrace();
    }
  }

  private Engine(String address, String user, PrintStream out) {
    this.out = out;
    StandaloneProcessEngineConfiguration c = new StandaloneProcessEngineConfiguration();
    c.setJdbcUrl(address).setJdbcUsername(user).setJdbcPassword("")
        .setJdbcDriver(address.startsWith("jdbc:postgresql") ? "org.postgresql.Driver" : "org.mariadb.jdbc.Driver")
        .setDatabaseSchemaUpdate("true").setAsyncExecutorActivate(true);
    c.setAsyncExecutorNumberOfRetries(1);
    c.setEngineName(address);
    c.setDisableEventRegistry(true);
    c.setDisableIdmEngine(true);
    engine = c.buildProcessEngine();
  }

  private void answer(BufferedReader in, Path dir) throws Exception {
    for (String line; (line = in.readLine()) != null; ) {
      // A database that was killed leaves connections in the pool that fail once. A
      // worker gets nothing while the executor has the lock of the instance.
      for (int tries = 1; ; tries++) {
        try {
          run(line.split(" "), dir);
          out.println("ok");
          break;
        } catch (PersistenceException | FlowableOptimisticLockingException e) {
          if (tries == 300) {
            out.println("error " + e.toString().replace('\n', ' '));
            break;
          }
          Thread.sleep(100);
        } catch (Exception e) {
          out.println("error " + e.toString().replace('\n', ' '));
          break;
        }
      }
      out.flush();
    }
  }

  private void run(String[] c, Path dir) throws Exception {
    switch (c[0]) {
      case "deploy": { // FILE…
        DeploymentBuilder d = engine.getRepositoryService().createDeployment();
        for (int i = 1; i < c.length; i++) {
          d.addInputStream(c[i], Files.newInputStream(dir.resolve(c[i])));
        }
        d.deploy();
        break;
      }
      case "start": // KEY BUSINESS-KEY
        out.println(engine.getRuntimeService().startProcessInstanceByKey(c[1], c[2]).getId());
        break;
      case "complete": // TASK-DEFINITION
        for (Task t : engine.getTaskService().createTaskQuery().taskDefinitionKey(c[1]).list()) {
          engine.getTaskService().complete(t.getId());
        }
        break;
      case "message": // NAME BUSINESS-KEY
        for (Execution e : engine.getRuntimeService().createExecutionQuery().messageEventSubscriptionName(c[1]).list()) {
          engine.getRuntimeService().messageEventReceived(c[1], e.getId());
        }
        break;
      case "lock": // TOPIC WORKER
        if (engine.getManagementService().createExternalWorkerJobAcquireBuilder()
            .topic(c[1], Duration.ofHours(1)).acquireAndLock(1, c[2]).isEmpty()) {
          throw new FlowableOptimisticLockingException("no job of topic " + c[1] + " can be locked");
        }
        break;
      case "suspend": // KEY
        for (ProcessInstance p : engine.getRuntimeService().createProcessInstanceQuery().processDefinitionKey(c[1]).list()) {
          engine.getRuntimeService().suspendProcessInstanceById(p.getId());
        }
        break;
      case "cancel": // KEY
        for (ProcessInstance p : engine.getRuntimeService().createProcessInstanceQuery().processDefinitionKey(c[1]).list()) {
          engine.getRuntimeService().deleteProcessInstance(p.getId(), "test");
        }
        break;
      case "migrate": { // KEY: all instances to the newest version
        String to = engine.getRepositoryService().createProcessDefinitionQuery().processDefinitionKey(c[1]).latestVersion().singleResult().getId();
        for (ProcessInstance p : engine.getRuntimeService().createProcessInstanceQuery().processDefinitionKey(c[1]).list()) {
          if (!p.getProcessDefinitionId().equals(to)) {
            engine.getProcessMigrationService().createProcessInstanceMigrationBuilder().migrateToProcessDefinition(to).migrate(p.getId());
          }
        }
        break;
      }
      case "report":
        report();
        break;
      default:
        throw new IllegalArgumentException("unknown command " + c[0]);
    }
  }

  private String key(String definition) {
    return engine.getRepositoryService().getProcessDefinition(definition).getKey();
  }

  private FlowElement element(String definition, String id) {
    return engine.getRepositoryService().getBpmnModel(definition).getFlowElement(id);
  }

  /** Prints what the engine's API says about where every instance is. */
  private void report() {
    Set<String> gateways = new HashSet<>();
    for (ActivityInstance a : engine.getRuntimeService().createActivityInstanceQuery().unfinished().list()) {
      if (SCOPES.contains(a.getActivityType())) {
        continue;
      }
      // An event after an event gateway is shown at the gateway, once.
      String at = a.getActivityId();
      for (SequenceFlow f : ((FlowNode) element(a.getProcessDefinitionId(), at)).getIncomingFlows()) {
        if (f.getSourceFlowElement() instanceof EventGateway) {
          at = f.getSourceRef();
        }
      }
      if (at.equals(a.getActivityId()) || gateways.add(a.getProcessInstanceId() + at)) {
        out.printf("at %s %s %s %d%n", key(a.getProcessDefinitionId()), a.getProcessInstanceId(), at, a.getStartTime().getTime());
      }
    }
    // An execution that waits at a join has an activity instance that has ended.
    for (ProcessInstance p : engine.getRuntimeService().createProcessInstanceQuery().list()) {
      for (Execution e : engine.getRuntimeService().createExecutionQuery().processInstanceId(p.getId()).list()) {
        if (e.getActivityId() != null && element(p.getProcessDefinitionId(), e.getActivityId()) instanceof ParallelGateway) {
          for (ActivityInstance a : engine.getRuntimeService().createActivityInstanceQuery().executionId(e.getId()).activityId(e.getActivityId()).list()) {
            out.printf("at %s %s %s %d%n", key(p.getProcessDefinitionId()), p.getId(), e.getActivityId(), a.getStartTime().getTime());
          }
        }
      }
    }
    List<Job> jobs = new ArrayList<>(engine.getManagementService().createJobQuery().list());
    jobs.addAll(engine.getManagementService().createTimerJobQuery().list());
    for (Job j : jobs) {
      Date due = j.getDuedate();
      out.printf("job %s %s %s %d %d%n", key(j.getProcessDefinitionId()), j.getProcessInstanceId(), j.getElementId(), j.getRetries(), due == null ? 0 : due.getTime());
    }
    for (ExternalWorkerJob j : engine.getManagementService().createExternalWorkerJobQuery().locked().list()) {
      out.printf("worker %s %s %s %s %d%n", key(j.getProcessDefinitionId()), j.getProcessInstanceId(), j.getElementId(), j.getLockOwner(), j.getLockExpirationTime().getTime());
    }
    for (Job j : engine.getManagementService().createDeadLetterJobQuery().list()) {
      out.printf("at %s %s %s %d%n", key(j.getProcessDefinitionId()), j.getProcessInstanceId(), j.getElementId(), j.getCreateTime().getTime());
      out.printf("incident %s %s %s failedJob%n", key(j.getProcessDefinitionId()), j.getProcessInstanceId(), j.getElementId());
    }
    Map<String, long[]> counts = new TreeMap<>();
    for (HistoricActivityInstance h : engine.getHistoryService().createHistoricActivityInstanceQuery().list()) {
      if (h.getActivityType().equals("sequenceFlow")) {
        continue;
      }
      long[] n = counts.computeIfAbsent(key(h.getProcessDefinitionId()) + " " + h.getActivityId(), k -> new long[3]);
      n[0]++;
      n[1] += h.getEndTime() == null ? 0 : 1;
      n[2] += h.getEndTime() == null || h.getDeleteReason() != null ? 0 : 1;
    }
    for (HistoricProcessInstance h : engine.getHistoryService().createHistoricProcessInstanceQuery().list()) {
      long[] n = counts.computeIfAbsent(key(h.getProcessDefinitionId()) + " instances", k -> new long[3]);
      n[0]++;
      n[1] += h.getEndTime() == null || h.getDeleteReason() != null ? 0 : 1;
      n[2] += h.getDeleteReason() == null ? 0 : 1;
    }
    counts.forEach((k, n) -> out.printf("count %s %d %d %d%n", k, n[0], n[1], n[2]));
  }
}
