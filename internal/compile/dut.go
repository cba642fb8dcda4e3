package compile

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

func (c *compiler) dut() plan.DUT {
	d := plan.DUT{Type: string(c.spec.DUT.Type), Forwarding: c.forwarding(), Hops: int(c.spec.DUT.Hops),
		ReadyDelay: plan.Duration(c.duration(specPath().Child("dut", "readyDelay"), c.spec.DUT.ReadyDelay))}
	if c.spec.DUT.Type == v1alpha1.DUTReference {
		d.Reference = &plan.Reference{Limit: c.limit(), Mode: c.mode()}
		c.checkRewriting()
	}
	d.Setup = c.program("setup", c.spec.DUT.Setup)
	d.Teardown = c.program("teardown", c.spec.DUT.Teardown)
	if reset := c.spec.Procedure.Reset; reset != nil {
		c.checkReset(reset)
		d.ResetCommand = words(reset.Command)
	}
	return d
}

// program is the program that linerate run starts before or after the run; nil: there is none. A cluster starts none.
func (c *compiler) program(name string, spec *v1alpha1.HookSpec) *plan.Program {
	path := specPath().Child("dut", name)
	if spec != nil && spec.Template == nil && len(spec.Command) == 0 { // a schema's rules don't see a mapping of any values
		c.refuse(path, field.OmitValueType{}, "say what runs: template (a pod, in a cluster), command (a program, with linerate run), or both")
	}
	if spec == nil || len(spec.Command) == 0 {
		return nil
	}
	c.checkCommand(path.Child("command"), spec.Command)
	return &plan.Program{Command: words(spec.Command), Deadline: plan.Duration(c.duration(path.Child("deadline"), spec.Deadline))}
}

// checkReset refuses a reset that the type of device doesn't have.
func (c *compiler) checkReset(spec *v1alpha1.ResetSpec) {
	path, dut := specPath().Child("procedure", "reset"), c.spec.DUT.Type
	switch {
	case dut == v1alpha1.DUTLoopback:
		c.refuse(path, field.OmitValueType{}, "a Loopback has no tables to empty: remove reset")
	case dut == v1alpha1.DUTReference && len(spec.Command) > 0:
		c.refuse(path.Child("command"), field.OmitValueType{}, "the Reference empties its tables itself: write reset: {} without a command")
	case dut != v1alpha1.DUTReference && len(spec.Command) == 0:
		c.refuse(path.Child("command"), field.OmitValueType{}, fmt.Sprintf("linerate doesn't know how to reset a device of type %s: name the program and its arguments, such as [ip, neigh, flush, all]", dut))
	}
	if spec.Image != "" && dut != v1alpha1.DUTPod {
		c.refuse(path.Child("image"), spec.Image, "only a device in a pod is reset by a container with an image: remove image, or set dut.type: Pod")
	}
	c.checkCommand(path.Child("command"), spec.Command)
}

// checkCommand refuses a command whose first word can't be a program.
func (c *compiler) checkCommand(path *field.Path, command []v1alpha1.CommandWord) {
	if len(command) > 0 && command[0] == "" {
		c.refuse(path.Index(0), command[0], "the first word is the program to run, such as ip or /usr/bin/vppctl")
	}
}

func words(command []v1alpha1.CommandWord) (all []string) {
	for _, word := range command {
		all = append(all, string(word))
	}
	return all
}

// checkRewriting refuses several generators with a Reference that only rewrites MAC addresses: it knows one address per link.
func (c *compiler) checkRewriting() {
	if c.forwarding() == plan.MACRewrite && c.replicas() > 1 {
		instead := "dut.forwarding L3"
		if c.modeSpec() != nil {
			instead = "another mode"
		}
		c.refuse(specPath().Child("generator", "replicas"), c.replicas(),
			"with forwarding MACRewrite the built-in Reference sends all of a link's frames to one generator: use 1, or "+instead)
	}
}

// forwarding is how the device forwards: as the spec says, or else a Loopback like a bridge, a mode as that device does, and anything else like a router.
func (c *compiler) forwarding() plan.Forwarding {
	switch {
	case c.endpoint():
		return plan.Nothing
	case c.spec.DUT.Type == v1alpha1.DUTLoopback:
		return plan.L2
	case c.modeSpec() != nil:
		return c.mode().Forwarding()
	case c.spec.DUT.Forwarding == "":
		return plan.L3
	}
	return plan.Forwarding(c.spec.DUT.Forwarding)
}

func (c *compiler) limit() *plan.Limit {
	if c.spec.DUT.Reference == nil || c.spec.DUT.Reference.Limit == nil {
		return nil
	}
	limit := c.spec.DUT.Reference.Limit
	out := &plan.Limit{
		PacketsPerSecond:    limit.PacketsPerSecond,
		Layer2BitsPerSecond: limit.Layer2BitsPerSecond,
		Burst:               plan.Duration(c.duration(specPath().Child("dut", "reference", "limit", "burst"), limit.Burst)),
	}
	if limit.Queue == "" {
		return out
	}
	path := specPath().Child("dut", "reference", "limit", "queue")
	out.Queue = plan.Duration(c.duration(path, limit.Queue))
	switch {
	case !c.traffic.toleratesQueue() && c.spec.Procedure.Type != v1alpha1.ProcedureBackToBack:
		c.refuse(path, limit.Queue, "frames in a queue at the end of a window are neither lost nor received, which linerate can't account for yet: remove queue, or use traffic.type Sessions, or procedure.type BackToBack, which waits for them")
	case limit.Layer2BitsPerSecond == 0:
		c.refuse(path, limit.Queue, "a limit in packets has no queue: give the limit in layer2BitsPerSecond, or remove queue")
	}
	return out
}

// inPairs says that the device joins links two by two, as wires, bridges and testpmd do.
func (c *compiler) inPairs() bool {
	mode := c.modeSpec()
	return c.spec.DUT.Type == v1alpha1.DUTLoopback || c.spec.DUT.Type == v1alpha1.DUTReference && c.forwarding() == plan.L2 || mode != nil && mode.Userspace != nil
}
