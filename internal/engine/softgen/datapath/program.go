package datapath

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
)

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -type shared -type record -type buckets count kernel/count.c -- -Wall -Werror -mcpu=v3

// hook is a place in the kernel where the counting program (kernel/count.c) can run.
type hook struct {
	// counting and following are the program's variants for the hook: one only counts, the other follows stamps, too.
	counting, following string
	// dropsShow are the drivers whose receive drops have what the program drops among them.
	dropsShow []string
}

// trafficControl (TCX) gets what the kernel's stack would get: any interface has it, and the kernel has merged what it
// could.
func trafficControl() hook {
	return hook{counting: countProgCountBuffer, following: countProgFollowBuffer}
}

// expressPath (XDP) gets what the network card's driver got, frame by frame, before anything is merged.
func expressPath() hook {
	return hook{counting: countProgCountFrame, following: countProgFollowFrame, dropsShow: []string{"virtio_net"}}
}

// countedAsDropped says whether this driver counts the frames that the program has taken as dropped.
func (h hook) countedAsDropped(driver string) bool { return slices.Contains(h.dropsShow, driver) }

// load loads the program that counts for a port with this address, and makes its maps. They are the caller's to close.
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
	maps.DeleteFunc(spec.Programs, func(other string, _ *ebpf.ProgramSpec) bool { return other != name })
	spec.Programs[name].Name = "linerate_count"
	if err := spec.Variables[countVarOwnMac].Set(mac); err != nil {
		return nil, m, fmt.Errorf("set the port's address: %w", err)
	}
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, m, err
	}
	defer c.Close() // what isn't detached
	m.totals, m.flows, m.ring = c.DetachMap(countMapTotals), c.DetachMap(countMapFlows), c.DetachMap(countMapRing)
	m.followed, m.transits = c.DetachMap(countMapFollowed), c.DetachMap(countMapTransits)
	m.wanted = c.Variables[countVarWanted]
	return c.DetachProgram(name), m, nil
}
