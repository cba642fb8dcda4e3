package operator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/keptreports"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

func keepReport(test *v1alpha1.LoadTest) { test.Spec.ReportRetention = v1alpha1.ReportKeep }

// kept are the Reports that are kept in the lab, of a test or of all.
func (l *lab) kept(selector ...client.ListOption) []corev1.ConfigMap {
	l.t.Helper()
	var all corev1.ConfigMapList
	l.list(l.t.Context(), &all, append(selector, client.MatchingLabels{v1alpha1.LabelRole: v1alpha1.RoleKeptReport})...)
	return all.Items
}

func TestAKeptReportOutlivesItsTest(t *testing.T) {
	l, r := underway(t, "lasting", keepReport, func(test *v1alpha1.LoadTest) { test.Labels = map[string]string{v1alpha1.LabelProduct: "VPP"} })
	l.forgetful = true
	document := r.measured()
	r.report(document, true)
	l.finish("lasting", true)
	l.want("lasting", "Complete=True Measured")
	test, kept := l.get("lasting"), l.kept()
	if len(kept) != 1 || test.Status.Report.KeptReport != kept[0].Name || len(kept[0].OwnerReferences) != 0 || kept[0].Labels[v1alpha1.LabelProduct] != "VPP" ||
		kept[0].Labels[v1alpha1.LabelTest] != "lasting" || kept[0].Labels[v1alpha1.LabelPlan] != document.Plan.Method() || kept[0].Labels[v1alpha1.LabelDate] == "" {
		t.Fatalf("%d Reports are kept: %+v; status:\n%s", len(kept), kept, l.describe("lasting"))
	}
	again, envelope, err := delivery.DecodeReport(kept[0].BinaryData, kept[0].Annotations)
	if err != nil || envelope.Digest != test.Status.Report.Digest || again.Answer.Total.Received != document.Answer.Total.Received {
		t.Errorf("it reads as %+v of digest %s (%v)", again, envelope.Digest, err)
	}
	kept[0].BinaryData = map[string][]byte{}
	if err := admin.Update(t.Context(), &kept[0]); err == nil || !strings.Contains(err.Error(), "immutable") {
		t.Errorf("it can be changed: %v", err)
	}
	l.must(admin.Delete(t.Context(), test))
	l.pass("lasting")
	if len(l.kept()) != 1 {
		t.Error("it is gone with its test")
	}
}

func TestAReportIsKeptOnce(t *testing.T) {
	l, r := underway(t, "once", keepReport)
	document := r.measured()
	// A pass that made it, and died before it could write the status.
	data, annotations, err := delivery.EncodeReport(document, true, 1)
	l.must(err)
	envelope, _ := delivery.ReadEnvelope(annotations)
	l.must(admin.Create(t.Context(), manifests.KeptConfigMap(l.get("once"), manifests.KeptReport{
		Envelope: envelope, Packed: data[delivery.KeyReport], Method: document.Plan.Method(), Finished: document.Finished,
	})))
	r.report(document, true)
	l.finish("once", true)
	l.want("once", "Complete=True Measured")
	if kept := l.kept(); len(kept) != 1 || l.get("once").Status.Report.KeptReport != kept[0].Name {
		t.Errorf("%d Reports are kept; status:\n%s", len(kept), l.describe("once"))
	}
}

func TestWhatPreventsAKeptReport(t *testing.T) {
	for name, c := range map[string]struct {
		stands func(*lab, string) client.Object // in the way of a ConfigMap of this name
		says   string
	}{
		"an object of its name": {func(l *lab, name string) client.Object {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}, Data: map[string]string{"mine": "yes"}}
		}, "somebody else's"},
		"a quota": {func(l *lab, _ string) client.Object {
			return &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "small"},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("0")}},
			}
		}, "quota"},
	} {
		t.Run(name, func(t *testing.T) {
			l, r := underway(t, "blocked", keepReport)
			document := r.measured()
			_, annotations, err := delivery.EncodeReport(document, true, 1)
			l.must(err)
			digest := annotations[delivery.AnnotationDigest]
			object := c.stands(l, manifests.KeptName("blocked", digest))
			l.must(admin.Create(t.Context(), object))
			if quota, is := object.(*corev1.ResourceQuota); is { // as its controller would count
				quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: corev1.ResourceList{"count/configmaps": resource.MustParse("0")}}
				l.must(admin.Status().Update(t.Context(), quota))
			}
			r.report(document, true)
			l.finish("blocked", true)
			l.want("blocked", "Complete=True Measured")
			status := l.get("blocked").Status
			if status.Report.KeptReport != "" || !strings.Contains(notKept(status), c.says) || status.Result == nil {
				t.Errorf("status:\n%s", l.describe("blocked"))
			}
			if told := strings.Join(l.events.told, "\n"); !strings.Contains(told, "Warning ReportNotKept") {
				t.Errorf("there is no event:\n%s", told)
			}
			if kept := l.kept(); len(kept) != 0 {
				t.Errorf("%d Reports are kept", len(kept))
			}
		})
	}
}

