package compile

import (
	"cmp"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units"
)

// maxTrains is how many trains a run sends at most, since each window keeps some bytes of each of its trains.
const maxTrains = 20_000

func (m member) trains(spec v1alpha1.TrainsSpec, directions []v1alpha1.Direction) *plan.Trains {
	spec = cmp.Or(spec, v1alpha1.TrainsSpec{Count: 200, Pause: "0.3ms", SetUps: 9})
	t := &plan.Trains{Count: int(spec.Count), Frames: int(spec.Frames), Pause: m.duration("pause", spec.Pause),
		SetUps: int(spec.SetUps)}
	for _, d := range directions {
		t.Directions = append(t.Directions, plan.Direction{From: string(d.From), To: string(d.To)}.Name())
	}
	if trains := t.Count * t.SetUps * len(directions); trains > maxTrains {
		m.refusef(m.path("count"), t.Count, "%d trains of %d set-ups in %d directions are %d, and %d is the most: make "+
			"count at most %d", t.Count, t.SetUps, len(directions), trains, maxTrains, maxTrains/t.SetUps/len(directions))
	}
	return t
}

// checkTrains refuses what trains can't be sent of: frames of several sizes, whose times differ, and several
// generators, whose clocks do.
func (ft *fit) checkTrains(p *plan.Plan) {
	if p.Procedure.Trains == nil || len(ft.errs) > 0 {
		return
	}
	path, value := specPath().Child("procedure", "type"), any(p.Procedure.Type)
	if p.Procedure.TrainsFollow() {
		path, value = specPath().Child("procedure", "trains"), noValue
	}
	if n := len(p.Generators); n > 1 {
		ft.refusef(path, value, "the test has %d generators, and a train is sent and timed by one: use "+
			"one replica with a port on each link", n)
		return
	}
	largest := int64(p.LargestFrame()) + units.FCSBytes
	for _, d := range p.Directions {
		if d.Mix.Bytes != largest*d.Mix.Packets {
			ft.refusef(path, value, "the frames from %s have several sizes, and each size takes a time of its "+
				"own: set traffic.profile: FixedSize, and measure each size by a test of its own", d.From)
			return
		}
	}
}

// checkFollowingTrains refuses trains after an answer that is of no rate.
func (r *refusals) checkFollowingTrains(spec *v1alpha1.LoadTestSpec) {
	traits := traitsOf(spec.Procedure.Type)
	if traits.SendsTrains || spec.Procedure.Trains == (v1alpha1.TrainsSpec{}) {
		return
	}
	path := specPath().Child("procedure", "trains")
	r.refuseIf(!hasOneRate(traits), path, noValue, "trains are for type: Trains, or follow the answer of type: "+
		strings.Join(procedures.TypesWith(hasOneRate), " or ")+": set one of these types, or remove trains")
	r.refuseIf(!trafficOf(string(spec.Traffic.Type)).shapesFrames(), path, noValue,
		"trains are of frames, and this traffic is sessions: remove trains")
}
