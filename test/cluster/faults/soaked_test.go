package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// soaked is what a soak found.
type soaked struct {
	took time.Duration
	// measured says when that was, and with which tree.
	measured string
	// machine is how calm it was over the whole soak.
	machine string
	tests   []soakedTest
}

// soakedTest is one of a soak's tests.
type soakedTest struct {
	name    string
	figures []int64 // of all directions, in packets/s; none: nothing was measured
	machine machine // while it ran
	outcome calm.Outcome
	said    string // of a test without the answer
	memory  int64  // the operator's resident memory after it, in KiB
}

func (s *soaked) add(test *lineratev1alpha1.LoadTest, m machine, memory int64) {
	outcome, said := answer(test, m)
	s.tests = append(s.tests, soakedTest{name: test.Name, figures: figures(test), machine: m, outcome: outcome, said: said, memory: memory})
}

// faults: on a calm machine each test has the answer, and on any machine the operator doesn't grow from test to test. How much memory it has at first says
// little: it has just begun to fill its cache.
func (s *soaked) faults() (out []string) {
	for _, t := range s.tests {
		if t.outcome == calm.Wrong {
			out = append(out, t.name+": "+t.said)
		}
	}
	const mebibyte, each = 1 << 10, 1 << 9 // in KiB
	first, now := s.tests[0].memory, s.tests[len(s.tests)-1].memory
	if most := 16*mebibyte + int64(len(s.tests))*each; now-first > most {
		out = append(out, fmt.Sprintf("the operator grew from %d to %d KiB in %d tests, more than %d", first, now, len(s.tests), most))
	}
	return out
}

// all are the figures of all tests, in their order.
func (s *soaked) all() (out []int64) {
	for _, t := range s.tests {
		out = append(out, t.figures...)
	}
	slices.Sort(out)
	return out
}

// count sums up what a test counts for: of all tests, and of those while the machine was disturbed.
func (s *soaked) count(of func(soakedTest) int) (all, disturbed int) {
	for _, t := range s.tests {
		all += of(t)
		if t.machine.Disturbed() {
			disturbed += of(t)
		}
	}
	return all, disturbed
}

// farOff counts a test's figures that are more than 1 % off.
func farOff(t soakedTest) (count int) {
	for _, f := range t.figures {
		if off(f) > allowed {
			count++
		}
	}
	return count
}

// unanswered is one for a test without the answer: it has no figure, one that is off, or no verdict.
func unanswered(t soakedTest) int {
	if t.outcome == calm.Right {
		return 0
	}
	return 1
}

// text is what the document says of it.
func (s *soaked) text() string {
	all, span := s.all(), "none"
	if len(all) > 0 {
		span = fmt.Sprintf("%d, %d, %d", all[0], all[len(all)/2], all[len(all)-1])
	}
	wide, wideDisturbed := s.count(farOff)
	without, withoutDisturbed := s.count(unanswered)
	_, disturbed := s.count(func(soakedTest) int { return 1 })
	mebibytes := func(test int) float64 { return float64(s.tests[test].memory) / 1024 }
	return strings.Join([]string{
		"| | |", "|---|---|",
		fmt.Sprintf("| tests in a row, all kept to the end | %d, in %s |", len(s.tests), s.took.Round(time.Second)),
		fmt.Sprintf("| the known answer, %d packets/s in each direction: least, median, most | %s |", known, span),
		fmt.Sprintf("| figures more than 1 %% off, of %d; of those while the machine was disturbed | %d; %d |", len(all), wide, wideDisturbed),
		fmt.Sprintf("| tests without the answer, of %d; of those while the machine was disturbed | %d; %d |", len(s.tests), without, withoutDisturbed),
		fmt.Sprintf("| the machine over the whole soak; tests in which it was disturbed | %s; %d |", s.machine, disturbed),
		fmt.Sprintf("| the operator's resident memory after the first test, in the middle, after the last | %.1f, %.1f, %.1f MiB |",
			mebibytes(0), mebibytes(len(s.tests)/2), mebibytes(len(s.tests)-1)),
		"| pods, Jobs, functions in pods, interfaces and network namespaces left over | none |",
		"| objects of any kind left after the LoadTests were deleted | none |",
		"", s.measured, "",
	}, "\n")
}

// TestASoakCountsWhatIsWrong: a test without the answer is a fault on a calm machine, and counted on any.
func TestASoakCountsWhatIsWrong(t *testing.T) {
	s := &soaked{took: 5 * time.Minute, measured: "Measured.", machine: "0.3 % stolen"}
	for i, c := range []struct {
		test    *lineratev1alpha1.LoadTest
		machine machine
	}{
		{passed(10_000, 9_980), quiet}, {passed(9_890, 10_150), quiet}, {passed(9_000, 10_010), shaken},
		{undecided(), quiet}, {undecided(), shaken}, {undecided(9_990, 10_005), shaken}, {passed(10_002, 10_003), shaken},
	} {
		c.test.Name = fmt.Sprintf("soak-%d", i+1)
		s.add(c.test, c.machine, 60<<10+int64(i)<<10)
	}
	got := s.faults()
	if len(got) != 2 || !strings.HasPrefix(got[0], "soak-2: no answer: 9890 / 10150: not two figures") || !strings.HasPrefix(got[1], "soak-4: no answer: Passed=Unknown Undecided") {
		t.Errorf("the faults are %q", got)
	}
	for _, want := range []string{
		"| tests in a row, all kept to the end | 7, in 5m0s |\n",
		"| the known answer, 10000 packets/s in each direction: least, median, most | 9000, 10002, 10150 |\n",
		"| figures more than 1 % off, of 10; of those while the machine was disturbed | 3; 1 |\n",
		"| tests without the answer, of 7; of those while the machine was disturbed | 5; 3 |\n",
		"| the machine over the whole soak; tests in which it was disturbed | 0.3 % stolen; 4 |\n",
		"after the last | 60.0, 63.0, 66.0 MiB |\n",
	} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("the page doesn't say %q:\n%s", want, s.text())
		}
	}
}

// TestAnOperatorThatGrows: its memory is no matter of the machine's calm.
func TestAnOperatorThatGrows(t *testing.T) {
	for memory, grows := range map[int64]bool{77 << 10: false, 77<<10 + 1: true} {
		s := &soaked{}
		s.add(undecided(), shaken, 60<<10)
		s.add(undecided(), shaken, memory)
		if got := s.faults(); (len(got) == 1) != grows {
			t.Errorf("with %d KiB in the end the faults are %q", memory, got)
		}
		if text := s.text(); !strings.Contains(text, "least, median, most | none |") {
			t.Errorf("a soak without figures has\n%s", text)
		}
	}
}
