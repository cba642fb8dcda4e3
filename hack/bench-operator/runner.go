package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// run is the runner: it claims, and writes Progress and Report, as cmd/linerate's runner does, with the token
// of its own account. Only the traffic is made up.
func (p *player) run(ctx context.Context, pod *corev1.Pod) error {
	measured, run, err := p.mount(ctx, pod)
	if err != nil {
		return err
	}
	sink, err := p.claim(ctx, pod, measured, run)
	if err != nil {
		return err
	}
	started := time.Now()
	keeping, stop := context.WithCancel(ctx)
	defer stop()
	finished := make(chan error, 1)
	go func() { finished <- sink.Keep(keeping) }()
	whole := p.options.lasts(pod.Labels[v1alpha1.LabelTest])
	for elapsed := time.Duration(0); elapsed < whole; elapsed = time.Since(started) {
		sink.Post(progressAt(elapsed, whole))
		if bounded.Pause(ctx, min(time.Second, whole-elapsed)) != nil {
			break
		}
	}
	sink.Post(delivery.Progress{Phase: "Ended", Percent: 100})
	stop()
	if err := <-finished; err != nil || ctx.Err() != nil {
		return err
	}
	return sink.Finish(ctx, aReport(measured, started), true)
}

// mount is what the kubelet mounts and passes to a runner: the Plan, and the labels and owner of the runner's
// documents.
func (p *player) mount(ctx context.Context, pod *corev1.Pod) (*plan.Plan, manifests.OfRun, error) {
	attempt, err := strconv.Atoi(pod.Labels[v1alpha1.LabelAttempt])
	if err != nil {
		return nil, manifests.OfRun{}, err
	}
	var configMap corev1.ConfigMap
	key := client.ObjectKey{Namespace: pod.Namespace, Name: manifests.PlanName(testOf(pod), int32(attempt))}
	if err := p.ask(func() error { return p.c.admin.Get(ctx, key, &configMap) }); err != nil {
		return nil, manifests.OfRun{}, err
	}
	document, _, err := delivery.DecodePlan(configMap.BinaryData)
	return document, manifests.OfRun{Labels: configMap.Labels, Plan: configMap.Name, PlanUID: configMap.UID}, err
}

// claim makes the runner's client, and fences earlier runners.
func (p *player) claim(
	ctx context.Context, pod *corev1.Pod, measured *plan.Plan, source manifests.OfRun,
) (*configmaps.Sink, error) {
	var token string
	err := p.ask(func() (err error) {
		token, err = p.c.token(ctx, pod.Namespace, manifests.DefaultRunnerAccount, pod)
		return err
	})
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(p.c.config)
	config.BearerToken, config.UserAgent = token, "linerate-runner/bench"
	api, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	test, attempt := testOf(pod), int32(measured.Test.Attempt)
	progress := manifests.ProgressName(test, attempt)
	return configmaps.Claim(ctx, configmaps.Options{
		Client: api.ConfigMaps(pod.Namespace), Progress: source.Progress(progress),
		Report:    source.Original(manifests.OriginalName(test, attempt)),
		Successor: func(run int) metav1.ObjectMeta { return source.Successor(progress, run) },
		Attempt:   measured.Test.Attempt, Pod: pod.Name, UID: string(pod.UID),
	})
}

// testOf is as much of the test that a runner's pod is of as names are made of.
func testOf(pod *corev1.Pod) *v1alpha1.LoadTest {
	return &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Labels[v1alpha1.LabelNamespace], Name: pod.Labels[v1alpha1.LabelTest],
		UID: types.UID(pod.Labels[v1alpha1.LabelUID]),
	}}
}

// phases are a run's, and the share of it in percent at which each ends.
var phases = []struct {
	name string
	step int
}{
	{"Preparing", 2}, {"ProvingPath", 5}, {"Listening", 8}, {"WarmUp", 18}, {"Ramping", 60}, {"Refining", 78},
	{"Confirming", 96}, {"Draining", 101},
}

// progressAt is the Progress that a runner writes each second.
func progressAt(elapsed, whole time.Duration) delivery.Progress {
	percent := int(100 * elapsed / whole)
	phase := phases[0].name
	for _, p := range phases {
		phase = p.name
		if percent < p.step {
			break
		}
	}
	rate := int64(20_000 * percent)
	return delivery.Progress{
		Phase: phase, Step: percent/10 + 1, Steps: 10, Percent: percent,
		RemainingSeconds:         int64((whole - elapsed).Seconds()),
		IntendedPacketsPerSecond: rate, OfferedPacketsPerSecond: rate, ReceivedPacketsPerSecond: rate,
		ReceivedLayer1BitsPerSecond: rate * 672,
		LossRatio:                   "0", Message: fmt.Sprintf("step %d of 10 at %d packets/s", percent/10+1, rate),
	}
}
