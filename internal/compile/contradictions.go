package compile

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// This file refuses fields that contradict each other, which the schema doesn't see. A test that has such fields isn't
// compiled, so that one fault makes one message.

func (r *refusals) checkContradictions(test *v1alpha1.LoadTest) {
	spec := &test.Spec
	r.checkDUTFields(&spec.DUT)
	r.checkGeneratorFields(spec)
	r.checkTrafficFields(spec)
	r.checkProcedureFields(&spec.Procedure)
	r.checkFollowingTrains(spec)
	if spec.Procedure.Profile {
		r.checkProfile(spec)
	}
	for i := range spec.Observers {
		r.checkObserverFields(specPath().Child("observers").Index(i), &spec.Observers[i])
	}
	r.errs = append(r.errs, CheckCriteria(specPath().Child("criteria"), spec.Criteria)...)
	baseline := specPath().Child("baseline", "loadTest")
	r.refuseIf(spec.Baseline != nil && spec.Baseline.LoadTest != "" && spec.Baseline.LoadTest == test.Name, baseline,
		test.Name, "a test can't be its own baseline: name an earlier one")
	r.checkLinkFields(spec)
}

func (r *refusals) checkLinkFields(spec *v1alpha1.LoadTestSpec) {
	path := specPath().Child("links")
	inPod := spec.DUT.Type == v1alpha1.DUTPod || spec.DUT.Type == v1alpha1.DUTReference
	r.refuseIf(!inPod && slices.ContainsFunc(spec.Links, func(l v1alpha1.LinkSpec) bool {
		return l.DUT != nil && l.DUT.Network != ""
	}), path, noValue, "dut.network is for a device in a pod (dut.type Pod or Reference), and this one isn't: remove "+
		"it; network is the generator's")
	r.refuseIf(len(spec.Traffic.Directions) > 0 && slices.ContainsFunc(spec.Links, func(l v1alpha1.LinkSpec) bool {
		return !slices.ContainsFunc(spec.Traffic.Directions, func(d v1alpha1.Direction) bool {
			return d.From == l.Name || d.To == l.Name
		})
	}), path, noValue, "every link must be used: remove the link that no direction goes from or to, or add a direction")
}

func (r *refusals) checkDUTFields(dut *v1alpha1.DUTSpec) {
	path, reference := specPath().Child("dut"), dut.Reference
	r.refuseIf(dut.Endpoint != nil && (dut.Type != v1alpha1.DUTDevice || dut.Role != v1alpha1.RoleEndpoint),
		path.Child("endpoint"), noValue, "endpoint is a server that runs on a device of somebody's: set type: Device and "+
			"role: Endpoint, or remove endpoint")
	if dut.Forwarding != "" {
		forwarding := path.Child("forwarding")
		r.refuseIf(reference != nil && reference.Mode != nil, forwarding, dut.Forwarding,
			"reference.mode says how the device forwards: remove forwarding, or the mode")
		r.refuseIf(dut.Role == v1alpha1.RoleEndpoint, forwarding, dut.Forwarding,
			"role Endpoint forwards nothing: remove forwarding")
		r.refuseIf(dut.Type == v1alpha1.DUTLoopback && dut.Forwarding != v1alpha1.ForwardingL2, forwarding,
			dut.Forwarding,
			"a Loopback returns frames unchanged: leave forwarding out (or L2)")
	}
	routes := (dut.Type == v1alpha1.DUTPod || dut.Type == v1alpha1.DUTDevice) &&
		(dut.Forwarding == "" || dut.Forwarding == v1alpha1.ForwardingL3)
	r.refuseIf(dut.Hops != 0 && !routes, path.Child("hops"), dut.Hops,
		"only a Pod or a Device with forwarding L3 is several routers: remove hops")
	r.refuseIf(dut.Node != "" && dut.Type != v1alpha1.DUTPod && dut.Type != v1alpha1.DUTReference, path.Child("node"),
		dut.Node, "only a Pod or a Reference runs in a pod of the test: remove node, or change type")
	r.refuseIf(len(dut.Changes) > 0 && dut.Type != v1alpha1.DUTPod && dut.Type != v1alpha1.DUTDevice,
		path.Child("changes"), noValue, "what a Reference or Loopback does to frames is known: remove changes")
	if reference != nil {
		r.checkReferenceFields(dut)
	}
}

