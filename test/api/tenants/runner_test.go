package tenants

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// external is a test of generators and a device that are there already: it has no pods but its runner. Its criterion nothing meets.
const external = `
generator: {engine: TRex, placement: {servers: [{address: "trex.lab:4501"}]}}
dut: {type: Device}
links:
- {name: west, lineRate: 25gbps, dut: {address: 198.18.0.1/24}}
- {name: east, lineRate: 25gbps, dut: {address: 198.18.1.1/24}}
criteria: [{name: out-of-reach, metric: PacketsPerSecond, direction: Each, min: "999999999999"}]
`

// withToken is the cluster as the API server's own token has it, and nobody's certificate.
func withToken(t *testing.T, token string) client.Client {
	t.Helper()
	config := rest.AnonymousClientConfig(adminConfig)
	config.BearerToken, config.QPS = token, -1
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tokenOf has the API server make a token of an account, for a pod or for none.
func tokenOf(t *testing.T, namespace, account string, of *corev1.Pod) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	if of != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: of.Name, UID: of.UID}
	}
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	if err := admin.SubResource("token").Create(t.Context(), owner, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// run is a test whose runner measures, as far as others can see.
type run struct {
	l      *lab
	test   *v1alpha1.LoadTest
	pod    *corev1.Pod
	runner client.Client // with the pod's own token
	plan   *plan.Plan
	of     manifests.OfRun
}

// begin makes a test as a user, and brings it to its run: the operator makes the runner's Job, and Kubernetes its pod.
func (l *lab) begin(who, name, spec string) *run {
	l.t.Helper()
	l.create(who, written(l.t, name, spec))
	return l.runOf(l.operate(name))
}

// runOf is the run of the test's first attempt.
func (l *lab) runOf(test *v1alpha1.LoadTest) *run {
	l.t.Helper()
	var job batchv1.Job
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: managerNamespace, Name: manifests.RunnerJobName(test, 1)}, &job))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-x7k2p", Labels: job.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
	l.must(admin.Create(l.t.Context(), pod))
	r := &run{l: l, test: test, pod: pod, runner: withToken(l.t, tokenOf(l.t, managerNamespace, runnerAccount, pod))}
	var kept corev1.ConfigMap
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: managerNamespace, Name: manifests.PlanName(test, 1)}, &kept))
	var err error
	r.plan, _, err = delivery.DecodePlan(kept.BinaryData)
	l.must(err)
	r.of = manifests.OfRun{Labels: kept.Labels, Plan: kept.Name, PlanUID: kept.UID}
	return r
}

// measured is a Report of a device that carries 327 200 packets/s in each direction, by the run's Plan. Its runner says that the criteria are met.
func (r *run) measured() *report.Report {
	flow := report.Flow{PacketsPerSecond: 327_200, Layer1BitsPerSecond: 1_000_000_000, Layer2BitsPerSecond: 947_000_000}
	both := report.Flow{PacketsPerSecond: 654_400, Layer1BitsPerSecond: 2_000_000_000, Layer2BitsPerSecond: 1_894_000_000}
	sum := &report.Sum{Intended: both, Offered: both, Received: both, Window: 1}
	w := report.Window{Number: 1, Phase: report.Confirm, Duration: plan.Duration(10 * time.Second), Quality: report.Good}
	for _, d := range r.plan.Directions {
		w.Directions = append(w.Directions, report.Direction{From: d.From, To: d.To, Intended: flow, Offered: flow, Received: flow, Quality: report.Good})
	}
	now := time.Now().UTC()
	document := &report.Report{
		Version: report.Version, Producer: "linerate test", Plan: r.plan, Started: now, Finished: now, Ending: report.Completed, Windows: []report.Window{w},
		Answer:  report.Answer{Measured: true, Reason: report.LossAboveLimit, Message: "above 327 200 packets/s frames are lost", Window: 1, Directions: w.Directions, Total: sum, MaxReceived: sum, Claim: report.Claim{Saturated: true, Confirmed: true}},
		Verdict: report.Verdict{Outcome: report.Passed},
	}
	for _, c := range r.plan.Criteria {
		document.Verdict.Criteria = append(document.Verdict.Criteria, report.CriterionResult{Name: c.Name, Outcome: report.Passed, Message: "as the runner says"})
	}
	return document
}

// write writes a final Report as the run's own pod would.
func (r *run) write(document *report.Report) {
	r.l.t.Helper()
	r.writeWith(r.runner, document)
}

