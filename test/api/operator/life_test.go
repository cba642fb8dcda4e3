package operator

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

// lives are the samples, by their names, with the pods that each has.
func lives() map[string]string {
	return map[string]string{
		"device_setup":          "generator-0",
		"dut_networks":          "dut generator-0",
		"endpoint_pod":          "dut generator-0-west",
		"external_device":       "",
		"external_pod":          "dut",
		"four_links":            "generator-0",
		"four_replicas":         "generator-0 generator-1 generator-2 generator-3",
		"generator_pod":         "generator-0",
		"nodes":                 "dut generator-0",
		"observed_pod":          "dut generator-0",
		"one_network":           "dut generator-0",
		"per_link":              "generator-0-east generator-0-west generator-1-east generator-1-west",
		"power":                 "generator-0",
		"reference_ipsec":       "dut dut-far generator-0",
		"reference_tunnel":      "dut dut-far generator-0",
		"reference_userspace":   "dut generator-0",
		"reference_xdp":         "dut generator-0",
		"reset_pod":             "dut generator-0",
		"software_device":       "generator-0",
		"software_loopback":     "generator-0",
		"software_pod":          "dut generator-0",
		"software_reference":    "dut generator-0",
		"trex_intel_pod":        "dut generator-0",
		"trex_kernel_reference": "dut generator-0",
		"trex_latency":          "generator-0",
		"trex_loopback":         "generator-0",
		"trex_mellanox_device":  "generator-0",
	}
}

// TestLives: the right children appear, all of them the test's, and what was measured lands in the status. The operator is restarted before each of its
// passes. These are a test with a setup pod, one without generators of its own, one whose generators are on several nodes, and one of each engine; the full
// tier plays every sample.
func TestLives(t *testing.T) {
	playLives(t, "device_setup", "external_pod", "per_link", "software_reference", "trex_kernel_reference")
}

// TestTheLifeOfEachSampleIsKnown: the full tier plays them all, and a new one must not wait for that to be missed.
func TestTheLifeOfEachSampleIsKnown(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(lives())), samples(t); !slices.Equal(got, want) {
		t.Errorf("pods are known of the samples %q, and there are %q", got, want)
	}
}

// samples are the names of config/samples/loadtest_NAME.yaml, sorted.
func samples(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../../config/samples/loadtest_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples (%v)", err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "loadtest_"), ".yaml"))
	}
	return names
}

func playLives(t *testing.T, samples ...string) {
	t.Helper()
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			want, known := lives()[name]
			if !known {
				t.Fatalf("say which pods the sample %s should have", name)
			}
			l := newLab(t)
			l.forgetful = true
			test := l.sample("loadtest_" + name + ".yaml")
			l.wires(test)
			l.create(test)
			l.live(test.Name, want)
		})
	}
}

// readyDelays is longer than any sample's readyDelay.
const readyDelays = time.Minute

// live carries a test from its creation to its measurement.
func (l *lab) live(name, pods string) {
	l.t.Helper()
	l.settle(name)
	for _, pod := range l.pods() {
		if pod.Labels[v1alpha1.LabelRole] == "setup" {
			l.want(name, "Scheduled=False SettingUp")
			l.schedule()
			l.start("setup")
			l.settle(name)
		}
	}
	if got := l.podNames(name); got != pods {
		l.t.Errorf("the pods are %q, want %q", got, pods)
	}
	l.schedule()
	l.settle(name)
	l.start()
	l.settle(name)
	l.clock.advance(readyDelays)
	l.settle(name)
	l.measure(name, 1)
}

// measure carries a test whose pods are ready through its run.
func (l *lab) measure(name string, attempt int32) {
	l.t.Helper()
	l.want(name, "Accepted=True Valid", "Complete=False Running")
	l.runJobs()
	l.schedule()
	l.start()
	l.settle(name)
	r := l.runner(name, attempt)
	r.tell("Ramping", 42)
	l.settle(name)
	if p := l.get(name).Status.Progress; p == nil || p.Phase != "Ramping" || p.Percent == nil || *p.Percent != 42 {
		l.t.Errorf("the runner is at 42 %% of the ramp; status:\n%s", l.describe(name))
	}
	l.ownsAll(name)
	l.placesAll(name)
	l.wantImages(r)
	r.report(r.measured(), true)
	l.finish(name, true)
	l.want(name, "Complete=True "+v1alpha1.ReasonMeasured)
	l.figures(name, r)
	l.holdsNothing(name)
}

