// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package collector

import "time"

var started = time.Now()

// threadTime returns the time that passed, where that of a thread is not known.
func threadTime() time.Duration { return time.Since(started) }
