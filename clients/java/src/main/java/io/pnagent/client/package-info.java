// SPDX-License-Identifier: Apache-2.0

/** Publishes where the tokens of a Petri net are to pnagent: see {@link io.pnagent.client.Source}. */
package io.pnagent.client;
