package compile

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// sessionReader reads traffic of sessions, and refuses what sessions can't carry.
type sessionReader struct {
	*refusals
	spec *v1alpha1.LoadTestSpec
}

// sessions is the engine of sessions. It is linerate's own program as an end of connections on each link, in pods of
// the test's own or on one machine.
type sessions struct{ inPods }

// The sizes that sessions may have. A window smaller than leastWindow can't hold two full segments. Each message takes
// as much of an end's memory.
const (
	defaultMessage  = "128Ki"
	defaultDatagram = "1460"
	leastWindow     = 4 << 10
	mostWindow      = 512 << 20
	mostMessage     = 16 << 20
	mostOfIperf3    = 1 << 20        // of a message, as its protocol has it
	leastDatagram   = 16             // its time and number
	leastOfIperf2   = 76             // with the header that tells a server what to do
	mostDatagram    = 65535 - 8 - 20 // what fits into an IPv4 packet, in fragments
)

func (sessions) whyNoInterfaceCounters() string {
	return "the ends of sessions don't report the counters of their interfaces: remove this observer, or use traffic " +
		"of type Frames"
}

// read are what traffic.sessions says, with its defaults.
func (sr *sessionReader) read() *plan.Sessions {
	spec := v1alpha1.SessionsSpec{}
	if sr.spec.Traffic.Sessions != nil {
		spec = *sr.spec.Traffic.Sessions
	}
	s := &plan.Sessions{
		Protocol: string(cmp.Or(spec.Protocol, v1alpha1.ProtocolTCP)), Application: string(spec.Application),
		Parallel: int(cmp.Or(spec.Parallel, 4)), CongestionControl: spec.CongestionControl,
		WindowBytes: sr.size("window", string(spec.Window), leastWindow, mostWindow),
	}
	if e := sr.spec.DUT.Endpoint; e != nil && e.Iperf2 != "" {
		s.Application = plan.ApplicationIperf2
	} else if e != nil {
		s.Application = plan.ApplicationIperf3
	}
	message, minimum, maximum := defaultMessage, int64(1), int64(mostMessage)
	switch {
	case s.Protocol == plan.UDP:
		s.Application = cmp.Or(s.Application, plan.ApplicationIperf3)
		if message, minimum, maximum = defaultDatagram, leastDatagram, mostDatagram; sr.spec.DUT.Endpoint != nil &&
			s.Application == plan.ApplicationIperf2 {
			minimum = leastOfIperf2
		}
	case s.Application == plan.ApplicationIperf3:
		maximum = mostOfIperf3
	}
	s.MessageBytes = sr.size("messageSize", cmp.Or(string(spec.MessageSize), message), minimum, maximum)
	return s
}

// size reads a size between minimum and maximum. 0 means that none is given.
func (sr *sessionReader) size(name, text string, minimum, maximum int64) int64 {
	if text == "" {
		return 0
	}
	path := specPath().Child("traffic", "sessions", name)
	q, err := resource.ParseQuantity(text)
	if err != nil {
		sr.refuse(path, text, "write a size in bytes, or with its unit, such as 1400, 128Ki or 1Mi")
		return 0
	}
	if v := q.Value(); v < minimum || v > maximum {
		formatted := func(v int64) string { return resource.NewQuantity(v, resource.BinarySI).String() }
		sr.refusef(path, text, "%s must be between %s and %s", name, formatted(minimum), formatted(maximum))
	}
	return q.Value()
}

// check refuses what sessions can't measure yet, each with the way out.
func (sessions) check(es *engineSpec) {
	spec, path := es.spec, specPath()
	es.sessions.checkMetrics()
	if spec.Generator.Software != nil {
		es.refuse(path.Child("generator", "software"), noValue,
			"sessions aren't sent as frames, but by their ends' kernels: remove software")
	}
	procedure := path.Child("procedure", "type")
	switch traits := traitsOf(spec.Procedure.Type); {
	case traits.HoldsLoad:
		es.sessions.checkRate()
	case traits.SendsTrials:
		es.refuse(procedure, spec.Procedure.Type, "finite trials of sessions would be judged from their slow start "+
			"to their last acknowledgement, which can't be told apart yet: use type ConstantLoad with "+
			"constantLoad.rate Unlimited")
	default:
		es.refusef(procedure, spec.Procedure.Type,
			"%s searches among loads of frames, and TCP finds its rate by itself: use type ConstantLoad with "+
				"constantLoad.rate Unlimited", cmp.Or(spec.Procedure.Type, v1alpha1.ProcedureRamp))
	}
	if spec.Generator.Replicas > 1 {
		es.refuse(path.Child("generator", "replicas"), spec.Generator.Replicas,
			"sessions have one end on each link: use 1, and traffic.sessions.parallel for more connections")
	}
	if spec.Generator.Layout == v1alpha1.LayoutPaired {
		es.refuse(path.Child("generator", "layout"), spec.Generator.Layout,
			"in one pod the kernel would take a shorter way between its own two addresses than through the device: "+
				"leave layout out, or set PerLink")
	}
	if f := es.device.forwarding(); f == plan.MACRewrite {
		es.refuse(path.Child("dut", "forwarding"), f,
			"an end's kernel takes only frames that are addressed to it, and not what a device makes of MAC "+
				"addresses: use L3 or L2")
	}
	if i := slices.IndexFunc(spec.Links, func(l v1alpha1.LinkSpec) bool {
		return l.Generator != nil && len(l.Generator.Networks) > 0
	}); i >= 0 {
		es.refuse(path.Child("links").Index(i).Child("generator", "networks"), spec.Links[i].Generator.Networks[0],
			"connections are between the ends' own addresses, and flows of frames between networks: remove networks, "+
				"or use traffic.type Frames")
	}
	for _, l := range es.links.entries {
		if l.second != nil {
			es.refuse(l.path.Child("generator", "ipv6Address"), l.second.addresses[0].String(),
				"sessions are of one family yet: leave ipv6Address out of both ends, and write another file for IPv6")
			break // the other links have the same fault
		}
	}
}

