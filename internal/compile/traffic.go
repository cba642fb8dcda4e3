package compile

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// traffic is what compiling asks of a kind of traffic, whatever engine sends it. What an engine can't do with it is the engine's to refuse.
type traffic interface {
	// called is what a test is called in a table of many, unless a label says it.
	called(spec *v1alpha1.TrafficSpec) string
	// throughput is the metric by which such tests are compared where the user names none. internal/figures.ThroughputOf is the same for a Report.
	throughput() v1alpha1.Metric
	// uncounted is why a metric is not counted of it, and which to use instead; empty: it is.
	uncounted(metric v1alpha1.Metric) string
	// perLink says that each replica is an end on each link, whatever its layout says.
	perLink() bool
	// heldAt is the rate of a held load where the test says nothing of it.
	heldAt() v1alpha1.HeldRate
	// queues says that a frame may wait in the Reference's queue at a window's edge, and the figures stay right.
	queues() bool
	// unreached is why no device can be an end of it; empty: one can.
	unreached() string
	// unfit is why it is not measured through a real device of a mode, and what to use instead; empty: it is.
	unfit(mode *plan.Mode) string
	// loads are what each direction carries, by the link that it comes from; nil: nobody gives the ends a load.
	loads(c *compiler) map[string]load
	// sessions are the Plan's member of this name; nil: there are none.
	sessions(c *compiler) *plan.Sessions
}

// kinds are all traffic that there is. It is the one place here that knows which.
var kinds = map[string]traffic{
	plan.TrafficFrames:   frames{},
	plan.TrafficSessions: transfers{},
}

// PerLink says that each replica has a pod, or an end, on each link: where the layout asks for that, and always of traffic that is between ends.
func PerLink(spec *v1alpha1.LoadTestSpec) bool {
	return spec.Generator.Layout == v1alpha1.LayoutPerLink || AlwaysPerLink(spec)
}

// AlwaysPerLink says that each replica has an end on each link whatever its layout says, so that to ask for it asks for nothing.
func AlwaysPerLink(spec *v1alpha1.LoadTestSpec) bool {
	k, known := kinds[Sends(spec).Traffic]
	return known && k.perLink()
}

// ThroughputOf is the metric that tests with traffic of a type (spec.traffic.type) are compared by where nobody names one; "" is the schema's default type, and a type that isn't known here
// has the metric of that.
func ThroughputOf(trafficType string) v1alpha1.Metric {
	return trafficOf(trafficType).throughput()
}

// trafficOf is the traffic of a type; the schema's default stands for one that isn't known here.
func trafficOf(trafficType string) traffic {
	if k, known := kinds[trafficType]; known {
		return k
	}
	return frames{}
}

// Counted refuses criteria that ask for what is not counted of traffic of a type (spec.traffic.type; "" is the schema's default). A suite asks it too, whose criteria are of all of its cells.
func Counted(path *field.Path, criteria []v1alpha1.Criterion, trafficType string) (wrong field.ErrorList) {
	for i, criterion := range criteria {
		if criterion.Metric == v1alpha1.MetricObserved {
			continue // of any kind of traffic
		}
		if instead := trafficOf(trafficType).uncounted(criterion.Metric); instead != "" {
			wrong = append(wrong, field.Invalid(path.Index(i).Child("metric"), criterion.Metric, instead))
		}
	}
	return wrong
}

// frames are sent as profiles say, and ports count them.
type frames struct{}

func (frames) called(spec *v1alpha1.TrafficSpec) string {
	if spec.Profile == v1alpha1.ProfileFixedSize {
		return fmt.Sprintf("%db", spec.FrameSize)
	}
	return strings.ToLower(string(spec.Profile))
}

func (frames) uncounted(metric v1alpha1.Metric) string {
	if slices.Contains(metricsOfSessions, metric) {
		return "this is counted for traffic of type Sessions only: use PacketsPerSecond, Layer2BitsPerSecond or another metric of frames"
	}
	return ""
}

func (frames) throughput() v1alpha1.Metric { return v1alpha1.MetricPacketsPerSecond }
func (frames) perLink() bool               { return false }
func (frames) heldAt() v1alpha1.HeldRate   { return "100%" }
func (frames) queues() bool                { return false }
func (frames) unreached() string {
	return "nobody at a device counts the frames that it receives: set traffic.type: Sessions, or leave role out, for a device that forwards"
}
func (frames) unfit(*plan.Mode) string           { return "" }
func (frames) loads(c *compiler) map[string]load { return c.loads() }
func (frames) sessions(*compiler) *plan.Sessions { return nil }

// transfers are sessions: bulk transfers over TCP or UDP, between programs that count their payload. TCP finds its rate by itself, unless it is asked for less.
type transfers struct{}

func (transfers) uncounted(metric v1alpha1.Metric) string {
	if !slices.Contains(metricsOfSessions, metric) {
		return "sessions don't count frames: use GoodputBitsPerSecond, with TCP RetransmitRatio or RoundTripMicroseconds, with UDP DatagramLossRatio or JitterMicroseconds"
	}
	return ""
}

func (transfers) called(spec *v1alpha1.TrafficSpec) string {
	if s := spec.Sessions; s != nil && s.Protocol == v1alpha1.ProtocolUDP {
		return "udp"
	}
	return "tcp"
}

func (transfers) throughput() v1alpha1.Metric { return v1alpha1.MetricGoodputBitsPerSecond }
func (transfers) perLink() bool               { return true }
func (transfers) heldAt() v1alpha1.HeldRate   { return v1alpha1.Unlimited }
func (transfers) queues() bool                { return true }
func (transfers) unreached() string           { return "" }
func (transfers) unfit(m *plan.Mode) string {
	switch {
	case m.Router == nil && m.Bridge == nil && m.Filter == nil && m.NAT == nil:
		return "sessions are measured through a router, a bridge, a filter or NAT yet: use one of these, or traffic.type Frames"
	case m.Routes() > 1:
		return "sessions go between the ends' own addresses, which one route leads to: remove routes, or use traffic.type Frames"
	}
	return ""
}
func (transfers) loads(*compiler) map[string]load     { return nil }
func (transfers) sessions(c *compiler) *plan.Sessions { return c.sessions() }
