-------------------------------- MODULE Pair --------------------------------
(* SPDX-License-Identifier: Apache-2.0

   A pair of sidecars that notify one manager: the duty, the indices of alarms,
   their raises and their clears, as docs/design/pairs.md describes them and
   collector/alarm and collector/standby do them.

   The mends of faults are constants: with FALSE the fault is back. *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Primary, Standby,  \* the two sidecars
  Conds,             \* conditions, of each of which there is one alarm at a time
  MaxIndex, MaxFlips, MaxCrashes, MaxCuts, MaxStorms, MaxLosses, \* bounds of the state space
  Keep,              \* a clear whose raise was sent waits while too many notifications are due
  Evidence,          \* what leaves the sums without evidence clears nothing
  Yield              \* an index that two alarms have is that of the sidecar on duty

VARIABLES
  holds,     \* by condition: it holds
  reports,   \* the source of the conditions reports; else nothing is known of them
  up,        \* by sidecar: its process runs
  linked,    \* the two receive each other's messages
  duty,      \* by sidecar: it is on duty
  book,      \* by sidecar: of each index, the condition and the phase of its alarm
  disk,      \* by sidecar: the book in its state file
  fresh,     \* by sidecar: indices that it has not shared since they changed
  mail,      \* by sidecar: pages that are on their way to it, merged
  due,       \* by sidecar: notifications that it is to send
  sent,      \* by sidecar: notifications that it has sent, and whose phase does not say so yet
  raised,    \* index and condition of the raises that the manager has
  cleared,   \* indices of the clears that it has
  quiet,     \* indices whose raise was suppressed in a storm; another notification asks the manager to read the list
  twice,     \* a notification came twice although nothing was killed or cut off
  blind,     \* an alarm was cleared although nothing showed that its condition was over
  flips, crashes, cuts, storms, losses
vars == <<holds, reports, up, linked, duty, book, disk, fresh, mail, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

Sides == {Primary, Standby}
Other(s) == IF s = Primary THEN Standby ELSE Primary
Indices == 1..MaxIndex
None == "none"

\* The phases of an alarm. They only grow.
Raising == 1
Raised == 2
Unsent == 3
Clearing == 4
Cleared == 5
Open(e) == e.phase \in {Raising, Raised}
NoAlarm == [cond |-> None, phase |-> 0]
Empty == [i \in Indices |-> NoAlarm]

\* Of each alarm the later phase counts. An index that two alarms have stays with the one in this book, unless that yields.
Merge(b, page, yields) ==
  [i \in Indices |-> CASE b[i].phase = 0 -> page[i]
                       [] page[i].phase > b[i].phase /\ page[i].cond = b[i].cond -> page[i]
                       [] page[i].phase >= b[i].phase /\ page[i].cond # b[i].cond /\ yields -> page[i]
                       [] OTHER -> b[i]]
Yields(s) == Yield /\ ~duty[s]
Used(b) == {i \in Indices : b[i].phase > 0}
Last(b) == IF Used(b) = {} THEN 0 ELSE CHOOSE i \in Used(b) : \A k \in Used(b) : k <= i
Has(b, c) == \E i \in Indices : b[i].cond = c /\ Open(b[i])
Later(b, i, phase) == [b EXCEPT ![i].phase = phase]
\* What is sent again of alarms whose notifications another process had begun.
Begun(b) == {<<i, "raise">> : i \in {k \in Used(b) : b[k].phase \in {Raising, Unsent}}} \cup
            {<<i, "clear">> : i \in {k \in Used(b) : b[k].phase \in {Unsent, Clearing}}}

Init ==
  /\ holds = [c \in Conds |-> FALSE] /\ reports = TRUE /\ linked = TRUE
  /\ up = [s \in Sides |-> TRUE] /\ duty = [s \in Sides |-> s = Primary]
  /\ book = [s \in Sides |-> Empty] /\ disk = [s \in Sides |-> Empty] /\ mail = [s \in Sides |-> Empty]
  /\ fresh = [s \in Sides |-> {}] /\ due = [s \in Sides |-> {}] /\ sent = [s \in Sides |-> {}]
  /\ raised = {} /\ cleared = {} /\ quiet = {} /\ twice = FALSE /\ blind = FALSE
  /\ flips = 0 /\ crashes = 0 /\ cuts = 0 /\ storms = 0 /\ losses = 0

----------------------------------------------------------------------------
(* What a sidecar on duty decides. The step writes the state file. *)
Raise(s, c) ==
  /\ up[s] /\ duty[s] /\ reports /\ holds[c] /\ ~Has(book[s], c)
  /\ \E i \in Indices :
       /\ i = Last(book[s]) + 1
       /\ book' = [book EXCEPT ![s][i] = [cond |-> c, phase |-> Raising]]
       /\ fresh' = [fresh EXCEPT ![s] = @ \cup {i}]
       /\ due' = [due EXCEPT ![s] = @ \cup {<<i, "raise">>}]
  /\ disk' = [disk EXCEPT ![s] = book'[s]]
  /\ UNCHANGED <<holds, reports, up, linked, duty, mail, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