// refuseTags refuses the first link with a VLAN.
func (es *engineSpec) refuseTags(why string) {
	for i, l := range es.spec.Links {
		if l.VLAN != 0 {
			es.refuse(specPath().Child("links").Index(i).Child("vlan"), l.VLAN, why)
			return
		}
	}
}

// checkRate refuses a rate that can't be held, and datagrams without a rate. Without congestion control they would
// overrun the sender's own sockets, and that loss isn't the device's.
func (sr *sessionReader) checkRate() {
	rate, path := sr.spec.Procedure.ConstantLoad.Rate, specPath().Child("procedure", "constantLoad", "rate")
	s := v1alpha1.SessionsSpec{}
	if sr.spec.Traffic.Sessions != nil {
		s = *sr.spec.Traffic.Sessions
	}
	udp := s.Protocol == v1alpha1.ProtocolUDP
	parsed, err := units.ParseRate(string(rate))
	switch {
	case rate == "" && !udp, rate == v1alpha1.Unlimited && !udp:
	case rate == "" || rate == v1alpha1.Unlimited:
		sr.refuse(path, cmp.Or(rate, v1alpha1.Unlimited), "datagrams need a rate, since without one the sender's own "+
			"sockets would lose most of them: name the payload of each direction, such as 100mbps, or datagrams, "+
			"such as 10kpps")
	case !udp && s.Application == "" && sr.spec.DUT.Endpoint == nil:
		sr.refuse(path, rate, "TCP finds its rate by itself, and linerate's own transfer can't be held at another: "+
			"set rate: Unlimited, or traffic.sessions.application: Iperf3")
	case err != nil: // it is refused elsewhere
	case parsed.Kind == units.Packets && !udp:
		sr.refuse(path, rate, "TCP makes its own packets: name payload in bits per second, such as 100mbps")
	case parsed.Kind == units.LinePercent, parsed.Kind == units.Layer1Bits:
		sr.refuse(path, rate, "the rate of sessions is of payload, whatever the line carries: name it in bits per "+
			"second, such as 100mbps, or with UDP datagrams, such as 10kpps")
	case parsed.Micros < 1_000_000*int64(cmp.Or(s.Parallel, 4)):
		sr.refusef(path, rate, "each of %d connections must have a bit per second, or a datagram, at least: ask for "+
			"more", cmp.Or(s.Parallel, 4))
	}
}

// The bounds of applications.
const (
	leastWarmUpOfIperf2 = 2 * time.Second // enough for its half-second reports to cover
	longestOfIperf3     = 23 * time.Hour  // with which a test stays below a day, as its protocol has it
	mostMemoryOfIperf3  = 64 << 20        // of all messages of one test
)

// checkApplication refuses what an application can't carry.
func (sr *sessionReader) checkApplication(s *plan.Sessions, load *plan.ConstantLoad) {
	member := specPath().Child("procedure", "constantLoad")
	warmUp, lasts := load.WarmupDuration.Std(), load.WarmupDuration.Std()+load.Duration.Std()
	switch {
	case sr.spec.DUT.Endpoint == nil && s.Application == plan.ApplicationIperf2 &&
		warmUp > 0 && warmUp < leastWarmUpOfIperf2:
		sr.refusef(member.Child("warmupDuration"), sr.spec.Procedure.ConstantLoad.WarmupDuration,
			"iperf 2 reports its counts every half second: use %s or more, or 0s", leastWarmUpOfIperf2)
	case s.Application == plan.ApplicationIperf3 && lasts > longestOfIperf3:
		sr.refusef(member.Child("duration"), sr.spec.Procedure.ConstantLoad.Duration,
			"a test by iperf3's protocol lasts less than a day: use %s or less with the warm-up", longestOfIperf3)
	case s.Application == plan.ApplicationIperf3 && int64(s.Parallel)*s.MessageBytes > mostMemoryOfIperf3:
		sr.refusef(specPath().Child("traffic", "sessions", "messageSize"), s.MessageBytes,
			"%d connections with messages of that size take more than 64Mi of memory: use fewer, or smaller "+
				"ones", s.Parallel)
	}
}

