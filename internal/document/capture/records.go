package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// record is a captured frame, which is valid until the next one is read.
type record struct {
	link   uint32 // the kind of link that it was captured on
	data   []byte // the captured bytes
	length int    // of the frame on the wire
}

const (
	magicMicroseconds = 0xa1b2c3d4
	magicNanoseconds  = 0xa1b23c4d
	magicSection      = 0x0a0d0d0a // begins pcapng, in both orders of bytes
	magicOrder        = 0x1a2b3c4d // in a section, says in which order

	// mostRecord is the longest record or block: tcpdump's largest snap length, and its headers.
	mostRecord = 262_144 + 128
	// mostInterfaces is how many interfaces a section may have.
	mostInterfaces = 1 << 12
)

// Is reports whether an input that begins so is a capture.
func Is(beginning []byte) bool {
	if len(beginning) < 4 {
		return false
	}
	little, big := binary.LittleEndian.Uint32(beginning), binary.BigEndian.Uint32(beginning)
	for _, magic := range []uint32{magicMicroseconds, magicNanoseconds, magicSection} {
		if little == magic || big == magic {
			return true
		}
	}
	return false
}

// reader reads numbers and records. Lengths in the input are bounded before memory is made for them.
type reader struct {
	*bufio.Reader
	order binary.ByteOrder
	block []byte
}

// next is the next n bytes, valid until the next call.
func (r *reader) next(n uint32) ([]byte, error) {
	if n > mostRecord {
		return nil, fmt.Errorf("a record of %d bytes, of %d at most: the file is damaged", n, mostRecord)
	}
	if uint32(cap(r.block)) < n {
		r.block = make([]byte, n)
	}
	_, err := io.ReadFull(r, r.block[:n])
	return r.block[:n], err
}

// readRecords reads pcap or pcapng, and calls each for every frame, numbered from 1.
func readRecords(input io.Reader, each func(int, record) error) error {
	r := &reader{Reader: bufio.NewReader(input), order: binary.LittleEndian}
	beginning, _ := r.Peek(4)
	if !Is(beginning) {
		return fmt.Errorf("no capture: it begins with \"% x\": give a file of tcpdump -w or Wireshark (pcap or pcapng)",
			beginning)
	}
	number := 0
	count := func(rec record) error {
		number++
		return each(number, rec)
	}
	read := r.readClassic
	if binary.LittleEndian.Uint32(beginning) == magicSection {
		read = r.readBlocks
	}
	err := read(count)
	if errors.Is(err, errCut) {
		return fmt.Errorf("frame %d: %w", number+1, err)
	}
	return err
}

// errCut is an input that ends within a record.
var errCut = errors.New("the file ends within it: capture anew, or take the frames before it (tcpdump -r FILE -w NEW -c N)")

// ended is the error of a record that couldn't be read, or nil at the end of the input.
func ended(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	}
	return err
}

// readClassic reads pcap: a header of 24 bytes, and records with a header of 16 bytes each.
func (r *reader) readClassic(each func(record) error) error {
	header, err := r.next(24)
	if err != nil {
		return errCut
	}
	if magic := binary.BigEndian.Uint32(header); magic == magicMicroseconds || magic == magicNanoseconds {
		r.order = binary.BigEndian
	}
	rec := record{link: r.order.Uint32(header[20:]) & 0x0fffffff} // the rest says what the FCS is like
	for {
		header, err := r.next(16)
		if err != nil {
			return ended(err)
		}
		captured, length := r.order.Uint32(header[8:]), r.order.Uint32(header[12:])
		if rec.data, err = r.next(captured); err != nil {
			return within(err)
		}
		rec.length = int(max(captured, length))
		if err := each(rec); err != nil {
			return err
		}
	}
}

// within is the error of an input that ended where more must follow, or couldn't be read.
func within(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return ended(err)
}

// The blocks of pcapng that are read.
const (
	blockInterface = 1
	blockOldPacket = 2
	blockSimple    = 3
	blockPacket    = 6
)

