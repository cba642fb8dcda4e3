package wire

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
)

// magic opens a compressed message. The length of the plain text follows (both uint32, big-endian), then a zlib
// stream (RFC 1950).
const magic = 0xABE85CEA

// headerSize is magic plus length.
const headerSize = 8

// MaxInflated bounds the decompressed size of a message, because the length in it comes from the peer, and may be
// wrong.
const MaxInflated = 64 << 20

// Compress compresses and frames b. A server compresses its answer exactly if the request was compressed.
func Compress(b []byte) []byte {
	var framed bytes.Buffer
	var header [headerSize]byte
	binary.BigEndian.PutUint32(header[:], magic)
	binary.BigEndian.PutUint32(header[4:], uint32(len(b)))
	framed.Write(header[:])
	z := zlib.NewWriter(&framed)
	_, _ = z.Write(b) // a bytes.Buffer takes everything
	_ = z.Close()
	return framed.Bytes()
}

// Decompress returns a message's plain text, and whether it was compressed. An uncompressed message is returned as it
// is.
func Decompress(b []byte) (plain []byte, compressed bool, err error) {
	if len(b) < headerSize || binary.BigEndian.Uint32(b) != magic {
		return b, false, nil
	}
	size := binary.BigEndian.Uint32(b[4:])
	if size > MaxInflated {
		return nil, true, fmt.Errorf("compressed message of %d bytes: the limit is %d", size, MaxInflated)
	}
	z, err := zlib.NewReader(bytes.NewReader(b[headerSize:]))
	if err != nil {
		return nil, true, fmt.Errorf("compressed message: %w", err)
	}
	plain, err = io.ReadAll(io.LimitReader(z, int64(size)+1))
	if err != nil {
		return nil, true, fmt.Errorf("compressed message: %w", err)
	}
	if len(plain) != int(size) {
		return nil, true, fmt.Errorf("compressed message holds %d bytes or more where it says %d", len(plain), size)
	}
	return plain, true, nil
}
