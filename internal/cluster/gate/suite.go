package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// Options are what a gate is asked for beyond its files.
type Options struct {
	// Namespace is that of LoadTests and suites that name none.
	Namespace string
	// Images replace images of the files, and BaselineImages those of the baseline, which is then measured in turns
	// with the candidate.
	Images, BaselineImages []Image
	// Runs is how often a LoadTest is measured. 0 means DefaultRuns where it is compared with something, else
	// once. A suite's spec says it itself.
	Runs int
	// MaxRegression adds a criterion to each suite. Empty means none.
	MaxRegression string
	// MaxWorkRegression is that criterion's maxWorkRegression. Empty means none.
	MaxWorkRegression string
	// Baseline says that there is a baseline from outside of the files.
	Baseline bool
	// Anchor says that there is also an anchor, an earlier baseline that doesn't move.
	Anchor bool
	// AllowDifferent names the parts of the environment that may differ from the baseline's, beside those that the
	// files name.
	AllowDifferent []string
	// Witness is what is measured beside a search, or in place of it, by a name in Witnesses. Empty means nothing.
	Witness string
	// Suffix ends the suites' names. Empty means that they end with letters of a digest of what is measured.
	Suffix string
}

const (
	// DefaultRuns is the smallest number of runs of each side that shows a difference even if one pair of runs
	// contradicts it.
	DefaultRuns = 5
	// MaxRuns is how many runs a suite may have of each cell.
	MaxRuns = 100
	// defaultTTL is how long a gate's suites are kept if the file doesn't say.
	defaultTTL = "168h"
	// addedCriterion is the name of the criterion that Options.MaxRegression adds.
	addedCriterion = "no-slower"
	// The axis of a LoadTest whose baseline is another image.
	releaseAxis, baselineValue, candidateValue = "release", "baseline", "candidate"
)

// Subject is one thing that a gate measures, as a suite that is to be created.
type Subject struct {
	// Name is what its file calls it.
	Name   string
	Suite  *v1alpha1.LoadTestSuite
	Matrix *suite.Matrix
	// Test says that it was made of a LoadTest.
	Test bool
	// Witness says that it measures what comes back of an overload, while another subject of this Name searches
	// for the limit of the same device.
	Witness bool
	// Baseline is what a LoadTest's own spec compares with.
	Baseline *v1alpha1.BaselineSpec
	// Bound is how long it may take at most.
	Bound time.Duration
}

// Prepare makes the suites from the objects of files. Its error names all that is wrong with any of them.
func Prepare(server *admission.Server, objects []admission.Object, o Options) ([]*Subject, error) {
	var subjects []*Subject
	var wrong []error
	images := &replacer{images: o.Images}
	baseline := &replacer{images: o.BaselineImages, fallback: images} // in everything else the two sides are the same
	for _, object := range objects {
		found, err := prepareAll(server, object, o, images, baseline)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: %w", object.File, object.Meta().Name, err))
			continue
		}
		subjects = append(subjects, found...)
	}
	wrong = append(wrong, images.unused("--image"), baseline.unused("--baseline-image"), distinct(subjects))
	return subjects, errors.Join(wrong...)
}

// prepareAll makes an object's subject, and its witness where one is asked for.
func prepareAll(server *admission.Server, object admission.Object, o Options,
	images, baseline *replacer) ([]*Subject, error) {
	s, err := prepare(server, object, o, images, baseline)
	if err != nil || o.Witness == "" {
		return []*Subject{s}, err
	}
	content, err := contentOf(object, o, images, baseline)
	if err != nil {
		return nil, err
	}
	w, err := s.witness(server, content, object, o.Suffix)
	switch {
	case err != nil:
		return nil, err
	case o.Witness == WitnessOverloadAlone:
		return []*Subject{w}, nil
	}
	return []*Subject{s, w}, nil
}

// contentOf is the suite that an object becomes, as an API server is given it.
func contentOf(object admission.Object, o Options, images, baseline *replacer) (map[string]any, error) {
	if object.LoadTest != nil {
		return contentOfTest(object, o, images, baseline)
	}
	return contentOfSuite(object, o, images)
}

