// SPDX-License-Identifier: Apache-2.0

import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.configuration.support.MapJobRegistry;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobInstance;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.support.TaskExecutorJobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.repository.support.JdbcJobRepositoryFactoryBean;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.core.task.TaskExecutor;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Spring Batch for tests. The arguments are a JDBC address and a user. */
public class Engine extends Peer {
  private DataSource database;
  private JdbcTransactionManager transactions;
  private JobRepository repository;

  public static void main(String[] args) throws Exception {
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setUrl(args[0]);
    database.setUser(args[1]);
    Engine e = new Engine();
    e.database = database;
    e.transactions = new JdbcTransactionManager(database);
    JdbcJobRepositoryFactoryBean factory = new JdbcJobRepositoryFactoryBean();
    factory.setDataSource(database);
    factory.setTransactionManager(e.transactions);
    factory.afterPropertiesSet();
    e.repository = factory.getObject();
    e.run(args, 2);
  }

  @Override
  void tables() throws Exception {
    try (Connection db = database.getConnection();
        Statement s = db.createStatement();
        InputStream text = Job.class.getResourceAsStream("/org/springframework/batch/core/schema-postgresql.sql")) {
      s.execute(new String(text.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** Starts jobs, by a name such as "two:holds,loops", with two threads. */
  @Override
  void work(String name) throws Exception {
    ThreadPoolTaskExecutor threads = new ThreadPoolTaskExecutor();
    threads.setCorePoolSize(2);
    threads.afterPropertiesSet();
    TaskExecutorJobOperator operator = operator(threads);
    for (String job : name.substring(name.indexOf(':') + 1).split(",")) {
      operator.start(job(job), new JobParametersBuilder().addLong("at", System.nanoTime()).toJobParameters());
    }
  }

  private TaskExecutorJobOperator operator(TaskExecutor threads) throws Exception {
    TaskExecutorJobOperator operator = new TaskExecutorJobOperator();
    operator.setJobRepository(repository);
    operator.setJobRegistry(new MapJobRegistry());
    if (threads != null) {
      operator.setTaskExecutor(threads);
    }
    operator.afterPropertiesSet();
    return operator;
  }

  /** A job with the step load, and one that does what the job's name says. */
  private Job job(String name) {
    return new JobBuilder(name, repository).start(step("load", (contribution, context) -> RepeatStatus.FINISHED)).next(step(name + "-step", (contribution, context) -> {
      switch (name) {
        case "holds":
          new CountDownLatch(1).await();
          break;
        case "loops":
          Thread.sleep(100);
          return RepeatStatus.CONTINUABLE;
        case "fails":
          throw new IllegalStateException("out of paper");
        default:
      }
      return RepeatStatus.FINISHED;
    })).build();
  }

  private Step step(String name, Tasklet does) {
    return new StepBuilder(name, repository).tasklet(does, transactions).build();
  }

  @Override
  void command(String[] c, PrintStream out) throws Exception {
    switch (c[0]) {
      case "start": // JOB: and waits for its end
        operator(null).start(job(c[1]), new JobParametersBuilder().addLong("at", System.nanoTime()).toJobParameters());
        break;
      case "stop": // JOB
        operator(null).stop(last(c[1]));
        break;
      case "recover": // JOB
        operator(null).recover(last(c[1]));
        break;
      case "abandon": // JOB
        operator(null).abandon(last(c[1]));
        break;
      case "report":
        for (String job : repository.getJobNames()) {
          report(job, out);
        }
        break;
      default:
        throw new IllegalArgumentException("unknown command " + c[0]);
    }
  }

  private JobExecution last(String job) {
    return repository.getLastJobExecution(repository.getLastJobInstance(job));
  }

  /** Prints the executions of a job: since when each is at a step, and what was counted. */
  private void report(String job, PrintStream out) {
    Map<String, long[]> counts = new HashMap<>();
    for (JobInstance instance : repository.getJobInstances(job, 0, 1000)) {
      for (JobExecution e : repository.getJobExecutions(instance)) {
        out.printf("state %s %d %s%n", job, e.getId(), e.getStatus());
        count(counts, "instances", 1, e.getStatus() == BatchStatus.COMPLETED ? 1 : 0, e.getEndTime() != null && e.getStatus() != BatchStatus.COMPLETED ? 1 : 0);
        StepExecution at = null; // the newest that runs, or that has not completed
        for (StepExecution s : e.getStepExecutions()) {
          at = s.getStatus() == BatchStatus.COMPLETED ? at : s;
          count(counts, s.getStepName(), s.getStartTime() == null ? 0 : 1, s.getEndTime() == null ? 0 : 1, s.getStatus() == BatchStatus.COMPLETED ? 1 : 0);
        }
        boolean stays = e.getEndTime() == null || e.getStatus() != BatchStatus.ABANDONED && e.getStatus() != BatchStatus.COMPLETED && e.getId() == last(job).getId();
        if (stays && at == null) {
          at(job, e, "job", e.getStartTime() == null ? e.getCreateTime() : e.getStartTime(), out);
        } else if (stays) {
          LocalDateTime begun = at.getStartTime() == null ? at.getCreateTime() : at.getStartTime();
          at(job, e, at.getStepName(), at.getEndTime() == null ? begun : at.getEndTime(), out);
        }
      }
    }
    if (!job.equals("idle")) { // it was there before the adapter
      counts.forEach((node, n) -> out.printf("count %s %s %d %d %d%n", job, node, n[0], n[1], n[2]));
    }
  }

  private static void count(Map<String, long[]> counts, String node, long started, long ended, long fired) {
    long[] n = counts.computeIfAbsent(node, x -> new long[3]);
    n[0] += started;
    n[1] += ended;
    n[2] += fired;
  }

  private static void at(String job, JobExecution e, String node, LocalDateTime since, PrintStream out) {
    out.printf("at %s %d %s %d%n", job, e.getId(), node, since.toInstant(ZoneOffset.UTC).toEpochMilli());
  }
}