End(s, i, grounds) ==
  /\ book' = [book EXCEPT ![s] = Later(@, i, IF @[i].phase = Raising THEN Unsent ELSE Clearing)]
  /\ fresh' = [fresh EXCEPT ![s] = @ \cup {i}]
  /\ due' = [due EXCEPT ![s] = @ \cup {<<i, "clear">>}]
  /\ disk' = [disk EXCEPT ![s] = book'[s]]
  /\ blind' = (blind \/ ~grounds)
  /\ UNCHANGED <<holds, reports, up, linked, duty, mail, sent, raised, cleared, quiet, twice, flips, crashes, cuts, storms, losses>>

Over(s, i) ==
  /\ up[s] /\ duty[s] /\ Open(book[s][i])
  /\ (reports /\ ~holds[book[s][i].cond]) \/ (~Evidence /\ ~reports)
  /\ End(s, i, reports)

\* Two sidecars that were cut off from each other gave one alarm two indices: the smaller one stays.
Unify(s, i) ==
  /\ up[s] /\ duty[s] /\ linked /\ book[s][i].phase = Raised
  /\ \E k \in 1..(i-1) : Open(book[s][k]) /\ book[s][k].cond = book[s][i].cond
  /\ End(s, i, TRUE)

\* Too many notifications are due. A raise is suppressed, and so is its clear if it is still due; a clear whose raise was sent waits.
Suppress(s, n) ==
  /\ up[s] /\ duty[s] /\ n \in due[s] /\ storms < MaxStorms
  /\ n[2] = "clear" => (n[1] \in quiet \/ ~Keep)
  /\ <<n[1], "raise">> \notin due[s] \/ n[2] = "raise"
  /\ storms' = storms + 1
  /\ due' = [due EXCEPT ![s] = @ \ {n}]
  /\ quiet' = IF n[2] = "raise" THEN quiet \cup {n[1]} ELSE quiet
  /\ sent' = [sent EXCEPT ![s] = @ \cup {n}]   \* it is confirmed as if it was sent
  /\ UNCHANGED <<holds, reports, up, linked, duty, book, disk, fresh, mail, raised, cleared, twice, blind, flips, crashes, cuts, losses>>

Share(s) ==
  /\ up[s] /\ fresh[s] # {}
  /\ fresh' = [fresh EXCEPT ![s] = {}]
  /\ mail' = IF linked /\ up[Other(s)]
             THEN [mail EXCEPT ![Other(s)] = Merge([i \in Indices |-> IF i \in fresh[s] THEN book[s][i] ELSE NoAlarm], @, FALSE)]
             ELSE mail
  /\ UNCHANGED <<holds, reports, up, linked, duty, book, disk, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

\* A notification is sent. Those of one alarm stay in order.
Send(s, n) ==
  /\ up[s] /\ n \in due[s] /\ fresh[s] = {}
  /\ n[2] = "clear" => <<n[1], "raise">> \notin due[s]
  /\ due' = [due EXCEPT ![s] = @ \ {n}]
  /\ sent' = [sent EXCEPT ![s] = @ \cup {n}]
  /\ LET again == IF n[2] = "raise" THEN \E c \in Conds : <<n[1], c>> \in raised ELSE n[1] \in cleared
     IN twice' = (twice \/ (again /\ crashes = 0 /\ cuts = 0))
  /\ IF n[2] = "raise" THEN raised' = raised \cup {<<n[1], book[s][n[1]].cond>>} /\ UNCHANGED cleared
                       ELSE cleared' = cleared \cup {n[1]} /\ UNCHANGED raised
  /\ UNCHANGED <<holds, reports, up, linked, duty, book, disk, fresh, mail, quiet, blind, flips, crashes, cuts, storms, losses>>

