package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// with is a trial whose Complete condition, progress and summary are as said.
func with(name string, complete metav1.Condition, p *v1alpha1.Progress, summary string) *trial {
	complete.Type = v1alpha1.ConditionComplete
	return &trial{name: name, loadTest: &v1alpha1.LoadTest{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Time{Time: noon}},
		Status:     v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{complete}, Progress: p, Summary: summary},
	}}
}

func waiting(words string) metav1.Condition {
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonWaiting, Message: words}
}

func running() metav1.Condition {
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonRunning, Message: "the runner measures"}
}

func over(reason, words string) metav1.Condition {
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: reason, Message: words}
}

func ramping() *v1alpha1.Progress {
	return &v1alpha1.Progress{Phase: "Ramping", Percent: new(int32(42)), IntendedPacketsPerSecond: 16_660, ReceivedPacketsPerSecond: 16_610}
}

func TestSentence(t *testing.T) {
	for want, trial := range map[string]*trial{
		"isn't created yet":                     {name: "x"},
		"is created":                            {name: "x", loadTest: &v1alpha1.LoadTest{}},
		"waits: pods aren't ready yet: x-1-dut": with("x", waiting("pods aren't ready yet: x-1-dut"), nil, ""),
		"the runner starts":                     with("x", running(), nil, ""),
		"preparing":                             with("x", running(), &v1alpha1.Progress{Phase: "Preparing"}, ""),
		"ramping: 16.66 kpps asked, 16.61 kpps received": with("x", running(), ramping(), ""),
		"ended":                            with("x", running(), &v1alpha1.Progress{Phase: "Ended", IntendedPacketsPerSecond: 16_660, ReceivedPacketsPerSecond: 1}, ""),
		"Measured: 19.97 kpps  60.98 Mb/s": with("x", over("Measured", "window 10 was clean"), ramping(), "19.97 kpps  60.98 Mb/s"),
		"DUTFailed: pod x-1-dut failed":    with("x", over("DUTFailed", "pod x-1-dut failed"), ramping(), ""),
	} {
		t.Run(want, func(t *testing.T) {
			if got := sentence(trial); got != want {
				t.Error(got)
			}
		})
	}
}

func TestView(t *testing.T) {
	trials := []*trial{with("known-answer", running(), ramping(), ""), {name: "router"}}
	later := noon.Add(65 * time.Second)
	t.Run("in a pipe each change is a line", func(t *testing.T) {
		var out bytes.Buffer
		v := newView(&out)
		v.show(trials, later)
		v.show(trials, later.Add(time.Second))
		v.show([]*trial{trials[0], with("router", waiting("pods are made"), nil, "")}, later)
		v.close()
		want := "known-answer: ramping: 16.66 kpps asked, 16.61 kpps received\n" +
			"router: isn't created yet\nrouter: waits: pods are made\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("on a terminal the picture is drawn over the last one, and fits", func(t *testing.T) {
		var out bytes.Buffer
		v := newView(&out)
		v.width = func() int { return 60 }
		v.show(trials, later)
		first := "\r\x1b[Kknown-answer  1:05 ▕████████░░░░░░░░░░░░▏ ramping: 16.66 k…\n" +
			"\r\x1b[Krouter        0:00 ▕░░░░░░░░░░░░░░░░░░░░▏ isn't created yet\n"
		if diff := cmp.Diff(first, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		out.Reset()
		v.show(trials, later)
		v.close()
		if diff := cmp.Diff("\x1b[2A"+first+"\n", out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("the clock of a test that is over stands still", func(t *testing.T) {
		done := with("router", over("Measured", ""), nil, "")
		done.loadTest.Status.CompletionTime = &metav1.Time{Time: noon.Add(40 * time.Second)}
		if got := age(done, later); got != 40*time.Second {
			t.Error(got)
		}
	})
}
