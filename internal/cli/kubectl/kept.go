package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/history"
)

// Reports outlive their tests where spec.reportRetention says so: then they are found by their labels, newest first.

// atOnce is how many kept Reports are asked for in one request: each may be large.
const atOnce = 50

// keptReports returns the kept Reports that match, newest first. For a ConfigMap that only claims to be one there is an error, and the others are returned all the same.
func (c *cluster) keptReports(ctx context.Context, matching labels.Selector) ([]history.Record, error) {
	var records []history.Record
	var wrong []error
	role, err := labels.Parse(v1alpha1.LabelRole + "=" + v1alpha1.RoleKeptReport)
	if err != nil {
		return nil, err
	}
	requirements, _ := matching.Requirements()
	list := &corev1.ConfigMapList{}
	for next := ""; ; next = list.Continue {
		err := c.client.List(ctx, list, client.InNamespace(c.namespace), client.MatchingLabelsSelector{Selector: role.Add(requirements...)}, client.Limit(atOnce), client.Continue(next))
		if err != nil {
			return nil, c.explainKept(err)
		}
		for i := range list.Items {
			record, err := decodeKept(&list.Items[i])
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			records = append(records, record)
		}
		if list.Continue == "" {
			break
		}
	}
	slices.SortFunc(records, func(a, b history.Record) int { return b.Report.Finished.Compare(a.Report.Finished) })
	return records, exit.Worst(wrong...)
}

// decodedReport is the Report in a ConfigMap, and its digest.
func decodedReport(object *corev1.ConfigMap) (*report.Report, string, error) {
	r, envelope, err := delivery.DecodeReport(object.BinaryData, object.Annotations)
	if err != nil {
		return nil, "", exit.NotMeasured("ConfigMap %s in namespace %s: %w: it isn't what the runner wrote", object.Name, object.Namespace, err)
	}
	return r, envelope.Digest, nil
}

// decodeKept reads a kept Report, and checks it against its digest and its name.
func decodeKept(object *corev1.ConfigMap) (history.Record, error) {
	if !manifests.IsKept(object) {
		return history.Record{}, exit.NotMeasured("ConfigMap %s in namespace %s says that it keeps a Report, but its name doesn't match the Report's digest: it was made by hand", object.Name, object.Namespace)
	}
	r, _, err := decodedReport(object)
	if err != nil {
		return history.Record{}, err
	}
	return history.Record{Name: object.Name, Report: r}, nil
}

func (c *cluster) explainKept(err error) error {
	if apierrors.IsForbidden(err) {
		return exit.NotMeasured("you may not list ConfigMaps in namespace %s, where Reports are kept: ask its admin for the role view there; the server says: %w", c.namespace, err)
	}
	return c.explain("list", client.ObjectKey{Namespace: c.namespace}, err)
}

// ofTest selects what is kept of a test of this name.
func ofTest(name string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{v1alpha1.LabelTest: name})
}

// reportOfDeleted finds the kept Report of this name, or the newest one of a deleted test of this name, and says on stderr which one it is.
func (c *cluster) reportOfDeleted(ctx context.Context, talk io.Writer, name string, gone error) (*report.Report, error) {
	object := &corev1.ConfigMap{}
	if err := c.client.Get(ctx, c.key(name), object); err == nil && object.Labels[v1alpha1.LabelRole] == v1alpha1.RoleKeptReport {
		record, err := decodeKept(object)
		return record.Report, err
	}
	if errs := validName(name); errs != nil {
		return nil, gone
	}
	records, err := c.keptReports(ctx, ofTest(name))
	if err != nil || len(records) == 0 {
		return nil, errors.Join(gone, err)
	}
	newest := records[0]
	text := fmt.Sprintf("LoadTest %s is gone; this is its Report of %s, kept as %s", name, newest.Report.Finished.UTC().Format(time.DateTime), newest.Name)
	if older := len(records) - 1; older > 0 {
		text += fmt.Sprintf(" (and %d older: kubectl linerate trend -l %s=%s -n %s shows all)", older, v1alpha1.LabelTest, name, c.namespace)
	}
	fmt.Fprintln(talk, text)
	return newest.Report, nil
}

// validName says why a name can't be a label's value; nil: it can.
func validName(name string) error {
	_, err := labels.Parse(v1alpha1.LabelTest + "=" + name)
	return err
}

// found returns the Report of a LoadTest of this name; if there is none, that of a deleted one, or the kept Report of this name, and no test.
func (c *cluster) found(ctx context.Context, talk io.Writer, name string) (*report.Report, *v1alpha1.LoadTest, error) {
	test, err := c.get(ctx, name)
	switch {
	case err == nil:
		r, err := c.report(ctx, test)
		return r, test, err
	case isAbsent(err):
		r, err := c.reportOfDeleted(ctx, talk, name, err)
		return r, nil, err
	}
	return nil, nil, err
}

// matching are the Reports of all LoadTests that match, and those that are kept and match, each run once.
func (c *cluster) matching(ctx context.Context, selector labels.Selector) ([]history.Record, error) {
	records, err := c.keptReports(ctx, selector)
	wrong := []error{err}
	var tests v1alpha1.LoadTestList
	if err := c.client.List(ctx, &tests, client.InNamespace(c.namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, c.explain("list", client.ObjectKey{Namespace: c.namespace}, err)
	}
	for i := range tests.Items {
		test := &tests.Items[i]
		if r := test.Status.Report; r == nil || slices.ContainsFunc(records, func(k history.Record) bool { return k.Name == r.Kept }) {
			continue
		}
		r, err := c.report(ctx, test)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		records = append(records, history.Record{Name: reportName(test), Report: withoutFigures(test, r)})
	}
	return records, exit.Worst(wrong...)
}

// withoutFigures takes figures and verdict off a Report that its test doesn't publish, and puts the reason in their place: a fault acted on them. What
// the runner saw of it stays in, as evidence.
func withoutFigures(test *v1alpha1.LoadTest, r *report.Report) *report.Report {
	if test == nil || test.Status.Result != nil || !r.Result.Measured {
		return r
	}
	end := endOf(test)
	if end == nil {
		return r
	}
	out := *r
	out.Ending, out.Message = report.Failed, end.Reason+": "+strings.TrimSuffix(end.Message, ".")+": what the runner measured doesn't count"
	out.Result, out.Verdict = report.Result{Reason: report.NotMeasured}, report.Verdict{}
	for _, c := range r.Verdict.Criteria {
		out.Verdict.Outcome = report.Undecided
		out.Verdict.Criteria = append(out.Verdict.Criteria, report.CriterionResult{Name: c.Name, Outcome: report.Undecided, Message: "nothing was measured that counts: " + end.Reason})
	}
	return &out
}

// isSelector tells a label selector from a name.
func isSelector(text string) bool { return strings.ContainsAny(text, "=!, ") }
