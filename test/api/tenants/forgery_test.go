package tenants

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Verdicts are forged by who may edit the test's namespace: that is a user with the cluster's own role edit, and a pipeline with the role that examples/ci/rbac.yaml
// documents. Both are ServiceAccounts of the lab here, with tokens of the API server's, so that nothing is played but what they try.

// forger is one of them.
type forger struct {
	name   string
	config *rest.Config
	client client.Client
	// edits says that ConfigMaps, Jobs and accounts of the namespace are theirs to write.
	edits bool
}

// forgers are both, in this lab.
func (l *lab) forgers() []*forger {
	l.t.Helper()
	l.must(admin.Create(l.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "editor"}}))
	// The controller that fills the role edit with these isn't here.
	for _, role := range []string{"system:aggregate-to-edit", "system:aggregate-to-view", "loadtest-editor-role"} {
		l.must(admin.Create(l.t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "editor-" + strings.ReplaceAll(role, ":", "-")},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: l.namespace, Name: "editor"}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}))
	}
	l.must(l.applyCI())
	out := []*forger{{name: "editor", edits: true}, {name: "ci-gate"}}
	for _, f := range out {
		f.config = rest.AnonymousClientConfig(adminConfig)
		f.config.BearerToken, f.config.QPS = tokenOf(l.t, l.namespace, f.name, nil), -1
		f.client = l.clientOf(f.config)
		l.await(f.name+"'s rights", func() bool {
			test := written(l.t, "rights", external)
			test.Namespace = l.namespace
			return f.client.Create(l.t.Context(), test, client.DryRunAll) == nil
		})
	}
	return out
}

func (l *lab) clientOf(config *rest.Config) client.Client {
	l.t.Helper()
	c, err := client.New(config, client.Options{Scheme: scheme})
	l.must(err)
	return c
}

// applyCI makes what examples/ci/rbac.yaml has, in the lab.
func (l *lab) applyCI() error {
	file, err := os.Open("../../../examples/ci/rbac.yaml")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(file))
	kinds := map[string]client.Object{"ServiceAccount": &corev1.ServiceAccount{}, "Role": &rbacv1.Role{}, "RoleBinding": &rbacv1.RoleBinding{}}
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var head metav1.TypeMeta
		if err = errors.Join(err, yaml.Unmarshal(text, &head)); err != nil {
			return err
		}
		object := kinds[head.Kind]
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			return err
		}
		if binding, is := object.(*rbacv1.RoleBinding); is {
			binding.Subjects[0].Namespace = l.namespace // kubectl's -n doesn't, and the API server wants it
		}
		object.SetNamespace(l.namespace)
		if err := admin.Create(l.t.Context(), object); err != nil {
			return err
		}
	}
}

// passed says whether a test has passed.
func passed(test *v1alpha1.LoadTest) bool {
	return meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionPassed)
}

// runsOn fails unless a test's run goes on as if nothing had been tried: no verdict, no result, no other attempt.
func (l *lab) runsOn(name string) {
	l.t.Helper()
	test := l.operate(name)
	complete := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete)
	if passed(test) || complete == nil || complete.Status != metav1.ConditionFalse || complete.Reason != v1alpha1.ReasonRunning || test.Status.Attempt != 1 ||
		test.Status.Result != nil || test.Status.Report != nil || test.Status.Progress != nil && test.Status.Progress.Percent != nil {
		text, _ := yaml.Marshal(test.Status)
		l.t.Errorf("it should measure, and the status is\n%s", text)
	}
}

// A user of role edit had a verdict after eleven seconds: a LoadTest whose criterion nothing meets, its empty ConfigMap for the Report filled with another test's.
func TestAnotherTestsReportMakesNoVerdict(t *testing.T) {
	l := newLab(t)
	good := l.begin("author", "good", strings.ReplaceAll(external, "999999999999", "327000"))
	good.write(good.measured())
	if test := l.operate("good"); !passed(test) {
		t.Fatalf("what is forged with should have passed: %+v", test.Status.Conditions)
	}
	theirs := &corev1.ConfigMap{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "good-report"}, theirs))
	editor := l.forgers()[0]
	for name, change := range map[string]func(*report.Report){
		"as-it-is":    func(*report.Report) {},
		"without-uid": func(r *report.Report) { r.Plan.Test.UID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			test := written(t, name, external)
			test.Namespace = l.namespace
			l.must(editor.client.Create(t.Context(), test))
			test = l.operate(name)
			forged, _, err := delivery.DecodeReport(theirs.BinaryData, theirs.Annotations)
			l.must(err)
			change(forged)
			data, annotations, err := delivery.EncodeReport(forged, true, 1)
			l.must(err)
			progress, err := delivery.EncodeProgress(delivery.Progress{Attempt: 1, Run: 1, Runner: "r", RunnerUID: "u", UpdateTime: time.Now(), Phase: "Ended", Percent: 100})
			l.must(err)
			for _, document := range []string{name + "-report", manifests.OriginalName(test, 1), name + "-progress", manifests.ProgressName(test, 1)} {
				l.must(editor.put(l, test, document, func(c *corev1.ConfigMap) { c.BinaryData, c.Annotations, c.Data = data, annotations, progress }))
			}
			l.runsOn(name)
		})
	}
}