// wantImages fails unless the runner got the images of the device's pods. The pods are there until it ends.
func (l *lab) wantImages(r *runner) {
	l.t.Helper()
	var containers []plan.Container
	for _, pod := range l.pods() {
		if strings.TrimPrefix(pod.Labels[v1alpha1.LabelRole], "external-") == "dut" {
			containers = append(containers, manifests.ContainersOf(&pod)...)
		}
	}
	if len(containers) == 0 {
		return
	}
	if r.sites.Device == nil || len(r.sites.Device.Containers) != len(containers) {
		l.t.Fatalf("the runner gets %+v, and the pods have %+v", r.sites.Device, containers)
	}
	for i, c := range containers {
		if given := r.sites.Device.Containers[i]; c.Image == "" || c.ImageID != imageID(c.Image) || given != c {
			l.t.Errorf("the runner gets %+v, and the pod has %+v", given, c)
		}
	}
}

// finish ends the runner and its Job, gives the operator all the turns that it needs, and plays the teardown.
func (l *lab) finish(name string, good bool) {
	l.t.Helper()
	runner := l.pod("runner")
	l.setStatus(runner, endedStatus(runner, map[bool]int32{true: 0, false: 3}[good], ""))
	l.endJob(name, good)
	for range 3 {
		l.settle(name)
		l.reap()
		l.schedule()
		l.start("teardown")
	}
	l.settle(name)
}

// placesAll fails unless the status says of each pod where it runs, and has no link that the pod isn't on.
func (l *lab) placesAll(name string) {
	l.t.Helper()
	told := map[string]v1alpha1.PodStatus{}
	for _, p := range l.get(name).Status.Pods {
		told[p.Name] = p
	}
	for _, pod := range l.pods() {
		p, links := told[pod.Name], strings.Count(pod.Annotations["k8s.v1.cni.cncf.io/networks"], `"interface"`)
		if p.Node != nodeName || p.Role == "" || p.State == "" || len(p.Links) > links {
			l.t.Errorf("pod %s has %d links, and the status says of it %+v", pod.Name, links, p)
		}
	}
}

// figures fails unless the status has what the Report said.
func (l *lab) figures(name string, r *runner) {
	l.t.Helper()
	status := l.get(name).Status
	if status.Result == nil || !status.Result.Claim.Saturated || statustest.Low(statustest.Total(status.Result, v1alpha1.MetricPacketsPerSecond)) != 654_400 ||
		len(statustest.Received(status.Result)) != len(r.plan.Directions) || !strings.Contains(status.Summary, "654 kpps") {
		l.t.Errorf("the Report said 654 400 packets/s; status:\n%s", l.describe(name))
	}
	if status.Report == nil || status.Report.ConfigMap != manifests.ReportName(name) || !strings.HasPrefix(status.Report.Digest, "sha256:") {
		l.t.Errorf("the Report isn't referred to: %+v", status.Report)
	}
}

// holdsNothing fails if a test that is over has a pod that could send or holds a device.
func (l *lab) holdsNothing(name string) {
	l.t.Helper()
	for _, pod := range l.pods() {
		if pod.Labels[v1alpha1.LabelTest] == name && pod.DeletionTimestamp == nil && (pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodPending) {
			l.t.Errorf("pod %s is still there", pod.Name)
		}
	}
}

