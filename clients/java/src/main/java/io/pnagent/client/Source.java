// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.impl.Headers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.GZIPOutputStream;

/**
 * A process that runs nets, under a name that is unique and stays the same over restarts. It connects in
 * the background, and again if the connection breaks. Nothing waits in memory meanwhile: each snapshot
 * holds everything.
 *
 * <pre>{@code
 * Net net = new Net("orders").place("inbox").place("shipped").transition("ship").arc("inbox", "ship").arc("ship", "shipped");
 * try (Source source = new Source("shop-1", "nats://127.0.0.1:4222")) {
 *     Recorder orders = source.add(net);
 *     source.start();
 *     orders.inject("inbox", "order-7");
 *     orders.fire("ship", "order-7");
 * }
 * }</pre>
 */
public final class Source implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger("io.pnagent.client");

    private final String name;
    private final long epoch = Recorder.micros(Instant.now());
    private final Options options;
    private final String prefix;
    private final Pace pace;
    private final List<Recorder> recorders = new ArrayList<>();
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "pnagent");
        thread.setDaemon(true);
        return thread;
    });
    // Only the executor's thread uses these.
    private Connection connection;
    private ScheduledFuture<?> next;
    private long interval;

    /** A source that publishes each second on the subjects of petrinet.v1. */
    public Source(String name, String servers) {
        this(name, new Options.Builder().server(servers), Duration.ofSeconds(1), "petrinet.v1");
    }

    /** A source with options of the connection, such as credentials and TLS, and its own interval and subject space. */
    public Source(String name, Options.Builder options, Duration interval, String prefix) {
        int size = name.getBytes(StandardCharsets.UTF_8).length;
        if (size < 1 || size > 255 || name.chars().anyMatch(c -> c < 0x20 || c == 0x7F)) {
            throw new IllegalArgumentException("the name of a source has 1 to 255 bytes, and no control characters");
        }
        this.name = name;
        this.options = options.connectionName(name).maxReconnects(-1).reconnectWait(Duration.ofSeconds(1)).build();
        this.prefix = prefix;
        this.pace = new Pace(interval, System::nanoTime);
        this.interval = interval.toNanos() / 1000;
    }

    /** Adds a net before start, and returns what records it. */
    public Recorder add(Net net) {
        return add(net, Recorder.MAX_TOKENS);
    }

    /** Adds a net of which at most so many tokens are kept. */
    public Recorder add(Net net, long maxTokens) {
        Recorder recorder = new Recorder(net, maxTokens, Clock.systemUTC());
        recorders.add(recorder);
        return recorder;
    }

    /** Begins to publish, in a thread of its own. */
    public void start() {
        executor.execute(this::publish);
    }

    /** Publishes a last snapshot, so that the tokens of this process leave the sums now, and ends. */
    @Override
    public void close() {
        executor.execute(this::bye);
        executor.shutdown();
        try {
            if (!executor.awaitTermination(5, TimeUnit.SECONDS)) {
                executor.shutdownNow();
            }
        } catch (InterruptedException e) {
            executor.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void publish() {
        if (next != null) {
            next.cancel(false);
        }
        long before = interval;
        interval = pace.micros();
        long delay = interval;
        try {
            if (connection == null) {
                connection = Nats.connect(options);
                subscribe(connection);
            }
            send("snapshot");
            // A fleet that was asked for rarer messages does not publish all at once.
            delay = before == interval ? interval : (long) (interval * ThreadLocalRandom.current().nextDouble());
        } catch (IOException | RuntimeException e) { // the next snapshot has everything
            LOG.log(Level.WARNING, "cannot publish as " + name, e);
            delay = Math.max(delay, 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        next = executor.isShutdown() ? null : executor.schedule(this::publish, delay, TimeUnit.MICROSECONDS);
    }

    private void bye() {
        if (next != null) {
            next.cancel(false);
        }
        if (connection == null) {
            return;
        }
        try {
            send("bye");
            if (connection.getStatus() == Connection.Status.CONNECTED) {
                connection.flush(Duration.ofSeconds(2));
            }
            connection.close();
        } catch (TimeoutException | RuntimeException e) {
            LOG.log(Level.WARNING, "the last message of " + name + " is not sent", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void send(String kind) {
        if (connection.getStatus() != Connection.Status.CONNECTED) {
            return;
        }
        for (Recorder recorder : recorders) {
            try {
                recorder.snapshots(name, epoch, interval, connection.getMaxPayload(), kind.equals("bye"))
                    .forEach(text -> connection.publish(subject(kind, recorder.net().id, name), text));
            } catch (LimitException e) {
                LOG.log(Level.SEVERE, "a net is not published", e);
            }
        }
    }

    private void subscribe(Connection to) {
        Dispatcher dispatcher = to.createDispatcher();
        dispatcher.subscribe(prefix + ".hello", message -> {
            if (message.getData().length > 0) {
                pace.wish(message.getData());
            } else {
                asked(message);
            }
        });
        for (Recorder recorder : recorders) {
            Net net = recorder.net();
            dispatcher.subscribe(subject("full", net.id, name), this::asked);
            dispatcher.subscribe(subject("notice", net.id, name), message ->
                LOG.warning("a collector refuses messages of this source: " + new String(message.getData(), StandardCharsets.UTF_8)));
            byte[] pnml = net.pnml();
            dispatcher.subscribe(subject("net", net.id, net.digest()), message -> answer(to, message, pnml));
        }
    }

    private void asked(Message message) {
        if (!executor.isShutdown()) {
            executor.execute(this::publish);
        }
    }

    private static void answer(Connection to, Message message, byte[] pnml) {
        if (message.getReplyTo() == null) {
            return;
        }
        if (pnml.length <= to.getMaxPayload()) {
            to.publish(message.getReplyTo(), pnml);
            return;
        }
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(pnml);
        } catch (IOException e) {
            throw new IllegalStateException(e); // it writes to memory
        }
        to.publish(message.getReplyTo(), new Headers().add("Content-Encoding", "gzip"), packed.toByteArray());
    }

    private String subject(String kind, String... names) {
        StringBuilder out = new StringBuilder(prefix).append('.').append(kind);
        for (String part : names) {
            out.append('.').append(Wire.token(part));
        }
        return out.toString();
    }
}
