package compile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// trex is TRex in stateless mode, started in pods of the test's own.
type trex struct{ inPods }

// What TRex has on devices unless the spec says otherwise. These are what its own guide starts from.
const (
	trexCores        = 4
	trexMemory       = "4Gi"
	trexHugepageSize = "1Gi"
	trexHugepages    = "4Gi"
)

// The least that TRex starts with. Its setting limit_memory says how many MiB of hugepages its packets get instead.
const (
	leastTRexMemory = "1Gi"
	leastHugepages  = "1Gi"
	limitMemory     = "limit_memory"
)

// resources are larger on devices, where TRex's threads poll and so have exclusive CPUs. On kernel interfaces
// TRex has exclusive CPUs only if the spec says how many cores to use.
func (e trex) resources(es *engineSpec) (devices, kernel Resources) {
	spec := es.spec.Generator
	memory := es.quantity(memoryPath(), cmp.Or(spec.Memory, trexMemory), leastTRexMemory,
		"TRex doesn't start with less")
	kernel = Resources{Cores: 1, Memory: memory} // AF_PACKET gives it one queue
	if spec.CoresPerPortPair > 0 {
		kernel.CPUs = es.exclusive(kernel.Cores)
	}
	devices = Resources{Cores: cmp.Or(int(spec.CoresPerPortPair), trexCores), Memory: memory}
	devices.CPUs = es.exclusive(devices.Cores)
	devices.HugepageSize, devices.Hugepages = e.hugepages(es)
	return devices, kernel
}

func (e trex) hugepages(es *engineSpec) (size string, total resource.Quantity) {
	spec := es.spec.Generator.Hugepages
	if spec == nil {
		return trexHugepageSize, resource.MustParse(trexHugepages)
	}
	path := specPath().Child("generator", "hugepages", "total")
	errorsBefore := len(es.errs)
	minimum, reason := e.leastHugepages(es.spec.Generator.TRex)
	total = es.quantity(path, spec.Total, minimum, reason)
	page, err := resource.ParseQuantity(string(spec.PageSize))
	if len(es.errs) == errorsBefore && err == nil && page.Value() > 0 && total.Value()%page.Value() != 0 {
		roundedUp := resource.NewQuantity((total.Value()/page.Value()+1)*page.Value(), resource.BinarySI)
		es.refusef(path, spec.Total, "pages of %s can't be divided: ask for a multiple of it, such as %s",
			spec.PageSize, roundedUp)
	}
	return string(spec.PageSize), total
}

// leastHugepages is the amount that TRex starts with, or the amount that limit_memory takes.
func (trex) leastHugepages(spec *v1alpha1.TRexSpec) (minimum, reason string) {
	if spec != nil {
		text := strings.Trim(string(spec.Config[limitMemory].Raw), `"`)
		if mebibytes, err := strconv.ParseUint(text, 10, 32); err == nil {
			return fmt.Sprintf("%dMi", mebibytes), "generator.trex.config.limit_memory takes more"
		}
	}
	return leastHugepages, "TRex doesn't start with less"
}

// ownedSettings are the settings of TRex's configuration file that only linerate may set, each with its reason.
func ownedSettings() map[string]string {
	const ports = "TRex's ports are the test's links, in their order"
	const rpc = "the runner asks port 4501"
	return map[string]string{
		"interfaces": ports, "interfaces_vdevs": ports, "interface_mask": ports, "port_limit": ports,
		"zmq_rpc_port": rpc, "zmq_pub_port": rpc, "enable_zmq_pub": rpc,
		"c":       "generator.coresPerPortPair says how many cores there are",
		"version": "linerate writes version 2 of the file",
		"prefix":  "it keeps two TRex on one node apart",
	}
}

// ownedArguments are TRex's arguments that only linerate may set, each with its reason.
func ownedArguments() map[string]string {
	const mode = "linerate drives TRex's stateless interactive mode"
	return map[string]string{
		"-i": mode, "--stl": mode, "--astf": mode, "--astf-server-only": mode, "-f": mode, "-d": mode, "-m": mode,
		"-c":       "generator.coresPerPortPair says how many cores there are",
		"--cfg":    "generator.trex.config is merged into the file that linerate writes",
		"--prefix": "it keeps two TRex on one node apart", "--iom": "nobody looks at the console",
		"--no-key": "nobody looks at the console",
	}
}

// check refuses stamps on every frame. TRex can send all else that the schema lets through.
func (trex) check(es *engineSpec) {
	if es.stamps.stamped() {
		es.stamps.refuseStamps("TRex stamps only frames of streams with a rate of their own (flow_stats with "+
			"rule_type latency, in profile Streams)", "use engine Software")
	}
}

func (trex) timesSamplesOnly() bool { return true }
func (trex) drivesCards() bool      { return true }

func (trex) whyNoInterfaceCounters() string {
	return "TRex has the ports to itself, and no kernel counts their frames: use engine Software, or remove this " +
		"observer"
}

// checkPods refuses settings that would keep linerate from controlling TRex.
func (e trex) checkPods(es *engineSpec) {
	spec := es.spec.Generator.TRex
	if spec == nil {
		return
	}
	path := specPath().Child("generator", "trex")
	for i, argument := range spec.Args {
		name, _, _ := strings.Cut(argument, "=")
		if reason := ownedArguments()[name]; reason != "" {
			es.refuse(path.Child("args").Index(i), argument, reason+": remove it")
		}
	}
	e.checkConfig(es, path.Child("config"), spec.Config)
}

func (trex) checkConfig(es *engineSpec, path *field.Path, settings v1alpha1.Freeform) {
	for _, key := range sortedKeys(settings) {
		if reason := ownedSettings()[key]; reason != "" {
			es.refuse(path.Child(key), noValue, reason+": remove it")
		}
	}
}
