package realpackets

import (
	"testing"

	"github.com/prometheus/procfs"
)

// processes are all that run now.
func processes(t *testing.T) []procfs.ProcStat {
	t.Helper()
	kernel, err := procfs.NewDefaultFS()
	if err != nil {
		t.Fatal(err)
	}
	found, err := kernel.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	var all []procfs.ProcStat
	for _, p := range found {
		if s, err := p.Stat(); err == nil { // else it ended meanwhile
			all = append(all, s)
		}
	}
	return all
}
