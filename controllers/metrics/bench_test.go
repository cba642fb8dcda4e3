package metrics

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// filledCache returns what it holds, as a cache that needn't copy.
type filledCache struct {
	tests    []v1alpha1.LoadTest
	pods     []corev1.Pod
	progress map[string]*corev1.ConfigMap
}

// List implements client.Reader.
func (f *filledCache) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch l := list.(type) {
	case *v1alpha1.LoadTestList:
		l.Items = f.tests
	case *corev1.PodList:
		l.Items = f.pods
	}
	return nil
}

// Get implements client.Reader.
func (f *filledCache) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	f.progress[key.Name].DeepCopyInto(object.(*corev1.ConfigMap))
	return nil
}

// BenchmarkAScrapeOfAThousandTests has 100 that run, 400 that were measured and 500 that wait.
func BenchmarkAScrapeOfAThousandTests(b *testing.B) {
	cache := &filledCache{progress: map[string]*corev1.ConfigMap{}}
	for i := range 1000 {
		test := aTest(fmt.Sprintf("t-%d", i), "Scheduled=False Unschedulable", "Complete=False Waiting",
			"Reconciling=True Waiting")
		switch {
		case i < 100:
			test = running(test.Name)
			progress := progressMap(b, test, nil)
			cache.progress[progress.Name] = progress
			cache.pods = append(cache.pods, *holder(test.Name, "a", corev1.PodRunning))
		case i < 500:
			test = measured(test.Name, time.Duration(i)*time.Minute)
		}
		cache.tests = append(cache.tests, *test)
	}
	leads := make(chan struct{})
	close(leads)
	registry := prometheus.NewRegistry()
	registry.MustRegister(&states{Sources{Tests: cache, Progress: cache, OperatorNamespace: "linerate-system",
		Leads: leads, Clock: func() time.Time { return noon }, Line: func() queue.Line { return queue.Line{} },
		MaxTests: 500}})
	for b.Loop() {
		if families, err := registry.Gather(); err != nil || len(families) < 10 {
			b.Fatalf("%d families: %v", len(families), err)
		}
	}
}