func (r *refusals) checkReferenceFields(dut *v1alpha1.DUTSpec) {
	path, reference := specPath().Child("dut", "reference"), dut.Reference
	allowed := dut.Type == v1alpha1.DUTReference || dut.Type == v1alpha1.DUTLoopback && reference.Limit == nil
	r.refuseIf(!allowed, path, noValue, "reference is for dut.type Reference (its mode for Loopback, too): remove it, or set "+
		"type: Reference")
	mode := reference.Mode
	r.refuseIf(reference.Limit != nil && mode != nil, path.Child("limit"), noValue,
		"a mode is a real device, which forwards what its machine can: remove limit, or mode")
	otherImage := mode != nil && (mode.Userspace != nil ||
		mode.Tunnel != nil && mode.Tunnel.Kind == v1alpha1.TunnelIPsec)
	r.refuseIf(reference.Image != "" && !otherImage, path.Child("image"), reference.Image,
		"only modes userspace and tunnel, of kind IPsec, run programs of another image: remove image")
	if mode != nil && mode.Tunnel != nil && mode.Tunnel.Kind == v1alpha1.TunnelWireGuard {
		cipher := mode.Tunnel.Cipher
		r.refuseIf(cipher != "" && cipher != v1alpha1.TunnelChaCha20, path.Child("mode", "tunnel", "cipher"), cipher,
			"WireGuard has one cipher, ChaCha20-Poly1305: remove cipher, or use kind IPsec")
	}
}

func (r *refusals) checkGeneratorFields(spec *v1alpha1.LoadTestSpec) {
	generator, path := &spec.Generator, specPath().Child("generator")
	if placement := generator.Placement; len(generator.Servers()) > 0 {
		r.refuseIf(generator.Layout != "" || generator.CoresPerPortPair > 0 || generator.Memory != "" ||
			generator.Hugepages != nil || generator.Software != nil || generator.Pod != nil, serversPath(), noValue,
			"servers run already, and no pods are started: remove layout, coresPerPortPair, memory, hugepages, software "+
				"and pod")
		r.refuseIf(placement.SeparateNodes, path.Child("placement", "separateNodes"), true,
			"servers run already, and no pods are started: remove separateNodes")
		r.refuseIf(len(placement.Nodes) > 0, path.Child("placement", "nodes"), noValue,
			"servers run already, and no pods are started: remove nodes")
	}
	r.refuseIf(generator.Hugepages != nil && !drivesCards(spec), path.Child("hugepages"), noValue,
		"hugepages are for engine TRex only: remove them")
	r.refuseIf(generator.Software != nil && drivesCards(spec), path.Child("software"), noValue,
		"software configures engine Software: set engine: Software, or remove software")
	pod := generator.Pod
	if pod == nil {
		return
	}
	path = path.Child("pod")
	reserved := func(key string) bool { return strings.HasPrefix(key, "linerate.dev/") }
	_, managed := pod.Labels["app.kubernetes.io/managed-by"]
	r.refuseIf(managed || hasKey(pod.Labels, reserved),
		path.Child("labels"), noValue, "labels that begin with linerate.dev/, and app.kubernetes.io/managed-by, are "+
			"linerate's own: use others")
	r.refuseIf(hasKey(pod.Annotations, reserved), path.Child("annotations"), noValue,
		"annotations that begin with linerate.dev/ are linerate's own: use others")
	r.refuseIf(hasKey(pod.Annotations, func(key string) bool { return key == "k8s.v1.cni.cncf.io/networks" }),
		path.Child("annotations"), noValue, "the networks of generator pods are made from spec.links: remove the "+
			"annotation k8s.v1.cni.cncf.io/networks")
}

func hasKey(texts map[string]string, matches func(string) bool) bool {
	for key := range texts {
		if matches(key) {
			return true
		}
	}
	return false
}