// put makes a ConfigMap of the lab that says in each way that it is the test's, or changes it.
func (f *forger) put(l *lab, test *v1alpha1.LoadTest, name string, change func(*corev1.ConfigMap)) error {
	there := &corev1.ConfigMap{}
	err := f.client.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, there)
	if err == nil {
		change(there)
		return f.client.Update(l.t.Context(), there)
	}
	made := &corev1.ConfigMap{ObjectMeta: ours(l, test, name)}
	change(made)
	return f.client.Create(l.t.Context(), made)
}

// ours is the metadata of an object that is the test's runner's, if one believes what it says.
func ours(l *lab, test *v1alpha1.LoadTest, name string) metav1.ObjectMeta {
	role := name[strings.LastIndex(name, "-")+1:]
	return metav1.ObjectMeta{
		Namespace: l.namespace, Name: name,
		Labels: map[string]string{
			"app.kubernetes.io/managed-by": "linerate", v1alpha1.LabelTest: test.Name, v1alpha1.LabelUID: string(test.UID), v1alpha1.LabelRole: role,
			v1alpha1.LabelAttempt: "1", v1alpha1.LabelNamespace: l.namespace,
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestKind, Name: test.Name, UID: test.UID, Controller: new(true),
		}},
	}
}

// What they may do in the test's namespace changes no verdict, and in the operator's they may do nothing.
func TestAnEditorOfTheNamespaceForgesNoVerdict(t *testing.T) {
	l := newLab(t)
	forgers := l.forgers()
	plainPod := func(account string) corev1.PodSpec {
		return corev1.PodSpec{ServiceAccountName: account, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	}
	for _, f := range forgers {
		t.Run(f.name, func(t *testing.T) {
			l := &lab{t: t, namespace: l.namespace}
			name := "by-" + f.name
			test := written(t, name, external)
			test.Namespace = l.namespace
			l.must(f.client.Create(t.Context(), test))
			test = l.operate(name)
			r := l.runOf(test)
			r.sayProgress()
			there := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: managerNamespace, Name: name} }
			document := &corev1.ConfigMap{ObjectMeta: there(manifests.OriginalName(test, 1))}
			account := &corev1.ServiceAccount{ObjectMeta: there(runnerAccount)}

			t.Run("is refused all that would reach the runner", func(t *testing.T) {
				for what, err := range map[string]error{
					"read the Report":         f.client.Get(t.Context(), client.ObjectKeyFromObject(document), &corev1.ConfigMap{}),
					"patch the Report":        f.client.Patch(t.Context(), document.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"b"}}`))),
					"pre-create one":          f.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: there(manifests.OriginalName(test, 2))}),
					"delete it":               f.client.Delete(t.Context(), document.DeepCopy()),
					"a pod with the account":  f.client.Create(t.Context(), &corev1.Pod{ObjectMeta: there("p"), Spec: plainPod(runnerAccount)}),
					"a Job with the account":  f.client.Create(t.Context(), &batchv1.Job{ObjectMeta: there("j"), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: plainPod(runnerAccount)}}}),
					"a token of the account":  f.client.SubResource("token").Create(t.Context(), account, &authenticationv1.TokenRequest{}),
					"one bound to the runner": f.client.SubResource("token").Create(t.Context(), account, boundTo(r.pod)),
					"the pod's status":        f.client.Status().Patch(t.Context(), r.pod.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`))),
					"the pod's annotations":   f.client.Patch(t.Context(), r.pod.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`))),
					"an ephemeral container":  f.client.SubResource("ephemeralcontainers").Patch(t.Context(), r.pod.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`))),
					"the test's status":       f.client.Status().Patch(t.Context(), test.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"summary":"forged"}}`))),
					"as the runners' account": f.impersonating(l, "system:serviceaccount:"+managerNamespace+":"+runnerAccount).Get(t.Context(), client.ObjectKeyFromObject(document), &corev1.ConfigMap{}),
					"as the manager":          f.impersonating(l, "system:serviceaccount:"+managerNamespace+":"+managerAccount).Get(t.Context(), client.ObjectKeyFromObject(document), &corev1.ConfigMap{}),
				} {
					if !apierrors.IsForbidden(err) {
						t.Errorf("%s: %v; it should be forbidden", what, err)
					}
				}
				for _, subresource := range []string{"exec", "attach", "portforward", "proxy", "log"} {
					for _, verb := range []string{"get", "create"} {
						review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
							Namespace: managerNamespace, Verb: verb, Resource: "pods", Subresource: subresource, Name: r.pod.Name,
						}}}
						l.must(f.client.Create(t.Context(), review))
						if review.Status.Allowed {
							t.Errorf("they may %s pods/%s of the runner", verb, subresource)
						}
					}
				}
			})
			t.Run("has an account of that name in the test's namespace for nothing", func(t *testing.T) {
				if !f.edits {
					return
				}
				l.must(client.IgnoreAlreadyExists(f.client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: runnerAccount}})))
				request := &authenticationv1.TokenRequest{}
				l.must(f.client.SubResource("token").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: runnerAccount}}, request))
				if err := r.updateWith(withToken(t, request.Status.Token), document.Name, func(*corev1.ConfigMap) {}); !apierrors.IsForbidden(err) {
					t.Errorf("%v; it should be forbidden", err)
				}
			})
			t.Run("makes a pod that claims to be the runner, in the test's namespace, and it isn't believed", func(t *testing.T) {
				forged := r.measured()
				data, annotations, err := delivery.EncodeReport(forged, true, 1)
				l.must(err)
				annotations[delivery.AnnotationRunner] = delivery.Signature(r.pod.Name, string(r.pod.UID))
				progress, err := delivery.EncodeProgress(delivery.Progress{Attempt: 1, Run: 7, Runner: r.pod.Name, RunnerUID: string(r.pod.UID), UpdateTime: time.Now(), Phase: "Ended", Percent: 100})
				l.must(err)
				job := &batchv1.Job{ObjectMeta: ours(l, test, manifests.RunnerJobName(test, 1)), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: plainPod("")}}}
				former := job.DeepCopy()
				former.Name = name + "-1-runner"
				tries := map[string]error{
					"a Job": f.client.Create(t.Context(), job), "a Job of a former release": f.client.Create(t.Context(), former),
					"a pod": f.client.Create(t.Context(), &corev1.Pod{ObjectMeta: ours(l, test, r.pod.Name), Spec: plainPod("")}),
				}
				for _, document := range []string{name + "-report", name + "-progress", manifests.OriginalName(test, 1), manifests.ProgressName(test, 1), manifests.PlanName(test, 1)} {
					tries[document] = f.put(l, test, document, func(c *corev1.ConfigMap) { c.BinaryData, c.Annotations, c.Data = data, annotations, progress })
				}
				for what, err := range tries {
					if allowed := f.edits || what == "a pod"; err != nil && !apierrors.IsForbidden(err) || err == nil && !allowed {
						t.Errorf("%s: %v", what, err)
					}
				}
				l.stillAt(name, 30)
			})
			t.Run("voids no run by Jobs of other attempts, in the run and before it", func(t *testing.T) {
				early := written(t, name+"-early", external)
				early.Namespace = l.namespace
				l.must(f.client.Create(t.Context(), early))
				for _, attempt := range []string{"2", "2147483647"} {
					for _, of := range []*v1alpha1.LoadTest{test, early} {
						job := &batchv1.Job{ObjectMeta: ours(l, of, of.Name+"-"+attempt+"-runner"), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: plainPod("")}}}
						job.Labels[v1alpha1.LabelAttempt] = attempt
						if err := f.client.Create(t.Context(), job); f.edits && err != nil || !f.edits && !apierrors.IsForbidden(err) {
							t.Fatalf("a Job of attempt %s: %v", attempt, err)
						}
					}
					l.stillAt(name, 30)
				}
				l.runsOn(early.Name)
			})
			t.Run("and the runner's own word counts in the end", func(t *testing.T) {
				r.write(r.measured())
				test := l.operate(name)
				if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionPassed); c == nil || c.Reason != v1alpha1.ReasonCriteriaNotMet || test.Status.Report == nil {
					t.Fatalf("%+v", test.Status.Conditions)
				}
				copied := &corev1.ConfigMap{}
				l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: test.Status.Report.ConfigMap}, copied))
				document, envelope, err := delivery.DecodeReport(copied.BinaryData, copied.Annotations)
				if err != nil || envelope.Digest != test.Status.Report.Digest || document.Verdict.Outcome != report.DidFail {
					t.Errorf("the copy: %v, %s, the status says %s", err, envelope.Digest, test.Status.Report.Digest)
				}
			})
		})
	}
}

// boundTo asks for a token that is a pod's.
func boundTo(pod *corev1.Pod) *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
}

// impersonating is a client of the forger as another user.
func (f *forger) impersonating(l *lab, who string) client.Client {
	l.t.Helper()
	config := rest.CopyConfig(f.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: who}
	return l.clientOf(config)
}

// sayProgress writes the Progress that the run's own runner would write.
func (r *run) sayProgress() {
	r.l.t.Helper()
	data, err := delivery.EncodeProgress(delivery.Progress{Attempt: 1, Run: 1, Runner: r.pod.Name, RunnerUID: string(r.pod.UID), UpdateTime: time.Now(), Phase: "Ramping", Percent: 30})
	r.l.must(err)
	r.l.must(r.update(manifests.ProgressName(r.test, 1), func(c *corev1.ConfigMap) { c.Data = data }))
}

// stillAt fails unless a test's run goes on, as far as its own runner said.
func (l *lab) stillAt(name string, percent int32) {
	l.t.Helper()
	test := l.operate(name)
	p, complete := test.Status.Progress, meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete)
	if passed(test) || complete.Reason != v1alpha1.ReasonRunning || test.Status.Attempt != 1 || test.Status.Result != nil || p == nil || p.Percent == nil || *p.Percent != percent || p.Run != 1 {
		text, _ := yaml.Marshal(test.Status)
		l.t.Errorf("it should be at %d %% of its first run, and the status is\n%s", percent, text)
	}
}

// A runner that somebody took over writes with its pod's own token what it likes. What isn't of this attempt, this test, this Plan and this time isn't believed, and
// what its figures don't carry it doesn't get.
func TestAReportThatDoesNotFitMakesNoVerdict(t *testing.T) {
	l := newLab(t)
	other := l.begin("author", "other", external)
	for name, c := range map[string]struct {
		change func(*report.Report)
		says   string
	}{
		"of-another-test":    {func(r *report.Report) { r.Plan = other.plan }, "it is of a LoadTest with UID"},
		"of-no-test":         {func(r *report.Report) { r.Plan.Test.UID = "" }, "it is of a LoadTest with UID nobody"},
		"of-another-attempt": {func(r *report.Report) { r.Plan.Test.Attempt = 2 }, "it is of attempt 2"},
		"by-an-easier-plan": {func(r *report.Report) {
			r.Plan.Criteria = []plan.Criterion{{Name: "easy", Metric: "PacketsPerSecond", Direction: "Each", Min: "1"}}
		}, "another Plan"},
		"without-criteria": {func(r *report.Report) { r.Plan.Criteria = nil }, "another Plan"},
		"with-a-baseline":  {func(r *report.Report) { r.Baseline = &report.Baseline{Kind: "File", Name: "easy"} }, "another baseline"},
		"from-last-week": {func(r *report.Report) {
			r.Started, r.Finished = r.Started.AddDate(0, 0, -7), r.Finished.AddDate(0, 0, -7)
		}, "no clock is so wrong"},
		"longer-than-it-was": {func(r *report.Report) { r.Started = r.Started.Add(-time.Hour) }, "it says that the run took 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &lab{t: t, namespace: l.namespace}
			r := l.begin("author", name, external)
			forged := r.measured()
			copied := *r.plan
			forged.Plan = &copied
			c.change(forged)
			r.write(forged)
			test := l.operate(name)
			complete := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete)
			if passed(test) || complete == nil || complete.Reason != v1alpha1.ReasonRunnerFailed || !strings.Contains(complete.Message, c.says) || test.Status.Result != nil {
				t.Errorf("%+v\nwant RunnerFailed: … %s", test.Status.Conditions, c.says)
			}
		})
	}
	t.Run("a verdict that the figures don't carry", func(t *testing.T) {
		l := &lab{t: t, namespace: l.namespace}
		r := l.begin("author", "claimed", external)
		r.write(r.measured()) // says Passed
		test := l.operate("claimed")
		if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionPassed); c == nil || c.Reason != v1alpha1.ReasonCriteriaNotMet {
			t.Errorf("%+v", test.Status.Conditions)
		}
	})
	t.Run("a Report of one's own, of an attempt that is void", func(t *testing.T) {
		l := &lab{t: t, namespace: l.namespace}
		r := l.begin("author", "replayed", strings.ReplaceAll(external, "999999999999", "1"))
		suspend := func(value bool) {
			test := &v1alpha1.LoadTest{}
			l.must(admin.Get(t.Context(), client.ObjectKeyFromObject(r.test), test))
			test.Spec.Suspend = value
			l.must(admin.Update(t.Context(), test))
		}
		suspend(true)
		l.operate("replayed")
		r.writeWith(admin, r.measured()) // as it ends: its token goes with its pod
		l.operate("replayed")
		suspend(false)
		test := l.operate("replayed")
		if passed(test) || test.Status.Attempt != 2 || test.Status.Result != nil {
			t.Errorf("attempt %d: %+v", test.Status.Attempt, test.Status.Conditions)
		}
	})
}
