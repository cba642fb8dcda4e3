package softgen

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
)

// A large message travels compressed. It has a magic word and the length of its content, both big-endian, and
// then a zlib stream (RFC 1950).
//
//	0        4        8
//	+--------+--------+----------------
//	| magic  | length | zlib stream …
//	+--------+--------+----------------
const (
	zipMagic  = 0xABE85CEA
	zipHeader = 8
)

// unzip returns the content of a compressed message, at most limit+1 bytes of it. It reports
// false for a message that isn't complete and valid, which must be read as it is.
func unzip(message []byte, limit int) (inside []byte, ok bool) {
	if len(message) < zipHeader || binary.BigEndian.Uint32(message) != zipMagic {
		return nil, false
	}
	reader, err := zlib.NewReader(bytes.NewReader(message[zipHeader:]))
	if err != nil {
		return nil, false
	}
	inside, err = io.ReadAll(io.LimitReader(reader, int64(limit)+1))
	if err != nil {
		return nil, false
	}
	return inside, len(inside) > limit || uint32(len(inside)) == binary.BigEndian.Uint32(message[4:])
}

// zipper compresses messages, one at a time. It reuses its buffers, which are far larger than most messages.
// The zero zipper is ready.
type zipper struct{ writer *zlib.Writer }

func (z *zipper) zip(message []byte) []byte {
	var zipped bytes.Buffer
	header := binary.BigEndian.AppendUint32(nil, zipMagic)
	zipped.Write(binary.BigEndian.AppendUint32(header, uint32(len(message))))
	if z.writer == nil {
		z.writer = zlib.NewWriter(&zipped)
	}
	z.writer.Reset(&zipped)
	_, _ = z.writer.Write(message) // a bytes.Buffer takes all
	_ = z.writer.Close()
	return zipped.Bytes()
}