func (r *refusals) checkTrafficFields(spec *v1alpha1.LoadTestSpec) {
	traffic, path := &spec.Traffic, specPath().Child("traffic")
	kind, found := kinds[SenderOf(spec).Traffic]
	sessions := found && !kind.shapesFrames()
	r.refuseIf(sessions && (traffic.Profile != v1alpha1.ProfileIMIX || traffic.Flows != nil), path.Child("type"),
		traffic.Type, "the frames of Sessions are their protocol's own affair: remove profile, frameSize, mix, streams "+
			"and flows")
	r.refuseIf(sessions && traffic.Stamps == v1alpha1.StampsEveryFrame, path.Child("stamps"), traffic.Stamps,
		"the frames of Sessions are TCP's own affair and carry no stamps: remove stamps")
	if s := traffic.Sessions; s != nil {
		r.refuseIf(s.Protocol == v1alpha1.ProtocolUDP && s.CongestionControl != "",
			path.Child("sessions", "congestionControl"), s.CongestionControl,
			"UDP has no congestion control: remove congestionControl, or set protocol: TCP")
	}
	if f := traffic.Flows; f != nil {
		r.refuseIf(traffic.Profile == v1alpha1.ProfileStreams || traffic.Profile == v1alpha1.ProfilePCAP,
			path.Child("flows"), noValue, "profile "+string(traffic.Profile)+
				" says itself what varies: remove flows, or use another profile")
		r.refuseIf(f.Order == v1alpha1.FlowsRandom && len(f.Fields) > 1, path.Child("flows", "fields"), noValue,
			"order Random draws one field of each frame, so that there are no more flows than count: name one field, such "+
				"as [DestinationAddress]")
	}
	repeated := false
	for i, d := range traffic.Directions {
		r.refuseIf(d.From == d.To, path.Child("directions").Index(i).Child("to"), d.To,
			"a direction goes from one link to another: from and to must differ")
		repeated = repeated || slices.ContainsFunc(traffic.Directions[:i],
			func(earlier v1alpha1.Direction) bool { return earlier.To == d.To })
	}
	r.refuseIf(repeated, path.Child("directions"), noValue, "a link can be the destination of one direction only: its "+
		"received frames must be that direction's own")
}

func (r *refusals) checkObserverFields(path *field.Path, o *v1alpha1.Observer) {
	observed := path.Child("observed")
	overNetwork := slices.Contains([]v1alpha1.ObserverType{v1alpha1.ObserverPrometheus, v1alpha1.ObserverSNMP,
		v1alpha1.ObserverRedfish, v1alpha1.ObserverSSH, v1alpha1.ObserverIPMI}, o.Type)
	r.refuseIf((o.Type == v1alpha1.ObserverLimiter || o.Type == v1alpha1.ObserverVPP) &&
		o.Observed != v1alpha1.ObserverOfDUT, observed, o.Observed,
		"a Limiter or a VPP is the device's: say observed: DUT")
	r.refuseIf(o.Type == v1alpha1.ObserverInterfaces && o.Observed == v1alpha1.ObserverOfNode, observed, o.Observed,
		"interfaces are read on the links of a test: say observed: Generator, or observed: DUT for those of the built-in "+
			"Reference")
	r.refuseIf(o.Observed == v1alpha1.ObserverOfLab && !overNetwork, observed, o.Observed,
		"observed: Lab is for sources that are asked over the network (Prometheus, SNMP, Redfish, SSH, IPMI): say observed: "+
			"Generator, DUT or Node")
	r.refuseIf(o.Observed == v1alpha1.ObserverOfNode && overNetwork, observed, o.Observed,
		"a source that is asked over the network describes one thing, and not each node: say observed: DUT, Generator or Lab")
	r.refuseIf((o.Interval != "" || o.AveragingTime != "") && !overNetwork && o.Type != v1alpha1.ObserverVPP,
		path.Child("interval"), o.Interval, "only sources that are asked (Prometheus, SNMP, Redfish, SSH, IPMI, VPP) have interval and "+
			"averagingTime: remove them")
}

// CheckCriteria refuses criteria whose fields contradict each other. path is where the criteria stand.
func CheckCriteria(path *field.Path, criteria []v1alpha1.Criterion) field.ErrorList {
	r := &refusals{}
	for i := range criteria {
		r.checkCriterion(path.Index(i), &criteria[i])
	}
	return r.errs
}

// incomparable are the metrics that may be 0, and mostly are.
var incomparable = []v1alpha1.Metric{v1alpha1.MetricLossRatio, v1alpha1.MetricRetransmitRatio,
	v1alpha1.MetricRoundTripMicroseconds, v1alpha1.MetricDatagramLossRatio, v1alpha1.MetricJitterMicroseconds}

// ratesOfFrames are the metrics that a time per frame may stand beside.
var ratesOfFrames = []v1alpha1.Metric{v1alpha1.MetricPacketsPerSecond, v1alpha1.MetricLineRatePercent,
	v1alpha1.MetricLayer1BitsPerSecond, v1alpha1.MetricLayer2BitsPerSecond}

