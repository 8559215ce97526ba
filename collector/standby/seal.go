// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/standby/roster"
)

const (
	// sealHeader is the NATS header of a message with its seal. Members without keys
	// and earlier versions ignore it.
	sealHeader = "Pnagent-Seal"
	// sealVersion begins a seal, and is part of what its code covers.
	sealVersion = "1"
	// maxSeal bounds a seal, in bytes: MaxPeers challenges and the other fields.
	maxSeal = 2048
	// challengeBytes is the length of a challenge before it is written in hex.
	challengeBytes = 8
	// challengeEvery is the time after which a member sends another challenge.
	challengeEvery = time.Second
	// Fresh is how long a challenge of a member can be answered. It is longer than
	// Silent, so that a member that is not gone has a challenge that counts.
	Fresh = roster.Isolated
)

// seal is the authentication of a message: a code of HMAC-SHA-256 over the subject, the
// payload and these fields. On the wire it is a line of text with a space between two fields:
//
//	version id sequence challenge answers code
//
// The answers are separated by commas, or are "-" if there is none.
type seal struct {
	id        string   // of the sender, see Message
	sequence  uint64   // grows with each message of the sender
	challenge string   // of the sender
	answers   []string // the newest challenges of the other members
	code      []byte
}

// text returns the seal without its code.
func (s *seal) text() string {
	answers := "-"
	if len(s.answers) > 0 {
		answers = strings.Join(s.answers, ",")
	}
	return strings.Join([]string{sealVersion, s.id, strconv.FormatUint(s.sequence, 10), s.challenge, answers}, " ")
}

// parseSeal reads the header of a message. Every error is BadSeal.
func parseSeal(text string) (s seal, err error) {
	f := strings.Split(text, " ")
	if len(text) > maxSeal || len(f) != 6 || f[0] != sealVersion {
		return s, roster.BadSeal
	}
	if s.id = f[1]; s.id == "" || len(s.id) > roster.MaxID || !roster.IsPlain(s.id) || !isChallenge(f[3]) {
		return s, roster.BadSeal
	}
	if s.sequence, err = strconv.ParseUint(f[2], 10, 64); err != nil {
		return s, roster.BadSeal
	}
	s.challenge = f[3]
	if f[4] != "-" {
		s.answers = strings.Split(f[4], ",")
	}
	for _, answer := range s.answers {
		if !isChallenge(answer) {
			return s, roster.BadSeal
		}
	}
	if s.code, err = hex.DecodeString(f[5]); err != nil || len(s.code) != sha256.Size || s.text() != text[:strings.LastIndexByte(text, ' ')] {
		return s, roster.BadSeal
	}
	return s, nil
}

func isChallenge(text string) bool { return len(text) == 2*challengeBytes && roster.IsPlain(text) }

// codeOf returns the code of a message. No field that precedes the payload has a newline.
func codeOf(key []byte, subject, text string, payload []byte) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "pnagent standby\n%s\n%s\n", subject, text)
	h.Write(payload) // never fails
	return h.Sum(nil)
}

// sealer signs the messages of a member, and verifies those that it receives. Without
// keys it does neither. It is safe for concurrent use.
type sealer struct {
	keys atomic.Pointer[Keys]
	self string

	order      sync.Mutex // sequence numbers are published in order
	mu         sync.Mutex // guards the fields below
	sequence   uint64
	echo       uint64      // the sequence number of the last own message received
	challenges []challenge // own, the newest last
	senders    map[string]*sender
}

// challenge is a random text. An answer with it was sent after it.
type challenge struct {
	text string
	at   time.Time // when it was first sent
}

// sender is another member with the key.
type sender struct {
	sequence  uint64 // the largest of a message with a valid code
	challenge string // the newest
	at        time.Time
	proven    bool // it has answered a challenge
}

func newSealer(keys Keys, self string) *sealer {
	s := &sealer{self: self, senders: map[string]*sender{}}
	s.keys.Store(&keys)
	return s
}

// publish signs and publishes a message.
func (s *sealer) publish(conn *nats.Conn, subject string, payload []byte) error {
	keys := *s.keys.Load()
	if len(keys) == 0 {
		return conn.Publish(subject, payload)
	}
	s.order.Lock()
	defer s.order.Unlock()
	return conn.PublishMsg(&nats.Msg{Subject: subject, Data: payload, Header: nats.Header{sealHeader: {s.sign(keys[0], subject, payload, time.Now())}}})
}

// sign returns the header of the next message.
func (s *sealer) sign(key []byte, subject string, payload []byte, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	own := seal{id: s.self, sequence: s.sequence, challenge: s.challengeAt(now)}
	s.prune(now)
	for _, other := range s.senders {
		own.answers = append(own.answers, other.challenge)
	}
	slices.Sort(own.answers)
	text := own.text()
	return text + " " + hex.EncodeToString(codeOf(key, subject, text, payload))
}

// challengeAt returns the challenge to send now.
func (s *sealer) challengeAt(now time.Time) string {
	if n := len(s.challenges); n == 0 || now.Sub(s.challenges[n-1].at) >= challengeEvery {
		random := make([]byte, challengeBytes)
		_, _ = rand.Read(random) // never fails
		s.challenges = append(s.challenges, challenge{hex.EncodeToString(random), now})
		s.challenges = slices.DeleteFunc(s.challenges, func(c challenge) bool { return now.Sub(c.at) >= Fresh })
	}
	return s.challenges[len(s.challenges)-1].text
}

// prune removes the senders whose messages all answer challenges that no longer count,
// so that a replay of them is not fresh.
func (s *sealer) prune(now time.Time) {
	for id, other := range s.senders {
		if now.Sub(other.at) > Fresh {
			delete(s.senders, id)
		}
	}
}

// open verifies a message that came now. The error is a Reason.
func (s *sealer) open(msg *nats.Msg, now time.Time) error {
	keys := *s.keys.Load()
	if len(keys) == 0 {
		return nil
	}
	header := msg.Header.Get(sealHeader)
	if header == "" {
		return roster.Unsigned
	}
	got, err := parseSeal(header)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(keys, func(key []byte) bool {
		return hmac.Equal(got.code, codeOf(key, msg.Subject, got.text(), msg.Data))
	}) {
		return roster.BadSeal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got.id == s.self {
		if got.sequence <= s.echo {
			return roster.Replayed
		}
		s.echo = got.sequence
		return nil
	}
	return s.admit(&got, now)
}

// admit takes the seal of another member, whose code is valid.
func (s *sealer) admit(got *seal, now time.Time) error {
	other := s.senders[got.id]
	if other == nil {
		if other = s.room(now); other == nil {
			return roster.TooMany
		}
		s.senders[got.id] = other
	}
	if got.sequence <= other.sequence {
		return roster.Replayed
	}
	other.sequence, other.challenge, other.at = got.sequence, got.challenge, now
	for _, c := range s.challenges {
		if now.Sub(c.at) < Fresh && slices.Contains(got.answers, c.text) {
			other.proven = true
			return nil
		}
	}
	return roster.Unproven
}

// room returns a new sender, or nil if MaxPeers have proven themselves. Of the others
// the oldest gives way: messages of earlier processes may be recorded and replayed.
func (s *sealer) room(now time.Time) *sender {
	s.prune(now)
	if len(s.senders) >= roster.MaxPeers {
		oldest := ""
		for id, other := range s.senders {
			if !other.proven && (oldest == "" || other.at.Before(s.senders[oldest].at)) {
				oldest = id
			}
		}
		if oldest == "" {
			return nil
		}
		delete(s.senders, oldest)
	}
	return &sender{}
}
