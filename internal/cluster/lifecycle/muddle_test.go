package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// muddle looks a few times while each kind of thing is seen as it was some time ago, one kind later than the
// other, and then lets all be seen. The operator sees its own acts at once.
func (w *world) muddle() {
	if w.chance == nil {
		return
	}
	if w.observed == nil {
		w.observed = w.copy()
	}
	for range w.chance.IntN(4) {
		current := w.copy()
		for _, see := range []func(){
			func() { w.observed.Pods = current.Pods },
			func() { w.observed.Jobs = current.Jobs },
			func() { w.observed.Documents = current.Documents },
			func() { w.observed.Progress = current.Progress },
			func() { w.observed.Envelope = current.Envelope },
		} {
			if w.chance.IntN(3) == 0 {
				see()
			}
		}
		w.reconcile()
	}
	w.observed = nil
}

// outcome is what a life comes to.
type outcome struct {
	Deleted          bool
	Complete, Passed string
	Attempt          int32
	Measured         bool
	LivePods         int
	Plans            string
}

func (w *world) outcome() outcome {
	if w.test == nil {
		return outcome{Deleted: true}
	}
	result := outcome{
		Complete: fmt.Sprint(w.condition("Complete").Status, w.condition("Complete").Reason),
		Passed:   fmt.Sprint(w.condition("Passed").Status, w.condition("Passed").Reason),
		Attempt:  w.test.Status.Attempt, Measured: w.test.Status.Result != nil, Plans: fmt.Sprint(w.plans()),
	}
	for i := range w.Pods {
		if p := &w.Pods[i]; p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded &&
			p.Status.Phase != corev1.PodFailed {
			result.LivePods++
		}
	}
	return result
}

// play plays a life to its end.
func play(t *testing.T, l life, prepare func(*world)) *world {
	t.Helper()
	w := newWorld(t, l.spec)
	prepare(w)
	l.script(w)
	w.pass(2 * time.Minute)
	return w
}

// undisturbedLife is a life that nothing disturbed, and what it came to.
type undisturbedLife struct {
	outcome outcome
	world   *world          // at its end
	trace   []string        // until a minute after its script, and its sum
	reasons map[string]bool // all types and reasons of conditions
}

// ends are lives that nothing disturbs, by their names. Each is played once for all tests.
var ends sync.Map

// undisturbed is how a life ends that nothing disturbs.
func undisturbed(t *testing.T, l life) undisturbedLife {
	t.Helper()
	stored, ok := ends.Load(l.name)
	if !ok {
		w, reasons := newWorld(t, l.spec), map[string]bool{}
		w.onStatus = func(st *v1alpha1.LoadTestStatus) {
			for _, c := range st.Conditions {
				reasons[c.Type+"/"+c.Reason] = true
			}
		}
		l.script(w)
		w.pass(time.Minute)
		trace := append(slices.Clone(w.trace), w.closing()...)
		w.pass(time.Minute)
		stored, _ = ends.LoadOrStore(l.name, undisturbedLife{w.outcome(), w, trace, reasons})
	}
	return stored.(undisturbedLife)
}

// seeds are how often each life is played. A third of the lives is seen late, a third with an operator that dies, a
// third with both.
var seeds = tier.Times(3, 12)

func TestLivesEndTheSame(t *testing.T) {
	for _, l := range lives() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			want := undisturbed(t, l).outcome
			for seed := range uint64(seeds) {
				w := play(t, l, func(w *world) {
					if seed%3 != 1 {
						w.chance = rand.New(rand.NewPCG(seed, 1))
					}
					if chance := rand.New(rand.NewPCG(seed, 2)); seed%3 != 0 {
						w.mischief = func() bool { return chance.IntN(6) == 0 }
					}
				})
				if got := w.outcome(); got != want {
					w.fail("with seed %d it ends with %+v, not %+v", seed, got, want)
				}
			}
		})
	}
}

// While the runner measures, an editor of the test's namespace keeps Jobs there that say they are the runner's,
// of this attempt and of others.
func TestForgedJobsChangeNoEnd(t *testing.T) {
	for _, l := range lives() {
		t.Run(l.name, func(t *testing.T) {
			want := undisturbed(t, l).outcome
			got := play(t, l, func(w *world) {
				w.forges = func() (forged []batchv1.Job) {
					for i, attempt := range []string{"1", "2", "2147483647", "x"} {
						forged = append(forged, batchv1.Job{ObjectMeta: metav1.ObjectMeta{
							Namespace: "bench", Name: manifests.RunnerJobName(w.test, int32(i+1)),
							Labels:            map[string]string{v1alpha1.LabelAttempt: attempt},
							CreationTimestamp: metav1.Time{Time: w.clock},
						}})
					}
					return forged
				}
			})
			if got := got.outcome(); got != want {
				t.Errorf("it ends with %+v, not %+v", got, want)
			}
		})
	}
}

func TestLivesAtRestAskForNothing(t *testing.T) {
	for _, l := range lives() {
		t.Run(l.name, func(t *testing.T) {
			w := undisturbed(t, l).world
			w.t = t
			w.settle()
			requests := w.writes + w.creates + w.deletes
			for range 3 {
				w.reconcile()
			}
			if total := w.writes + w.creates + w.deletes; total != requests {
				w.fail("%d requests for an unchanged object", total-requests)
			}
		})
	}
}

func TestNoVerdictOfARunThatWasDisturbed(t *testing.T) {
	for _, l := range badLives() {
		t.Run(l.name, func(t *testing.T) {
			w := undisturbed(t, l).world
			w.t = t
			// Its teardown failed, after the measurement.
			hooked := w.condition("Complete").Reason == v1alpha1.ReasonMeasured
			if w.condition("Passed").Status == "True" && !hooked {
				w.fail("Passed is True")
			}
		})
	}
}
