// SPDX-License-Identifier: Apache-2.0

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.camunda.bpm.engine.ProcessEngine;
import org.camunda.bpm.engine.impl.cfg.StandaloneInMemProcessEngineConfiguration;
import org.camunda.bpm.engine.impl.cfg.TransactionState;
import org.camunda.bpm.engine.impl.context.Context;
import org.camunda.bpm.engine.impl.history.event.HistoricActivityInstanceEventEntity;
import org.camunda.bpm.engine.impl.history.event.HistoryEvent;
import org.camunda.bpm.engine.impl.history.event.HistoryEventTypes;
import org.camunda.bpm.engine.impl.history.handler.HistoryEventHandler;
import org.camunda.bpm.engine.task.Task;

/**
 * Reports what a Camunda 7 engine does: one line of JSON for each activity that ends, by
 * HTTP to "pnagent attach lines --http ADDR FILE.bpmn".
 *
 * <pre>configuration.getCustomHistoryEventHandlers().add(new CamundaLines("http://127.0.0.1:9799/events"));</pre>
 *
 * The engine never waits: a thread of its own sends the lines once their transaction is
 * committed. Lines for which the queue has no room are dropped and counted.
 */
public class CamundaLines implements HistoryEventHandler {
  private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(10_000);
  private final AtomicLong dropped = new AtomicLong();
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final URI to;

  public CamundaLines(String url) {
    to = URI.create(url);
    Thread sender = new Thread(this::send, "pnagent");
    sender.setDaemon(true);
    sender.start();
  }

  @Override
  public void handleEvents(List<HistoryEvent> events) {
    events.forEach(this::handleEvent);
  }

  @Override
  public void handleEvent(HistoryEvent e) {
    String what = null;
    long time = System.currentTimeMillis();
    if (e instanceof HistoricActivityInstanceEventEntity && e.isEventOfType(HistoryEventTypes.ACTIVITY_INSTANCE_END)) {
      HistoricActivityInstanceEventEntity a = (HistoricActivityInstanceEventEntity) e;
      // The replay finds its way through gateways and ends by itself.
      if (!a.isCanceled() && !a.getActivityType().matches(".*Gateway|.*EndEvent|multiInstanceBody|subProcess")) {
        what = "\"transition\":" + quoted(a.getActivityId());
        time = a.getEndTime().getTime();
      }
    } else if (e.isEventOfType(HistoryEventTypes.PROCESS_INSTANCE_END)) {
      what = "\"end\":true";
    }
    if (what == null) {
      return;
    }
    String line = "{\"net\":" + quoted(e.getProcessDefinitionKey()) + ",\"instance\":" + quoted(e.getProcessInstanceId())
        + ",\"time\":" + time + ",\"dropped\":" + dropped.get() + "," + what + "}\n";
    Context.getCommandContext().getTransactionContext().addTransactionListener(TransactionState.COMMITTED, c -> {
      if (!queue.offer(line)) {
        dropped.incrementAndGet();
      }
    });
  }

  /** Sends line by line, each until the adapter has it. */
  private void send() {
    try {
      while (true) {
        HttpRequest post = HttpRequest.newBuilder(to).timeout(Duration.ofSeconds(10)).POST(HttpRequest.BodyPublishers.ofString(queue.take())).build();
        while (!sent(post)) {
          Thread.sleep(1000);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean sent(HttpRequest post) throws InterruptedException {
    try {
      return client.send(post, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (java.io.IOException e) {
      return false;
    }
  }

  private static String quoted(String s) {
    return '"' + s.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /**
   * Runs an engine in memory, to try it: the arguments are the URL, a file with the process
   * "order", and how many orders start. The tasks "approve" of all but one are completed.
   */
  public static void main(String[] args) throws Exception {
    StandaloneInMemProcessEngineConfiguration c = new StandaloneInMemProcessEngineConfiguration();
    c.setEnforceHistoryTimeToLive(false);
    c.getCustomHistoryEventHandlers().add(new CamundaLines(args[0]));
    ProcessEngine engine = c.buildProcessEngine();
    engine.getRepositoryService().createDeployment().addInputStream("order.bpmn", java.nio.file.Files.newInputStream(Path.of(args[1]))).deploy();
    for (int i = 0; i < Integer.parseInt(args[2]); i++) {
      engine.getRuntimeService().startProcessInstanceByKey("order", "order " + i);
    }
    List<Task> tasks = engine.getTaskService().createTaskQuery().taskDefinitionKey("approve").list();
    for (Task t : tasks.subList(1, tasks.size())) {
      engine.getTaskService().complete(t.getId());
    }
    System.err.println("stuck " + tasks.get(0).getProcessInstanceId() + " " + tasks.get(0).getCreateTime().getTime());
    System.in.read();
    System.exit(0);
  }
}
