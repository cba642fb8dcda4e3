package compile

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Compile makes the Plan of a LoadTest, or says all that is wrong with it. The LoadTest must have been admitted, so
// that defaults are set, and the schema's rules hold. Exactly one of Plan and errors is set.
func Compile(test *v1alpha1.LoadTest) (*plan.Plan, field.ErrorList) {
	c := newCompiler(test)
	if c.engine == nil {
		return nil, c.errs
	}
	spec := c.spec
	p := &plan.Plan{
		Version:        plan.Version,
		Test:           naming(test, c.traffic, c.device.mode()),
		Engine:         string(spec.Generator.Engine),
		DUT:            c.device.plan(),
		Sessions:       c.traffic.sessions(c.sessions),
		Procedure:      c.procedure.read(),
		Observers:      c.observers.read(),
		Baseline:       BaselineOf(spec.Baseline).String(),
		AllowDifferent: allowDifferent(spec.Baseline),
		SharedPort:     spec.SharedPort == v1alpha1.SharedPortAllowed,
	}
	p.Criteria = c.criteria.read(p.Procedure)
	c.links.read()
	c.directions.read()
	c.procedure.holdRates(&p.Procedure, c.directions)
	if len(c.errs) == 0 {
		c.links.fitMode(p.DUT.Mode())
	}
	c.device.checkEndpoint()
	c.device.checkChanges(c.directions.bothWays())
	p.Links = c.links.plan()
	c.engine.check(c.engineSpec)
	c.sessions.checkTraffic(p)
	c.fit.checkLineRates(p)
	if len(c.errs) > 0 {
		return nil, c.errs // what follows builds on sound links and quantities
	}
	c.loads.dut = p.DUT
	p.Generators, p.Directions = c.generators.plan()
	p.Sending = c.engine.sending(&spec.Generator)
	c.fit.checkFramesOfTunnel(p)
	c.fit.checkLoad(p)
	c.fit.checkFramesToSend(p)
	c.fit.checkTrains(p)
	p.ActiveDeadline = plan.Duration(c.fit.deadline(p))
	c.fit.checkTime(p)
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	return p, nil
}

// compiler has a part for each piece of a Plan, or of what a cluster makes of it. All parts record errors in one list.
type compiler struct {
	*refusals
	spec *v1alpha1.LoadTestSpec
	// engine sends the traffic, of this kind. Nil means that there is no such engine for this kind, that the spec is
	// too large to be read, or that a field is out of its limits or contradicts
	// another, and errs say so. Then there are no parts.
	engine  engine
	traffic traffic

	device     *device
	links      *links
	directions *directions
	loads      *loads
	generators *generators
	engineSpec *engineSpec
	sessions   *sessionReader
	procedure  *procedureReader
	criteria   *criteriaReader
	observers  *observerReader
	fit        *fit
	templates  *templates
	networks   *clusterNetworks
}

// newCompiler is a compiler of the test's spec, with the engine that it asks for.
func newCompiler(test *v1alpha1.LoadTest) *compiler {
	spec, r := test.Spec, &refusals{}
	c := &compiler{refusals: r, spec: &spec}
	if fault := spec.FreeformFault(); fault != "" {
		r.refuse(specPath(), noValue, fault)
		return c
	}
	if r.checkLimits(&spec); len(r.errs) > 0 {
		return c
	}
	if r.checkContradictions(test); len(r.errs) > 0 {
		return c
	}
	c.engine, c.traffic = chooseEngine(r, &spec)
	if c.engine == nil {
		return c
	}
	warmsUpByDefault := spec.Procedure.Ramp.WarmupRate == ""
	replicas := max(int(spec.Generator.Replicas), 1)
	c.device = &device{refusals: r, spec: &spec, traffic: c.traffic, replicas: replicas}
	stamps := &stamps{refusals: r, spec: &spec, engine: c.engine, device: c.device}
	c.links = &links{
		refusals: r, specs: spec.Links, allowedPrefixes: spec.Traffic.AllowedPrefixes, traffic: c.traffic,
		device:   c.device,
		replicas: replicas,
	}
	c.directions = &directions{refusals: r, spec: &spec, device: c.device, links: c.links}
	c.loads = &loads{
		refusals: r, spec: spec.Traffic, procedure: spec.Procedure.Type, device: c.device, links: c.links,
		directions: c.directions, stamps: stamps, replicas: replicas,
	}
	c.generators = &generators{
		refusals: r, spec: &spec, engine: c.engine, traffic: c.traffic, links: c.links, directions: c.directions,
		loads: c.loads, stamps: stamps, replicas: replicas,
	}
	c.sessions = &sessionReader{refusals: r, spec: &spec}
	c.engineSpec = &engineSpec{
		refusals: r, spec: &spec, device: c.device, links: c.links, sessions: c.sessions, stamps: stamps,
	}
	c.procedure = &procedureReader{refusals: r, spec: &spec, traffic: c.traffic}
	c.criteria = &criteriaReader{refusals: r, spec: &spec}
	c.observers = &observerReader{refusals: r, specs: spec.Observers, device: c.device, dut: spec.DUT, engine: c.engine}
	c.fit = &fit{refusals: r, spec: &spec, links: c.links, warmsUpByDefault: warmsUpByDefault}
	c.templates = &templates{refusals: r, spec: &spec, namespace: test.Namespace}
	c.networks = &clusterNetworks{refusals: r, specs: spec.Links, device: c.device, engine: c.engine}
	return c
}

func specPath() *field.Path { return field.NewPath("spec") }

// refusals collects what is wrong with a spec.
type refusals struct{ errs field.ErrorList }

// refuse records that a field's value is wrong. The message says what would be right.
func (r *refusals) refuse(path *field.Path, value any, message string) {
	r.errs = append(r.errs, field.Invalid(path, value, message))
}

// refusef is refuse with a message by a format, as of fmt.Sprintf.
func (r *refusals) refusef(path *field.Path, value any, format string, arguments ...any) {
	r.refuse(path, value, fmt.Sprintf(format, arguments...))
}

// refuseIf refuses a field's value where the fault is there.
func (r *refusals) refuseIf(fault bool, path *field.Path, value any, message string) {
	if fault {
		r.refuse(path, value, message)
	}
}

// noValue stands for the value of a field that is a mapping or a list.
var noValue = field.OmitValueType{}
