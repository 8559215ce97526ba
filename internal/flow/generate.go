// SPDX-License-Identifier: Apache-2.0

package main

//go:generate sh -c "go run . ../../docs/pictures/*.flow"
