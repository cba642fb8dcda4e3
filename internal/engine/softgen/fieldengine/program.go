package fieldengine

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// TRex bounds a frame's size without FCS.
const (
	MinTemplate = 14 // an Ethernet header
	MinFrame    = 60 // shorter templates are padded with zeros
	MaxFrame    = 9238
)

// Program is a compiled stream. It is immutable, and safe for concurrent use.
type Program struct {
	template []byte
	cache    uint64
	period   uint64
	writes   []write
	trim     *variable
	fixes    []fix
}

// Compile checks and compiles a template (without FCS) and its field engine. The seed drives the random
// variables, and the same seed gives the same frames. Errors name the instruction the way TRex does.
func Compile(template []byte, vm stream.VM, seed uint64) (*Program, error) {
	if len(template) < MinTemplate || len(template) > MaxFrame {
		return nil, fmt.Errorf("bad packet size provided: %d. Should be between %d and %d", len(template),
			MinTemplate, MaxFrame)
	}
	padded := make([]byte, max(len(template), MinFrame))
	copy(padded, template)
	c := &compiler{program: &Program{template: padded, cache: uint64(vm.Cache)}, seed: seed,
		variables: map[string]*variable{}}
	for i, instruction := range vm.Instructions {
		if err := c.add(instruction); err != nil {
			return nil, fmt.Errorf("*** error: instruction id '%d' %w", i, err)
		}
	}
	return c.finish(vm.Instructions)
}

// Template is a copy of the frame before any write, to be the buffer for Frame.
func (p *Program) Template() []byte { return append([]byte(nil), p.template...) }

// Bytes is the template itself, not to be changed.
func (p *Program) Bytes() []byte { return p.template }

// MaxLength is the length of the longest frame.
func (p *Program) MaxLength() int { return len(p.template) }

// Period is the number of frames after which the stream repeats, or 0 if it practically never does.
func (p *Program) Period() uint64 { return p.period }

// MeanLength is the mean length of the frames, as TRex takes it for rates in bits/s. For trimmed frames it is
// the middle of the shortest and the longest length.
func (p *Program) MeanLength() float64 {
	if p.trim == nil {
		return float64(len(p.template))
	}
	lowest := max(p.trim.min, MinFrame)
	highest := min(p.trim.min+p.trim.span-1, uint64(len(p.template)))
	return float64(lowest+highest) / 2
}

// Frame makes buf the frame with this index and returns the frame's length. buf is at least MaxLength long and holds
// the template or any earlier frame of this program. Frame writes only the bytes that vary, and allocates nothing.
func (p *Program) Frame(index uint64, buf []byte) int {
	if p.cache > 0 {
		index %= p.cache
	}
	for i := range p.writes {
		p.writes[i].apply(index, buf)
	}
	length := len(p.template)
	if p.trim != nil {
		length = int(min(max(p.trim.value(index), MinFrame), uint64(length)))
	}
	for i := range p.fixes {
		p.fixes[i].apply(buf[:length])
	}
	return length
}

// Trims says whether frames differ in length.
func (p *Program) Trims() bool { return p.trim != nil }
