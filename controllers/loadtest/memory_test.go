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
	return &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "imix", UID: "test",
		ResourceVersion: version}}
}

func view(children ...childRef) map[types.UID]childRef {
	refs := map[types.UID]childRef{}
	for _, c := range children {
		refs[c.uid] = c
	}
	return refs
}

func TestMemoryKnowsWhenAViewIsBehind(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	pod := childRef{gvk: podKind, name: "imix-1-dut", uid: "a"}
	going := pod
	going.going = true
	cases := map[string]struct {
		write   func(*memory)
		version string
		cached  map[types.UID]childRef
		later   time.Duration
		want    time.Duration
	}{
		"nothing was done": {write: func(*memory) {}},
		"the status that was written is there": {write: func(m *memory) { m.statusWritten(testAt("7"), "9") },
			version: "9"},
		"a later one is there": {write: func(m *memory) { m.statusWritten(testAt("7"), "9") },
			version: "10"},
		"an earlier one is there": {write: func(m *memory) { m.statusWritten(testAt("7"), "10") },
			version: "9", want: caches.MaxBehind},
		"a child that was made is missing": {write: func(m *memory) { m.childCreated(testAt("7"), pod, now) },
			want: caches.MaxBehind},
		"a child that was made is there": {write: func(m *memory) { m.childCreated(testAt("7"), pod, now) },
			cached: view(pod)},
		"a child that was made never comes": {write: func(m *memory) { m.childCreated(testAt("7"), pod, now) },
			later: caches.MaxBehind + 1},
		"a child that was deleted is still there": {write: func(m *memory) { m.childDeleted(testAt("7"), pod, now) },
			cached: view(pod), want: caches.MaxBehind},
		"a child that was deleted is going": {write: func(m *memory) { m.childDeleted(testAt("7"), pod, now) },
			cached: view(going)},
		"a child that was deleted is gone": {write: func(m *memory) { m.childDeleted(testAt("7"), pod, now) }},
		"all was done to another of that name": {write: func(m *memory) {
			earlier := testAt("7")
			earlier.UID = "earlier"
			m.childCreated(earlier, pod, now)
		}},
		"all was forgotten": {write: func(m *memory) {
			m.childCreated(testAt("7"), pod, now)
			m.forget(types.NamespacedName{Namespace: "lab", Name: "imix"})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			c.write(m)
			if got := m.behind(testAt(c.version), c.cached, now.Add(c.later)); got != c.want {
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
	if names := m.takenNames(testAt("8")); len(names) != 1 || names[0].String() != "ConfigMap/imix-progress" {
		t.Errorf("taken: %v", names)
	}
	m.nameFree(testAt("9"), child)
	if names := m.takenNames(testAt("9")); len(names) != 0 {
		t.Errorf("still taken: %v", names)
	}
}
