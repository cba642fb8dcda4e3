package lifecycle_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// All tests claim their ports in one order, so that of two tests that want the same two ports one gets both.
func TestPortsHaveAnOrder(t *testing.T) {
	link := func(name, port string) v1alpha1.PodLink { return v1alpha1.PodLink{Link: name, PhysicalPort: port} }
	pods := []v1alpha1.PodStatus{
		{Name: "a", Node: "n2", Links: []v1alpha1.PodLink{link("west", "p1"), link("east", "p0")}},
		{Name: "b", Node: "n1", Links: []v1alpha1.PodLink{link("west", "p1"), link("east", "p1")}},
		{Name: "c", Node: "", Links: []v1alpha1.PodLink{link("west", "p9")}},
		{Name: "d", Node: "n3", Links: []v1alpha1.PodLink{link("west", "")}},
	}
	want := []lifecycle.Port{{Node: "n1", Name: "p1"}, {Node: "n2", Name: "p0"}, {Node: "n2", Name: "p1"}}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		chance.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		if got := lifecycle.PortsOf(pods); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// decidedOn is what is decided once all pods are ready, where other tests have claimed ports.
func decidedOn(t *testing.T, otherTests func(*world)) lifecycle.Decision {
	t.Helper()
	w := newWorld(t, functions)
	w.settle()
	w.schedule()
	w.attach(separatePorts)
	w.run()
	otherTests(w)
	_, d := w.decide()
	return d
}

func TestWhoKeepsATestFromItsPorts(t *testing.T) {
	for name, c := range map[string]struct {
		otherTests func(*world)
		rule       string
	}{
		"nobody":                         {func(*world) {}, "runNeeded"},
		"a test on another port":         {func(w *world) { w.claimOn("rack-1", "0000:99:00.0") }, "runNeeded"},
		"a test on that port of another": {func(w *world) { w.claimOn("rack-2", "0000:3b:00.0") }, "runNeeded"},
		"a test on its port":             {func(w *world) { w.claimOn("rack-1", "0000:3b:00.0") }, "portsHeld"},
		"a test on the device's port":    {func(w *world) { w.claimOn("rack-2", "0000:5e:00.1") }, "portsHeld"},
		"a test that is gone, pods and all": {func(w *world) {
			h := w.claimOn("rack-1", "0000:3b:00.0")
			h.Exists,
				h.Pods = false, 0
		}, "runNeeded"},
		"one that is gone, with pods left": {func(w *world) { w.claimOn("rack-1", "0000:3b:00.0").Exists = false },
			"portsHeld"},
		"one that was complete just now": {func(w *world) { w.claimOn("rack-1", "0000:3b:00.0").Finished = w.clock },
			"portsHeld"},
		"one that was so a minute ago": {func(w *world) {
			w.claimOn("rack-1",
				"0000:3b:00.0").Finished = w.clock.Add(-time.Minute)
		}, "runNeeded"},
		"one that is complete without pods": {func(w *world) {
			h := w.claimOn("rack-1", "0000:3b:00.0")
			h.Finished,
				h.Pods = w.clock, 0
		}, "runNeeded"},
		"an older test that could begin": {func(w *world) {
			w.olderWaiters = []lifecycle.Waiter{{Name: "old",
				Ports: []lifecycle.Port{{Node: "rack-1", Name: "0000:3b:00.0"}}}}
		}, "portsHeld"},
		"an older one with other ports": {func(w *world) {
			w.olderWaiters = []lifecycle.Waiter{{Name: "old",
				Ports: []lifecycle.Port{{Node: "rack-1", Name: "0000:99:00.0"}}}}
		}, "runNeeded"},
		"an older one that waits itself": {func(w *world) {
			w.olderWaiters = []lifecycle.Waiter{{Name: "old",
				Ports: []lifecycle.Port{{Node: "rack-1", Name: "0000:3b:00.0"},
					{Node: "rack-9", Name: "0000:3b:00.0"}}}}
			w.claimOn("rack-9", "0000:3b:00.0")
		}, "runNeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			d := decidedOn(t, c.otherTests)
			if d.Rule != c.rule {
				t.Errorf("%s – %s, want %s", d.Rule, d.Message, c.rule)
			}
			if claimsAll := len(d.ClaimPorts) == 4; claimsAll != (c.rule == "runNeeded") {
				t.Errorf("%d of 4 ports are taken", len(d.ClaimPorts))
			}
		})
	}
}

