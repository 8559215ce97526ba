// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A program for tests with a library of jobs. It prints "ok" when it has started, answers each line of
 * its input with lines that end with "ok" or "error …", and ends at the end of its input. The
 * first process runs no jobs: it is the library's API. Those that run jobs are workers, processes
 * of their own that a command can kill.
 */
abstract class Peer {
  private final Map<String, Process> workers = new HashMap<>(); // by name

  /** Makes the tables. */
  abstract void tables() throws Exception;

  /** Starts to run jobs, in a process of its own. */
  abstract void work(String name) throws Exception;

  /** Runs a command, and prints the lines of its answer. */
  abstract void command(String[] c, PrintStream out) throws Exception;

  /** Runs the program. After its own arguments, a worker has its name. */
  final void run(String[] args, int own) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // libraries print, too
    if (args.length > own) {
      work(args[own]);
    } else {
      tables();
    }
    out.println("ok");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      try {
        answer(line.split(" "), out);
        out.println("ok");
      } catch (Exception e) {
        e.printStackTrace();
        out.println("error " + e.toString().replace('\n', ' '));
      }
    }
    Runtime.getRuntime().halt(0); // the inputs of the workers end, too
  }

  private void answer(String[] c, PrintStream out) throws Exception {
    switch (c[0]) {
      case "work": // NAME
        workers.put(c[1], start(c[1]));
        break;
      case "kill": // NAME
        workers.remove(c[1]).destroyForcibly().waitFor();
        break;
      default:
        command(c, out);
    }
  }

  /** Starts a worker: this program with its name. */
  private static Process start(String name) throws Exception {
    ProcessHandle.Info me = ProcessHandle.current().info();
    List<String> line = new ArrayList<>(List.of(me.command().orElseThrow()));
    line.addAll(List.of(me.arguments().orElseThrow()));
    line.add(name);
    Process p = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String answer = p.inputReader().readLine();
    if (!"ok".equals(answer)) {
      throw new IllegalStateException("the worker: " + answer);
    }
    return p;
  }
}