func (r *refusals) checkCriterion(path *field.Path, c *v1alpha1.Criterion) {
	observed := c.Metric == v1alpha1.MetricObserved
	if c.Relative() {
		r.refuseIf(c.Min != "" || c.Max != "", path.Child("maxRegression"), c.MaxRegression,
			"maxRegression compares with a baseline, min and max don't: make two criteria of them")
		r.refuseIf(slices.Contains(incomparable, c.Metric), path.Child("maxRegression"), c.MaxRegression,
			"loss, retransmits, round trips and jitter can't be compared with a baseline, which often has none of them: "+
				"demand a max, such as 0.1%")
		r.refuseIf(observed, path.Child("maxRegression"), c.MaxRegression, "what observers see can't be compared with a "+
			"baseline, as less may be better or worse: demand a min or a max")
	}
	r.refuseIf(c.AssumedSpread != "" && !c.Relative(), path.Child("assumedSpread"), c.AssumedSpread,
		"assumedSpread is for criteria with maxRegression: remove it, or add that")
	r.refuseIf(c.AssumedSpread != "" && c.Statistic == v1alpha1.StatisticWorst, path.Child("assumedSpread"),
		c.AssumedSpread, "assumedSpread says how sure a median is, and statistic: Worst speaks of single runs: remove one of "+
			"the two")
	r.refuseIf(c.MaxWorkRegression != "" && (!c.Relative() || !slices.Contains(ratesOfFrames, c.Metric)),
		path.Child("maxWorkRegression"), c.MaxWorkRegression, "maxWorkRegression is asked where a rate of frames can't be "+
			"compared: set maxRegression and a metric such as PacketsPerSecond, or remove it")
	if share, valid := readShare(c.MaxRegression); valid {
		r.refuseIf(share == units.One, path.Child("maxRegression"), c.MaxRegression,
			"maxRegression is less than 100%: that would allow anything")
	}
	if share, valid := readShare(c.AssumedSpread); valid {
		r.refuseIf(share == 0 || share > units.One/2, path.Child("assumedSpread"), c.AssumedSpread,
			"assumedSpread is more than 0% and at most 50%")
	}
	r.refuseIf(strings.HasPrefix(string(c.Metric), "Latency") != (c.Latency != nil), path.Child("latency"), noValue,
		"a metric of latency and the field latency need each other: add latency: {load: 90%}, or use another metric and "+
			"remove it")
	r.refuseIf(observed != (c.Observed != nil), path.Child("observed"), noValue, "metric Observed and the field observed need "+
		"each other: add observed: {observer: cpu, series: busy}, or use another metric and remove it")
	if c.Latency != nil {
		r.refuseIf(c.Direction == v1alpha1.DirectionTotal, path.Child("direction"), c.Direction, "latency is measured "+
			"for each direction, and has no total: remove direction, and each direction must meet the criterion")
		r.refuseIf(c.Goal != "", path.Child("goal"), c.Goal, "latency is measured at shares of one goal's rate, which "+
			"procedure.latency.goal names: remove goal")
	}
	r.refuseIf(observed && c.Direction == v1alpha1.DirectionTotal, path.Child("direction"), c.Direction,
		"what observers see has no direction: remove it, and say observed: {scope: All} for all of a machine's processors "+
			"together")
	if c.Statistic == v1alpha1.StatisticSpread {
		r.refuseIf(c.Max == "" || c.Min != "" || c.Relative(), path.Child("statistic"), c.Statistic, "Spread is how "+
			"far runs lie apart, of which less is better: demand a max alone, in percent of their median, such as max: 1%")
		r.refuseIf(observed || slices.Contains(incomparable, c.Metric), path.Child("statistic"), c.Statistic, "Spread "+
			"is of rates, in percent of their median, and this metric's median may be 0: use PacketsPerSecond, "+
			"GoodputBitsPerSecond or another rate")
	}
}

// checkLineRates refuses rates and criteria in percent of line rates that nothing knows, since the virtual ports of the
// software engine have no speed of their own.
func (ft *fit) checkLineRates(p *plan.Plan) {
	if p.Sessions != nil || drivesCards(ft.spec) || ft.spec.DUT.Type == v1alpha1.DUTDevice ||
		!slices.ContainsFunc(ft.spec.Links, func(l v1alpha1.LinkSpec) bool { return l.LineRate == "" }) {
		return
	}
	const needed = "%s needs lineRate on every link, such as lineRate: 1gbps: the links' virtual ports have no speed of " +
		"their own"
	path := specPath().Child("links")
	ft.refuseIf(ratesInPercent(p), path, noValue, fmt.Sprintf(needed, "a rate in percent"))
	ft.refuseIf(ft.judgesPercent(), path, noValue, fmt.Sprintf(needed, "a criterion on LineRatePercent"))
}
