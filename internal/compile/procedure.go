package compile

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// procedureReader reads the procedure that chooses loads.
type procedureReader struct {
	*refusals
	spec    *v1alpha1.LoadTestSpec
	traffic traffic
}

// The bounds of a procedure, of which each step is a window in the Report.
const (
	maxSteps = 5000
	maxLoads = 1000 // of a frame loss curve
)

// UsualDuration is how long a test's procedure takes if nothing unusual happens. The spec need not be admitted:
// what can't be read, and a curve without an end, count as 0. The rate of a held load doesn't matter, so
// frames' default serves for any kind of traffic.
func UsualDuration(spec *v1alpha1.LoadTestSpec) time.Duration {
	return procedures.New((&procedureReader{refusals: &refusals{}, spec: spec, traffic: frames{}}).read()).Usual()
}

// LongestDuration is how long a Plan's procedure may take, with every repeat and every step of its search.
func LongestDuration(p *plan.Plan) time.Duration { return procedures.New(p.Procedure).Bound().Whole() }

// CheckProcedure refuses the procedure of a Plan that no compiler of linerate's wrote, as an edited bundle has it.
func CheckProcedure(p *plan.Plan) error { return procedures.Check(p.Procedure, p.Directions) }

// read reads the member of the procedure's type, by the one function that compiles procedures of this type.
//
// These functions fill in the defaults of a missing member. Those that depend on other fields are filled in for each
// field. The schema has the other defaults of a member's fields, and can't set a missing member, or it would appear in
// procedures of every type. TestAMissingMemberHasTheSchemasDefaults holds the two together.
func (pr *procedureReader) read() plan.Procedure {
	spec := pr.spec.Procedure
	p := plan.Procedure{Type: string(spec.Type), Reset: pr.reset(spec.Reset)}
	switch spec.Type {
	case v1alpha1.ProcedureConstantLoad:
		p.ConstantLoad = member{pr.refusals, "constantLoad"}.constantLoad(spec.ConstantLoad, pr.traffic)
	case v1alpha1.ProcedureFrameLoss:
		p.FrameLoss = member{pr.refusals, "frameLoss"}.frameLoss(spec.FrameLoss)
	case v1alpha1.ProcedureMaximumOfferedLoad:
		p.MaximumOfferedLoad = member{pr.refusals, "maximumOfferedLoad"}.maximumOfferedLoad(spec.MaximumOfferedLoad)
	case v1alpha1.ProcedureSearch:
		p.Search = member{pr.refusals, "search"}.search(spec.Search)
		p.MaxLossRatio = p.Search.Goals[0].LossRatio // the first goal judges the result
	case v1alpha1.ProcedureBackToBack:
		p.BackToBack = member{pr.refusals, "backToBack"}.backToBack(spec.BackToBack)
	case v1alpha1.ProcedureSoak:
		p.Soak = member{pr.refusals, "soak"}.soak(spec.Soak)
		p.MaxLossRatio = p.Soak.LossRatio // the loss ratio that the soak asks about
	case v1alpha1.ProcedureTrains:
		p.Trains = member{pr.refusals, "trains"}.trains(spec.Trains, directionsOf(pr.spec))
	default:
		p.Ramp = member{pr.refusals, "ramp"}.ramp(spec.Ramp)
	}
	p.EachDirection = pr.eachDirection(spec, p.Ramp)
	p.Latency = pr.latency(spec.Latency, p.Goals())
	p.Profile = spec.Profile
	if !traitsOf(spec.Type).SendsTrains && spec.Trains != (v1alpha1.TrainsSpec{}) {
		p.Trains = member{pr.refusals, "trains"}.trains(spec.Trains, directionsOf(pr.spec))
	}
	if traits := traitsOf(spec.Type); !traits.NamesLoss && !traits.SendsBursts { // a burst may lose nothing
		p.MaxLossRatio = pr.share(specPath().Child("procedure", "maxLossRatio"), spec.MaxLossRatio)
	}
	return p
}

