package frames

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/path"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// resolver gives ports their addresses, and finds the device's MAC on each link.
type resolver struct {
	journal  *runner.Journal
	topology *topology
	fleet    *fleet

	knownHops []map[string]engine.MAC // the device's MAC by generator and link, where the Plan or the caller knows it
	nextHops  []map[string]engine.MAC // the device's MAC by generator and link, as resolved
}

// address gives every port its addresses and resolves its next hop.
func (r *resolver) address(ctx context.Context) error {
	r.journal.Update(func(p *runner.Progress) { p.Message = "finding the device's addresses" })
	r.nextHops = make([]map[string]engine.MAC, len(r.topology.names))
	timeout := resolveTimeout + r.journal.Plan.DUT.ReadyDelay.Std()
	err := r.fleet.callAll(ctx, timeout, "address", func(ctx context.Context, g int) error {
		r.nextHops[g] = map[string]engine.MAC{}
		for _, planned := range r.journal.Plan.Generators[g].Ports {
			mac, err := r.addressPort(ctx, g, planned)
			if err != nil {
				return err
			}
			if mac == "" {
				return fmt.Errorf("link %s: the server's port %d has no destination MAC: give it dest_mac or "+
					"default_gw in the server's configuration file (port_info)",
					planned.Link, r.topology.index(g, planned.Link))
			}
			r.nextHops[g][planned.Link] = mac
		}
		return nil
	})
	for g := range r.journal.Report.Generators {
		for i := range r.journal.Report.Generators[g].Ports {
			port := &r.journal.Report.Generators[g].Ports[i]
			port.NextHopMAC = string(r.nextHops[g][port.Link])
		}
	}
	return err
}

// addressing is a port's addresses and next hop on its link. Where the device forwards frames unchanged, the next hop
// is the replica's own far port.
func (r *resolver) addressing(g int, port plan.GeneratorPort) (engine.Addressing, error) {
	if r.topology.forwarding() == plan.AsConfigured {
		return engine.Addressing{}, nil
	}
	a := engine.Addressing{Local: port.Addresses, VLAN: port.VLAN}
	if r.topology.forwarding() == plan.L2 {
		peer := r.topology.peerOf(port.Link)
		far, err := r.topology.partner(g, port.Link, peer)
		if err == nil {
			a.NextHopMAC, err = r.topology.mac(far, peer)
		}
		return a, err
	}
	link := r.topology.link(port.Link)
	for _, prefix := range link.DUT.Addresses {
		a.NextHop = append(a.NextHop, prefix.Addr())
	}
	a.NextHopMAC = r.knownHops[g][port.Link]
	if a.NextHopMAC == "" {
		a.NextHopMAC = engine.MAC(strings.ToLower(link.DUT.MAC))
	}
	if a.NextHopMAC == "" && len(a.NextHop) == 0 {
		return a, fmt.Errorf("link %s: neither address nor MAC of the device is known: set dut.address or "+
			"dut.macAddress", port.Link)
	}
	return a, nil
}

// hops are the next hop's addresses, for people.
func hops(a engine.Addressing) string {
	if len(a.NextHop) == 0 {
		return string(a.NextHopMAC)
	}
	var names []string
	for _, h := range a.NextHop {
		names = append(names, netip.Addr.String(h))
	}
	return strings.Join(names, ", ")
}

// elsewhereTimeout bounds one question for where the device may be instead, which is asked twice in it.
const elsewhereTimeout = time.Second

// stillStarting says that the device may still be on its way to answer and to forward, by what the Plan says.
func (r *resolver) stillStarting() bool {
	return time.Since(r.journal.Started) < r.journal.Plan.DUT.ReadyDelay.Std()
}

// addressPort gives a port its addresses and resolves its next hop, again and again while the device may still be
// starting.
func (r *resolver) addressPort(ctx context.Context, g int, planned plan.GeneratorPort) (engine.MAC, error) {
	a, err := r.addressing(g, planned)
	if err != nil {
		return "", err
	}
	for {
		mac, err := r.fleet.engines[g].Address(ctx, r.topology.index(g, planned.Link), a)
		switch {
		case errors.Is(err, engine.ErrUnresolved) && r.stillStarting() && ctx.Err() == nil:
			continue // each attempt waits for answers
		case errors.Is(err, engine.ErrUnresolved):
			return "", &unanswered{link: planned.Link, hop: hops(a), found: r.elsewhere(ctx, g, planned),
				cautions: r.topology.cautions(planned.Link)}
		case err != nil:
			return "", fmt.Errorf("link %s, next hop %s: %w", planned.Link, hops(a), err)
		}
		return mac, nil
	}
}

