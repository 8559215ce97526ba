----------------------------- MODULE PartsTrace -----------------------------
(* SPDX-License-Identifier: Apache-2.0

   Replays what real processes have left in the logs of two parts, the module
   TraceData, as a behaviour of Parts. What logs do not have, such as sessions,
   TLC finds. If it finds no behaviour that writes both logs, NotDone holds. *)
EXTENDS Parts, TraceData

Left(p) == Len(log[p]) < Len(Trace[p])
Due(p) == Trace[p][Len(log[p]) + 1]
Write(m, p) ==
  CASE Due(p).kind = "own" -> Create(m, p) \/ Open(m, p) \/ TakeOver(m, p) \/ (role[m][p] # "standby" /\ EndSession(m, p))
    [] Due(p).kind = "in" -> p = "up" /\ Enter(m, Due(p).token)
    [] Due(p).kind = "out" -> p = "up" /\ Leave(m, Due(p).token)
    [] OTHER -> p = "down" /\ (Arrive(m) \/ Move(m) \/ Rewind(m))
TraceNext == \E p \in Parts : Left(p) /\ LET m == Due(p).by IN Deliver(m, p) \/ (fly[m][p] = <<>> /\ Write(m, p))
TraceSpec == Init /\ [][TraceNext]_vars

Matches == \A m \in Procs, p \in Parts : fly[m][p] # <<>> => (Left(p) /\ Head(fly[m][p]).c = Due(p))
NotDone == \E p \in Parts : log[p] # Trace[p]
=============================================================================