// checkMetrics refuses criteria of the other protocol's metrics.
func (sr *sessionReader) checkMetrics() {
	protocols := map[v1alpha1.Metric]v1alpha1.SessionProtocol{v1alpha1.MetricRetransmitRatio: v1alpha1.ProtocolTCP,
		v1alpha1.MetricRoundTripMicroseconds: v1alpha1.ProtocolTCP,
		v1alpha1.MetricDatagramLossRatio:     v1alpha1.ProtocolUDP,
		v1alpha1.MetricJitterMicroseconds:    v1alpha1.ProtocolUDP}
	protocol := v1alpha1.ProtocolTCP
	if s := sr.spec.Traffic.Sessions; s != nil {
		protocol = cmp.Or(s.Protocol, protocol)
	}
	for i, criterion := range sr.spec.Criteria {
		if needs, found := protocols[criterion.Metric]; found && needs != protocol {
			sr.refusef(specPath().Child("criteria").Index(i).Child("metric"), criterion.Metric,
				"this is counted with %s, and traffic.sessions.protocol is %s: set that to %s, or use "+
					"GoodputBitsPerSecond", needs, protocol, needs)
		}
	}
}

// checkPods refuses connections that need more than half of an end's memory. The kernel kills a pod that uses more than
// its limit, and drops segments that it has no memory for, which would look like loss in the device. Buffers whose size
// the kernel chooses grow only as memory allows.
func (e sessions) checkPods(es *engineSpec) {
	if e := es.spec.DUT.Endpoint; e != nil {
		es.device.checkServerInCluster(es.links)
	} else if s := es.spec.Traffic.Sessions; s != nil && s.Application == v1alpha1.ApplicationIperf2 {
		es.refuse(specPath().Child("traffic", "sessions", "application"), s.Application,
			"iperf 2 is a program that linerate's image hasn't: use Iperf3, or linerate run on a machine that has it "+
				"(Debian: apt install iperf), or somebody's iperf 2 server (dut.endpoint), which needs no program here")
	}
	es.refuseTags("in pods sessions are sent without VLAN tags yet: remove vlan, and let the network tag them (a " +
		"virtual function's vlan), or use linerate run on one machine")
	discarded := &refusals{} // what these readers refuse is refused already
	p := (&sessionReader{refusals: discarded, spec: es.spec}).read()
	_, r := e.resources(&engineSpec{refusals: discarded, spec: es.spec})
	available := r.Memory.Value() / 2
	// a message's buffer, and the windows of an incoming and an outgoing connection
	if len(discarded.errs) > 0 || int64(p.Parallel)*(p.MessageBytes+2*p.WindowBytes) <= available {
		return
	}
	es.refusef(specPath().Child("traffic", "sessions", "parallel"), p.Parallel,
		"so many connections with messages of %d bytes and windows of %d need more than half of an end's memory, "+
			"which is %s: use fewer, smaller ones, or give generator.memory "+
			"more", p.MessageBytes, p.WindowBytes, &r.Memory)
}

// resources are the software engine's, since an end is the same program.
func (sessions) resources(es *engineSpec) (devices, kernel Resources) {
	return software{}.resources(es)
}

// metricsOfSessions are the metrics that criteria of sessions may use.
var metricsOfSessions = []v1alpha1.Metric{v1alpha1.MetricGoodputBitsPerSecond, v1alpha1.MetricRetransmitRatio,
	v1alpha1.MetricRoundTripMicroseconds, v1alpha1.MetricDatagramLossRatio, v1alpha1.MetricJitterMicroseconds}

// checkTraffic refuses what only the other kind of traffic has, which is an unlimited rate for frames, and criteria of
// metrics that this traffic doesn't have.
func (sr *sessionReader) checkTraffic(p *plan.Plan) {
	if load := p.Procedure.ConstantLoad; load != nil && load.Unlimited && p.Sessions == nil {
		sr.refuse(specPath().Child("procedure", "constantLoad", "rate"), v1alpha1.Unlimited,
			"frames are held at a rate, such as 100%: use that, or procedure.type MaximumOfferedLoad for all that "+
				"the generators can send")
	}
	if p.Sessions != nil && p.Procedure.ConstantLoad != nil {
		sr.checkApplication(p.Sessions, p.Procedure.ConstantLoad)
	}
	sr.errs = append(sr.errs, CheckMetrics(specPath().Child("criteria"), sr.spec.Criteria,
		string(sr.spec.Traffic.Type))...)
}
