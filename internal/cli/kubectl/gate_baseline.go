package kubectl

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/cluster/gate"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// references are what suites are compared with besides themselves. The command line names them, or a LoadTest's
// own spec does. They are read before anything is measured.
type references struct {
	named  *suite.Reference
	ofSpec map[*gate.Subject]*suite.Reference
	anchor *suite.Reference // every suite is compared with it, too; nil without --anchor
}

// forSubject returns what a suite is compared with. It is nil for a suite whose baseline is cells of its own,
// or that has none.
func (r *references) forSubject(s *gate.Subject) *suite.Reference {
	if reference := r.ofSpec[s]; reference != nil || s.Suite.Spec.Baseline != nil {
		return reference
	}
	return r.named
}

// baselines reads what suites are compared with.
type baselines struct {
	reports
	stdin          io.Reader
	allowDifferent []report.EnvironmentPart
}

// read reads the references that flags and specs name. Its error has all faults.
func (b baselines) read(ctx context.Context, names, anchors []string, subjects []*gate.Subject) (*references, error) {
	named, namedErr := b.ofFlag(ctx, "--baseline", names)
	anchor, anchorErr := b.ofFlag(ctx, "--anchor", anchors)
	errs := []error{namedErr, anchorErr}
	ofSpec := map[*gate.Subject]*suite.Reference{}
	for _, s := range subjects {
		var reference *suite.Reference
		var err error
		switch spec := s.Suite.Spec.Baseline; {
		case spec != nil && spec.Suite != "":
			reference = &suite.Reference{Kind: suite.KindSuite, Name: spec.Suite}
			var s *v1alpha1.LoadTestSuite
			if s, err = b.getSuite(ctx, spec.Suite); err == nil {
				err = b.addSuite(ctx, s, reference)
			}
		case s.Baseline != nil:
			if reference, err = b.ofSpec(ctx, s.Baseline); reference != nil {
				reference.AllowDifferent = append(slices.Clone(b.allowDifferent),
					report.EnvironmentParts(s.Baseline.AllowedDifferences)...)
			}
		default:
			continue
		}
		ofSpec[s], errs = reference, append(errs, err)
	}
	return &references{named, ofSpec, anchor}, exit.Worst(errs...)
}

// ofFlag reads what a flag names. Nil means that it names nothing.
func (b baselines) ofFlag(ctx context.Context, flag string, names []string) (*suite.Reference, error) {
	if len(names) == 0 {
		return nil, nil // the flag isn't given, and that is no error
	}
	reference := &suite.Reference{Kind: suite.KindFile, Name: strings.Join(names, ", "),
		AllowDifferent: b.allowDifferent}
	var errs []error
	for _, name := range names {
		if err := b.addReference(ctx, name, reference); err != nil {
			errs = append(errs, exit.WithCode(exit.Code(err), fmt.Errorf("%s %s: %w", flag, name, err)))
		}
	}
	return reference, exit.Worst(errs...)
}

// addReference adds what a name stands for: a file, a folder, a suite, a selector, a LoadTest or a kept Report.
func (b baselines) addReference(ctx context.Context, name string, reference *suite.Reference) error {
	if isFile(name) {
		if err := sidebyside.AddBaselineDocuments(b.stdin, name, reference); err != nil {
			return exit.BadInput("%w", err)
		}
		return nil
	}
	if isSelector(name) {
		records, err := b.selected(ctx, name)
		for _, r := range records {
			reference.Reports = append(reference.Reports, analysis.KeptReport{Report: r.Report})
		}
		return err
	}
	kind, bare, err := splitKind(name)
	if err != nil {
		return err
	}
	if kind != v1alpha1.LoadTestKind {
		s, err := b.getSuite(ctx, bare)
		if err == nil {
			return b.addSuite(ctx, s, reference)
		}
		if kind == v1alpha1.LoadTestSuiteKind {
			return err
		}
	}
	document, test, err := b.ofName(ctx, bare)
	if err != nil {
		return err
	}
	reference.Reports = append(reference.Reports, analysis.KeptReport{Report: withoutFigures(test, document)})
	return nil
}

