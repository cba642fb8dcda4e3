package forwarder

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Spec is what to forward between which interfaces, and how much of it.
type Spec struct {
	Forwarding plan.Forwarding `json:"forwarding"`
	Links      []Link          `json:"links"`
	// Directions are from interface to interface. With L3, routes decide, and a direction only says where the
	// limit is enforced. With L2 and MACRewrite it also is the way that frames take.
	Directions []Direction `json:"directions"`
	// Limit is per direction. Nil is as much as the kernel can forward.
	Limit *plan.Limit `json:"limit,omitempty"`
	// Mode makes it a real device, such as a filter. Nil is a plain forwarder.
	Mode *plan.Mode `json:"mode,omitempty"`
	// OwnCPU gives the forwarder a receive queue and a thread for each link, so that it can be overloaded like a
	// device. Without it, the forwarder works on the sender's CPU and loses only what a limit drops, which is
	// right for known answers.
	OwnCPU bool `json:"ownCPU,omitempty"`
	// AcceptsXDP gives each link a receive queue also without OwnCPU, so that live frames arrive (netif.AcceptXDP).
	AcceptsXDP bool `json:"takesXDP,omitempty"`
}

// Link is an interface in the forwarder's namespace, with what is known of the generator at the cable's other end.
type Link struct {
	Interface string         `json:"interface"`
	Addresses []netip.Prefix `json:"addresses,omitempty"` // the forwarder's own
	// Generator are the generators' addresses. They are the next hops of Networks, one for each in the same order.
	// Otherwise all networks of an IP version are behind its first address.
	Generator []netip.Addr `json:"generator,omitempty"`
	// GeneratorMAC, where known, becomes a static neighbour, so that no ARP or neighbour discovery is in the way.
	GeneratorMAC MAC            `json:"generatorMAC,omitempty"`
	Networks     []netip.Prefix `json:"networks,omitempty"`
	// Processor is the one that the kernel thread of OwnCPU is bound to. With nil the kernel's scheduler places it.
	Processor *int `json:"processor,omitempty"`
	// RunsFirst has that thread run on its processor before all ordinary work, so nothing that must answer in time may
	// run there.
	RunsFirst bool `json:"runsFirst,omitempty"`
}

// Direction is traffic that comes in on one interface and leaves by another.
type Direction struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// MAC is an Ethernet address that is written in JSON with colons.
type MAC net.HardwareAddr

// MarshalText writes the address with colons.
func (m MAC) MarshalText() ([]byte, error) { return []byte(net.HardwareAddr(m).String()), nil }

// UnmarshalText reads what net.ParseMAC reads.
func (m *MAC) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*m = nil
		return nil
	}
	a, err := net.ParseMAC(string(text))
	*m = MAC(a)
	return err
}

// Info says in words for the report what was set up (Applied), and which settings could not be made that don't
// change figures by themselves (Missing).
type Info struct {
	Applied []string `json:"applied,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

func (i *Info) applied(format string, args ...any) {
	i.Applied = append(i.Applied, fmt.Sprintf(format, args...))
}

func (i *Info) missing(format string, args ...any) {
	i.Missing = append(i.Missing, fmt.Sprintf(format, args...))
}

// Configure sets the forwarder up in the namespace. Nil is the caller's own. It needs CAP_NET_ADMIN there.
// After an error a part may be set up, so that the namespace must not be used.
func Configure(ctx context.Context, ns *netif.Namespace, spec Spec) (Info, error) {
	if err := spec.validate(); err != nil {
		return Info{}, fmt.Errorf("forwarder: %w", err)
	}
	var info Info
	err := ns.Do(func() error { return configure(ctx, spec, &info) })
	if err != nil {
		return info, fmt.Errorf("forwarder: %w", err)
	}
	return info, nil
}

func configure(ctx context.Context, spec Spec, info *Info) error {
	steps := []func(Spec, *Info) error{
		quieten,      // keep the kernel from sending by itself
		openLinks,    // plain, up, addressed
		forward,      // routes, or bridges
		applyMode,    // rules and tables of a real device
		limitTraffic, // and rewrite headers, as both are rules at the source link
		chooseCPU,    // on which CPU
		forwardByXDP, // before the kernel's stack, if that is the mode
	}
	if spec.Mode != nil && spec.Mode.Userspace != nil {
		steps = []func(Spec, *Info) error{quieten, openLinks, leaveToProgram}
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(spec, info); err != nil {
			return err
		}
	}
	return nil
}

func forward(spec Spec, info *Info) error {
	switch spec.Forwarding {
	case plan.L3:
		return forwardRouted(spec, info)
	case plan.L2:
		return forwardBridged(spec, info)
	default: // MACRewrite forwards in the rules
		return nil
	}
}
