package compile

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// device answers what the device under test is, and how it forwards.
type device struct {
	*refusals
	spec     *v1alpha1.LoadTestSpec
	traffic  traffic
	replicas int
}

// plan is the Plan's device.
func (d *device) plan() plan.DUT {
	p := plan.DUT{Type: string(d.spec.DUT.Type), Forwarding: d.forwarding(), Hops: int(d.spec.DUT.Hops),
		ReadyDelay: plan.Duration(d.duration(specPath().Child("dut", "readyDelay"), d.spec.DUT.ReadyDelay))}
	p.Server = d.server()
	if d.spec.DUT.Type == v1alpha1.DUTReference {
		p.Reference = &plan.Reference{Limit: d.limit(), Mode: d.mode()}
		d.checkRewriting()
	}
	for _, c := range d.spec.DUT.Changes {
		p.Changes = append(p.Changes, plan.Change(c))
	}
	p.Setup = d.program("setup", d.spec.DUT.Setup)
	p.Teardown = d.program("teardown", d.spec.DUT.Teardown)
	p.Notes, p.Price, p.Disclosure = d.spec.DUT.Notes, d.spec.DUT.Price, d.spec.DUT.Disclosure
	for i, c := range d.spec.DUT.Collect {
		p.Collect = append(p.Collect, d.collection(specPath().Child("dut", "collect").Index(i), c))
	}
	if reset := d.spec.Procedure.Reset; reset != nil {
		d.checkReset(reset)
		p.ResetCommand = words(reset.Command)
	}
	return p
}

// program is the program that linerate run starts before or after the run. Nil means that there is none. A cluster
// starts none.
func (d *device) program(name string, spec *v1alpha1.HookSpec) *plan.Program {
	path := specPath().Child("dut", name)
	// a schema's rules don't see a mapping of any values
	if spec != nil && spec.Template == nil && len(spec.Command) == 0 {
		d.refuse(path, noValue,
			"say what runs: template (a pod, in a cluster), command (a program, with linerate run), or both")
	}
	if spec == nil || len(spec.Command) == 0 {
		return nil
	}
	d.checkCommand(path.Child("command"), spec.Command)
	return &plan.Program{Command: words(spec.Command), Deadline: plan.Duration(d.duration(path.Child("deadline"),
		spec.Deadline))}
}

func (d *device) collection(path *field.Path, spec v1alpha1.Collection) plan.Collection {
	d.checkCommand(path.Child("command"), spec.Command)
	c := plan.Collection{Name: spec.Name, Command: words(spec.Command),
		Timeout: plan.Duration(d.duration(path.Child("timeout"), spec.Timeout))}
	for _, p := range spec.Paths {
		c.Paths = append(c.Paths, string(p))
	}
	for _, w := range spec.When {
		if slices.Contains(c.When, string(w)) {
			d.refuse(path.Child("when"), w, "it stands twice: name each time once")
		}
		c.When = append(c.When, string(w))
	}
	return c
}

// checkCollectInCluster refuses collections, which no pod of a cluster can make without rights that tests don't have.
func (d *device) checkCollectInCluster() {
	if len(d.spec.DUT.Collect) > 0 {
		d.refuse(specPath().Child("dut", "collect"), noValue,
			"a cluster starts no program that a LoadTest names, and reads no files of nodes: let the pods of dut.setup and "+
				"dut.teardown print it before and after the test, or a sidecar of dut.pod.template during it, or measure "+
				"with linerate run")
	}
}

