package datapath

import (
	"encoding/binary"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// stamp is the last 16 bytes of a latency stream's frame, in TRex's layout.
//
//	0      1            2        4            8
//	│ 0xAB │ generation │ flow id │ sequence   │ time sent, ns │
type stamp struct {
	generation uint8
	id         uint16
	sequence   uint32
	sent       time.Duration
}

const (
	stampSize  = 16
	stampMagic = byte(countSharedSTAMP_MAGIC)
)

// write puts the stamp into the frame and corrects the transport checksum, if the packet has one.
func (s stamp) write(frame []byte, network int) {
	b := frame[len(frame)-stampSize:]
	b[0], b[1] = stampMagic, s.generation
	binary.LittleEndian.PutUint16(b[2:], s.id)
	binary.LittleEndian.PutUint32(b[4:], s.sequence)
	binary.LittleEndian.PutUint64(b[8:], uint64(s.sent))
	fieldengine.FixTransport(frame, network)
}

// readStamp reads the stamp at the end of a frame, and reports false without one.
func readStamp(tail []byte) (stamp, bool) {
	if len(tail) < stampSize || tail[len(tail)-stampSize] != stampMagic {
		return stamp{}, false
	}
	b := tail[len(tail)-stampSize:]
	return stamp{b[1], binary.LittleEndian.Uint16(b[2:]), binary.LittleEndian.Uint32(b[4:]),
		time.Duration(binary.LittleEndian.Uint64(b[8:]))}, true
}
