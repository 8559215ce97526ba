// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The tokens of a place. Memory is that of its tokens. Times are microseconds since the Unix epoch. */
final class Place {
    private static final int STUCK = 5; // tokens of a place that a snapshot lists
    private static final double[] BOUNDS = new double[100]; // of the buckets of schema 1, in seconds

    static {
        Arrays.setAll(BOUNDS, i -> Math.pow(2, (i - 39) / 2.0));
    }

    /** Why a token does not move. */
    static final class Wait {
        final int transition;
        final Reason reason;
        final long until;
        final String what;

        Wait(int transition, Reason reason, long until, String what) {
            this.transition = transition;
            this.reason = reason;
            this.until = until;
            this.what = what;
        }
    }

    /** One token. */
    static final class Token {
        final String instance;
        final long injected;
        Wait wait;
        boolean gone;

        Token(String instance, long injected) {
            this.instance = instance;
            this.injected = injected;
        }
    }

    long tokens;
    long arrivals;
    long departures;
    long lastInjection;
    long seconds; // the sum of the injection times of the tokens: seconds, and the microseconds beyond them
    long micros;
    final Ladder ages = new Ladder();
    final Map<String, List<Token>> of = new HashMap<>(); // of each instance, oldest first
    final TreeMap<Long, Long> dwell = new TreeMap<>();
    long dwellZero;
    long dwellSum;
    private List<Token> queue = new ArrayList<>(); // oldest first, with some that are gone

    /** Adds a token that was injected now or earlier. */
    void put(Token token, long now) {
        tokens++;
        arrivals++;
        lastInjection = Math.max(lastInjection, now);
        sum(token.injected, 1);
        ages.add(token.injected, 1);
        insert(queue, token);
        insert(of.computeIfAbsent(token.instance, k -> new ArrayList<>(1)), token);
    }

    private static void insert(List<Token> queue, Token token) {
        int i = queue.size();
        while (i > 0 && queue.get(i - 1).injected > token.injected) {
            i--;
        }
        queue.add(i, token);
    }

    /** Removes the oldest token of an instance, which has one. */
    void take(String instance, long now) {
        List<Token> own = of.get(instance);
        Token token = own.remove(0);
        if (own.isEmpty()) {
            of.remove(instance);
        }
        token.gone = true;
        tokens--;
        departures++;
        sum(token.injected, -1);
        ages.add(token.injected, -1);
        long stay = Math.max(0, now - token.injected);
        dwellSum += stay;
        if (stay < 1) {
            dwellZero++;
        } else {
            int found = Arrays.binarySearch(BOUNDS, stay / 1e6);
            long bucket = Math.min(found < 0 ? -found - 1 : found, BOUNDS.length - 1) - 39;
            dwell.merge(bucket, 1L, Long::sum);
        }
        if (queue.size() > 2 * tokens + 64) {
            queue.removeIf(t -> t.gone);
        }
    }

    private void sum(long injected, int sign) {
        seconds += sign * (injected / 1_000_000);
        micros += sign * (injected % 1_000_000);
    }

    /** Returns the oldest tokens, oldest first. */
    List<Token> oldest() {
        int gone = 0;
        while (gone < queue.size() && queue.get(gone).gone) {
            gone++;
        }
        queue.subList(0, gone).clear();
        List<Token> found = new ArrayList<>(STUCK);
        for (int i = 0; i < queue.size() && found.size() < STUCK; i++) {
            if (!queue.get(i).gone) {
                found.add(queue.get(i));
            }
        }
        return found;
    }

    /** Returns how many tokens wait in the list, those that are gone included. */
    int queued() {
        return queue.size();
    }

    /** How many tokens were injected when, in slots that widen with age. */
    static final class Ladder {
        private static final long SLOT = 125_000; // microseconds

        private TreeMap<Long, Long> slots = new TreeMap<>();
        private long at;

        private long slot(long unit) {
            int j = 0;
            while (unit < Math.max(0, at - (16L << j) >> j + 1 << j + 1)) {
                j++;
            }
            return unit >> j << j;
        }

        /** Adds tokens, or takes them away if n is negative. */
        void add(long injected, long n) {
            slots.merge(slot(injected / SLOT), n, (a, b) -> a + b == 0 ? null : Long.valueOf(a + b));
        }

        /** Returns the slots at a time, which is not before the last one. */
        TreeMap<Long, Long> cut(long now) {
            TreeMap<Long, Long> before = slots;
            slots = new TreeMap<>();
            at = Math.max(at, now / SLOT);
            before.forEach((start, n) -> slots.merge(slot(start), n, Long::sum));
            return slots;
        }
    }
}
