// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

/** Why a token does not move. The order is that of the wire, from 1. */
public enum Reason {
    ENABLED, RUNNING, DELAYED, GUARDED, MISSING, INHIBITED, MANUAL, DEAD, INCIDENT, NOWORKER
}