Confirm(s, n) ==
  LET phase == book[s][n[1]].phase IN
  /\ up[s] /\ n \in sent[s]
  /\ sent' = [sent EXCEPT ![s] = @ \ {n}]
  /\ book' = [book EXCEPT ![s] = Later(@, n[1], IF n[2] = "clear" THEN Cleared ELSE IF phase = Raising THEN Raised ELSE IF phase = Unsent THEN Clearing ELSE phase)]
  /\ fresh' = [fresh EXCEPT ![s] = @ \cup {n[1]}]
  /\ UNCHANGED <<holds, reports, up, linked, duty, disk, mail, due, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

Save(s) ==
  /\ up[s] /\ disk[s] # book[s]
  /\ disk' = [disk EXCEPT ![s] = book[s]]
  /\ UNCHANGED <<holds, reports, up, linked, duty, book, fresh, mail, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

----------------------------------------------------------------------------
(* The two sidecars. *)
Receive(s) ==
  /\ up[s] /\ mail[s] # Empty
  /\ book' = [book EXCEPT ![s] = Merge(@, mail[s], Yields(s))]
  /\ mail' = [mail EXCEPT ![s] = Empty]
  /\ due' = IF duty[s] THEN [due EXCEPT ![s] = (@ \cup (Begun(book'[s]) \ Begun(book[s]))) \ sent[s]] ELSE due
  /\ UNCHANGED <<holds, reports, up, linked, duty, disk, fresh, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

\* The digests differ for longer than a change takes: all alarms are exchanged.
Quiet == \A s \in Sides : fresh[s] = {} /\ mail[s] = Empty /\ due[s] = {} /\ sent[s] = {}
Differ == \E s \in Sides : Merge(book[s], book[Other(s)], Yields(s)) # book[s]
Exchange ==
  /\ linked /\ Quiet /\ Differ /\ \A s \in Sides : up[s]
  /\ mail' = [s \in Sides |-> book[Other(s)]]
  /\ UNCHANGED <<holds, reports, up, linked, duty, book, disk, fresh, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

\* The duty is taken from one that is gone for some seconds, or has released it. What it has sent before has arrived by then.
Take(s) ==
  /\ up[s] /\ ~duty[s] /\ mail[s] = Empty
  /\ ~linked \/ ~up[Other(s)] \/ ~duty[Other(s)]
  /\ (linked /\ up[Other(s)]) => (s = Primary \/ ~up[Primary])
  /\ duty' = [duty EXCEPT ![s] = TRUE]
  /\ due' = [due EXCEPT ![s] = Begun(book[s])]
  /\ UNCHANGED <<holds, reports, up, linked, book, disk, fresh, mail, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

\* The standby hands over to the primary once that has the same alarms, or has asked in vain for long; of two on duty that hear of each other the standby yields.
Leave(s) == /\ duty' = [duty EXCEPT ![s] = FALSE] /\ due' = [due EXCEPT ![s] = {}]
HandOver ==
  /\ linked /\ up[Primary] /\ up[Standby] /\ duty[Standby]
  /\ duty[Primary] \/ (mail[Primary] = Empty /\ fresh[Standby] = {} /\ (book[Primary] = book[Standby] \/ (Quiet /\ ~Differ)))
  /\ Leave(Standby)
  /\ UNCHANGED <<holds, reports, up, linked, book, disk, fresh, mail, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

----------------------------------------------------------------------------
(* The world. *)
Flip(c) ==
  /\ flips < MaxFlips /\ reports
  /\ flips' = flips + 1
  /\ holds' = [holds EXCEPT ![c] = ~@]
  /\ UNCHANGED <<reports, up, linked, duty, book, disk, fresh, mail, due, sent, raised, cleared, quiet, twice, blind, crashes, cuts, storms, losses>>

