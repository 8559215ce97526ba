// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"fmt"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// ReadDefinition reads the net of a definition from its PNML. The error is
// telemetry.WrongDigest if the digest of the bytes is another one, or
// BadDefinition if the PNML is invalid or does not hold the net.
func ReadDefinition(def telemetry.Definition, lim pnml.Limits) (*petri.Net, error) {
	if got := telemetry.Digest(def.PNML); got != def.Digest {
		return nil, fmt.Errorf("%w: %s, expected %s", telemetry.WrongDigest, got, def.Digest)
	}
	file, err := pnml.Read(bytes.NewReader(def.PNML), "definition "+def.Digest, lim)
	if err != nil {
		return nil, fmt.Errorf("%w of net %q: %w", BadDefinition, def.Net, err)
	}
	for _, n := range file.Nets {
		if n.ID == def.Net {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %d nets in definition %s; expected one with the id %q", BadDefinition, len(file.Nets), def.Digest, def.Net)
}
