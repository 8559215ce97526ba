# SPDX-License-Identifier: Apache-2.0
"""What the package writes, without a server. The Go test clients/clients_test.go runs it with a sidecar."""
import json
import os
import pathlib

import pytest

from pnagent import LimitError, Net, Reason, Recorder
from pnagent.recorder import Recorder as _Recorder
from pnagent.source import Pace
from pnagent.tokens import Ladder
from pnagent.wire import differences, token, varint

TESTDATA = pathlib.Path(__file__).parents[2] / "testdata"


class Clock:
    def __init__(self, at):
        self.at = at

    def __call__(self):
        return self.at


def orders():
    net = Net("orders", "Orders").place("inbox", "In <box>").transition("ship").place("shipped")
    return net.arc("inbox", "ship").arc("ship", "shipped", 2)


def scenario():
    """The same in all languages: testdata/orders.pb is what it writes."""
    clock = Clock(1_800_000_000)
    recorder = _Recorder(orders(), clock=clock)
    for i in range(7):
        recorder.inject("inbox", f"order-{i}", at=1_799_999_000 + 100 * i)
    recorder.inject("inbox", "größe 7", tokens=2)
    clock.at += 30
    recorder.fire("ship", "order-0")
    recorder.fire("ship", "order-1")
    recorder.eject("shipped", "order-0")
    recorder.fail("ship")
    recorder.retry("ship")
    recorder.cancel("ship")
    recorder.wait("inbox", "order-2", "ship", Reason.INCIDENT, "printer is out of paper", until=1_800_000_060)
    clock.at += 1
    return recorder


def test_the_messages_are_those_of_testdata():
    recorder = scenario()
    whole = recorder.snapshots("shop 1", 1_799_999_999_000_000, 1_000_000, 1 << 20)
    parts = recorder.snapshots("shop 1", 1_799_999_999_000_000, 1_000_000, 400, bye=True)
    assert len(whole) == 1 and len(parts) > 1 and max(map(len, parts)) <= 400
    text = "".join(f"{m.hex()}\n" for m in whole + parts)
    if os.environ.get("UPDATE"):
        (TESTDATA / "orders.hex").write_text(text)
        (TESTDATA / "orders.pnml").write_bytes(recorder.net.pnml)
    assert text == (TESTDATA / "orders.hex").read_text()
    assert recorder.net.pnml == (TESTDATA / "orders.pnml").read_bytes()


def test_a_net_that_is_read_is_the_net_that_was_written():
    net = Net.read(TESTDATA / "orders.pnml")
    assert (net.id, net.places, net.transitions) == ("orders", {"inbox": 0, "shipped": 1}, {"ship": 0})
    assert (net.inputs, net.outputs) == ({"ship": {"inbox": 1}}, {"ship": {"shipped": 2}})
    assert net.digest == orders().digest


@pytest.mark.parametrize("wrong", [lambda n: n.place("inbox"), lambda n: n.place(""), lambda n: n.arc("inbox", "shipped"), lambda n: (n.pnml, n.place("x"))])
def test_a_net_is_checked(wrong):
    with pytest.raises(ValueError):
        wrong(orders())


def test_nothing_changes_where_tokens_are_missing():
    recorder = Recorder(orders())
    recorder.inject("inbox", "a")
    for wrong in (lambda: recorder.fire("ship", "b"), lambda: recorder.eject("inbox", "a", 2), lambda: recorder.wait("shipped", "a", "ship", Reason.DEAD)):
        with pytest.raises(ValueError):
            wrong()
    assert (recorder.tokens("inbox"), recorder.tokens("shipped")) == (1, 0)


def test_tokens_are_bounded():
    recorder = Recorder(orders(), max_tokens=2)
    recorder.inject("inbox", "a", 2)
    for more in (lambda: recorder.inject("inbox", "b"), lambda: recorder.fire("ship", "a")):
        with pytest.raises(LimitError):
            more()
    recorder.eject("inbox", "a")
    recorder.fire("ship", "a")
    assert recorder.tokens("shipped") == 2


def test_what_left_is_forgotten():
    recorder = Recorder(orders())
    recorder.inject("inbox", "stays")
    for i in range(10_000):
        recorder.inject("inbox", str(i))
        recorder.eject("inbox", str(i))
    place = recorder._places[0]
    assert len(place._queue) < 100 and len(place.of) == 1 and sum(place.ages.slots.values()) == 1


def test_a_ladder_counts_every_token_while_its_slots_widen():
    ladder, at = Ladder(), 1_800_000_000_000_000
    times = [at + 7_000_003 * i for i in range(2000)]
    for i, t in enumerate(times):
        ladder.cut(t)
        ladder.add(t, 1)
        if i >= 50:
            ladder.add(times[i - 50], -1)
    slots = ladder.cut(times[-1])
    assert sum(n for _, n in slots) == 50 and len(slots) <= 50


def test_the_longest_wish_of_a_collector_is_followed_for_three_minutes():
    clock = Clock(0)
    pace = Pace(1, clock)
    for text in (b"", b"{", b"[]", b'{"collector":"a"}', b'{"collector":"a","interval":31000000}'):
        pace.wish(text)
    assert pace.interval() == 1
    pace.wish(json.dumps({"collector": "a", "interval": 5_000_000}).encode())
    pace.wish(json.dumps({"collector": "b", "interval": 9_000_000}).encode())
    assert pace.interval() == 9
    pace.wish(json.dumps({"collector": "b", "interval": 0}).encode())
    assert pace.interval() == 5
    clock.at = 181
    assert pace.interval() == 1


def test_subject_tokens():
    assert [token(t) for t in ("größe 7", "", "a-_Z9.")] == ["gr=C3=B6=C3=9Fe=207", "=", "a-_Z9=2E"]
    assert varint(300) == b"\xac\x02" and differences([5, 3, 9]) == [5, -2, 6]
