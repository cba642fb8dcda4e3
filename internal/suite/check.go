package suite

import (
	"fmt"
	"strings"
)

// Judge says what is wrong with a LoadTest that is to be made, each in a sentence that names the field; nil: it would be taken, and can be
// measured.
type Judge func(content map[string]any) []string

// Fault is what is wrong with cells.
type Fault struct {
	// Cells are those that have it, at most as many as are worth a name; More is how many others do.
	Cells []string
	More  int
	// Message is a sentence that names the field.
	Message string
}

// Faults are what is wrong with a suite.
type Faults []Fault

const (
	// namedCells bounds the cells that are named of a fault.
	namedCells = 4
	// maxFaults bounds the faults that are told.
	maxFaults = 16
)

// ownFields are the fields of a LoadTest's spec that are the suite's to say, and what says them there.
func ownFields() [][2]string {
	return [][2]string{{"suspend", "spec.suspend"}, {"stop", "spec.stop"}, {"ttlAfterFinished", "spec.historyLimit or spec.ttlAfterFinished"}}
}

// Check holds every cell against what a LoadTest must be. What several cells have in common is said once.
func (m *Matrix) Check(judge Judge) Faults {
	if len(m.Cells) == 0 {
		return Faults{{Message: "spec.exclude leaves no cell to measure: exclude less"}}
	}
	var faults Faults
	at := map[string]int{}
	for i := range m.Cells {
		for _, message := range m.wrong(i, judge) {
			n, known := at[message]
			if !known {
				n = len(faults)
				at[message] = n
				faults = append(faults, Fault{Message: message})
			}
			faults[n].add(m.Cells[i].Name)
		}
	}
	return faults
}

func (m *Matrix) wrong(cell int, judge Judge) []string {
	content, err := m.Content(cell, 1, 1)
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	spec := content["spec"].(map[string]any)
	for _, field := range ownFields() {
		if _, is := spec[field[0]]; is {
			wrong = append(wrong, fmt.Sprintf("spec.%s is the suite's to say: remove it from template and patches, and use %s of the suite", field[0], field[1]))
		}
	}
	return append(wrong, judge(content)...)
}

func (f *Fault) add(cell string) {
	if len(f.Cells) < namedCells {
		f.Cells = append(f.Cells, cell)
		return
	}
	f.More++
}

// String is "cell apu6-64b: spec.traffic.frameSize is 20: …".
func (f Fault) String() string {
	switch n := len(f.Cells) + f.More; {
	case n == 0:
		return f.Message
	case n == 1:
		return "cell " + f.Cells[0] + ": " + f.Message
	case f.More > 0:
		return fmt.Sprintf("cells %s and %d more: %s", strings.Join(f.Cells, ", "), f.More, f.Message)
	}
	return "cells " + strings.Join(f.Cells, ", ") + ": " + f.Message
}

// Error are all faults, up to a bound.
func (f Faults) Error() string {
	var words []string
	for _, fault := range f[:min(len(f), maxFaults)] {
		words = append(words, fault.String())
	}
	if more := len(f) - maxFaults; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}
