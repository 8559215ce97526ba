// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package agentx

// watchFile returns a channel that never receives: a wait lasts as long as it may.
func watchFile(string) (made <-chan struct{}, end func()) { return nil, func() {} }
