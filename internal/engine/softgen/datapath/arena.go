package datapath

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// piece is a frame in an arena.
type piece struct {
	offset uint64
	length uint32
}

// arena is the memory that frames leave from. Frames are packed closely, so that those of a stream stay in the processor's cache, but
// none crosses a page: AF_XDP takes a page at a time.
type arena struct {
	memory []byte
	used   int
}

const (
	// arenaSize is a port's memory for frames: locked in memory, and small enough for the limit that ordinary users have on that.
	arenaSize = 3 << 19
	// prebuiltFrames bounds the period of a stream whose frames are built before the run, and played in a circle.
	prebuiltFrames = 8192
	// alignment of a frame: a cache line.
	alignment = 64
)

// newArena maps memory for size bytes of frames, and what packing wastes.
func newArena(size int) (*arena, error) {
	page := os.Getpagesize()
	size = (size/page + 1) * page
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes for frames: %w", size, err)
	}
	return &arena{memory: memory}, nil
}

func (a *arena) empty() { a.used = 0 }

func (a *arena) close() error { return unix.Munmap(a.memory) }

// reserve takes room for a frame.
func (a *arena) reserve(length int) (piece, error) {
	at := after(a.used, length)
	if at+length > len(a.memory) {
		return piece{}, fmt.Errorf("no room for %d bytes in an arena of %d", length, len(a.memory))
	}
	a.used = at + length
	return piece{uint64(at), uint32(length)}, nil
}

func (a *arena) bytes(p piece) []byte { return a.memory[p.offset : p.offset+uint64(p.length)] }

// after is where a frame of this length begins behind what is used.
func after(used, length int) int {
	page := os.Getpagesize()
	at := (used + alignment - 1) &^ (alignment - 1)
	if length <= page && at/page != (at+length-1)/page {
		at = (at/page + 1) * page
	}
	return at
}

// layout is what an arena has to hold: the prebuilt frames of some tracks, and slots for the frames made while sending.
type layout struct {
	size     int
	prebuilt []*track
	longest  int // the longest frame of the others; 0: all are prebuilt
}

// plan decides which tracks are prebuilt: those that repeat soon, in the streams' order, while there is room.
func plan(tracks []*track, slots, room int) layout {
	var l layout
	for _, t := range tracks {
		l.longest = max(l.longest, t.program.MaxLength())
	}
	made := l.longest
	l.longest = 0
	for _, t := range tracks {
		size, ok := l.with(t)
		if !ok || size+slots*(made+alignment) > room {
			l.longest = made
			continue
		}
		l.size, l.prebuilt = size, append(l.prebuilt, t)
	}
	for range slots {
		l.size = after(l.size, l.longest) + l.longest
	}
	return l
}

// with is the size once this track's frames are built too; false: they are made while sending.
func (l layout) with(t *track) (size int, ok bool) {
	period := t.program.Period()
	if period == 0 || period > prebuiltFrames || (t.flow != nil && t.flow.stamped) {
		return 0, false
	}
	for size = l.size; period > 0; period-- {
		size = after(size, t.program.MaxLength()) + t.program.MaxLength()
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
