package tenants

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtestsuite"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// release is a suite that a pipeline made and that waits to be let go, with an operator that has the manager's own rights.
type release struct {
	l      *lab
	suite  *v1alpha1.LoadTestSuite
	r      *loadtestsuite.Reconciler
	events *events.FakeRecorder
	now    time.Time
}

// newRelease makes a suite of two runs as a user, of a device that forwards less than the criterion demands.
func newRelease(l *lab, by client.Client) *release {
	l.t.Helper()
	s := suiteOf(l.t, "template: {spec: "+flow(l.t, external)+"}\nrepetitions: 2\norder: Interleaved\ninvalidRetries: 2\nsuspend: true\n"+
		"criteria: [{name: enough, metric: PacketsPerSecond, direction: Total, min: \"900000\"}]\n")
	s.Namespace, s.Name = l.namespace, "release"
	l.must(by.Create(l.t.Context(), s))
	r := &release{l: l, suite: s, events: events.NewFakeRecorder(100), now: time.Now()}
	var err error
	r.r, err = loadtestsuite.NewReconciler(asAccount(l.t, managerNamespace, managerAccount), r.events, loadtestsuite.Options{Namespace: managerNamespace, Bounds: bounds(l.t), Clock: func() time.Time { return r.now }})
	l.must(err)
	return r
}

// look lets the operator look at the suite until it has said and done what is to be, half a minute later.
func (r *release) look() {
	r.l.t.Helper()
	for _, later := range []time.Duration{0, 31 * time.Second} {
		r.now = r.now.Add(later)
		for range 10 {
			_, err := r.r.Reconcile(r.l.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(r.suite)})
			r.l.must(err)
		}
	}
	r.l.must(admin.Get(r.l.t.Context(), client.ObjectKeyFromObject(r.suite), r.suite))
}

// suspend holds the suite, or lets it go.
func (r *release) suspend(by client.Client, value bool) {
	r.l.t.Helper()
	patch := `{"spec":{"suspend":false}}`
	if value {
		patch = `{"spec":{"suspend":true}}`
	}
	r.l.must(by.Patch(r.l.t.Context(), r.suite.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))))
}

// owner is the suite as the controller of a LoadTest.
func (r *release) owner() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestSuiteKind, Name: r.suite.Name, UID: r.suite.UID, Controller: new(true)}
}

// planted is a LoadTest of another device that has the name, the owner and the labels of a run of the suite's.
func (r *release) planted(name string) *v1alpha1.LoadTest {
	r.l.t.Helper()
	test := written(r.l.t, name, strings.ReplaceAll(external, "trex.lab:4501", "fast.lab:4501"))
	test.Namespace, test.OwnerReferences = r.l.namespace, []metav1.OwnerReference{r.owner()}
	test.Labels = map[string]string{v1alpha1.LabelSuite: r.suite.Name, v1alpha1.LabelSuiteUID: string(r.suite.UID)}
	return test
}

// measure carries a LoadTest to its end, at so many times what its device carries.
func (r *release) measure(name string, times int64) {
	r.l.t.Helper()
	run := r.l.runOf(r.l.operate(name))
	document := run.measured()
	for i := range document.Answer.Directions {
		d := &document.Answer.Directions[i]
		d.Intended.PacketsPerSecond *= times
		d.Offered.PacketsPerSecond *= times
		d.Received.PacketsPerSecond *= times
	}
	document.Answer.Total.Intended.PacketsPerSecond *= times
	document.Answer.Total.Offered.PacketsPerSecond *= times
	document.Answer.Total.Received.PacketsPerSecond *= times
	run.write(document)
	test := r.l.operate(name)
	if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete); c == nil || c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonMeasured {
		r.l.t.Fatalf("%s should be measured: %+v", name, test.Status.Conditions)
	}
}

// tests are the names of the LoadTests that the suite owns.
func (r *release) tests() map[string]bool {
	r.l.t.Helper()
	var list v1alpha1.LoadTestList
	r.l.must(admin.List(r.l.t.Context(), &list, client.InNamespace(r.l.namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(r.suite.UID)}))
	names := map[string]bool{}
	for _, t := range list.Items {
		names[t.Name] = true
	}
	return names
}

