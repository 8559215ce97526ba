// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What the package writes, without a server. The Go test e2e/clients runs it with a sidecar. */
class ClientTest {
    private static final Path TESTDATA = Path.of("..", "testdata");

    private static final class SetClock extends Clock {
        Instant at = Instant.ofEpochSecond(1_800_000_000);

        @Override
        public Instant instant() {
            return at;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    private static Net orders() {
        return new Net("orders", "Orders").place("inbox", "In <box>").transition("ship").place("shipped")
            .arc("inbox", "ship").arc("ship", "shipped", 2);
    }

    private static Recorder recorder(long max) {
        return new Recorder(orders(), max, Clock.systemUTC());
    }

    /** The same in all languages: testdata/orders.hex is what it writes. */
    private static Recorder scenario() {
        SetClock clock = new SetClock();
        Recorder recorder = new Recorder(orders(), Recorder.MAX_TOKENS, clock);
        for (int i = 0; i < 7; i++) {
            recorder.inject("inbox", "order-" + i, 1, Instant.ofEpochSecond(1_799_999_000 + 100 * i));
        }
        recorder.inject("inbox", "größe 7", 2, null);
        clock.at = clock.at.plusSeconds(30);
        recorder.fire("ship", "order-0");
        recorder.fire("ship", "order-1");
        recorder.eject("shipped", "order-0");
        recorder.fail("ship");
        recorder.retry("ship");
        recorder.cancel("ship");
        recorder.await("inbox", "order-2", "ship", Reason.INCIDENT, "printer is out of paper", Instant.ofEpochSecond(1_800_000_060));
        clock.at = clock.at.plusSeconds(1);
        return recorder;
    }

    @Test
    void theMessagesAreThoseOfTestdata() throws Exception {
        Recorder recorder = scenario();
        List<byte[]> all = new ArrayList<>(recorder.snapshots("shop 1", 1_799_999_999_000_000L, 1_000_000, 1 << 20, false));
        all.addAll(recorder.snapshots("shop 1", 1_799_999_999_000_000L, 1_000_000, 400, true));
        StringBuilder text = new StringBuilder();
        all.forEach(m -> text.append(Wire.hex(m)).append('\n'));
        assertEquals(Files.readString(TESTDATA.resolve("orders.hex")), text.toString());
        assertArrayEquals(Files.readAllBytes(TESTDATA.resolve("orders.pnml")), recorder.net().pnml());
    }

    @Test
    void aNetThatIsReadIsTheNetThatWasWritten() throws Exception {
        Net net = Net.read(TESTDATA.resolve("orders.pnml"));
        assertEquals(List.of("inbox", "shipped"), List.copyOf(net.places.keySet()));
        assertEquals(1, net.inputs.get("ship").get("inbox"));
        assertEquals(2, net.outputs.get("ship").get("shipped"));
        assertEquals(orders().digest(), net.digest());
    }

    @Test
    void aNetIsChecked() {
        assertThrows(IllegalArgumentException.class, () -> orders().place("inbox"));
        assertThrows(IllegalArgumentException.class, () -> orders().place(""));
        assertThrows(IllegalArgumentException.class, () -> orders().arc("inbox", "shipped"));
        Net published = orders();
        published.pnml();
        assertThrows(IllegalStateException.class, () -> published.place("x"));
    }

    @Test
    void nothingChangesWhereTokensAreMissing() {
        Recorder recorder = recorder(10);
        recorder.inject("inbox", "a");
        for (Executable wrong : List.<Executable>of(() -> recorder.fire("ship", "b"), () -> recorder.eject("inbox", "a", 2),
            () -> recorder.await("shipped", "a", "ship", Reason.DEAD, "", null))) {
            assertThrows(IllegalStateException.class, wrong);
        }
        assertThrows(IllegalArgumentException.class, () -> recorder.inject("nowhere", "a"));
        assertEquals(1, recorder.tokens("inbox"));
        assertEquals(0, recorder.tokens("shipped"));
    }

    @Test
    void tokensAreBounded() {
        Recorder recorder = recorder(2);
        recorder.inject("inbox", "a", 2, null);
        assertThrows(LimitException.class, () -> recorder.inject("inbox", "b"));
        assertThrows(LimitException.class, () -> recorder.fire("ship", "a"));
        recorder.eject("inbox", "a");
        recorder.fire("ship", "a");
        assertEquals(2, recorder.tokens("shipped"));
    }

    @Test
    void whatLeftIsForgotten() {
        Recorder recorder = recorder(10);
        recorder.inject("inbox", "stays");
        for (int i = 0; i < 10_000; i++) {
            recorder.inject("inbox", "" + i);
            recorder.eject("inbox", "" + i);
        }
        Place place = recorder.places()[0];
        assertTrue(place.queued() < 100 && place.of.size() == 1);
    }

    @Test
    void aLadderCountsEveryTokenWhileItsSlotsWiden() {
        Place.Ladder ladder = new Place.Ladder();
        long at = 1_800_000_000_000_000L;
        for (int i = 0; i < 2000; i++) {
            ladder.cut(at + 7_000_003L * i);
            ladder.add(at + 7_000_003L * i, 1);
            if (i >= 50) {
                ladder.add(at + 7_000_003L * (i - 50), -1);
            }
        }
        assertEquals(50, ladder.cut(at + 7_000_003L * 1999).values().stream().mapToLong(Long::longValue).sum());
    }

    @Test
    void theLongestWishOfACollectorIsFollowedForThreeMinutes() {
        long[] now = {0};
        Pace pace = new Pace(Duration.ofSeconds(1), () -> now[0]);
        for (String text : List.of("", "{", "[]", "{\"collector\":\"a\"}", "{\"collector\":\"a\",\"interval\":31000000}")) {
            pace.wish(text.getBytes(StandardCharsets.UTF_8));
        }
        assertEquals(1_000_000, pace.micros());
        pace.wish("{\"collector\":\"a\",\"interval\":5000000}".getBytes(StandardCharsets.UTF_8));
        pace.wish("{\"collector\":\"b\",\"interval\":9000000}".getBytes(StandardCharsets.UTF_8));
        assertEquals(9_000_000, pace.micros());
        pace.wish("{\"collector\":\"b\",\"interval\":0}".getBytes(StandardCharsets.UTF_8));
        assertEquals(5_000_000, pace.micros());
        now[0] = Duration.ofSeconds(181).toNanos();
        assertEquals(1_000_000, pace.micros());
    }

    @Test
    void subjectTokensAndNumbers() {
        assertEquals("gr=C3=B6=C3=9Fe=207", Wire.token("größe 7"));
        assertEquals("=", Wire.token(""));
        assertEquals("a-_Z9=2E", Wire.token("a-_Z9."));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Wire.varint(out, 300);
        Wire.varint(out, -1);
        assertEquals("ac02ffffffffffffffffff01", Wire.hex(out.toByteArray()));
        assertArrayEquals(new long[] {5, -2, 6}, Wire.differences(new long[] {5, 3, 9}).toArray());
    }
}
