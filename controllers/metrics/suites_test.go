package metrics

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// aSuite has conditions such as "Complete=False Running".
func aSuite(name string, conditions ...string) *v1alpha1.LoadTestSuite {
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
	s.Status.Conditions = aTest(name, conditions...).Status.Conditions
	return s
}

func TestSuitesAreCountedByState(t *testing.T) {
	lines, _ := scene{objects: []client.Object{
		aSuite("new"), aSuite("running", "Complete=False Running"), aSuite("suspended", "Complete=False Suspended"),
		aSuite("stopping", "Complete=False Stopped"),
		aSuite("measured", "Complete=True Measured"), aSuite("partly", "Complete=True PartlyMeasured"),
		aSuite("stopped", "Complete=True Stopped"),
		aSuite("invalid", "Complete=True Invalid"),
	}}.gather(t)
	for _, state := range suiteStates() {
		wantLines(t, lines, fmt.Sprintf("linerate_suites{state=%q} 1", state))
	}
	wantLines(t, lines, "not linerate_suite_tests", "linerate_suites_left_out 8")
	t.Run("one whose name is taken waits", func(t *testing.T) {
		lines, _ := scene{objects: []client.Object{aSuite("a", "Complete=False Waiting"),
			aSuite("b", "Complete=False NameTaken")}}.gather(t)
		wantLines(t, lines, `linerate_suites{state="waiting"} 2`)
	})
}

func TestASuitesFiguresAreTold(t *testing.T) {
	night := aSuite("night", "Complete=False Running", "Passed=Unknown Undecided")
	night.Status.Counts = v1alpha1.SuiteCounts{Tests: 40, Waiting: 20, Running: 2, Measured: 15, NotMeasured: 3,
		Retried: 4}
	old, older := aSuite("old", "Complete=True Measured", "Passed=False CriteriaNotMet"),
		aSuite("older", "Complete=True Measured")
	old.Status.CompletionTime, older.Status.CompletionTime = new(metav1.NewTime(noon)),
		new(metav1.NewTime(noon.Add(-time.Hour)))
	lines, _ := scene{maxTests: 2, objects: []client.Object{older, old, night}}.gather(t)
	wantLines(t, lines,
		`linerate_suite_tests{namespace="lab",state="waiting",suite="night"} 20`,
		`linerate_suite_tests{namespace="lab",state="running",suite="night"} 2`,
		`linerate_suite_tests{namespace="lab",state="measured",suite="night"} 15`,
		`linerate_suite_tests{namespace="lab",state="not_measured",suite="night"} 3`,
		`linerate_suite_repeated_tests{namespace="lab",suite="night"} 4`,
		`linerate_suite_passed{namespace="lab",suite="old"} 0`, "linerate_suites_left_out 1")
	wantLines(t, lines, `not linerate_suite_passed{namespace="lab",suite="night"}`,
		`not linerate_suite_tests{namespace="lab",state="measured",suite="older"}`)
}

func TestASuitesEndIsCountedOnce(t *testing.T) {
	counted := NewSuites()
	ongoing, ended := aSuite("a", "Complete=False Running").Status.Conditions,
		aSuite("a", "Complete=True PartlyMeasured").Status.Conditions
	counted.StatusWritten(ongoing, ended)
	counted.StatusWritten(ended, ended)
	lines, _ := scene{standby: true}.gather(t, counted.completed)
	wantLines(t, lines, `linerate_completed_suites_total{reason="PartlyMeasured"} 1`,
		`linerate_completed_suites_total{reason="Measured"} 0`)
}
