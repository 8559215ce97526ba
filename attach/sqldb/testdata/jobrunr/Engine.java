// SPDX-License-Identifier: Apache-2.0

import static org.jobrunr.server.BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.Job;
import org.jobrunr.jobs.filters.RetryFilter;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.states.JobState;
import org.jobrunr.jobs.states.ScheduledState;
import org.jobrunr.jobs.states.StateName;
import org.jobrunr.scheduling.BackgroundJobRequest;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.navigation.AmountRequest;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.postgresql.ds.PGSimpleDataSource;

/** JobRunr for tests. The arguments are a JDBC address and a user. */
public class Engine extends Peer {
  private final PGSimpleDataSource database = new PGSimpleDataSource();
  private StorageProvider store;

  /** What a job has to do, and what does it. */
  public record Request(Class<? extends JobRequestHandler<Request>> getJobRequestHandler) implements JobRequest {}

  public static class Quick implements JobRequestHandler<Request> {
    @Override
    public void run(Request request) {}
  }

  public static class Idle extends Quick {}

  public static class Holds implements JobRequestHandler<Request> {
    @Override
    public void run(Request request) throws Exception {
      new CountDownLatch(1).await();
    }
  }

  public static class Fails implements JobRequestHandler<Request> {
    @Override
    public void run(Request request) {
      throw new IllegalStateException("out of paper");
    }
  }

  public static class Dead extends Fails {
    @Override
    @org.jobrunr.jobs.annotations.Job(retries = 0)
    public void run(Request request) {
      super.run(request);
    }
  }

  public static void main(String[] args) throws Exception {
    Engine e = new Engine();
    e.database.setUrl(args[0]);
    e.database.setUser(args[1]);
    e.run(args, 2);
  }

  @Override
  void tables() {
    store = new PostgresStorageProvider(database);
    JobRunr.configure().useStorageProvider(store).initialize();
  }

  @Override
  void work(String name) {
    JobRunr.configure().withJobFilter(new RetryFilter(10, 3600)).useStorageProvider(new PostgresStorageProvider(database))
        .useBackgroundJobServer(usingStandardBackgroundJobServerConfiguration().andName(name).andPollInterval(Duration.ofSeconds(5)).andWorkerCount(4)).initialize();
  }

  @Override
  @SuppressWarnings("unchecked")
  void command(String[] c, PrintStream out) throws Exception {
    switch (c[0]) {
      case "enqueue": { // HANDLER, and SECONDS from now
        Request r = new Request((Class<? extends JobRequestHandler<Request>>) Class.forName("Engine$" + c[1]));
        out.println(c.length == 2 ? BackgroundJobRequest.enqueue(r) : BackgroundJobRequest.schedule(Instant.now().plusSeconds(Long.parseLong(c[2])), r));
        break;
      }
      case "recur": { // HANDLER, and minute and hour of each day in UTC. It prints when it is due next
        Request r = new Request((Class<? extends JobRequestHandler<Request>>) Class.forName("Engine$" + c[1]));
        BackgroundJobRequest.scheduleRecurrently(c[1], c[2] + " " + c[3] + " * * *", java.time.ZoneOffset.UTC, r);
        out.println(store.getRecurringJobs().get(0).getNextRun().toEpochMilli());
        break;
      }
      case "requeue": { // ID: one that failed
        Job job = store.getJobById(UUID.fromString(c[1]));
        job.enqueue();
        store.save(job);
        break;
      }
      case "delete": { // ID
        Job job = store.getJobById(UUID.fromString(c[1]));
        job.delete("test");
        store.save(job);
        break;
      }
      case "report":
        Map<String, long[]> counts = new HashMap<>();
        for (StateName state : List.of(StateName.SCHEDULED, StateName.ENQUEUED, StateName.PROCESSING, StateName.FAILED, StateName.SUCCEEDED, StateName.DELETED)) {
          for (Job job : store.getJobList(state, new AmountRequest("updatedAt:ASC", 1000))) {
            report(job, state, out);
            if (job.getJobSignature().startsWith("Engine$Idle")) {
              continue; // it was there before the adapter
            }
            long[] count = counts.computeIfAbsent(job.getJobSignature(), s -> new long[3]);
            count[0]++;
            count[1] += state == StateName.SUCCEEDED || state == StateName.DELETED ? 1 : 0;
            count[2] += state == StateName.SUCCEEDED ? 1 : 0;
          }
        }
        counts.forEach((net, n) -> out.printf("count %s job %d %d %d%ncount %s instances %d %d %d%n", net, n[0], n[1], n[2], net, n[0], n[2], n[1] - n[2]));
        break;
      default:
        throw new IllegalArgumentException("unknown command " + c[0]);
    }
  }

  /** Prints the state of a job, and since when it is there: the start of its first try, or else when it was due. */
  private static void report(Job job, StateName state, PrintStream out) {
    String net = job.getJobSignature();
    out.printf("state %s %s %s%n", net, job.getId(), state);
    List<JobState> history = job.getJobStates();
    Instant due = history.get(0).getCreatedAt();
    if (history.get(0) instanceof ScheduledState s) {
      due = s.getScheduledAt();
    }
    if (job.getJobState() instanceof ScheduledState s) {
      out.printf("job %s %s %s - %d%n", net, job.getId(), net, s.getScheduledAt().toEpochMilli());
    }
    boolean over = state == StateName.SUCCEEDED || state == StateName.DELETED;
    Instant since = history.stream().filter(s -> s.getName() == StateName.PROCESSING).map(JobState::getCreatedAt).findFirst().orElse(due);
    if (!over && !since.isAfter(Instant.now())) {
      out.printf("at %s %s job %d%n", net, job.getId(), since.toEpochMilli());
    }
  }
}
