package loadtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// aTest has conditions such as "Complete=False Running".
func aTest(name string, conditions ...string) *v1alpha1.LoadTest {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
	test.Status.Attempt = 1
	for _, text := range conditions {
		kind, value, _ := strings.Cut(text, "=")
		status, reason, _ := strings.Cut(value, " ")
		test.Status.Conditions = append(test.Status.Conditions, metav1.Condition{Type: kind,
			Status: metav1.ConditionStatus(status), Reason: reason})
	}
	return test
}

func running(name string) *v1alpha1.LoadTest {
	return aTest(name, "Scheduled=True AllScheduled", "GeneratorsReady=True Ready", "DUTReady=True Ready",
		"Complete=False Running")
}

// logged is what is logged of a decision, as keys and values.
func logged(t *testing.T, test *v1alpha1.LoadTest, decision lifecycle.Decision,
	level slog.Level) (lines []map[string]any) {
	t.Helper()
	var talk bytes.Buffer
	log := logr.FromSlogHandler(slog.NewJSONHandler(&talk, &slog.HandlerOptions{Level: level})).WithValues("namespace",
		test.Namespace, "loadtest", test.Name)
	ctx := withDecision(ctrl.LoggerInto(t.Context(), log), test, decision)
	logDecided(ctrl.LoggerFrom(ctx), test, decision)
	for line := range strings.Lines(talk.String()) {
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fields)
	}
	return lines
}

func TestAChangeOfStateIsLoggedWithTheKeysThatFollowATest(t *testing.T) {
	waiting, started := aTest("imix", "Scheduled=True AllScheduled", "Complete=False Waiting"), running("imix")
	lines := logged(t, waiting, lifecycle.Decision{Rule: "runNeeded", Reason: "Running", Message: "all is ready",
		Status: started.Status}, slog.LevelInfo)
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	for key, want := range map[string]string{
		"msg": "state changed", "namespace": "lab", "loadtest": "imix", "attempt": "1", "rule": "runNeeded",
		"state": "running", "message": "all is ready",
	} {
		if got := fmt.Sprint(lines[0][key]); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestWhatIsLoggedForEverybody(t *testing.T) {
	cases := map[string]struct {
		old, updated *v1alpha1.LoadTest
		logged       bool
	}{
		"the first look": {aTest("a"), aTest("a", "Scheduled=False Pending", "Complete=False Waiting"),
			true},
		"another reason to wait": {aTest("a", "Scheduled=False Pending", "Complete=False Waiting"),
			aTest("a", "Scheduled=False Unschedulable", "Complete=False Waiting"), true},
		"the end": {running("a"), aTest("a", "Scheduled=True AllScheduled",
			"Complete=True Measured"), true},
		"progress, and nothing else": {running("a"), running("a"), false},
		"a wait that is told in full": {aTest("a", "Scheduled=False Pending"), aTest("a", "Scheduled=False Pending"),
			false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			decision := lifecycle.Decision{Status: c.updated.Status}
			if got := len(logged(t, c.old, decision, slog.LevelInfo)) == 1; got != c.logged {
				t.Errorf("logged: %v", got)
			}
			if got := len(logged(t, c.old, decision, slog.LevelDebug)); got != 1 {
				t.Errorf("%d lines for who looks closer", got)
			}
		})
	}
}

func TestADecisionThatLooksCloserIsOfTheAttemptThatIsKnown(t *testing.T) {
	lines := logged(t, running("a"), lifecycle.Decision{Rule: "podsNeeded"}, slog.LevelDebug)
	if got := fmt.Sprint(lines[0]["attempt"]); got != "1" {
		t.Errorf("attempt %s", got)
	}
}
