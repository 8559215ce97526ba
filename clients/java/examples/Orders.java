// SPDX-License-Identifier: Apache-2.0

import io.pnagent.client.Net;
import io.pnagent.client.Reason;
import io.pnagent.client.Recorder;
import io.pnagent.client.Source;
import java.nio.file.Path;
import java.time.Instant;

/**
 * Five orders came in SECONDS ago; two were shipped, and three are stuck because the printer has no paper.
 *
 * <pre>java -cp pnagent-client.jar:jnats.jar Orders.java nats://127.0.0.1:4222 examples/attach/orders.pnml shop-java [SECONDS]</pre>
 */
public final class Orders {
    private Orders() {
    }

    public static void main(String[] args) throws Exception {
        Instant came = Instant.now().minusSeconds(args.length > 3 ? Long.parseLong(args[3]) : 0);
        Source source = new Source(args[2], args[0]);
        Recorder orders = source.add(Net.read(Path.of(args[1])));
        for (int i = 0; i < 5; i++) {
            orders.inject("inbox", "order-" + i, 1, came);
        }
        for (int i = 0; i < 2; i++) {
            orders.fire("ship", "order-" + i);
        }
        for (int i = 2; i < 5; i++) {
            orders.await("inbox", "order-" + i, "ship", Reason.INCIDENT, "the printer has no paper", null);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            source.close();
            Runtime.getRuntime().halt(0); // Java would end with 143
        }));
        source.start();
        Thread.currentThread().join();
    }
}
