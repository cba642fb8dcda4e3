package kubectl

import (
	"context"
	"fmt"
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

// references are what suites are compared with beside themselves: what the command line names, or what a LoadTest's own spec does. They are read before
// anything is measured.
type references struct {
	named *suite.Reference
	own   map[*gate.Subject]*suite.Reference
	// anchor is what all are compared with besides; nil: nothing.
	anchor *suite.Reference
}

// of is what a suite is compared with; nil: with cells of its own, or nothing.
func (r *references) of(s *gate.Subject) *suite.Reference {
	if own := r.own[s]; own != nil || s.Suite.Spec.Baseline != nil {
		return own
	}
	return r.named
}

// references reads them all; what is wrong with any comes at once.
func (c *cluster) references(ctx context.Context, o Options, names, anchors []string, allow []report.EnvironmentPart, subjects []*gate.Subject) (*references, error) {
	out := &references{own: map[*gate.Subject]*suite.Reference{}}
	var wrong []error
	named := func(flag string, names []string) *suite.Reference {
		if len(names) == 0 {
			return nil
		}
		to := &suite.Reference{Kind: suite.KindFile, Name: strings.Join(names, ", "), AllowDifferent: allow}
		for _, name := range names {
			if err := c.addReference(ctx, o, name, to); err != nil {
				wrong = append(wrong, exit.WithCode(exit.Code(err), fmt.Errorf("%s %s: %w", flag, name, err)))
			}
		}
		return to
	}
	out.named, out.anchor = named("--baseline", names), named("--anchor", anchors)
	for _, s := range subjects {
		var own *suite.Reference
		var err error
		switch b := s.Suite.Spec.Baseline; {
		case b != nil && b.Suite != "":
			own = &suite.Reference{Kind: suite.KindSuite, Name: b.Suite}
			err = c.addSuiteOf(ctx, b.Suite, own)
		case s.Baseline != nil:
			if own, err = c.ownReference(ctx, s.Baseline); own != nil {
				own.AllowDifferent = append(slices.Clone(allow), report.EnvironmentParts(s.Baseline.AllowDifferent)...)
			}
		default:
			continue
		}
		out.own[s], wrong = own, append(wrong, err)
	}
	return out, exit.Worst(wrong...)
}

// addReference adds what a name stands for: a file, a folder, a suite, a selector, a LoadTest or a Report that was kept.
func (c *cluster) addReference(ctx context.Context, o Options, name string, to *suite.Reference) error {
	if isFile(name) {
		if err := sidebyside.AddBaselineDocuments(o.In, name, to); err != nil {
			return exit.BadInput("%w", err)
		}
		return nil
	}
	if isSelector(name) {
		records, err := c.selected(ctx, name)
		for _, r := range records {
			to.Reports = append(to.Reports, analysis.KeptReport{Report: r.Report})
		}
		return err
	}
	kind, bare, err := parted(name)
	if err != nil {
		return err
	}
	if kind != v1alpha1.LoadTestKind {
		s, err := c.getSuite(ctx, bare)
		if err == nil {
			return c.addSuite(ctx, s, to)
		}
		if kind == v1alpha1.LoadTestSuiteKind {
			return err
		}
	}
	r, test, err := c.found(ctx, o.Err, bare)
	if err != nil {
		return err
	}
	to.Reports = append(to.Reports, analysis.KeptReport{Report: withoutFigures(test, r)})
	return nil
}

// isFile tells a file or folder from an object of the cluster: it is there, or it is written like one.
func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil || name == "-" || strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".json") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/")
}

func (c *cluster) addSuite(ctx context.Context, s *v1alpha1.LoadTestSuite, to *suite.Reference) error {
	if endOf(s) == nil {
		return exit.BadInput("suite %s isn't over: kubectl linerate watch suite/%s -n %s follows it to its end", s.Name, s.Name, s.Namespace)
	}
	runs, err := c.storedRuns(ctx, s)
	if err != nil {
		return err
	}
	to.Cells = append(to.Cells, suite.ReferenceOf(suite.Expand(s.DeepCopy()), runs).Cells...)
	return nil
}

func (c *cluster) addSuiteOf(ctx context.Context, name string, to *suite.Reference) error {
	s, err := c.getSuite(ctx, name)
	if err != nil {
		return err
	}
	return c.addSuite(ctx, s, to)
}

// ownReference is what a LoadTest's own spec compares with.
func (c *cluster) ownReference(ctx context.Context, b *v1alpha1.BaselineSpec) (*suite.Reference, error) {
	if b.LoadTest != "" {
		test, err := c.get(ctx, b.LoadTest)
		if err != nil {
			return nil, err
		}
		r, err := c.report(ctx, test)
		if err != nil {
			return nil, err
		}
		return &suite.Reference{Kind: v1alpha1.LoadTestKind, Name: b.LoadTest, Reports: []analysis.KeptReport{{Report: withoutFigures(test, r)}}}, nil
	}
	out := &suite.Reference{Kind: "Report"}
	var names []string
	for _, ref := range b.Reports {
		r, err := c.reportIn(ctx, ref)
		if err != nil {
			return nil, err
		}
		names = append(names, ref.ConfigMap)
		out.Reports = append(out.Reports, analysis.KeptReport{Report: r})
	}
	out.Name = strings.Join(names, ", ")
	return out, nil
}

// reportIn reads a Report in a ConfigMap, and holds it against the digest that is asked for; of a test that publishes no figure it has none.
func (c *cluster) reportIn(ctx context.Context, ref v1alpha1.ReportRef) (*report.Report, error) {
	object := &corev1.ConfigMap{}
	if err := c.client.Get(ctx, c.key(ref.ConfigMap), object); err != nil {
		return nil, c.explainReport(c.key(ref.ConfigMap), err)
	}
	r, digest, err := decodedReport(object)
	switch {
	case err != nil:
		return nil, err
	case ref.Digest != "" && ref.Digest != digest:
		return nil, exit.BadInput("spec.baseline: ConfigMap %s in namespace %s holds Report %s, and %s is asked for", ref.ConfigMap, c.namespace, digest, ref.Digest)
	}
	vouched := ref.Digest != "" || manifests.IsKept(object)
	owner := metav1.GetControllerOf(object)
	if owner == nil || owner.Kind != v1alpha1.LoadTestKind { // it is kept beyond its test
		return r, c.vouched(ref, digest, vouched)
	}
	test, err := c.get(ctx, owner.Name)
	switch {
	case isAbsent(err) || err == nil && test.UID != owner.UID: // it goes with its test
		return r, c.vouched(ref, digest, vouched)
	case err != nil:
		return nil, err
	case test.Status.Report != nil && test.Status.Report.Digest != digest:
		return nil, exit.NotMeasured("spec.baseline: ConfigMap %s in namespace %s holds Report %s, and LoadTest %s was judged by %s: somebody replaced it",
			ref.ConfigMap, c.namespace, digest, test.Name, test.Status.Report.Digest)
	}
	return withoutFigures(test, r), nil
}

// vouched refuses a kept Report that nothing proves to be the one that was measured: whoever edits the namespace may make ConfigMaps there.
func (c *cluster) vouched(ref v1alpha1.ReportRef, digest string, vouched bool) error {
	if vouched {
		return nil
	}
	return exit.BadInput("spec.baseline: nothing proves where ConfigMap %s in namespace %s is from: its name doesn't match its digest; add digest: %s if it is the one that you mean", ref.ConfigMap, c.namespace, digest)
}
