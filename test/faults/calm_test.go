package faults

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// calmShare is how much of the machine must be idle for a measurement in software to be of the device.
	calmShare = 0.4
	// busyShare: with less than that of the machine idle while a test ran, it may have had too little of it.
	busyShare = 0.25
	// calmBound is how long that is waited for: others may use this machine, and whoever measures then must tell that it couldn't.
	calmBound = 30 * time.Second
)

// calm waits until the machine has time for a measurement, within a bound.
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
		if now.since(was) >= calmShare {
			return
		}
		was = now
	}
}

// processors is how long the machine's processors have done something, and nothing, since it started: proc(5), stat, in ticks.
type processors struct{ all, idle float64 }

// since is the share of the time since another reading that they did nothing.
func (p processors) since(was processors) float64 { return (p.idle - was.idle) / max(1, p.all-was.all) }

func readProcessors(t *testing.T) (p processors) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(first)[1:] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		p.all += ticks
		if i == 3 {
			p.idle = ticks
		}
	}
	return p
}
