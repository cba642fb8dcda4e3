package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// scrapeTimeout bounds how long the caches are read, which takes milliseconds.
const scrapeTimeout = 5 * time.Second

var (
	descTests   = describe("linerate_loadtests", "LoadTests that exist, by state.", "state")
	descWaiting = describe("linerate_waiting_loadtests",
		"LoadTests that wait to run, by what they wait for: the reason of a condition.", "reason")
	descOldest = describe("linerate_oldest_waiting_seconds",
		"How long the LoadTest that waits longest has waited to run; 0 where none waits.")
	descLength = describe("linerate_queue_length",
		"LoadTests that queue for devices, by the first resource that each lacks.", "resource")
	descWait = describe("linerate_queue_oldest_seconds",
		"The longest wait of any LoadTest that queues for devices of a resource; 0 where none does.", "resource")
	descHeld = describe("linerate_devices_held",
		"Devices held by pods of LoadTests, by the resource that they are requested as.", "resource")
	descDevices = describe("linerate_devices_allocatable",
		"Devices on nodes that are Ready and not cordoned, by resource, whoever holds them.", "resource")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// states counts objects in the caches at each scrape. Only the leader counts, since other replicas would count
// the same objects again. If the caches can't be read, there are no series rather than wrong ones.
type states struct{ Sources }

// Describe implements prometheus.Collector.
func (s *states) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range append(append(testDescs(), suiteDescs()...), descTests, descWaiting, descOldest, descLength,
		descWait, descHeld, descDevices) {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (s *states) Collect(collected chan<- prometheus.Metric) {
	select {
	case <-s.Leads:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	metrics, err := s.observe(ctx)
	if notWatchedYet(err) {
		log.Log.V(1).Info("the states of LoadTests and suites can't be counted before all watches have begun", "why",
			err.Error())
		return
	}
	if err != nil {
		log.Log.Error(err, "the states of LoadTests and suites can't be counted")
		return
	}
	for _, m := range metrics {
		collected <- m
	}
}

// notWatchedYet says that a controller hasn't begun its watches yet, as in the moment after this replica has
// become the leader.
func notWatchedYet(err error) bool {
	_, unknown := errors.AsType[*cache.ErrResourceNotCached](err)
	_, unstarted := errors.AsType[*cache.ErrCacheNotStarted](err)
	return unknown || unstarted
}

func (s *states) observe(ctx context.Context) ([]prometheus.Metric, error) {
	var tests v1alpha1.LoadTestList
	if err := s.Tests.List(ctx, &tests, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list LoadTests: %w", err)
	}
	devices, err := s.devices(ctx, s.inLine(tests.Items))
	if err != nil {
		return nil, err
	}
	figures, err := s.figures(ctx, tests.Items)
	if err != nil {
		return nil, err
	}
	suites, err := s.suites(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Concat(counted(tests.Items, s.Clock()), devices, figures, suites), nil
}

// counted are the tests by state, and those that wait.
func counted(tests []v1alpha1.LoadTest, now time.Time) (metrics []prometheus.Metric) {
	byState, waiting, oldest := map[string]int{}, map[string]int{}, 0.0
	for i := range tests {
		state := StateOf(&tests[i].Status)
		byState[state]++
		if state == stateWaiting || state == stateStarting {
			waiting[lifecycle.WaitsFor(&tests[i].Status)[0]]++
			oldest = max(oldest, now.Sub(waitsSince(&tests[i])).Seconds())
		}
	}
	for _, state := range allStates() {
		metrics = append(metrics, gauge(descTests, float64(byState[state]), state))
	}
	for reason, n := range waiting {
		metrics = append(metrics, gauge(descWaiting, float64(n), reason))
	}
	return append(metrics, gauge(descOldest, oldest))
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

// inLine is the number of tests that queue for one resource, and their longest wait.
type inLine struct {
	tests  int
	oldest time.Duration
}

// inLine are the tests in line for each resource.
func (s *states) inLine(tests []v1alpha1.LoadTest) map[corev1.ResourceName]inLine {
	lines, turns, now := map[corev1.ResourceName]inLine{}, s.Line().Turns, s.Clock()
	for i := range tests {
		turn := turns[string(tests[i].UID)]
		if turn.Lacks == "" || StateOf(&tests[i].Status) != stateWaiting {
			continue
		}
		l := lines[corev1.ResourceName(turn.Lacks)]
		lines[corev1.ResourceName(turn.Lacks)] = inLine{l.tests + 1, max(l.oldest, now.Sub(waitsSince(&tests[i])))}
	}
	return lines
}

// devices are the devices that tests' pods hold, those that the nodes have, and how many tests queue for them.
func (s *states) devices(
	ctx context.Context, lines map[corev1.ResourceName]inLine,
) (metrics []prometheus.Metric, err error) {
	var pods corev1.PodList
	if err := s.Tests.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	var nodes corev1.NodeList
	if err := s.Tests.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	inUse, allocatable := heldBy(pods.Items), devicesOf(nodes.Items)
	for resource, n := range allocatable {
		metrics = append(metrics, gauge(descDevices, float64(n), string(resource)))
		inUse[resource] += 0 // there is a series also where no device is held
		metrics = append(metrics, gauge(descLength, float64(lines[resource].tests), string(resource)),
			gauge(descWait, lines[resource].oldest.Seconds(), string(resource)))
	}
	for resource, n := range inUse {
		metrics = append(metrics, gauge(descHeld, float64(n), string(resource)))
	}
	return metrics, nil
}

// heldBy are the devices of pods that have a node, and haven't ended.
func heldBy(pods []corev1.Pod) map[corev1.ResourceName]int64 {
	inUse := map[corev1.ResourceName]int64{}
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName == "" || lifecycle.Ended(pod) {
			continue
		}
		for resource, n := range lifecycle.Devices(pod) {
			inUse[corev1.ResourceName(resource)] += n
		}
	}
	return inUse
}

func devicesOf(nodes []corev1.Node) map[corev1.ResourceName]int64 {
	allocatable := map[corev1.ResourceName]int64{}
	for i := range nodes {
		node := inventory.NodeOf(&nodes[i])
		for resource, quantity := range node.Allocatable {
			if node.Ready && node.Schedulable && queue.IsDevice(string(resource)) {
				allocatable[resource] += quantity.Value()
			}
		}
	}
	return allocatable
}
