package trextest

import (
	"encoding/json"
	"math/rand/v2"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// Port states, as get_port_status names them.
const (
	stateIdle    = "IDLE"
	stateStreams = "STREAMS"
	stateTX      = "TX"
)

type port struct {
	Port
	owner       string
	session     uint32
	handler     string
	linkDown    bool
	service     bool
	promiscuous bool
	multicast   bool
	pauseMode   int
	nextHop     string // MAC
	layer2      bool   // it is an address of its own, and no link event makes the port forget it
	unresolved  bool   // it is not known, or was forgotten
	local, peer string // IPv4
	tags        []int  // of VLANs
	profile     bool   // the default profile exists
	streams     map[int]stream.Stream
	raw         map[int]json.RawMessage
	versions    map[int]int // of the streams' flows
	state       string

	rate         float64 // packets per second of all streams together
	mean         float64 // mean frame, FCS included
	starts, ends float64 // times of the server's schedule
	unsent       float64 // frames of its finite streams that aren't sent yet
	sending      float64 // seconds for which it has sent its streams
	room, roomAt float64 // frames that the device has room for above its limit, at this time of the server's clock

	sent, sentBytes, received, receivedBytes float64
	receivedMean                             float64 // of the frames that are received now
	cleared, byCounters, byExtended          frames  // read from registers in all, and by each of the two readers
	receiveErrors, damaged                   int64
}

func newPort(p Port) *port {
	n := &port{Port: p, tags: []int{}, owner: p.Owner, state: stateIdle, pauseMode: 3, room: p.Holds,
		nextHop: p.Neighbor, layer2: true, unresolved: p.Neighbor == "", streams: map[int]stream.Stream{},
		raw: map[int]json.RawMessage{}, versions: map[int]int{}}
	if p.Virtual {
		n.pauseMode = -1
	}
	if p.Owner != "" {
		n.session, n.handler = rand.Uint32()|1, token()
	}
	return n
}

func (g *Generator) acquire(p *port, c Call) (any, error) {
	var params struct {
		User    string `json:"user"`
		Session uint32 `json:"session_id"`
		Force   bool   `json:"force"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if params.Session == 0 {
		return nil, g.crash("acquire with session_id 0")
	}
	if !params.Force && p.owner != "" {
		switch {
		case p.owner != params.User:
			return nil, refuse("port is already taken by '%s'", p.owner)
		case p.session != params.Session:
			return nil, refuse("port is already owned by another session of '%s'", p.owner)
		}
		return p.handler, nil
	}
	g.events.register(params.Session)
	g.give(p, params.User, params.Session)
	return p.handler, nil
}

// give makes a session the owner of a port. The event says whether another one was, and not whether the client
// forced it.
func (g *Generator) give(p *port, user string, session uint32) {
	owned := p.owner != ""
	p.owner, p.session, p.handler = user, session, token()
	g.events.add(5, object{"port_id": p.Index, "who": user, "session_id": session, "force": owned})
}

func (g *Generator) release(p *port, _ Call) (any, error) {
	g.events.add(6, object{"port_id": p.Index, "who": p.owner, "session_id": p.session})
	p.owner, p.session, p.handler = "", 0, ""
	return object{}, nil
}

func (p *port) getOwner(Call) (any, error) {
	if p.owner == "" {
		return object{"owner": "<FREE>"}, nil
	}
	return object{"owner": p.owner}, nil
}

func (p *port) getProfileList(Call) (any, error) {
	if p.profile {
		return []string{"_"}, nil
	}
	return []string{}, nil
}

func (g *Generator) getPortStatus(p *port, c Call) (any, error) {
	var params struct {
		Profile string `json:"profile_id"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if params.Profile != "" && params.Profile != "*" && !p.profile {
		return nil, g.crash("get_port_status of an unknown profile")
	}
	attributes := p.attributes()
	attributes["vlan"] = object{"tags": p.tags}
	ipv4 := object{"state": p.addressState()}
	if p.local != "" {
		ipv4["src"], ipv4["dst"] = p.local, p.peer
	}
	attributes["layer_cfg"] = object{
		"ether": object{"src": p.MAC, "dst": p.nextHop, "state": p.destinationState()}, "ipv4": ipv4,
		"ipv6": object{"enabled": false},
	}
	status := object{"owner": p.owner, "state": p.state, "service": p.service, "attr": attributes}
	if params.Profile != "" {
		status["state_profile"] = object{"_": p.state}
	}
	return status, nil
}

// attributes are those that an event has, too.
func (p *port) attributes() object {
	filter := "hw"
	if p.service {
		filter = "all"
	}
	return object{
		"speed": wire.Float(p.SpeedGbps), "link": object{"up": !p.linkDown}, "fc": object{"mode": p.pauseMode},
		"promiscuous": object{"enabled": p.promiscuous}, "multicast": object{"enabled": p.multicast},
		"rx_filter_mode": filter, "vxlan_fs": []int{},
	}
}

func (p *port) destinationState() string {
	if p.unresolved {
		return "unconfigured"
	}
	return "configured"
}

func (p *port) addressState() string {
	switch {
	case p.local == "":
		return "none"
	case p.unresolved:
		return "unresolved"
	}
	return "resolved"
}

func (g *Generator) service(p *port, c Call) (any, error) {
	var params struct {
		Port    int  `json:"port_id"`
		Enabled bool `json:"enabled"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if !params.Enabled && g.captures.running(params.Port) {
		return nil, refuse("unable to disable service mode - an active capture on port %d exists", params.Port)
	}
	p.service = params.Enabled
	return object{}, nil
}

func (p *port) setPortAttr(c Call) (any, error) {
	var params struct {
		Attr struct {
			Promiscuous *struct{ Enabled bool }
			Multicast   *struct{ Enabled bool }
			FlowControl *struct{ Mode int } `json:"flow_ctrl_mode"`
		}
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if params.Attr.Promiscuous != nil {
		p.promiscuous = params.Attr.Promiscuous.Enabled
	}
	if params.Attr.Multicast != nil {
		p.multicast = params.Attr.Multicast.Enabled
	}
	if params.Attr.FlowControl != nil {
		if p.Virtual {
			return nil, refuse("Error applying flow_ctrl_mode: operation is not supported for this NIC.")
		}
		p.pauseMode = params.Attr.FlowControl.Mode
	}
	return object{}, nil
}

func (p *port) setL2(c Call) (any, error) {
	var params struct {
		MAC string `json:"dst_mac"`
	}
	err := c.Decode(&params)
	p.nextHop, p.local, p.peer, p.layer2, p.unresolved = params.MAC, "", "", true, false
	return object{}, err
}

func (p *port) setL3(c Call) (any, error) {
	var params struct {
		Source      string `json:"src_addr"`
		Destination string `json:"dst_addr"`
		MAC         string `json:"resolved_mac"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if p.state == stateTX {
		return nil, refuse("command 'set_l3_mode' cannot be executed on current state: 'TX'")
	}
	p.local, p.peer, p.layer2, p.unresolved = params.Source, params.Destination, false, params.MAC == ""
	if params.MAC != "" {
		p.nextHop = params.MAC
	}
	return object{}, nil
}

func (p *port) setVLAN(c Call) (any, error) {
	var params struct {
		Tags []int `json:"vlan"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	p.tags = append([]int{}, params.Tags...)
	return object{}, nil
}

// confIPv6 is refused as the server's default stack refuses it.
func (*port) confIPv6(c Call) (any, error) {
	var params struct {
		Enabled bool `json:"enabled"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if params.Enabled {
		return nil, refuse("Could not configure IPv6: IPv6 is not supported with current stack")
	}
	return object{}, nil
}
