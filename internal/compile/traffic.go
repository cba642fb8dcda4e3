package compile

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// traffic is what the compiler asks about a kind of traffic, whatever engine sends it. What an engine can't do,
// the engine refuses.
type traffic interface {
	// defaultLabel names the test's column in a table of many, unless it has a label for that.
	defaultLabel(spec *v1alpha1.TrafficSpec) string
	// throughput is the metric by which such tests are compared where the user names none.
	// internal/result/figures.ThroughputOf is the same for a Report.
	throughput() v1alpha1.Metric
	// whyNotCounted is why this traffic doesn't have a metric, and which to use instead. Empty means that it has the
	// metric.
	whyNotCounted(metric v1alpha1.Metric) string
	// shapesFrames says that the test chooses its frames. Else they are their protocol's own affair.
	shapesFrames() bool
	// perLink says that each replica has an end on each link, whatever its layout says.
	perLink() bool
	// defaultHeldRate is the default rate of a held load.
	defaultHeldRate() v1alpha1.HeldRate
	// toleratesQueue says that figures stay right even if frames wait in the Reference's queue at a window's edge.
	toleratesQueue() bool
	// whyNoDirectionRates is why directions can't have rates of their own. Empty means that they can.
	whyNoDirectionRates() string
	// whyNoEndpoint is why a device can't be an end of this traffic. Empty means that it can.
	whyNoEndpoint() string
	// whyNotThrough is why this traffic isn't measured through a Reference of this mode, and what to use instead. Empty
	// means that it is.
	whyNotThrough(mode *plan.Mode) string
	// loads are what each direction carries, by its sending link. Nil means that generators' ports have no streams.
	loads(lo *loads) map[string]load
	// sessions is the Plan's member of this name. Nil means that the traffic is frames.
	sessions(sr *sessionReader) *plan.Sessions
}

// kinds are all kinds of traffic. No other place in this package lists them.
var kinds = map[string]traffic{
	plan.TrafficFrames:   frames{},
	plan.TrafficSessions: transfers{},
}

// PerLink reports whether each replica has a pod, a server or an end on each link. So it is where the layout or the
// servers ask for that, and always of traffic that is between ends.
func PerLink(spec *v1alpha1.LoadTestSpec) bool {
	servers := spec.Generator.Servers()
	return spec.Generator.Layout == v1alpha1.LayoutPerLink || AlwaysPerLink(spec) ||
		len(servers) > 0 && servers[0].Link != ""
}

// AlwaysPerLink says that each replica has an end on each link whatever its layout says, so that layout PerLink
// changes nothing.
func AlwaysPerLink(spec *v1alpha1.LoadTestSpec) bool {
	k, found := kinds[SenderOf(spec).Traffic]
	return found && k.perLink()
}

// ThroughputOf is the metric by which tests with traffic of a type (spec.traffic.type) are compared where the
// user names none. "" is the schema's default type, and so is a type that isn't known here.
func ThroughputOf(trafficType string) v1alpha1.Metric {
	return trafficOf(trafficType).throughput()
}

// trafficOf is the traffic of a type, and of an unknown type the schema's default.
func trafficOf(trafficType string) traffic {
	if k, found := kinds[trafficType]; found {
		return k
	}
	return frames{}
}

// CheckMetrics refuses criteria of metrics that traffic of a type doesn't have. The type is a spec.traffic.type, or ""
// for the schema's default. A suite calls it, too, for criteria on all its cells.
func CheckMetrics(path *field.Path, criteria []v1alpha1.Criterion, trafficType string) (wrong field.ErrorList) {
	for i, criterion := range criteria {
		if criterion.Metric == v1alpha1.MetricObserved {
			continue // any kind of traffic has it
		}
		if instead := trafficOf(trafficType).whyNotCounted(criterion.Metric); instead != "" {
			wrong = append(wrong, field.Invalid(path.Index(i).Child("metric"), criterion.Metric, instead))
		}
	}
	return wrong
}

// frames is the traffic that generators make by a profile, and that ports count.
type frames struct{}

func (frames) defaultLabel(spec *v1alpha1.TrafficSpec) string {
	if spec.Profile == v1alpha1.ProfileFixedSize {
		return fmt.Sprintf("%db", spec.FrameSize)
	}
	return strings.ToLower(string(spec.Profile))
}

func (frames) whyNotCounted(metric v1alpha1.Metric) string {
	if slices.Contains(metricsOfSessions, metric) {
		return "this is counted for traffic of type Sessions only: use PacketsPerSecond, Layer2BitsPerSecond or " +
			"another metric of frames"
	}
	return ""
}

func (frames) throughput() v1alpha1.Metric        { return v1alpha1.MetricPacketsPerSecond }
func (frames) shapesFrames() bool                 { return true }
func (frames) perLink() bool                      { return false }
func (frames) defaultHeldRate() v1alpha1.HeldRate { return "100%" }
func (frames) toleratesQueue() bool               { return false }
func (frames) whyNoDirectionRates() string        { return "" }

func (frames) whyNoEndpoint() string {
	return "linerate can't count the frames that a device receives: set traffic.type: Sessions, or leave role out, " +
		"for a device that forwards"
}
func (frames) whyNotThrough(*plan.Mode) string        { return "" }
func (frames) loads(lo *loads) map[string]load        { return lo.read() }
func (frames) sessions(*sessionReader) *plan.Sessions { return nil }

// transfers are sessions, which are bulk transfers over TCP or UDP, between programs that count their payload. TCP
// finds its rate by itself, unless it is asked for less.
type transfers struct{}

func (transfers) whyNotCounted(metric v1alpha1.Metric) string {
	if !slices.Contains(metricsOfSessions, metric) {
		return "sessions don't count frames: use GoodputBitsPerSecond, with TCP RetransmitRatio or " +
			"RoundTripMicroseconds, with UDP DatagramLossRatio or JitterMicroseconds"
	}
	return ""
}

func (transfers) defaultLabel(spec *v1alpha1.TrafficSpec) string {
	if s := spec.Sessions; s != nil && s.Protocol == v1alpha1.ProtocolUDP {
		return "udp"
	}
	return "tcp"
}

func (transfers) throughput() v1alpha1.Metric        { return v1alpha1.MetricGoodputBitsPerSecond }
func (transfers) shapesFrames() bool                 { return false }
func (transfers) perLink() bool                      { return true }
func (transfers) defaultHeldRate() v1alpha1.HeldRate { return v1alpha1.Unlimited }
func (transfers) toleratesQueue() bool               { return true }
func (transfers) whyNoDirectionRates() string {
	return "connections of both directions have one rate yet: leave rate out, or use traffic.type Frames"
}
func (transfers) whyNoEndpoint() string { return "" }
func (transfers) whyNotThrough(m *plan.Mode) string {
	if m.Routes() > 1 {
		return "sessions go between the ends' own addresses, which one route leads to: remove routes, or use " +
			"traffic.type Frames"
	}
	return ""
}
func (transfers) loads(*loads) map[string]load              { return nil }
func (transfers) sessions(sr *sessionReader) *plan.Sessions { return sr.read() }