// podNames are what the pods are, without those of setup, teardown and runner.
func (l *lab) podNames(name string) string {
	l.t.Helper()
	var names []string
	for _, pod := range l.pods() {
		if role := pod.Labels[v1alpha1.LabelRole]; role == "dut" || role == "generator" {
			names = append(names, strings.TrimPrefix(pod.Name, name+"-1-"))
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// wires makes the networks that a test names.
func (l *lab) wires(test *v1alpha1.LoadTest) {
	l.t.Helper()
	made := map[string]bool{}
	if r := test.Spec.DUT.Reference; r != nil && r.Mode != nil && r.Mode.Tunnel != nil {
		l.wireNamed(string(r.Mode.Tunnel.Network))
	}
	for _, link := range test.Spec.Links {
		names := []v1alpha1.NetworkName{link.Network}
		if link.DUT != nil {
			names = append(names, link.DUT.Network)
		}
		for _, n := range names {
			if n != "" && !made[string(n)] {
				made[string(n)] = true
				l.wireNamed(string(n))
			}
		}
	}
}

// wireNamed makes a network as a link names it: NAME or NAMESPACE/NAME.
func (l *lab) wireNamed(reference string) {
	l.t.Helper()
	namespace, name, foreign := strings.Cut(reference, "/")
	if !foreign {
		namespace, name = l.namespace, reference
	} else {
		l.must(client.IgnoreAlreadyExists(admin.Create(l.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})))
	}
	resource := ""
	if slices.Contains(deviceNetworks(), name) {
		resource = string(deviceResource(name))
	}
	l.wire(namespace, name, resource)
}

// ownsAll fails unless everything in the lab that bears the test's label is the test's, by a reference that garbage collection follows, and everything is
// labelled.
func (l *lab) ownsAll(name string) {
	l.t.Helper()
	test := l.get(name)
	lists := map[string]client.ObjectList{"pod": &corev1.PodList{}, "ConfigMap": &corev1.ConfigMapList{}}
	for kind, list := range lists {
		l.list(l.t.Context(), list)
		objects, err := meta.ExtractList(list)
		l.must(err)
		for _, o := range objects {
			l.owns(test, kind, o.(client.Object))
		}
	}
	l.runsApart(test)
}

// runsApart fails unless the run is in the operator's own namespace, by its labels, and nothing of it is in the test's.
func (l *lab) runsApart(test *v1alpha1.LoadTest) {
	l.t.Helper()
	for kind, want := range map[client.ObjectList]int{&batchv1.JobList{}: 1, &corev1.PodList{}: 1, &corev1.ConfigMapList{}: 2} { // of ConfigMaps the Plan, and what its runner told
		l.must(admin.List(l.t.Context(), kind, client.InNamespace(operatorNamespace), l.runs(), client.MatchingLabels{
			v1alpha1.LabelUID: string(test.UID), v1alpha1.LabelAttempt: strconv.Itoa(int(test.Status.Attempt)),
		}))
		objects, err := meta.ExtractList(kind)
		l.must(err)
		if len(objects) != want {
			l.t.Errorf("%T has %d objects of the run, want %d", kind, len(objects), want)
		}
		for _, o := range objects {
			object := o.(client.Object)
			owner := metav1.GetControllerOf(object)
			if isPlan := manifests.IsPlan(object); isPlan != (owner == nil) || !isPlan && owner.Kind != "Job" && owner.Name != manifests.PlanName(test, test.Status.Attempt) {
				l.t.Errorf("%s is owned by %+v", object.GetName(), owner)
			}
		}
	}
	for _, none := range []client.ObjectList{&batchv1.JobList{}, &corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}} {
		l.list(l.t.Context(), none, client.HasLabels{v1alpha1.LabelUID})
		if objects, err := meta.ExtractList(none); err != nil || len(objects) > 0 {
			l.t.Errorf("%T has %d objects in the test's namespace (%v)", none, len(objects), err)
		}
	}
}

func (l *lab) owns(test *v1alpha1.LoadTest, kind string, o client.Object) {
	l.t.Helper()
	labels, owner := o.GetLabels(), metav1.GetControllerOf(o)
	if labels[v1alpha1.LabelUID] != string(test.UID) || labels[v1alpha1.LabelTest] != test.Name || labels[v1alpha1.LabelRole] == "" {
		l.t.Errorf("%s %s has the labels %v", kind, o.GetName(), labels)
	}
	switch {
	case owner == nil:
		l.t.Errorf("%s %s has no owner", kind, o.GetName())
	case owner.Kind == "Job" && labels[v1alpha1.LabelRole] == "runner": // through which it is the test's
	case owner.UID != test.UID || owner.Kind != v1alpha1.LoadTestKind || owner.APIVersion != v1alpha1.GroupVersion.String():
		l.t.Errorf("%s %s is owned by %+v", kind, o.GetName(), *owner)
	}
}
