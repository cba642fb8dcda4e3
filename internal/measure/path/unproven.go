package path

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// fault is the most telling reason why the path isn't proven. It is nil for a path that is.
func (t *tally) fault() *fault {
	if f := t.wrong(); f != nil {
		return f
	}
	source, target := t.direction.From, t.direction.To
	switch {
	case t.sent == 0:
		return t.faultOf(report.NothingToMark, "no frame to send from %s: its streams hold no frame that can be marked",
			source)
	case t.arrived < t.sent && t.quoted > 0:
		f := t.objection.fault(t, t.objected, t.quoted)
		f.message = fmt.Sprintf("%d of %d frames sent on %s arrived on %s; %s", t.arrived, t.sent, source, target,
			f.message)
		return f
	case t.arrived == t.sent:
		return nil
	}
	f := t.ownHeaders()
	if f == nil {
		f = t.missingFrames()
	}
	if t.arrived == 0 {
		f.message = fmt.Sprintf("none of %d frames sent on %s arrived on %s or anywhere else; %s", t.sent, source,
			target, f.message)
		return f
	}
	f.message = fmt.Sprintf("%d of %d frames sent on %s arrived on %s; %s", t.arrived, t.sent, source, target, f.message)
	return f
}

// mayPass says that what a router objected to may mend itself, as it has yet to learn a route or a neighbour.
func (t *tally) mayPass() bool {
	return t.quoted == 0 || t.objection.reason == noRoute || t.objection.reason == noNeighbour
}

// missingFrames is what to check where the device forwarded no frames, or not all.
func (t *tally) missingFrames() *fault {
	source, target := t.direction.From, t.direction.To
	switch {
	case t.arrived > 0:
		return t.faultOf(report.SomeForwarded, "check the device's routes, filters and neighbours for all flows")
	case t.forwarding == plan.L2:
		return t.faultOf(report.NothingBridged, "check that the device is up and has both links in one bridge or VLAN. "+
			"After a port comes up, a switch with spanning tree forwards nothing for 30 to 50 s: make the ports edge "+
			"ports (portfast), or wait with dut.readyDelay: 60s")
	}
	return t.faultOf(report.NothingForwarded, "check that the device is up, forwards from %s to %s, and has routes and "+
		"neighbours for the networks behind %s", source, target, target)
}

// ownHeaders names what of a missing frame's headers is the stream's own and explains that it didn't arrive, or
// nil.
func (t *tally) ownHeaders() *fault {
	if t.missing == nil || t.forwarding == plan.AsConfigured {
		return nil
	}
	destination, _ := macs(t.missing.Frame)
	switch ttl, routers := t.missing.ttl(), t.device.Routers(); {
	case destination != t.missing.Lane.NextHopMAC:
		owner := "a stream"
		if i, ok := t.missing.Lane.OwnDestinations[destination]; ok {
			owner = fmt.Sprintf("streams[%d]", i)
		}
		return t.faultOf(report.OwnDestination, "%s sends to its own destination MAC %s (flags 2 or 3), and the next hop on link %s is %s: use flags 0 or 1, or the next hop's MAC", owner, destination, t.direction.From, t.missing.Lane.NextHopMAC)
	case routers > 0 && t.missing.wrongHeader():
		return t.faultOf(report.StreamChecksum, "a stream's frames have a wrong IPv4 header checksum, which routers drop: correct packet.binary, or add fix_checksum_ipv4 to the program")
	case ttl <= routers:
		return t.faultOf(report.TTLTooSmall, "a stream's frames leave with TTL %d, and the device takes %d: send them with a larger one",
			ttl, routers)
	}
	return nil
}

