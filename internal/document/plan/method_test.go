package plan_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

func some(change func(*plan.Plan)) *plan.Plan {
	p := &plan.Plan{
		Version: plan.Version, Test: plan.Test{Name: "a", UID: "1", Attempt: 1, Product: "VPP", Loadtest: "imix"}, Engine: "Software",
		DUT:        plan.DUT{Type: "Reference", Forwarding: plan.L3, Reference: &plan.Reference{Limit: &plan.Limit{PacketsPerSecond: 10_000}}},
		Links:      []plan.Link{{Name: "west", LineRate: units.Gbps, DUT: plan.DUTEnd{MAC: "02:00:00:00:00:01"}}, {Name: "east", LineRate: units.Gbps}},
		Directions: []plan.Direction{{From: "west", To: "east", Mix: units.Traffic{Packets: 1, Bytes: 64}}},
		Generators: []plan.Generator{{Name: "generator-0", Server: "10.0.0.1:4501"}},
		Procedure:  plan.Procedure{Type: "Ramp", MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{HoldDuration: plan.Duration(time.Minute)}},
		Criteria:   []plan.Criterion{{Name: "fast", Min: "95"}},
	}
	change(p)
	return p
}

func TestTheMethodIsHowItIsMeasured(t *testing.T) {
	was := some(func(*plan.Plan) {})
	for name, c := range map[string]struct {
		change func(*plan.Plan)
		says   string // of the method; empty: it is the same
	}{
		"the same":       {func(*plan.Plan) {}, ""},
		"another test":   {func(p *plan.Plan) { p.Test = plan.Test{Name: "b", UID: "2", Attempt: 3, Product: "Linux"} }, ""},
		"another device": {func(p *plan.Plan) { p.DUT = plan.DUT{Type: "Pod", Forwarding: plan.L2} }, ""},
		"another box":    {func(p *plan.Plan) { p.Links[0].DUT.MAC = "02:00:00:00:00:02" }, ""},
		"another server": {func(p *plan.Plan) { p.Generators[0].Server = "10.0.0.2:4501" }, ""},
		"other criteria": {func(p *plan.Plan) {
			p.Criteria, p.Baseline, p.AllowDifferent, p.ActiveDeadline = nil, "LoadTest x", []string{"Node"}, plan.Duration(time.Hour)
		}, ""},
		"somebody looks on": {func(p *plan.Plan) {
			p.Observers = []plan.Observer{{Name: "cpu", Observed: plan.OfGenerator, Type: plan.ObserveProcessors}}
		}, ""},
		"other threads, by another path": {func(p *plan.Plan) { p.Sending = &plan.Sending{Cores: 2, Path: "live"} }, ""},
		"another engine":                 {func(p *plan.Plan) { p.Engine = "TRex" }, `engine is "Software" in the one and "TRex" in the other`},
		"another frame size":             {func(p *plan.Plan) { p.Directions[0].Mix.Bytes = 1518 }, "directions[0].mix.bytes is 64 in the one and 1518 in the other"},
		"one direction more":             {func(p *plan.Plan) { p.Directions = append(p.Directions, plan.Direction{From: "east", To: "west"}) }, "directions is a list of 1 in the one and a list of 2 in the other"},
		"another line rate":              {func(p *plan.Plan) { p.Links[1].LineRate = 0 }, "links[1].lineRateBitsPerSecond is 1000000000 in the one and not set in the other"},
		"a port that is shared":          {func(p *plan.Plan) { p.SharedPort = true }, "sharedPort is not set in the one and true in the other"},
		"another loss allowed":           {func(p *plan.Plan) { p.Procedure.MaxLossRatio = 0 }, `procedure.maxLossRatio is "0.001" in the one and "0" in the other`},
	} {
		t.Run(name, func(t *testing.T) {
			is := some(c.change)
			if same := is.Method() == was.Method(); same != (c.says == "") {
				t.Errorf("the method is the same: %t", same)
			}
			if got := strings.Join(plan.MethodDifferences(was, is, 5), "; "); got != c.says {
				t.Errorf("it says %q, want %q", got, c.says)
			}
		})
	}
	if len(was.Method()) != 32 {
		t.Errorf("%q can't be a label's value as it is", was.Method())
	}
}

// That the device is reset before each trial is part of the method; how long that may take, and what does it, isn't.
func TestTheMethodHasWhetherTheDeviceIsReset(t *testing.T) {
	of := func(reset *plan.Reset, command ...string) *plan.Plan {
		return some(func(p *plan.Plan) {
			p.Procedure = plan.Procedure{Type: plan.TypeMaximumOfferedLoad, MaximumOfferedLoad: &plan.MaximumOfferedLoad{Trials: 1}, Reset: reset}
			p.DUT.ResetCommand = command
		})
	}
	without, with := of(nil), of(&plan.Reset{Timeout: 1}, "conntrack", "-F")
	if got := plan.MethodDifferences(without, with, 5); len(got) != 1 || got[0] != "procedure.reset is not set in the one and set in the other" || without.Method() == with.Method() {
		t.Errorf("%q", got)
	}
	if other := of(&plan.Reset{Timeout: 2}, "ip", "neigh", "flush", "all"); other.Method() != with.Method() {
		t.Errorf("another timeout or command is another method: %q", plan.MethodDifferences(with, other, 5))
	}
	if with.Procedure.Reset.Timeout != 1 {
		t.Error("the plan was changed")
	}
}

// A member that is added to Plan must be decided upon: whether it changes a figure, and so the method.
func TestEachMemberOfAPlanIsDecidedUpon(t *testing.T) {
	method := map[string]bool{
		"Version": true, "Engine": true, "Links": true, "Directions": true, "Generators": true, "Sessions": true, "Procedure": true, "SharedPort": true,
		"Test": false, "DUT": false, "Criteria": false, "Observers": false, "Baseline": false, "AllowDifferent": false, "ActiveDeadline": false, "Sending": false, "Names": false,
	}
	for _, member := range reflect.VisibleFields(reflect.TypeFor[plan.Plan]()) {
		if _, decided := method[member.Name]; !decided {
			t.Errorf("is Plan.%s part of the method? Say so here, and in method.go", member.Name)
		}
	}
}

func TestDevicesAreToldApart(t *testing.T) {
	was, is := some(func(*plan.Plan) {}), some(func(p *plan.Plan) { p.DUT.Reference.Limit.PacketsPerSecond = 9_500 })
	if got := plan.DeviceDifferences(was, is, 5); len(got) != 1 || got[0] != "reference.limit.packetsPerSecond is 10000 in the one and 9500 in the other" {
		t.Errorf("%q", got)
	}
	is = some(func(p *plan.Plan) { p.DUT = plan.DUT{Type: "Device", Forwarding: plan.L2} })
	if got := plan.DeviceDifferences(was, is, 2); len(got) != 3 || got[2] != "and 1 more" {
		t.Errorf("%q", got)
	}
}
