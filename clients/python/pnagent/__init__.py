# SPDX-License-Identifier: Apache-2.0
"""Publishes where the tokens of your Petri net are to pnagent.

    net = Net("orders").place("inbox").place("shipped").transition("ship")
    net.arc("inbox", "ship").arc("ship", "shipped")
    with Source("shop-1", "nats://127.0.0.1:4222") as source:
        orders = source.add(net)
        source.start()
        orders.inject("inbox", "order-7")
        orders.fire("ship", "order-7")
"""
from .net import Net
from .recorder import LimitError, Reason, Recorder
from .source import Source

__all__ = ["LimitError", "Net", "Reason", "Recorder", "Source"]