// A test's end waits for an admission webhook that is away, but not for ever, and holds nothing meanwhile.
func TestAnUnreachableWebhookDoesNotKeepATestFromEnding(t *testing.T) {
	for name, c := range map[string]struct {
		comesBack bool
		reason    string
	}{"for a while": {true, ""}, "for long": {false, "for 5m0s"}} {
		t.Run(name, func(t *testing.T) {
			l, r := underway(t, "webhook", keepReport)
			l.forgetful = true
			back := l.webhookAway()
			r.report(r.measured(), true)
			l.endJob("webhook", true)
			for range 4 {
				l.pass("webhook")
				l.reap()
			}
			status := l.get("webhook").Status
			if l.complete("webhook") || status.Report == nil || !strings.Contains(notKept(status), "webhook") || status.Result == nil {
				t.Fatalf("while it is away the status is\n%s", l.describe("webhook"))
			}
			l.holdsNothing("webhook")
			if c.comesBack {
				back()
			}
			l.clock.advance(6 * time.Minute)
			l.settle("webhook")
			l.want("webhook", "Complete=True Measured")
			status = l.get("webhook").Status
			if got := len(l.kept()) == 1; got != c.comesBack || (status.Report.KeptReport != "") != c.comesBack || !strings.Contains(notKept(status), c.reason) {
				t.Errorf("a Report is kept: %t; status:\n%s", got, l.describe("webhook"))
			}
			if told := strings.Contains(strings.Join(l.events.told, "\n"), "Warning ReportNotKept"); told == c.comesBack {
				t.Errorf("that it isn't kept was told: %t", told)
			}
		})
	}
}

// webhookAway makes the API server ask an unreachable webhook about kept Reports of the lab, until back is called.
func (l *lab) webhookAway() (back func()) {
	l.t.Helper()
	hook := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: l.namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "away.lab.example", AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionv1.SideEffectClassNone), TimeoutSeconds: new(int32(1)),
			ClientConfig:      admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/nobody"), CABundle: adminConfig.CAData},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: l.namespace}},
			ObjectSelector:    &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelRole: v1alpha1.RoleKeptReport}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	l.must(admin.Create(l.t.Context(), hook))
	l.t.Cleanup(func() { l.must(client.IgnoreNotFound(admin.Delete(context.Background(), hook))) })
	asks := func() bool {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, GenerateName: "probe-", Labels: map[string]string{v1alpha1.LabelRole: v1alpha1.RoleKeptReport},
		}}
		return admin.Create(l.t.Context(), probe, client.DryRunAll) != nil
	}
	l.await("the webhook to be asked", asks)
	return func() {
		l.must(admin.Delete(l.t.Context(), hook))
		l.await("the webhook to be asked no more", func() bool { return !asks() })
	}
}

// keepSome makes kept Reports, and returns their names, oldest first.
func (l *lab) keepSome(n int) (names []string) {
	l.t.Helper()
	for i := range n {
		test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: fmt.Sprintf("night-%d", i), UID: types.UID(fmt.Sprint(i))}}
		object := manifests.KeptConfigMap(test, manifests.KeptReport{
			Envelope: delivery.Envelope{Digest: fmt.Sprintf("sha256:%064x", i+1), Ending: "Completed", Attempt: 1, Final: true}, Packed: []byte("x"), Finished: l.clock.now(),
		})
		l.must(admin.Create(l.t.Context(), object))
		names = append(names, object.Name)
	}
	return names
}

func TestKeptReportsArePruned(t *testing.T) {
	l := newLab(t)
	names := l.keepSome(5)
	bystander := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "precious", Labels: map[string]string{v1alpha1.LabelRole: v1alpha1.RoleKeptReport}}}
	l.must(admin.Create(t.Context(), bystander))
	var pinned corev1.ConfigMap
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: names[0]}, &pinned))
	pinned.Labels[v1alpha1.LabelPinned] = "true"
	l.must(admin.Update(t.Context(), &pinned))

	prune := func(limits string) ctrl.Result {
		t.Helper()
		own, err := retention.ParseNamespaces(l.namespace + "=" + limits)
		l.must(err)
		policy := retention.Policy{Default: retention.Limits{Count: 1}, Namespaces: own}
		result, err := keptreports.NewReconciler(l.operator, l.events, policy, l.clock.now).Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: l.namespace}})
		l.must(err)
		return result
	}
	remain := func(want int) {
		t.Helper()
		if kept := l.kept(); len(kept) != want+1 { // and the bystander
			t.Errorf("%d remain, want %d", len(kept)-1, want)
		}
		for _, name := range []string{"precious", names[0]} {
			l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, &corev1.ConfigMap{}))
		}
	}
	prune("4/24h")
	remain(5)
	if after := prune("3/24h").RequeueAfter; after < 23*time.Hour || after > 24*time.Hour {
		t.Errorf("looks again after %s, and the next one goes in a day", after)
	}
	remain(4)
	if told := strings.Join(l.events.told, "\n"); !strings.Contains(told, "Normal ReportsPruned") || !strings.Contains(told, "3 newer ones") {
		t.Errorf("there is no event:\n%s", told)
	}
	l.clock.advance(24 * time.Hour)
	if after := prune("3/24h").RequeueAfter; after != 0 {
		t.Errorf("looks again after %s, and only what is pinned is left", after)
	}
	remain(1)
}

// notKept is why a test's Report isn't kept, or not yet.
func notKept(status v1alpha1.LoadTestStatus) string {
	if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionKept); c != nil && c.Status == metav1.ConditionFalse {
		return c.Message
	}
	return ""
}