// isFile distinguishes a file or folder from an object of the cluster. A file exists, or its name is written
// like a path.
func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil || name == "-" || strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".json") ||
		strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/")
}

// addSuite adds the cells of a suite that is complete.
func (b baselines) addSuite(ctx context.Context, s *v1alpha1.LoadTestSuite, reference *suite.Reference) error {
	if endOf(s) == nil {
		return exit.BadInput("suite %s isn't over: kubectl linerate watch suite/%s -n %s follows it to its end", s.Name,
			s.Name, s.Namespace)
	}
	runs, err := b.runsOf(ctx, s)
	if err != nil {
		return err
	}
	reference.Cells = append(reference.Cells, suite.ReferenceOf(suite.Expand(s.DeepCopy()), runs).Cells...)
	return nil
}

// ofSpec reads what a LoadTest's own spec compares with.
func (b baselines) ofSpec(ctx context.Context, spec *v1alpha1.BaselineSpec) (*suite.Reference, error) {
	if spec.LoadTest != "" {
		test, err := b.get(ctx, spec.LoadTest)
		if err != nil {
			return nil, err
		}
		document, err := b.ofTest(ctx, test)
		if err != nil {
			return nil, err
		}
		return &suite.Reference{
			Kind: v1alpha1.LoadTestKind, Name: spec.LoadTest,
			Reports: []analysis.KeptReport{{Report: withoutFigures(test, document)}},
		}, nil
	}
	reference := &suite.Reference{Kind: "Report"}
	var names []string
	for _, r := range spec.Reports {
		document, err := b.ofConfigMap(ctx, r)
		if err != nil {
			return nil, err
		}
		names = append(names, r.ConfigMap)
		reference.Reports = append(reference.Reports, analysis.KeptReport{Report: document})
	}
	reference.Name = strings.Join(names, ", ")
	return reference, nil
}

// ofConfigMap reads the Report in a ConfigMap, and checks the digest that the spec demands. A Report whose test
// publishes no figures has none.
func (b baselines) ofConfigMap(ctx context.Context, ref v1alpha1.ReportRef) (*report.Report, error) {
	object := &corev1.ConfigMap{}
	if err := b.client.Get(ctx, b.key(ref.ConfigMap), object); err != nil {
		return nil, b.explainRead(b.key(ref.ConfigMap), err)
	}
	document, digest, err := decodedReport(object)
	switch {
	case err != nil:
		return nil, err
	case ref.Digest != "" && ref.Digest != digest:
		return nil, exit.BadInput("spec.baseline: ConfigMap %s in namespace %s holds Report %s, and %s is asked for",
			ref.ConfigMap, b.namespace, digest, ref.Digest)
	}
	test := &v1alpha1.LoadTest{}
	owner := metav1.GetControllerOf(object)
	owned := owner != nil && owner.Kind == v1alpha1.LoadTestKind // else it is kept beyond its test
	if owned {
		test, err = b.get(ctx, owner.Name)
	}
	switch {
	case !owned || isAbsent(err) || err == nil && test.UID != owner.UID:
		return document, b.requireProof(ref, digest, object)
	case err != nil:
		return nil, err
	case test.Status.Report != nil && test.Status.Report.Digest != digest:
		return nil, exit.NotMeasured("spec.baseline: ConfigMap %s in namespace %s holds Report %s, and LoadTest %s "+
			"was judged by %s: somebody replaced it",
			ref.ConfigMap, b.namespace, digest, test.Name, test.Status.Report.Digest)
	}
	return withoutFigures(test, document), nil
}

// requireProof refuses a Report without a test that nothing proves to be the one that was measured. Whoever edits the
// namespace may make ConfigMaps there.
func (b baselines) requireProof(ref v1alpha1.ReportRef, digest string, object *corev1.ConfigMap) error {
	if ref.Digest != "" || manifests.IsKept(object) {
		return nil
	}
	return exit.BadInput("spec.baseline: nothing proves where ConfigMap %s in namespace %s is from: its name doesn't "+
		"match its digest; add digest: %s if it is the one that you mean",
		ref.ConfigMap, b.namespace, digest)
}
