// SPDX-License-Identifier: Apache-2.0

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.flowable.common.engine.api.delegate.event.FlowableEngineEntityEvent;
import org.flowable.common.engine.api.delegate.event.FlowableEngineEventType;
import org.flowable.engine.ProcessEngine;
import org.flowable.engine.delegate.event.AbstractFlowableEngineEventListener;
import org.flowable.engine.delegate.event.FlowableActivityEvent;
import org.flowable.engine.impl.cfg.StandaloneInMemProcessEngineConfiguration;
import org.flowable.task.api.Task;

/**
 * Reports what a Flowable engine does: one line of JSON for each activity that completes,
 * by HTTP to "pnagent attach lines --http ADDR FILE.bpmn".
 *
 * <pre>configuration.setEventListeners(List.of(new FlowableLines("http://127.0.0.1:9799/events")));</pre>
 *
 * The engine calls it when a transaction is committed, and never waits: a thread of its own
 * sends the lines. Lines for which the queue has no room are dropped and counted.
 */
public class FlowableLines extends AbstractFlowableEngineEventListener {
  private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(10_000);
  private final AtomicLong dropped = new AtomicLong();
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final URI to;

  public FlowableLines(String url) {
    super(Set.of(FlowableEngineEventType.ACTIVITY_COMPLETED, FlowableEngineEventType.PROCESS_COMPLETED));
    to = URI.create(url);
    setOnTransaction("COMMITTED");
    Thread sender = new Thread(this::send, "pnagent");
    sender.setDaemon(true);
    sender.start();
  }

  @Override
  protected void activityCompleted(FlowableActivityEvent e) {
    // The replay finds its way through gateways and ends by itself.
    if (!e.getActivityType().matches(".*Gateway|endEvent|subProcess")) {
      put(e.getProcessDefinitionId(), e.getProcessInstanceId(), "\"transition\":" + quoted(e.getActivityId()));
    }
  }

  @Override
  protected void processCompleted(FlowableEngineEntityEvent e) {
    put(e.getProcessDefinitionId(), e.getProcessInstanceId(), "\"end\":true");
  }

  private void put(String definition, String instance, String what) {
    String line = "{\"net\":" + quoted(definition.split(":")[0]) + ",\"instance\":" + quoted(instance)
        + ",\"time\":" + System.currentTimeMillis() + ",\"dropped\":" + dropped.get() + "," + what + "}\n";
    if (!queue.offer(line)) {
      dropped.incrementAndGet();
    }
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
    c.setDisableEventRegistry(true);
    c.setDisableIdmEngine(true);
    c.setEventListeners(List.of(new FlowableLines(args[0])));
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
