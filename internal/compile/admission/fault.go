package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is something that is wrong with a file, in one sentence with the way out.
type Fault struct {
	File     string
	Document int // from 1; 0 where the file has one document
	Line     int // from 1; 0 unknown
	Field    string
	Message  string // a whole sentence, the field included
}

// Error is the fault as a compiler prints one: "imix.yaml:12: spec.traffic.frameSize is 20: …".
func (f Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if f.Document > 0 {
		fmt.Fprintf(&b, " (document %d)", f.Document)
	}
	return b.String() + ": " + f.Message
}

// Faults is all that is wrong with a file, in the order of its lines.
type Faults []Fault

// Error has a line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single faults.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, fault := range f {
		errs[i] = fault
	}
	return errs
}

// OrNil is the faults, sorted, as an error. Nil means that there are none.
func (f Faults) OrNil() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	return slices.Compact(f)
}
