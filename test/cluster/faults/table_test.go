package faults

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// stub is a machine that was disturbed, or wasn't.
type stub bool

const (
	quiet  stub = false
	shaken stub = true
)

func (s stub) Disturbed() bool { return bool(s) }

func (s stub) Outcome(faults []string) calm.Outcome {
	if len(faults) > 0 && s == shaken {
		return calm.Disturbed
	}
	return calm.LostTime{}.Outcome(faults)
}

// tested is a test that was measured, with this verdict and these figures.
func tested(passed metav1.ConditionStatus, reason string, figures []int64) *lineratev1alpha1.LoadTest {
	test := &lineratev1alpha1.LoadTest{}
	meta.SetStatusCondition(&test.Status.Conditions, metav1.Condition{Type: lineratev1alpha1.ConditionComplete, Status: "True", Reason: lineratev1alpha1.ReasonMeasured})
	meta.SetStatusCondition(&test.Status.Conditions, metav1.Condition{Type: lineratev1alpha1.ConditionPassed, Status: passed, Reason: reason, Message: "as said"})
	if len(figures) > 0 {
		test.Status.Result = &lineratev1alpha1.Result{}
	}
	for _, f := range figures {
		one := lineratev1alpha1.Figure{Metric: string(lineratev1alpha1.MetricPacketsPerSecond), Low: strconv.FormatInt(f, 10),
			Direction: &lineratev1alpha1.FlowDirection{From: "west", To: "east"}}
		test.Status.Result.Figures = append(test.Status.Result.Figures, one)
	}
	return test
}

func passed(figures ...int64) *lineratev1alpha1.LoadTest {
	return tested(metav1.ConditionTrue, lineratev1alpha1.ReasonCriteriaMet, figures)
}

func undecided(figures ...int64) *lineratev1alpha1.LoadTest {
	return tested(metav1.ConditionUnknown, lineratev1alpha1.ReasonUndecided, figures)
}

// TestTheAnswer: on a calm machine a test without the answer is wrong, on a disturbed one it is told.
func TestTheAnswer(t *testing.T) {
	ended := passed(10_000, 10_000)
	meta.SetStatusCondition(&ended.Status.Conditions, metav1.Condition{Type: lineratev1alpha1.ConditionComplete, Status: "True", Reason: lineratev1alpha1.ReasonGeneratorLost})
	for _, c := range []struct {
		name    string
		test    *lineratev1alpha1.LoadTest
		machine machine
		want    calm.Outcome
		said    string
	}{
		{"the answer", passed(9_900, 10_100), quiet, calm.Right, ""},
		{"the answer, on a disturbed machine", passed(10_000, 10_000), shaken, calm.Right, ""},
		{"a figure that is too far off", passed(10_000, 9_899), quiet, calm.Wrong, "no answer: 10000 / 9899: not two figures within 1 % of 10000"},
		{"that, on a disturbed machine", passed(10_000, 9_899), shaken, calm.Disturbed, "**disturbed**, no answer: 10000 / 9899: not two figures within 1 % of 10000"},
		{"one direction", passed(10_000), quiet, calm.Wrong, "no answer: 10000: not two figures within 1 % of 10000"},
		{"no verdict", undecided(10_000, 10_000), quiet, calm.Wrong, "no answer: Passed=Unknown Undecided (as said)"},
		{"nothing", undecided(), shaken, calm.Disturbed, "**disturbed**, no answer: Passed=Unknown Undecided (as said); no figures"},
		{"another end", ended, quiet, calm.Wrong, "no answer: Complete is GeneratorLost"},
	} {
		if got, said := answer(c.test, c.machine); got != c.want || said != c.said {
			t.Errorf("%s: %s, %q, want %s, %q", c.name, got, said, c.want, c.said)
		}
	}
}

