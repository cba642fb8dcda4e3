package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Compile makes the Plan of a LoadTest, or says all that is wrong with it. The LoadTest must have been admitted: defaults are set, and
// the schema's rules hold. Exactly one of Plan and errors is set.
func Compile(test *v1alpha1.LoadTest) (*plan.Plan, field.ErrorList) {
	c := newCompiler(test)
	if c.engine == nil {
		return nil, c.errs
	}
	p := &plan.Plan{
		Test:           naming(test, c.traffic, c.mode()),
		Engine:         string(test.Spec.Generator.Engine),
		DUT:            c.dut(),
		Sessions:       c.traffic.sessions(c),
		Procedure:      c.procedure(c.spec.Procedure),
		Criteria:       c.criteria(),
		Observers:      c.observers(),
		Baseline:       BaselineOf(test.Spec.Baseline).String(),
		AllowDifferent: allowDifferent(test.Spec.Baseline),
		SharedPort:     test.Spec.SharedPort == v1alpha1.SharedPortAllowed,
		ActiveDeadline: plan.Duration(c.duration(specPath().Child("activeDeadline"), test.Spec.ActiveDeadline)),
	}
	p.Version = plan.VersionOf(p)
	c.readLinks()
	c.readDirections()
	if len(c.errs) == 0 {
		c.fitMode(p.DUT.Mode())
	}
	c.checkEndpoint()
	c.device = p.DUT
	p.Links = c.planLinks()
	c.engine.check(c)
	c.checkTraffic(p)
	if len(c.errs) > 0 {
		return nil, c.errs // what follows builds on sound links and quantities
	}
	p.Generators, p.Directions = c.generators()
	p.Sending = c.engine.sending(c)
	c.checkFramesOfTunnel(p)
	c.checkLoad(p)
	c.checkSoak(p)
	c.checkTime(p)
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	return p, nil
}

// compiler collects what is wrong while the parts are made.
type compiler struct {
	spec *v1alpha1.LoadTestSpec
	// namespace is the test's, in which its pods are.
	namespace string
	// engine sends the traffic, of this kind; nil: there is no such engine for this kind, or the spec is too large to be read, and errs say so.
	engine     engine
	traffic    traffic
	links      []link
	directions []v1alpha1.Direction
	device     plan.DUT
	errs       field.ErrorList
}

// newCompiler is a compiler of the test's spec, with all defaults of its procedure and the engine that it asks for.
func newCompiler(test *v1alpha1.LoadTest) *compiler {
	spec := test.Spec
	c := &compiler{spec: &spec, namespace: test.Namespace}
	if why := spec.FreeformFault(); why != "" {
		c.refuse(specPath(), field.OmitValueType{}, why)
		return c
	}
	c.choose()
	if c.engine != nil {
		spec.Procedure = withDefaults(spec.Procedure, c.traffic.defaultHeldRate())
	}
	return c
}

func specPath() *field.Path { return field.NewPath("spec") }

// refuse records that a field's value is wrong; the message says what would be right.
func (c *compiler) refuse(path *field.Path, value any, message string) {
	c.errs = append(c.errs, field.Invalid(path, value, message))
}

// replicas is the number of generators; an External one is one server.
func (c *compiler) replicas() int { return max(int(c.spec.Generator.Replicas), 1) }
