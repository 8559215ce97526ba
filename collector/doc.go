// SPDX-License-Identifier: Apache-2.0

// Package collector hears every source of a subject space and adds them up:
// one immutable [View] a second, which all faces read.
//
// It has two layers. [Merger] is the pure core: snapshots, definitions and the
// time go in, Views and questions ([Ask]) come out; no I/O, no clock, no
// goroutine. The files in testdata/stories tell what it does, step by step, and
// are its tests. [Collector] is the shell: it subscribes, decodes, asks, and
// swaps the View through an atomic pointer.
//
// # What counts
//
// Counters are cumulative since a source's epoch. What a process reached is
// added to the base of its net when the next one is heard, so a sum never falls
// and nothing counts twice. Tokens, and all that is "now", are those of the
// last snapshot of each source. A message is taken as a whole or rejected as a
// whole, by one of [Reasons]; a rejected one leaves nothing but its count.
//
// Queues come with every message. What a priority had served stays counted
// when it is not named any more, as with a source that is gone.
//
// A sparse snapshot changes the rows that it names. After a gap the others may
// be old: they stay, and a full snapshot is asked for. Before everything was
// said once, nothing of a process is shown; full is either one message or
// sparse ones that name every row between them.
//
// Who was slowest, [stats.Slowest], is told by a source once, as of since its last
// message. A View names the slowest of the minute that runs and the two before
// it, by the collector's clock and over all sources, those that went included.
//
// # Regions
//
// A region's counters that go on from owner to owner ([Source].Since) are in one
// place: the next owner's rows replace those of the owner before it, in one step,
// once all of them are known. Until then nothing leaves the sums; rows of an
// owner that speaks for another region by now wait for the next one for as long
// as a silent source is waited for. A next owner that has counted less than the
// one before it counts from there on, and has a [Source].Setbacks: a log lost
// something. Counters of a region that began at another time are others, and
// are added.
//
// # Two processes of one source
//
// Of several processes the one of the latest epoch counts while it is heard. One
// that is refused because of it counts again when the other one said bye or is
// silent for three intervals, and goes on exactly where it was: the rows of the
// last 16 processes of a source are told apart by their epochs, and what a process
// counted is kept beside the sums until it is not heard for Rules.ForgetAfter, or
// for a minute after its bye. An epoch more than a minute ahead of the collector's
// clock is refused while another process lives. Of two processes that have the same
// region one after the other, the one of the higher fence counts, whatever the epochs.
//
// A source that is heard while its messages are refused is [Refused], not stale nor
// gone: its last rows stay. It is told by a telemetry.Notice.
// [Source].Unread says of one that nothing of it was ever shown.
//
// # When a source falls silent
//
// Silence is counted while the collector can hear: up to the last moment of which
// the server has proved, by an answer to a ping, that all that was published
// before was passed on, and of which all that came is taken in. Time in which
// the connection was away or the process was stopped is no silence of any source;
// after it a source has its three intervals, and the time in which its own
// connection comes back. [View].Deaf says that what is shown is from before that.
//
// After three intervals it is [Stale]: its tokens stay and grow older. After
// Rules.ForgetAfter, after its bye, or when a snapshot with a higher fence takes
// its region, it is [Gone]: its tokens leave the sums, its counters stay. A
// source that is heard but cannot be read is as good as silent: for three
// intervals its former rows stand in, then it is [Undefined] and only counters
// stay. A source that is gone comes back with its next full snapshot.
//
// The rows of gone sources are kept, so that one that returns in the same epoch
// goes on exactly where it stopped. What they may take is bounded by
// Limits.GoneRows; beyond it the one that is gone for longest keeps no more
// than its name and epochs. If that one returns in the same epoch it counts
// from there on: what it did while it was away is lost, but never counted
// twice. Of those, Limits.Past are remembered; only a source forgotten even
// there could count twice, and it would have to return in the same epoch after
// as many others went. All rows together are bounded by Limits.AllRows.
//
// A collector that starts cannot hear a source that is silent by then. It takes what
// another collector of the same subject space has of it: see [Merger.Silent]. The
// source is then as silent as it is there, and goes on here where it stopped.
//
// # Clocks
//
// A time of a source is moved by (received - sent_at), the least of the last
// few messages; a difference of less than a quarter of a second is taken for
// the network's. So an age is what the source says it is, plus the time since,
// whatever its clock shows, and a View holds times by the collector's clock
// only. A clock that is more than a minute off is reported in
// [Source].SkewBeyond and not believed: no time of its own is shown anywhere,
// only differences to the sent_at of the same message are used. A message whose
// sent_at is nonsense therefore has wrong ages until the next one, and changes
// nothing else.
//
// # Definitions
//
// Rows come without names, in the order of a definition that is known by its
// digest. An unknown digest is asked for, after one second, two, four and up to
// a minute apart; meanwhile the last full snapshot waits. [Net].Def is the union
// of a net's definitions, in which no row ever moves, so sources with different
// digests add up by id.
//
// # Shares
//
// A collector can take a [Share] of the sources, for one that hears all may be
// too slow: so do others the rest. NATS' own deterministic partition divides
// them, so where the server maps subjects to shares only the own messages come;
// elsewhere all come and those of others are passed over before they are
// decoded. Each is of one share in both cases.
//
// # Trees
//
// A View can be published as one source of another subject space: give
// [Net.Published] and [View.FillRows] to a telemetry.Publisher, and
// [Collector.Oldest] and [Collector.Instance] for who asks about tokens. The root
// of such a tree shows what it would if it heard every engine itself. Package
// uplink does that.
//
// # State
//
// Config.Keep is given, before each View is shown, what a next process needs to go
// on from it (Config.State): the counters of each net, and of each source all that
// it had said last, and what its older processes had counted. The next process has each source say that once more, then
// takes off the net's counters what the sources have of them, so the sum is what
// it was whatever can be taken of the sources. Running engines then go on in their
// epoch.
//
// States of many sources are large, so they are made as seldom as keeps them at 4
// MiB a second, and in pieces of 128 KiB, between which messages are taken: a source
// is saved before a message changes it. In between Keep is given the counters alone that a View shows
// (Config.Shown). The next process shows no less than those: what running engines
// did since the state is in their counters, and comes on top once it is more.
// Package collector/counts keeps both in files.
//
// Until a source is heard again, or is stale, [Net].Recalled says that what is
// shown of it is what it said to the process before.
//
// A source that left the share stays in the sums as counters alone. One
// that is not in the state counts from where it is first heard if it may have
// been another collector's: see Rules.CountedBefore.
package collector
