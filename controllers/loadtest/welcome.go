package loadtest

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// welcome is which pods the API server took lately when they were tried. Tests of a suite, of a gate, or of one lab ask for the same pods again and again, under other
// names: each dry run costs as much as the pod itself, and finds out what is known. What a policy or a quota refuses meanwhile is told when the pod is made: then
// all that is known of its namespace is forgotten, and the next test tries again. It is safe for concurrent use.
type welcome struct {
	mu    sync.Mutex
	until map[likeness]time.Time
}

// likeness is the same for pods that differ only in whose they are.
type likeness struct {
	namespace string
	of        [sha256.Size]byte
}

const (
	// welcomeFor is for how long a pod that was taken is taken to be welcome.
	welcomeFor = time.Minute
	// mostWelcome is how many kinds of pods are remembered.
	mostWelcome = 512
)

func newWelcome() *welcome { return &welcome{until: map[likeness]time.Time{}} }

// likenessOf is what a pod of a test looks like to who admits it: without the names and the UID that are its test's; false: it is no pod.
func likenessOf(test *v1alpha1.LoadTest, object manifests.Object) (likeness, bool) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return likeness{}, false
	}
	text, err := json.Marshal(struct {
		Labels map[string]string
		Spec   corev1.PodSpec
	}{pod.Labels, pod.Spec})
	if err != nil {
		return likeness{}, false
	}
	anybodys := strings.NewReplacer(string(test.UID), "uid", test.Name, "name").Replace(string(text))
	return likeness{test.Namespace, sha256.Sum256([]byte(anybodys))}, true
}

// others are those of the objects that aren't pods which were welcome a moment ago.
func (w *welcome) others(test *v1alpha1.LoadTest, objects []manifests.Object, now time.Time) (others []manifests.Object) {
	for _, object := range objects {
		if of, is := likenessOf(test, object); !is || !w.has(of, now) {
			others = append(others, object)
		}
	}
	return others
}

func (w *welcome) has(of likeness, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return now.Before(w.until[of])
}

// add remembers that a pod was tried, and is welcome.
func (w *welcome) add(test *v1alpha1.LoadTest, object manifests.Object, now time.Time) {
	of, is := likenessOf(test, object)
	if !is {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.until) >= mostWelcome {
		clear(w.until)
	}
	w.until[of] = now.Add(welcomeFor)
}

// refused forgets all of a namespace: what was welcome there isn't any more.
func (w *welcome) refused(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for of := range w.until {
		if of.namespace == namespace {
			delete(w.until, of)
		}
	}
}