func (m member) ramp(spec v1alpha1.RampSpec) plan.Ramp {
	spec = cmp.Or(spec, v1alpha1.RampSpec{WarmupDuration: "30s", TargetRate: "100%", Precision: "0.5%",
		ConfirmDuration: "10s", HoldDuration: "30s"})
	spec = rampWithDefaults(spec)
	r := plan.Ramp{
		WarmupRate:       m.rate("warmupRate", spec.WarmupRate),
		WarmupDuration:   m.duration("warmupDuration", spec.WarmupDuration),
		TargetRate:       m.rate("targetRate", spec.TargetRate),
		RampDuration:     m.duration("rampDuration", spec.RampDuration),
		StepDuration:     m.duration("stepDuration", spec.StepDuration),
		SettleDuration:   m.duration("settleDuration", spec.SettleDuration),
		Precision:        m.share(m.path("precision"), spec.Precision),
		ConfirmDuration:  m.duration("confirmDuration", spec.ConfirmDuration),
		HoldDuration:     m.duration("holdDuration", spec.HoldDuration),
		StopAtSaturation: spec.StopAtSaturation,
	}
	ramp, step, settle := r.RampDuration.Std(), r.StepDuration.Std(), r.SettleDuration.Std()
	if step > 0 && settle+100*time.Millisecond > step {
		m.refuse(m.path("settleDuration"), spec.SettleDuration, "settleDuration must be at least 100ms shorter than "+
			"stepDuration: the rest of the step is what is measured")
	}
	if ramp > 0 && ramp < step {
		m.refuse(m.path("rampDuration"), spec.RampDuration,
			"rampDuration must be at least stepDuration: a ramp has one step or more")
	}
	if step > 0 && ramp > maxSteps*step {
		m.refusef(m.path("stepDuration"), spec.StepDuration,
			"rampDuration %s in steps of %s are %d steps, and %d is the most: make stepDuration at least %s", ramp,
			step, ramp/step, maxSteps, ramp/maxSteps)
	}
	return r
}

// constantLoad holds by default what the traffic can be held at.
func (m member) constantLoad(spec v1alpha1.ConstantLoadSpec, t traffic) *plan.ConstantLoad {
	spec = cmp.Or(spec, v1alpha1.ConstantLoadSpec{WarmupDuration: "5s"})
	spec.Rate = cmp.Or(spec.Rate, t.defaultHeldRate())
	spec.Duration = unlessGiven(spec.Duration, max(time.Minute, spanOf(spec.Window)))
	spec.Window = unlessGiven(spec.Window, min(stepsOf(spanOf(spec.Duration), 10*time.Second), spanOf(spec.Duration)))
	l := &plan.ConstantLoad{
		Unlimited:      spec.Rate == v1alpha1.Unlimited,
		WarmupDuration: m.duration("warmupDuration", spec.WarmupDuration),
		Duration:       m.duration("duration", spec.Duration),
		Window:         m.duration("window", spec.Window),
	}
	if !l.Unlimited {
		l.Rate = m.rate("rate", v1alpha1.Rate(spec.Rate))
	}
	whole, window := l.Duration.Std(), l.Window.Std()
	switch {
	case window > whole:
		m.refusef(m.path("window"), spec.Window,
			"duration, %s, is divided into windows, and one of %s is longer than that: make window at most %s", whole,
			window, whole)
	case window > 0 && whole > maxSteps*window:
		m.refusef(m.path("window"), spec.Window,
			"duration %s in windows of %s are %d windows, and %d is the most: make window at least %s",
			whole, window, whole/window, maxSteps, whole/maxSteps)
	}
	return l
}

// frameLoss is nil where the loads of the curve can't be counted.
// holdRates gives a held load the rates that directions have of their own. Where each has one, the first stands for the
// procedure's.
func (pr *procedureReader) holdRates(p *plan.Procedure, ds *directions) {
	if p.ConstantLoad == nil {
		pr.refuseRates(ds)
		return
	}
	rates := ds.rates()
	if len(rates) == 0 {
		return
	}
	p.ConstantLoad.DirectionRates = rates
	if len(rates) < len(ds.entries) {
		return
	}
	if written := ds.spec.Procedure.ConstantLoad.Rate; written != "" {
		pr.refuse(specPath().Child("procedure", "constantLoad", "rate"), written, "each direction has a rate of its "+
			"own (traffic.directions): remove this one, or theirs")
	}
	p.ConstantLoad.Rate = rates[nameOf(ds.entries[0])]
}

// refuseRates refuses rates of single directions where the procedure chooses the loads.
func (pr *procedureReader) refuseRates(ds *directions) {
	for i, d := range ds.entries {
		if path := specPath().Child("traffic", "directions").Index(i).Child("rate"); d.Rate != "" {
			pr.refusef(path, d.Rate, "%s chooses the loads of all directions: set procedure.type: ConstantLoad to hold "+
				"each direction at a rate of its own, or leave rate out", cmp.Or(ds.spec.Procedure.Type,
				v1alpha1.ProcedureRamp))
			return
		}
	}
}

