package kubectl

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// aLab has tests in each state.
func aLab() []v1alpha1.LoadTest {
	west, east := v1alpha1.PodLink{Link: "west", Device: "0000:03:02.1"}, v1alpha1.PodLink{Link: "east",
		Device: "0000:03:02.2"}
	return []v1alpha1.LoadTest{
		newLoadTest("second", 2*time.Minute, waiting(v1alpha1.ReasonResourceMissing,
			"lab.dev/west: 1 is needed, no node has any left")),
		newLoadTest("new", time.Second),
		newLoadTest("old", 48*time.Hour, complete(v1alpha1.ReasonMeasured, "measured"),
			condition(v1alpha1.ConditionPassed,
				metav1.ConditionFalse, v1alpha1.ReasonCriteriaNotMet, "no"),
			func(t *v1alpha1.LoadTest) { t.Status.Summary = "654 kpps both ways together (99.9 %)" }),
		newLoadTest("first", 3*time.Minute, waiting(v1alpha1.ReasonSuspended, "spec.suspend is true")),
		newLoadTest("vpp-imix", 4*time.Minute, running("Ramping", 42), pod("vpp-imix-1-generator-0", "node-2", "Ready",
			west,
			east), pod("vpp-imix-1-runner-x", "node-1", "Ready")),
		newLoadTest("younger", time.Hour, complete(v1alpha1.ReasonDUTFailed, "pod younger-1-dut ended:\nout of memory"),
			pod("younger-1-dut", "node-1", "Ready", west), pod("younger-1-generator-0", "node-1", "Gone", east)),
	}
}

func TestListing(t *testing.T) {
	l := newListing(nil, aLab())
	for name, namespaces := range map[string]bool{"list.txt": false, "list-all.txt": true} {
		t.Run(name, func(t *testing.T) {
			var stdout strings.Builder
			l.namespaces = namespaces
			if err := l.write(&stdout, "text", 0, noon()); err != nil {
				t.Fatal(err)
			}
			golden(t, name, stdout.String())
		})
	}
	t.Run("no line is wider than the terminal", func(t *testing.T) {
		long := newLoadTest("a-product-of-a-long-name-with-imix-1518b", time.Minute, complete(
			v1alpha1.ReasonSchedulingDeadline, "not all pods were ready within spec.schedulingDeadline, 2h"))
		var stdout strings.Builder
		l := newListing(nil, append(aLab(), long))
		l.namespaces = true
		if err := l.write(&stdout, "text", 80, noon()); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(stdout.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d characters: %s", n, line)
			}
		}
	})
	t.Run("list.json", func(t *testing.T) {
		var stdout strings.Builder
		if err := l.write(&stdout, "json", 0, noon()); err != nil {
			t.Fatal(err)
		}
		golden(t, "list.json", stdout.String())
	})
	t.Run("an empty lab is an empty list, not nothing", func(t *testing.T) {
		var stdout strings.Builder
		if err := newListing(nil, nil).write(&stdout, "json", 0, noon()); err != nil ||
			!strings.Contains(stdout.String(), `"tests": []`) {
			t.Errorf("%v, %s", err, stdout.String())
		}
	})
}
