package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// operator measures in a cluster, in which suites go on by themselves: what is played in pieces is suspended
// between them.
//
//	the suite was begun ─▶ it goes on (suspend: false) ─┐
//	it wasn't ─▶ it is created ─────────────────────────┴▶ followed to its end, or suspended ─▶ its document, and its tests' Reports in it
type operator struct {
	program, kubectl, namespace string
	images                      map[string]string // of devices that linerate's image hasn't, by their suites
}

func (o operator) cannot(suite string) string {
	if program := byImage()[suite]; program != "" && o.images[suite] == "" {
		return fmt.Sprintf("linerate's image hasn't %s: name one that has it, as -image %s=IMAGE (docs/development.md)",
			program, suite)
	}
	return onlyByRun(suite)
}

// byImage are the suites whose device linerate's image hasn't, and the programs that their own image needs.
func byImage() map[string]string {
	return map[string]string{"routers-testpmd": "dpdk-testpmd", "modes-ipsec": "strongSwan"}
}

// onlyByRun says why no cluster can measure a suite; empty: one can.
func onlyByRun(suite string) string {
	if suite == "boards-iperf2" {
		return "linerate's image hasn't iperf: only linerate run measures it, on a machine that has the program"
	}
	return ""
}

// withImages are suites with their devices' images.
func withImages(suites []suiteFile, images map[string]string) ([]suiteFile, error) {
	suites = slices.Clone(suites)
	for i, s := range suites {
		image, ok := images[s.name]
		if !ok {
			continue
		}
		text, err := edited(s, func(spec map[string]any) error {
			dut := map[string]any{"reference": map[string]any{"image": image}}
			merged(spec, map[string]any{"template": map[string]any{"spec": map[string]any{"dut": dut}}})
			return nil
		})
		if err != nil {
			return nil, err
		}
		suites[i].text = text
	}
	return suites, nil
}

func (o operator) forget(ctx context.Context, suite string) error {
	_, err := o.ask(ctx, "delete", "loadtestsuite", suite, "--ignore-not-found", "--timeout=5m")
	return err
}

func (o operator) play(ctx context.Context, suite, file string, started bool) error {
	existing, err := o.ask(ctx, "get", "loadtestsuite", suite, "--ignore-not-found", "--output=name")
	switch {
	case err != nil:
	case len(existing) > 0 && !started:
		err = fmt.Errorf("namespace %s has a suite of this name that wasn't begun by this command in this form: -anew deletes it, -namespace names another one", o.namespace)
	case len(existing) > 0:
		err = o.suspend(ctx, suite, false)
	}
	if err != nil {
		return err
	}
	request, late := machine.KeepAwake()
	if late != nil {
		fmt.Fprintln(os.Stderr, "what is measured may be late:", late)
	}
	defer func() { _ = request.Close() }()
	err = following(ctx, nil, o.program, "kubectl", "run", file, "--namespace", o.namespace, "--on-interrupt", "leave")
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), untilSuspended)
	defer cancel()
	if interrupted(ctx) {
		err = errors.Join(err, o.pause(cleanup, suite))
	}
	if err != nil {
		return err
	}
	document, err := o.collect(cleanup, suite)
	if err != nil || document == nil {
		return err
	}
	return keepDocument(document, filepath.Dir(file))
}

// untilSuspended is how long the tests under way may take to end.
const untilSuspended = 10 * time.Minute

func (o operator) suspend(ctx context.Context, suite string, suspended bool) error {
	_, err := o.ask(ctx, "patch", "loadtestsuite", suite, "--type=merge", fmt.Sprintf(`--patch={"spec":{"suspend":%t}}`,
		suspended))
	return err
}

// pause suspends a suite, and returns when none of its tests is under way.
func (o operator) pause(ctx context.Context, suite string) error {
	if err := o.suspend(ctx, suite, true); err != nil {
		return err
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		complete, err := o.ask(ctx, "get", "loadtestsuite", suite,
			`--output=jsonpath={range .status.conditions[?(@.type=="Complete")]}{.status} {.reason}{end}`)
		if err != nil || bytes.HasPrefix(complete, []byte("True")) ||
			bytes.HasSuffix(complete, []byte(v1alpha1.ReasonSuspended)) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("suite %s is suspended, and after %v there is still a test under way", suite,
				untilSuspended)
		case <-ticker.C:
		}
	}
}

// ask is kubectl's answer.
func (o operator) ask(ctx context.Context, args ...string) ([]byte, error) {
	var stdout, talk bytes.Buffer
	cmd := exec.CommandContext(ctx, o.kubectl, append([]string{"--namespace", o.namespace}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &talk
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(talk.String()))
	}
	return bytes.TrimSpace(stdout.Bytes()), nil
}

// collect reads a suite's document from the cluster, and from each of its tests' Reports what a document on one
// machine has: the cluster's is without them.
func (o operator) collect(ctx context.Context, suite string) (*report.Suite, error) {
	documents, err := o.reports(ctx, "suite/"+suite)
	if err != nil {
		return nil, err
	}
	if len(documents.Suites) == 0 {
		return nil, nil // nothing was measured yet, or it was said why there is none
	}
	document := documents.Suites[0]
	var tests []string
	for _, c := range document.Cells {
		for _, r := range c.Runs {
			if r.Report != "" && r.Evidence == nil {
				tests = append(tests, "loadtest/"+r.Test)
			}
		}
	}
	for chunk := range slices.Chunk(tests, atOnce) {
		documents, err := o.reports(ctx, chunk...)
		if err != nil {
			return nil, err
		}
		attach(document, documents.Reports)
	}
	return document, nil
}

// atOnce is how many Reports are read together: each may have some megabytes.
const atOnce = 8

// reports are what kubectl linerate report prints of these names: it holds each against the digest that the
// operator noted, and says why one isn't there.
func (o operator) reports(ctx context.Context, names ...string) (report.Documents, error) {
	var stdout bytes.Buffer
	if err := following(ctx, &stdout, o.program, append([]string{"kubectl", "report", "--namespace", o.namespace,
		"--output", "json"}, names...)...); err != nil {
		return report.Documents{}, fmt.Errorf("linerate kubectl report %s: %w", strings.Join(names, " "), err)
	}
	if stdout.Len() == 0 {
		return report.Documents{}, nil
	}
	return report.ReadDocuments(&stdout)
}

// attach gives the runs of a document their Reports, without what figures don't need.
func attach(document *report.Suite, reports []*report.Report) {
	byName := map[string]*report.Report{}
	for _, r := range reports {
		byName[r.Plan.Test.Name] = r
	}
	for i := range document.Cells {
		runs := document.Cells[i].Runs
		for n := range runs {
			r := byName[runs[n].Test]
			if r == nil || runs[n].Evidence != nil || runs[n].UID != "" && runs[n].UID != r.Plan.Test.UID {
				continue
			}
			light := *r
			light.Windows, light.Samples, light.Observations, light.Figures, light.Verdict = nil, nil, idle(r), nil,
				report.Verdict{}
			runs[n].Evidence = &light
		}
	}
}

// keepDocument writes a suite's document as linerate run does.
func keepDocument(document *report.Suite, dir string) error {
	var text bytes.Buffer
	if err := document.JSON(&text); err != nil {
		return err
	}
	file := filepath.Join(dir, document.Name+".suite.json")
	if err := os.WriteFile(file+".new", text.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
