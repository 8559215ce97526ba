// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 3414; only for users that name it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"hash"
)

// authProtocol is an authentication protocol of RFC 3414 (SHA-1) or RFC 7860.
type authProtocol struct {
	name string
	hash func() hash.Hash
	mac  int // octets of a message's digest
}

// authProtocols returns the protocols that a user may have.
func authProtocols() []authProtocol {
	return []authProtocol{{"SHA-256", sha256.New, 24}, {"SHA-512", sha512.New, 48}, {"SHA-384", sha512.New384, 32},
		{"SHA-224", sha256.New224, 16}, {"SHA-1", sha1.New, 12}}
}

// privProtocol is a privacy protocol: AES in CFB mode (RFC 3826).
type privProtocol struct {
	name string
	key  int // octets
}

// privProtocols returns the protocols that a user may have.
func privProtocols() []privProtocol { return []privProtocol{{"AES-128", 16}, {"AES-256", 32}} }

// passwordToKey is the algorithm of RFC 3414 section A.2: the hash of a passphrase
// that is repeated to 1,048,576 octets.
func passwordToKey(newHash func() hash.Hash, passphrase string) []byte {
	const total = 1 << 20
	h := newHash()
	const each = 4 << 10 // octets a call: some hundred calls and not sixteen thousand
	chunk := make([]byte, 0, each+len(passphrase))
	for len(chunk) < each {
		chunk = append(chunk, passphrase...)
	}
	for n := 0; n < total; n += len(chunk) {
		h.Write(chunk[:min(len(chunk), total-n)])
	}
	return h.Sum(nil)
}

// localized returns the key of a user for one engine (RFC 3414 section 2.6).
func localized(newHash func() hash.Hash, key, engineID []byte) []byte {
	h := newHash()
	h.Write(key)
	h.Write(engineID)
	h.Write(key)
	return h.Sum(nil)
}

// extended returns a key of at least n octets. A longer one than the hash gives is
// extended by hashes of it (draft-blumenthal-aes-usm-04 section 3.1.2.1).
func extended(newHash func() hash.Hash, key []byte, n int) []byte {
	for len(key) < n {
		h := newHash()
		h.Write(key)
		key = h.Sum(key)
	}
	return key[:n]
}

// The bits of msgFlags (RFC 3412 section 6.4).
const (
	flagAuth       = 1
	flagPriv       = 2
	flagReportable = 4
)

// keys are those of a user for one authoritative engine. They belong to one
// goroutine.
type keys struct {
	user   string
	mac    hash.Hash // HMAC; nil without authentication
	digest int       // octets of it in a message
	block  cipher.Block
	salt   uint64 // of the last encrypted message
	sum    []byte
	stream [aes.BlockSize]byte
}

// level returns the msgFlags of the user's messages.
func (k *keys) level() byte {
	switch {
	case k.mac == nil:
		return 0
	case k.block == nil:
		return flagAuth
	}
	return flagAuth | flagPriv
}

// sign returns the digest of a message, as if the octets from at that hold it
// were zero. It is valid until the next call.
func (k *keys) sign(message []byte, at int) []byte {
	var zero [sha512.Size]byte
	k.mac.Reset()
	k.mac.Write(message[:at])
	k.mac.Write(zero[:k.digest])
	k.mac.Write(message[at+k.digest:])
	k.sum = k.mac.Sum(k.sum[:0])
	return k.sum[:k.digest]
}

// verify reports whether the octets of a message from at are its digest.
func (k *keys) verify(message, digest []byte, at int) bool {
	return len(digest) == k.digest && subtle.ConstantTimeCompare(k.sign(message, at), digest) == 1
}

// crypt encrypts or decrypts data in place (RFC 3826 section 3.1).
func (k *keys) crypt(data []byte, boots, seconds uint32, salt []byte, decrypt bool) {
	iv := binary.BigEndian.AppendUint32(k.sum[:0], boots)
	iv = binary.BigEndian.AppendUint32(iv, seconds)
	k.sum = append(iv, salt...)
	iv = k.sum[:aes.BlockSize]
	for len(data) > 0 {
		k.block.Encrypt(k.stream[:], iv)
		n := min(len(data), aes.BlockSize)
		if decrypt {
			copy(iv, data[:n])
		}
		subtle.XORBytes(data[:n], data[:n], k.stream[:n])
		if !decrypt {
			copy(iv, data[:n])
		}
		data = data[n:]
	}
}

// nextSalt returns a salt that no other message of the key has.
func (k *keys) nextSalt() [8]byte {
	k.salt++
	return [8]byte(binary.BigEndian.AppendUint64(nil, k.salt))
}

// randomSalt returns the first salt, so that two processes have different ones.
func randomSalt() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}

// keys returns the keys of the user for an engine.
func (u *User) keys(engineID []byte) *keys {
	k := &keys{user: u.Name, digest: u.auth.mac, salt: randomSalt()}
	k.mac = hmac.New(u.auth.hash, localized(u.auth.hash, u.authKey, engineID))
	if u.priv.key > 0 {
		key := extended(u.auth.hash, localized(u.auth.hash, u.privKey, engineID), u.priv.key)
		k.block, _ = aes.NewCipher(key) // fails only for other lengths
	}
	return k
}