func prepare(server *admission.Server, object admission.Object, o Options,
	images, baseline *replacer) (*Subject, error) {
	s := &Subject{Test: object.LoadTest != nil}
	if s.Test {
		s.Baseline = object.LoadTest.Spec.Baseline
	}
	content, err := contentOf(object, o, images, baseline)
	if err != nil {
		return nil, err
	}
	admitted, faults := server.Admit(content)
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	s.Suite = admitted.Suite
	if err := cmp.Or(s.check(o), s.checkAllowDifferent(o)); err != nil {
		return nil, err
	}
	s.Name = setName(s.Suite, object.Meta(), o.Suffix)
	s.Matrix = suite.Expand(s.Suite)
	if wrong := s.Matrix.Check(suite.JudgeWith(server, suite.InCluster)); len(wrong) > 0 {
		return nil, wrong
	}
	s.Bound = s.bound(server)
	return s, nil
}

// The errors of objects that a gate can't measure as they are.
var (
	errHalted       = errors.New("a gate can't measure a suite with spec.stop or spec.suspend: remove them")
	errTwoBaselines = errors.New("both spec.baseline and --baseline name a baseline: leave one of them out")
)

// contentOfTest is a suite that measures one LoadTest, or the same with two images in turns.
func contentOfTest(object admission.Object, o Options, images, baseline *replacer) (map[string]any, error) {
	test := object.LoadTest
	switch {
	case test.Spec.Stop || test.Spec.Suspend:
		return nil, errHalted
	case test.Spec.Baseline != nil && o.Baseline:
		return nil, errTwoBaselines
	}
	spec, err := asMap(test.Spec)
	if err != nil {
		return nil, err
	}
	criteria, _ := spec["criteria"].([]any)
	ttl, _ := spec["ttlAfterFinished"].(string)
	for _, key := range []string{"criteria", "baseline", "ttlAfterFinished", "suspend", "stop"} { // the suite's to say
		delete(spec, key)
	}
	candidate := images.replaced(spec)
	criteria = withCriterion(criteria, o, compile.ThroughputOf(string(test.Spec.Traffic.Type)))
	suiteSpec := map[string]any{
		"template": map[string]any{"metadata": templateMetadata(&test.ObjectMeta), "spec": candidate},
		"criteria": criteria, "repetitions": int64(runsOf(o.Runs, criteria)), "ttlAfterFinished": cmp.Or(ttl,
			defaultTTL),
	}
	if len(o.BaselineImages) > 0 {
		if test.Spec.Baseline != nil || o.Baseline {
			return nil, errors.New("--baseline-image measures a baseline, and there is another " +
				"one: leave out spec.baseline and --baseline, or --baseline-image")
		}
		patch := mergePatch(candidate, baseline.replaced(spec))
		suiteSpec["axes"] = []any{map[string]any{"name": releaseAxis, "values": []any{
			map[string]any{"name": baselineValue, "patch": patch}, map[string]any{"name": candidateValue}}}}
		suiteSpec["baseline"] = withAllowDifferent(map[string]any{"axis": releaseAxis, "value": baselineValue},
			o.AllowDifferent)
	}
	return suiteObject(object.Meta(), o.Namespace, suiteSpec), nil
}

// templateMetadata are a LoadTest's labels and annotations, with a label that keeps its row in tables the same
// whatever suite measures it.
func templateMetadata(meta *metav1.ObjectMeta) map[string]any {
	labels := map[string]any{v1alpha1.LabelProduct: meta.Name}
	for k, v := range meta.Labels {
		labels[k] = v
	}
	metadata := map[string]any{"labels": labels}
	if len(meta.Annotations) > 0 {
		metadata["annotations"] = texts(meta.Annotations)
	}
	return metadata
}

// contentOfSuite is a suite of a file with the images replaced.
func contentOfSuite(object admission.Object, o Options, images *replacer) (map[string]any, error) {
	switch s := object.Suite; {
	case o.Runs != 0:
		return nil, errors.New("--runs is for LoadTests: write spec.repetitions into the " +
			"LoadTestSuite")
	case len(o.BaselineImages) > 0:
		return nil, errors.New("--baseline-image is for LoadTests: give the LoadTestSuite an " +
			"axis whose values patch the image, and name one of them in spec.baseline")
	case s.Spec.Baseline != nil && o.Baseline:
		return nil, errTwoBaselines
	case s.Spec.Stop || s.Spec.Suspend:
		return nil, errHalted
	}
	spec, err := asMap(object.Suite.Spec)
	if err != nil {
		return nil, err
	}
	spec = images.replaced(spec)
	criteria, _ := spec["criteria"].([]any)
	metric, err := comparedBy(suite.Expand(object.Suite))
	if err != nil && o.MaxRegression != "" {
		return nil, err
	}
	spec["criteria"] = withCriterion(criteria, o, metric)
	if b, compares := spec["baseline"].(map[string]any); compares {
		spec["baseline"] = withAllowDifferent(b, o.AllowDifferent)
	}
	if _, isSet := spec["ttlAfterFinished"]; !isSet {
		spec["ttlAfterFinished"] = defaultTTL
	}
	return suiteObject(object.Meta(), o.Namespace, spec), nil
}

