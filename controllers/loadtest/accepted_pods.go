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

// acceptedPods remembers which pods the API server accepted recently in a dry run. Tests of a suite, of a gate,
// or of one lab request the same pods again and again under other names, and a dry run costs as much as
// creating the pod. If a policy or a quota refuses such a pod later, when it is created, all acceptances of its
// namespace are forgotten, and the next test makes a dry run again. It is safe for concurrent use.
type acceptedPods struct {
	mu sync.Mutex
	// expiries are the shapes of each namespace. They are separate, so that no namespace's pods push out
	// another's.
	expiries map[string]map[podShape]time.Time
}

// podShape is equal for pods that differ only in the test that they belong to.
type podShape [sha256.Size]byte

const (
	// acceptedFor is how long a dry run's acceptance counts. That is longer than a run of a minute, after which
	// the next test of a suite requests the same pods.
	acceptedFor = 2 * time.Minute
	// maxAccepted is how many shapes of pods are remembered of a namespace.
	maxAccepted = 128
)

func newAcceptedPods() *acceptedPods {
	return &acceptedPods{expiries: map[string]map[podShape]time.Time{}}
}

// ofOneTest matches arguments of linerate's programs that follow from the test's UID (manifests). These are the
// verifiers of servers, and the digests of files, which have MAC addresses.
var ofOneTest = regexp.MustCompile(`"--(verifier|[a-z-]+-digest)=[A-Za-z0-9:_-]*"`)

// shapeOf is a pod without its test's name, UID, verifiers and digests, as admission sees it. It is false if
// the object isn't a pod.
func shapeOf(test *v1alpha1.LoadTest, object manifests.Object) (podShape, bool) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
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

// untried are the objects without the pods that were accepted recently.
func (w *acceptedPods) untried(test *v1alpha1.LoadTest, objects []manifests.Object,
	now time.Time) (untried []manifests.Object) {
	for _, object := range objects {
		if shape, ok := shapeOf(test, object); !ok || !w.contains(test.Namespace, shape, now) {
			untried = append(untried, object)
		}
	}
	return untried
}

func (w *acceptedPods) contains(namespace string, shape podShape, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return now.Before(w.expiries[namespace][shape])
}

// add remembers that the API server accepted a pod in a dry run, and drops namespaces whose acceptances have
// expired.
func (w *acceptedPods) add(test *v1alpha1.LoadTest, object manifests.Object, now time.Time) {
	shape, ok := shapeOf(test, object)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	shapes := w.expiries[test.Namespace]
	if shapes == nil || len(shapes) >= maxAccepted {
		w.dropOld(now)
		shapes = map[podShape]time.Time{}
		w.expiries[test.Namespace] = shapes
	}
	shapes[shape] = now.Add(acceptedFor)
}

func (w *acceptedPods) dropOld(now time.Time) {
	for _, shapes := range w.expiries {
		maps.DeleteFunc(shapes, func(_ podShape, expiry time.Time) bool { return !now.Before(expiry) })
	}
	maps.DeleteFunc(w.expiries, func(_ string, shapes map[podShape]time.Time) bool { return len(shapes) == 0 })
}

// refused forgets all pods of a namespace, since a policy or quota there may have changed.
func (w *acceptedPods) refused(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.expiries, namespace)
}
