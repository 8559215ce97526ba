// SPDX-License-Identifier: Apache-2.0

package framed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
)

const (
	headSize  = 12 // bytes of a header behind its line
	frameSize = 13 // bytes of a frame before its payload

	// MaxPayload is the largest payload of a frame, in bytes.
	MaxPayload = math.MaxInt32

	end = 0 // kind of the end frame
)

// castagnoli returns the table of the library, which makes it at the first use.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Content is what files contain.
type Content struct {
	Name    string // plain text without blanks at its ends and without line ends
	Version int    // rises with incompatible changes
}

// line returns the first line of a file up to the version.
func (c Content) line() string { return "pnagent " + c.Name + " " }

// Frame is one part of a file.
type Frame struct {
	Kind    byte  // 1 to 255; its meaning is the caller's
	At      int64 // offset in the file, in bytes; set by readers
	Payload []byte
}

// File is the content of a file. Payloads share memory with the text that was parsed.
type File struct {
	ID     uint64
	Frames []Frame
	// Torn is why reading a log stopped before its end; nil if all was read.
	Torn *DamagedError
}

// DamagedError reports that a file is not as it was written.
type DamagedError struct {
	At  int64 // offset of what cannot be read, in bytes
	Why string
}

func (e *DamagedError) Error() string { return fmt.Sprintf("damaged at byte %d: %s", e.At, e.Why) }

// VersionError reports a file of another version.
type VersionError struct {
	Found int
	Known Content // what the reader expects
}

func (e *VersionError) Error() string {
	from := "a later"
	if e.Found < e.Known.Version {
		from = "an earlier"
	}
	return fmt.Sprintf("%q of version %d, which %s release wrote; expected version %d", e.Known.Name, e.Found, from, e.Known.Version)
}

// Writer makes the frames of one file.
type Writer struct{ seed uint32 }

// Header appends the header of a file. A log needs an id that no other file has, so that its frames
// are not taken for those of another one.
func (c Content) Header(b []byte, id uint64) ([]byte, Writer) {
	from := len(b)
	b = append(b, c.line()+strconv.Itoa(c.Version)+"\n"...)
	b = binary.LittleEndian.AppendUint64(b, id)
	w := Writer{crc32.Checksum(b[from:], castagnoli())}
	return binary.LittleEndian.AppendUint32(b, w.seed), w
}

// Frame appends a frame. The payload may be in several parts, of at most MaxPayload bytes together.
func (w Writer) Frame(b []byte, kind byte, payload ...[]byte) []byte {
	from := len(b)
	b = w.Begin(b)
	for _, p := range payload {
		b = append(b, p...)
	}
	w.Finish(b, from, kind)
	return b
}

// Begin appends a frame whose payload the caller appends then, before it calls Finish with the length
// that b had. So a large payload is not copied.
func (w Writer) Begin(b []byte) []byte { return append(b, make([]byte, frameSize)...) }

// Finish sets what is before the payload of a frame that begins at from and has the rest of b.
func (w Writer) Finish(b []byte, from int, kind byte) {
	head, payload := b[from:from+frameSize], b[from+frameSize:]
	binary.LittleEndian.PutUint32(head, uint32(len(payload)))
	head[4] = kind
	binary.LittleEndian.PutUint32(head[5:], crc32.Update(w.seed, castagnoli(), payload))
	binary.LittleEndian.PutUint32(head[9:], crc32.Update(w.seed, castagnoli(), head[:9]))
}

// End appends the end of a file.
func (w Writer) End(b []byte) []byte { return w.Frame(b, end) }

// Parse reads a file that has an end. The error is a *DamagedError or a *VersionError.
func (c Content) Parse(text []byte) (File, error) {
	f, ended, err := c.parse(text, false)
	switch {
	case err != nil:
		return File{}, err
	case f.Torn != nil:
		return File{}, f.Torn
	case !ended:
		return File{}, &DamagedError{int64(len(text)), "the file is cut short; expected another frame"}
	}
	return f, nil
}

