// SPDX-License-Identifier: Apache-2.0

package framed

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var content = Content{Name: "test files", Version: 2}

// logOf returns a log of frames with these payloads, and the offset of each frame and of the end.
func logOf(payloads ...string) (text []byte, w Writer, at []int) {
	text, w = content.Header(nil, 77)
	for i, p := range payloads {
		at = append(at, len(text))
		text = w.Frame(text, byte(i+1), []byte(p)[:len(p)/2], []byte(p)[len(p)/2:])
	}
	return text, w, append(at, len(text))
}

func payloads(f File) (all []string) {
	for i, frame := range f.Frames {
		if frame.Kind != byte(i+1) {
			all = append(all, fmt.Sprint("kind ", frame.Kind))
		}
		all = append(all, string(frame.Payload))
	}
	return all
}

func damagedAt(err error) int64 {
	var d *DamagedError
	if !errors.As(err, &d) {
		return -1
	}
	return d.At
}

var three = []string{"first", "", strings.Repeat("third ", 50)}

// A log that ends at any byte has all frames that are whole, and says where the others would be.
func TestALogCutAnywhereHasItsWholeFrames(t *testing.T) {
	text, _, at := logOf(three...)
	for n := range len(text) + 1 {
		f, err := content.ParseLog(text[:n])
		if n < at[0] {
			if damagedAt(err) != map[bool]int64{true: 0, false: int64(n)}[n < len(content.line())] && n != len(content.line()) {
				t.Errorf("a header of %d bytes: %v", n, err)
			}
			continue
		}
		whole := 0
		for whole < len(three) && at[whole+1] <= n {
			whole++
		}
		if err != nil || f.ID != 77 || !slices.Equal(payloads(f), three[:whole]) {
			t.Fatalf("%d bytes: %q, %v; want %d frames", n, payloads(f), err, whole)
		}
		if torn := n != at[whole]; torn != (f.Torn != nil) || torn && f.Torn.At != int64(at[whole]) {
			t.Errorf("%d bytes: torn %v; want at %d", n, f.Torn, at[whole])
		}
	}
}

// A bit that changed before the last frame is damage, whichever it is; in the last frame it
// looks like a write that the power loss tore.
func TestEachBitOfALogIsChecked(t *testing.T) {
	text, _, at := logOf(three...)
	for i := range text {
		bad := bytes.Clone(text)
		bad[i] ^= 4
		f, err := content.ParseLog(bad)
		frame := 0
		for at[frame] <= i {
			frame++
		}
		var version *VersionError
		switch last := len(three); {
		case frame == 0:
			if damagedAt(err) < 0 && !errors.As(err, &version) {
				t.Errorf("byte %d of the header: %v", i, err)
			}
		case frame == last:
			if err != nil || f.Torn == nil || f.Torn.At != int64(at[last-1]) || !slices.Equal(payloads(f), three[:last-1]) {
				t.Errorf("byte %d of the last frame: %v, torn %v", i, err, f.Torn)
			}
		case damagedAt(err) != int64(at[frame-1]) || f.Frames != nil:
			t.Errorf("byte %d: %v; want damage at %d", i, err, at[frame-1])
		}
	}
}

// After a power loss the sectors of the last write are there or not, each by itself.
//
//promise:damage power
func TestATornTailMayBeZerosOrOldBytes(t *testing.T) {
	text, _, at := logOf(three...)
	other, _ := Content{Name: "test files", Version: 2}.Header(nil, 78)
	for what, tail := range map[string][]byte{
		"zeros":                   make([]byte, 500),
		"a frame of another file": Writer{1}.Frame(other, 1, []byte("x")),
		"its second half":         append(make([]byte, 200), text[at[2]+200:]...),
	} {
		f, err := content.ParseLog(append(bytes.Clone(text[:at[2]]), tail...))
		if err != nil || f.Torn == nil || f.Torn.At != int64(at[2]) || len(f.Frames) != 2 {
			t.Errorf("%s: %d frames, torn %v, %v", what, len(f.Frames), f.Torn, err)
		}
	}
}

// A file that is replaced as a whole is taken as a whole or not at all.
//
//promise:damage damage
func TestAFileIsWholeOrDamaged(t *testing.T) {
	text := content.Text(Frame{Kind: 1, Payload: []byte("a")}, Frame{Kind: 2, Payload: []byte("b")})
	f, err := content.Parse(text)
	if err != nil || !slices.Equal(payloads(f), []string{"a", "b"}) {
		t.Fatalf("%q, %v", payloads(f), err)
	}
	for n := range text {
		if f, err := content.Parse(text[:n]); damagedAt(err) < 0 || f.Frames != nil || damagedAt(err) > int64(n) {
			t.Errorf("%d bytes: %v", n, err)
		}
		bad := bytes.Clone(text)
		bad[n] ^= 1
		if f, err := content.Parse(bad); err == nil || f.Frames != nil {
			t.Errorf("byte %d changed: %q", n, payloads(f))
		}
	}
	if _, err := content.Parse(append(text, 0)); err == nil || err.Error() != fmt.Sprintf("damaged at byte %d: the file goes on after its end", len(text)) {
		t.Errorf("one byte more: %v", err)
	}
}

