// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package httpserver

import "math"

// descriptors returns how many files and connections the process may have open:
// Windows limits them by memory alone.
func descriptors() int { return math.MaxInt32 }
