package launch

import (
	"strings"

	"github.com/linerate-dev/linerate/internal/pod"
)

// Code names a kind of Fault, in the same words in every message, status and document.
type Code string

// What keeps TRex from running, or ended it.
const (
	NoNetworkStatus    Code = "NoNetworkStatus"    // Multus' annotation never came
	LinkWithoutNetwork Code = "LinkWithoutNetwork" // nothing attached for a link
	AmbiguousLink      Code = "AmbiguousLink"      // more than one attachment or device fits a link
	NoDevice           Code = "NoDevice"           // the attachment is there, its device isn't
	InterfaceMissing   Code = "InterfaceMissing"   // no such interface in the pod
	NotBoundToVFIO     Code = "NotBoundToVFIO"     // another driver has the device
	NoVFIO             Code = "NoVFIO"             // /dev/vfio/vfio isn't in the pod
	NoIOMMUGroup       Code = "NoIOMMUGroup"       // the device's group isn't in the pod
	NoRDMA             Code = "NoRDMA"             // /dev/infiniband isn't in the pod
	MixedDrivers       Code = "MixedDrivers"       // the links' devices need different drivers
	SharedPort         Code = "SharedPort"         // two links on one physical port
	TooFewCores        Code = "TooFewCores"        // the pod has too few CPUs
	TooManyCores       Code = "TooManyCores"       // more than kernel interfaces can use
	NoHugepages        Code = "NoHugepages"        // the node has none, the pod asked for none, or none are mounted
	HugepagesTooSmall  Code = "HugepagesTooSmall"  // the pod's limit, or what is left of the node's
	MemoryTooSmall     Code = "MemoryTooSmall"     // the pod's memory limit
	MissingRight       Code = "MissingRight"       // user id 0 or a capability
	NoLinks            Code = "NoLinks"            // nothing to send on
	ReservedSetting    Code = "ReservedSetting"    // extra configuration that would break the mapping of links
	TRexNotFound       Code = "TRexNotFound"       // no _t-rex-64 where it was looked for
	// the binary is for another machine, or uses instructions that this CPU lacks
	WrongArchitecture Code = "WrongArchitecture"
	MissingLibrary    Code = "MissingLibrary" // the binary needs a shared library that the image lacks
	TRexEnded         Code = "TRexEnded"      // the process ended by itself
)

// Fault is one reason, and the way out. Its text is one sentence for people.
type Fault struct {
	Code    Code   `json:"code"`
	Problem string `json:"what"` // object, field, value
	Fix     string `json:"fix"`  // what to do
}

// Error is the sentence.
func (f Fault) Error() string { return f.Problem + ": " + f.Fix }

// Notice is something that doesn't keep TRex from running, and that a reader of the result should know.
type Notice struct {
	Code    Code   `json:"code"`
	Notable string `json:"what"`
}

// What is worth knowing of a generator that does run.
const (
	CrossNUMA    Code = "CrossNUMA"    // threads and NIC on different nodes, so the maximum is lower
	SharedCPUs   Code = "SharedCPUs"   // the CPUs aren't the pod's own
	OneThread    Code = "OneThread"    // all of TRex on one CPU
	MixedDevices Code = "MixedDevices" // different models of NIC
)

// TerminationMessage is the faults as a pod's termination message, a sentence a line, cut at what Kubernetes keeps.
func TerminationMessage(faults []Fault) string {
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = string(f.Code) + ": " + f.Error()
	}
	return cut(strings.Join(lines, "\n"), pod.MaxTerminationMessage)
}

// cut shortens a text to so many bytes, and not in the middle of a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
