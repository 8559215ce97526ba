// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// Engine is the identity of this process in SNMPv3 (RFC 3411 section 3.1): its
// snmpEngineID, and snmpEngineBoots with the time of the last start.
type Engine struct {
	id    []byte
	boots uint32
	start time.Time
}

// maxBoots is the last value of snmpEngineBoots, with which no message is in the
// time window (RFC 3414 section 2.2.2).
const maxBoots = math.MaxInt32

// OpenEngine returns the engine that the file keeps, started once more at now, and
// makes the file if there is none: a line with the id in hexadecimal and the number of
// starts. Without a name the id is another one at each start. The enterprise is the private
// enterprise number in a new id.
func OpenEngine(name string, enterprise uint32, now time.Time) (*Engine, error) {
	e := &Engine{start: now}
	if name != "" {
		text, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read the SNMP engine: %w", err)
		default:
			if e.id, e.boots, err = parseEngine(string(text)); err != nil {
				return nil, fmt.Errorf("read the SNMP engine: %s:1:1: %w", name, err)
			}
		}
	}
	if e.id == nil {
		e.id = binary.BigEndian.AppendUint32(nil, 1<<31|enterprise)
		e.id = append(e.id, 5) // octets of the implementation's choice
		e.id = append(e.id, make([]byte, 12)...)
		_, _ = rand.Read(e.id[5:]) // never fails
	}
	if e.boots < maxBoots {
		e.boots++
	}
	if name == "" {
		return e, nil
	}
	if _, err := atomicfile.Update(name, fmt.Appendf(nil, "%x %d\n", e.id, e.boots), 0o600); err != nil {
		return nil, fmt.Errorf("keep the SNMP engine: %w", err)
	}
	return e, nil
}

func parseEngine(text string) (id []byte, boots uint32, err error) {
	first, second, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	id, err = hex.DecodeString(first)
	if err == nil {
		var n uint64
		n, err = strconv.ParseUint(second, 10, 31)
		boots = uint32(n)
	}
	if err != nil || len(id) < 5 || len(id) > 32 {
		return nil, 0, errors.New("expected an engine id of 5 to 32 octets in hexadecimal, a blank, and the number of starts")
	}
	return id, boots, nil
}

// ID returns snmpEngineID, 5 to 32 octets, which the caller must not change.
func (e *Engine) ID() []byte { return e.id }

// seconds returns snmpEngineTime at now.
func (e *Engine) seconds(now time.Time) uint32 {
	return uint32(min(max(now.Sub(e.start)/time.Second, 0), math.MaxInt32))
}

// timeWindow is how far the time of a message may be from that of the engine, in
// seconds (RFC 3414 section 2.2.3).
const timeWindow = 150

// inWindow reports whether the boots and the time of a message are those of the
// engine at now.
func (e *Engine) inWindow(boots, seconds int32, now time.Time) bool {
	diff := int64(seconds) - int64(e.seconds(now))
	return e.boots < maxBoots && boots == int32(e.boots) && -timeWindow <= diff && diff <= timeWindow
}
