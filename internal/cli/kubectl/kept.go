package kubectl

import (
	"context"
	"errors"
	"fmt"
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

// keptPerRequest is how many kept Reports one request lists. Each may be large.
const keptPerRequest = 50

// listKept lists the Reports that outlive their tests (spec.reportRetention) and match the selector, newest first.
// A ConfigMap that only claims to be a kept Report is part of the error, which comes beside the others.
func (r reports) listKept(ctx context.Context, selector labels.Selector) ([]history.Record, error) {
	var records []history.Record
	var errs []error
	role, err := labels.Parse(v1alpha1.LabelRole + "=" + v1alpha1.RoleKeptReport)
	if err != nil {
		return nil, err
	}
	requirements, _ := selector.Requirements()
	list := &corev1.ConfigMapList{}
	for next := ""; ; next = list.Continue {
		err := r.client.List(ctx, list, client.InNamespace(r.namespace),
			client.MatchingLabelsSelector{Selector: role.Add(requirements...)}, client.Limit(keptPerRequest),
			client.Continue(next))
		if apierrors.IsForbidden(err) {
			return nil, exit.NotMeasured("you may not list ConfigMaps in namespace %s, where Reports are kept: ask "+
				"its admin for the role view there; the server says: %w",
				r.namespace, err)
		}
		if err != nil {
			return nil, r.explain("list", client.ObjectKey{Namespace: r.namespace}, err)
		}
		for i := range list.Items {
			record, err := decodeKept(&list.Items[i])
			if err != nil {
				errs = append(errs, err)
				continue
			}
			records = append(records, record)
		}
		if list.Continue == "" {
			break
		}
	}
	slices.SortFunc(records, func(a, b history.Record) int { return b.Report.Finished.Compare(a.Report.Finished) })
	return records, exit.Worst(errs...)
}

// decodedReport decodes the Report in a ConfigMap, and returns its digest.
func decodedReport(object *corev1.ConfigMap) (*report.Report, string, error) {
	r, envelope, err := delivery.DecodeReport(object.BinaryData, object.Annotations)
	if err != nil {
		return nil, "", exit.NotMeasured("ConfigMap %s in namespace %s: %w: it isn't what the runner wrote",
			object.Name, object.Namespace, err)
	}
	return r, envelope.Digest, nil
}

// decodeKept reads a kept Report, and checks it against its digest and its name.
func decodeKept(object *corev1.ConfigMap) (history.Record, error) {
	if !manifests.IsKept(object) {
		return history.Record{}, exit.NotMeasured("ConfigMap %s in namespace %s says that it keeps a Report, but its "+
			"name doesn't match the Report's digest: it was made by hand",
			object.Name, object.Namespace)
	}
	r, _, err := decodedReport(object)
	if err != nil {
		return history.Record{}, err
	}
	return history.Record{Name: object.Name, Report: r}, nil
}

// selectorOfTest selects the Reports that are kept of tests of this name. A name that can't be a label's value
// is an error.
func selectorOfTest(name string) (labels.Selector, error) {
	return labels.Parse(v1alpha1.LabelTest + "=" + name)
}

// ofDeleted finds the kept Report of this name, or the newest one of a deleted test of this name, which stderr
// then names. If there is neither, the error is absent.
func (r reports) ofDeleted(ctx context.Context, name string, absent error) (*report.Report, error) {
	object := &corev1.ConfigMap{}
	if err := r.client.Get(ctx, r.key(name), object); err == nil &&
		object.Labels[v1alpha1.LabelRole] == v1alpha1.RoleKeptReport {
		record, err := decodeKept(object)
		return record.Report, err
	}
	selector, err := selectorOfTest(name)
	if err != nil {
		return nil, absent
	}
	records, err := r.listKept(ctx, selector)
	if err != nil || len(records) == 0 {
		return nil, errors.Join(absent, err)
	}
	newest := records[0]
	text := fmt.Sprintf("LoadTest %s is gone; this is its Report of %s, kept as %s",
		name, newest.Report.Finished.UTC().Format(time.DateTime), newest.Name)
	if older := len(records) - 1; older > 0 {
		text += fmt.Sprintf(" (and %d older: kubectl linerate trend -l %s=%s -n %s shows all)", older,
			v1alpha1.LabelTest, name, r.namespace)
	}
	fmt.Fprintln(r.stderr, text)
	return newest.Report, nil
}

// ofName returns the Report of the LoadTest of this name, and the LoadTest. If there is none, it returns the
// Report of a deleted LoadTest, or the kept Report of this name, and no LoadTest.
func (r reports) ofName(ctx context.Context, name string) (*report.Report, *v1alpha1.LoadTest, error) {
	test, err := r.get(ctx, name)
	switch {
	case err == nil:
		document, err := r.ofTest(ctx, test)
		return document, test, err
	case isAbsent(err):
		document, err := r.ofDeleted(ctx, name, err)
		return document, nil, err
	}
	return nil, nil, err
}

// selected returns the Reports of all LoadTests that a selector matches, and the kept ones that it matches,
// each run once. No Report is an error.
func (r reports) selected(ctx context.Context, text string) ([]history.Record, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, exit.BadInput("%q is no label selector: %w", text, err)
	}
	records, err := r.listKept(ctx, selector)
	errs := []error{err}
	var tests v1alpha1.LoadTestList
	if err := r.client.List(ctx, &tests, client.InNamespace(r.namespace),
		client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, r.explain("list", client.ObjectKey{Namespace: r.namespace}, err)
	}
	for i := range tests.Items {
		test := &tests.Items[i]
		reference := test.Status.Report
		if reference == nil || slices.ContainsFunc(records,
			func(k history.Record) bool { return k.Name == reference.KeptReport }) {
			continue
		}
		document, err := r.ofTest(ctx, test)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		records = append(records, history.Record{Name: reportName(test), Report: withoutFigures(test, document)})
	}
	err = exit.Worst(errs...)
	if err == nil && len(records) == 0 {
		err = exit.BadInput("no Report in namespace %s matches %s: kubectl get loadtests,configmaps -n %s -l '%s' "+
			"shows what does",
			r.namespace, text, r.namespace, text)
	}
	return records, err
}

// withoutFigures removes figures and verdict from a Report whose test doesn't publish them, since a fault acted
// on them. The test's reason takes their place. What the runner saw of the fault stays in the Report, as
// evidence.
func withoutFigures(test *v1alpha1.LoadTest, r *report.Report) *report.Report {
	if test == nil || test.Status.Result != nil || !r.Answer.Measured {
		return r
	}
	end := endOf(test)
	if end == nil {
		return r
	}
	stripped := *r
	stripped.Ending = report.Failed
	stripped.Message = end.Reason + ": " + strings.TrimSuffix(end.Message, ".") +
		": what the runner measured doesn't count"
	stripped.Answer, stripped.Verdict = report.Answer{Reason: report.NotMeasured}, report.Verdict{}
	for _, c := range r.Verdict.Criteria {
		stripped.Verdict.Outcome = report.Undecided
		stripped.Verdict.Criteria = append(stripped.Verdict.Criteria, report.CriterionResult{
			Name: c.Name, Outcome: report.Undecided, Message: "nothing was measured that counts: " + end.Reason,
		})
	}
	return &stripped
}

// isSelector distinguishes a label selector from a name.
func isSelector(text string) bool { return strings.ContainsAny(text, "=!, ") }
