// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The interval of snapshots: that of the process, or the longest that a collector wishes. */
final class Pace {
    private static final Pattern COLLECTOR = Pattern.compile("\"collector\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.){1,255})\"");
    private static final Pattern INTERVAL = Pattern.compile("\"interval\"\\s*:\\s*(\\d{1,18})\\s*[,}]");
    private static final long LONGEST = Duration.ofSeconds(30).toNanos() / 1000; // microseconds of an interval that a collector wishes
    private static final long KEPT = Duration.ofMinutes(3).toNanos(); // for which a wish counts
    private static final int MOST = 100; // collectors

    private final long own;
    private final LongSupplier nanos;
    private final Map<String, long[]> wishes = new HashMap<>(); // interval, and when it came

    Pace(Duration own, LongSupplier nanos) {
        this.own = own.toNanos() / 1000;
        this.nanos = nanos;
    }

    /** Takes the payload of a hello that has one. Others than wishes are ignored. */
    synchronized void wish(byte[] payload) {
        String text = new String(payload, StandardCharsets.UTF_8);
        Matcher collector = COLLECTOR.matcher(text);
        Matcher interval = INTERVAL.matcher(text);
        if (!collector.find() || !interval.find()) {
            return;
        }
        long micros = Long.parseLong(interval.group(1));
        if (micros <= LONGEST && (wishes.containsKey(collector.group(1)) || wishes.size() < MOST)) {
            wishes.put(collector.group(1), new long[] {micros, nanos.getAsLong()});
        }
    }

    /** Returns the interval from now on, in microseconds. */
    synchronized long micros() {
        long now = nanos.getAsLong();
        wishes.values().removeIf(w -> now - w[1] >= KEPT);
        return Math.max(own, wishes.values().stream().mapToLong(w -> w[0]).max().orElse(0));
    }
}
