package compile

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Cluster is a LoadTest that can be run in a cluster. It has the Plan, and what the test's pods are made from, read and
// checked.
type Cluster struct {
	Plan *plan.Plan
	// DUT, Setup and Teardown are the user's templates. Nil means that there is none.
	DUT, Setup, Teardown *corev1.PodTemplateSpec
	// DUTContainer is the index in DUT.Spec.Containers of the container that forwards. The manifests put it first,
	// since the first container gets the devices.
	DUTContainer int
	// Generator is what each generator pod requests. Kernel is what it requests instead where its networks have no
	// devices, since TRex drives kernel interfaces with one core, and without huge pages.
	Generator, Kernel Resources
	// Affinity is generator.pod.affinity. Nil means that there is none.
	Affinity *corev1.Affinity
	// Networks are the links' NetworkAttachmentDefinitions, in the links' order, and then that of
	// plan.TunnelCable. An end that isn't in one of our pods has an empty name.
	Networks []LinkNetworks
	// OwnNetworks are the networks that the templates' annotations ask Multus for.
	OwnNetworks []NetworkKey
	// SpeedOf are the links without lineRate of a test that asks for percent of line rate. Their ports must report a
	// speed, as devices do, and most kernel interfaces don't.
	SpeedOf []string
}

// Compiled is what ForCluster made of a LoadTest. Exactly one of the two is set. It is never changed, so that several
// goroutines may read it.
type Compiled struct {
	Cluster *Cluster
	Errs    field.ErrorList
}

// ForCluster compiles a LoadTest for a cluster, or says everything that is wrong with it. The LoadTest must have been
// admitted. Beyond what Compile refuses, it refuses missing networks, and templates that Kubernetes couldn't read,
// which matter to pods only.
func ForCluster(test *v1alpha1.LoadTest) (*Cluster, field.ErrorList) {
	p, errs := Compile(test)
	c := newCompiler(test)
	if c.engine == nil {
		return nil, errs
	}
	cluster := &Cluster{
		Plan:     p,
		Affinity: c.templates.affinity(),
		Networks: append(c.networks.ofLinks(test.Namespace), c.device.tunnelCable(test.Namespace)...),
		SpeedOf:  c.fit.speedOf(p),
	}
	cluster.Generator, cluster.Kernel = c.engine.resources(c.engineSpec)
	cluster.DUT, cluster.DUTContainer = c.templates.dut()
	cluster.Setup = c.templates.hook("setup", c.spec.DUT.Setup)
	cluster.Teardown = c.templates.hook("teardown", c.spec.DUT.Teardown)
	if p != nil {
		p.DUT.Setup, p.DUT.Teardown = nil, nil // pods do it
	}
	c.device.checkResetInCluster()
	c.device.checkCollectInCluster()
	c.device.checkProfileInCluster()
	c.device.checkModeInCluster()
	c.observers.checkInCluster()
	cluster.OwnNetworks = ownNetworks(test.Namespace, cluster.DUT, cluster.Setup, cluster.Teardown)
	c.templates.checkGeneratorPod()
	c.checkNodes(p)
	c.engine.checkPods(c.engineSpec)
	c.checkDelays()
	if errs = append(errs, c.errs...); len(errs) > 0 {
		return nil, errs
	}
	return cluster, nil
}

// checkResetInCluster refuses a reset of a device that isn't in a pod, since nothing in the cluster could reset it.
func (d *device) checkResetInCluster() {
	if d.spec.Procedure.Reset != nil && d.spec.DUT.Type == v1alpha1.DUTDevice {
		d.refuse(specPath().Child("procedure", "reset"), noValue,
			"a cluster starts no program that a LoadTest names, and a device outside has no pod to run it in: "+
				"measure with linerate run on a machine that reaches the device, or remove reset")
	}
}

// checkNodes refuses nodes of generators that the test doesn't have.
func (c *compiler) checkNodes(p *plan.Plan) {
	placement := c.spec.Generator.Placement
	if p == nil || placement == nil {
		return
	}
	names := make([]string, len(p.Generators))
	for i, g := range p.Generators {
		names[i] = g.Name
	}
	for _, name := range slices.Sorted(maps.Keys(placement.Nodes)) {
		if !slices.Contains(names, name) {
			c.refuse(specPath().Child("generator", "placement", "nodes"), name,
				"no generator of this test has the name: use "+strings.Join(names, ", "))
		}
	}
}

// checkProfileInCluster refuses a profile, as a pod that samples a node's processors sees all that the node runs.
func (d *device) checkProfileInCluster() {
	if d.spec.Procedure.Profile {
		d.refuse(specPath().Child("procedure", "profile"), true,
			"no pod of a test has the rights to sample a node's processors (CAP_PERFMON, CAP_BPF and the node's "+
				"processes, of all tenants): measure with linerate run on the device's machine, or remove profile")
	}
}

// checkDelays checks the durations that only a cluster uses.
func (c *compiler) checkDelays() {
	spec := specPath()
	c.duration(spec.Child("schedulingDeadline"), c.spec.SchedulingDeadline)
	c.duration(spec.Child("ttlAfterFinished"), c.spec.TTLAfterFinished)
	for name, hook := range map[string]*v1alpha1.HookSpec{"setup": c.spec.DUT.Setup, "teardown": c.spec.DUT.Teardown} {
		if hook != nil {
			c.duration(spec.Child("dut", name, "deadline"), hook.Deadline)
		}
	}
}
