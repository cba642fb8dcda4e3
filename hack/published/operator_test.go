package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// cluster stands in for linerate's verbs of kubectl and for kubectl: what it has is a suite's document without Reports, and the Reports of its tests.
func cluster(t *testing.T, exists bool, run string) (o operator, dir string) {
	t.Helper()
	dir = t.TempDir()
	document := flooded()
	var reports bytes.Buffer
	for i := range document.Cells[0].Runs {
		r := &document.Cells[0].Runs[i]
		whole := *r.Evidence
		whole.Plan = &plan.Plan{Version: plan.Version, Directions: whole.Plan.Directions}
		whole.Plan.Test.Name, whole.Plan.Test.UID = r.Test, fmt.Sprint("uid-", i)
		whole.Ending, whole.Samples = report.Completed, []report.Sample{{Directions: []report.SampleDirection{{}}}}
		r.UID, r.Report, r.Evidence = whole.Plan.Test.UID, "sha256:"+strings.Repeat("0", 64), nil
		if err := report.JSON(&reports, &whole); err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	if err := document.JSON(&text); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{"suite": text.Bytes(), "reports": reports.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.program = script(t, dir, "linerate", fmt.Sprintf("case \"$2 $7\" in run*) %s;; *suite/*) cat %s/suite;; *) cat %s/reports;; esac", run, dir, dir))
	there := ""
	if exists {
		there = "loadtestsuite.linerate.dev/flood"
	}
	o.kubectl = script(t, dir, "kubectl", fmt.Sprintf("case \"$*\" in *--output=name) echo %s;; *jsonpath*) echo False Suspended;; esac", there))
	o.namespace = "lab"
	return o, dir
}

func TestByTheOperatorASuiteIsCreatedFollowedAndRead(t *testing.T) {
	o, dir := cluster(t, false, "true")
	file := filepath.Join(dir, "flood.yaml")
	if err := o.play(t.Context(), "flood", file, false); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"kubectl --namespace lab get loadtestsuite flood --ignore-not-found --output=name",
		"linerate kubectl run " + file + " --namespace lab --on-interrupt leave",
		"linerate kubectl report --namespace lab --output json suite/flood",
		"linerate kubectl report --namespace lab --output json loadtest/flood-router-10s-r1 loadtest/flood-router-10s-r2",
	}
	if got := askedIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("it asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s, err := readSuite(filepath.Join(dir, "flood.suite.json"))
	if err != nil || s == nil {
		t.Fatalf("%v, %v", s, err)
	}
	if got := kernel(&s.Cells[0]); got != "410.00 kpps (400.00 kpps to 420.00 kpps)" {
		t.Errorf("of the Reports it has %s", got)
	}
	if len(s.Cells[0].Runs[0].Evidence.Samples) > 0 {
		t.Error("it keeps the samples")
	}
}

// What is played in pieces rests in the cluster between them.
func TestByTheOperatorASuiteRestsBetweenItsPieces(t *testing.T) {
	o, dir := cluster(t, true, "trap 'exit 130' INT; while true; do sleep 0.05; done")
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if err := o.play(ctx, "flood", filepath.Join(dir, "flood.yaml"), true); err != nil {
		t.Fatal(err)
	}
	got := askedIn(t, dir)
	patch := func(is bool) string {
		return fmt.Sprintf(`kubectl --namespace lab patch loadtestsuite flood --type=merge --patch={"spec":{"suspend":%t}}`, is)
	}
	if len(got) != 7 || got[1] != patch(false) || got[3] != patch(true) || !strings.Contains(got[4], "jsonpath") {
		t.Errorf("it asked\n%s", strings.Join(got, "\n"))
	}
	if s, err := readSuite(filepath.Join(dir, "flood.suite.json")); err != nil || s == nil {
		t.Errorf("what was measured isn't kept: %v", err)
	}
}

func TestByTheOperatorAForeignSuiteIsLeftAlone(t *testing.T) {
	o, dir := cluster(t, true, "true")
	err := o.play(t.Context(), "flood", filepath.Join(dir, "flood.yaml"), false)
	if err == nil || !strings.Contains(err.Error(), "-anew deletes it") || len(askedIn(t, dir)) != 1 {
		t.Errorf("%v, and it asked %v", err, askedIn(t, dir))
	}
}

// What linerate's image hasn't comes in one that is named; without it the suite isn't played, and it is said how it would be.
func TestByTheOperatorADeviceMayHaveAnImage(t *testing.T) {
	o, err := parse([]string{"-form", "short", "-operator", "-image", "modes-ipsec=registry.lab/strongswan:5"})
	if err != nil {
		t.Fatal(err)
	}
	by := operator{images: o.images}
	if why := by.cannot("routers-testpmd"); !strings.Contains(why, "-image routers-testpmd=IMAGE") {
		t.Errorf("testpmd: %q", why)
	}
	if why := by.cannot("boards-iperf2"); !strings.Contains(why, "only linerate run measures it") {
		t.Errorf("iperf 2: %q", why)
	}
	if why := by.cannot("modes-ipsec"); why != "" {
		t.Error(why)
	}
	before := theSuites(t)
	after, err := withImages(before, o.images)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range after {
		if changed, wanted := string(s.text) != string(before[i].text), s.name == "modes-ipsec"; changed != wanted || wanted && !strings.Contains(string(s.text), "image: registry.lab/strongswan:5") {
			t.Errorf("%s:\n%s", s.name, s.text)
		}
	}
}

func TestAnImageThatNoSuiteTakesIsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"-form short -operator -image routers=registry.lab/x:1": "suites that take one are modes-ipsec, routers-testpmd",
		"-form short -operator -image modes-ipsec":              "name a suite and its device's image",
		"-form short -image modes-ipsec=registry.lab/x:1":       "add -operator",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// A Report of another test of the same name is none of the suite's.
func TestAReportOfAnotherTestIsNotAttached(t *testing.T) {
	s := flooded()
	run := &s.Cells[0].Runs[0]
	r := &report.Report{Version: report.Version, Plan: &plan.Plan{Test: plan.Test{Name: run.Test, UID: "other"}}}
	run.UID, run.Evidence = "mine", nil
	if attach(s, []*report.Report{r}); run.Evidence != nil {
		t.Error("it is attached")
	}
	r.Plan.Test.UID = "mine"
	if attach(s, []*report.Report{r}); run.Evidence == nil {
		t.Error("its own isn't")
	}
}
