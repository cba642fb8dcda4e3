package zmtp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Flag bits of a frame's first byte (ZMTP 3.1, "Traffic").
const (
	flagMore    = 1 << 0
	flagLong    = 1 << 1
	flagCommand = 1 << 2
	flagsKnown  = flagMore | flagLong | flagCommand
)

// maxFrames bounds the frames of one message, of which an envelope and a body need two.
const maxFrames = 16

// eagerBytes is how much is allocated for a length that a peer announces. A longer frame's buffer grows as its bytes
// arrive.
const eagerBytes = 64 << 10

type frame struct {
	more    bool
	command bool
	body    []byte
}

// appendFrame encodes one frame.
func appendFrame(b []byte, f frame) []byte {
	var flags byte
	if f.more {
		flags |= flagMore
	}
	if f.command {
		flags |= flagCommand
	}
	if len(f.body) > 255 {
		b = append(b, flags|flagLong)
		b = binary.BigEndian.AppendUint64(b, uint64(len(f.body)))
	} else {
		b = append(b, flags, byte(len(f.body)))
	}
	return append(b, f.body...)
}

// readFrame reads one frame whose body has at most limit bytes, and that of a command at most maxCommand.
func readFrame(r io.Reader, limit int) (frame, error) {
	var head [9]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return frame{}, err
	}
	flags := head[0]
	if flags&^byte(flagsKnown) != 0 {
		return frame{}, fmt.Errorf("frame with unknown flags 0x%02x: the peer doesn't speak ZMTP 3", flags)
	}
	if flags&flagCommand != 0 {
		limit = min(limit, maxCommand)
	}
	size := uint64(head[1])
	if flags&flagLong != 0 {
		if _, err := io.ReadFull(r, head[2:]); err != nil {
			return frame{}, unexpected(err)
		}
		size = binary.BigEndian.Uint64(head[1:])
	}
	if size > uint64(limit) {
		return frame{}, fmt.Errorf("frame of %d bytes: the limit is %d", size, limit)
	}
	body, err := readBody(r, int(size))
	if err != nil {
		return frame{}, unexpected(err)
	}
	return frame{more: flags&flagMore != 0, command: flags&flagCommand != 0, body: body}, nil
}

func readBody(r io.Reader, size int) ([]byte, error) {
	if size <= eagerBytes {
		body := make([]byte, size)
		_, err := io.ReadFull(r, body)
		return body, err
	}
	var grown bytes.Buffer
	grown.Grow(eagerBytes)
	if _, err := io.CopyN(&grown, r, int64(size)); err != nil {
		return nil, err
	}
	return grown.Bytes(), nil
}

// unexpected turns an end of file inside a frame into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
