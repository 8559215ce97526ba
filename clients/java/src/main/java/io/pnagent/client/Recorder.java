// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

import io.pnagent.client.Place.Token;
import io.pnagent.client.Place.Wait;
import io.pnagent.client.Wire.Message;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The tokens and counters of one net. All methods may be called from any thread. Memory is that of the
 * tokens, at most as many as it was made for.
 */
public final class Recorder {
    /** The most tokens of a net unless another number is given. */
    public static final long MAX_TOKENS = 1_000_000;

    private static final class Transition {
        long firings;
        long failures;
        long retries;
        long cancels;
        long lastFiring;
    }

    private final Net net;
    private final long max;
    private final Clock clock;
    private final Place[] places;
    private final Transition[] transitions;
    private long last;
    private long held;
    private long seq;

    Recorder(Net net, long max, Clock clock) {
        this.net = net;
        this.max = max;
        this.clock = clock;
        net.pnml(); // from here on it stays as it is
        places = IntStream.range(0, net.places.size()).mapToObj(i -> new Place()).toArray(Place[]::new);
        transitions = IntStream.range(0, net.transitions.size()).mapToObj(i -> new Transition()).toArray(Transition[]::new);
    }

    Net net() {
        return net;
    }

    /** Puts a token into a place now. */
    public synchronized void inject(String place, String instance) {
        inject(place, instance, 1, null);
    }

    /** Puts tokens into a place, at a time that is not in the future; null is now. */
    public synchronized void inject(String place, String instance, int tokens, Instant at) {
        Place row = place(place);
        long now = now();
        room(tokens);
        put(row, instance, tokens, at == null ? now : Math.min(now, micros(at)), now);
    }

    /** Takes the oldest token of an instance from a place. */
    public synchronized void eject(String place, String instance) {
        eject(place, instance, 1);
    }

    /** Takes the oldest tokens of an instance from a place. */
    public synchronized void eject(String place, String instance, int tokens) {
        has(place, instance, tokens);
        take(place, instance, tokens, now());
    }

    /** Fires a transition: takes and puts the tokens of its arcs. */
    public synchronized void fire(String transition, String instance) {
        Transition row = transition(transition);
        Map<String, Integer> inputs = net.inputs.get(transition);
        Map<String, Integer> outputs = net.outputs.get(transition);
        long now = now();
        inputs.forEach((place, n) -> has(place, instance, n));
        room(total(outputs) - total(inputs));
        inputs.forEach((place, n) -> take(place, instance, n, now));
        outputs.forEach((place, n) -> put(place(place), instance, n, now, now));
        row.firings++;
        row.lastFiring = now;
    }

    /** Counts a run of a transition that failed. */
    public synchronized void fail(String transition) {
        transition(transition).failures++;
    }

    /** Counts a run that is tried again. */
    public synchronized void retry(String transition) {
        transition(transition).retries++;
    }

    /** Counts a run that was given up. */
    public synchronized void cancel(String transition) {
        transition(transition).cancels++;
    }

    /**
     * Says why the tokens of an instance wait in a place, until they leave it or this is called again. What
     * is for people, at most 200 bytes; until is when a delay ends, null if that is not known.
     */
    public synchronized void await(String place, String instance, String transition, Reason reason, String what, Instant until) {
        if (what.getBytes(StandardCharsets.UTF_8).length > 200) {
            throw new IllegalArgumentException("what has more than 200 bytes");
        }
        transition(transition);
        has(place, instance, 1);
        Wait why = new Wait(net.transitions.get(transition), reason, until == null ? 0 : micros(until), what);
        place(place).of.get(instance).forEach(token -> token.wait = why);
    }

    /** Returns how many tokens a place has. */
    public synchronized long tokens(String place) {
        return place(place).tokens;
    }

    /** Returns the messages of a snapshot, of at most limit bytes each. */
    synchronized List<byte[]> snapshots(String source, long epoch, long interval, long limit, boolean bye) {
        List<byte[]> out = new ArrayList<>();
        write(out, IntStream.range(0, places.length).toArray(), IntStream.range(0, transitions.length).toArray(),
            (head) -> head.text(1, source).number(2, epoch), now(), interval, limit, bye);
        return out;
    }

    private interface Head {
        Message write(Message m);
    }

    private void write(List<byte[]> out, int[] p, int[] t, Head who, long now, long interval, long limit, boolean bye) {
        boolean full = p.length == places.length && t.length == transitions.length;
        Message head = who.write(new Message()).number(3, seq + 1).number(4, now).number(5, interval)
            .text(6, net.id).text(7, net.digest()).number(10, full ? 1 : 0);
        if (p.length > 0) {
            head.message(11, writePlaces(p, full, now));
        }
        if (t.length > 0) {
            head.message(12, writeTransitions(t, full));
        }
        byte[] text = head.number(15, bye ? 1 : 0).finish();
        if (text.length <= limit) {
            seq++;
            out.add(text);
        } else if (p.length + t.length < 2) {
            throw new LimitException("one row of net \"" + net.id + "\" does not fit into a message of " + limit + " bytes");
        } else {
            int halfP = (p.length + 1) / 2;
            int halfT = t.length / 2;
            write(out, slice(p, 0, halfP), slice(t, 0, halfT), who, now, interval, limit, bye);
            write(out, slice(p, halfP, p.length), slice(t, halfT, t.length), who, now, interval, limit, bye);
        }
    }

