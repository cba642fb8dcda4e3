package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// File is a member with its content.
type File struct {
	Name    string
	Content []byte
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Write packs files, in the order of their names, and adds them to the manifest. Of equal manifests and files the
// bundle has equal bytes.
func Write(w io.Writer, manifest *Manifest, files []File) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	manifest.Version, manifest.Members = Version, make([]Member, len(files))
	packed := make([][]byte, len(files))
	for i, f := range files {
		whole, err := entry(f.Name, f.Content)
		if err != nil {
			return err
		}
		if packed[i], err = deflate(whole); err != nil {
			return fmt.Errorf("pack %s: %w", f.Name, err)
		}
		manifest.Members[i] = Member{Name: f.Name, Bytes: int64(len(f.Content)), SHA256: digest(f.Content),
			Packed: Packed{Bytes: int64(len(packed[i])), SHA256: digest(packed[i])}}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(manifest); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if _, err := decodeManifest(text.Bytes()); err != nil { // what no reader takes isn't written
		return err
	}
	first, err := entry(manifestName, text.Bytes())
	if err != nil {
		return err
	}
	all := slices.Concat(store(first), slices.Concat(packed...), store(archiveEnd))
	if len(all) > MaxFile {
		return fmt.Errorf("the bundle has %d MiB, and may have %d: pack fewer Reports", len(all)>>20, MaxFile>>20)
	}
	_, err = w.Write(all)
	return err
}

// Bundle is a bundle each byte of which is as it was written.
type Bundle struct {
	Manifest
	parts map[string]part
}

// part is a member, and how it stands in the file.
type part struct {
	Member
	packed []byte
}

// Read reads a bundle, and checks each of its parts. The error names all parts that were changed.
func Read(r io.Reader) (*Bundle, error) {
	text, err := intake.Text(r, MaxFile)
	if err != nil {
		return nil, err
	}
	first, rest, ok := unstore(text)
	if !ok {
		return nil, changed(manifestName, "it is cut off, or not as linerate bundle writes it; unpacking a bundle and "+
			"packing it again makes another file")
	}
	const header = 512 // of a tar file's entry with a short name
	content, ok := contentOf(first, manifestName, int64(len(bytes.TrimRight(first[min(header, len(first)):], "\x00"))))
	if !ok {
		return nil, changed(manifestName, "its entry isn't as linerate bundle writes it")
	}
	manifest, err := decodeManifest(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	b := &Bundle{Manifest: *manifest, parts: map[string]part{}}
	return b, b.readMembers(rest)
}

// readMembers checks the parts after the manifest.
func (b *Bundle) readMembers(rest []byte) error {
	var errs []error
	for _, m := range b.Members {
		if int64(len(rest)) < m.Packed.Bytes {
			return errors.Join(append(errs, changed(m.Name, "the file ends in it"))...)
		}
		p := part{m, rest[:m.Packed.Bytes]}
		rest = rest[m.Packed.Bytes:]
		b.parts[m.Name] = p
		if digest(p.packed) != m.Packed.SHA256 {
			errs = append(errs, changed(m.Name, "its bytes don't have the manifest's SHA-256"))
			continue
		}
		if _, err := p.content(); err != nil {
			errs = append(errs, err)
		}
	}
	if !bytes.Equal(rest, store(archiveEnd)) {
		errs = append(errs, changed(endName, "it isn't as linerate bundle writes it"))
	}
	return errors.Join(errs...)
}

func changed(part, reason string) error { return fmt.Errorf("%s was changed: %s", part, reason) }

// Content is a member's content.
func (b *Bundle) Content(name string) ([]byte, error) {
	p, ok := b.parts[name]
	if !ok {
		return nil, fmt.Errorf("the bundle has no member %q, which its manifest refers to", name)
	}
	return p.content()
}

// content unpacks the member, and refuses it unless it is as the manifest says.
func (p part) content() ([]byte, error) {
	const headers = 4 << 10 // of an entry with the longest name, and what fills its last block
	unpacked, err := intake.Inflate(p.packed, p.Bytes+headers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	content, ok := contentOf(unpacked, p.Name, p.Bytes)
	if !ok || digest(content) != p.SHA256 {
		return nil, changed(p.Name, "it isn't the one file of this name, size and SHA-256 that the manifest lists")
	}
	return content, nil
}
