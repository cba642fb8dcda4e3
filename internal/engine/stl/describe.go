package stl

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/card"
	"github.com/linerate-dev/linerate/internal/units"
)

// Describe says what generator this is and which ports it has.
func (e *Engine) Describe(ctx context.Context) (engine.Description, error) {
	info, statuses, err := e.survey(ctx)
	if err != nil {
		return engine.Description{}, e.explain(ctx, err)
	}
	d := engine.Description{
		Product: e.control.Version().String(), Server: e.control.Address(), Hostname: info.Hostname,
		CPUModel: info.CoreType, CoreCount: info.CoreCount,
		Processors: info.Processors, Kernel: info.Kernel, Hypervisor: info.Hypervisor, Tuning: info.Tuning,
		Allowed: info.Allowed,
	}
	for _, p := range info.Ports {
		port := describe(p, statuses[p.Index])
		port.PauseFrames = cmp.Or(engine.Visibility(p.PauseFrames), e.portHistory.pauseFrames(p.Index))
		d.Ports = append(d.Ports, port)
	}
	return d, nil
}

// survey reads the state of all ports.
func (e *Engine) survey(ctx context.Context) (trex.SystemInfo, map[int]trex.PortStatus, error) {
	info, err := e.control.SystemInfo(ctx)
	if err != nil {
		return info, nil, err
	}
	e.reported.machine.Store(info.Processors > 0)
	var ports []int
	for _, p := range info.Ports {
		ports = append(ports, p.Index)
		e.reported.virtual[p.Index] = virtual(p)
	}
	statuses, err := e.control.PortStatuses(ctx, ports)
	return info, statuses, err
}

func describe(p trex.PortInfo, s trex.PortStatus) engine.Port {
	return engine.Port{
		Index:       p.Index,
		Name:        nameOf(p),
		Driver:      p.Driver,
		NIC:         nicOf(p),
		Firmware:    p.Firmware,
		Path:        p.Path,
		MAC:         engine.MAC(strings.ToLower(p.MAC)),
		Virtual:     virtual(p),
		Speed:       bitRate(float64(s.Attributes.SpeedGbps)),
		LinkUp:      s.Attributes.Link.Up,
		Owner:       s.Owner,
		FlowControl: flowControl(s.Attributes.FlowControlMode()),
		// What the server reports, or else what is known of its driver.
		ReceiveDrops:  cmp.Or(engine.Visibility(p.ReceiveDrops), driverOf(p.Driver).drops),
		Untimed:       untimed(p.Stamps),
		Untrained:     untrained(p.Trains),
		Ring:          max(p.Ring, 0),
		ReceiveQueues: p.ReceiveQueues,
		Cautions:      cautions(p),
	}
}

// untimed is the reason why a port can't time every frame by stamps, as its server reports it. It is empty where the
// port can.
func untimed(stamps string) string {
	switch stamps {
	case "followed":
		return ""
	case "":
		return "its server can't put a stamp into every frame; linerate's software engine can"
	}
	return stamps
}

// cautions are the server's own, or what its driver's name says.
func cautions(p trex.PortInfo) []string {
	if len(p.Cautions) == 0 && (p.Driver == "net_iavf" || strings.HasSuffix(p.Driver, "_vf")) {
		return []string{card.FunctionCaution(nameOf(p), "")}
	}
	return p.Cautions
}

// nicOf is the network card's model. TRex describes PCI ports by the card's name, and other ports by a name of their
// own.
func nicOf(p trex.PortInfo) string {
	if p.NIC == "" && specified(p.PCIAddress) && specified(p.Description) {
		return p.Description
	}
	return p.NIC
}

// specified says whether a server's text holds a value.
func specified(text string) bool { return text != "" && text != "N/A" && text != "Unknown" }

// nameOf is the PCI address, or else what the server calls the port.
func nameOf(p trex.PortInfo) string {
	for _, name := range []string{p.PCIAddress, p.Description} {
		if specified(name) {
			return name
		}
	}
	return ""
}

// virtual says whether a port's speed is no physical one. Virtual functions of real cards count as virtual
// ports for the server, but have their card's speed.
func virtual(p trex.PortInfo) bool {
	physical := []string{"net_iavf", "net_i40e_vf", "net_ixgbe_vf", "net_e1000_igb_vf", "net_mlx5", "net_mlx4",
		"net_ice", "net_bnxt"}
	return p.Virtual && !slices.Contains(physical, p.Driver)
}

// bitRate converts Gb/s. An impossible value becomes 0, unknown.
func bitRate(gbps float64) units.BitRate {
	if !(gbps > 0) || gbps > 1e6 {
		return 0
	}
	return units.BitRate(math.Round(gbps*1e6)) * units.Kbps
}

func flowControl(mode int) string {
	switch {
	case mode == 0:
		return "off"
	case mode > 0:
		return "on"
	}
	return "unknown"
}
