package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
)

// reportsDir is where "make run" keeps its Reports, too.
const reportsDir = "linerate-reports"

// show measures the examples, prints what came out and says what to type next.
func (l *demoCluster) show(ctx context.Context, w io.Writer) (int, error) {
	trials, err := l.trials(ctx)
	if err != nil {
		return exitNotMeasured, err
	}
	l.say("LoadTests: both nodes have one virtual function on the wire west, so the second waits until the first gives its back")
	if err := l.follow(ctx, trials); err != nil {
		fmt.Fprintln(l.stderr, "demo: no longer watching; tests that have begun go on in the cluster")
		return exitNotMeasured, errors.Join(err, l.parting(trials[0].name))
	}
	code := exitOK
	var reports []*report.Report
	for _, t := range trials {
		r, err := l.report(ctx, t)
		if err != nil {
			fmt.Fprintf(l.stderr, "%s has no report: %v\n", t.name, err)
			code = max(code, exitNotMeasured)
			continue
		}
		code, reports = max(code, codeOf(r)), append(reports, r)
	}
	if len(reports) > 0 {
		if err := render.Text(w, reports...); err != nil {
			return exitNotMeasured, err
		}
	}
	for _, r := range reports {
		fmt.Fprintln(l.stderr, meaning(r))
	}
	err = l.keep(reports)
	return max(code, codeOfKeeping(err)), errors.Join(err, l.parting(trials[0].name))
}

func codeOfKeeping(err error) int {
	code, _ := orNotMeasured(exitOK, err)
	return code
}

// report reads a complete trial's Report from the ConfigMap that its status names.
func (l *demoCluster) report(ctx context.Context, t *trial) (*report.Report, error) {
	if t.loadTest.Status.Report == nil {
		return nil, errors.New(sentence(t))
	}
	text, err := l.kubectl(ctx, "", "get", "configmap", t.loadTest.Status.Report.ConfigMap, "--namespace", namespace,
		"--output", "json")
	if err != nil {
		return nil, err
	}
	var object corev1.ConfigMap
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return nil, err
	}
	r, _, err := delivery.DecodeReport(object.BinaryData, object.Annotations)
	return r, err
}

// keep writes each report as JSON and as a page.
func (l *demoCluster) keep(reports []*report.Report) error {
	if err := os.MkdirAll(reportsDir, 0o755); err != nil { // reports are meant to be read by others
		return err
	}
	for _, r := range reports {
		base := filepath.Join(reportsDir, r.Plan.Test.Name)
		if err := writeFile(base+".json", report.JSON, r); err != nil {
			return err
		}
		if err := writeFile(base+".html", render.HTML, r); err != nil {
			return err
		}
		fmt.Fprintf(l.stderr, "report: %s.html\n", base)
	}
	return nil
}

func writeFile(path string, write func(io.Writer, ...*report.Report) error, r *report.Report) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file, r), file.Close())
}
