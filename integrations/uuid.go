// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"crypto/sha256"
	"encoding/hex"
)

// uuid returns the identifier of a part of a Zabbix template: 32 digits with the version and
// the variant of a random UUID (RFC 9562, section 5.4), as Zabbix demands. It is made from the
// name of the part, so a later import finds the part again.
func uuid(name string) string {
	sum := sha256.Sum256([]byte("pnagent " + name))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return hex.EncodeToString(id)
}