// TestAWrongVerdictIsFound: no machine is so busy that a verdict may be false.
func TestAWrongVerdictIsFound(t *testing.T) {
	failed := func(figures ...int64) *lineratev1alpha1.LoadTest {
		return tested(metav1.ConditionFalse, lineratev1alpha1.ReasonCriteriaNotMet, figures)
	}
	for _, c := range []struct {
		test *lineratev1alpha1.LoadTest
		want string
	}{
		{passed(9_800, 10_200), ""},
		{undecided(5_000, 5_000), ""},
		{undecided(), ""},
		{passed(9_799, 10_000), "Passed=True (as said) with the figures [9799 10000]"},
		{passed(), "Passed=True (as said) with the figures []"},
		{failed(10_000, 10_000), "Passed=False (as said) with the figures [10000 10000]"},
		{failed(9_000, 9_000), "Passed=False (as said) with the figures [9000 9000]"},
	} {
		if got := falseVerdict(c.test); got != c.want {
			t.Errorf("%s %s: %q, want %q", verdict(c.test), figuresOf(c.test), got, c.want)
		}
	}
}

// TestTheLedger: what was played replaces its rows in the page, whatever became of it, and older rows get the columns that they lack.
func TestTheLedger(t *testing.T) {
	all := rows()
	var old []string
	for i, r := range all[:4] {
		old = append(old, r.cells()+fmt.Sprintf(`said %d: a\|b | 1 / 2 | at once |  |`, i))
	}
	l := newLedger("Measured today.")
	for i, o := range []calm.Outcome{calm.Right, calm.Disturbed, calm.Wrong} {
		l.add(all[i+1], o, cells{"now " + cell(" a|b \n c"), "3 / 4", "0.5 s", "5 / 6", "0.0 % stolen"})
	}
	rest := `now a\|b c | 3 / 4 | 0.5 s | 5 / 6 | 0.0 % stolen |`
	want := strings.Join([]string{
		header,
		all[0].cells() + `said 0: a\|b | 1 / 2 | at once |  |  |`,
		all[1].cells() + rest,
		all[2].cells() + rest,
		all[3].cells() + strings.Replace(rest, "c |", "c **NOT AS IT SHOULD BE** |", 1),
		"", fmt.Sprintf("3 rows, 1 as they should be, 1 disturbed, 1 wrong. Measured today. The other %d rows are older.", len(all)-3), "",
	}, "\n")
	got := l.page(strings.Join(old, "\n"))
	if got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
	if again := l.page(got); again != got {
		t.Errorf("written twice the page is\n%s", again)
	}
}

func TestALongCellIsCut(t *testing.T) {
	if got := cell(strings.Repeat("ä", 200)); got != strings.Repeat("ä", 160)+"…" {
		t.Error(got)
	}
}

// TestThePageHasEachRow: it says how many there are, and has each once, with as many cells as columns.
func TestThePageHasEachRow(t *testing.T) {
	text, err := os.ReadFile(pageOf("docs/measured/reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if says := fmt.Sprintf("`make faults` plays all %d rows", len(rows())); !strings.Contains(page, says) {
		t.Errorf("docs/measured/reliability.md doesn't say that %s", says)
	}
	columns, _, _ := strings.Cut(header, "\n")
	for _, r := range rows() {
		there := slices.DeleteFunc(lines(page), func(line string) bool { return !strings.HasPrefix(line, r.cells()) })
		if len(there) != 1 {
			t.Errorf("%s: %d lines in docs/measured/reliability.md", r.name(), len(there))
		} else if got, want := bars(there[0]), bars(columns); got != want {
			t.Errorf("%s: %d cells in docs/measured/reliability.md, want %d", r.name(), got-1, want-1)
		}
	}
}

// TestRows holds the table to the document of conditions.
func TestRows(t *testing.T) {
	conditions, err := os.ReadFile(pageOf("docs/conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, complete, _ := strings.Cut(string(conditions), "\n## Complete\n")
	names, again := map[string]bool{}, map[fault]int{}
	for _, r := range rows() {
		if names[r.name()] {
			t.Errorf("two rows are named %s", r.name())
		}
		names[r.name()] = true
		again[r.fault] += map[bool]int{true: 1}[r.triedAgain()]
		for _, reason := range r.complete {
			if !strings.Contains(complete, "| `"+reason+"` | True |") {
				t.Errorf("%s: docs/conditions.md has no reason %q of Complete", r.name(), reason)
			}
		}
		if len(r.complete) == 0 || r.survives() == (r.tells != "") {
			t.Errorf("%s: what ended the test is to be told, and only that", r.name())
		}
	}
	for f, count := range again {
		if count != 1 {
			t.Errorf("after %s the same test is made anew %d times, want once", f, count)
		}
	}
}