// Where a node's kubelet or a plugin tells of no ports, a test is on none, and asks for none.
func TestPortsThatNobodyKnowsOfAreNobodys(t *testing.T) {
	w := newWorld(t, functions)
	w.claimOn("rack-1", "")
	w.place(ports{})
	if len(w.Jobs) != 1 || len(w.portClaims) != 1 {
		t.Errorf("%d Jobs, %d ports held", len(w.Jobs), len(w.portClaims))
	}
}

// A pod that tells of a device which its node gave to somebody else gets no port kept for it, and nothing is measured.
func TestAPodThatTellsOfADeviceThatIsNotItsOwn(t *testing.T) {
	for name, given := range map[string]corev1.ResourceID{"its own": "0000:3b:02.0", "another's": "0000:3b:02.7"} {
		t.Run(name, func(t *testing.T) {
			d := decidedOn(t, func(w *world) {
				for i := range w.Pods {
					p := &w.Pods[i]
					if p.Labels[v1alpha1.LabelRole] != "generator" {
						continue
					}
					p.Status.InitContainerStatuses[0].State.Terminated.Message = `{"version": "linerate.dev/ports.v1alpha1", "links": [{"link": "west", "device": "0000:3b:02.0", "port": "0000:3b:00.0", "shared": true}]}`
					p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "any",
						AllocatedResourcesStatus: []corev1.ResourceStatus{
							{Name: "intel.com/west", Resources: []corev1.ResourceHealth{{ResourceID: given}}}}})
				}
			})
			spoofed := given != "0000:3b:02.0"
			if (d.Rule == "portSpoofed") != spoofed || (len(d.ClaimPorts) == 0) != spoofed ||
				spoofed != strings.Contains(d.Message, "its node's kubelet gave it 0000:3b:02.7") {
				t.Errorf("%s takes %d ports: %s", d.Rule, len(d.ClaimPorts), d.Message)
			}
		})
	}
}

// A test's claim names the test's generators, as its status does. Once the test is gone these alone keep its ports.
func TestWhatIsTakenNamesTheGenerators(t *testing.T) {
	d := decidedOn(t, func(*world) {})
	var want []lifecycle.Sender
	for _, p := range d.Status.Pods {
		if p.Role == v1alpha1.RoleGenerator {
			want = append(want, lifecycle.Sender{Name: p.Name, UID: types.UID(p.UID)})
		}
	}
	if len(want) == 0 || want[0].UID == "" || len(d.ClaimPorts) == 0 {
		t.Fatalf("generators %v, taken %v", want, d.ClaimPorts)
	}
	for _, take := range d.ClaimPorts {
		if !slices.Equal(take.Senders, want) {
			t.Errorf("%s is taken for %v, want %v", take.Port, take.Senders, want)
		}
	}
}

// A pod that says that it is a test's generator keeps none of its ports, though nothing makes it go.
func TestAPodThatSaysItIsAGeneratorKeepsNoPort(t *testing.T) {
	w := newWorld(t, functions)
	w.runOn(separatePorts)
	w.settle()
	i := slices.IndexFunc(w.Pods, func(p corev1.Pod) bool { return p.Labels[v1alpha1.LabelRole] == "generator" })
	forged := *w.Pods[i].DeepCopy()
	forged.Name, forged.UID = "forged", w.newUID()
	w.Pods, w.stubborn = append(w.Pods, forged), map[string]bool{"forged": true}
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
	for range 60 {
		w.pass(time.Second)
		if len(w.Pods) == 1 {
			break
		}
	}
	if len(w.Pods) != 1 || len(w.portClaims) > 0 {
		t.Errorf("%d pods are left, and held are %v", len(w.Pods), w.portClaims)
	}
}
