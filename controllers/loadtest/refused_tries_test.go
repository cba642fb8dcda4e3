package loadtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// A pod that the API server refused isn't tried again before that is due, whatever wakes its test. Other pods
// are, and so are pods after a transient refusal.
func TestARefusedPodIsTriedAgainWhenItIsDue(t *testing.T) {
	now := time.Now()
	imix := named("lab", "imix")
	faulty := []manifests.Object{podOf(imix, "i:1")}
	for name, c := range map[string]struct {
		refusal   lifecycle.Refusal
		objects   []manifests.Object
		elapsed   time.Duration
		took      time.Duration
		otherTest string
		want      bool // tried
	}{
		"the same pod, at once": {objects: faulty},
		"… when it is due":      {objects: faulty, elapsed: 10 * time.Second, want: true},
		"… after a refusal that took two seconds": {objects: faulty, elapsed: 10 * time.Second,
			took: 2 * time.Second},
		"… ten times as long after it": {objects: faulty, elapsed: 20 * time.Second, took: 2 * time.Second,
			want: true},
		"another pod of the test": {objects: []manifests.Object{podOf(imix, "i:2")}, want: true},
		"the same pod, and what else is tried": {objects: append(slices.Clone(faulty), podOf(imix, "j:1")),
			want: true},
		"another test's": {objects: faulty, otherTest: "64b", want: true},
		"the same pod, after a refusal that passes": {refusal: lifecycle.Refusal{Transient: true}, objects: faulty,
			want: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			c.refusal.Pod, c.refusal.Message = "imix-1-dut", strings.Repeat("is wrong; ", 100_000)
			m.tryRefused(&observation{Observed: lifecycle.Observed{Test: imix,
				Refusals: []lifecycle.Refusal{c.refusal}}, tried: faulty, tryTook: c.took}, now,
				now.Add(10*time.Second))
			test := imix
			if c.otherTest != "" {
				test = named("lab", c.otherTest)
			}
			refusals := m.refusedTry(test, c.objects, now.Add(c.elapsed))
			if tried := len(refusals) == 0; tried != c.want {
				t.Errorf("it is tried: %v", tried)
			}
			for _, r := range refusals {
				if len(r.Message) > maxRefusal {
					t.Errorf("%d bytes of its message are remembered", len(r.Message))
				}
			}
		})
	}
}
