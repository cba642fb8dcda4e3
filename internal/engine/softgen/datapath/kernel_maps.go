package datapath

import (
	"errors"

	"github.com/cilium/ebpf"
)

// kernelMaps are what the counting program and its reader share.
type kernelMaps struct {
	totals, flows, ring *ebpf.Map
	// followed has the frames' order by flow id, and transits has the map of their latencies once there is one.
	// Both belong to a program that follows stamped frames, and are nil for a program that only counts.
	followed, transits *ebpf.Map
	// bucketsOfFlow describes the maps that transits holds.
	bucketsOfFlow *ebpf.MapSpec
	// selection are the bits of countSharedWANTS_… that the port asks for.
	selection *ebpf.Variable
	variables *ebpf.Map // has selection
}

func (m *kernelMaps) close() error {
	return errors.Join(m.totals.Close(), m.flows.Close(), m.ring.Close(), m.followed.Close(), m.transits.Close(),
		m.variables.Close())
}