func (m member) frameLoss(spec v1alpha1.FrameLossSpec) *plan.FrameLoss {
	spec = cmp.Or(spec, v1alpha1.FrameLossSpec{MaxRate: "100%", WarmupDuration: "5s", TrialDuration: "60s"})
	tenth := tenthOf(spec.MaxRate)
	spec.MinRate, spec.Step = cmp.Or(spec.MinRate, tenth), cmp.Or(spec.Step, tenth)
	f := &plan.FrameLoss{
		MaxRate:        m.rate("maxRate", spec.MaxRate),
		MinRate:        m.rate("minRate", spec.MinRate),
		Step:           m.rate("step", spec.Step),
		WarmupDuration: m.duration("warmupDuration", spec.WarmupDuration),
		TrialDuration:  m.duration("trialDuration", spec.TrialDuration),
		CleanTrials:    2,
	}
	if spec.CleanTrials != nil {
		f.CleanTrials = int(*spec.CleanTrials)
	}
	if f.MaxRate.IsZero() || f.MinRate.IsZero() || f.Step.IsZero() {
		return nil // one of them isn't a rate, and was refused
	}
	if f.MinRate.Kind != f.MaxRate.Kind || f.Step.Kind != f.MaxRate.Kind {
		m.refuse(m.path("step"), spec.Step,
			"maxRate, minRate and step must be in one unit, such as 2mpps, 500kpps and 100kpps")
		return nil
	}
	if f.MinRate.Micros >= f.MaxRate.Micros {
		m.refusef(m.path("minRate"), spec.MinRate,
			"the loads go down from %s: make minRate less than that, or maxRate more than %s", f.MaxRate, f.MinRate)
		return nil
	}
	width := f.MaxRate.Micros - f.MinRate.Micros
	if loads := (width-1)/f.Step.Micros + 2; loads > maxLoads { // from, each step that ends above to, and to
		smallest := units.Rate{Kind: f.Step.Kind, Micros: (width + maxLoads - 2) / (maxLoads - 1)} // rounded up
		m.refusef(m.path("step"), spec.Step,
			"from %s to %s in steps of %s are %d loads, and %d is the most: make step at least %s", f.MaxRate,
			f.MinRate, f.Step, loads, maxLoads, smallest)
		return nil
	}
	return f
}

func (m member) maximumOfferedLoad(spec v1alpha1.MaximumOfferedLoadSpec) *plan.MaximumOfferedLoad {
	spec = cmp.Or(spec, v1alpha1.MaximumOfferedLoadSpec{Rate: "100%", WarmupDuration: "5s", TrialDuration: "60s",
		Trials: 1})
	return &plan.MaximumOfferedLoad{
		Rate:           m.rate("rate", spec.Rate),
		WarmupDuration: m.duration("warmupDuration", spec.WarmupDuration),
		TrialDuration:  m.duration("trialDuration", spec.TrialDuration),
		Trials:         int(spec.Trials),
	}
}

func (m member) backToBack(spec v1alpha1.BackToBackSpec) *plan.BackToBack {
	spec = cmp.Or(spec, v1alpha1.BackToBackSpec{Rate: "100%", WarmupDuration: "5s", Resolution: "1%", Repetitions: 20})
	usualTrial, usualBurst := 10*time.Second, 2*time.Second
	if spanOf(spec.MaxBurstDuration) >= usualTrial {
		usualTrial = 5 * spanOf(spec.MaxBurstDuration)
	}
	spec.TrialDuration = unlessGiven(spec.TrialDuration, usualTrial)
	if spanOf(spec.TrialDuration) <= usualBurst {
		usualBurst = spanOf(spec.TrialDuration) / 5
	}
	spec.MaxBurstDuration = unlessGiven(spec.MaxBurstDuration, usualBurst)
	b := &plan.BackToBack{
		Rate:             m.rate("rate", spec.Rate),
		WarmupDuration:   m.duration("warmupDuration", spec.WarmupDuration),
		TrialDuration:    m.duration("trialDuration", spec.TrialDuration),
		MaxBurstDuration: m.duration("maxBurstDuration", spec.MaxBurstDuration),
		Resolution:       m.share(m.path("resolution"), spec.Resolution),
		Repetitions:      int(spec.Repetitions),
	}
	if spec.Throughput != "" {
		b.Throughput = m.rate("throughput", spec.Throughput)
		if b.Throughput.Kind != units.Packets {
			m.refuse(m.path("throughput"), spec.Throughput,
				"give throughput in packets per second, such as 9.9kpps: a burst is counted in frames")
		}
	}
	if trial := b.TrialDuration.Std(); trial > 0 && trial <= b.MaxBurstDuration.Std() {
		m.refusef(m.path("maxBurstDuration"), spec.MaxBurstDuration,
			"the trial before the bursts shows whether bursts can lose frames at all, and has to be longer than "+
				"they: make maxBurstDuration less than trialDuration, %s", trial)
	}
	return b
}

// mostTrials is how many trials a soak may have. Before each trial, curves are fitted to all earlier trials, which
// takes longer the more there are.
const mostTrials = 500

// leastGrowth is by how much each trial of a soak is to be longer than the one before, so that mostTrials are enough.
func leastGrowth(whole time.Duration) time.Duration {
	return (2 * whole / (mostTrials * mostTrials)).Round(100*time.Millisecond) + 100*time.Millisecond
}

