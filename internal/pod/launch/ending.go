package launch

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// exitOrderly is TRex's exit code when it was asked to end, by a signal or by RPC, and also when its
// configuration is wrong.
const exitOrderly = 255

// ending is how a TRex process ended.
type ending struct {
	requested bool // by us
	code      int  // exit code, or 128 and the signal that ended it, as shells have it
	grace     time.Duration
	output    []string // its last lines
}

func endingOf(status syscall.WaitStatus, requested bool, grace time.Duration, output []string) ending {
	e := ending{requested: requested, code: status.ExitStatus(), grace: grace, output: output}
	if status.Signaled() {
		e.code = 128 + int(status.Signal())
	}
	return e
}

// signal is what ended it, 0 nothing did. A shell around TRex turns the signal into an exit code.
func (e ending) signal() syscall.Signal {
	if e.code > 128 && e.code < exitOrderly {
		return syscall.Signal(e.code - 128)
	}
	return 0
}

// verdict is nil for an orderly end.
func (e ending) verdict() error {
	switch s := e.signal(); {
	case e.requested && (e.code == 0 || e.code == exitOrderly || s == syscall.SIGTERM):
		return nil
	case e.requested && s == syscall.SIGKILL:
		return Fault{TRexEnded, fmt.Sprintf("TRex didn't end within %v of SIGTERM, and was killed", e.grace),
			"its traffic is over; look at its log for what held it up"}
	}
	f, telling := e.explain()
	f.Problem += e.lastWords(telling)
	return f
}

// explain finds the best explanation, which is a line of TRex's, then the signal, then the exit code. It
// returns the line, too.
func (e ending) explain() (f Fault, telling string) {
	for _, k := range knownWords {
		for _, line := range e.output {
			if strings.Contains(line, k.words) {
				return k.means, line
			}
		}
	}
	return e.explainCode(), ""
}

func (e ending) explainCode() Fault {
	if f, ok := knownSignals[e.signal()]; ok {
		return f
	}
	switch e.code {
	case exitOrderly:
		return Fault{TRexEnded, "TRex ended with exit code 255 by itself",
			"its configuration is wrong, or somebody shut it down over its RPC; its last words say which"}
	case 1:
		return Fault{TRexEnded, "TRex couldn't set up its ports (exit code 1)",
			"its last words name the port or the driver"}
	}
	return Fault{TRexEnded, fmt.Sprintf("TRex ended with exit code %d", e.code), "see its log"}
}

// noSymbol is what TRex prints, a line for each frame, of a stack whose symbols it can't find.
const noSymbol = "??:0"

// lastWords are the last of TRex's lines, for the end of a sentence. The telling line comes first if it is an
// earlier one.
func (e ending) lastWords(telling string) string {
	const maxLines, maxBytes = 3, 200
	lines := slices.DeleteFunc(slices.Clone(e.output), func(line string) bool { return line == noSymbol })
	tail := lines[max(0, len(lines)-maxLines):]
	if len(tail) == 0 {
		return ""
	}
	if telling != "" && !slices.Contains(tail, telling) {
		tail[0] = telling
	}
	short := make([]string, len(tail))
	for i, line := range tail {
		short[i] = cut(line, maxBytes)
	}
	return fmt.Sprintf(" (last words: %q)", strings.Join(short, " | "))
}

// knownSignals explain the signals that end TRex.
var knownSignals = map[syscall.Signal]Fault{
	syscall.SIGILL: {WrongArchitecture, "TRex used an instruction that this CPU lacks (SIGILL)",
		"use newer nodes, or an image that also holds " + fallbackName},
	syscall.SIGABRT: {TRexEnded, "TRex aborted itself (SIGABRT): an assertion, or its watchdog found a thread that " +
		"got no CPU", "give the pod CPUs of its own (Guaranteed, static CPU manager)"},
	syscall.SIGSEGV: {TRexEnded, "TRex crashed (SIGSEGV)",
		"see its log; a TRex release that knows this NIC and its firmware may help"},
	syscall.SIGBUS: {HugepagesTooSmall, "TRex got no memory where it had mapped some (SIGBUS): hugepages ran out",
		"raise spec.generator.hugepages.total, and see that no one else uses this node's"},
	syscall.SIGKILL: {MemoryTooSmall, "TRex was killed (SIGKILL) by someone else, most likely since the pod's " +
		"memory ran out", "raise spec.generator.memory"},
}

// knownWords explain what TRex, and DPDK in it, say before they give up.
var knownWords = []struct {
	words string
	means Fault
}{
	{"Cannot get hugepage information", Fault{NoHugepages, "DPDK found no hugepages",
		"set spec.generator.hugepages, and see that an emptyDir with medium HugePages is mounted"}},
	{"Not enough memory available on socket", Fault{HugepagesTooSmall, "too few hugepages on one NUMA node",
		"reserve hugepages on the NIC's node, or raise spec.generator.hugepages.total"}},
	{"VFIO group is not viable", Fault{NoIOMMUGroup,
		"other devices of the NIC's IOMMU group are bound to other drivers",
		"bind the whole group to vfio-pci, or turn on ACS on the node"}},
	{"Cannot set up DMA remapping", Fault{MissingRight, "the kernel refused to map TRex's memory for the NIC",
		"add the capability IPC_LOCK, or raise the container runtime's memlock limit"}},
	{"WATCHDOG: task", Fault{TRexEnded, "TRex's watchdog ended it: one of its threads got no CPU for a second",
		"give the pod CPUs of its own (Guaranteed, static CPU manager), or --no-watchdog in spec.generator.trex.args"}},
	{"unable to bind ZMQ server", Fault{TRexEnded, "the TCP port of TRex's RPC is taken",
		"another TRex or generator runs in this network namespace: end it, and keep the pod off the host's network"}},
	{"is not recognized", Fault{TRexEnded, "TRex doesn't know an argument that it was given",
		"correct spec.generator.trex.args, or use a TRex that knows it"}},
	{"could not allocate memory for mbufs", Fault{MemoryTooSmall, "TRex's memory is too small for its pools of packets",
		"raise spec.generator.memory or hugepages; where limit_memory is in spec.generator.trex.config, raise or " +
			"remove it"}},
	{"Invalid EAL arguments", Fault{TRexEnded, "DPDK refused its arguments, such as a CPU that the pod doesn't have",
		"remove what is about CPUs, devices or DPDK from spec.generator.trex.config and args"}},
	{"does not support more than one core", Fault{TooManyCores, "these ports have one queue",
		"ask for coresPerPortPair: 1"}},
}