// writeWith does so with another token.
func (r *run) writeWith(c client.Client, document *report.Report) {
	r.l.t.Helper()
	data, annotations, err := delivery.EncodeReport(document, true, 1)
	r.l.must(err)
	r.l.must(r.updateWith(c, manifests.OriginalName(r.test, 1), func(c *corev1.ConfigMap) {
		c.BinaryData, c.Immutable = data, new(true)
		maps.Copy(c.Annotations, annotations)
	}))
}

// update changes a document with the token of the run's pod, signed with its name. One that isn't there it makes.
func (r *run) update(name string, change func(*corev1.ConfigMap)) error {
	return r.updateWith(r.runner, name, change)
}

// updateWith does so with another token. No token of runners reads what stands: an administrator does.
func (r *run) updateWith(c client.Client, name string, change func(*corev1.ConfigMap)) error {
	var kept corev1.ConfigMap
	err := admin.Get(r.l.t.Context(), client.ObjectKey{Namespace: managerNamespace, Name: name}, &kept)
	if apierrors.IsNotFound(err) {
		return r.makeWith(c, name, change)
	}
	if err != nil {
		return err
	}
	if kept.Annotations == nil {
		kept.Annotations = map[string]string{}
	}
	kept.Annotations[delivery.AnnotationRunner] = delivery.Signature(r.pod.Name, string(r.pod.UID))
	change(&kept)
	return c.Update(r.l.t.Context(), &kept)
}

// makeWith makes a document as the run's runner does, but for what is changed.
func (r *run) makeWith(c client.Client, name string, change func(*corev1.ConfigMap)) error {
	made := &corev1.ConfigMap{ObjectMeta: r.of.Original(name)}
	switch base, number, marks := strings.Cut(name, "-run-"); {
	case strings.HasSuffix(name, "-progress"):
		made.ObjectMeta = r.of.Progress(name)
	case marks:
		run, err := strconv.Atoi(number)
		r.l.must(err)
		made.ObjectMeta = r.of.Successor(base, run)
	}
	made.Namespace, made.Annotations = managerNamespace, map[string]string{delivery.AnnotationRunner: delivery.Signature(r.pod.Name, string(r.pod.UID))}
	change(made)
	return c.Create(r.l.t.Context(), made)
}