\* The source is forgotten, and its rows leave the sums; or it is back.
Silence ==
  /\ losses < MaxLosses \/ ~reports
  /\ reports' = ~reports
  /\ losses' = IF reports THEN losses + 1 ELSE losses
  /\ UNCHANGED <<holds, up, linked, duty, book, disk, fresh, mail, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms>>

Crash(s) ==
  /\ up[s] /\ crashes < MaxCrashes
  /\ crashes' = crashes + 1
  /\ up' = [up EXCEPT ![s] = FALSE] /\ duty' = [duty EXCEPT ![s] = FALSE]
  /\ book' = [book EXCEPT ![s] = Empty] /\ mail' = [mail EXCEPT ![s] = Empty]
  /\ fresh' = [fresh EXCEPT ![s] = {}] /\ due' = [due EXCEPT ![s] = {}] /\ sent' = [sent EXCEPT ![s] = {}]
  /\ UNCHANGED <<holds, reports, linked, disk, raised, cleared, quiet, twice, blind, flips, cuts, storms, losses>>

Restart(s) ==
  /\ ~up[s]
  /\ up' = [up EXCEPT ![s] = TRUE] /\ book' = [book EXCEPT ![s] = disk[s]]
  /\ UNCHANGED <<holds, reports, linked, duty, disk, fresh, mail, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

Cut ==
  /\ linked /\ cuts < MaxCuts
  /\ cuts' = cuts + 1 /\ linked' = FALSE
  /\ mail' = [s \in Sides |-> Empty]
  /\ UNCHANGED <<holds, reports, up, duty, book, disk, fresh, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, storms, losses>>

Heal ==
  /\ ~linked /\ linked' = TRUE
  /\ UNCHANGED <<holds, reports, up, duty, book, disk, fresh, mail, due, sent, raised, cleared, quiet, twice, blind, flips, crashes, cuts, storms, losses>>

Next ==
  \/ \E s \in Sides : Share(s) \/ Save(s) \/ Receive(s) \/ Take(s) \/ Crash(s) \/ Restart(s)
  \/ \E s \in Sides, c \in Conds : Raise(s, c)
  \/ \E s \in Sides, i \in Indices : Over(s, i) \/ Unify(s, i)
  \/ \E s \in Sides, n \in Indices \X {"raise", "clear"} : Suppress(s, n) \/ Send(s, n) \/ Confirm(s, n)
  \/ \E c \in Conds : Flip(c)
  \/ Exchange \/ HandOver \/ Silence \/ Cut \/ Heal
Symmetry == Permutations(Conds)
Safety == Init /\ [][Next]_vars

----------------------------------------------------------------------------
ClearAfterRaise == \A i \in cleared : i \in quiet \/ \E c \in Conds : <<i, c>> \in raised
OneAlarmAnIndex == \A x, y \in raised : x[1] = y[1] => x = y
NoClearWithoutEvidence == ~blind
OnceEach == ~twice
OneOnDuty == (cuts = 0) => ~(duty[Primary] /\ duty[Standby])

Fair ==
  /\ \A s \in Sides : WF_vars(Share(s)) /\ WF_vars(Receive(s)) /\ WF_vars(Take(s)) /\ WF_vars(Restart(s))
  /\ \A s \in Sides, c \in Conds : WF_vars(Raise(s, c))
  /\ \A s \in Sides, i \in Indices : WF_vars(Over(s, i)) /\ WF_vars(Unify(s, i))
  /\ \A s \in Sides, n \in Indices \X {"raise", "clear"} : WF_vars(Send(s, n)) /\ WF_vars(Confirm(s, n))
  /\ WF_vars(Exchange) /\ WF_vars(HandOver) /\ WF_vars(Heal) /\ WF_vars(~reports /\ Silence)
Spec == Safety /\ Fair
EachRaiseHasItsClear == \A i \in Indices, c \in Conds : <<i, c>> \in raised ~> (i \in cleared \/ holds[c])
OneAgain == <>[](duty[Primary] /\ ~duty[Standby])
=============================================================================
