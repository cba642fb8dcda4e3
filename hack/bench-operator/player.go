package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// player plays the scheduler, the kubelets and Multus for all pods, and the runners in theirs. Each pod is
// bound, gets its networks, runs, is ready, and goes at once when it is deleted: five writes, of which the
// operator sees each.
type player struct {
	c       *cluster
	options options
	fail    context.CancelCauseFunc
	slots   chan struct{} // how much is played at once
	starts  *ledger       // what of which pod
	scarce  *scarcity
	playing sync.WaitGroup

	created, tests, jobs *ledger // the tests that were made, the complete ones, and the Jobs
}

// playedAtOnce bounds requests, not pods.
const playedAtOnce = 32

func newPlayer(c *cluster, o options, fail context.CancelCauseFunc) *player {
	return &player{
		c: c, options: o, fail: fail, scarce: newScarcity(o.scarce), slots: make(chan struct{}, playedAtOnce),
		starts:  newLedger(),
		created: newLedger(), tests: newLedger(), jobs: newLedger(),
	}
}

// watch begins to play; done when all that is there has been seen.
func (p *player) watch(ctx context.Context) error {
	objects, err := cache.New(p.c.config, cache.Options{Scheme: p.c.admin.Scheme()})
	if err != nil {
		return err
	}
	for object, see := range map[client.Object]func(context.Context, any){
		&corev1.Pod{}: p.seePod, &batchv1.Job{}: p.seeJob, &v1alpha1.LoadTest{}: p.seeTest,
	} {
		informer, err := objects.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(o any) { see(ctx, o) }, UpdateFunc: func(_, o any) { see(ctx, o) },
		}); err != nil {
			return err
		}
	}
	p.playing.Go(func() {
		if err := objects.Start(ctx); err != nil {
			p.fail(err)
		}
	})
	if !objects.WaitForCacheSync(ctx) {
		return errors.New("the players don't see the cluster")
	}
	return nil
}

func (p *player) seeTest(_ context.Context, object any) {
	test := object.(*v1alpha1.LoadTest)
	p.created.note(test.Name)
	if p.scarce != nil {
		p.scarce.see(test)
	}
	complete := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete)
	if complete == nil || complete.Status != metav1.ConditionTrue {
		return
	}
	if complete.Reason != v1alpha1.ReasonMeasured {
		p.fail(fmt.Errorf("LoadTest %s ended as %s: %s", test.Name, complete.Reason, complete.Message))
	}
	p.tests.note(test.Name)
}

func (p *player) seeJob(_ context.Context, object any) {
	job := object.(*batchv1.Job)
	if job.Namespace == jobsNamespace && job.Status.CompletionTime != nil {
		p.jobs.note(job.Name)
	}
}

// seePod begins what is next for a pod, once.
func (p *player) seePod(ctx context.Context, object any) {
	pod := object.(*corev1.Pod)
	var next func(context.Context, *corev1.Pod) error
	phase := ""
	switch {
	case pod.DeletionTimestamp != nil:
		phase, next = "remove", p.remove
	case pod.Spec.NodeName == "":
		phase, next = "bind", p.bind
	case pod.Status.Phase == corev1.PodPending:
		phase, next = "live", p.live
	default:
		return
	}
	if !p.starts.note(phase + " " + string(pod.UID)) {
		return
	}
	p.playing.Go(func() {
		err := next(ctx, pod.DeepCopy())
		if client.IgnoreNotFound(err) != nil && ctx.Err() == nil {
			p.fail(fmt.Errorf("%s pod %s: %w", phase, pod.Name, err))
		}
	})
}

// ask does a request when there is a slot for it.
func (p *player) ask(request func() error) error {
	p.slots <- struct{}{}
	defer func() { <-p.slots }()
	return request()
}

// bind is the scheduler: the same pod goes to the same node.
func (p *player) bind(ctx context.Context, pod *corev1.Pod) error {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(pod.Name)) // it can't fail
	node := int(hash.Sum32() % nodeCount)
	if role := pod.Labels[v1alpha1.LabelRole]; p.scarce != nil && (role == "dut" || role == "generator") {
		var err error
		if node, err = p.scarce.node(ctx, pod); err != nil {
			return err
		}
	}
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: nodeName(node)}}
	return p.ask(func() error { return p.c.admin.SubResource("binding").Create(ctx, pod, binding) })
}

// remove is the kubelet: the containers have ended.
func (p *player) remove(ctx context.Context, pod *corev1.Pod) error {
	if p.scarce != nil {
		defer p.scarce.giveBack(pod)
	}
	return p.ask(func() error {
		return p.c.admin.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	})
}

// live is the kubelet with Multus. Runners and the pods of Jobs come to their end by themselves.
func (p *player) live(ctx context.Context, pod *corev1.Pod) error {
	if err := p.attach(ctx, pod); err != nil {
		return err
	}
	for _, ready := range []bool{false, true} {
		if err := p.setStatus(ctx, pod, running(pod, ready)); err != nil {
			return err
		}
	}
	switch {
	case pod.Labels[v1alpha1.LabelRole] == "runner":
		if err := p.run(ctx, pod); err != nil {
			return err
		}
	case pod.Namespace == jobsNamespace:
		if bounded.Pause(ctx, p.options.duration) != nil {
			return nil //nolint:nilerr // the bench is over
		}
	default:
		return nil
	}
	return p.setStatus(ctx, pod, ended(pod))
}

func (p *player) setStatus(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	original := pod.DeepCopy()
	status.QOSClass = pod.Status.QOSClass
	pod.Status = status
	return p.ask(func() error { return p.c.admin.Status().Patch(ctx, pod, client.MergeFrom(original)) })
}

// attach plays Multus: it annotates a pod with its interface on each network.
func (p *player) attach(ctx context.Context, pod *corev1.Pod) error {
	asked := pod.Annotations["k8s.v1.cni.cncf.io/networks"]
	if asked == "" {
		return nil
	}
	var networks []struct{ Name, Namespace, Interface, MAC string }
	if err := json.Unmarshal([]byte(asked), &networks); err != nil {
		return err
	}
	var patches []map[string]any
	for i, n := range networks {
		mac := n.MAC
		if mac == "" {
			mac = fmt.Sprintf("02:aa:00:00:00:%02x", i)
		}
		patches = append(patches, map[string]any{"name": n.Namespace + "/" + n.Name, "interface": n.Interface,
			"mac": mac})
	}
	text, err := json.Marshal(patches)
	if err != nil {
		return err
	}
	original := pod.DeepCopy()
	pod.Annotations["k8s.v1.cni.cncf.io/network-status"] = string(text)
	return p.ask(func() error { return p.c.admin.Patch(ctx, pod, client.MergeFrom(original)) })
}