// All runners have one account, and each writes what is its own run's and nothing else.
func TestTheRunnersToken(t *testing.T) {
	l := newLab(t)
	mine, theirs := l.begin("author", "mine", external), l.begin("author", "theirs", external)
	l.await("the runners' policy", func() bool {
		return apierrors.IsForbidden(mine.update(manifests.ProgressName(theirs.test, 1), func(*corev1.ConfigMap) {}))
	})
	progress, original := manifests.ProgressName(mine.test, 1), manifests.OriginalName(mine.test, 1)
	marker, theirMarker := mine.of.Successor(progress, 2).Name, mine.of.Successor(manifests.ProgressName(theirs.test, 1), 2).Name
	nothing := func(*corev1.ConfigMap) {}

	makes := func(change func(*corev1.ConfigMap)) error { return mine.makeWith(mine.runner, original, change) }
	t.Run("makes no document but its own, in the required form", func(t *testing.T) {
		for what, c := range map[string]struct {
			err  error
			says string
		}{
			"the Progress of another run":                           {mine.makeWith(mine.runner, manifests.ProgressName(theirs.test, 1), nothing), "is no runner of the run"},
			"the Report of its own next attempt":                    {mine.makeWith(mine.runner, manifests.OriginalName(mine.test, 2), nothing), "is no runner of the run"},
			"the marker of another run":                             {mine.makeWith(mine.runner, theirMarker, nothing), "is no runner of the run"},
			"the marker of a hundredth run":                         {mine.makeWith(mine.runner, mine.of.Successor(progress, 100).Name, nothing), "is no runner of the run"},
			"a marker that says more":                               {mine.makeWith(mine.runner, marker, func(c *corev1.ConfigMap) { c.Annotations[delivery.AnnotationDigest] = "x" }), "no annotations of others"},
			"a name of the API server's choice":                     {makes(func(c *corev1.ConfigMap) { c.GenerateName, c.Name = c.Name, "" }), "is no runner of the run"},
			"a Plan":                                                {makes(func(c *corev1.ConfigMap) { c.Labels[v1alpha1.LabelRole] = "plan" }), "is no runner of the run"},
			"a Report with the Progress' role":                      {makes(func(c *corev1.ConfigMap) { c.Labels[v1alpha1.LabelRole] = "progress" }), "is no runner of the run"},
			"one without the label that finds it":                   {makes(func(c *corev1.ConfigMap) { delete(c.Labels, v1alpha1.LabelUID) }), "has the labels of its run"},
			"one with others' labels":                               {makes(func(c *corev1.ConfigMap) { c.Labels["app"] = "x" }), "has the labels of its run"},
			"one of another attempt":                                {makes(func(c *corev1.ConfigMap) { c.Labels[v1alpha1.LabelAttempt] = "2" }), "has the labels of its run"},
			"one that stays":                                        {makes(func(c *corev1.ConfigMap) { c.OwnerReferences = nil }), "is owned by the ConfigMap of its Plan"},
			"one that goes with another's Plan":                     {makes(func(c *corev1.ConfigMap) { c.OwnerReferences = theirs.of.Original("").OwnerReferences }), "is owned by the ConfigMap of its Plan"},
			"one that goes with another kind's object of that name": {makes(func(c *corev1.ConfigMap) { c.OwnerReferences[0].Kind = "Secret" }), "is owned by the ConfigMap of its Plan"},
			"one that goes with another version's":                  {makes(func(c *corev1.ConfigMap) { c.OwnerReferences[0].APIVersion = "v2" }), "is owned by the ConfigMap of its Plan"},
			"one that its Plan doesn't control":                     {makes(func(c *corev1.ConfigMap) { c.OwnerReferences[0].Controller = nil }), "is owned by the ConfigMap of its Plan"},
			"one that stays as long as its pod": {makes(func(c *corev1.ConfigMap) {
				c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: mine.pod.Name, UID: mine.pod.UID})
			}), "is owned by the ConfigMap of its Plan"},
			"one with a finalizer":         {makes(func(c *corev1.ConfigMap) { c.Finalizers = []string{"attacker.example/stays"} }), "has no finalizers"},
			"an order":                     {makes(func(c *corev1.ConfigMap) { c.Annotations[delivery.AnnotationPlanDigest] = "sha256:1" }), "no annotations of others"},
			"one without a signature":      {makes(func(c *corev1.ConfigMap) { c.Annotations = nil }), "annotation linerate.dev/runner must be"},
			"one with a token of no pod":   {mine.makeWith(withToken(t, tokenOf(t, managerNamespace, runnerAccount, nil)), original, nothing), "bound to no pod"},
			"one with another run's token": {mine.makeWith(theirs.runner, original, nothing), "is no runner of the run"},
		} {
			if c.err == nil || !apierrors.IsForbidden(c.err) || !strings.Contains(c.err.Error(), c.says) {
				t.Errorf("%s: %v\nwant a refusal that says %q", what, c.err, c.says)
			}
		}
		for what, c := range map[string]struct {
			document string
			change   func(*corev1.ConfigMap)
		}{
			"a Report under another key":   {original, func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"other": nil} }},
			"a Report in plain text":       {original, func(c *corev1.ConfigMap) { c.Data = map[string]string{"report.json.gz": "{}"} }},
			"a Progress under another key": {progress, func(c *corev1.ConfigMap) { c.Data = map[string]string{"other": "{}"} }},
			"a Progress in bytes":          {progress, func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"progress.json": nil} }},
			"a marker with a content":      {marker, func(c *corev1.ConfigMap) { c.Data = map[string]string{"x": "x"} }},
			"a marker with a Report":       {marker, func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"report.json.gz": nil} }},
			"a Progress over 64 KiB":       {progress, func(c *corev1.ConfigMap) { c.Data = map[string]string{"progress.json": strings.Repeat("1", 65537)} }},
		} {
			if err := mine.makeWith(mine.runner, c.document, c.change); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "a Progress is progress.json, of 64 KiB at most, a Report is report.json.gz, and the marker of a run is empty") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
	t.Run("makes and writes its own Progress, Report and marker", func(t *testing.T) {
		for _, name := range []string{progress, original, marker} {
			for range 2 {
				if err := mine.update(name, func(c *corev1.ConfigMap) {
					if name != marker {
						c.Annotations[delivery.AnnotationDigest] = "sha256:0"
					}
					if name == progress {
						c.Data = map[string]string{"progress.json": strings.Repeat("1", 65536)}
					}
				}); err != nil {
					t.Error(err)
				}
			}
		}
	})
	t.Run("is refused other documents, and its own in another's name or as another's", func(t *testing.T) {
		for what, c := range map[string]struct {
			err  error
			says string
		}{
			"the Report of another run":          {mine.update(manifests.OriginalName(theirs.test, 1), nothing), "is no runner of the run"},
			"the Report of its own next attempt": {mine.l.nextAttempts(mine), "is no runner of the run"},
			"its Plan":                           {mine.update(manifests.PlanName(mine.test, 1), nothing), "a runner writes the Progress and the Report of its own run"},
			"another's signature": {mine.update(original, func(c *corev1.ConfigMap) {
				c.Annotations[delivery.AnnotationRunner] = delivery.Signature(theirs.pod.Name, string(theirs.pod.UID))
			}), "annotation linerate.dev/runner must be " + mine.pod.Name},
			"no signature":       {mine.update(original, func(c *corev1.ConfigMap) { delete(c.Annotations, delivery.AnnotationRunner) }), "annotation linerate.dev/runner must be"},
			"another test's UID": {mine.update(original, func(c *corev1.ConfigMap) { c.Labels[v1alpha1.LabelUID] = string(theirs.test.UID) }), "neither its labels"},
			"an owner": {mine.update(original, func(c *corev1.ConfigMap) {
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: mine.pod.Name, UID: mine.pod.UID}}
			}), "neither its labels nor its owner"},
			"another Plan's UID":            {mine.update(original, func(c *corev1.ConfigMap) { c.OwnerReferences[0].UID = theirs.of.PlanUID }), "neither its labels nor its owner"},
			"no owner":                      {mine.update(original, func(c *corev1.ConfigMap) { c.OwnerReferences = nil }), "is owned by the ConfigMap of its Plan"},
			"others' labels":                {mine.update(original, func(c *corev1.ConfigMap) { c.Labels["app"] = "x" }), "has the labels of its run"},
			"a finalizer":                   {mine.update(original, func(c *corev1.ConfigMap) { c.Finalizers = []string{"attacker.example/stays"} }), "has no finalizers"},
			"an order":                      {mine.update(original, func(c *corev1.ConfigMap) { c.Annotations[delivery.AnnotationPlanDigest] = "sha256:1" }), "no annotations of others"},
			"another's annotation":          {mine.update(original, func(c *corev1.ConfigMap) { c.Annotations["seen"] = "no" }), "no annotations of others"},
			"a token of no pod":             {mine.updateWith(withToken(t, tokenOf(t, managerNamespace, runnerAccount, nil)), original, nothing), "bound to no pod"},
			"a token of another run's pod":  {mine.updateWith(theirs.runner, original, nothing), "is no runner of the run"},
			"another pod of a similar name": {mine.updateWith(l.named(mine, "-other"), original, nothing), "annotation linerate.dev/runner must be"},
			"a runner of a test that is named like this one's runner": {mine.updateWith(l.named(mine, "-x-0a1b2c3d-1-runner-x7k2p"), original, nothing), "is no runner of the run"},
		} {
			if c.err == nil || !apierrors.IsForbidden(c.err) || !strings.Contains(c.err.Error(), c.says) {
				t.Errorf("%s: %v\nwant a refusal that says %q", what, c.err, c.says)
			}
		}
	})
	t.Run("is not kept from writing by what somebody else wrote on a document's outside, which goes with that", func(t *testing.T) {
		seen := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: original}}
		l.must(admin.Patch(t.Context(), seen, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"seen":"yes"},"labels":{"app":"x"}}}`))))
		if err := mine.update(original, func(c *corev1.ConfigMap) { delete(c.Annotations, "seen"); delete(c.Labels, "app") }); err != nil {
			t.Error(err)
		}
	})
	t.Run("has two verbs on ConfigMaps in the operator's namespace, and no others", func(t *testing.T) {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: managerNamespace}}
		l.must(mine.runner.Create(t.Context(), review))
		found := false
		for _, rule := range review.Status.ResourceRules {
			switch {
			case rule.APIGroups[0] == "authorization.k8s.io" || rule.APIGroups[0] == "authentication.k8s.io": // everybody's: who am I, what may I do
			case rule.APIGroups[0] == "certificates.k8s.io" && rule.Resources[0] == "clustertrustbundles": // every ServiceAccount's, since Kubernetes 1.37: certificates to trust
			case rule.Resources[0] == "configmaps" && slices.Equal(slices.Sorted(slices.Values(rule.Verbs)), []string{"create", "update"}):
				found = true
			default:
				t.Errorf("it may %v %v %v", rule.Verbs, rule.Resources, rule.ResourceNames)
			}
		}
		if !found {
			t.Errorf("it may not write its ConfigMaps: %+v", review.Status.ResourceRules)
		}
	})
	t.Run("is refused all else", func(t *testing.T) {
		newTest := written(t, "new", external)
		newTest.Namespace = l.namespace
		runner := mine.runner
		own := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: managerNamespace, Name: name} }
		for what, err := range map[string]error{
			"get a secret":                runner.Get(t.Context(), client.ObjectKey{Namespace: managerNamespace, Name: "s"}, &corev1.Secret{}),
			"list secrets":                runner.List(t.Context(), &corev1.SecretList{}, client.InNamespace(managerNamespace)),
			"list ConfigMaps":             runner.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(managerNamespace)),
			"create a ConfigMap":          runner.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: own("new")}),
			"delete its progress":         runner.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: own(progress)}),
			"delete its report":           runner.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: own(original)}),
			"read in a test's namespace":  runner.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mine-report"}, &corev1.ConfigMap{}),
			"write in a test's namespace": runner.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "mine-report"}}),
			"list pods":                   runner.List(t.Context(), &corev1.PodList{}, client.InNamespace(managerNamespace)),
			"create a pod":                runner.Create(t.Context(), &corev1.Pod{ObjectMeta: own("p"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}),
			"delete its Job":              runner.Delete(t.Context(), &batchv1.Job{ObjectMeta: own(manifests.RunnerJobName(mine.test, 1))}),
			"widen its Role":              runner.Update(t.Context(), &rbacv1.Role{ObjectMeta: own("runner-role")}),
			"read its test":               runner.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mine"}, &v1alpha1.LoadTest{}),
			"create a test":               runner.Create(t.Context(), newTest),
			"list nodes":                  runner.List(t.Context(), &corev1.NodeList{}),
			"get a token":                 runner.SubResource("token").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: own(runnerAccount)}, tokenRequest()),
		} {
			if !apierrors.IsForbidden(err) {
				t.Errorf("to %s: %v; it should be forbidden", what, err)
			}
		}
	})
}

// nextAttempts has a runner write the Report that its test's next attempt would have.
func (l *lab) nextAttempts(r *run) error {
	l.t.Helper()
	var kept corev1.ConfigMap
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: managerNamespace, Name: manifests.OriginalName(r.test, 1)}, &kept))
	next := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: manifests.OriginalName(r.test, 2), Labels: kept.Labels}}
	l.must(admin.Create(l.t.Context(), next))
	return r.update(next.Name, func(*corev1.ConfigMap) {})
}

// named is the token of a pod whose name begins with that of a run's Job, and that isn't its runner.
func (l *lab) named(r *run, rest string) client.Client {
	l.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: manifests.RunnerJobName(r.test, 1) + rest}, Spec: r.pod.Spec}
	l.must(admin.Create(l.t.Context(), pod))
	return withToken(l.t, tokenOf(l.t, managerNamespace, runnerAccount, pod))
}

// No pod in a test's namespace has a token of linerate's: not even one that the author's own software could read.
func TestNoPodInATestsNamespaceHasAToken(t *testing.T) {
	l := newLab(t)
	l.node()
	l.network(l.namespace, "west")
	l.network(l.namespace, "east")
	for _, name := range []string{"mine", "theirs"} {
		l.create("tester", written(t, name, links))
		l.operate(name)
	}
	var pods corev1.PodList
	l.must(admin.List(t.Context(), &pods, client.InNamespace(l.namespace)))
	if len(pods.Items) < 4 {
		t.Fatalf("only %d pods", len(pods.Items))
	}
	for _, p := range pods.Items {
		if p.Spec.AutomountServiceAccountToken == nil || *p.Spec.AutomountServiceAccountToken || p.Spec.ServiceAccountName != "" {
			t.Errorf("%s has the token of %s", p.Name, p.Spec.ServiceAccountName)
		}
		for _, v := range p.Spec.Volumes {
			if v.Projected != nil {
				t.Errorf("%s has the projected volume %s", p.Name, v.Name)
			}
		}
	}
}
