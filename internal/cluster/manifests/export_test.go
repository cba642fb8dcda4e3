package manifests

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// EnginesInPods are the keys of the list, for tests.
func EnginesInPods() map[plan.Sender]bool {
	keys := map[plan.Sender]bool{}
	for key := range engines {
		keys[key] = true
	}
	return keys
}

// pigeons are an engine that tests alone know.
type pigeons struct{}

func (pigeons) fill(input Input, g plan.Generator, pod *corev1.Pod) {
	pod.Spec.Containers = []corev1.Container{{Name: "loft", Image: "pigeons", Args: linksOf(g),
		Resources: request(input, pigeons{}, g)}}
}
func (pigeons) documents(Input) map[string]string         { return map[string]string{"pigeons.json": "{}"} }
func (pigeons) check(Input) []error                       { return nil }
func (pigeons) busyCPUs(ports, _ int64) resource.Quantity { return cpus(5 * pairs(ports)) }
func (pigeons) ownsCPUs() bool                            { return true }
func (pigeons) asksSpeed() bool                           { return false }
func (pigeons) heartbeatPort() uint16                     { return 4711 }
func (pigeons) asksCallers() bool                         { return false }

// KeepPigeons adds that engine for the length of a test.
func KeepPigeons(t *testing.T, key plan.Sender) {
	t.Helper()
	engines[key] = pigeons{}
	t.Cleanup(func() { delete(engines, key) })
}