// wrong is the most telling thing that should not have been seen, or nil.
func (t *tally) wrong() *fault {
	source, target := t.direction.From, t.direction.To
	if f := t.cameBack(); f != nil {
		return f
	}
	switch {
	case t.elsewhere > 0:
		return t.faultOf(report.OtherPort, "%d of %d frames sent on %s came out at %s instead of %s; check the cabling and the device's routes", t.elsewhere, t.sent, source, t.elsewhereP, target)
	case t.untouched > 0:
		return t.faultOf(report.DeviceBypassed, "%d of %d frames arrived on %s with MACs and TTL untouched: they bypassed the device; check for a cable or a switch that joins %s and %s, or set forwarding: L2",
			t.untouched, t.sent, target, source, target)
	case t.repeated > 0:
		return t.faultOf(report.FramesRepeated, "%d of %d frames arrived on %s more than once; check for a loop or a second path between %s and %s", t.repeated, t.sent, target, source, target)
	case t.seen.undeclared > 0 && t.seen.change == plan.Encapsulation: // the cause of all else that differs
		return t.changeFault()
	case t.wrongTTL > 0:
		advice, detail := t.otherDevice()
		f := t.faultOf(detail, "%d of %d frames arrived on %s with TTL %d instead of %d (%s forwarding); check the "+
			"device's mode%s", t.wrongTTL, t.sent, target, t.sawTTL, t.wantTTL, t.forwarding, advice)
		f.cause.Routers = int16(t.routersSeen())
		return f
	case t.wrongMAC > 0:
		f := t.faultOf(t.macDetail, "%d of %d frames arrived on %s with %s", t.wrongMAC, t.sent, target, t.example)
		f.cause.Address = string(t.otherMAC)
		return f
	case t.otherHosts > 0:
		return t.faultOf(report.OtherAddresses, "%d of %d frames arrived on %s with %s; check how the device translates addresses",
			t.otherHosts, t.sent, target, t.otherHow)
	case t.changeFault() != nil && t.pieces == 0 && t.spoiledBy != report.ChecksumWrong:
		return t.changeFault()
	case t.pieces > 0:
		return t.faultOf(report.Fragments, "the device fragments: %d of %d frames with IP packets of %d bytes arrived on %s in pieces of %d, so its MTU towards %s is %d to %d; raise it, or send smaller frames",
			t.pieces, t.sent, t.whole, target, t.piece, target, t.piece, t.piece+fragmentUnit-1).
			towards(target, t.whole)
	case t.spoiled > 0:
		return t.faultOf(t.spoiledBy, "%d of %d frames arrived on %s with %s; check what the device makes of them: a LoadTest needs frames that come out as they went in (linerate ramp takes a device that changes them)", t.spoiled, t.sent, target, t.spoiledHow)
	}
	return nil
}

// cameBack is why frames arrived on the port that sent them, or nil where none did.
func (t *tally) cameBack() *fault {
	source, target := t.direction.From, t.direction.To
	switch {
	case t.bounced > 0 && t.quoted > 0:
		f := t.objection.fault(t, t.objected, t.quoted)
		f.message = fmt.Sprintf("%d of %d frames came back on %s, the port that sent them; %s", t.bounced, t.sent,
			source, f.message)
		return f
	case t.turned > 0:
		return t.faultOf(report.RoutedBack, "%d of %d frames came back on %s, the port that sent them, from the device: its routes for the networks behind %s lead to %s. If the generator's ports are swapped, "+
			"give --ports in the other order or swap the cables; else mend the routes", t.bounced, t.sent, source,
			target, source)
	case t.bounced > 0:
		return t.faultOf(report.FramesReflected, "%d of %d frames came back on %s, the port that sent them, as they left; check for a looped cable, or a device that sends back to where it came from",
			t.bounced, t.sent, source)
	}
	return nil
}

// routersSeen is how many routers the frames passed, by their TTL.
func (t *tally) routersSeen() int { return t.device.Routers() + t.wantTTL - t.sawTTL }

// otherDevice says how a device is tested that lowers the TTL as the frames show.
func (t *tally) otherDevice() (advice string, detail report.Detail) {
	switch hops := t.routersSeen(); {
	case t.forwarding == plan.L3 && hops > 0:
		return fmt.Sprintf(", and what else stands in the path: if %d routers are under test, write dut.hops: %d", hops,
			hops), report.OtherRouters
	case t.forwarding == plan.L3 && hops == 0:
		return ": if it replaces MACs and leaves the TTL, write dut.forwarding: MACRewrite", report.ReplacesMACs
	case hops == 1:
		return ": if it routes, write dut.forwarding: L3", report.LowersTTL
	}
	return ", and that nothing else stands in the path", report.OtherTTL
}
