// SPDX-License-Identifier: Apache-2.0

// Package workers puts goroutines around package pool.
//
// A [Dispatcher] is a [pool.Queue] with one owner, who serves, and any number
// of producers, who post. It serves in exactly the order in which the queue
// would serve if the producers could push into it.
//
// [Dedicated] serves with a goroutine for each priority. It keeps the order
// inside a priority only.
//
// A [Pool] is a [pool.Pool] that several workers play and any number of
// producers add to. The work of a channel is played in order and by one worker
// at a time. A full channel makes [Pool.Add] wait and [Pool.TryAdd] fail.
//
// Clocks are passed in and give microseconds since the Unix epoch.
package workers
