package sessions

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/sockets"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// prove decides whether the connections of a direction go through the device, by what their two ends report.
func prove(check *report.PathCheck, device plan.DUT, sender, receiver *Opened) {
	if sender == nil || receiver == nil {
		check.Message = "an end doesn't describe its connections"
		return
	}
	check.Received = receiver.Connections
	unproven := func(detail report.Detail) {
		check.Fault = &report.Cause{Detail: detail, Link: check.From, Port: DataPort,
			Direction: wording.Direction(check.From, check.To)}
	}
	check.Message = fmt.Sprintf("%d of %d connections from %s, bound to %s (%s), to %s, bound to %s; %s",
		receiver.Connections, check.Sent, sender.Local, sender.Interface,
		sender.Route, receiver.Local, receiver.Interface, sender.carries())
	source, _ := device.Translated(plan.Direction{From: check.From, To: check.To}, sender.Local, sender.Remote)
	if device.Type == "Reference" && receiver.Remote != source {
		check.Message += fmt.Sprintf("; they came from %s instead of %s: check how the device translates addresses",
			receiver.Remote, source)
		unproven(report.OtherAddresses)
		return
	}
	forwarding := device.Forwarding
	if receiver.Remote != sender.Local {
		check.Message += fmt.Sprintf("; they came from %s: the device translates addresses", receiver.Remote)
	}
	slices.Sort(receiver.TTLs)
	ttls := slices.Compact(receiver.TTLs)
	switch {
	case len(ttls) == 0 && forwarding == plan.L3:
		check.Message += "; the receiver's kernel doesn't keep the first segments' TTL (TCP_SAVED_SYN), so nothing " +
			"shows that the device routed them: use a kernel that keeps it"
		unproven(report.TTLNotKept)
		return
	case len(ttls) == 0:
		check.Message += "; the kernel doesn't keep the first segments' TTL"
	case len(ttls) == 1 && ttls[0] == expectedTTL(device, ttls[0]):
		check.Message += fmt.Sprintf("; TTL %d, which was %d", ttls[0], firstTTL)
	case forwarding == plan.Nothing:
		check.Message += fmt.Sprintf("; TTL %v, which was %d: something between the link and the device routes", ttls,
			firstTTL)
		unproven(report.OtherRouters)
		check.Fault.Routers = int16(firstTTL - ttls[0])
		return
	default:
		check.Message += fmt.Sprintf("; TTL %v, which was %d: what forwards %s makes it %d, so the connections did "+
			"not come through it alone", ttls, firstTTL, forwarding, expectedTTL(device, 0))
		unproven(ttlDetail(forwarding, ttls))
		check.Fault.Routers = int16(firstTTL - ttls[0])
		return
	}
	if check.Proven = check.Received == check.Sent; !check.Proven {
		unproven(report.NotConnected)
	}
}

// ttlDetail is what TTLs show that are not as the device's forwarding leaves them.
func ttlDetail(forwarding plan.Forwarding, ttls []int) report.Detail {
	switch {
	case len(ttls) > 1:
		return report.OtherTTL
	case forwarding == plan.L3 && ttls[0] == firstTTL:
		return report.PassedNoRouter
	case forwarding == plan.L3 && ttls[0] < firstTTL:
		return report.OtherRouters
	case ttls[0] == firstTTL-1:
		return report.LowersTTL
	}
	return report.OtherTTL
}

// carries describes the packets that carry the connections' payload.
func (o *Opened) carries() string {
	if o.Application != "" {
		return o.Application + ", " + (&Opened{CongestionControl: o.CongestionControl, SegmentBytes: o.SegmentBytes,
			DatagramBytes: o.DatagramBytes, FramesEach: o.FramesEach}).carries()
	}
	if o.FramesEach > 1 {
		return fmt.Sprintf("UDP, datagrams of %d bytes, in %d fragments each", o.DatagramBytes, o.FramesEach)
	}
	if o.DatagramBytes > 0 {
		return fmt.Sprintf("UDP, datagrams of %d bytes", o.DatagramBytes)
	}
	return fmt.Sprintf("%s, segments of %d bytes", o.CongestionControl, o.SegmentBytes)
}

// expectedTTL is the TTL behind the device. For a device that may be configured to any TTL, it is the one that
// arrived.
func expectedTTL(device plan.DUT, received int) int {
	switch device.Forwarding {
	case plan.L3:
		return firstTTL - device.Routers()
	case plan.L2, plan.MACRewrite, plan.Nothing:
		return firstTTL
	default:
		return received
	}
}

// unansweredError is an end's error that may have come from the path. What the end sent through the device got no
// answer, or nothing arrived.
type unansweredError string

func (e unansweredError) Error() string { return string(e) }

// fromPath says whether an error of connecting came from beyond the end, as no answer in time, or as a refusal.
func fromPath(err error) bool {
	if _, ok := errors.AsType[unansweredError](err); ok {
		return true
	}
	return errors.Is(err, iperf3.ErrUnreachable) || errors.Is(err, iperf3.ErrNoIperf2) ||
		errors.Is(err, iperf3.ErrGone) || errors.Is(err, errMissing) || sockets.FromBeyond(err)
}

// errMissing says that connections that were made at one end did not arrive at the other.
var errMissing = errors.New("the others did not arrive")
