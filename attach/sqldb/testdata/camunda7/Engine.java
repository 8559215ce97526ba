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
import java.nio.file.Path;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.camunda.bpm.engine.ProcessEngine;
import org.camunda.bpm.engine.ProcessEngineConfiguration;
import org.camunda.bpm.engine.ProcessEnginePersistenceException;
import org.camunda.bpm.engine.externaltask.ExternalTask;
import org.camunda.bpm.engine.history.HistoricActivityInstance;
import org.camunda.bpm.engine.history.HistoricProcessInstance;
import org.camunda.bpm.engine.repository.DeploymentBuilder;
import org.camunda.bpm.engine.runtime.ActivityInstance;
import org.camunda.bpm.engine.runtime.Incident;
import org.camunda.bpm.engine.runtime.Job;
import org.camunda.bpm.engine.runtime.ProcessInstance;
import org.camunda.bpm.engine.runtime.TransitionInstance;
import org.camunda.bpm.engine.task.Task;

/**
 * Camunda 7 engines for tests. The arguments are a user of databases, and a directory with
 * BPMN files. The program prints the port at which it listens, and ends at the end of its input.
 * Each connection has an engine, which its first line starts: "open", a JDBC address, and a
 * history level. After it come commands, one a line. The engine answers each line with lines that
 * end with "ok" or "error …".
 */
public class Engine {
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
        Engine e = new Engine(open[1], user, open[2], out);
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

  private Engine(String address, String user, String history, PrintStream out) {
    this.out = out;
    engine = ProcessEngineConfiguration.createStandaloneProcessEngineConfiguration()
        .setJdbcUrl(address).setJdbcUsername(user).setJdbcPassword("")
        .setJdbcDriver(address.startsWith("jdbc:postgresql") ? "org.postgresql.Driver" : "org.mariadb.jdbc.Driver")
        .setDatabaseSchemaUpdate(ProcessEngineConfiguration.DB_SCHEMA_UPDATE_TRUE)
        .setProcessEngineName(address).setHistory(history).setJobExecutorActivate(true).buildProcessEngine();
  }

  private void answer(BufferedReader in, Path dir) throws Exception {
    for (String line; (line = in.readLine()) != null; ) {
      // A database that was killed leaves connections in the pool that fail once.
      for (int tries = 1; ; tries++) {
        try {
          run(line.split(" "), dir);
          out.println("ok");
          break;
        } catch (ProcessEnginePersistenceException e) {
          if (tries == 20) {
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
      case "start": { // KEY BUSINESS-KEY
        ProcessInstance p = engine.getRuntimeService().startProcessInstanceByKey(c[1], c[2]);
        out.println(p.getId());
        break;
      }
      case "complete": // TASK-DEFINITION
        for (Task t : engine.getTaskService().createTaskQuery().taskDefinitionKey(c[1]).list()) {
          engine.getTaskService().complete(t.getId());
        }
        break;
      case "message": // NAME BUSINESS-KEY
        engine.getRuntimeService().createMessageCorrelation(c[1]).processInstanceBusinessKey(c[2]).correlate();
        break;
      case "lock": // TOPIC WORKER
        engine.getExternalTaskService().fetchAndLock(1, c[2]).topic(c[1], 3_600_000).execute();
        break;
      case "suspend": // KEY
        engine.getRuntimeService().updateProcessInstanceSuspensionState().byProcessDefinitionKey(c[1]).suspend();
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
            engine.getRuntimeService().newMigration(engine.getRuntimeService()
                .createMigrationPlan(p.getProcessDefinitionId(), to).mapEqualActivities().build())
                .processInstanceIds(p.getId()).execute();
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

  /** Prints what the engine's API says about where every instance is. */
  private void report() {
    for (ProcessInstance p : engine.getRuntimeService().createProcessInstanceQuery().list()) {
      String key = engine.getRepositoryService().getProcessDefinition(p.getProcessDefinitionId()).getKey();
      List<ActivityInstance> leaves = new ArrayList<>();
      leaves(engine.getRuntimeService().getActivityInstance(p.getId()), leaves);
      for (ActivityInstance a : leaves) {
        HistoricActivityInstance h = engine.getHistoryService().createHistoricActivityInstanceQuery().activityInstanceId(a.getId()).singleResult();
        out.printf("at %s %s %s %d%n", key, p.getId(), a.getActivityId(), h == null ? 0 : h.getStartTime().getTime());
      }
      List<TransitionInstance> between = new ArrayList<>();
      transitions(engine.getRuntimeService().getActivityInstance(p.getId()), between);
      for (TransitionInstance t : between) {
        Job j = engine.getManagementService().createJobQuery().executionId(t.getExecutionId()).singleResult();
        out.printf("at %s %s %s %d%n", key, p.getId(), t.getActivityId(), j.getCreateTime().getTime());
      }
      for (Job j : engine.getManagementService().createJobQuery().processInstanceId(p.getId()).list()) {
        String activity = engine.getManagementService().createJobDefinitionQuery().jobDefinitionId(j.getJobDefinitionId()).singleResult().getActivityId();
        Date due = j.getDuedate();
        out.printf("job %s %s %s %d %d%n", key, p.getId(), activity, j.getRetries(), due == null ? 0 : due.getTime());
      }
      for (ExternalTask x : engine.getExternalTaskService().createExternalTaskQuery().processInstanceId(p.getId()).locked().list()) {
        out.printf("worker %s %s %s %s %d%n", key, p.getId(), x.getActivityId(), x.getWorkerId(), x.getLockExpirationTime().getTime());
      }
      for (Incident i : engine.getRuntimeService().createIncidentQuery().processInstanceId(p.getId()).list()) {
        out.printf("incident %s %s %s %s%n", key, p.getId(), i.getActivityId(), i.getIncidentType());
      }
    }
    Map<String, long[]> counts = new TreeMap<>();
    for (HistoricActivityInstance h : engine.getHistoryService().createHistoricActivityInstanceQuery().list()) {
      if (h.getActivityType().equals("multiInstanceBody")) {
        continue;
      }
      long[] n = counts.computeIfAbsent(h.getProcessDefinitionKey() + " " + h.getActivityId(), k -> new long[3]);
      n[0]++;
      n[1] += h.getEndTime() == null ? 0 : 1;
      n[2] += h.getEndTime() == null || h.isCanceled() ? 0 : 1;
    }
    for (HistoricProcessInstance h : engine.getHistoryService().createHistoricProcessInstanceQuery().list()) {
      long[] n = counts.computeIfAbsent(h.getProcessDefinitionKey() + " instances", k -> new long[3]);
      n[0]++;
      n[1] += h.getState().equals("COMPLETED") ? 1 : 0;
      n[2] += h.getState().equals("EXTERNALLY_TERMINATED") ? 1 : 0;
    }
    counts.forEach((k, n) -> out.printf("count %s %d %d %d%n", k, n[0], n[1], n[2]));
  }

  private void transitions(ActivityInstance a, List<TransitionInstance> out) {
    out.addAll(List.of(a.getChildTransitionInstances()));
    for (ActivityInstance k : a.getChildActivityInstances()) {
      transitions(k, out);
    }
  }

  private void leaves(ActivityInstance a, List<ActivityInstance> out) {
    if (!a.getActivityId().equals(a.getProcessDefinitionId()) && a.getChildActivityInstances().length == 0 && a.getChildTransitionInstances().length == 0) {
      out.add(a);
    }
    for (ActivityInstance k : a.getChildActivityInstances()) {
      leaves(k, out);
    }
  }
}