// ParseOne reads a file that has one frame, of this kind. The error is a *DamagedError or a
// *VersionError.
func (c Content) ParseOne(text []byte, kind byte) (Frame, error) {
	f, err := c.Parse(text)
	if err != nil {
		return Frame{}, err
	}
	if len(f.Frames) != 1 || f.Frames[0].Kind != kind {
		return Frame{}, &DamagedError{0, fmt.Sprintf("it has %d frames; expected one of kind %d", len(f.Frames), kind)}
	}
	return f.Frames[0], nil
}

// ParseLog reads a log, with or without an end. It stops at a torn tail, which File.Torn names. The
// error is a *DamagedError if a frame in the middle cannot be read, or a *VersionError.
func (c Content) ParseLog(text []byte) (File, error) {
	f, _, err := c.parse(text, true)
	return f, err
}

func (c Content) parse(text []byte, log bool) (f File, ended bool, err error) {
	w, at, err := c.parseHeader(text)
	if err != nil {
		return f, false, err
	}
	f.ID = binary.LittleEndian.Uint64(text[at-headSize:])
	for at < len(text) && !ended {
		kind, payload, why := w.frame(text[at:])
		if why != "" {
			f.Torn = &DamagedError{int64(at), why}
			if log && w.anyFrame(text[at+1:]) {
				return File{}, false, f.Torn
			}
			return f, false, nil
		}
		if ended = kind == end; !ended {
			f.Frames = append(f.Frames, Frame{kind, int64(at), payload})
		}
		at += frameSize + len(payload)
	}
	if at < len(text) {
		return File{}, false, &DamagedError{int64(at), "the file goes on after its end"}
	}
	return f, ended, nil
}

// parseHeader returns the writer of the file, and the offset of its first frame.
func (c Content) parseHeader(text []byte) (Writer, int, error) {
	bad := func(at int, why string) (Writer, int, error) { return Writer{}, 0, &DamagedError{int64(at), why} }
	line := c.line()
	if !bytes.HasPrefix(text, []byte(line)) {
		return bad(0, fmt.Sprintf("expected %q as the first line", line+strconv.Itoa(c.Version)))
	}
	digits, _, _ := bytes.Cut(text[len(line):min(len(text), len(line)+20)], []byte("\n"))
	found, err := strconv.Atoi(string(digits))
	if err != nil {
		return bad(len(line), fmt.Sprintf("found %.20q; expected a version", digits))
	}
	at := len(line) + len(digits) + 1 + headSize
	if found == c.Version && len(text) < at {
		return bad(len(text), "the file is cut short; expected the rest of the header")
	}
	if found != c.Version {
		return Writer{}, 0, &VersionError{found, c}
	}
	w := Writer{crc32.Checksum(text[:at-4], castagnoli())}
	if binary.LittleEndian.Uint32(text[at-4:]) != w.seed {
		return bad(at-4, "the checksum of the header is wrong")
	}
	return w, at, nil
}

// frame reads the frame at the start of b. why is "" if it is valid.
func (w Writer) frame(b []byte) (kind byte, payload []byte, why string) {
	if len(b) < frameSize {
		return 0, nil, "the file is cut short; expected the rest of a frame"
	}
	if crc32.Update(w.seed, castagnoli(), b[:9]) != binary.LittleEndian.Uint32(b[9:]) {
		return 0, nil, "the checksum of the header of a frame is wrong"
	}
	size := int64(binary.LittleEndian.Uint32(b))
	if size > int64(len(b)-frameSize) {
		return 0, nil, fmt.Sprintf("the file is cut short; expected a frame of %d bytes", size)
	}
	payload = b[frameSize : frameSize+size : frameSize+size]
	if crc32.Update(w.seed, castagnoli(), payload) != binary.LittleEndian.Uint32(b[5:]) {
		return 0, nil, "the checksum of a frame is wrong"
	}
	return b[4], payload, ""
}

// anyFrame reports whether a valid frame begins anywhere in b.
func (w Writer) anyFrame(b []byte) bool {
	for ; len(b) >= frameSize; b = b[1:] {
		if _, _, why := w.frame(b); why == "" {
			return true
		}
	}
	return false
}
