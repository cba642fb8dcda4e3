package datapath

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
)

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type shared -type record -type buckets -type arrival count kernel/count.c -- -Wall -Werror -mcpu=v3

// hook is a place in the kernel where the counting program (kernel/count.c) can run.
type hook struct {
	// counting, following and recording are the program's variants for the hook. All count, following also follows
	// stamps, and recording records when the frames of trains arrive.
	counting, following, recording string
	// dropCountingDrivers count the frames that the program drops among their receive drops.
	dropCountingDrivers []string
}

// tcHook (TCX) gets the frames of the kernel's stack, after merging. Every interface has it.
func tcHook() hook {
	return hook{counting: countProgCountBuffer, following: countProgFollowBuffer, recording: countProgRecordBuffer}
}

// xdpHook (XDP) gets the frames of the network card's driver one by one, before merging.
func xdpHook() hook {
	return hook{counting: countProgCountFrame, following: countProgFollowFrame, recording: countProgRecordFrame,
		dropCountingDrivers: []string{"virtio_net"}}
}

// dropsCountedBy says whether this driver counts the frames that the program drops as dropped.
func (h hook) dropsCountedBy(driver string) bool {
	return slices.Contains(h.dropCountingDrivers, driver)
}

// load loads the program that counts for a port with this address, and makes its maps. The caller closes both.
func (h hook) load(mac [6]byte, follow bool) (program *ebpf.Program, m kernelMaps, err error) {
	spec, err := loadCount()
	if err != nil {
		return nil, m, err
	}
	name := h.counting
	if follow {
		name = h.following
		m.bucketsOfFlow = spec.Maps[countMapTransits].InnerMap
	} else {
		delete(spec.Maps, countMapFollowed)
		delete(spec.Maps, countMapTransits)
	}
	delete(spec.Maps, countMapArrivals)
	delete(spec.Maps, arrivedMap)
	delete(spec.Variables, countVarArrived)
	if err := keepProgram(spec, name, mac); err != nil {
		return nil, m, err
	}
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, m, err
	}
	defer c.Close() // closes everything that isn't detached
	m.totals, m.flows, m.ring = c.DetachMap(countMapTotals), c.DetachMap(countMapFlows), c.DetachMap(countMapRing)
	m.followed, m.transits = c.DetachMap(countMapFollowed), c.DetachMap(countMapTransits)
	m.selection, m.variables = c.Variables[countVarWanted], c.DetachMap(selectionMap)
	return c.DetachProgram(name), m, nil
}

// These maps have the program's variables.
const (
	selectionMap = ".bss"          // wanted
	arrivedMap   = ".data.arrived" // arrived
)

// keepProgram keeps one variant of the program, for a port with this address.
func keepProgram(spec *ebpf.CollectionSpec, name string, mac [6]byte) error {
	maps.DeleteFunc(spec.Programs, func(candidate string, _ *ebpf.ProgramSpec) bool { return candidate != name })
	spec.Programs[name].Name = "linerate_count"
	if err := spec.Variables[countVarOwnMac].Set(mac); err != nil {
		return fmt.Errorf("set the port's address: %w", err)
	}
	return nil
}
