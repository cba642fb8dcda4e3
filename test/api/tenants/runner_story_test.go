package tenants

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
)

// documents is the API server as a runner's pod has it. The next answer to a write may get lost.
type documents struct {
	corev1client.ConfigMapInterface
	deaf bool
}

var errLost = errors.New("the connection broke before the answer")

func (d *documents) hear(c *corev1.ConfigMap, dryRun []string, err error) (*corev1.ConfigMap, error) {
	if err == nil && len(dryRun) == 0 && d.deaf {
		d.deaf = false
		return nil, errLost
	}
	return c, err
}

func (d *documents) Create(ctx context.Context, c *corev1.ConfigMap, o metav1.CreateOptions) (*corev1.ConfigMap, error) {
	c, err := d.ConfigMapInterface.Create(ctx, c, o)
	return d.hear(c, o.DryRun, err)
}

func (d *documents) Update(ctx context.Context, c *corev1.ConfigMap, o metav1.UpdateOptions) (*corev1.ConfigMap, error) {
	c, err := d.ConfigMapInterface.Update(ctx, c, o)
	return d.hear(c, o.DryRun, err)
}

// claim claims the run as another pod of its Job, with that pod's own token. The answer to its first write gets lost.
func (r *run) claim(drawn string) (*configmaps.Sink, *documents, error) {
	r.l.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: manifests.RunnerJobName(r.test, 1) + "-" + drawn, Labels: r.pod.Labels}, Spec: r.pod.Spec}
	r.l.must(admin.Create(r.l.t.Context(), pod))
	config := rest.AnonymousClientConfig(adminConfig)
	config.BearerToken = tokenOf(r.l.t, managerNamespace, runnerAccount, pod)
	core, err := corev1client.NewForConfig(config)
	r.l.must(err)
	d := &documents{core.ConfigMaps(managerNamespace), true}
	progress := manifests.ProgressName(r.test, 1)
	sink, err := configmaps.Claim(r.l.t.Context(), configmaps.Options{
		Client: d, Progress: r.of.Progress(progress), Report: r.of.Original(manifests.OriginalName(r.test, 1)),
		Successor: func(run int) metav1.ObjectMeta { return r.of.Successor(progress, run) }, Attempt: 1, Pod: pod.Name, UID: string(pod.UID),
	})
	return sink, d, err
}

func (r *run) stored(name string) *corev1.ConfigMap {
	r.l.t.Helper()
	var kept corev1.ConfigMap
	r.l.must(admin.Get(r.l.t.Context(), client.ObjectKey{Namespace: managerNamespace, Name: name}, &kept))
	return &kept
}