// checkReset refuses a reset that the type of device doesn't have.
func (d *device) checkReset(spec *v1alpha1.ResetSpec) {
	path, dut := specPath().Child("procedure", "reset"), d.spec.DUT.Type
	switch {
	case dut == v1alpha1.DUTLoopback:
		d.refuse(path, noValue, "a Loopback has no tables to empty: remove reset")
	case dut == v1alpha1.DUTReference && len(spec.Command) > 0:
		d.refuse(path.Child("command"), noValue,
			"the Reference empties its tables itself: write reset: {} without a command")
	case dut != v1alpha1.DUTReference && len(spec.Command) == 0:
		d.refusef(path.Child("command"), noValue,
			"linerate doesn't know how to reset a device of type %s: name the program and its arguments, such as "+
				"[ip, neigh, flush, all]", dut)
	}
	if spec.Image != "" && dut != v1alpha1.DUTPod {
		d.refuse(path.Child("image"), spec.Image,
			"only a device in a pod is reset by a container with an image: remove image, or set dut.type: Pod")
	}
	d.checkCommand(path.Child("command"), spec.Command)
}

// checkCommand refuses a command whose first word can't be a program.
func (d *device) checkCommand(path *field.Path, command []v1alpha1.CommandWord) {
	if len(command) > 0 && command[0] == "" {
		d.refuse(path.Index(0), command[0], "the first word is the program to run, such as ip or /usr/bin/vppctl")
	}
}

func words(command []v1alpha1.CommandWord) (texts []string) {
	for _, word := range command {
		texts = append(texts, string(word))
	}
	return texts
}

// checkRewriting refuses several generators with a Reference that only rewrites MAC addresses, since it knows one
// address per link.
func (d *device) checkRewriting() {
	if d.forwarding() == plan.MACRewrite && d.replicas > 1 {
		instead := "dut.forwarding L3"
		if d.modeSpec() != nil {
			instead = "another mode"
		}
		d.refuse(specPath().Child("generator", "replicas"), d.replicas,
			"with forwarding MACRewrite the built-in Reference sends all of a link's frames to one generator: use 1, "+
				"or "+instead)
	}
}

// forwarding is how the device forwards. Where the spec doesn't say, a Loopback forwards like a bridge, a mode as that
// device does, and anything else like a router.
func (d *device) forwarding() plan.Forwarding {
	switch {
	case d.isEndpoint():
		return plan.Nothing
	case d.spec.DUT.Type == v1alpha1.DUTLoopback:
		return plan.L2
	case d.modeSpec() != nil:
		return d.mode().Forwarding()
	case d.spec.DUT.Forwarding == "":
		return plan.L3
	}
	return plan.Forwarding(d.spec.DUT.Forwarding)
}

func (d *device) limit() *plan.Limit {
	if d.spec.DUT.Reference == nil || d.spec.DUT.Reference.Limit == nil {
		return nil
	}
	limit := d.spec.DUT.Reference.Limit
	planned := &plan.Limit{
		PacketsPerSecond:    limit.PacketsPerSecond,
		Layer2BitsPerSecond: limit.Layer2BitsPerSecond,
		Burst: plan.Duration(d.duration(specPath().Child("dut", "reference", "limit", "burst"),
			limit.Burst)),
	}
	if limit.Queue == "" {
		return planned
	}
	path := specPath().Child("dut", "reference", "limit", "queue")
	planned.Queue = plan.Duration(d.duration(path, limit.Queue))
	switch {
	case !d.traffic.toleratesQueue() && !traitsOf(d.spec.Procedure.Type).SendsBursts:
		d.refuse(path, limit.Queue, "frames in a queue at the end of a window are neither lost nor received, which "+
			"linerate can't account for yet: remove queue, or use traffic.type Sessions, or procedure.type "+
			"BackToBack, which waits for them")
	case limit.Layer2BitsPerSecond == 0:
		d.refuse(path, limit.Queue, "a limit in packets has no queue: give the limit in layer2BitsPerSecond, or "+
			"remove queue")
	}
	return planned
}

// joinsPairs says that the device joins links two by two, as wires, bridges and testpmd do.
func (d *device) joinsPairs() bool {
	mode := d.modeSpec()
	return d.spec.DUT.Type == v1alpha1.DUTLoopback || d.spec.DUT.Type == v1alpha1.DUTReference &&
		d.forwarding() == plan.L2 || mode != nil && mode.Userspace != nil
}