// told is the suite's status as a person would read it.
func (r *release) told() string {
	r.l.t.Helper()
	text, err := yaml.Marshal(r.suite.Status)
	r.l.must(err)
	return string(text)
}

// A pipeline may make suites and LoadTests, and an editor of the namespace may change them, too: neither makes a LoadTest that counts as a suite's run.
func TestRunsCannotBePlantedInASuite(t *testing.T) {
	l := newLab(t)
	all := l.forgers()
	editor, pipeline := all[0].client, all[1].client
	r := newRelease(l, pipeline)
	l.await("the policy of suites", func() bool {
		return apierrors.IsForbidden(editor.Create(t.Context(), r.planted("release-test-r1"), client.DryRunAll))
	})

	const ofOwner, ofLabel = "the LoadTests of a LoadTestSuite are made by linerate's operator", "the labels linerate.dev/suite and linerate.dev/suite-uid say"
	t.Run("makes none", func(t *testing.T) {
		for name, c := range map[string]struct {
			change func(*v1alpha1.LoadTest)
			says   string
		}{
			"as the operator would":   {func(*v1alpha1.LoadTest) {}, ofOwner},
			"without labels":          {func(test *v1alpha1.LoadTest) { test.Labels = nil }, ofOwner},
			"whose owner isn't alone": {func(test *v1alpha1.LoadTest) { test.Labels = nil; test.OwnerReferences[0].Controller = nil }, ofOwner},
			"of another version": {func(test *v1alpha1.LoadTest) {
				test.Labels = nil
				test.OwnerReferences[0].APIVersion = "linerate.dev/v1"
			}, ofOwner},
			"of another group": {func(test *v1alpha1.LoadTest) {
				test.Labels = nil
				test.OwnerReferences[0].APIVersion = "forged.example/v1"
			}, ofOwner},
			"of the server's naming": {func(test *v1alpha1.LoadTest) { test.Name, test.GenerateName = "", "release-test-r" }, ofOwner},
			"by the suite's label":   {func(test *v1alpha1.LoadTest) { test.OwnerReferences = nil; delete(test.Labels, v1alpha1.LabelSuiteUID) }, ofLabel},
			"by its UID's label":     {func(test *v1alpha1.LoadTest) { test.OwnerReferences = nil; delete(test.Labels, v1alpha1.LabelSuite) }, ofLabel},
			"of a suite of last night": {func(test *v1alpha1.LoadTest) {
				test.OwnerReferences, test.Labels = nil, map[string]string{v1alpha1.LabelSuite: "night"}
			}, ofLabel},
		} {
			for who, forger := range map[string]client.Client{"an editor": editor, "a pipeline": pipeline} {
				t.Run(who+", "+name, func(t *testing.T) {
					test := r.planted("release-test-r1")
					c.change(test)
					answers(t, forger.Create(t.Context(), test), c.says)
				})
			}
		}
	})
	patched := func(by client.Client, test *v1alpha1.LoadTest, patch string) error {
		return by.Patch(t.Context(), test.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	ownerPatch := func(changes ...func(*metav1.OwnerReference)) string {
		owner := r.owner()
		for _, change := range changes {
			change(&owner)
		}
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": []metav1.OwnerReference{owner}}})
		l.must(err)
		return string(text)
	}
	t.Run("makes none of a LoadTest of their own", func(t *testing.T) {
		l := &lab{t: t, namespace: l.namespace}
		own := written(t, "own", external)
		own.Namespace = l.namespace
		l.must(editor.Create(t.Context(), own))
		answers(t, patched(editor, own, ownerPatch()), ofOwner)
		answers(t, patched(editor, own, `{"metadata":{"labels":{"linerate.dev/suite":"release"}}}`), ofLabel)
		answers(t, patched(editor, own, `{"metadata":{"labels":{"linerate.dev/suite-uid":"`+string(r.suite.UID)+`"}}}`), ofLabel)
		allowed(t, patched(editor, own, `{"metadata":{"labels":{"linerate.dev/product":"VPP","team":"a"},"annotations":{"seen":"yes"}}}`))
		allowed(t, patched(editor, own, ownerPatch(func(o *metav1.OwnerReference) { o.Kind = "ConfigMap" }))) // an owner of the suite's name and UID that is no suite
		answers(t, patched(editor, own, ownerPatch()), ofOwner)
	})
	t.Run("and the operator makes the suite's, of which others change what is theirs", func(t *testing.T) {
		l := &lab{t: t, namespace: l.namespace}
		r.suspend(pipeline, false)
		r.look()
		if !r.tests()["release-test-r1"] {
			t.Fatalf("it made %v:\n%s", r.tests(), r.told())
		}
		first := &v1alpha1.LoadTest{}
		l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "release-test-r1"}, first))
		allowed(t, patched(editor, first, `{"metadata":{"labels":{"team":"a"},"annotations":{"seen":"yes"}}}`))
		allowed(t, patched(editor, first, `{"spec":{"podRetention":"OnFailure"}}`))
		answers(t, patched(editor, first, `{"metadata":{"labels":{"linerate.dev/suite":"another"}}}`), ofLabel)
		for what, change := range map[string]func(*metav1.OwnerReference){
			"name":       func(o *metav1.OwnerReference) { o.Name = "another" },
			"UID":        func(o *metav1.OwnerReference) { o.UID = "7c9e6679-7425-40de-944b-e07fc1f90ae7" },
			"version":    func(o *metav1.OwnerReference) { o.APIVersion = "linerate.dev/v1" },
			"controller": func(o *metav1.OwnerReference) { o.Controller = nil },
		} {
			t.Log("the owner's", what)
			answers(t, patched(editor, first, ownerPatch(change)), ofOwner)
		}
		again := &v1alpha1.LoadTest{}
		l.must(editor.Get(t.Context(), client.ObjectKeyFromObject(first), again))
		again.Labels["team"] = "b"
		allowed(t, editor.Update(t.Context(), again)) // as a tool does that writes all of it, with owners and labels as they were
		collector := asAccount(t, "kube-system", "generic-garbage-collector")
		waits := strings.Replace(ownerPatch(), `"controller":true`, `"blockOwnerDeletion":false,"controller":true`, 1)
		allowed(t, patched(collector, first, waits))
		allowed(t, patched(collector, first, `{"metadata":{"ownerReferences":null}}`)) // the suite goes, and its tests stay
		answers(t, patched(editor, first, ownerPatch()), ofOwner)
		allowed(t, patched(editor, first, `{"metadata":{"labels":{"linerate.dev/suite":null,"linerate.dev/suite-uid":null}}}`))
		allowed(t, editor.Delete(t.Context(), first))
	})
	t.Run("and what is there already is applied again as it is", func(t *testing.T) {
		l := &lab{t: t, namespace: l.namespace}
		old := r.planted("old")
		old.OwnerReferences = nil
		l.must(admin.Create(t.Context(), old)) // as before there was a policy
		applied := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.LoadTestKind,
			"metadata": map[string]any{"name": "old", "namespace": l.namespace, "labels": map[string]any{v1alpha1.LabelSuite: "release", "team": "b"}},
		}}
		allowed(t, editor.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("argocd"), client.ForceOwnership))
		allowed(t, editor.Delete(t.Context(), old))
	})
}

