package datapath

import (
	"errors"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// kernelMaps are what the counting program and its reader share.
type kernelMaps struct {
	settings, totals, flows, ring *ebpf.Map
}

// The settings map's only entry: bits, and the port's own MAC.
const (
	settingBits     = 0
	settingMAC      = 4
	settingsOfEntry = 12
)

// Its bits.
const (
	settingPromiscuous = 1 << iota
	settingAll
	settingNeighbours
)

// setting is the entry as Go writes it.
type setting struct {
	Bits uint32
	MAC  [6]byte
	_    [2]byte
}

const (
	flowMapEntries   = 1024
	ringBytes        = 2 << 20
	countersOfPacket = 16 // a pair of 64-bit counters
)

func (m *kernelMaps) create() error {
	for _, spec := range []struct {
		to *(*ebpf.Map)
		ebpf.MapSpec
	}{
		{&m.settings, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: settingsOfEntry, MaxEntries: 1}},
		{&m.totals, ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 2 * countersOfPacket, MaxEntries: 1}},
		{&m.flows, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: countersOfPacket, MaxEntries: flowMapEntries, Flags: unix.BPF_F_MMAPABLE}},
		{&m.ring, ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: ringBytes}},
	} {
		created, err := ebpf.NewMap(&spec.MapSpec)
		if err != nil {
			return err
		}
		*spec.to = created
	}
	return nil
}

func (m *kernelMaps) close() error {
	var errs []error
	for _, each := range []*ebpf.Map{m.settings, m.totals, m.flows, m.ring} {
		if each != nil {
			errs = append(errs, each.Close())
		}
	}
	return errors.Join(errs...)
}
