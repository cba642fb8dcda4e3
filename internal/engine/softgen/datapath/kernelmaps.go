package datapath

import (
	"errors"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// kernelMaps are the eBPF maps that the counting program and its reader share.
type kernelMaps struct {
	settings, totals, flows, ring *ebpf.Map
	// followed and transits belong to a program that follows stamped frames: by flow id the frames' order, and the map of their latencies once there is one.
	followed, transits *ebpf.Map
}

func (m kernelMaps) follow() bool { return m.followed != nil }

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

// mapToMake is a map, and where it belongs.
type mapToMake struct {
	to *(*ebpf.Map)
	ebpf.MapSpec
}

func (m *kernelMaps) create(follow bool) error {
	specs := []mapToMake{
		{&m.settings, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: settingsOfEntry, MaxEntries: 1}},
		{&m.totals, ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 2 * countersOfPacket, MaxEntries: 1}},
		{&m.flows, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: countersOfPacket, MaxEntries: flowMapEntries, Flags: unix.BPF_F_MMAPABLE}},
		{&m.ring, ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: ringBytes}},
	}
	if follow {
		specs = append(specs, mapToMake{&m.followed, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: followedSize, MaxEntries: flowMapEntries, Key: word(), Value: followedType()}},
			mapToMake{&m.transits, ebpf.MapSpec{Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: flowMapEntries, InnerMap: transitsOfFlow()}})
	}
	for _, spec := range specs {
		created, err := ebpf.NewMap(&spec.MapSpec)
		if err != nil {
			return err
		}
		*spec.to = created
	}
	return nil
}

// transitsOfFlow are a flow's buckets, for each processor its own.
func transitsOfFlow() *ebpf.MapSpec {
	return &ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8 * transit.Buckets, MaxEntries: 1}
}

func word() btf.Type { return &btf.Int{Name: "unsigned int", Size: 4} }

// followedType describes followed to the kernel, which must know where its lock is.
func followedType() btf.Type {
	lock := &btf.Struct{Name: "bpf_spin_lock", Size: 4, Members: []btf.Member{{Name: "val", Type: word()}}}
	rest := &btf.Array{Index: word(), Type: word(), Nelems: followedSize/4 - 1}
	return &btf.Struct{Name: "followed", Size: followedSize, Members: []btf.Member{{Name: "lock", Type: lock}, {Name: "rest", Type: rest, Offset: 8 * followedRun}}}
}

func (m *kernelMaps) close() error {
	var errs []error
	for _, each := range []*ebpf.Map{m.settings, m.totals, m.flows, m.ring, m.followed, m.transits} {
		if each != nil {
			errs = append(errs, each.Close())
		}
	}
	return errors.Join(errs...)
}