// suiteObject is the suite as an API server gets it, except for the end of its name.
func suiteObject(meta *metav1.ObjectMeta, namespace string, spec map[string]any) map[string]any {
	metadata := map[string]any{"name": placeholder, "namespace": cmp.Or(meta.Namespace, namespace)}
	if len(meta.Labels) > 0 {
		metadata["labels"] = texts(meta.Labels)
	}
	return map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.LoadTestSuiteKind,
		"metadata": metadata, "spec": spec}
}

func texts(values map[string]string) map[string]any {
	copied := map[string]any{}
	for k, v := range values {
		copied[k] = v
	}
	return copied
}

func asMap(values any) (map[string]any, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	copied := map[string]any{}
	return copied, intake.DecodeBy(utiljson.Unmarshal, text, &copied, limits) // whole numbers stay whole
}

// comparedBy is the metric that all cells of a suite are compared by. A suite with both cells of frames and
// cells of sessions has none, and the criterion that is added has one metric only.
func comparedBy(m *suite.Matrix) (v1alpha1.Metric, error) {
	first := map[v1alpha1.Metric]string{} // the first cell of each
	var metrics []v1alpha1.Metric
	for i, cell := range m.Cells {
		metric := compile.ThroughputOf(m.Traffic(i))
		if _, counted := first[metric]; !counted {
			first[metric], metrics = cell.Name, append(metrics, metric)
		}
	}
	switch len(metrics) {
	case 0:
		return compile.ThroughputOf(""), nil // no cells, which the suite's check refuses
	case 1:
		return metrics[0], nil
	}
	return "", fmt.Errorf("cell %s is compared by %s and cell %s by %s, but --max-regression adds a criterion of one "+
		"metric: write a LoadTestSuite for each", first[metrics[0]], metrics[0], first[metrics[1]], metrics[1])
}

// withCriterion adds the criterion that the command line asks for, of the metric that the tests are compared by.
func withCriterion(criteria []any, o Options, metric v1alpha1.Metric) []any {
	if o.MaxRegression == "" {
		return criteria
	}
	added := map[string]any{"name": addedCriterion, "metric": string(metric), "maxRegression": o.MaxRegression}
	if o.MaxWorkRegression != "" {
		added["maxWorkRegression"] = o.MaxWorkRegression
	}
	return append(slices.Clone(criteria), added)
}

// withAllowDifferent is a suite's baseline, of whose environment what the command line names may differ, too.
func withAllowDifferent(baseline map[string]any, parts []string) map[string]any {
	allowed, _ := baseline["allowedDifferences"].([]any)
	for _, part := range parts {
		if !slices.Contains(allowed, any(part)) {
			allowed = append(allowed, part)
		}
	}
	if len(allowed) > 0 {
		baseline["allowedDifferences"] = allowed
	}
	return baseline
}

// runsOf is how often a LoadTest is measured. A single run shows no difference, unless the criterion assumes a spread.
func runsOf(asked int, criteria []any) int {
	if asked != 0 {
		return asked
	}
	for _, c := range criteria {
		c, _ := c.(map[string]any)
		if _, compares := c["maxRegression"]; compares && c["assumedSpread"] == nil {
			return DefaultRuns
		}
	}
	return 1
}

// distinct refuses two suites of the same name, since the second would be taken for the first.
func distinct(subjects []*Subject) error {
	names := map[string]bool{}
	for _, s := range subjects {
		key := s.Suite.Namespace + "/" + s.Suite.Name
		if names[key] {
			return fmt.Errorf("two of the files' objects would both be LoadTestSuite %s: give them other names",
				s.Suite.Name)
		}
		names[key] = true
	}
	return nil
}

// limits are what a test's spec takes once it is decoded, at the most.
var limits = intake.Limits{Bytes: 4 << 20, Memory: 64 << 20}
