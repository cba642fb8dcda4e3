package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// sentence is where a trial stands, from its status alone: what kubectl shows, too.
func sentence(t *trial) string {
	complete := t.condition(v1alpha1.ConditionComplete)
	switch {
	case t.loadTest == nil:
		return "isn't created yet"
	case complete == nil:
		return "is created"
	case complete.Status == metav1.ConditionTrue:
		return complete.Reason + ": " + cmp.Or(t.loadTest.Status.Summary, complete.Message)
	case complete.Reason == v1alpha1.ReasonRunning:
		return progress(t.loadTest.Status.Progress)
	}
	return "waits: " + complete.Message
}

// progress is what the runner does, and the figures of the load at the moment.
func progress(p *v1alpha1.Progress) string {
	if p == nil || p.Phase == "" {
		return "the runner starts"
	}
	step := strings.ToLower(p.Phase)
	// the figures are of a load that is no more
	ended := p.Phase == string(runner.Draining) || p.Phase == string(runner.Ended)
	if ended || p.IntendedPacketsPerSecond == 0 {
		return step
	}
	return fmt.Sprintf("%s: %s asked, %s received", step, wording.PacketRate(p.IntendedPacketsPerSecond),
		wording.PacketRate(p.ReceivedPacketsPerSecond))
}

func percent(t *trial) int {
	if t.loadTest == nil || t.loadTest.Status.Progress == nil || t.loadTest.Status.Progress.Percent == nil {
		return 0
	}
	return int(*t.loadTest.Status.Progress.Percent)
}

// age is how long it has been there; it ends with the test.
func age(t *trial, now time.Time) time.Duration {
	if t.loadTest == nil {
		return 0
	}
	if end := t.loadTest.Status.CompletionTime; end != nil {
		now = end.Time
	}
	return max(0, now.Sub(t.loadTest.CreationTimestamp.Time))
}