    private static int[] slice(int[] rows, int from, int to) {
        return java.util.Arrays.copyOfRange(rows, from, to);
    }

    private Message writePlaces(int[] rows, boolean full, long now) {
        List<Place> of = new ArrayList<>();
        List<List<Token>> oldest = new ArrayList<>();
        List<TreeMap<Long, Long>> slots = new ArrayList<>();
        List<TreeMap<Long, Long>> buckets = new ArrayList<>();
        for (int i : rows) {
            of.add(places[i]);
            oldest.add(places[i].oldest());
            slots.add(places[i].ages.cut(now));
            buckets.add(places[i].dwell);
        }
        Message m = new Message().numbers(1, full ? LongStream.empty() : IntStream.of(rows).asLongStream());
        m.numbers(2, column(of, p -> p.tokens)).numbers(3, column(of, p -> p.arrivals)).numbers(4, column(of, p -> p.departures));
        m.numbers(5, column(of, p -> p.of.size())).numbers(6, column(oldest, o -> o.isEmpty() ? 0 : o.get(0).injected));
        m.numbers(7, column(of, p -> p.lastInjection));
        m.numbers(8, column(of, p -> p.seconds + p.micros / 1_000_000)).numbers(9, column(of, p -> p.micros % 1_000_000));
        m.message(10, new Message().numbers(1, column(slots, TreeMap::size)).signed(2, keys(slots)).numbers(3, values(slots)));
        Message dwell = new Message().signed(1, column(of, p -> 1)).numbers(2, column(of, p -> p.dwellZero)).numbers(3, column(of, p -> p.dwellSum));
        m.message(11, dwell.numbers(4, column(buckets, TreeMap::size)).signed(5, keys(buckets)).numbers(6, values(buckets)));
        for (int i = 0; i < rows.length; i++) {
            if (!oldest.get(i).isEmpty()) {
                Message tokens = new Message().number(1, rows[i]);
                oldest.get(i).forEach(token -> tokens.message(2, written(token)));
                m.message(12, tokens);
            }
        }
        return m;
    }

    private static <T> LongStream column(List<T> of, ToLongFunction<T> value) {
        return of.stream().mapToLong(value);
    }

    private static LongStream keys(List<TreeMap<Long, Long>> of) {
        return of.stream().flatMapToLong(row -> Wire.differences(row.keySet().stream().mapToLong(Long::longValue).toArray()));
    }

    private static LongStream values(List<TreeMap<Long, Long>> of) {
        return of.stream().flatMapToLong(row -> row.values().stream().mapToLong(Long::longValue));
    }

    private Message writeTransitions(int[] rows, boolean full) {
        List<Transition> of = new ArrayList<>();
        for (int i : rows) {
            of.add(transitions[i]);
        }
        Message m = new Message().numbers(1, full ? LongStream.empty() : IntStream.of(rows).asLongStream());
        m.numbers(2, column(of, t -> t.firings)).numbers(3, column(of, t -> t.failures)).numbers(4, column(of, t -> t.retries));
        return m.numbers(5, column(of, t -> t.cancels)).numbers(10, column(of, t -> t.lastFiring));
    }

    private static Message written(Token token) {
        Message m = new Message().text(1, token.instance).number(2, token.injected);
        if (token.wait != null) {
            Wait w = token.wait;
            m.message(3, new Message().number(1, w.transition).number(2, w.reason.ordinal() + 1).number(5, w.until).text(6, w.what));
        }
        return m;
    }

    private long now() {
        last = Math.max(last, micros(clock.instant())); // a clock that is set back does not change it
        return last;
    }

    static long micros(Instant at) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, at);
    }

    private Place place(String id) {
        return places[row(net.places, "place", id)];
    }

    private Transition transition(String id) {
        return transitions[row(net.transitions, "transition", id)];
    }

    private int row(Map<String, Integer> rows, String kind, String id) {
        Integer found = rows.get(id);
        if (found == null) {
            throw new IllegalArgumentException("net \"" + net.id + "\" has no " + kind + " \"" + id + "\"");
        }
        return found;
    }

    private void room(long tokens) {
        if (held + tokens > max) {
            throw new LimitException("more than " + max + " tokens in net \"" + net.id + "\"");
        }
    }

    private void has(String place, String instance, int tokens) {
        List<Token> own = place(place).of.getOrDefault(instance, List.of());
        if (own.size() < tokens) {
            throw new IllegalStateException("instance \"" + instance + "\" has " + own.size() + " tokens in place \"" + place + "\"; expected " + tokens);
        }
    }

    private void put(Place place, String instance, int tokens, long injected, long now) {
        if (instance.getBytes(StandardCharsets.UTF_8).length > 255) {
            throw new IllegalArgumentException("the name of an instance has more than 255 bytes");
        }
        held += tokens;
        for (int i = 0; i < tokens; i++) {
            place.put(new Token(instance, injected), now);
        }
    }

    private void take(String place, String instance, int tokens, long now) {
        held -= tokens;
        for (int i = 0; i < tokens; i++) {
            place(place).take(instance, now);
        }
    }

    private static long total(Map<String, Integer> arcs) {
        return arcs.values().stream().mapToLong(Integer::longValue).sum();
    }

    Place[] places() {
        return places;
    }
}
