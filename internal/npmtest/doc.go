// SPDX-License-Identifier: Apache-2.0

// Package npmtest installs packages of npm that tests with the tag peers need.
package npmtest
