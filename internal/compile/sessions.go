package compile

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// sessions is linerate's own program as the ends of TCP connections, one on each link: in pods of the test's own, or on one machine.
type sessions struct{ inPods }

// The sizes that sessions may have. A window below the least holds no two full segments; one message is a piece of memory of an end's.
const (
	defaultMessage = "128Ki"
	leastWindow    = 4 << 10
	mostWindow     = 512 << 20
	mostMessage    = 16 << 20
)

func (sessions) uncounted() string {
	return "the ends of sessions don't tell of their interfaces: remove this observer, or use traffic of type Frames"
}

// sessions are what traffic.sessions says, with its defaults.
func (c *compiler) sessions() *plan.Sessions {
	spec := v1alpha1.SessionsSpec{}
	if c.spec.Traffic.Sessions != nil {
		spec = *c.spec.Traffic.Sessions
	}
	return &plan.Sessions{
		Protocol: string(cmp.Or(spec.Protocol, v1alpha1.ProtocolTCP)), Parallel: int(cmp.Or(spec.Parallel, 4)), CongestionControl: spec.CongestionControl,
		WindowBytes: c.sessionSize("window", spec.Window, leastWindow, mostWindow), MessageBytes: c.sessionSize("messageSize", cmp.Or(spec.MessageSize, defaultMessage), 1, mostMessage),
	}
}

// sessionSize reads a size between two others; 0 where none is given.
func (c *compiler) sessionSize(name string, text v1alpha1.SessionSize, least, most int64) int64 {
	if text == "" {
		return 0
	}
	path := specPath().Child("traffic", "sessions", name)
	q, err := resource.ParseQuantity(string(text))
	if err != nil {
		c.refuse(path, text, "write a size with its unit, such as 128Ki or 1Mi")
		return 0
	}
	if v := q.Value(); v < least || v > most {
		in := func(v int64) string { return resource.NewQuantity(v, resource.BinarySI).String() }
		c.refuse(path, text, fmt.Sprintf("%s must be between %s and %s", name, in(least), in(most)))
	}
	return q.Value()
}

// check refuses what of a test sessions can't measure yet, each with what can be done.
func (sessions) check(c *compiler) {
	spec, path := c.spec, specPath()
	if spec.Generator.Software != nil {
		c.refuse(path.Child("generator", "software"), field.OmitValueType{}, "sessions aren't sent as frames, but by their ends' kernels: remove software")
	}
	if s := spec.Traffic.Sessions; s != nil && s.Protocol == v1alpha1.ProtocolUDP {
		c.refuse(path.Child("traffic", "sessions", "protocol"), s.Protocol, "sessions over UDP can't be measured yet: use TCP, or traffic.type Frames, whose frames are UDP")
	}
	procedure := path.Child("procedure", "type")
	switch spec.Procedure.Type {
	case v1alpha1.ProcedureConstantLoad:
		if spec.Procedure.ConstantLoad.Rate != v1alpha1.Unlimited {
			c.refuse(path.Child("procedure", "constantLoad", "rate"), spec.Procedure.ConstantLoad.Rate, "TCP finds its rate by itself, and sessions can't be held at another yet: set rate: Unlimited")
		}
	case v1alpha1.ProcedureMaximumOfferedLoad:
		c.refuse(procedure, spec.Procedure.Type, "finite trials of sessions would be judged from their slow start to their last acknowledgement, which can't be told apart yet: "+
			"use type ConstantLoad with constantLoad.rate Unlimited")
	default:
		c.refuse(procedure, spec.Procedure.Type, fmt.Sprintf("%s searches among loads of frames, and TCP finds its rate by itself: use type ConstantLoad with constantLoad.rate Unlimited",
			cmp.Or(spec.Procedure.Type, v1alpha1.ProcedureRamp)))
	}
	if spec.Generator.Replicas > 1 {
		c.refuse(path.Child("generator", "replicas"), spec.Generator.Replicas, "sessions have one end on each link: use 1, and traffic.sessions.parallel for more connections")
	}
	if spec.Generator.Layout == v1alpha1.LayoutPaired {
		c.refuse(path.Child("generator", "layout"), spec.Generator.Layout, "in one pod the kernel would take a shorter way between its own two addresses than through the device: leave layout out, or set PerLink")
	}
	if f := c.forwarding(); f == plan.MACRewrite {
		c.refuse(path.Child("dut", "forwarding"), f, "an end's kernel takes only frames that are addressed to it, and not what a device makes of MAC addresses: use L3 or L2")
	}
	if i := slices.IndexFunc(spec.Links, func(l v1alpha1.LinkSpec) bool { return l.Generator != nil && len(l.Generator.Networks) > 0 }); i >= 0 {
		c.refuse(path.Child("links").Index(i).Child("generator", "networks"), spec.Links[i].Generator.Networks[0],
			"connections are between the ends' own addresses, and flows of frames between networks: remove networks, or use traffic.type Frames")
	}
	for _, l := range c.links {
		if l.vlan != 0 {
			c.refuse(l.path.Child("vlan"), l.vlan, "sessions are sent without VLAN tags yet: remove vlan, and let the switch tag them")
			break // the others have the same fault
		}
	}
}

// checkPods refuses connections that need more than half of an end's memory: the kernel kills a pod that takes more than it has, and drops segments for which there is none, which
// would look like the device's losses. Buffers of the kernels' own choice grow as there is memory.
func (e sessions) checkPods(c *compiler) {
	again := &compiler{spec: c.spec} // what these refuse is refused already
	p := again.sessions()
	_, r := e.resources(again)
	most := r.Memory.Value() / 2
	if len(again.errs) > 0 || int64(p.Parallel)*(p.MessageBytes+2*p.WindowBytes) <= most { // a message to read into, and buffers of a connection that comes and of one that goes
		return
	}
	c.refuse(specPath().Child("traffic", "sessions", "parallel"), p.Parallel, fmt.Sprintf("so many connections with messages of %d bytes and windows of %d need more than half of an end's memory, which is %s: "+
		"use fewer, smaller ones, or give generator.memory more", p.MessageBytes, p.WindowBytes, &r.Memory))
}

// resources are the software engine's: an end is the same program.
func (sessions) resources(c *compiler) (devices, kernel Resources) { return software{}.resources(c) }

// metricsOfSessions are what criteria of sessions may ask for, and no others.
var metricsOfSessions = []v1alpha1.Metric{v1alpha1.MetricGoodputBitsPerSecond, v1alpha1.MetricRetransmitRatio, v1alpha1.MetricRoundTripMicroseconds}

// checkTraffic refuses what is of the other kind of traffic: an unlimited rate of frames, and criteria that ask for what is not counted.
func (c *compiler) checkTraffic(p *plan.Plan) {
	if held := p.Procedure.ConstantLoad; held != nil && held.Unlimited && p.Sessions == nil {
		c.refuse(specPath().Child("procedure", "constantLoad", "rate"), v1alpha1.Unlimited, "frames are held at a rate, such as 100%: use that, or procedure.type MaximumOfferedLoad for all that the generators can send")
	}
	c.errs = append(c.errs, Counted(specPath().Child("criteria"), c.spec.Criteria, string(c.spec.Traffic.Type))...)
}