// A runner claims, takes over, gives way and reports by what its token may, and its role has neither get nor patch: it tells its own lost answers from a successor's writes.
func TestARunnersTokenIsEnoughForARunAndItsSuccessors(t *testing.T) {
	l := newLab(t)
	r := l.begin("author", "story", external)
	l.await("the runners' policy", func() bool {
		return apierrors.IsForbidden(r.makeWith(r.runner, manifests.OriginalName(r.test, 2), func(*corev1.ConfigMap) {}))
	})
	claim := func(drawn string, run int) (*configmaps.Sink, *documents) {
		t.Helper()
		sink, d, err := r.claim(drawn)
		if err != nil {
			t.Fatal(err)
		}
		if got := sink.First(); got.Run != run || len(got.LostRuns) != run-1 {
			t.Errorf("it claimed run %d after %q, want run %d", got.Run, got.LostRuns, run)
		}
		if d.deaf {
			t.Error("no answer got lost")
		}
		return sink, d
	}
	// says writes a Progress, of which the answer gets lost, and a Report that isn't final.
	says := func(sink *configmaps.Sink, d *documents, phase string) error {
		d.deaf = true
		sink.Post(delivery.Progress{Phase: phase})
		return sink.Finish(t.Context(), r.measured(), false)
	}
	first, d1 := claim("first", 1)
	progress := manifests.ProgressName(r.test, 1)
	if err := says(first, d1, "Ramping"); err != nil {
		t.Fatal(err)
	}
	l.must(admin.Patch(t.Context(), r.stored(progress), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"note":"x"}}}`))))
	if err := says(first, d1, "Holding"); err != nil {
		t.Errorf("after somebody else's annotation: %v", err)
	}
	if p, err := delivery.DecodeProgress(r.stored(progress).Data); err != nil || p.Phase != "Holding" || p.Run != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	second, d2 := claim("second", 2)
	if err := says(second, d2, "WarmUp"); err != nil {
		t.Fatal(err)
	}
	third, d3 := claim("third", 3)
	for who, sink := range map[string]*configmaps.Sink{"the first": first, "the second": second} {
		sink.Post(delivery.Progress{Phase: "Confirming"})
		if err := sink.Finish(t.Context(), r.measured(), true); !errors.Is(err, delivery.ErrFenced) {
			t.Errorf("%s, after the third began: %v", who, err)
		}
	}
	if p, err := delivery.DecodeProgress(r.stored(progress).Data); err != nil || p.Run != 3 || p.Phase != "Preparing" {
		t.Errorf("a fenced runner replaced the third's Progress: %+v, %v", p, err)
	}
	d3.deaf = true
	if err := third.Finish(t.Context(), r.measured(), true); err != nil {
		t.Fatal(err)
	}
	original := r.stored(manifests.OriginalName(r.test, 1))
	if by, _ := delivery.SignedBy(original.Annotations); by != manifests.RunnerJobName(r.test, 1)+"-third" || original.Immutable == nil || !*original.Immutable {
		t.Errorf("the Report is of %s, immutable %v", by, original.Immutable)
	}
	if err := third.Finish(t.Context(), r.measured(), false); !errors.Is(err, configmaps.ErrReported) {
		t.Errorf("a Report after the final one: %v", err)
	}
	if _, _, err := r.claim("fourth"); !errors.Is(err, configmaps.ErrReported) {
		t.Errorf("a runner after the final Report: %v", err)
	}
	if now := r.stored(original.Name); now.ResourceVersion != original.ResourceVersion {
		t.Error("the final Report changed")
	}
}

// In the operator's namespace are the keys of all attempts, and the secret that they follow from. No answer to a runner has any of it: not to a read, and not to a write or a dry run of a name that
// isn't its own, whatever it guesses.
func TestARunnersTokenReadsNothing(t *testing.T) {
	l := newLab(t)
	mine, theirs := l.begin("author", "mine", external), l.begin("author", "theirs", external)
	l.await("the runners' policy", func() bool {
		return apierrors.IsForbidden(mine.update(manifests.ProgressName(theirs.test, 1), func(*corev1.ConfigMap) {}))
	})
	l.must(mine.update(manifests.ProgressName(mine.test, 1), func(*corev1.ConfigMap) {}))
	l.must(theirs.update(manifests.OriginalName(theirs.test, 1), func(c *corev1.ConfigMap) {
		c.BinaryData = map[string][]byte{delivery.KeyReport: []byte("what they measured")}
	}))
	secret := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: "linerate-key"}, BinaryData: map[string][]byte{"key": []byte("from which all keys follow")}}
	l.must(client.IgnoreAlreadyExists(admin.Create(t.Context(), secret)))
	config := rest.AnonymousClientConfig(adminConfig)
	config.BearerToken = tokenOf(t, managerNamespace, runnerAccount, mine.pod)
	core, err := corev1client.NewForConfig(config)
	l.must(err)
	maps := core.ConfigMaps(managerNamespace)
	own := []string{manifests.ProgressName(mine.test, 1), manifests.PlanName(mine.test, 1)}
	for _, name := range append(own, manifests.PlanName(theirs.test, 1), manifests.OriginalName(theirs.test, 1), "linerate-key") {
		stands := mine.stored(name)
		ctx, dry, by := t.Context(), []string{metav1.DryRunAll}, metav1.ListOptions{FieldSelector: "metadata.name=" + name}
		tries := map[string]func() (*corev1.ConfigMap, error){
			"get it":   func() (*corev1.ConfigMap, error) { return maps.Get(ctx, name, metav1.GetOptions{}) },
			"list it":  func() (*corev1.ConfigMap, error) { _, err := maps.List(ctx, by); return nil, err },
			"watch it": func() (*corev1.ConfigMap, error) { _, err := maps.Watch(ctx, by); return nil, err },
			"copy it into a label": func() (*corev1.ConfigMap, error) {
				return maps.Patch(ctx, name, types.JSONPatchType, []byte(`[{"op":"copy","from":"/binaryData","path":"/metadata/labels"}]`), metav1.PatchOptions{DryRun: dry})
			},
			"apply to it": func() (*corev1.ConfigMap, error) {
				return maps.Patch(ctx, name, types.ApplyYAMLPatchType, []byte(`{"apiVersion":"v1","kind":"ConfigMap"}`), metav1.PatchOptions{DryRun: dry, FieldManager: "x"})
			},
			"delete it": func() (*corev1.ConfigMap, error) {
				return nil, maps.Delete(ctx, name, metav1.DeleteOptions{DryRun: dry})
			},
		}
		if name != own[0] {
			for what, version := range map[string]string{"": "", " over the version that stands": stands.ResourceVersion, " over another version": "1"} {
				for form, guess := range map[string]*corev1.ConfigMap{
					"nothing of it": {}, "its labels": {ObjectMeta: metav1.ObjectMeta{Labels: stands.Labels, OwnerReferences: stands.OwnerReferences}}, "all of it but what is secret": func() *corev1.ConfigMap {
						c := stands.DeepCopy()
						c.BinaryData = map[string][]byte{"key": []byte("a guess")}
						return c
					}(), "all of it": stands.DeepCopy(),
				} {
					for _, dryRun := range [][]string{nil, dry} {
						guess := guess.DeepCopy()
						guess.Name, guess.ResourceVersion = name, version
						if guess.Annotations == nil {
							guess.Annotations = map[string]string{}
						}
						guess.Annotations[delivery.AnnotationRunner] = delivery.Signature(mine.pod.Name, string(mine.pod.UID))
						tries["replace it"+what+", by "+form+strings.Join(dryRun, "")] = func() (*corev1.ConfigMap, error) {
							return maps.Update(ctx, guess, metav1.UpdateOptions{DryRun: dryRun})
						}
						tries["make it, by "+form+strings.Join(dryRun, "")] = func() (*corev1.ConfigMap, error) {
							guess := guess.DeepCopy()
							guess.ResourceVersion, guess.UID = "", ""
							return maps.Create(ctx, guess, metav1.CreateOptions{DryRun: dryRun})
						}
					}
				}
			}
		}
		for what, try := range tries {
			_, err := try()
			wrongGuess := apierrors.IsConflict(err) || finalAnswer(err)
			refusedAsAGuess := strings.HasPrefix(what, "replace it") && wrongGuess
			if !apierrors.IsForbidden(err) && !refusedAsAGuess {
				t.Errorf("%s, to %s: %v; it should be forbidden", name, what, err)
				continue
			}
			text, _ := errors.AsType[*apierrors.StatusError](err)
			answer, _ := text.ErrStatus.Marshal()
			for key, content := range stands.BinaryData {
				if bytes.Contains(answer, content[:min(len(content), 16)]) {
					t.Errorf("%s, to %s: the answer has %s", name, what, key)
				}
			}
		}
		if now := mine.stored(name); now.ResourceVersion != stands.ResourceVersion {
			t.Errorf("%s was changed", name)
		}
	}
}

// finalAnswer says whether a write was refused since it isn't what an immutable ConfigMap has: no more is told of that.
func finalAnswer(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && apierrors.IsInvalid(err) && !slices.ContainsFunc(status.ErrStatus.Details.Causes, func(c metav1.StatusCause) bool {
		return c.Message != "Forbidden: field is immutable when `immutable` is set"
	})
}
