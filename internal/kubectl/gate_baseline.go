package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/analysis"
	"github.com/linerate-dev/linerate/internal/gate"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/suite"
)

// references are what suites are compared with beside themselves: what the command line names, or what a LoadTest's own spec does. They are read before
// anything is measured.
type references struct {
	named *gate.Reference
	own   map[*gate.Subject]*gate.Reference
}

func (r *references) of(s *gate.Subject) suite.Elsewhere {
	switch own := r.own[s]; {
	case s.Suite.Spec.Baseline != nil:
		return nil
	case own != nil:
		return own.Elsewhere
	case r.named != nil:
		return r.named.Elsewhere
	}
	return nil
}

// references reads them all; what is wrong with any comes at once.
func (c *cluster) references(ctx context.Context, o Options, names []string, subjects []*gate.Subject) (*references, error) {
	out := &references{own: map[*gate.Subject]*gate.Reference{}}
	var wrong []error
	if len(names) > 0 {
		out.named = &gate.Reference{Kind: "File", Name: strings.Join(names, ", ")}
		for _, name := range names {
			if err := c.addReference(ctx, o, name, out.named); err != nil {
				wrong = append(wrong, &codeError{codeOf(err), fmt.Errorf("--baseline %s: %w", name, err)})
			}
		}
	}
	for _, s := range subjects {
		if s.Baseline == nil || len(names) > 0 {
			continue
		}
		own, err := c.ownReference(ctx, s.Baseline)
		out.own[s] = own
		wrong = append(wrong, err)
	}
	return out, worst(wrong...)
}

// addReference adds what a name stands for: a file, a folder, a suite, a selector, a LoadTest or a Report that was kept.
func (c *cluster) addReference(ctx context.Context, o Options, name string, to *gate.Reference) error {
	at, err := os.Stat(name)
	switch {
	case err == nil && at.IsDir():
		return addFolder(name, to)
	case err == nil:
		return addFile(name, to)
	case strings.HasSuffix(name, ".json") || strings.HasPrefix(name, "."):
		return badInput("%w", err)
	case isSelector(name):
		records, err := c.selected(ctx, name)
		for _, r := range records {
			to.Runs = append(to.Runs, gate.ReferenceRun{Kept: analysis.Kept{Report: r.Report}})
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
	to.Runs = append(to.Runs, gate.ReferenceRun{Kept: analysis.Kept{Report: unpublished(test, r)}})
	return nil
}

func (c *cluster) addSuite(ctx context.Context, s *v1alpha1.LoadTestSuite, to *gate.Reference) error {
	if endOf(s) == nil {
		return badInput("suite %s isn't over: kubectl linerate watch suite/%s -n %s follows it to its end", s.Name, s.Name, s.Namespace)
	}
	runs, err := c.storedRuns(ctx, s)
	if err != nil {
		return err
	}
	to.AddSuite(suite.Expand(s.DeepCopy()), runs)
	return nil
}

// ownReference is what a LoadTest's own spec compares with.
func (c *cluster) ownReference(ctx context.Context, b *v1alpha1.BaselineSpec) (*gate.Reference, error) {
	if b.LoadTest != "" {
		test, err := c.get(ctx, b.LoadTest)
		if err != nil {
			return nil, err
		}
		r, err := c.report(ctx, test)
		if err != nil {
			return nil, err
		}
		return &gate.Reference{Kind: v1alpha1.LoadTestKind, Name: b.LoadTest, Runs: []gate.ReferenceRun{{Kept: analysis.Kept{Report: unpublished(test, r)}}}}, nil
	}
	out := &gate.Reference{Kind: "Report"}
	var names []string
	for _, ref := range b.Reports {
		r, err := c.reportIn(ctx, ref)
		if err != nil {
			return nil, err
		}
		names = append(names, ref.ConfigMap)
		out.Runs = append(out.Runs, gate.ReferenceRun{Kept: analysis.Kept{Report: r}})
	}
	out.Name = strings.Join(names, ", ")
	return out, nil
}

// reportIn reads a Report that is kept in a ConfigMap, and holds it against the digest that is asked for.
func (c *cluster) reportIn(ctx context.Context, ref v1alpha1.ReportRef) (*report.Report, error) {
	object := &corev1.ConfigMap{}
	if err := c.client.Get(ctx, c.key(ref.ConfigMap), object); err != nil {
		return nil, c.explainReport(c.key(ref.ConfigMap), err)
	}
	r, digest, err := decodedReport(object)
	switch {
	case err != nil:
		return nil, notMeasured("ConfigMap %s in namespace %s: %w: it isn't what the runner wrote", ref.ConfigMap, c.namespace, err)
	case ref.Digest != "" && ref.Digest != digest:
		return nil, badInput("spec.baseline: ConfigMap %s in namespace %s holds Report %s, and %s is asked for", ref.ConfigMap, c.namespace, digest, ref.Digest)
	}
	return r, nil
}

func addFolder(path string, to *gate.Reference) error {
	before := len(to.Runs)
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".json") {
			return err
		}
		return addFile(file, to)
	})
	if err == nil && len(to.Runs) == before {
		err = errors.New("it holds no Report: kubectl linerate report NAME -o json, or linerate run --save, writes such files")
	}
	if err != nil {
		return badInput("%w", err)
	}
	return nil
}

// addFile adds the Reports of a file.
func addFile(name string, to *gate.Reference) error {
	f, err := os.Open(name)
	if err != nil {
		return badInput("%w", err)
	}
	defer func() { _ = f.Close() }()
	reports, err := report.Read(f)
	if err != nil {
		return badInput("%s: %w", name, err)
	}
	for _, r := range reports {
		r.Samples = nil // nothing is compared of them
		to.Runs = append(to.Runs, gate.ReferenceRun{Kept: analysis.Kept{Report: r}})
	}
	return nil
}
