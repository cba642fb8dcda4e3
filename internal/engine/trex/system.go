package trex

import (
	"cmp"
	"context"
	"slices"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// SystemInfo is get_system_info's answer.
type SystemInfo struct {
	Hostname  string `json:"hostname"`
	CoreCount int    `json:"dp_core_count"`
	CoreType  string `json:"core_type"` // the CPU's model
	// Processors to Allowed describe the machine. Only the software engine reports them.
	Processors int    `json:"processors"`
	Kernel     string `json:"kernel"`
	Hypervisor string `json:"hypervisor"`
	Tuning     string `json:"tuning"`  // how the machine is set up
	Allowed    string `json:"allowed"` // the processors that the server may run on
	// Software means that CPU cores judge received packets, and not the NIC's filters.
	Software bool       `json:"advanced_per_stream_stats"`
	Ports    []PortInfo `json:"ports"` // by index, which may skip
}

// PortInfo is get_system_info's description of a port. Its speed is in PortStatus.
type PortInfo struct {
	Index       int    `json:"index"`
	Driver      string `json:"driver"` // "net_af_packet", "net_mlx5"
	Description string `json:"description"`
	Path        string `json:"path"` // how it sends and receives, which only the software engine reports
	NIC         string `json:"nic"`  // the card's PCI ids, which only the software engine reports, like Firmware
	Firmware    string `json:"firmware"`
	// ReceiveDrops and PauseFrames say whether the port counts frames that it had no room for, and pause frames. Each
	// is "counted", "hidden", "unknown" or "none". Only the software engine reports them.
	ReceiveDrops string `json:"receive_drops"`
	PauseFrames  string `json:"pause_frames"`
	// Stamps is "followed" where the port can time every frame by stamps, else the reason why it can't. Only the
	// software engine reports it.
	Stamps string `json:"stamps"`
	// Trains is "timed" where the port can send trains and time their frames, else the reason why it can't. Ring is how
	// many frames the receive ring holds that its frames arrive at, 0 if unknown. Only the software engine reports
	// them.
	Trains string `json:"trains"`
	Ring   int    `json:"ring"`
	// ReceiveQueues is the number of the port's receive queues, 0 if unknown. Only the software engine reports it.
	ReceiveQueues int `json:"receive_queues"`
	// Cautions are sentences about what may keep frames from the port. Only the software engine reports them.
	Cautions    []string `json:"cautions"`
	PCIAddress  string   `json:"pci_addr"` // "N/A" for what isn't on PCI
	MAC         string   `json:"hw_mac"`
	Virtual     bool     `json:"is_virtual"`
	FlowControl bool     `json:"is_fc_supported"`
	Promiscuous bool     `json:"is_prom_supported"`
	Receive     struct {
		Counters int `json:"counters"` // how many flow ids it can count
	} `json:"rx"`
}

// SystemInfo asks what machine this is and which ports it has.
func (c *Connection) SystemInfo(ctx context.Context) (SystemInfo, error) {
	var info SystemInfo
	err := c.invoke(ctx, call{method: "get_system_info", port: -1, result: &info})
	slices.SortFunc(info.Ports, func(a, b PortInfo) int { return cmp.Compare(a.Index, b.Index) })
	return info, err
}

// SupportedCommands lists the server's methods.
func (c *Connection) SupportedCommands(ctx context.Context) ([]string, error) {
	var methods []string
	err := c.invoke(ctx, call{method: "get_supported_cmds", port: -1, result: &methods})
	return methods, err
}

// States of ports and of their profiles, as the server names them. A port that is down is DOWN.
const (
	stateIdle      = "IDLE"
	stateStreams   = "STREAMS" // it has streams, none of which is sent
	stateSending   = "TX"
	statePaused    = "PAUSE"
	stateReplaying = "PCAP_TX"
)

// PortStatus is get_port_status' answer.
type PortStatus struct {
	Owner      string            `json:"owner"`         // "" free
	State      string            `json:"state"`         // the union over profiles
	Profiles   map[string]string `json:"state_profile"` // state of each profile
	Service    bool              `json:"service"`
	Attributes PortAttributes    `json:"attr"`
}

// HasTraffic says whether the port sends, or would as soon as it was resumed.
func (s PortStatus) HasTraffic() bool {
	switch s.State {
	case stateSending, statePaused, stateReplaying:
		return true
	}
	return false
}

// PortAttributes are a port's settings and its link's state.
type PortAttributes struct {
	SpeedGbps wire.Float `json:"speed"` // layer-1 line rate in Gb/s, a meaningless constant for virtual ports
	Link      struct {
		Up bool `json:"up"`
	} `json:"link"`
	FlowControl *struct {
		Mode int `json:"mode"`
	} `json:"fc"`
	Promiscuous struct {
		Enabled bool `json:"enabled"`
	} `json:"promiscuous"`
	VLAN struct {
		Tags []uint16 `json:"tags"`
	} `json:"vlan"`
	Layer struct {
		Ether struct {
			Source      string `json:"src"` // the port's own MAC
			Destination string `json:"dst"`
			State       string `json:"state"` // "configured" or "unconfigured"
		} `json:"ether"`
		IPv4 struct {
			Source      string `json:"src"`
			Destination string `json:"dst"`
			State       string `json:"state"` // "none", "unresolved" or "resolved"
		} `json:"ipv4"`
		IPv6 struct {
			Enabled bool   `json:"enabled"`
			Source  string `json:"src"`
		} `json:"ipv6"`
	} `json:"layer_cfg"`
}

// FlowControlMode is the pause-frame mode, which is 0 off, 1 receives, 2 sends, 3 both, -1 unknown.
func (a PortAttributes) FlowControlMode() int {
	if a.FlowControl == nil {
		return -1
	}
	return a.FlowControl.Mode
}

// statusCall asks for all profiles, because naming one that doesn't exist would end the server.
func statusCall(port int, result *PortStatus) *call {
	return &call{method: "get_port_status", port: port, params: params{"port_id": port, "profile_id": allProfiles,
		"block": false}, result: result}
}

// PortStatus asks for a port's state.
func (c *Connection) PortStatus(ctx context.Context, port int) (PortStatus, error) {
	var status PortStatus
	err := c.invoke(ctx, *statusCall(port, &status))
	return status, err
}

// PortStatuses asks for several ports' states in one exchange.
func (c *Connection) PortStatuses(ctx context.Context, ports []int) (map[int]PortStatus, error) {
	statuses := make([]PortStatus, len(ports))
	calls := make([]*call, len(ports))
	for i, port := range ports {
		calls[i] = statusCall(port, &statuses[i])
	}
	if err := c.allOrFirst(ctx, calls); err != nil {
		return nil, err
	}
	byPort := make(map[int]PortStatus, len(ports))
	for i, port := range ports {
		byPort[port] = statuses[i]
	}
	return byPort, nil
}

// allOrFirst runs the calls in one exchange and returns the first error of any.
func (c *Connection) allOrFirst(ctx context.Context, calls []*call) error {
	if len(calls) == 0 {
		return nil
	}
	if err := c.invokeBatch(ctx, calls...); err != nil {
		return err
	}
	for _, k := range calls {
		if k.err != nil {
			return k.err
		}
	}
	return nil
}
