// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// The bounds of the texts of a Model together, in bytes: as they are, and gzipped. A definition with
// a Model of that size fits one message of NATS.
const (
	MaxModelText   = 4 << 20
	MaxModelPacked = 256 << 10
)

// ModelBPMN is the Kind of a Model that is BPMN 2.0 files.
const ModelBPMN = "bpmn"

// between separates the texts of a Model. No document of XML has it.
const between = "\x00"

// Model is the document that a net was made from, so that a process which has only the
// net can show the document. If parts of the net were made from other documents, these are
// there too. The token game ignores it. A Model is never changed; the nets of one file share
// it.
type Model struct {
	Kind    string
	Packed  []byte // the texts in UTF-8, separated by NUL, gzipped, at most MaxModelPacked bytes; nil if they are missing
	Text    []byte // instead of Packed: the same texts before Pack
	Missing string // why there is no text; "" if there is
}

// NewModel returns the Model of documents, packed. It has no text if they exceed a bound, or if
// one is not UTF-8 or has a NUL.
func NewModel(kind string, texts ...[]byte) *Model { return ModelOf(kind, texts...).Pack() }

// ModelOf is NewModel for a caller that may not need the Model packed: small documents stay as they are, in the same
// memory. Most commands only read a net.
func ModelOf(kind string, texts ...[]byte) *Model {
	m := &Model{Kind: kind}
	var text []byte
	if len(texts) == 1 {
		text = texts[0] // needs no copy
	} else {
		text = bytes.Join(texts, []byte(between))
	}
	switch {
	case len(text) > MaxModelText:
		m.Missing = fmt.Sprintf("the file is larger than %d MiB", MaxModelText>>20)
		return m
	case !utf8.Valid(text):
		m.Missing = "the file is not in UTF-8"
		return m
	case bytes.Count(text, []byte(between)) > len(texts)-1:
		m.Missing = "the file has a NUL"
		return m
	}
	m.Text = text
	if len(text) > MaxModelPacked-MaxModelPacked/256 { // it may be too large when it is packed
		return m.Pack()
	}
	return m
}

// Pack returns m with its texts in Packed.
func (m *Model) Pack() *Model {
	if m.Missing != "" || m.Packed != nil {
		return m
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // it fails only for an unknown level
	_, err := z.Write(m.Text)
	err = errors.Join(err, z.Close())
	switch {
	case err != nil:
		return &Model{Kind: m.Kind, Missing: err.Error()}
	case packed.Len() > MaxModelPacked:
		return &Model{Kind: m.Kind, Missing: fmt.Sprintf("the file has %d KiB gzipped, which is more than %d", packed.Len()>>10, MaxModelPacked>>10)}
	}
	return &Model{Kind: m.Kind, Packed: packed.Bytes()}
}

// Texts returns the documents in UTF-8, at least one. It returns an error if they are
// missing, damaged or larger than MaxModelText.
func (m *Model) Texts() ([][]byte, error) {
	if m.Missing != "" {
		return nil, errors.New(m.Missing)
	}
	if m.Text != nil {
		return bytes.Split(m.Text, []byte(between)), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(m.Packed))
	if err != nil {
		return nil, fmt.Errorf("unpack the model: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, MaxModelText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack the model: %w", err)
	case len(text) > MaxModelText:
		return nil, fmt.Errorf("the model is larger than %d bytes", MaxModelText)
	case !utf8.Valid(text):
		return nil, errors.New("the model is not in UTF-8")
	}
	return bytes.Split(text, []byte(between)), nil
}

// Equal reports whether two Models, or nil, are the same when they are packed.
func (m *Model) Equal(o *Model) bool {
	if m == nil || o == nil {
		return m == o
	}
	a, b := m.Pack(), o.Pack()
	return a.Kind == b.Kind && a.Missing == b.Missing && bytes.Equal(a.Packed, b.Packed)
}

// Digest identifies the packed texts: lower-case hex of the first 16 bytes of its SHA-256.
func (m *Model) Digest() string {
	sum := sha256.Sum256(m.Pack().Packed)
	return hex.EncodeToString(sum[:16])
}
