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

// refusedTry is what the API server refused of a test's objects in a dry run. The same objects aren't tried
// again before that is due, whatever wakes the test. A pod with two thousand faults costs the API server a
// quarter of a second of a processor, and anyone who may change a network or a node could have it tried twenty
// times a second.
type refusedTry struct {
	objects  [sha256.Size]byte
	refusals []lifecycle.Refusal
	retryAt  time.Time
}

// maxRefusal is how many bytes of a refusal are remembered. A status has room for no more.
const maxRefusal = 4096

// tryOf identifies the objects of a dry run, by their whole content.
func tryOf(objects []manifests.Object) (sum [sha256.Size]byte, ok bool) {
	text, err := json.Marshal(objects)
	return sha256.Sum256(text), err == nil
}

// retryPauses is the pause after a refused dry run in its namespace, as a multiple of its duration. Repeatedly
// refused dry runs then take at most a tenth of a processor of the API server.
const retryPauses = 10

// refusedTry is what the API server refused of these very objects, unless they are due to be tried again.
func (m *memory) refusedTry(test *v1alpha1.LoadTest, objects []manifests.Object,
	now time.Time) (refusals []lifecycle.Refusal) {
	digest, ok := tryOf(objects)
	m.update(test, func(a *acts) {
		if ok && a.refused.objects == digest && (now.Before(a.refused.retryAt) ||
			now.Before(m.retries[test.Namespace])) {
			refusals = slices.Clone(a.refused.refusals)
		}
	})
	return refusals
}

// tryRefused remembers what the API server refused in a pass, until retryAt. A transient refusal isn't
// remembered.
func (m *memory) tryRefused(observed *observation, now, retryAt time.Time) {
	passing := func(r lifecycle.Refusal) bool { return r.Transient || r.NamespaceGoes }
	if len(observed.tried) == 0 || len(observed.Refusals) == 0 || slices.ContainsFunc(observed.Refusals, passing) {
		return
	}
	digest, ok := tryOf(observed.tried)
	if !ok {
		return
	}
	refused := refusedTry{objects: digest, retryAt: retryAt}
	for _, refusal := range observed.Refusals {
		refusal.Message = strings.Clone(wording.Limited(refusal.Message, maxRefusal))
		refused.refusals = append(refused.refusals, refusal)
	}
	m.update(observed.Test, func(a *acts) {
		a.refused = refused
		maps.DeleteFunc(m.retries, func(_ string, retryAt time.Time) bool { return retryAt.Before(now) })
		m.retries[observed.Test.Namespace] = now.Add(retryPauses * observed.tryTook)
	})
}
