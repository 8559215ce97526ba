// SPDX-License-Identifier: Apache-2.0

package io.pnagent.client;

/** There would be more tokens than the recorder keeps, or a snapshot does not fit into a message. */
public final class LimitException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LimitException(String message) {
        super(message);
    }
}
