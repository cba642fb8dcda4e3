package job

import (
	"context"

	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// collectorPod is the pod that reads a test's observers from the network, as the runner's pod follows it.
type collectorPod struct {
	wanted   bool   // an observer reads from the network
	missing  string // why there is no collector to follow
	follower *vitals.Follower
}

// followCollector begins to poll the collector's pod, where the Plan's observers need one.
func (j runnerJob) followCollector(ctx context.Context) collectorPod {
	c := collectorPod{wanted: len(j.plan.Asking()) > 0, missing: j.sites.NoCollector}
	if c.missing == "" {
		c.missing = "this test has no collector pod"
	}
	if c.wanted && j.sites.Collector != "" {
		c.follower = vitals.Follow(ctx, j.sites.Collector, j.sites.Key, nil)
	}
	return c
}

// latest returns the collector's newest answers without waiting. It is nil where no observer reads from the network.
func (c collectorPod) latest() func() observe.Collected {
	if !c.wanted {
		return nil
	}
	return func() observe.Collected {
		if c.follower == nil {
			return observe.Collected{Missing: c.missing}
		}
		r, age, missing := c.follower.Newest()
		if r.Collected == nil {
			return observe.Collected{Missing: missing}
		}
		return observe.Collected{Age: age, Clock: r.Collected.Clock, Answers: r.Collected.Answers, Missing: missing}
	}
}

// stop ends the polling.
func (c collectorPod) stop() {
	if c.follower != nil {
		c.follower.Close()
	}
}
