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

// The bounds of the text of a Model, in bytes: as it is, and gzipped. A definition with
// a Model of that size fits one message of NATS.
const (
	MaxModelText   = 4 << 20
	MaxModelPacked = 256 << 10
)

// ModelBPMN is the Kind of a Model that is a BPMN 2.0 file.
const ModelBPMN = "bpmn"

// Model is the document that a net was made from, so that a process which has only the
// net can show the document. The token game ignores it. A Model is never changed; the nets of
// one file share it.
type Model struct {
	Kind    string
	Packed  []byte // the text in UTF-8, gzipped, at most MaxModelPacked bytes; nil if it is missing
	Missing string // why there is no text; "" if there is
}

// NewModel returns the Model of a document. It has no text if that exceeds a bound or is
// not UTF-8.
func NewModel(kind string, text []byte) *Model {
	m := &Model{Kind: kind}
	switch {
	case len(text) > MaxModelText:
		m.Missing = fmt.Sprintf("the file is larger than %d MiB", MaxModelText>>20)
		return m
	case !utf8.Valid(text):
		m.Missing = "the file is not in UTF-8"
		return m
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // an error is of an unknown level
	_, err := z.Write(text)
	if err = errors.Join(err, z.Close()); err != nil {
		m.Missing = err.Error()
		return m
	}
	if packed.Len() > MaxModelPacked {
		m.Missing = fmt.Sprintf("the file has %d KiB gzipped, which is more than %d", packed.Len()>>10, MaxModelPacked>>10)
		return m
	}
	m.Packed = packed.Bytes()
	return m
}

// Text returns the document in UTF-8. It returns an error if the document is missing,
// damaged or larger than MaxModelText.
func (m *Model) Text() ([]byte, error) {
	if m.Missing != "" {
		return nil, errors.New(m.Missing)
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
	return text, nil
}

// Digest identifies the packed text: lower-case hex of the first 16 bytes of its SHA-256.
func (m *Model) Digest() string {
	sum := sha256.Sum256(m.Packed)
	return hex.EncodeToString(sum[:16])
}