func (m member) soak(spec v1alpha1.SoakSpec) *plan.Soak {
	spec = cmp.Or(spec,
		v1alpha1.SoakSpec{LossRatio: "0.00001%", Duration: "30m", MaxRate: "100%", WarmupDuration: "5s"})
	spec.FirstTrialDuration = unlessGiven(spec.FirstTrialDuration, min(5100*time.Millisecond, spanOf(spec.Duration)))
	usualGrowth, lasts := 100*time.Millisecond, spanOf(spec.Duration)
	if lasts > mostTrials*spanOf(spec.FirstTrialDuration)+mostTrials*(mostTrials-1)/2*usualGrowth {
		usualGrowth = leastGrowth(lasts)
	}
	spec.TrialGrowth = unlessGiven(spec.TrialGrowth, usualGrowth)
	s := &plan.Soak{
		LossRatio:          m.share(m.path("lossRatio"), spec.LossRatio),
		Duration:           m.duration("duration", spec.Duration),
		FirstTrialDuration: m.duration("firstTrialDuration", spec.FirstTrialDuration),
		TrialGrowth:        m.duration("trialGrowth", spec.TrialGrowth),
		MaxRate:            m.rate("maxRate", spec.MaxRate),
		WarmupDuration:     m.duration("warmupDuration", spec.WarmupDuration),
	}
	if s.MinRate = (units.Rate{Kind: s.MaxRate.Kind, Micros: max(1, s.MaxRate.Micros/100)}); spec.MinRate != "" {
		s.MinRate = m.rate("minRate", spec.MinRate)
	}
	m.checkRange(spec.MinRate, s.MinRate, s.MaxRate, "trials are")
	switch first, whole := s.FirstTrialDuration.Std(), s.Duration.Std(); {
	case first <= 0 || whole <= 0: // one of them was refused
	case first > whole:
		m.refusef(m.path("firstTrialDuration"), spec.FirstTrialDuration,
			"duration, %s, is that of all trials together: make firstTrialDuration less, or duration more", whole)
	default:
		if n := procedures.New(plan.Procedure{Type: plan.TypeSoak, Soak: s}).Bound().Trials; n > mostTrials {
			m.refusef(m.path("trialGrowth"), spec.TrialGrowth,
				"trials from %s, each %s longer than the one before, are more than %d in %s: make firstTrialDuration or "+
					"trialGrowth longer, such as trialGrowth: %s", first, s.TrialGrowth.Std(), mostTrials, whole,
				leastGrowth(whole))
		}
	}
	return s
}

// traitsOf are the traits of a type of procedure.
func traitsOf(t v1alpha1.ProcedureType) procedure.Traits {
	return procedures.TraitsOf(plan.Procedure{Type: string(t)})
}

// checkFramesToSend refuses a soak that, at a known line rate, can't send enough frames in some direction to say
// anything about its loss ratio.
func (ft *fit) checkFramesToSend(p *plan.Plan) {
	s := p.Procedure.Soak
	if s == nil || s.LossRatio <= 0 || len(ft.errs) > 0 {
		return
	}
	for _, d := range p.Directions {
		_, line := ft.slower(d)
		rate, _ := overLine(s.MaxRate, d.Mix, line)
		sendable := int64(float64(rate) / float64(units.PacketPerSecond) * s.Duration.Std().Seconds())
		if needed := s.FramesNeeded(); rate > 0 && sendable < needed {
			sufficient := time.Duration(float64(s.Duration) / float64(max(1, sendable)) * float64(needed))
			ft.refusef(specPath().Child("procedure", "soak", "duration"), wording.Span(s.Duration.Std()),
				"at most %d frames are sent from %s to %s in that time, and it takes %d to say anything about a loss "+
					"ratio of %s: make duration at least %s, or lossRatio at least %s",
				sendable, d.From, d.To, needed, wording.Ratio(s.LossRatio), sufficient.Round(time.Second)+time.Second,
				wording.Ratio(units.RatioOf(plan.FramesWithoutLoss, max(1, sendable))+1))
			return
		}
	}
}

// member reads the fields of one member of spec.procedure. Field paths are made only for refusals, since UsualDuration
// reads procedures often.
type member struct {
	*refusals
	name string
}

func (m member) path(name string) *field.Path { return specPath().Child("procedure", m.name, name) }

func (m member) rate(name string, text v1alpha1.Rate) units.Rate {
	rate, err := units.ParseRate(string(text))
	if err != nil {
		m.refuse(m.path(name), text, err.Error())
	}
	return rate
}

func (m member) duration(name string, text v1alpha1.Duration) plan.Duration {
	span, err := text.Std()
	if err != nil {
		m.refuse(m.path(name), text, durationForms)
	}
	return plan.Duration(span)
}
