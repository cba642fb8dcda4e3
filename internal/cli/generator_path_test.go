package cli

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// The engine knows no Plan, and a Plan's path is what its flag is called.
func TestThePathsOfAPlanAreTheGenerators(t *testing.T) {
	for text, want := range map[string]datapath.Path{plan.PathLive: datapath.PathLive, plan.PathAFXDP: datapath.PathXDP,
		plan.PathAFPacket: datapath.PathPacket} {
		if got, err := readPath(text); err != nil || got != want {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
}
