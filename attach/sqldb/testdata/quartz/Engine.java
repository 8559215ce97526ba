// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobKey;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.matchers.GroupMatcher;
import org.quartz.utils.ConnectionProvider;

/**
 * Quartz schedulers for tests. The arguments are a user of databases, and a directory. The
 * program prints the port at which it listens, and ends at the end of its input. Each
 * connection has schedulers on one database, whose tables its first line makes: "open", a JDBC
 * address, and a word that is not used. After it come commands, one a line, each answered with lines that
 * end with "ok" or "error …".
 *
 * <p>The schedulers of this process run no jobs: they are Quartz' API. Those that run jobs are
 * nodes, processes of their own that a command can kill.
 */
public class Engine {
  private final PrintStream out;
  private final String address;
  private final String user;
  private final String dir;
  private final Map<String, Scheduler> schedulers = new HashMap<>(); // by name
  private final Map<String, Node> nodes = new HashMap<>(); // by instance

  public static void main(String[] args) throws Exception {
    Thread.currentThread().setContextClassLoader(Engine.class.getClassLoader()); // Quartz looks there for jobs
    if (args.length > 2) {
      node(args);
      return;
    }
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    Thread accepts = new Thread(() -> {
      while (true) {
        try {
          Socket connection = server.accept();
          new Thread(() -> serve(connection, args[0], args[1])).start();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    });
    accepts.start();
    System.out.println(server.getLocalPort());
    System.in.transferTo(OutputStream.nullOutputStream());
    removeClasses();
    System.exit(0); // the nodes' inputs end, too
  }

  private static void serve(Socket connection, String user, String dir) {
    try (connection) {
      PrintStream out = new PrintStream(new BufferedOutputStream(connection.getOutputStream()));
      BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream()));
      Engine e = new Engine(in.readLine().split(" ")[1], user, dir, out);
      e.answer("tables");
      for (String line; (line = in.readLine()) != null; ) {
        e.answer(line);
      }
      e.close();
    } catch (Exception e) {
      e.printStackTrace();
    }
  }

  private Engine(String address, String user, String dir, PrintStream out) {
    this.address = address;
    this.user = user;
    this.dir = dir;
    this.out = out;
  }

  private void answer(String line) {
    try {
      run(line.split(" "));
      out.println("ok");
    } catch (Exception e) {
      out.println("error " + e.toString().replace('\n', ' '));
    }
    out.flush();
  }

  private void close() throws Exception {
    for (Node n : nodes.values()) {
      n.process.destroyForcibly().waitFor();
    }
    for (Scheduler s : schedulers.values()) {
      s.shutdown();
    }
  }

  private void run(String[] c) throws Exception {
    switch (c[0]) {
      case "tables":
        try (Connection db = DriverManager.getConnection(address, user, "");
            Statement s = db.createStatement();
            InputStream text = Scheduler.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_postgres.sql")) {
          s.execute(new String(text.readAllBytes(), StandardCharsets.UTF_8));
        }
        break;
      case "standby": // NAME CLUSTERED
        schedulers.put(c[1], scheduler(address, user, c[1], "standby", c[2], 1));
        break;
      case "node": // NAME INSTANCE CLUSTERED THREADS
        nodes.put(c[2], new Node(c[1], start(c)));
        nodes.get(c[2]).answer(out);
        break;
      case "kill": // INSTANCE
        nodes.remove(c[1]).process.destroyForcibly().waitFor();
        break;
      case "at": // INSTANCE, and a command of that node
        nodes.get(c[1]).ask(String.join(" ", List.of(c).subList(2, c.length)), out);
        break;
      case "report":
        report();
        break;
      default:
        act(schedulers.get(c[1]), c, out);
    }
  }

  private static Path classes; // null until the first node starts