// section is what a section of pcapng says of its interfaces.
type section struct{ links, snaps []uint32 }

// readBlocks reads pcapng, which is blocks of a type, a length, a body, and the length again. A section begins with
// its order of bytes, and numbers its interfaces anew.
func (r *reader) readBlocks(each func(record) error) error {
	var s section
	for {
		head, err := r.Peek(12)
		if len(head) == 0 {
			return ended(err)
		}
		if len(head) < 12 {
			return errCut
		}
		if binary.LittleEndian.Uint32(head) == magicSection {
			s, r.order = section{}, binary.LittleEndian
			if binary.BigEndian.Uint32(head[8:]) == magicOrder {
				r.order = binary.BigEndian
			}
		}
		kind, body, err := r.nextBlock(head)
		if err != nil {
			return err
		}
		if kind == blockInterface && len(body) >= 8 && len(s.links) < mostInterfaces {
			s.links = append(s.links, uint32(r.order.Uint16(body)))
			s.snaps = append(s.snaps, r.order.Uint32(body[4:]))
			continue
		}
		rec, isFrame, err := r.frame(s, kind, body)
		if err == nil && isFrame {
			err = each(rec)
		}
		if err != nil {
			return err
		}
	}
}

// nextBlock is the type and the body of the block that begins with head, which is still to be read.
func (r *reader) nextBlock(head []byte) (kind uint32, body []byte, err error) {
	kind, length := r.order.Uint32(head), r.order.Uint32(head[4:])
	if length < 12 || length%4 != 0 {
		return 0, nil, fmt.Errorf("a block of %d bytes: the file is damaged", length)
	}
	block, err := r.next(length)
	if err != nil {
		return 0, nil, within(err)
	}
	return kind, block[8 : length-4], nil
}

// frame is the frame in a block, if the block is of a type that has one.
func (r *reader) frame(s section, kind uint32, body []byte) (rec record, isFrame bool, err error) {
	switch {
	case kind == blockPacket && len(body) >= 20:
		rec, err = r.packet(s.links, r.order.Uint32(body), body[12:])
	case kind == blockOldPacket && len(body) >= 20:
		rec, err = r.packet(s.links, uint32(r.order.Uint16(body)), body[12:])
	case kind == blockSimple && len(body) >= 4 && len(s.links) > 0:
		size := r.order.Uint32(body)
		captured := min(size, uint32(len(body)-4))
		if s.snaps[0] > 0 {
			captured = min(captured, s.snaps[0])
		}
		rec = record{s.links[0], body[4 : 4+captured], int(size)}
	default:
		return record{}, false, nil // names, statistics, secrets, and what else there may be
	}
	return rec, true, err
}

// packet is a frame whose captured length, length and bytes b begins with.
func (r *reader) packet(links []uint32, index uint32, b []byte) (record, error) {
	captured, length := r.order.Uint32(b), r.order.Uint32(b[4:])
	if index >= uint32(len(links)) || captured > uint32(len(b)-8) {
		return record{}, fmt.Errorf("a frame of interface %d of %d, of %d bytes in a block of %d: the file is damaged", index,
			len(links), captured, len(b))
	}
	return record{links[index], b[8 : 8+captured], int(max(captured, length))}, nil
}

// writer writes pcap of Ethernet, without times.
type writer struct{ io.Writer }

func (w writer) header() error {
	b := bytes.Repeat([]byte{0}, 24)
	binary.LittleEndian.PutUint32(b, magicMicroseconds)
	copy(b[4:], []byte{2, 0, 4, 0})
	binary.LittleEndian.PutUint32(b[16:], mostRecord)
	b[20] = linkEthernet
	_, err := w.Write(b)
	return err
}

func (w writer) frame(data []byte, length int) error {
	b := make([]byte, 16, 16+len(data))
	binary.LittleEndian.PutUint32(b[8:], uint32(len(data)))
	binary.LittleEndian.PutUint32(b[12:], uint32(length))
	_, err := w.Write(append(b, data...))
	return err
}
