------------------------------ MODULE PairTrace ------------------------------
(* SPDX-License-Identifier: Apache-2.0

   Replays the notifications that a manager has received of a real pair, the
   module PairData, as a behaviour of Pair. What the manager does not see, such
   as conditions and the duty, TLC finds. If it finds no behaviour that sends
   all of them in their order, NotDone holds. Only the primary was killed. *)
EXTENDS Pair, Sequences, PairData

VARIABLE at  \* how many notifications were sent

Due == Trace[at + 1]
Sends == \E s \in Sides : Send(s, <<Due.index, Due.kind>>) /\ book[s][Due.index].cond = Due.cond

\* A condition changes, and an alarm begins or ends, when the next notification needs it; the others can wait.
Begins == (Due.kind = "raise" /\ ~holds[Due.cond] /\ Flip(Due.cond)) \/
          \E s \in Sides : Last(book[s]) + 1 = Due.index /\ Due.kind = "raise" /\ Raise(s, Due.cond)
Ends == (Due.kind = "clear" /\ holds[Due.cond] /\ Flip(Due.cond)) \/
        \E s \in Sides : Due.kind = "clear" /\ Over(s, Due.index)
Hidden == Exchange \/ HandOver \/ (Crash(Primary) \/ Restart(Primary)) \/ \E s \in Sides : Take(s) \/ \E n \in sent[s] : Confirm(s, n)
\* Pages arrive at once: fewer states, and enough to find a behaviour.
Pages == \E s \in Sides : up[s] /\ (fresh[s] # {} \/ mail[s] # Empty)
TraceNext == at < Len(Trace) /\ IF Pages THEN (\E s \in Sides : Share(s) \/ Receive(s)) /\ at' = at
                                         ELSE (Sends /\ at' = at + 1) \/ ((Begins \/ Ends \/ Hidden) /\ at' = at)
TraceSpec == Init /\ at = 0 /\ [][TraceNext]_<<vars, at>>

NotDone == at < Len(Trace)
==============================================================================
