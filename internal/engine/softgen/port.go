package softgen

import (
	"net"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
)

// port is one port of the server: who owns it, what is loaded on it, how it is addressed.
type port struct {
	index int
	path  datapath.Port
	speed units.BitRate
	cores int

	owner    owner
	profiles map[string]*profile
	// run is what plays now; nil when nothing does.
	run *run

	service, serviceFiltered bool
	promiscuous, multicast   bool
	layer                    addressing
	up                       bool // the link's state in the last event
	sent, received           gauge
}

// run is a profile being played, and the end of it.
type run struct {
	profile *profile
	done    <-chan struct{}
}

// over says whether it has ended, by itself or by Stop.
func (r *run) over() bool {
	select {
	case <-r.done:
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
	at := &port{
		index: index, path: c.Port, speed: c.Speed, cores: max(c.Cores, 1),
		profiles: map[string]*profile{defaultProfile: newProfile(defaultProfile)},
		layer:    addressing{nextHop: c.NextHop, resolved: c.NextHop != [6]byte{}}, up: c.Port.Info().LinkUp,
	}
	if at.speed == 0 {
		at.speed = c.Port.Info().Speed
	}
	if at.speed == 0 {
		at.speed = DefaultSpeed
	}
	return at
}

// port reads port_id.
func (s *Server) port(p *params) (*port, error) {
	index := p.byte("port_id")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if int(index) >= len(s.ports) {
		return nil, refused("invalid port id - should be: 0 - %d", len(s.ports)-1)
	}
	return s.ports[index], nil
}

// state is the state of the busiest profile.
func (at *port) state() state {
	most := idle
	for _, f := range at.profiles {
		switch f.state() {
		case sending, paused:
			return f.state()
		case loaded:
			most = loaded
		case idle:
		}
	}
	return most
}

// mustBeQuiet refuses the command while the port plays.
func (at *port) mustBeQuiet(command string) error {
	if at.run == nil {
		return nil
	}
	return refused("command '%s' cannot be executed on current state: '%s'", command, at.state())
}

func macText(mac [6]byte) string { return net.HardwareAddr(mac[:]).String() }
