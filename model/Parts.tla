------------------------------- MODULE Parts -------------------------------
(* SPDX-License-Identifier: Apache-2.0

   Parts of one net over logs of JetStream: ownership, fencing, crossings and
   cursors, as docs/design/regions.md describes them and engine/region,
   engine/journal/stream and engine/part.go do them. Tokens enter the part "up"
   by requests of clients, leave it one by one, and arrive in the part "down".

   The mends of four old faults are constants: with FALSE the fault is back. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  Procs,       \* processes that may play the parts
  Tokens,      \* each enters once
  Parts,       \* {"up"} or {"up", "down"}
  Window,      \* commits on their way at once
  MaxEpoch, MaxCrashes, MaxSessions, MaxLosses, MaxRemovals, MaxMoves,  \* bounds of the state space
  Batch,       \* the commits of a pipeline are one batch: a rejected one ends it
  Identity,    \* a cursor has the mark of the log, and is compared with it
  Compare,     \* a writer whose connection was lost compares the log with its last commit before the next one
  Remember     \* a log without a commit that is known is neither begun nor played

VARIABLES
  log,      \* by part: the commits of its stream, in order
  exists,   \* by part: there is a stream
  gen,      \* by part: how often the log has gone back; it makes marks unique, as times do in real commits
  alive,    \* by process
  role,     \* by process and part: "away", "standby", "taking", "owner", "halted"
  copy,     \* by process and part: the commits that it has read or played
  sure,     \* by process and part: how many of them are confirmed; only for an owner
  fly,      \* by process and part: its commits that are on their way to the server
  batch,    \* by process and part: the server accepts what is on its way
  known,    \* by process and part: the last commit that an owner has published as confirmed
  heard,    \* by process: those whose beats it has received since its start
  acked,    \* tokens whose clients have an answer
  emptied,  \* a part began with its initial marking although a running process knew a commit of it
  crashes, sessions, losses, removals
vars == <<log, exists, gen, alive, role, copy, sure, fly, batch, known, heard, acked, emptied, crashes, sessions, losses, removals>>

None == "none"
NoMark == <<0, 0, None>>
Start == [pos |-> 0, mark |-> NoMark]
Unknown == [epoch |-> 0, pos |-> 0, mark |-> NoMark]

(* A commit. kind is "own", "in" (a token enters), "out" (it leaves for the part
   below), "arrive" (it has arrived from above), "move" (only the cursor moves) or
   "back" (the log above is read again). link is the mark of the log before it. *)
Mark(c) == <<c.gen, c.epoch, c.by>>
EndMark(s) == IF s = <<>> THEN NoMark ELSE Mark(s[Len(s)])
Point(s, n) == [pos |-> n, mark |-> EndMark(SubSeq(s, 1, n))]
Commit(m, p, kind, epoch, token, cursor) ==
  [gen |-> gen[p], kind |-> kind, epoch |-> epoch, by |-> m, token |-> token, cursor |-> cursor, link |-> EndMark(copy[m][p])]

\* What is compared of a log with what was read of it up to a point.
Same(mark1, mark2) == ~Identity \/ mark1 = mark2
Fits(s, at) == at.pos <= Len(s) /\ Same(EndMark(SubSeq(s, 1, at.pos)), at.mark)

\* The fold of a log.
Has(s, kind, t) == \E i \in DOMAIN s : s[i].kind = kind /\ s[i].token = t
Epoch(s) == IF s = <<>> THEN 0 ELSE s[Len(s)].epoch
Reads(s) == {i \in DOMAIN s : s[i].kind \in {"arrive", "move", "back"}}
Max(S) == CHOOSE n \in S : \A k \in S : k <= n
Cursor(s) == IF Reads(s) = {} THEN Start ELSE s[Max(Reads(s))].cursor

----------------------------------------------------------------------------
Init ==
  /\ log = [p \in Parts |-> <<>>] /\ exists = [p \in Parts |-> FALSE] /\ gen = [p \in Parts |-> 0]
  /\ alive = [m \in Procs |-> TRUE]
  /\ role = [m \in Procs |-> [p \in Parts |-> "away"]]
  /\ copy = [m \in Procs |-> [p \in Parts |-> <<>>]]
  /\ sure = [m \in Procs |-> [p \in Parts |-> 0]]
  /\ fly = [m \in Procs |-> [p \in Parts |-> <<>>]]
  /\ batch = [m \in Procs |-> [p \in Parts |-> TRUE]]
  /\ known = [m \in Procs |-> [p \in Parts |-> Unknown]]
  /\ heard = [m \in Procs |-> {}]
  /\ acked = {} /\ emptied = FALSE
  /\ crashes = 0 /\ sessions = 0 /\ losses = 0 /\ removals = 0

Later(a, b) == a.epoch > b.epoch \/ (a.epoch = b.epoch /\ a.pos > b.pos)
Newer(a, b) == IF Later(a, b) THEN a ELSE b
Confirmed(m, p) == [epoch |-> Epoch(SubSeq(copy[m][p], 1, sure[m][p])), pos |-> sure[m][p], mark |-> EndMark(SubSeq(copy[m][p], 1, sure[m][p]))]
Owns(m, p) == role[m][p] \in {"owner", "halted"}
Published(n, p) == IF Owns(n, p) THEN Newer(Confirmed(n, p), known[n][p]) ELSE known[n][p]

\* What others know matters only where a log can go back.
Shared == MaxRemovals > 0 \/ (Remember /\ MaxLosses > 0)

\* Every process publishes what it owns, and what it knows. All that run receive it.
Beat(n) ==
  /\ alive[n] /\ Shared
  /\ known' = [m \in Procs |-> [p \in Parts |-> IF alive[m] THEN Newer(Published(n, p), known[m][p]) ELSE known[m][p]]]
  /\ heard' = [m \in Procs |-> IF alive[m] THEN heard[m] \cup {n} ELSE heard[m]]
  /\ UNCHANGED <<log, exists, gen, alive, role, copy, sure, fly, batch, acked, emptied, crashes, sessions, losses, removals>>

Informed(m) == \A n \in Procs : alive[n] => n \in heard[m]
MayBegin(m, p) == (Shared /\ Remember) => (Informed(m) /\ known[m][p] = Unknown)
Whole(m, p) == (Shared /\ Remember) => Fits(log[p], known[m][p])
AnyKnows(p) == \E n \in Procs : alive[n] /\ known[n][p] # Unknown

\* The stream is created, or the log of an empty one begins, only if nobody knows a commit of it.
Create(m, p) ==
  /\ alive[m] /\ role[m][p] = "away" /\ ~exists[p] /\ MayBegin(m, p)
  /\ exists' = [exists EXCEPT ![p] = TRUE]
  /\ emptied' = (emptied \/ AnyKnows(p))
  /\ UNCHANGED <<log, gen, alive, role, copy, sure, fly, batch, known, heard, acked, crashes, sessions, losses, removals>>

\* A session opens the log and reads it. What it had sent before is ahead of that on its connection.
Open(m, p) ==
  /\ alive[m] /\ role[m][p] = "away" /\ exists[p] /\ fly[m][p] = <<>>
  /\ IF log[p] = <<>> THEN MayBegin(m, p) ELSE Whole(m, p)
  /\ role' = [role EXCEPT ![m][p] = "standby"]
  /\ copy' = [copy EXCEPT ![m][p] = log[p]]
  /\ batch' = [batch EXCEPT ![m][p] = TRUE]
  /\ UNCHANGED <<log, exists, gen, alive, sure, fly, known, heard, acked, emptied, crashes, sessions, losses, removals>>

\* A standby reads the next commit. Without its mark before it the log is not the one that was read: see EndSession.
Follow(m, p) ==
  LET n == Len(copy[m][p]) IN
  /\ role[m][p] = "standby" /\ n < Len(log[p]) /\ Same(log[p][n+1].link, EndMark(copy[m][p]))
  /\ copy' = [copy EXCEPT ![m][p] = Append(@, log[p][n+1])]
  /\ UNCHANGED <<log, exists, gen, alive, role, sure, fly, batch, known, heard, acked, emptied, crashes, sessions, losses, removals>>

\* Any error ends a session: an answer that is missing, a rejection, a standby that others do not need. What is on its way stays there.
Quit(m, p, cause) ==
  /\ alive[m] /\ role[m][p] # "away" /\ cause
  /\ role' = [role EXCEPT ![m][p] = "away"]
  /\ known' = [known EXCEPT ![m][p] = IF Shared THEN Published(m, p) ELSE @]
  /\ copy' = [copy EXCEPT ![m][p] = <<>>]
  /\ sure' = [sure EXCEPT ![m][p] = 0]
  /\ UNCHANGED <<log, exists, gen, alive, fly, batch, heard, acked, emptied, crashes, losses, removals>>

EndSession(m, p) == Quit(m, p, sessions < MaxSessions) /\ sessions' = sessions + 1
\* The owner hears that the server has ended its batch, or finds its log gone back.
Stopped(m, p) == ~batch[m][p] \/ ~exists[p] \/ ~Fits(log[p], Point(copy[m][p], sure[m][p]))
\* A standby finds that the log is not the one that it has read.
Differs(m, p) == role[m][p] = "standby" /\ (~exists[p] \/ ~Fits(log[p], Point(copy[m][p], Len(copy[m][p]))))
Notice(m, p) ==
  /\ Quit(m, p, IF role[m][p] = "standby" THEN Differs(m, p) ELSE Stopped(m, p))
  /\ UNCHANGED sessions

Send(m, p, c) ==
  /\ Len(fly[m][p]) < Window
  /\ (Compare /\ losses > 0 /\ fly[m][p] = <<>>) => Fits(log[p], Point(copy[m][p], Len(copy[m][p])))
  /\ fly' = [fly EXCEPT ![m][p] = Append(@, [after |-> Len(copy[m][p]), c |-> c])]
  /\ copy' = [copy EXCEPT ![m][p] = Append(@, c)]

\* A standby takes the part over: for safety it needs no reason. It compares what it has read with the log first.
TakeOver(m, p) ==
  /\ role[m][p] = "standby" /\ Epoch(copy[m][p]) < MaxEpoch
  /\ exists[p] /\ Fits(log[p], Point(copy[m][p], Len(copy[m][p]))) /\ Whole(m, p)
  /\ copy[m][p] = <<>> => MayBegin(m, p)
  /\ Send(m, p, Commit(m, p, "own", Epoch(copy[m][p]) + 1, None, Start))
  /\ role' = [role EXCEPT ![m][p] = "taking"]
  /\ UNCHANGED <<log, exists, gen, alive, sure, batch, known, heard, acked, emptied, crashes, sessions, losses, removals>>

\* An owner plays on what it has in memory, before the server has answered.
Play(m, p, kind, t, cursor) ==
  /\ role[m][p] = "owner"
  /\ Send(m, p, Commit(m, p, kind, Epoch(copy[m][p]), t, cursor))
  /\ UNCHANGED <<log, exists, gen, alive, role, sure, batch, known, heard, acked, emptied, crashes, sessions, losses, removals>>

Enter(m, t) == ~Has(copy[m]["up"], "in", t) /\ Play(m, "up", "in", t, Start)
Leave(m, t) == Has(copy[m]["up"], "in", t) /\ ~Has(copy[m]["up"], "out", t) /\ Play(m, "up", "out", t, Start)

\* Only what is confirmed is answered.
Answer(m, t) ==
  /\ MaxLosses + MaxRemovals = 0
  /\ role[m]["up"] = "owner" /\ t \notin acked /\ Has(SubSeq(copy[m]["up"], 1, sure[m]["up"]), "in", t)
  /\ acked' = acked \cup {t}
  /\ UNCHANGED <<log, exists, gen, alive, role, copy, sure, fly, batch, known, heard, emptied, crashes, sessions, losses, removals>>

----------------------------------------------------------------------------
(* Crossings. *)
CursorFits(m) == Fits(log["up"], Cursor(copy[m]["down"]))
Next1(m) == Cursor(copy[m]["down"]).pos + 1
Outs(from) == {i \in DOMAIN log["up"] : i >= from /\ log["up"][i].kind = "out"}

\* The next token arrives with the cursor that follows it.
Arrive(m) ==
  /\ role[m]["down"] = "owner" /\ exists["up"] /\ CursorFits(m) /\ Outs(Next1(m)) # {}
  /\ LET i == CHOOSE k \in Outs(Next1(m)) : \A j \in Outs(Next1(m)) : k <= j
     IN Play(m, "down", "arrive", log["up"][i].token, Point(log["up"], i))

\* After a while the cursor moves without a token.
Moves(m) == Cardinality({i \in DOMAIN copy[m]["down"] : copy[m]["down"][i].kind = "move"})
Move(m) ==
  /\ role[m]["down"] = "owner" /\ exists["up"] /\ CursorFits(m) /\ Next1(m) <= Len(log["up"])
  /\ log["up"][Next1(m)].kind # "out" /\ Moves(m) < MaxMoves
  /\ Play(m, "down", "move", None, Point(log["up"], Next1(m)))

\* What the owner of the part below knows that it has read, and when tokens arrived.
Points(s) == {Start} \cup {s[i].cursor : i \in Reads(s)}
Arrived(s) == {Start} \cup {s[i].cursor : i \in {k \in DOMAIN s : s[k].kind = "arrive" /\ s[k].cursor.pos <= Cursor(s).pos}}
Common(m) == {c \in Points(copy[m]["down"]) : c.pos <= Cursor(copy[m]["down"]).pos /\ Fits(log["up"], c)}
Last(S) == CHOOSE c \in S : \A d \in S : d.pos <= c.pos

\* The log above has lost commits that were read: the part halts, or reads it again if no token came with them.
Safe(m) == Common(m) # {} /\ Last(Common(m)).pos >= Last(Arrived(copy[m]["down"])).pos
Halt(m) ==
  /\ role[m]["down"] = "owner" /\ ~CursorFits(m) /\ ~Safe(m)
  /\ role' = [role EXCEPT ![m]["down"] = "halted"]
  /\ UNCHANGED <<log, exists, gen, alive, copy, sure, fly, batch, known, heard, acked, emptied, crashes, sessions, losses, removals>>
Rewind(m) ==
  /\ exists["up"] /\ ~CursorFits(m) /\ Safe(m)
  /\ Play(m, "down", "back", None, Last(Common(m)))

----------------------------------------------------------------------------
(* The server. *)
Deliver(m, p) ==
  LET x == Head(fly[m][p])
      fits == exists[p] /\ Len(log[p]) = x.after
      takes == fits /\ (batch[m][p] \/ ~Batch)
  IN
  /\ fly[m][p] # <<>>
  /\ fly' = [fly EXCEPT ![m][p] = Tail(@)]
  /\ log' = IF takes THEN [log EXCEPT ![p] = Append(@, x.c)] ELSE log
  /\ batch' = [batch EXCEPT ![m][p] = @ /\ takes]
  /\ IF takes /\ batch[m][p] /\ role[m][p] \in {"taking", "owner"}
     THEN /\ sure' = [sure EXCEPT ![m][p] = x.after + 1]
          /\ role' = [role EXCEPT ![m][p] = "owner"]
     ELSE UNCHANGED <<sure, role>>
  /\ emptied' = (emptied \/ (takes /\ x.after = 0 /\ AnyKnows(p)))
  /\ known' = IF Shared /\ takes /\ batch[m][p] /\ role[m][p] = "taking" \* a new owner publishes that at once
              THEN [n \in Procs |-> [known[n] EXCEPT ![p] = IF alive[n] THEN Newer([epoch |-> x.c.epoch, pos |-> x.after + 1, mark |-> Mark(x.c)], @) ELSE @]]
              ELSE known
  /\ UNCHANGED <<exists, gen, alive, copy, heard, acked, crashes, sessions, losses, removals>>

\* A connection is lost with what is on its way; the owner finds it cut.
Cut(m, p) ==
  /\ fly[m][p] # <<>> /\ sessions < MaxSessions
  /\ sessions' = sessions + 1
  /\ fly' = [fly EXCEPT ![m][p] = <<>>]
  /\ batch' = [batch EXCEPT ![m][p] = FALSE]
  /\ UNCHANGED <<log, exists, gen, alive, role, copy, sure, known, heard, acked, emptied, crashes, losses, removals>>

\* A server with one replica loses its power, and with it the end of a log and every connection.
Lose(p) ==
  /\ exists[p] /\ losses < MaxLosses
  /\ \E n \in 0..(Len(log[p]) - 1) : log' = [log EXCEPT ![p] = SubSeq(@, 1, n)]
  /\ gen' = [gen EXCEPT ![p] = @ + 1]
  /\ losses' = losses + 1
  /\ batch' = [m \in Procs |-> [q \in Parts |-> batch[m][q] /\ fly[m][q] = <<>>]]
  /\ fly' = [m \in Procs |-> [q \in Parts |-> <<>>]]
  /\ UNCHANGED <<exists, alive, role, copy, sure, known, heard, acked, emptied, crashes, sessions, removals>>

\* A log is removed. What is on its way to it is lost with it: see docs/design/model.md.
Remove(p) ==
  /\ exists[p] /\ removals < MaxRemovals
  /\ exists' = [exists EXCEPT ![p] = FALSE]
  /\ log' = [log EXCEPT ![p] = <<>>]
  /\ gen' = [gen EXCEPT ![p] = @ + 1]
  /\ removals' = removals + 1
  /\ batch' = [m \in Procs |-> [batch[m] EXCEPT ![p] = @ /\ fly[m][p] = <<>>]]
  /\ fly' = [m \in Procs |-> [fly[m] EXCEPT ![p] = <<>>]]
  /\ UNCHANGED <<alive, role, copy, sure, known, heard, acked, emptied, crashes, sessions, losses>>

Crash(m) ==
  /\ alive[m] /\ crashes < MaxCrashes
  /\ crashes' = crashes + 1
  /\ alive' = [alive EXCEPT ![m] = FALSE]
  /\ role' = [role EXCEPT ![m] = [p \in Parts |-> "away"]]
  /\ copy' = [copy EXCEPT ![m] = [p \in Parts |-> <<>>]]
  /\ sure' = [sure EXCEPT ![m] = [p \in Parts |-> 0]]
  /\ known' = [known EXCEPT ![m] = [p \in Parts |-> Unknown]]
  /\ heard' = [n \in Procs |-> IF n = m THEN {} ELSE heard[n] \ {m}]
  /\ UNCHANGED <<log, exists, gen, fly, batch, acked, emptied, sessions, losses, removals>>

Restart(m) ==
  /\ ~alive[m] /\ \A p \in Parts : fly[m][p] = <<>>
  /\ alive' = [alive EXCEPT ![m] = TRUE]
  /\ UNCHANGED <<log, exists, gen, role, copy, sure, fly, batch, known, heard, acked, emptied, crashes, sessions, losses, removals>>

Cross(m) == "down" \in Parts /\ (Arrive(m) \/ Move(m) \/ Halt(m) \/ Rewind(m))
Next ==
  \/ \E m \in Procs : Beat(m) \/ Crash(m) \/ Restart(m) \/ Cross(m)
  \/ \E m \in Procs, t \in Tokens : Enter(m, t) \/ Leave(m, t) \/ Answer(m, t)
  \/ \E m \in Procs, p \in Parts :
       Create(m, p) \/ Open(m, p) \/ Follow(m, p) \/ EndSession(m, p) \/ Notice(m, p) \/ TakeOver(m, p) \/ Deliver(m, p) \/ Cut(m, p)
  \/ \E p \in Parts : Lose(p) \/ Remove(p)
Symmetry == Permutations(Procs) \cup Permutations(Tokens)
Safety == Init /\ [][Next]_vars

----------------------------------------------------------------------------
(* Invariants. *)

\* From the commit of an owner on, nothing of another one is stored.
OneOwnerWrites == \A p \in Parts : \A i \in 2..Len(log[p]) :
  log[p][i].kind # "own" => (log[p][i].epoch = log[p][i-1].epoch /\ log[p][i].by = log[p][i-1].by)
EpochsRise == \A p \in Parts : \A i \in 2..Len(log[p]) : log[p][i].kind = "own" => log[p][i].epoch > log[p][i-1].epoch

\* Each commit follows the one that its writer had read.
NoGap == \A p \in Parts : \A i \in DOMAIN log[p] : log[p][i].link = EndMark(SubSeq(log[p], 1, i-1))

Acknowledged == (losses = 0 /\ removals = 0) => \A t \in acked : Has(log["up"], "in", t)

NoEmptyStart == ~emptied

Count(s, kind, t) == Cardinality({i \in DOMAIN s : s[i].kind = kind /\ s[i].token = t})
NotDoubled ==
  \A t \in Tokens :
    /\ Count(log["up"], "in", t) <= 1 /\ Count(log["up"], "out", t) <= 1
    /\ "down" \in Parts => Count(log["down"], "arrive", t) <= 1

(* A part has all tokens that left the part above with commits up to its
   cursor, if the cursor is one of the log as it is. *)
NotLost == "down" \in Parts =>
  \A i \in Reads(log["down"]) :
    LET at == log["down"][i].cursor IN
    (log["down"][i].kind # "back" /\ at.pos <= Len(log["up"]) /\ EndMark(SubSeq(log["up"], 1, at.pos)) = at.mark) =>
      \A j \in 1..at.pos : log["up"][j].kind = "out" => Has(SubSeq(log["down"], 1, i), "arrive", log["up"][j].token)

----------------------------------------------------------------------------
(* Liveness: the processes that run go on, and faults end. A part is taken over
   only from an owner that has ended, because MaxEpoch bounds the others too. *)
Unowned(p) == \A n \in Procs : role[n][p] \notin {"taking", "owner", "halted"}
Right == \A m \in Procs, p \in Parts : (role[m][p] # "taking" /\ role'[m][p] = "taking") => Unowned(p)
Fair ==
  /\ \A m \in Procs : WF_vars(Beat(m)) /\ WF_vars(Restart(m)) /\ WF_vars("down" \in Parts /\ (Arrive(m) \/ Rewind(m)))
  /\ \A m \in Procs, p \in Parts :
       WF_vars(Create(m, p)) /\ WF_vars(Open(m, p)) /\ WF_vars(Follow(m, p)) /\ WF_vars(Notice(m, p)) /\ WF_vars(Deliver(m, p))
  /\ \A p \in Parts : WF_vars(Unowned(p) /\ \E m \in Procs : TakeOver(m, p))
  /\ \A t \in Tokens : WF_vars(\E m \in Procs : Leave(m, t))
Spec == Init /\ [][Next /\ Right]_vars /\ Fair
Arrives == "down" \in Parts => \A t \in Tokens : Has(log["up"], "in", t) ~> Has(log["down"], "arrive", t)
=============================================================================
