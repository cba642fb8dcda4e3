package loadtest

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// refusedTry is what the API server refused of a test's objects in a dry run. The same objects aren't tried again before that is due, whatever wakes the test: a pod with two thousand faults costs the API server a
// quarter of a second of a processor, and whoever may change a network or a node could have it tried twenty times a second.
type refusedTry struct {
	objects  [sha256.Size]byte
	refusals []lifecycle.Refusal
	until    time.Time
}

// mostRefusal is how many bytes of a refusal are remembered: a status has room for no more.
const mostRefusal = 4096

// tryOf identifies the objects of a dry run, by all that they are made of.
func tryOf(objects []manifests.Object) (sum [sha256.Size]byte, ok bool) {
	text, err := json.Marshal(objects)
	return sha256.Sum256(text), err == nil
}

// retryPauses is how many times as long as a refused dry run took none of its namespace is made again: dry runs that are refused again and again take a tenth of a processor of the API server at most.
const retryPauses = 10

// refusedTry is what the API server refused of these very objects, unless they are due to be tried again.
func (m *memory) refusedTry(test *v1alpha1.LoadTest, objects []manifests.Object, now time.Time) (refusals []lifecycle.Refusal) {
	of, ok := tryOf(objects)
	m.with(test, func(a *acts) {
		if ok && a.refused.objects == of && (now.Before(a.refused.until) || now.Before(m.retries[test.Namespace])) {
			refusals = slices.Clone(a.refused.refusals)
		}
	})
	return refusals
}

// tryRefused remembers what the API server refused in a pass, until the decision that follows from it has that tried again. A refusal that may pass isn't remembered.
func (m *memory) tryRefused(observed *observation, now, until time.Time) {
	passing := func(r lifecycle.Refusal) bool { return r.Transient || r.NamespaceGoes }
	if len(observed.tried) == 0 || len(observed.Refusals) == 0 || slices.ContainsFunc(observed.Refusals, passing) {
		return
	}
	of, ok := tryOf(observed.tried)
	if !ok {
		return
	}
	refused := refusedTry{objects: of, until: until}
	for _, refusal := range observed.Refusals {
		refusal.Message = strings.Clone(wording.Limited(refusal.Message, mostRefusal))
		refused.refusals = append(refused.refusals, refusal)
	}
	m.with(observed.Test, func(a *acts) {
		a.refused = refused
		maps.DeleteFunc(m.retries, func(_ string, over time.Time) bool { return over.Before(now) })
		m.retries[observed.Test.Namespace] = now.Add(retryPauses * observed.tryTook)
	})
}
