package frames_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// remarking is an engine that has something to say.
type remarking struct {
	engine.Engine
	words []string
}

func (r *remarking) Remarks() []string {
	said := r.words
	r.words = nil
	return said
}

func TestAGeneratorsRemarksAreInTheReport(t *testing.T) {
	s := scene()
	synctest.Test(t, func(t *testing.T) {
		e := &remarking{sim.New(s.world).Generator(0), []string{"the server took longer than the 300ms until the common start"}}
		gens := []frames.Generator{{Name: "g0", Engine: e, PortOfLink: map[string]int{"west": 0, "east": 1}}}
		if said := trace(runner.Run(t.Context(), &s.plan, frames.New(gens, s.frames), s.options)); strings.Count(said, "generator g0: the server took longer than the 300ms until the common start") != 1 {
			t.Errorf("it says\n%s", said)
		}
	})
}
