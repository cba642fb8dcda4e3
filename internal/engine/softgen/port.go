package softgen

import (
	"cmp"
	"net"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
)

// port is one port of the server with its owner, its profiles and its addresses.
type port struct {
	index int
	path  datapath.Port
	speed units.BitRate
	cores int

	owner    owner
	profiles map[string]*profile
	// run is the present run, or nil.
	run *run

	service, serviceFiltered bool
	promiscuous, multicast   bool
	addressing               addressing
	linkUp                   bool // the link's state in the last event
	sent, received           gauge
}

// run is a profile being played.
type run struct {
	profile *profile
	end     <-chan struct{}
}

// ended says whether the run has ended, by itself or by Stop.
func (r *run) ended() bool {
	select {
	case <-r.end:
		return true
	default:
		return false
	}
}

// addressing is a port's addresses on its link, and its next hop.
type addressing struct {
	nextHop  [6]byte
	resolved bool // the next hop's MAC is known
	layer3   bool
	local4   netip.Addr
	remote4  netip.Addr
	ipv6     bool
	local6   netip.Addr
	vlans    []uint16
}

func newPort(index int, c PortConfig) *port {
	info := c.Port.Info()
	return &port{
		index: index, path: c.Port, speed: cmp.Or(c.Speed, info.Speed, DefaultSpeed), cores: max(c.Cores, 1),
		profiles:   map[string]*profile{defaultProfile: newProfile(defaultProfile)},
		addressing: addressing{nextHop: c.NextHop, resolved: c.NextHop != [6]byte{}}, linkUp: info.LinkUp,
	}
}

// state is the state of the busiest profile.
func (port *port) state() state {
	busiest := idle
	for _, f := range port.profiles {
		switch f.state() {
		case sending, paused:
			return f.state()
		case loaded:
			busiest = loaded
		case idle:
		}
	}
	return busiest
}

// requireIdle refuses the command while the port plays.
func (port *port) requireIdle(command string) error {
	if port.run == nil {
		return nil
	}
	return refused("command '%s' cannot be executed on current state: '%s'", command, port.state())
}

func macText(mac [6]byte) string { return net.HardwareAddr(mac[:]).String() }
