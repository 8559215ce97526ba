# SPDX-License-Identifier: Apache-2.0
"""Writes protobuf: as much of it as a Snapshot needs. See telemetry/README.md of pnagent."""
from __future__ import annotations

from collections.abc import Iterable


def token(name: str) -> str:
    """Returns the subject token of a name."""
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
    return "".join(chr(b) if b in plain else f"={b:02X}" for b in name.encode()) or "="


def varint(value: int) -> bytes:
    """Encodes a number from 0 to 2^64-1."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Message:
    """A message that is written field by field, with ascending tags."""

    def __init__(self) -> None:
        self._out = bytearray()

    def number(self, tag: int, value: int) -> "Message":
        """Writes an integer or bool; 0 is left out."""
        if value:
            self._out += varint(tag << 3) + varint(value)
        return self

    def text(self, tag: int, value: str) -> "Message":
        """Writes a string; an empty one is left out."""
        return self._bytes(tag, value.encode()) if value else self

    def message(self, tag: int, value: "Message") -> "Message":
        """Writes a message, also an empty one."""
        return self._bytes(tag, bytes(value._out))

    def numbers(self, tag: int, values: Iterable[int]) -> "Message":
        """Writes a packed column; one without rows is left out."""
        packed = b"".join(map(varint, values))
        return self._bytes(tag, packed) if packed else self

    def signed(self, tag: int, values: Iterable[int]) -> "Message":
        """Writes a packed column of sint64."""
        return self.numbers(tag, (v << 1 if v >= 0 else (-v << 1) - 1 for v in values))

    def _bytes(self, tag: int, value: bytes) -> "Message":
        self._out += varint(tag << 3 | 2) + varint(len(value)) + value
        return self

    def __bytes__(self) -> bytes:
        return bytes(self._out)


def differences(values: Iterable[int]) -> list[int]:
    """Returns the first value, and then how much each is above the one before it."""
    out, last = [], 0
    for v in values:
        out.append(v - last)
        last = v
    return out
