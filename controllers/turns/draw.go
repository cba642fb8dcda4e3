package turns

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// snapshot is what the caches had when a drawing began.
type snapshot struct {
	// marked is the number of changes that the snapshot includes at least.
	marked uint64
	now    time.Time
	tests  []v1alpha1.LoadTest
	pods   map[ownerKey][]*corev1.Pod
}

// look reads the caches without copying, since nothing in them is changed. The caller holds drawing.
func (l *Line) look(ctx context.Context) (*snapshot, error) {
	l.mu.Lock()
	s, nodes := &snapshot{marked: l.marked, now: pass.AsStored(l.clock())}, l.nodes
	l.mu.Unlock()
	l.found.dropStale(nodes)
	err := l.observeNodes(ctx)
	if err == nil {
		s.pods, err = l.pods(ctx)
	}
	if err == nil {
		s.tests, err = l.tests(ctx, s.pods)
	}
	return s, err
}

// labOf is the lab of a snapshot, and the claims of tests that have no place in line yet, because their wants,
// or those of older tests of their namespaces, are unknown. The caller holds drawing.
func (l *Line) labOf(s *snapshot) (lab queue.Snapshot, later []queue.Claim) {
	lab = queue.Snapshot{Time: s.now, Nodes: l.found.nodes, Began: l.Drawn().Began}
	l.found.keepOnly(s.tests)
	l.wants.keepOnly(s.tests)
	present := map[types.UID]bool{}
	unknown := map[string]time.Time{} // by namespace, the creation of its oldest test with unknown wants
	for i := range s.tests {
		test := &s.tests[i]
		key := ownerKey{test.Namespace, test.UID}
		standing := l.standingOf(test, s.pods[key])
		present[test.UID] = true
		switch waits := standing.claim.Stage == queue.Waiting || standing.claim.Stage == queue.Stuck; {
		case !standing.claims:
		case standing.wants == nil && waits:
			later = append(later, standing.claim)
			if oldest, ok := unknown[test.Namespace]; !ok || standing.claim.Created.Before(oldest) {
				unknown[test.Namespace] = standing.claim.Created
			}
		default:
			lab.Claims = append(lab.Claims, standing.claim)
		}
		lab.Holdings = append(lab.Holdings, standing.holdings...)
	}
	lab.Claims = slices.DeleteFunc(lab.Claims, func(c queue.Claim) bool {
		namespace, _, _ := strings.Cut(c.Test, "/")
		oldest, ok := unknown[namespace]
		behind := ok && (c.Stage == queue.Waiting || c.Stage == queue.Stuck) && !c.Created.Before(oldest)
		if behind {
			later = append(later, c)
		}
		return behind
	})
	for owner, orphans := range s.pods {
		if !present[owner.uid] { // pods of no test, or in another namespace than the test, belong to no test
			lab.Holdings = append(lab.Holdings, holdings(orphans)...)
		}
	}
	return lab, later
}

// observeNodes reads the nodes if any has changed.
func (l *Line) observeNodes(ctx context.Context) error {
	if l.found.nodes != nil && l.watched {
		return nil
	}
	nodes, err := l.lab.Nodes(ctx)
	l.found.nodes = lifecycle.QueueNodes(nodes)
	return err
}

// ownerKey identifies a test. A pod of another namespace never has it, whatever owner it names.
type ownerKey struct {
	namespace string
	uid       types.UID
}

