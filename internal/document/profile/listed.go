package profile

import (
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// MostListed is how many different frames a stream can take turns with by lists, which field engines bound.
const MostListed = 16_384

// Listed is the stream with these frames, without FCS, in turn. They have one length and differ in headers only. Each
// run of bytes that differs becomes a variable with a list of values, and all lists step together. The header checksum
// of the first IPv4 header is computed for each frame, since a generator's mark changes it.
func Listed(s stream.Stream, frames [][]byte) (stream.Stream, error) {
	if len(frames) == 0 || len(frames) > MostListed {
		return s, fmt.Errorf("a stream takes turns with 1 to %d frames, and here are %d", MostListed, len(frames))
	}
	first := frames[0]
	differs := make([]bool, len(first))
	for _, f := range frames {
		if len(f) != len(first) {
			return s, errors.New("frames of a stream have one length")
		}
		for i := range f {
			differs[i] = differs[i] || f[i] != first[i]
		}
	}
	ip, kind := networkOf(first)
	isIPv4 := kind == etherIPv4 && len(first) >= ip+ipv4Bytes
	if isIPv4 {
		differs[ip+10], differs[ip+11] = false, false
	}
	s.Packet.Binary, s.VM = first, stream.VM{Instructions: []stream.Instruction{}}
	split := false
	var writes []stream.Instruction
	for _, run := range runsOf(differs) {
		name := fmt.Sprintf("bytes%d", run.offset)
		list := make([]uint64, len(frames))
		for i, f := range frames {
			list[i] = get(f[run.offset:], run.size, true)
		}
		s.VM.Instructions = append(s.VM.Instructions, stream.Instruction{Type: "flow_var", Name: name, Size: run.size,
			Op: "inc", Step: 1, ValueList: list, SplitToCores: &split})
		writes = append(writes, stream.Instruction{Type: "write_flow_var", Name: name, PacketOffset: run.offset,
			BigEndian: true})
	}
	if isIPv4 && len(writes) > 0 {
		writes = append(writes, stream.Instruction{Type: "fix_checksum_ipv4", PacketOffset: ip})
	}
	s.VM.Instructions = append(s.VM.Instructions, writes...)
	return s, nil
}

// run is a run of bytes, as many as a variable may have.
type run struct{ offset, size int }

// runsOf covers all bytes that differ by runs of 8, 4, 2 or 1 bytes. Bytes in between that don't differ are written,
// too.
func runsOf(differs []bool) (runs []run) {
	for i := 0; i < len(differs); i++ {
		if !differs[i] {
			continue
		}
		size := 1
		for _, wider := range []int{2, 4, 8} {
			if i+wider <= len(differs) && differs[i+wider-1] {
				size = wider
			}
		}
		runs = append(runs, run{i, size})
		i += size - 1
	}
	return runs
}
