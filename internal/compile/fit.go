package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units"
)

// fit answers whether the procedure fits the deadline, the links and the device.
type fit struct {
	*refusals
	spec  *v1alpha1.LoadTestSpec
	links *links
	// warmsUpByDefault says that the test doesn't say at which rate its ramp warms up.
	warmsUpByDefault bool
}

// This file checks whether a procedure fits the deadline and the links. The procedure itself says how long it
// takes and at which rates, so nothing here depends on its type.

const (
	// usualDeadline is the least default of spec.activeDeadline.
	usualDeadline = time.Hour
	// longestDeadline is the highest limit of spec.activeDeadline.
	longestDeadline = 168 * time.Hour
	// aroundProcedure is how long a run may prepare and end, beside its procedure and the device's readyDelay.
	aroundProcedure = 5 * time.Minute
)

// deadline is the test's. By default the procedure has all the time that it may take, with every repeat, so that a
// deadline that nobody wrote neither refuses a test nor cuts it short.
func (ft *fit) deadline(p *plan.Plan) time.Duration {
	if ft.spec.ActiveDeadline != "" {
		return ft.duration(specPath().Child("activeDeadline"), ft.spec.ActiveDeadline)
	}
	needed := LongestDuration(p) + p.DUT.ReadyDelay.Std() + aroundProcedure
	return min(max(usualDeadline, (needed+time.Minute-1).Truncate(time.Minute)), longestDeadline)
}

// checkTime refuses a deadline that no run can meet.
func (ft *fit) checkTime(p *plan.Plan) {
	chosen := procedures.New(p.Procedure)
	usual, deadline := chosen.Usual(), p.ActiveDeadline.Std()
	if deadline <= 0 || deadline > usual {
		return
	}
	member, _, _ := strings.Cut(chosen.Rates().Full.Field, ".")
	description := chosen.Describe()
	text := fmt.Sprintf("%s alone take %s", cmp.Or(description.Parts, "its steps"), usual)
	if description.OnTop != "" {
		text += ", and " + description.OnTop + " comes on top"
	}
	fix := fmt.Sprintf("set activeDeadline to %s or more, leave it out, or shorten procedure.%s", withRoom(usual), member)
	if usual >= longestDeadline {
		fix = fmt.Sprintf("shorten procedure.%s, as activeDeadline is at most %s", member, longestDeadline)
	}
	ft.refuse(specPath().Child("activeDeadline"), deadline.String(), text+": "+fix)
}

// withRoom is a round deadline above a duration, with room for what comes on top.
func withRoom(d time.Duration) time.Duration {
	return min((d + d/4 + time.Minute).Round(time.Minute), longestDeadline)
}

// checkLoad refuses rates above the line rate, and a warm-up above the rate to be measured, in any direction.
func (ft *fit) checkLoad(p *plan.Plan) {
	if p.Sessions != nil {
		return // which have no rate to ask for
	}
	ft.lowerDefaultWarmUp(p)
	rates := procedures.New(p.Procedure).Rates()
	for _, d := range p.Directions {
		if len(ft.errs) > 0 {
			return // the same rates fail in every direction
		}
		ft.checkRates(rates.Of(d.Name()), d)
	}
}

// lowerDefaultWarmUp warms a ramp up at its target rate, where the test doesn't say at which rate, and the default is
// more than the target in some direction.
func (ft *fit) lowerDefaultWarmUp(p *plan.Plan) {
	if p.Procedure.Type != plan.TypeRamp || !ft.warmsUpByDefault {
		return
	}
	ramp := &p.Procedure.Ramp
	for _, d := range p.Directions {
		_, line := ft.slower(d)
		full, excess := overLine(ramp.TargetRate, d.Mix, line)
		if warmup, over := overLine(ramp.WarmupRate, d.Mix, line); excess == "" && (over != "" || full > 0 &&
			warmup > full) {
			ramp.WarmupRate = ramp.TargetRate
			return
		}
	}
}

func (ft *fit) checkRates(rates procedure.Rates, d plan.Direction) {
	slower, line := ft.slower(d)
	full, excess := overLine(rates.Full.Rate, d.Mix, line)
	if excess != "" {
		ft.refuseRate(rates.Full, excess+fmt.Sprintf(" (link %s); ask for 100%% or less", slower))
		return
	}
	if rates.WarmUp.Field == "" {
		return
	}
	warmup, excess := overLine(rates.WarmUp.Rate, d.Mix, line)
	if excess != "" {
		ft.refuseRate(rates.WarmUp, excess+fmt.Sprintf(" (link %s); a warm-up needs little, such as 1kpps", slower))
		return
	}
	if full > 0 && warmup > full {
		member, target, _ := strings.Cut(rates.Full.Field, ".")
		ft.refuseRate(rates.WarmUp, fmt.Sprintf("the warm-up (%s) is above %s (%s): it comes before the %s, so ask "+
			"for less", warmup, target, full, member))
	}
}

// refuseRate refuses a rate of the procedure, with the field that it comes from and the text there.
func (ft *fit) refuseRate(r procedure.Rate, message string) {
	names, path := strings.Split(r.Field, "."), specPath().Child("procedure")
	for _, name := range names {
		path = path.Child(name)
	}
	var written any = noValue
	if spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&ft.spec.Procedure); err == nil {
		written, _, _ = unstructured.NestedFieldNoCopy(spec, names...)
	}
	ft.refuse(path, written, message)
}

// asksForPercent says whether a rate or a criterion of the test is in percent of the line rate.
func (ft *fit) asksForPercent(p *plan.Plan) bool { return ft.judgesPercent() || ratesInPercent(p) }

func (ft *fit) judgesPercent() bool {
	return slices.ContainsFunc(ft.spec.Criteria, func(c v1alpha1.Criterion) bool {
		return c.Metric == v1alpha1.MetricLineRatePercent
	})
}

func ratesInPercent(p *plan.Plan) bool {
	rates := procedures.New(p.Procedure).Rates()
	return rates.Full.Kind == units.LinePercent || rates.WarmUp.Kind == units.LinePercent ||
		slices.ContainsFunc(slices.Collect(maps.Values(rates.Directions)),
			func(r units.Rate) bool { return r.Kind == units.LinePercent })
}

// overLine converts a rate to packets, or to 0 where that needs a line rate that only the port knows. The text says
// that the rate is above the line rate. Empty means that it isn't.
func overLine(r units.Rate, mix units.Traffic, line units.BitRate) (units.PacketRate, string) {
	const full = 100_000_000
	if r.Kind == units.LinePercent && r.Micros > full {
		return 0, fmt.Sprintf("%s is more than the line carries", r)
	}
	if r.Kind == units.LinePercent && line == 0 {
		return 0, ""
	}
	rate, err := r.PacketRateOf(mix, line)
	if err != nil {
		return 0, err.Error()
	}
	if lineRate := units.LinePacketRate(mix, line); line > 0 && rate > lineRate {
		return 0, fmt.Sprintf("%s is more than the line carries: %s of these frames at %s", rate, lineRate, line)
	}
	return rate, ""
}

// slower is the slower of a direction's links, as far as their line rates are given. Its line rate is 100 %.
func (ft *fit) slower(d plan.Direction) (string, units.BitRate) {
	sourceRate, destinationRate := ft.links.named(v1alpha1.LinkName(d.From)).lineRate,
		ft.links.named(v1alpha1.LinkName(d.To)).lineRate
	if destinationRate > 0 && (sourceRate == 0 || destinationRate < sourceRate) {
		return d.To, destinationRate
	}
	return d.From, sourceRate
}
