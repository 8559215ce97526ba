// SPDX-License-Identifier: Apache-2.0

import com.github.kagkarlsson.scheduler.ScheduledExecution;
import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.SchedulerName;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;

/** db-scheduler for tests. The arguments are a JDBC address and a user. */
public class Engine extends Peer {
  private final PGSimpleDataSource database = new PGSimpleDataSource();
  private final RecurringTask<Void> nightly = Tasks.recurring("nightly", FixedDelay.ofHours(1)).execute((instance, context) -> {});
  private final List<OneTimeTask<Void>> tasks = List.of(
      Tasks.oneTime("quick").execute((instance, context) -> {}),
      Tasks.oneTime("holds").execute((instance, context) -> hold()),
      Tasks.oneTime("fails").onFailure(new FailureHandler.OnFailureRetryLater<Void>(Duration.ofHours(1))).execute((instance, context) -> fail()),
      Tasks.oneTime("dead").onFailure(new FailureHandler.MaxRetriesFailureHandler<Void>(0, null)).execute((instance, context) -> fail()));

  private static void hold() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void fail() {
    throw new IllegalStateException("out of paper");
  }

  public static void main(String[] args) throws Exception {
    Engine e = new Engine();
    e.database.setUrl(args[0]);
    e.database.setUser(args[1]);
    e.run(args, 2);
  }

  /** Makes the table as db-scheduler's documentation has it; the library makes none. */
  @Override
  void tables() throws Exception {
    try (Connection db = database.getConnection(); Statement s = db.createStatement()) {
      s.execute("CREATE TABLE scheduled_tasks (task_name text NOT NULL, task_instance text NOT NULL, task_data bytea, execution_time timestamptz NOT NULL,"
          + " picked boolean NOT NULL, picked_by text, last_success timestamptz, last_failure timestamptz, consecutive_failures int, last_heartbeat timestamptz,"
          + " version bigint NOT NULL, priority smallint, PRIMARY KEY (task_name, task_instance));"
          + "CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time); CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat);"
          + "CREATE INDEX priority_execution_time_idx ON scheduled_tasks (priority DESC, execution_time ASC)");
    }
  }

  @Override
  void work(String name) {
    Scheduler.create(database, tasks.toArray(new OneTimeTask[0])).schedulerName(new SchedulerName.Fixed(name)).threads(5).startTasks(nightly)
        .pollingInterval(Duration.ofMillis(100)).heartbeatInterval(Duration.ofSeconds(1)).build().start();
  }

  @Override
  void command(String[] c, PrintStream out) {
    SchedulerClient client = SchedulerClient.Builder.create(database, Stream.concat(tasks.stream(), Stream.of(nightly)).toArray(Task<?>[]::new)).build();
    switch (c[0]) {
      case "schedule": // TASK INSTANCE SECONDS
        client.schedule(tasks.stream().filter(t -> t.getName().equals(c[1])).findAny().orElseThrow().instance(c[2]), Instant.now().plusSeconds(Long.parseLong(c[3])));
        break;
      case "again": // TASK INSTANCE: now
        client.reschedule(TaskInstanceId.of(c[1], c[2]), Instant.now());
        break;
      case "report":
        client.fetchScheduledExecutions(e -> report(e, out));
        client.fetchScheduledExecutions(com.github.kagkarlsson.scheduler.ScheduledExecutionsFilter.all().withPicked(true), e -> report(e, out));
        break;
      default:
        throw new IllegalArgumentException("unknown command " + c[0]);
    }
  }

  /** Prints since when an execution is due, or has failed last; none that is for later. */
  private static void report(ScheduledExecution<Object> e, PrintStream out) {
    TaskInstanceId id = e.getTaskInstance();
    Instant at = e.getExecutionTime();
    out.printf("job %s %s %s - %d%n", id.getTaskName(), id.getId(), id.getTaskName(), at.toEpochMilli());
    boolean later = !e.isPicked() && at.isAfter(Instant.now());
    if (!later || e.getConsecutiveFailures() > 0) {
      out.printf("at %s %s execution %d%n", id.getTaskName(), id.getId(), (later ? e.getLastFailure() : at).toEpochMilli());
    }
  }
}