// elsewhere asks, on the port that got no answer, what would answer if it were wired or tagged as another link is. It
// is nil if nothing would.
func (r *resolver) elsewhere(ctx context.Context, g int, planned plan.GeneratorPort) *place {
	expected, err := r.addressing(g, planned)
	if err != nil {
		return nil
	}
	if expected.VLAN != 0 {
		untagged := expected
		untagged.VLAN = 0
		if r.answers(ctx, g, planned, untagged) {
			return &place{report.AnswersUntagged, fmt.Sprintf("it answers without a VLAN tag, and the link has vlan: %d: "+
				"remove vlan, or give the device's port this VLAN, tagged", planned.VLAN)}
		}
	}
	for _, candidate := range r.journal.Plan.Generators[g].Ports {
		if candidate.Link == planned.Link {
			continue
		}
		theirs, err := r.addressing(g, candidate)
		if err != nil {
			continue
		}
		if r.answers(ctx, g, planned, theirs) {
			return &place{report.PortsSwapped, fmt.Sprintf("%s, the device's address on link %s, answers here: the "+
				"generator's ports or their cables are swapped; give --ports in the other order, or swap the cables",
				hops(theirs), candidate.Link)}
		}
		if expected.VLAN != candidate.VLAN {
			expected.VLAN = candidate.VLAN
			if r.answers(ctx, g, planned, expected) {
				return &place{report.AnswersInVLAN, fmt.Sprintf("it answers in VLAN %d, that of link %s: correct "+
					"links[].vlan, or the device's ports", candidate.VLAN, candidate.Link)}
			}
			expected.VLAN = planned.VLAN
		}
	}
	return nil
}

// swapped says that the device asks, on one link, for the generator's address on another, or nil. The device's
// question shows its own view of its cables. An answer to our question wouldn't, as many a router answers on each
// link for all of its addresses.
func (r *resolver) swapped(arrivals []path.Arrival) *unanswered {
	for _, s := range arrivals {
		asked := path.AskedFor(s.Bytes)
		if !asked.IsValid() {
			continue
		}
		capturedOn, link := r.topology.linkOf(s), r.topology.linkWith(asked)
		if capturedOn != "" && link != "" && capturedOn != link {
			return &unanswered{link: capturedOn, hop: asked.String(), found: &place{report.PortsSwapped, fmt.Sprintf(
				"the device asks on link %s for %s, the generator's address on link %s: the generator's ports or their "+
					"cables are swapped; give --ports in the other order, or swap the cables", capturedOn, asked, link)}}
		}
	}
	return nil
}

// answers says whether a next hop is resolved by such addressing on a port.
func (r *resolver) answers(ctx context.Context, g int, planned plan.GeneratorPort, a engine.Addressing) bool {
	ctx, cancel := context.WithTimeout(ctx, elsewhereTimeout)
	defer cancel()
	_, err := r.fleet.engines[g].Address(ctx, r.topology.index(g, planned.Link), a)
	return err == nil
}

// unanswered is an error of a link on which nobody answers for the device's address.
type unanswered struct {
	link, hop string
	found     *place   // where the device answers instead, or nil
	cautions  []string // of the link's ports
}

// place is where the device is, though the Plan has it elsewhere.
type place struct {
	detail report.Detail
	text   string // where, and the way out
}

func (e *unanswered) Error() string {
	message := fmt.Sprintf("nobody answers ARP or neighbour discovery for %s on link %s", e.hop, e.link)
	if e.found != nil {
		return message + ": " + e.found.text
	}
	return noted(message+". If the device is a bridge, set dut.forwarding: L2; if it has another address, "+
		"links[].dut.address; if its port is tagged, links[].vlan. "+
		"A switch with spanning tree forwards nothing for 30 to 50 s after its port comes up: dut.readyDelay: 60s "+
		"waits for it", e.cautions)
}

// Unwrap gives the kind.
func (*unanswered) Unwrap() error { return engine.ErrUnresolved }

// Ending is how such an error ends a run.
func (*unanswered) Ending() report.Ending { return report.Failed }

// Cause says where the device is, if that is known.
func (e *unanswered) Cause() *report.Cause {
	if e.found != nil {
		return &report.Cause{Detail: e.found.detail, Address: e.hop, Link: e.link}
	}
	return &report.Cause{Detail: report.NobodyAnswers, Address: e.hop, Link: e.link, Cautions: e.cautions}
}

// misfit is an error of a frame that is longer than a port takes, or the far end of its cable.
type misfit struct {
	link  string
	bytes int // with FCS
	cause error
}

// misfitOf names the link and the frame where an error says that a frame is too long.
func misfitOf(err error, link string, length int) error {
	if !errors.Is(err, engine.ErrTooLong) {
		return err
	}
	return &misfit{link, length + units.FCSBytes, err}
}

func (e *misfit) Error() string {
	return fmt.Sprintf("frames of %d bytes don't fit link %s: %s; or send smaller frames", e.bytes, e.link,
		strings.TrimPrefix(e.cause.Error(), engine.ErrTooLong.Error()+": "))
}

// Unwrap gives the kind.
func (e *misfit) Unwrap() error { return e.cause }

// Ending is how such an error ends a run.
func (*misfit) Ending() report.Ending { return report.Failed }

// Cause has the length and the link.
func (e *misfit) Cause() *report.Cause {
	return &report.Cause{Detail: report.FrameTooLong, FrameBytes: e.bytes, Link: e.link}
}
