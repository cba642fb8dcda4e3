package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"
)

// endName names the part after the last member: the blocks of zeros that end a tar file.
const endName = "the archive's end"

// archiveEnd are those blocks.
var archiveEnd = make([]byte, 1024)

// entry is a tar file's entry with this content, without the blocks that end the file. Of equal contents it has equal
// bytes: no owner, and no time.
func entry(name string, content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644,
		ModTime: time.Unix(0, 0)}
	if err := w.WriteHeader(&header); err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	err := w.Flush() // fills the last block
	return b.Bytes(), err
}

// contentOf is the content of size bytes of an entry, or false where the entry isn't just as entry writes it.
func contentOf(packed []byte, name string, size int64) ([]byte, bool) {
	empty, err := entry(name, nil)
	if err != nil || int64(len(packed)) < int64(len(empty))+size {
		return nil, false
	}
	content := packed[len(empty) : int64(len(empty))+size]
	same, err := entry(name, content)
	return content, err == nil && bytes.Equal(same, packed)
}

// deflate packs a part.
func deflate(part []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(part); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// gzipHeader begins a stored part: no name, no time, no operating system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// mostStored is how many bytes one block of a stored part has.
const mostStored = 0xffff

// store is a part in gzip's form without any packing. There is one such form of each content.
func store(part []byte) []byte {
	b := bytes.Clone(gzipHeader)
	for rest, final := part, false; !final; {
		n := min(len(rest), mostStored)
		final = n == len(rest)
		kind := byte(0)
		if final {
			kind = 1
		}
		b = append(b, kind)
		b = binary.LittleEndian.AppendUint16(b, uint16(n))  //nolint:gosec // it is at most mostStored
		b = binary.LittleEndian.AppendUint16(b, ^uint16(n)) //nolint:gosec // it is at most mostStored
		b = append(b, rest[:n]...)
		rest = rest[n:]
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(part))
	return binary.LittleEndian.AppendUint32(b, uint32(len(part))) //nolint:gosec // gzip has it modulo 2^32
}

// unstore is the stored part that a text begins with, and what follows it. It is false where the part was changed.
func unstore(text []byte) (part, rest []byte, ok bool) {
	const header = 5
	blocks, ok := bytes.CutPrefix(text, gzipHeader)
	for final := false; ok && !final; {
		if len(blocks) < header {
			return nil, nil, false
		}
		final = blocks[0] == 1
		n := header + int(binary.LittleEndian.Uint16(blocks[1:]))
		if len(blocks) < n {
			return nil, nil, false
		}
		part, blocks = append(part, blocks[header:n]...), blocks[n:]
	}
	if !ok {
		return nil, nil, false
	}
	rest, ok = bytes.CutPrefix(text, store(part))
	return part, rest, ok
}
