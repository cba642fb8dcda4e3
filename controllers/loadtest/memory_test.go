package loadtest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
)

func testAt(version string) *v1alpha1.LoadTest {
	return &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "imix", UID: "test", ResourceVersion: version}}
}

func view(children ...childRef) map[types.UID]childRef {
	out := map[types.UID]childRef{}
	for _, c := range children {
		out[c.uid] = c
	}
	return out
}

func TestMemoryKnowsWhenAViewIsBehind(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	pod := childRef{gvk: podKind, name: "imix-1-dut", uid: "a"}
	going := pod
	going.going = true
	cases := map[string]struct {
		did     func(*memory)
		version string
		seen    map[types.UID]childRef
		later   time.Duration
		want    time.Duration
	}{
		"nothing was done":                        {did: func(*memory) {}},
		"the status that was written is there":    {did: func(m *memory) { m.statusWritten(testAt("7"), "9") }, version: "9"},
		"a later one is there":                    {did: func(m *memory) { m.statusWritten(testAt("7"), "9") }, version: "10"},
		"an earlier one is there":                 {did: func(m *memory) { m.statusWritten(testAt("7"), "10") }, version: "9", want: caches.MostBehind},
		"a child that was made is missing":        {did: func(m *memory) { m.childCreated(testAt("7"), pod, now) }, want: caches.MostBehind},
		"a child that was made is there":          {did: func(m *memory) { m.childCreated(testAt("7"), pod, now) }, seen: view(pod)},
		"a child that was made never comes":       {did: func(m *memory) { m.childCreated(testAt("7"), pod, now) }, later: caches.MostBehind + 1},
		"a child that was deleted is still there": {did: func(m *memory) { m.childDeleted(testAt("7"), pod, now) }, seen: view(pod), want: caches.MostBehind},
		"a child that was deleted is going":       {did: func(m *memory) { m.childDeleted(testAt("7"), pod, now) }, seen: view(going)},
		"a child that was deleted is gone":        {did: func(m *memory) { m.childDeleted(testAt("7"), pod, now) }},
		"all was done to another of that name": {did: func(m *memory) {
			other := testAt("7")
			other.UID = "earlier"
			m.childCreated(other, pod, now)
		}},
		"all was forgotten": {did: func(m *memory) {
			m.childCreated(testAt("7"), pod, now)
			m.forget(types.NamespacedName{Namespace: "lab", Name: "imix"})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			c.did(m)
			if got := m.behind(testAt(c.version), c.seen, now.Add(c.later)); got != c.want {
				t.Errorf("the view is waited for %s, want %s", got, c.want)
			}
		})
	}
}

func TestMemoryOfWhatWasSeenOnceIsOver(t *testing.T) {
	now, m := time.Now(), newMemory()
	pod := childRef{gvk: podKind, name: "imix-1-dut", uid: "a"}
	m.childCreated(testAt("7"), pod, now)
	if m.behind(testAt("7"), view(pod), now) != 0 || m.behind(testAt("7"), view(), now) != 0 {
		t.Error("a child that came and went is waited for")
	}
}

func TestMemoryOfNames(t *testing.T) {
	m, child := newMemory(), childRef{gvk: configMapKind, name: "imix-progress"}
	m.nameTaken(testAt("7"), child)
	m.nameTaken(testAt("7"), child)
	if taken := m.takenNames(testAt("8")); len(taken) != 1 || taken[0].String() != "ConfigMap/imix-progress" {
		t.Errorf("taken: %v", taken)
	}
	m.nameFree(testAt("9"), child)
	if taken := m.takenNames(testAt("9")); len(taken) != 0 {
		t.Errorf("still taken: %v", taken)
	}
}
