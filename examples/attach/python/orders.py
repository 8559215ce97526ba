#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small engine that publishes to pnagent where its tokens are.

    python3 orders.py nats://127.0.0.1:4222 ../orders.pnml shop-python [SECONDS]

Five orders came in SECONDS ago (0 unless given); two were shipped, three are
stuck. It uses nothing but a socket: NATS' text protocol and the JSON lane of
the wire (telemetry/README.md). Ctrl-C ends it with a bye.
"""
import hashlib
import json
import re
import select
import signal
import socket
import sys
import time

INTERVAL = 1.0  # seconds between snapshots


def token(name):
    """One subject token of a name: telemetry/README.md, Subjects."""
    plain = re.compile(rb"[A-Za-z0-9_-]")
    out = "".join(chr(b) if plain.match(bytes([b])) else "=%02X" % b for b in name.encode())
    return out or "="


class Nats:
    """As much of NATS' protocol as an engine needs."""

    def __init__(self, url, subjects):
        host, port = url.removeprefix("nats://").rsplit(":", 1)
        self.sock = socket.create_connection((host, int(port)), timeout=5)
        self.buf = b""
        self.line()  # INFO {...}
        options = {"verbose": False, "headers": True, "name": "orders.py", "lang": "python", "version": "1"}
        self.send(b"CONNECT " + json.dumps(options).encode() + b"\r\n")
        for sid, subject in enumerate(subjects, 1):
            self.send(b"SUB %s %d\r\n" % (subject.encode(), sid))

    def send(self, text):
        self.sock.sendall(text)

    def read(self):
        more = self.sock.recv(65536)
        if not more:
            raise ConnectionError("the server hung up")
        self.buf += more

    def line(self):
        while b"\r\n" not in self.buf:
            self.read()
        line, self.buf = self.buf.split(b"\r\n", 1)
        return line.decode()

    def skip(self, n):
        while len(self.buf) < n + 2:
            self.read()
        self.buf = self.buf[n + 2:]

    def publish(self, subject, payload, header=b""):
        if not header:
            self.send(b"PUB %s %d\r\n%s\r\n" % (subject.encode(), len(payload), payload))
            return
        header = b"NATS/1.0\r\n" + header + b"\r\n\r\n"
        sizes = (subject.encode(), len(header), len(header) + len(payload))
        self.send(b"HPUB %s %d %d\r\n" % sizes + header + payload + b"\r\n")

    def messages(self, until):
        """Yields (subject, reply) of what comes, until a time; answers pings."""
        while True:
            if b"\r\n" not in self.buf:
                wait = until - time.monotonic()
                if wait <= 0 or not select.select([self.sock], [], [], wait)[0]:
                    return
                self.read()
                continue
            words = self.line().split(" ")
            if words[0] == "PING":
                self.send(b"PONG\r\n")
            elif words[0] == "-ERR":
                raise ConnectionError(" ".join(words))
            elif words[0] == "MSG":  # MSG subject sid [reply] size
                self.skip(int(words[-1]))
                yield words[1], words[3] if len(words) == 5 else ""
            elif words[0] == "HMSG":  # HMSG subject sid [reply] size-of-header size
                self.skip(int(words[-1]))
                yield words[1], words[3] if len(words) == 6 else ""


class Engine:
    """Places and transitions are in the order of the file: inbox, shipped; ship."""

    def __init__(self, ago):
        came = int((time.time() - ago) * 1e6)
        self.tokens = [[came] * 3, [int(time.time() * 1e6)] * 2]  # injection times, by place
        self.arrivals, self.departures = [5, 2], [2, 0]
        self.firings, self.last_firing = [2], [self.tokens[1][0]]

    def rows(self):
        places = {
            "tokens": [len(t) for t in self.tokens],
            "arrivals": self.arrivals,
            "departures": self.departures,
            "oldest": [min(t, default=0) for t in self.tokens],
            "last_injection": [max(t, default=0) for t in self.tokens],
            "injected_s": [sum(t) // 1_000_000 for t in self.tokens],
            "injected_us": [sum(t) % 1_000_000 for t in self.tokens],
        }
        return {"places": places, "transitions": {"firings": self.firings, "last_firing": self.last_firing}}


def main():
    url, path, source = sys.argv[1:4]
    engine = Engine(float(sys.argv[4]) if len(sys.argv) > 4 else 0)
    pnml = open(path, "rb").read()
    net, digest = "orders", hashlib.sha256(pnml).hexdigest()[:32]
    epoch, seq, over = int(time.time() * 1e6), 0, []
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: over.append(True))

    def snapshot(**more):
        head = {"source": source, "epoch": epoch, "seq": seq, "sent_at": int(time.time() * 1e6),
                "interval": int(INTERVAL * 1e6), "net": net, "digest": digest, "full": True}
        return json.dumps({**head, **engine.rows(), **more}).encode()

    name = ".%s.%s" % (token(net), token(source))
    definition = "petrinet.v1.net.%s.%s" % (token(net), digest)
    ask = ["petrinet.v1.hello", "petrinet.v1.full" + name]
    lane = b"Content-Type: application/json"
    while not over:
        try:
            nats = Nats(url, ask + [definition])
            while not over:
                seq += 1  # a lost message is a gap, and no harm: counters are cumulative
                nats.publish("petrinet.v1.snapshot" + name, snapshot(), lane)
                for subject, reply in nats.messages(time.monotonic() + INTERVAL):
                    if subject == definition and reply:
                        nats.publish(reply, pnml)
                    elif subject in ask:
                        break  # the next snapshot is a full one, as all of them are
                    if over:
                        break
            seq += 1
            nats.publish("petrinet.v1.bye" + name, snapshot(bye=True), lane)
            nats.send(b"PING\r\n")
            while nats.line() != "PONG":  # the server has it
                pass
        except OSError as err:
            print("orders.py: %s; trying again" % err, file=sys.stderr)
            time.sleep(1)


main()
