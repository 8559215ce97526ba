// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.LongStream;

/** Writes protobuf: as much of it as a Snapshot needs. See telemetry/README.md of pnagent. */
final class Wire {
    private Wire() {
    }

    /** Returns the subject token of a name. */
    static String token(String name) {
        StringBuilder out = new StringBuilder();
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '-';
            out.append(plain ? String.valueOf((char) b) : String.format("=%02X", b));
        }
        return out.length() == 0 ? "=" : out.toString();
    }

    static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder();
        for (byte b : bytes) {
            out.append(String.format("%02x", b));
        }
        return out.toString();
    }

    /** Writes a number without a sign, of 64 bits. */
    static void varint(ByteArrayOutputStream out, long value) {
        long rest = value;
        for (; (rest & ~0x7FL) != 0; rest >>>= 7) {
            out.write((int) (rest & 0x7F) | 0x80);
        }
        out.write((int) rest);
    }

    /** Returns the first value, and then how much each is above the one before it. */
    static LongStream differences(long[] values) {
        return LongStream.range(0, values.length).map(i -> i == 0 ? values[0] : values[(int) i] - values[(int) i - 1]);
    }

    /** A message that is written field by field, with ascending tags. */
    static final class Message {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        /** Writes an integer or bool; 0 is left out. */
        Message number(int tag, long value) {
            if (value != 0) {
                varint(out, (long) tag << 3);
                varint(out, value);
            }
            return this;
        }

        /** Writes a string; an empty one is left out. */
        Message text(int tag, String value) {
            return value.isEmpty() ? this : bytes(tag, value.getBytes(StandardCharsets.UTF_8));
        }

        /** Writes a message, also an empty one. */
        Message message(int tag, Message value) {
            return bytes(tag, value.finish());
        }

        /** Writes a packed column; one without rows is left out. */
        Message numbers(int tag, LongStream values) {
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            values.forEachOrdered(v -> varint(packed, v));
            return packed.size() == 0 ? this : bytes(tag, packed.toByteArray());
        }

        /** Writes a packed column of sint64. */
        Message signed(int tag, LongStream values) {
            return numbers(tag, values.map(v -> v << 1 ^ v >> 63));
        }

        private Message bytes(int tag, byte[] value) {
            varint(out, (long) tag << 3 | 2);
            varint(out, value.length);
            out.write(value, 0, value.length);
            return this;
        }

        byte[] finish() {
            return out.toByteArray();
        }
    }
}
