package loadtest

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// acceptedPods remembers which pods the API server accepted lately in a dry run. Tests of a suite, of a gate, or of one lab ask for the same pods again and again, under other
// names, and a dry run costs as much as creating the pod. If a policy or a quota refuses such a pod later, when it is created, everything about its namespace is forgotten, and
// the next test tries again. It is safe for concurrent use.
type acceptedPods struct {
	mu sync.Mutex
	// until has the shapes of each namespace by themselves, so that no namespace's pods push out another's.
	until map[string]map[podShape]time.Time
}

// podShape is equal for pods that differ only in which test they belong to.
type podShape [sha256.Size]byte

const (
	// acceptedFor is for how long a dry run's acceptance counts: longer than a run of a minute, after which the next test of a suite asks for the same pods.
	acceptedFor = 2 * time.Minute
	// mostAccepted is how many shapes of pods are remembered of a namespace.
	mostAccepted = 128
)

func newAcceptedPods() *acceptedPods {
	return &acceptedPods{until: map[string]map[podShape]time.Time{}}
}

// ofOneTest are arguments of linerate's programs that follow from the test's UID (manifests): the verifiers of servers, and the digests of files, which have MAC addresses.
var ofOneTest = regexp.MustCompile(`"--(verifier|[a-z-]+-digest)=[A-Za-z0-9:_-]*"`)

// shapeOf is a pod without its test's name, UID, verifiers and digests, as admission sees it; false: the object is no pod.
func shapeOf(test *v1alpha1.LoadTest, object manifests.Object) (podShape, bool) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return podShape{}, false
	}
	text, err := json.Marshal(struct {
		Labels map[string]string
		Spec   corev1.PodSpec
	}{pod.Labels, pod.Spec})
	if err != nil {
		return podShape{}, false
	}
	anybodys := strings.NewReplacer(string(test.UID), "uid", test.Name, "name").Replace(string(text))
	return sha256.Sum256(ofOneTest.ReplaceAll([]byte(anybodys), nil)), true
}

// others are the objects without the pods that were accepted lately.
func (w *acceptedPods) others(test *v1alpha1.LoadTest, objects []manifests.Object, now time.Time) (others []manifests.Object) {
	for _, object := range objects {
		if of, is := shapeOf(test, object); !is || !w.has(test.Namespace, of, now) {
			others = append(others, object)
		}
	}
	return others
}

func (w *acceptedPods) has(namespace string, of podShape, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return now.Before(w.until[namespace][of])
}

// add remembers that the API server accepted a pod in a dry run, and forgets namespaces whose acceptances no longer count.
func (w *acceptedPods) add(test *v1alpha1.LoadTest, object manifests.Object, now time.Time) {
	of, is := shapeOf(test, object)
	if !is {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	shapes := w.until[test.Namespace]
	if shapes == nil || len(shapes) >= mostAccepted {
		w.dropOld(now)
		shapes = map[podShape]time.Time{}
		w.until[test.Namespace] = shapes
	}
	shapes[of] = now.Add(acceptedFor)
}

func (w *acceptedPods) dropOld(now time.Time) {
	for _, shapes := range w.until {
		maps.DeleteFunc(shapes, func(_ podShape, until time.Time) bool { return !now.Before(until) })
	}
	maps.DeleteFunc(w.until, func(_ string, shapes map[podShape]time.Time) bool { return len(shapes) == 0 })
}

// refused forgets all pods of a namespace, since a policy or quota there may have changed.
func (w *acceptedPods) refused(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.until, namespace)
}
