package datapath

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// piece is the place of a frame in an arena.
type piece struct {
	offset uint64
	length uint32
}

// arena is the memory that frames leave from. Frames are packed closely, so that a stream's frames stay in
// the processor's cache. No frame of up to a page crosses a page, because AF_XDP takes one page at a time.
type arena struct {
	memory []byte
	used   int
}

const (
	// arenaSize is a port's locked memory for frames. An ordinary user's limit on locked memory is larger.
	arenaSize = 3 << 19
	// prebuiltFrames bounds the period of a stream whose frames are built before the run and played in a circle.
	prebuiltFrames = 8192
	// alignment puts each frame on a cache line of its own.
	alignment = 64
)

// newArena maps memory for size bytes of frames and for what packing wastes.
func newArena(size int) (*arena, error) {
	page := os.Getpagesize()
	size = (size/page + 1) * page
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes for frames: %w", size, err)
	}
	return &arena{memory: memory}, nil
}

func (a *arena) empty() { a.used = 0 }

func (a *arena) close() error { return unix.Munmap(a.memory) }

// reserve takes room for a frame of this length.
func (a *arena) reserve(length int) (piece, error) {
	offset := nextOffset(a.used, length)
	if offset+length > len(a.memory) {
		return piece{}, fmt.Errorf("no room for %d bytes in an arena of %d", length, len(a.memory))
	}
	a.used = offset + length
	return piece{uint64(offset), uint32(length)}, nil
}

func (a *arena) bytes(p piece) []byte { return a.memory[p.offset : p.offset+uint64(p.length)] }

// nextOffset is where a frame of this length begins behind the used bytes.
func nextOffset(used, length int) int {
	page := os.Getpagesize()
	offset := (used + alignment - 1) &^ (alignment - 1)
	if length <= page && offset/page != (offset+length-1)/page {
		offset = (offset/page + 1) * page
	}
	return offset
}

// layout says which tracks' frames an arena holds prebuilt, and how long its slots for all other frames are.
type layout struct {
	size     int
	prebuilt []*track
	longest  int // the longest frame made while sending; 0 if all frames are prebuilt
}

// plan chooses the tracks whose frames are prebuilt. It takes tracks with a short period, in the streams'
// order, while there is room.
func plan(tracks []*track, slots, room int) layout {
	var l layout
	for _, t := range tracks {
		l.longest = max(l.longest, t.program.MaxLength())
	}
	longestSlot := l.longest
	l.longest = 0
	for _, t := range tracks {
		size, ok := l.sizeWith(t)
		if !ok || size+slots*(longestSlot+alignment) > room {
			l.longest = longestSlot
			continue
		}
		l.size, l.prebuilt = size, append(l.prebuilt, t)
	}
	for range slots {
		l.size = nextOffset(l.size, l.longest) + l.longest
	}
	return l
}

// sizeWith is the layout's size with this track's frames prebuilt. It reports false for a track whose frames
// are made while sending.
func (l layout) sizeWith(t *track) (size int, ok bool) {
	period := t.program.Period()
	if period == 0 || period > prebuiltFrames || (t.flow != nil && t.flow.stamped) {
		return 0, false
	}
	for size = l.size; period > 0; period-- {
		size = nextOffset(size, t.program.MaxLength()) + t.program.MaxLength()
	}
	return size, true
}

// fill builds the frames of the prebuilt tracks.
func (a *arena) fill(l layout) error {
	for _, t := range l.prebuilt {
		buffer := t.program.Template()
		t.prebuilt = make([]piece, t.program.Period())
		for i := range t.prebuilt {
			n := t.program.Frame(uint64(i), buffer)
			p, err := a.reserve(t.program.MaxLength())
			if err != nil {
				return err
			}
			p.length = uint32(n)
			copy(a.bytes(p), buffer[:n])
			t.prebuilt[i] = p
		}
	}
	return nil
}