  /** Compiles this program for the nodes, once, so that each starts in a moment. */
  private static synchronized Path classes(String dir) throws IOException {
    if (classes == null) {
      Path to = Files.createTempDirectory("pnagent-quartz-");
      int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", to.toString(), "-cp", System.getProperty("java.class.path"), Path.of(dir, "Engine.java").toString());
      if (status != 0) {
        throw new IllegalStateException("compiling Engine.java");
      }
      classes = to;
    }
    return classes;
  }

  private static synchronized void removeClasses() throws IOException {
    if (classes == null) {
      return;
    }
    try (Stream<Path> files = Files.list(classes)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(classes);
  }

  /** Starts a node. */
  private Process start(String[] c) throws IOException {
    return new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-Duser.timezone=UTC",
        "-cp", classes(dir) + File.pathSeparator + System.getProperty("java.class.path"), "Engine", user, dir, address, c[1], c[2], c[3], c[4])
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** A process with a scheduler that runs jobs. */
  private static class Node {
    final String scheduler;
    final Process process;
    final BufferedReader answers;

    Node(String scheduler, Process process) {
      this.scheduler = scheduler;
      this.process = process;
      answers = process.inputReader();
    }

    void ask(String command, PrintStream out) throws Exception {
      process.outputWriter().append(command).append('\n').flush();
      answer(out);
    }

    void answer(PrintStream out) throws Exception {
      for (String line; !"ok".equals(line = answers.readLine()); ) {
        if (line == null || line.startsWith("error ")) {
          throw new IllegalStateException("the node: " + line);
        }
        out.println(line);
      }
    }
  }

  /** The main program of a node. */
  private static void node(String[] args) throws Exception {
    Scheduler s = scheduler(args[2], args[0], args[3], args[4], args[5], Integer.parseInt(args[6]));
    s.start();
    System.out.println("ok");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      try {
        act(s, line.split(" "), System.out);
        System.out.println("ok");
      } catch (Exception e) {
        System.out.println("error " + e.toString().replace('\n', ' '));
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static Scheduler scheduler(String address, String user, String name, String instance, String clustered, int threads) throws Exception {
    Properties p = new Properties();
    String jobs = "org.quartz.jobStore.";
    String db = "org.quartz.dataSource.db.";
    p.setProperty("org.quartz.scheduler.instanceName", name);
    p.setProperty("org.quartz.scheduler.instanceId", instance);
    p.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
    p.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
    p.setProperty("org.quartz.threadPool.threadCount", String.valueOf(threads));
    p.setProperty(jobs + "class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
    p.setProperty(jobs + "driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
    p.setProperty(jobs + "dataSource", "db");
    p.setProperty(jobs + "isClustered", clustered);
    p.setProperty(jobs + "clusterCheckinInterval", "1000");
    p.setProperty(jobs + "misfireThreshold", "3600000");
    p.setProperty(db + "connectionProvider.class", Connections.class.getName());
    p.setProperty(db + "address", address);
    p.setProperty(db + "user", user);
    return new StdSchedulerFactory(p).getScheduler();
  }

  /** Connections to a database, without a pool. */
  public static class Connections implements ConnectionProvider {
    private String address;
    private String user;

    public void setAddress(String address) {
      this.address = address;
    }

    public void setUser(String user) {
      this.user = user;
    }

    @Override
    public Connection getConnection() throws SQLException {
      return DriverManager.getConnection(address, user, "");
    }

    @Override
    public void initialize() {}

    @Override
    public void shutdown() {}
  }

  /** What the jobs wait for that hold until a command ends them. */
  private static final CountDownLatch over = new CountDownLatch(1);

  /** A job that ends at once. */
  public static class Mail implements Job {
    @Override
    public void execute(JobExecutionContext context) {}
  }

  /** A job that holds. It may run several times at once. */
  public static class Hold implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      try {
        over.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A job that holds, of which one runs at a time. */
  @DisallowConcurrentExecution
  public static class Alone extends Hold {}

  /** A job that cannot be made. */
  public static class Broken extends Mail {
    public Broken() {
      throw new IllegalStateException("no configuration");
    }
  }

  private static TriggerKey trigger(String text) {
    String[] parts = text.split("\\.");
    return new TriggerKey(parts[1], parts[0]);
  }

  /** Runs a command of a scheduler. The second word is the scheduler's name. */
  private static void act(Scheduler s, String[] c, PrintStream out) throws Exception {
    switch (c[0]) {
      case "schedule": { // NAME GROUP.TRIGGER GROUP.JOB CLASS SECONDS: from now, and each day unless "once" follows, or a number of seconds after which it repeats
        String[] key = c[3].split("\\.");
        JobDetail job = JobBuilder.newJob(Class.forName("Engine$" + c[4], true, Thread.currentThread().getContextClassLoader()).asSubclass(Job.class))
            .withIdentity(new JobKey(key[1], key[0])).build();
        TriggerBuilder<Trigger> t = TriggerBuilder.newTrigger().withIdentity(trigger(c[2])).forJob(job)
            .startAt(new Date(System.currentTimeMillis() + 1000 * Long.parseLong(c[5])));
        if (c.length == 6) {
          t.withSchedule(SimpleScheduleBuilder.repeatHourlyForever(24));
        } else if (!c[6].equals("once")) {
          t.withSchedule(SimpleScheduleBuilder.repeatSecondlyForever(Integer.parseInt(c[6])));
        }
        Trigger made = t.build();
        if (s.checkExists(job.getKey())) {
          s.scheduleJob(made);
        } else {
          s.scheduleJob(job, made);
        }
        break;
      }
      case "pause": // NAME GROUP.TRIGGER
        s.pauseTrigger(trigger(c[2]));
        break;
      case "resume": // NAME GROUP.TRIGGER
        s.resumeTrigger(trigger(c[2]));
        break;
      case "pause-group": // NAME GROUP
        s.pauseTriggers(GroupMatcher.triggerGroupEquals(c[2]));
        break;
      case "pause-all": // NAME
        s.pauseAll();
        break;
      case "delete": { // NAME GROUP.JOB
        String[] key = c[2].split("\\.");
        s.deleteJob(new JobKey(key[1], key[0]));
        break;
      }
      case "end": // NAME: all jobs that hold
        over.countDown();
        break;
      case "running": // NAME
        for (JobExecutionContext x : s.getCurrentlyExecutingJobs()) {
          out.printf("at %s %s %s %d%n", c[1], x.getTrigger().getKey(), x.getJobDetail().getJobClass().getName(), x.getFireTime().getTime());
        }
        break;
      default:
        throw new IllegalArgumentException("unknown command " + c[0]);
    }
  }

  /** Prints what the API says of each trigger that is due or in error, and of each job that runs. */
  private void report() throws Exception {
    for (Map.Entry<String, Scheduler> e : schedulers.entrySet()) {
      Scheduler s = e.getValue();
      List<TriggerKey> keys = new ArrayList<>(s.getTriggerKeys(GroupMatcher.anyTriggerGroup()));
      for (TriggerKey key : keys) {
        Trigger t = s.getTrigger(key);
        if (t == null) {
          continue;
        }
        Trigger.TriggerState state = s.getTriggerState(key);
        Date next = t.getNextFireTime();
        Date since = next != null && !next.after(new Date()) ? next : state == Trigger.TriggerState.ERROR ? t.getPreviousFireTime() : null;
        out.printf("state %s %s %s%n", e.getKey(), key, state);
        if (since != null && state != Trigger.TriggerState.COMPLETE && state != Trigger.TriggerState.NONE) {
          JobDetail job = null;
          try {
            job = s.getJobDetail(t.getJobKey());
          } catch (Exception x) { // its class is not there
          }
          out.printf("at %s %s %s %d%n", e.getKey(), key, job == null ? "gone.Job" : job.getJobClass().getName(), since.getTime());
        }
      }
    }
    for (Node n : nodes.values()) {
      n.ask("running " + n.scheduler, out);
    }
  }
}
