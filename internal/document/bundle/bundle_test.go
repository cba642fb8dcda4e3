package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/bundle"
)

// files are members of several sizes, of which two are longer than a block of gzip or a name of tar.
func files() []bundle.File {
	return []bundle.File{
		{Name: "reports/b.json", Content: []byte(`{"b":1}`)},
		{Name: "plans/a.json", Content: bytes.Repeat([]byte("plan 1 of many\n"), 10_000)},
		{Name: "reports/" + strings.Repeat("n", 250) + ".json", Content: nil},
	}
}

func written(t testing.TB, files []bundle.File) []byte {
	t.Helper()
	var b bytes.Buffer
	manifest := &bundle.Manifest{Producer: "linerate v1", Tests: []bundle.Test{{Name: "a", Report: "reports/b.json"}}}
	if err := bundle.Write(&b, manifest, files); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestABundleIsReadAsItWasWritten(t *testing.T) {
	text := written(t, files())
	reordered := files()
	slices.Reverse(reordered)
	if !bytes.Equal(text, written(t, reordered)) {
		t.Error("the same files give another bundle in another order")
	}
	b, err := bundle.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if b.Producer != "linerate v1" || len(b.Tests) != 1 || len(b.Members) != 3 {
		t.Errorf("%+v", b.Manifest)
	}
	for _, f := range files() {
		if content, err := b.Content(f.Name); err != nil || !bytes.Equal(content, f.Content) {
			t.Errorf("%s: %d bytes, want %d: %v", f.Name, len(content), len(f.Content), err)
		}
	}
	if _, err := b.Content("reports/c.json"); err == nil {
		t.Error("it has a member that nobody wrote")
	}
}

// Whoever has no linerate reads a bundle by the programs that a machine has.
func TestAnyTarReadsABundle(t *testing.T) {
	text := written(t, files())
	unpacked, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for r := tar.NewReader(unpacked); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = len(content)
	}
	if len(found) != 4 || found["plans/a.json"] != 150_000 || found["manifest.json"] == 0 {
		t.Errorf("tar finds %v", found)
	}
	list := exec.Command("tar", "tzf", "-")
	list.Stdin = bytes.NewReader(text)
	if said, err := list.CombinedOutput(); err != nil || strings.Count(string(said), "\n") != 4 {
		t.Errorf("tar lists %s: %v", said, err)
	}
}

// Each byte is covered, also those that gzip and tar don't look at.
func TestAChangedByteIsNamedWithItsMember(t *testing.T) {
	text := written(t, []bundle.File{{Name: "plans/a.json", Content: []byte("a plan")},
		{Name: "reports/a.json", Content: []byte("a report of it, which is longer")}})
	whole, err := bundle.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	end := len(text)
	last := end - (10 + 5 + 1024 + 8)
	starts := map[string]int{"the archive's end": last}
	for _, m := range slices.Backward(whole.Members) {
		last -= int(m.Packed.Bytes)
		starts[m.Name] = last
	}
	partOf := func(index int) string {
		part := "manifest.json"
		for _, name := range slices.SortedFunc(maps.Keys(starts), func(a, b string) int { return starts[a] - starts[b] }) {
			if index >= starts[name] {
				part = name
			}
		}
		return part
	}
	for i := range text {
		other := bytes.Clone(text)
		other[i] ^= 1 << (i % 8)
		_, err := bundle.Read(bytes.NewReader(other))
		if want := partOf(i) + " was changed"; err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Fatalf("byte %d changed: %v, want %q alone", i, err, want)
		}
	}
	for n := 0; n < len(text); n += 1 + n%7 {
		if _, err := bundle.Read(bytes.NewReader(text[:n])); err == nil {
			t.Fatalf("a bundle that ends after %d of %d bytes is read", n, len(text))
		}
	}
	if _, err := bundle.Read(bytes.NewReader(append(bytes.Clone(text), 0))); err == nil ||
		!strings.Contains(err.Error(), "the archive's end was changed") {
		t.Errorf("what follows the end: %v", err)
	}
}

// hostile is an archive that no linerate wrote.
func hostile(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, h.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestArchivesOfOthersAreRefused(t *testing.T) {
	for name, text := range map[string][]byte{
		"a path to elsewhere": hostile(t, tar.Header{Name: "../../etc/passwd", Size: 3, Typeflag: tar.TypeReg}),
		"a link":              hostile(t, tar.Header{Name: "a", Linkname: "/etc/shadow", Typeflag: tar.TypeSymlink}),
		"a bomb":              hostile(t, tar.Header{Name: "manifest.json", Size: 1 << 30, Typeflag: tar.TypeReg}),
		"nothing":             nil,
		"words":               []byte("not an archive"),
	} {
		if _, err := bundle.Read(bytes.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), "manifest.json was changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := bundle.Read(io.LimitReader(zeros{}, bundle.MaxFile+10)); err == nil ||
		!strings.Contains(err.Error(), "it is larger than 64 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

// What no reader takes is not written, so that the reader's refusals are tried, too.
func TestNamesAndSizesThatNoBundleHas(t *testing.T) {
	for name, c := range map[string]struct {
		files []bundle.File
		want  string
	}{
		"a path to elsewhere":    {[]bundle.File{{Name: "../a"}}, "can't be a member's name"},
		"from the root":          {[]bundle.File{{Name: "/etc/passwd"}}, "can't be a member's name"},
		"an escape":              {[]bundle.File{{Name: "a\x1b[31m"}}, "can't be a member's name"},
		"the manifest's":         {[]bundle.File{{Name: "manifest.json"}}, "can't be a member's name"},
		"twice":                  {[]bundle.File{{Name: "a"}, {Name: "a"}}, "each name stands once"},
		"a member that is large": {[]bundle.File{{Name: "a", Content: make([]byte, bundle.MaxMember+1)}}, "a member has up to"},
	} {
		if err := bundle.Write(io.Discard, &bundle.Manifest{}, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzRead holds that nothing that is read panics, and what is read is what Write writes.
func FuzzRead(f *testing.F) {
	f.Add(written(f, files()[:2]))
	f.Add(written(f, nil))
	f.Add(hostile(f, tar.Header{Name: "manifest.json", Size: 1 << 20, Typeflag: tar.TypeReg}))
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 0, 0, 255, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := bundle.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		var same []bundle.File
		for _, m := range b.Members {
			content, err := b.Content(m.Name)
			if err != nil {
				t.Fatal(err)
			}
			same = append(same, bundle.File{Name: m.Name, Content: content})
		}
		if err := bundle.Write(io.Discard, &b.Manifest, same); err != nil {
			t.Fatal(fmt.Errorf("what was read can't be written: %w", err))
		}
	})
}
