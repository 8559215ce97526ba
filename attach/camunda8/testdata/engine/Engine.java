// SPDX-License-Identifier: Apache-2.0

import io.camunda.zeebe.client.ZeebeClient;
import io.camunda.zeebe.client.api.response.ActivatedJob;
import io.camunda.zeebe.process.test.api.ZeebeTestEngine;
import io.camunda.zeebe.process.test.engine.EngineFactory;
import io.camunda.zeebe.protocol.record.Record;
import io.camunda.zeebe.protocol.record.RecordType;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A Zeebe engine for tests. Its argument is a directory with BPMN files. It reads
 * commands, one a line, and answers each with lines that end with "ok" or "error …".
 */
public class Engine {
  private static ZeebeTestEngine engine;
  private static ZeebeClient client;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  public static void main(String[] args) throws Exception {
    engine = EngineFactory.create();
    engine.start();
    client = ZeebeClient.newClientBuilder().gatewayAddress(engine.getGatewayAddress()).usePlaintext()
        .defaultRequestTimeout(PATIENCE).build(); // the client of the engine waits for ten seconds
    System.out.println("ok");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      try {
        run(line.split(" "), Path.of(args[0]));
        System.out.println("ok");
      } catch (Exception e) {
        System.out.println("error " + e.toString().replace('\n', ' '));
      }
      System.out.flush();
    }
    System.exit(0);
  }

  private static void run(String[] c, Path dir) throws Exception {
    switch (c[0]) {
      case "deploy": // FILE…
        for (int i = 1; i < c.length; i++) {
          client.newDeployResourceCommand().addResourceFile(dir.resolve(c[i]).toString()).send().join();
        }
        break;
      case "start": // PROCESS ORDER
        System.out.println(client.newCreateInstanceCommand().bpmnProcessId(c[1]).latestVersion()
            .variables(Map.of("order", c[2])).send().join().getProcessInstanceKey());
        break;
      case "complete": // JOB-TYPE
        for (ActivatedJob j : jobs(c[1])) {
          client.newCompleteCommand(j.getKey()).send().join();
        }
        break;
      case "fail": // JOB-TYPE RETRIES
        for (ActivatedJob j : jobs(c[1])) {
          client.newFailCommand(j.getKey()).retries(Integer.parseInt(c[2])).errorMessage("card declined").send().join();
        }
        break;
      case "message": // NAME CORRELATION-KEY
        client.newPublishMessageCommand().messageName(c[1]).correlationKey(c[2]).send().join();
        break;
      case "cancel": // INSTANCE
        client.newCancelInstanceCommand(Long.parseLong(c[1])).send().join();
        break;
      case "migrate": // INSTANCE DEFINITION ELEMENT: to the same element of another version
        client.newMigrateProcessInstanceCommand(Long.parseLong(c[1]))
            .migrationPlan(Long.parseLong(c[2])).addMappingInstruction(c[3], c[3]).send().join();
        break;
      case "records": { // SKIP: those of events from that one on, as JSON
        engine.waitForIdleState(PATIENCE);
        int skip = Integer.parseInt(c[1]);
        for (Record<?> r : engine.getRecordStreamSource().getRecords()) {
          if (skip-- <= 0) {
            System.out.println(r.getRecordType() == RecordType.EVENT ? r.toJson().replace('\n', ' ') : "{}");
          }
        }
        break;
      }
      default:
        throw new IllegalArgumentException("unknown command " + c[0]);
    }
  }

  private static List<ActivatedJob> jobs(String type) {
    return client.newActivateJobsCommand().jobType(type).maxJobsToActivate(100).workerName("cashier")
        .timeout(Duration.ofMinutes(5)).requestTimeout(PATIENCE).send().join().getJobs();
  }
}
