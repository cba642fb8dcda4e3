//go:build full

package e2e

import (
	"strings"
	"testing"
	"time"
)

// unmeasurable is stored, since the schema can't know, and refused by the operator.
const unmeasurable = `
dut: {type: Reference}
traffic: {profile: Streams, directions: [{from: west, to: east}], streams: {json: "[oops"}}
`

// TestSpec: what is written, before anything is sent.
func TestSpec(t *testing.T) {
	t.Run("a spec that can't be measured is complete at once, and says the field", func(t *testing.T) {
		s := begin(t)
		s.apply("invalid", links, unmeasurable)
		test := s.complete("invalid", 20*time.Second)
		s.want(test, "Accepted=False Invalid", "Complete=True Invalid", "Stalled=True Invalid", "Passed=Unknown NoCriteria")
		if words := message(test, "Accepted"); !strings.Contains(words, "spec.traffic.streams.json") {
			t.Errorf("the message doesn't name the field: %s", words)
		}
		s.released("invalid")
	})
	t.Run("what is measured can't be changed, what bounds it can", func(t *testing.T) {
		s := begin(t)
		s.apply("immutable", links, limited, "suspend: true")
		err := s.patch("immutable", `{"procedure": {"ramp": {"targetRate": "1kpps"}}}`)
		if err == nil || !strings.Contains(err.Error(), "create a new LoadTest") {
			t.Errorf("another target rate: %v, want it refused, with the way out", err)
		}
		if err := s.patch("immutable", `{"activeDeadline": "5m", "ttlAfterFinished": "1h"}`); err != nil {
			t.Errorf("another deadline: %v", err)
		}
	})
	t.Run("a spec that the schema knows to be wrong is never stored", func(t *testing.T) {
		s := begin(t)
		err := lab.Client.Create(t.Context(), s.make("wrong", `links: [{name: west}]`))
		if err == nil || !strings.Contains(err.Error(), "links") {
			t.Errorf("one link: %v, want it refused by name", err)
		}
	})
}
