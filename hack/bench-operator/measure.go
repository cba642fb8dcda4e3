package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// measure takes Jobs through the cluster, and then LoadTests.
func measure(ctx context.Context, o options) (r *results, err error) {
	dir, cleanUp, err := o.directory()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cleanUp()) }()
	program, err := buildManager(ctx, dir)
	if err != nil {
		return nil, err
	}
	r = &results{options: o, loadBefore: loadAverage()}
	c, err := startCluster(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	jobController, err := c.startJobController(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = jobController.stop() }() // its error says that it was stopped
	ctx, cancel := context.WithCancelCause(ctx)
	p := newPlayer(c, o, cancel)
	defer p.playing.Wait()
	defer cancel(nil)
	if err := p.watch(ctx); err != nil {
		return nil, err
	}
	if o.yardstick {
		if r.jobs, err = c.carry(ctx, []wave{{o.tests, o.jobRate}}, p.jobs, aJob, jobController.alive); err != nil {
			return nil, fmt.Errorf("the Jobs: %w", err)
		}
	}
	if err := c.measureOperator(ctx, o, p, program, r); err != nil {
		return nil, fmt.Errorf("the LoadTests: %w", err)
	}
	r.loadAfter, r.scarce = loadAverage(), p.scarce
	if err := c.keepServerMetrics(ctx); err != nil {
		return nil, err
	}
	r.requests, err = readAudit(c.auditLog, r.jobs, r.tests)
	return r, err
}

// measureOperator carries the LoadTests, and looks at what the operator took for it.
func (c *cluster) measureOperator(ctx context.Context, o options, p *player, program string, r *results) error {
	m, err := c.startManager(ctx, program)
	if err != nil {
		return err
	}
	defer func() { _ = m.stop() }() // it may have ended
	profiled := make(chan error, 2)
	go func() { profiled <- c.keepServerProfile(ctx, o) }()
	go func() { profiled <- m.keepProfile(ctx, o) }()
	start, err := programs()
	if err != nil {
		return err
	}
	if r.tests, err = c.carryTests(ctx, o, p, m.alive); err != nil {
		return err
	}
	end, err := programs()
	if err != nil {
		return err
	}
	r.usages = end.minus(start)
	if err := errors.Join(<-profiled, <-profiled); err != nil {
		return err
	}
	if r.suite, err = c.suiteFigures(ctx, o); err != nil {
		return err
	}
	if r.passes, r.rules, err = m.settled(ctx); err != nil {
		return err
	}
	r.tests.quiet = time.Now()
	if r.memory, err = m.memory("VmHWM"); err != nil {
		return err
	}
	if err := m.keepHeap(ctx, o); err != nil {
		return err
	}
	if err := m.stop(); err != nil {
		return fmt.Errorf("the manager ended badly: %w", err)
	}
	return nil
}

// directory is the folder of this run's files, and whether to remove it at the end.
func (o options) directory() (dir string, cleanUp func() error, err error) {
	if o.keep != "" {
		return o.keep, func() error { return nil }, os.MkdirAll(o.keep, 0o755)
	}
	dir, err = os.MkdirTemp("", "linerate-bench-operator")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// carryTests carries LoadTests, or one suite of them.
func (c *cluster) carryTests(ctx context.Context, o options, p *player, alive func() error) (carried, error) {
	if o.suite {
		return c.carrySuite(ctx, o, p, alive)
	}
	return c.carry(ctx, o.waves(), p.tests, aLoadTest, alive)
}

// carried is what became of many objects.
type carried struct {
	firstApplied, lastComplete, quiet time.Time       // the first was applied, the last complete, all was quiet
	took                              []time.Duration // each from apply to Complete
}

// wave is that so many objects are applied, so many a second.
type wave struct {
	count int
	rate  float64
}

// carry applies objects one after the other, one wave after the other, and waits until all are complete.
func (c *cluster) carry(ctx context.Context, waves []wave, complete *ledger, object func(i int) client.Object,
	alive func() error) (carried, error) {
	starts, count := newLedger(), 0
	result := carried{firstApplied: time.Now()}
	for _, f := range waves {
		first := count
		if err := c.applyAll(ctx, f, starts, func(i int) client.Object { return object(first + i) }); err != nil {
			return result, err
		}
		count += f.count
	}
	err := await(ctx, func() (bool, error) { return complete.size() == count, alive() })
	if err != nil {
		return result, fmt.Errorf("%d of %d are complete: %w", complete.size(), count, err)
	}
	result.lastComplete, result.took = complete.durationsSince(starts)
	result.quiet = time.Now()
	return result, nil
}

// applyAll creates the objects of a wave, each at its time, and doesn't wait for one before it begins the next.
func (c *cluster) applyAll(ctx context.Context, f wave, starts *ledger, object func(i int) client.Object) error {
	pace := time.NewTicker(time.Duration(float64(time.Second) / f.rate))
	defer pace.Stop()
	failed := make([]error, f.count)
	var applying sync.WaitGroup
	for i := range f.count {
		created := object(i)
		applying.Go(func() {
			starts.note(created.GetName())
			failed[i] = c.admin.Create(ctx, created)
		})
		select {
		case <-pace.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	applying.Wait()
	return errors.Join(failed...)
}

func testName(i int) string { return fmt.Sprintf("test-%05d", i) }

// aLoadTest is the software engine with the built-in forwarder as its device, on two networks with devices: two
// pods and the runner's Job.
func aLoadTest(i int) client.Object {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: labNamespace, Name: testName(i)}}
	test.Spec.DUT.Type = v1alpha1.DUTReference
	for _, link := range []string{"west", "east"} {
		test.Spec.Links = append(test.Spec.Links, v1alpha1.LinkSpec{Name: v1alpha1.LinkName(link),
			Network: v1alpha1.NetworkName(link), LineRate: "1gbps"})
	}
	return test
}

// aJob is a Job of one pod.
func aJob(i int) client.Object {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: jobsNamespace, Name: fmt.Sprintf("job-%05d", i)},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "work", Image: "registry.lab/work:1"}},
		}}},
	}
}

// loadAverage is how many threads wanted a processor in the last minute.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg") // where there is none, none is told
	firstField, _, _ := strings.Cut(string(text), " ")
	return firstField
}
