package faults

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	machine "github.com/linerate-dev/linerate/internal/processors"
)

const (
	// calmShare is how much of the machine others may use for a measurement in software to be one of the device.
	calmShare = 0.1
	// busyShare: with more than that used by others while a test ran, it may have had too little.
	busyShare = 0.2
	// calmBound is how long a calm machine is waited for: whoever measures then must tell that it couldn't.
	calmBound = 10 * time.Second
)

// calm waits until others leave the machine to a measurement, within a bound.
func calm(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	end := time.NewTimer(calmBound)
	defer end.Stop()
	for was := readProcessors(t); ; {
		select {
		case <-t.Context().Done():
			return
		case <-end.C:
			t.Logf("the machine was busy with other things for %v", calmBound)
			return
		case <-tick.C:
		}
		now := readProcessors(t)
		if now.others(was) <= calmShare {
			return
		}
		was = now
	}
}

// processors is what processors did since the machine started, in seconds: all of it, nothing, and work of the cluster's.
type processors struct{ all, idle, ours float64 }

// others is the share of all time since another reading that went to what isn't the cluster's.
func (p processors) others(was processors) float64 {
	all, idle, ours := p.all-was.all, p.idle-was.idle, p.ours-was.ours
	return max(0, all-idle-ours) / max(0.01, all)
}

// readProcessors reads proc_stat(5) and the cluster's control group. It's about the processors that we may use: taskset(1) gives a cluster some of the
// machine's, and whoever has the rest is none of its others.
func readProcessors(t *testing.T) (p processors) {
	t.Helper()
	mine, err := machine.Mine()
	if err != nil {
		t.Fatal(err)
	}
	spent, err := machine.Spent(mine)
	if err != nil {
		t.Fatal(err)
	}
	p.idle = spent.Idle
	p.all = spent.User + spent.Nice + spent.System + spent.Idle + spent.Iowait + spent.IRQ + spent.SoftIRQ + spent.Steal
	p.ours = used(t)
	return p
}

// used is the processor time of everything in the cluster, in seconds, by either version of control groups.
func used(t *testing.T) float64 {
	t.Helper()
	group := "linerate-" + lab.Name
	if text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup/cpuacct", group, "cpuacct.usage")); err == nil {
		nanoseconds, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if err != nil {
			t.Fatal(err)
		}
		return nanoseconds / 1e9
	}
	text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", group, "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "usage_usec "); found {
			microseconds, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatal(err)
			}
			return microseconds / 1e6
		}
	}
	t.Fatalf("the control group %s doesn't tell what it used", group)
	return 0
}
