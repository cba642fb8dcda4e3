package kubectl

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

var updateGoldens = flag.Bool("update", false, "write the goldens")

// noon is when all of it happens.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

type part func(*v1alpha1.LoadTest)

func newLoadTest(name string, ago time.Duration, parts ...part) v1alpha1.LoadTest {
	test := v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "lab", UID: "1",
		CreationTimestamp: metav1.Time{Time: noon().Add(-ago)}}}
	for _, p := range parts {
		p(&test)
	}
	if len(test.Status.Conditions) > 0 {
		lifecycle.SetPhase(&test.Status)
	}
	return test
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) part {
	return func(test *v1alpha1.LoadTest) {
		test.Status.Conditions = append(test.Status.Conditions, metav1.Condition{Type: kind, Status: status,
			Reason: reason, Message: message, LastTransitionTime: metav1.Time{Time: noon().Add(-time.Minute)}})
	}
}

func complete(reason, message string) part {
	return condition(v1alpha1.ConditionComplete, metav1.ConditionTrue, reason, message)
}

func waiting(reason, message string) part {
	return func(test *v1alpha1.LoadTest) {
		condition(v1alpha1.ConditionScheduled, metav1.ConditionFalse, reason, message)(test)
		condition(v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonWaiting, message)(test)
	}
}

func running(step string, percent int32) part {
	return func(test *v1alpha1.LoadTest) {
		condition(v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonRunning,
			"the runner measures")(test)
		test.Status.Attempt = 1
		test.Status.Progress = &v1alpha1.Progress{Phase: step, Run: 1, Percent: &percent,
			IntendedPacketsPerSecond: 8_400_000, OfferedPacketsPerSecond: 8_400_000,
			ReceivedPacketsPerSecond: 8_400_000, LossRatio: "0"}
	}
}

func pod(name, node, state string, links ...v1alpha1.PodLink) part {
	return func(test *v1alpha1.LoadTest) {
		test.Status.Pods = append(test.Status.Pods, v1alpha1.PodStatus{Name: name, Role: v1alpha1.RoleGenerator,
			Node: node, State: state, Links: links})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updateGoldens {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s\nwant\n%s", file, got, want)
	}
}
