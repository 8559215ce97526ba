# SPDX-License-Identifier: Apache-2.0
"""Five orders came in SECONDS ago; two were shipped, and three are stuck because the printer has no paper.

    python3 orders.py nats://127.0.0.1:4222 examples/attach/orders.pnml shop-python [SECONDS]
"""
import signal
import sys
import time

from pnagent import Net, Reason, Source

ends = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, ends)
url, file, name = sys.argv[1:4]
came = time.time() - float(sys.argv[4] if len(sys.argv) > 4 else 0)

with Source(name, url) as source:
    orders = source.add(Net.read(file))
    for number in range(5):
        orders.inject("inbox", f"order-{number}", at=came)
    for number in range(2):
        orders.fire("ship", f"order-{number}")
    for number in range(2, 5):
        orders.wait("inbox", f"order-{number}", "ship", Reason.INCIDENT, what="the printer has no paper")
    source.start()
    signal.sigwait(ends)
