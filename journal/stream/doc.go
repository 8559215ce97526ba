// SPDX-License-Identifier: Apache-2.0

// Package stream is a log on NATS JetStream.
package stream