// A file of another version is not called damaged, and says which release wrote it.
func TestAnotherVersionIsNamed(t *testing.T) {
	for version, want := range map[int]string{
		1: `"test files" of version 1, which an earlier release wrote; expected version 2`,
		3: `"test files" of version 3, which a later release wrote; expected version 2`,
	} {
		for _, text := range [][]byte{Content{"test files", version}.Text(), fmt.Appendf(nil, "pnagent test files %d\n", version)} {
			var v *VersionError
			if _, err := content.Parse(text); !errors.As(err, &v) || v.Found != version || err.Error() != want {
				t.Errorf("version %d: %v; want %s", version, err, want)
			}
		}
	}
	for text, want := range map[string]string{
		"":                               `damaged at byte 0: expected "pnagent test files 2" as the first line`,
		"pnagent other 2\n":              `damaged at byte 0: expected "pnagent test files 2" as the first line`,
		"pnagent test files two\n":       `damaged at byte 19: found "two"; expected a version`,
		"pnagent test files 2\n12345678": `damaged at byte 29: the file is cut short; expected the rest of the header`,
		"pnagent test files 2\n" + strings.Repeat("x", 12): `damaged at byte 29: the checksum of the header is wrong`,
	} {
		if _, err := content.Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func TestReplaceAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := content.Read(path, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := content.Replace(path, 0o600, Frame{Kind: 9, Payload: []byte("nine")}); err != nil {
		t.Fatal(err)
	}
	got, err := content.Read(path, 100)
	want := []Frame{{Kind: 9, At: 33, Payload: []byte("nine")}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if _, err := content.Read(path, 30); damagedAt(err) != 30 || !strings.Contains(err.Error(), path+": ") {
		t.Errorf("a limit: %v", err)
	}
	if err := os.Truncate(path, 40); err != nil {
		t.Fatal(err)
	}
	if _, err := content.Read(path, 100); damagedAt(err) != 33 || !strings.Contains(err.Error(), path) {
		t.Errorf("cut short: %v", err)
	}
}

// One wrong bit of a file is found, wherever it is, and two are not taken for another one.
func TestOneBitIsMended(t *testing.T) {
	text := content.Text(Frame{Kind: 1, Payload: []byte(three[0])}, Frame{Kind: 2}, Frame{Kind: 3, Payload: []byte(three[2])})
	bad := bytes.Clone(text)
	flip := func(bit int) { bad[bit/8] ^= 1 << (bit % 8) }
	for bit := range 8 * len(text) {
		flip(bit)
		if whole, ok := content.Mend(bad); !ok || !bytes.Equal(whole, text) {
			t.Fatalf("bit %d of byte %d is not mended", bit%8, bit/8)
		}
		for _, other := range []int{(bit + 1) % (8 * len(text)), bit * 7919 % (8 * len(text))} {
			if other == bit {
				continue
			}
			flip(other)
			if _, ok := content.Mend(bad); ok {
				t.Fatalf("bits %d and %d are mended as one", bit, other)
			}
			flip(other)
		}
		flip(bit)
	}
	for what, text := range map[string][]byte{"a whole file": text, "no file": nil, "a part": text[:60], "another version": Content{content.Name, 3}.Text(), "more": append(bytes.Clone(text), 1)} {
		if _, ok := content.Mend(text); ok {
			t.Errorf("%s is mended", what)
		}
	}
}

func FuzzParse(f *testing.F) {
	text, w, _ := logOf(three...)
	f.Add(text)
	f.Add(w.End(text))
	f.Add([]byte("pnagent test files 3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := content.Parse(text)
		if mended, ok := content.Mend(text); ok {
			if _, err := content.Parse(mended); err != nil {
				t.Errorf("what was mended is read with %v", err)
			}
		}
		log, logErr := content.ParseLog(text)
		if err == nil && (logErr != nil || len(whole.Frames) != len(log.Frames)) {
			t.Errorf("a file of %d frames is a log of %d, %v", len(whole.Frames), len(log.Frames), logErr)
		}
		if logErr != nil {
			return
		}
		again, w := content.Header(nil, log.ID) // what is read is what was written
		for _, frame := range log.Frames {
			if frame.At != int64(len(again)) {
				t.Errorf("a frame at %d; want %d", frame.At, len(again))
			}
			again = w.Frame(again, frame.Kind, frame.Payload)
		}
		if !bytes.HasPrefix(text, again) {
			t.Error("what was read differs from the text")
		}
	})
}
