// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"
)

// MaxName is the largest length of the name of a source, net, region or instance, in bytes.
const MaxName = 255

// DigestLen is the length of a digest in characters.
const DigestLen = 32

// Digest returns the digest of a net's definition: lower-case hex of the first
// 16 bytes of SHA-256 of its PNML.
func Digest(pnml []byte) string {
	sum := sha256.Sum256(pnml)
	return hex.EncodeToString(sum[:DigestLen/2])
}

// CheckName returns an error (BadName) unless the name is valid on the wire: 1
// to MaxName bytes of UTF-8 without control characters.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: empty", BadName)
	}
	return checkText(name, MaxName)
}

// checkText is CheckName for a text that may be empty and has at most most bytes.
func checkText(text string, most int) error {
	if len(text) > most {
		return fmt.Errorf("%w: %d bytes, of at most %d", BadName, len(text), most)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: %q is not UTF-8", BadName, text)
	}
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c == 0x7f || (c == 0xc2 && text[i+1] < 0xa0) { // C0, DEL, C1
			return fmt.Errorf("%w: control character in %q", BadName, text)
		}
	}
	return nil
}

func checkDigest(digest string) error {
	if len(digest) != DigestLen {
		return fmt.Errorf("%w: digest of %d characters, of %d", BadName, len(digest), DigestLen)
	}
	for i := range len(digest) {
		if c := digest[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("%w: digest %q is not lower-case hex", BadName, digest)
		}
	}
	return nil
}