// Where the policy isn't, a pipeline puts LoadTests of a faster device under the names and the UID of a suite that waits. They are measured, and count for nothing: the
// suite makes another try, as far as it may, and says why.
func TestAPlantedRunDoesNotCount(t *testing.T) {
	l := newLab(t)
	pipeline := l.forgers()[1].client
	r := newRelease(l, pipeline)
	l.bindPolicy("suites", false)
	defer l.bindPolicy("suites", true)
	l.await("the policy of suites to go", func() bool {
		return pipeline.Create(t.Context(), r.planted("release-test-r1"), client.DryRunAll) == nil
	})
	for _, name := range []string{"release-test-r1", "release-test-r2", "release-test-r2t2"} {
		l.must(pipeline.Create(t.Context(), r.planted(name)))
		r.measure(name, 3)
	}
	stray := r.planted("release-test-r1t2") // with the suite's UID, and of another kind
	stray.OwnerReferences[0].Kind, stray.OwnerReferences[0].APIVersion = "ConfigMap", "v1"
	l.must(pipeline.Create(t.Context(), stray))
	r.suspend(pipeline, false)
	r.look()
	if c := r.suite.Status.Counts; c.Measured != 0 {
		t.Fatalf("nothing was measured of what it asks for, and its status says\n%s", r.told())
	}
	l.must(admin.Delete(t.Context(), stray)) // as the suite's message says
	r.now = r.now.Add(10 * time.Minute)
	r.look()
	if !r.tests()["release-test-r1t2"] {
		t.Fatalf("another try was to be made of what was planted, and there are %v:\n%s", r.tests(), r.told())
	}
	r.measure("release-test-r1t2", 1)
	r.look()
	row := v1alpha1.SuiteRow{}
	if len(r.suite.Status.Table) == 1 {
		row = r.suite.Status.Table[0]
	}
	const why = "(SpecDiffers): spec.generator.placement.servers[0].address isn't as in template and patches, so the test doesn't count"
	if c := r.suite.Status.Counts; c.Measured != 1 || c.NotMeasured != 1 || row.Runs != 1 || row.PacketsPerSecond != 654_400 || !strings.Contains(row.Message, why) ||
		meta.IsStatusConditionTrue(r.suite.Status.Conditions, v1alpha1.ConditionPassed) {
		t.Errorf("one run of 654400 packets/s was to count, and the status says\n%s", r.told())
	}
	told := 0
	for len(r.events.Events) > 0 {
		if strings.HasPrefix(<-r.events.Events, "Warning SpecDiffers LoadTest release-test-r") {
			told++
		}
	}
	if told != 3 {
		t.Errorf("%d events report three planted runs", told)
	}
}