// pods are the pods of all tests, by test. They have a test's label and a LoadTest of that UID as their
// controller. Any user may put linerate's label on a pod, which then still belongs to no test.
func (l *Line) pods(ctx context.Context) (map[ownerKey][]*corev1.Pod, error) {
	var list corev1.PodList
	if err := l.client.List(ctx, &list, client.HasLabels{v1alpha1.LabelUID}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := map[ownerKey][]*corev1.Pod{}
	for i := range list.Items {
		p := &list.Items[i]
		uid := types.UID(p.Labels[v1alpha1.LabelUID])
		if owner := metav1.GetControllerOf(p); owner == nil || owner.UID != uid || !isLoadTest(owner) {
			continue
		}
		key := ownerKey{p.Namespace, uid}
		pods[key] = append(pods[key], p)
	}
	return pods, nil
}

// tests are those that aren't complete, and those that still have pods. These are few of the thousand that may
// be kept.
func (l *Line) tests(ctx context.Context, pods map[ownerKey][]*corev1.Pod) ([]v1alpha1.LoadTest, error) {
	var list v1alpha1.LoadTestList
	if err := l.client.List(ctx, &list, append(l.notOver(), client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list LoadTests: %w", err)
	}
	tests, listed := list.Items, make(map[ownerKey]bool, len(list.Items))
	for i := range tests {
		listed[ownerKey{tests[i].Namespace, tests[i].UID}] = true
	}
	for owner, left := range pods {
		if listed[owner] {
			continue
		}
		var test v1alpha1.LoadTest
		name := types.NamespacedName{Namespace: owner.namespace, Name: metav1.GetControllerOf(left[0]).Name}
		if err := l.client.Get(ctx, name, &test); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get LoadTest %s: %w", name, err)
		} else if err == nil && test.UID == owner.uid {
			tests = append(tests, test)
		}
	}
	return tests, nil
}

// isLoadTest says that an owner reference names a LoadTest. Garbage collection deletes objects whose owner
// doesn't exist in their namespace.
func isLoadTest(owner *metav1.OwnerReference) bool {
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && group.Group == v1alpha1.GroupVersion.Group && owner.Kind == v1alpha1.LoadTestKind
}

// holdings are the devices of pods whose test is gone.
func holdings(pods []*corev1.Pod) (found []queue.Holding) {
	for _, p := range pods {
		if p.Spec.NodeName == "" || lifecycle.Ended(p) {
			continue
		}
		if devices := lifecycle.Devices(p); len(devices) > 0 {
			test := p.Namespace + "/" + p.Labels[v1alpha1.LabelTest]
			found = append(found, queue.Holding{Test: test, Node: p.Spec.NodeName, Devices: devices})
		}
	}
	return found
}

// findings are the results of earlier drawings of the line. Only the pass that draws uses them.
type findings struct {
	// undrawn is the latest snapshot, if no line was drawn of it yet.
	undrawn *snapshot
	// nodeChanges is how often nodes had changed when they were read. nodes are those that take pods, or nil if
	// they are unknown.
	nodeChanges uint64
	nodes       []queue.Node
	stands      map[types.UID]standing
}

// standing is a test's claim in the line, and the holdings of its other pods. It follows from the test, its
// pods, its wants and the operator's settings, and doesn't depend on time. It stays valid until one of these
// changes.
type standing struct {
	test     string               // the version of the test
	pods     map[types.UID]string // the versions of its pods
	wants    *wanted              // nil if unknown
	claim    queue.Claim
	holdings []queue.Holding
	claims   bool
}

func newFindings() *findings { return &findings{stands: map[types.UID]standing{}} }

// dropStale drops nodes that have changed.
func (s *findings) dropStale(nodes uint64) {
	if s.nodeChanges != nodes {
		s.nodeChanges, s.nodes = nodes, nil
	}
}

// keepOnly drops deleted tests, once most of the remembered tests are deleted.
func (s *findings) keepOnly(tests []v1alpha1.LoadTest) {
	if len(s.stands) > 2*len(tests) {
		uids := uidsOf(tests)
		maps.DeleteFunc(s.stands, func(uid types.UID, _ standing) bool { return !uids[uid] })
	}
}

// standingOf is a test's standing. It is computed again only if the test, its pods, or its wants have changed,
// as few of a thousand have at a time.
func (l *Line) standingOf(test *v1alpha1.LoadTest, pods []*corev1.Pod) standing {
	remembered, ok := l.found.stands[test.UID]
	unchanged := ok && l.watched && remembered.isOf(test, pods)
	if unchanged && remembered.wants == l.wants.wantedBy(test.UID) {
		return remembered
	}
	s := standing{test: test.ResourceVersion, pods: make(map[types.UID]string, len(pods))}
	o := observedOf(test, pods, l.settings)
	for _, p := range pods {
		s.pods[p.UID] = p.ResourceVersion
	}
	if s.claim, s.holdings, s.claims = lifecycle.Claim(o, nil); s.claims {
		if w := l.wants.wantedBy(test.UID); w != nil && w.attempt == lifecycle.Attempt(o) {
			s.wants = w
			s.claim, s.holdings, _ = lifecycle.Claim(o, w.pods)
		}
		s.claim = queue.Summed(s.claim)
	}
	l.found.stands[test.UID] = s
	return s
}

// observedOf is what a test and its pods show.
func observedOf(test *v1alpha1.LoadTest, pods []*corev1.Pod, settings manifests.Settings) lifecycle.Observed {
	o := lifecycle.Observed{Test: test, Settings: settings}
	for _, p := range pods {
		o.Children.Pods = append(o.Children.Pods, *p)
	}
	return o
}

// isOf says that the standing follows from these very versions of the test and its pods. An object without a
// version counts as changed.
func (s *standing) isOf(test *v1alpha1.LoadTest, pods []*corev1.Pod) bool {
	if s.test != test.ResourceVersion || s.test == "" || len(s.pods) != len(pods) {
		return false
	}
	for _, p := range pods {
		if version := s.pods[p.UID]; version == "" || version != p.ResourceVersion {
			return false
		}
	}
	return true
}
