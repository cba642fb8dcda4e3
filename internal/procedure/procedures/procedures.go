package procedures

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/backtoback"
	"github.com/linerate-dev/linerate/internal/procedure/constantload"
	"github.com/linerate-dev/linerate/internal/procedure/eachdirection"
	"github.com/linerate-dev/linerate/internal/procedure/frameloss"
	"github.com/linerate-dev/linerate/internal/procedure/latency"
	"github.com/linerate-dev/linerate/internal/procedure/maximumload"
	"github.com/linerate-dev/linerate/internal/procedure/profile"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/procedure/search"
	"github.com/linerate-dev/linerate/internal/procedure/soak"
	"github.com/linerate-dev/linerate/internal/procedure/trains"
)

// known are all procedures, by spec.procedure.type.
var known = map[string]entry{
	plan.TypeRamp: {constructor(ramp.New), procedure.Traits{FindsThroughput: true}},
	plan.TypeConstantLoad: {constructor(constantload.New),
		procedure.Traits{GivesLoad: true, HoldsLoad: true}},
	plan.TypeFrameLoss: {constructor(frameloss.New),
		procedure.Traits{FindsLossOverLoad: true, GivesLoad: true, SendsTrials: true}},
	plan.TypeMaximumOfferedLoad: {constructor(maximumload.New),
		procedure.Traits{GivesLoad: true, SendsTrials: true}},
	plan.TypeSearch: {constructor(search.New), procedure.Traits{FindsThroughput: true, NamesLoss: true,
		SendsTrials:      true,
		TriesAfterPauses: true}},
	plan.TypeBackToBack: {constructor(backtoback.New),
		procedure.Traits{GivesLoad: true, SendsBursts: true, SendsTrials: true, Finds: backtoback.Metrics}},
	plan.TypeSoak: {constructor(soak.New),
		procedure.Traits{FindsLoadOfLoss: true, NamesLoss: true, SendsTrials: true}},
	plan.TypeTrains: {constructor(trains.New),
		procedure.Traits{NamesLoss: true, SendsTrains: true, Finds: trains.Metrics}},
}

// entry is a procedure's constructor, and its traits.
type entry struct {
	construct func(plan.Procedure) procedure.Procedure
	traits    procedure.Traits
}

// constructor is an entry's, of a package's own.
func constructor[P procedure.Procedure](construct func(plan.Procedure) P) func(plan.Procedure) procedure.Procedure {
	return func(p plan.Procedure) procedure.Procedure { return construct(p) }
}

// entryOf is the entry of a Plan's procedure. A Plan without a type is a ramp.
func entryOf(p plan.Procedure) entry {
	if e, found := known[p.Type]; found {
		return e
	}
	return known[plan.TypeRamp]
}

// TypesWith are the types of procedures whose traits match, by name.
func TypesWith(matches func(procedure.Traits) bool) (types []string) {
	for name, e := range known {
		if matches(e.traits) {
			types = append(types, name)
		}
	}
	slices.Sort(types)
	return types
}

// TraitsOf are the traits of a Plan's procedure.
func TraitsOf(p plan.Procedure) procedure.Traits { return entryOf(p).traits }

// New is a Plan's procedure. A Plan without a type is a ramp.
func New(p plan.Procedure) procedure.Procedure {
	chosen := construct(p)
	if p.Latency != nil {
		chosen = latency.New(*p.Latency, chosen)
	}
	if p.Profile {
		chosen = profile.New(chosen)
	}
	if p.TrainsFollow() {
		chosen = trains.NewFollowUp(p, chosen)
	}
	if p.Reset != nil {
		chosen = withReset{chosen, p.Reset.Timeout.Std()}
	}
	return chosen
}

// construct makes a procedure of all directions together, or one that finds the throughput of one after another.
func construct(p plan.Procedure) procedure.Procedure {
	e := entryOf(p)
	if e.traits.FindsThroughput && p.EachDirection != nil && len(p.EachDirection.Directions) > 0 {
		return eachdirection.New(p, e.construct)
	}
	return e.construct(p)
}

// aroundReset is the time that may pass with each reset in addition to its own time and the device's. It counts
// receiving the reset (5 s), the last marked frames (2 s), and the time until counters stand still (3 s).
const aroundReset = 10 * time.Second

// withReset is a procedure whose device is reset before each trial. The device may take as long again until it
// forwards.
type withReset struct {
	procedure.Procedure
	timeout time.Duration
}

func (r withReset) Bound() procedure.Bound {
	b := r.Procedure.Bound()
	b.BeforeTrial = 2*r.timeout + aroundReset
	return b
}

func (r withReset) Describe() procedure.Description {
	d := r.Procedure.Describe()
	if d.Sentence != "" {
		d.Sentence += ", with the device reset before each trial"
		d.OnTop += ", and the device's reset before each trial,"
	}
	return d
}

// Check refuses an unknown type, since the Plan of a newer linerate would be measured by another procedure than it
// names, and a procedure of other directions than the Plan's.
func Check(p plan.Procedure, directions []plan.Direction) error {
	if _, found := known[p.Type]; found || p.Type == "" {
		return eachdirection.Check(p, directions)
	}
	return fmt.Errorf("procedure.type %q is not known here; this linerate knows %s: use one of these, or the "+
		"linerate that wrote the plan", p.Type, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}