// What the operator makes for a suite is, as an API server keeps it with all defaults, what the suite makes: each sample as a suite of one cell, and each sample of a suite.
func TestWhatIsMadeForASuiteIsItsOwn(t *testing.T) {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t)
	l.setPolicy(false) // in the samples, lab is the test's own namespace
	defer l.setPolicy(true)
	compared := 0
	own := func(t *testing.T, s *v1alpha1.LoadTestSuite) {
		t.Helper()
		l := &lab{t: t, namespace: l.namespace}
		s.Namespace, s.UID = l.namespace, "2e5b1c3d"
		m := suite.Expand(s)
		for cell := range m.Cells {
			content, err := m.Content(cell, 1, 1)
			l.must(err)
			made := &unstructured.Unstructured{Object: content}
			l.must(admin.Create(t.Context(), made, client.DryRunAll))
			test := &v1alpha1.LoadTest{}
			l.must(runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, test))
			field, err := m.DiffersIn(server, suite.Wanted{Name: test.Name, Cell: cell, Repetition: 1, Try: 1}, test)
			if err != nil || field != "" {
				t.Errorf("%s: %s differs (%v)", test.Name, field, err)
			}
			compared++
		}
	}
	for _, pattern := range []string{"../../../config/samples/*.yaml", "../../../config/samples/suites/*.yaml", "../../../examples/suites/*.yaml"} {
		files, err := filepath.Glob(pattern)
		l.must(err)
		for _, file := range files {
			objects, err := server.LoadFile(nil, file)
			l.must(err)
			for _, object := range objects {
				t.Run(object.Meta().Name, func(t *testing.T) {
					if object.Suite != nil {
						own(t, object.Suite)
						return
					}
					own(t, oneCell(t, file, object.LoadTest))
				})
			}
		}
	}
	if compared < 40 {
		t.Errorf("%d LoadTests were compared", compared)
	}
}

// oneCell is a suite whose template is a sample as it is written.
func oneCell(t *testing.T, file string, test *v1alpha1.LoadTest) *v1alpha1.LoadTestSuite {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var spec map[string]any
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var as struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Spec     map[string]any    `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &as); err != nil {
			t.Fatal(err)
		}
		if as.Metadata.Name == test.Name || as.Metadata.GenerateName != "" && as.Metadata.GenerateName+admission.GeneratedSuffix == test.Name {
			spec = as.Spec
		}
	}
	if spec == nil {
		t.Fatalf("%s has no %s", file, test.Name)
	}
	for _, own := range []string{"suspend", "stop", "ttlAfterFinished"} { // the suite's to say
		delete(spec, own)
	}
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	content, err := yaml.Marshal(map[string]any{"template": map[string]any{"spec": spec}, "repetitions": 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, &s.Spec); err != nil {
		t.Fatal(err)
	}
	return s
}
