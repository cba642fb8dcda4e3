package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// startup answers what pods that have nodes wait for until a run can begin.
type startup struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	blueprint *blueprint
	deadlines *deadlines
	placement *placement
	queueing  *queueing
	setup     *setup
	observers *observers
	now       time.Time
}

// unobserved: a pod that reads for observers isn't ready yet. Such pods are made once all measuring pods run,
// and the test waits for them only a moment: a missing observer never holds up a measurement. Readings that are
// missing when the run begins are missing in the Report, with the reason.
func (up *startup) unobserved() *step {
	if up.attempt.hasBegun() {
		return nil
	}
	pods := []observerPod{up.observers.vitals(), up.observers.collector()}
	for _, o := range pods {
		if o.pod != nil && up.attempt.pod(o.pod.Name) == nil && up.observers.refusal(o.pod.Name) == "" &&
			len(up.attempt.recordedPods(o.role)) == 0 {
			return &step{reason: v1alpha1.ReasonStarting, activity: activityStarting,
				message: fmt.Sprintf("pod %s is made, which %s", o.pod.Name, o.task),
				create:  []manifests.Object{o.pod}}
		}
	}
	for _, o := range pods {
		if o.pod == nil {
			continue
		}
		p := up.attempt.pod(o.pod.Name)
		if p == nil || hasStopped(p) || !up.now.Before(up.observers.vitalsUntil(p)) || ready(p) {
			continue
		}
		s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting,
			message: fmt.Sprintf("pod %s, which %s, isn't ready yet (%s); the run begins without it at %s", p.Name, o.task,
				wording.JoinNonEmpty(": ",
					stateOf(p), vitalsTrouble(p)),
				up.observers.vitalsUntil(p).UTC().Format(time.TimeOnly))}
		return s.waitUntil(up.observers.vitalsUntil(p)).waitUntil(up.deadlines.placedUntil()).waitUntil(
			up.queueing.givesBackAt())
	}
	return nil
}

// weakQoS: an engine that polls devices needs CPUs of its own, which only pods of class Guaranteed get. A
// LimitRange or an injected container can lower a pod's class: such a pod would measure its neighbours.
func (up *startup) weakQoS() *step {
	if up.attempt.hasBegun() || !manifests.OwnsCPUs(up.test) {
		return nil
	}
	for _, p := range up.attempt.podsWithRole(v1alpha1.RoleGenerator) {
		class := p.Status.QOSClass
		if class == "" || class == corev1.PodQOSGuaranteed || !onDevices(p) {
			continue
		}
		return fail(v1alpha1.ReasonGeneratorFailed, "pod %s is of QoS class %s, and needs Guaranteed for CPUs of its own: "+
			"keep injected containers and LimitRanges off it, or give every container limits that equal its "+
			"requests", p.Name, class)
	}
	return nil
}

// starting: all pods have nodes, and some aren't ready.
func (up *startup) starting() *step {
	var waiting, words []string
	s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting}
	for _, p := range up.attempt.measuringPods() {
		if ready(p) {
			continue
		}
		waiting = append(waiting, p.Name)
		if w := troubleOf(p); w != "" {
			words = append(words, w)
		} else if w := up.unattached(p); w != "" {
			words = append(words, w)
		}
		if deadline := attachedUntil(p); up.now.Before(deadline) {
			s.waitUntil(deadline)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if problem, deadline := up.gatewaysApart(); problem != "" {
		words, s.dut = append(words, problem), isFalse(v1alpha1.ReasonNoTunnel, problem)
	} else if up.now.Before(deadline) {
		s.waitUntil(deadline)
	}
	s.message = wording.JoinNonEmpty("; ", words...)
	if len(words) == 0 {
		s.message = "pods aren't ready yet: " + listed(waiting)
	}
	return s.waitUntil(up.deadlines.placedUntil()).waitUntil(up.queueing.givesBackAt())
}

// unattached says that a pod has had no sandbox for long: its events say what Multus, a CNI plugin or a volume
// lacks. Empty: it has one, or hasn't waited long.
func (up *startup) unattached(p *corev1.Pod) string {
	if deadline := attachedUntil(p); deadline.IsZero() || up.now.Before(deadline) {
		return ""
	}
	return fmt.Sprintf("pod %s on node %s is still without its networks and volumes: kubectl describe pod %s tells why "+
		"(Multus, CNI, device plugin)",
		p.Name, p.Spec.NodeName, p.Name)
}

// gatewaysApart says that both gateways of a tunnel run and haven't both become ready, which takes meeting the
// other one; by is when they should have. Empty and zero: they have, or there is no tunnel.
func (up *startup) gatewaysApart() (problem string, deadline time.Time) {
	pods, cables := up.attempt.podsWithRole(v1alpha1.RoleDUT), up.blueprint.cluster().Networks
	i := slices.IndexFunc(cables, func(n compile.LinkNetworks) bool { return n.Link == plan.TunnelCable })
	if i < 0 || len(pods) < 2 {
		return "", time.Time{}
	}
	if !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return !ready(p) }) {
		return "", time.Time{}
	}
	for _, p := range pods { // one gateway may be ready alone
		runningFrom := runningSince(p)
		if runningFrom.IsZero() {
			return "", time.Time{}
		}
		deadline = latest(deadline, up.clusterTime(p, runningFrom).Add(meetGrace))
	}
	if up.now.Before(deadline) {
		return "", deadline
	}
	return fmt.Sprintf("the tunnel's gateways run in pods %s and %s, and don't reach each other over network %s: it has "+
		"to join the two, and nobody else, as a cable would: kubectl logs %s tells what came of it",
		pods[0].Name, pods[1].Name, cables[i].DUT, pods[1].Name), deadline
}

// readyDelay: all is ready, and the DUT is given its time.
func (up *startup) readyDelay() *step {
	due := up.delayedUntil()
	if due.IsZero() || !up.now.Before(due) {
		return nil
	}
	message := fmt.Sprintf("the device under test is given spec.dut.readyDelay (%s)", up.test.Spec.DUT.ReadyDelay)
	s := &step{reason: v1alpha1.ReasonDelayed, message: message, activity: activityStarting,
		dut: isFalse(v1alpha1.ReasonDelayed, message)}
	return s.waitUntil(due).waitUntil(up.deadlines.placedUntil())
}

// clusterTime corrects a time by the clock of a pod's node to the cluster's clock, as far as the node's clock
// is known to be behind or ahead.
func (up *startup) clusterTime(p *corev1.Pod, moment time.Time) time.Time {
	corrected := byTheCluster(p, moment)
	if moment.After(up.now) && !corrected.IsZero() {
		return corrected
	}
	return latest(moment, corrected)
}

// delayedUntil is when readyDelay is over; zero: there is no delay. A node's clock that is ahead doesn't make
// it longer than readyDelay from now, and one that is behind doesn't make it shorter.
func (up *startup) delayedUntil() time.Time {
	delay := duration(up.test.Spec.DUT.ReadyDelay)
	if delay == 0 || up.attempt.hasBegun() {
		return time.Time{}
	}
	var readyAt time.Time
	for _, p := range up.attempt.podsWithRole(v1alpha1.RoleSetup) {
		readyAt = latest(readyAt, up.clusterTime(p, endedAt(p)))
	}
	for _, p := range up.attempt.podsWithRole(v1alpha1.RoleDUT) {
		readyAt = latest(readyAt, up.clusterTime(p, readySince(p)))
	}
	if readyAt.IsZero() {
		return time.Time{}
	}
	if readyAt.After(up.now) {
		readyAt = up.now
	}
	return readyAt.Add(delay)
}

// settingUp: the setup pod runs to its end before any other pod is made.
func (up *startup) settingUp() *step {
	if up.setup.isDone() {
		return nil
	}
	notYet := isFalse(v1alpha1.ReasonNotStarted, "the setup pod comes first")
	pods := up.attempt.podsWithRole(v1alpha1.RoleSetup)
	if len(pods) == 0 {
		s := up.placement.make("SettingUp", manifests.Links(up.blueprint.input()), manifests.Setup(up.blueprint.input()))
		s.dut = notYet
		return s
	}
	p := pods[0]
	message := fmt.Sprintf("the setup pod %s runs first (%s)", p.Name, stateOf(p))
	if words := wording.JoinNonEmpty("; ", unscheduledWords(p), troubleOf(p)); words != "" {
		message = words
	}
	s := &step{reason: v1alpha1.ReasonSettingUp, message: message, activity: "SettingUp",
		scheduled: isFalse(v1alpha1.ReasonSettingUp, message), dut: notYet}
	return s.waitUntil(up.setup.deadline(p)).waitUntil(up.deadlines.placedUntil()).waitUntil(up.queueing.givesBackAt())
}

// activityStarting is the step of a test whose pods have nodes.
const activityStarting = "Starting"

// troubleOf says what keeps a pod's containers from starting and won't pass by waiting; empty: nothing known.
func troubleOf(p *corev1.Pod) string {
	for _, c := range statuses(p) {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		if remedy := startProblem(w.Reason); remedy != "" {
			return fmt.Sprintf("pod %s, container %s, image %s: %s: %s", p.Name, c.Name, imageOf(p, c),
				wording.JoinNonEmpty(": ", w.Reason, wording.Limited(w.Message, 300)), remedy)
		}
	}
	return ""
}

// startProblem is what to do about the reason for which a container waits; empty: it is starting.
func startProblem(reason string) string {
	switch reason {
	case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed":
		return "check the image's name, the registry, and generator.pod.imagePullSecrets (or the template's)"
	case "ErrImageNeverPull":
		return "put the image on the node, or let it be pulled (imagePullPolicy)"
	case "InvalidImageName":
		return "correct the image's name in a new LoadTest"
	case "CreateContainerConfigError":
		return "create the ConfigMap or Secret that it names, or correct it"
	case "CreateContainerError", "RunContainerError":
		return "look at kubectl describe pod, and at the container's command and mounts"
	case "CrashLoopBackOff":
		return "look at the container's log"
	}
	return ""
}

// imageOf is the image that a container was asked to run.
func imageOf(p *corev1.Pod, status corev1.ContainerStatus) string {
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range list {
			if c.Name == status.Name {
				return c.Image
			}
		}
	}
	return status.Image
}

// attachedUntil is when a pod should have had its networks and volumes; zero: it has them, or has no node.
func attachedUntil(p *corev1.Pod) time.Time {
	scheduled := condition(p, corev1.PodScheduled)
	if p.Status.Phase != corev1.PodPending || scheduled.Status != corev1.ConditionTrue ||
		condition(p, corev1.PodReadyToStartContainers).Status == corev1.ConditionTrue {
		return time.Time{}
	}
	return scheduled.LastTransitionTime.Add(attachGrace)
}

// runningSince is when the last of a pod's containers started, by its node's clock; zero: one doesn't run.
func runningSince(p *corev1.Pod) (latestStart time.Time) {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running == nil {
			return time.Time{}
		}
		latestStart = latest(latestStart, c.State.Running.StartedAt.Time)
	}
	return latestStart
}

// onDevices says whether a pod requests devices.
func onDevices(p *corev1.Pod) bool {
	for name := range scarce(p) {
		if isDevice(name) {
			return true
		}
	}
	return false
}

// byTheCluster converts a time x by the clock of a pod's node into the earliest time that it can be by the
// cluster's clock (API server, scheduler, controllers); zero: it isn't known. A kubelet starts a pod after the
// scheduler placed it, so the node's clock is ahead by at most what its own reading says lay between the two:
//
//	cluster  scheduled ─┬───────────── ≥ x − (started − scheduled)
//	node                └─ started ─── x
func byTheCluster(p *corev1.Pod, x time.Time) time.Time {
	scheduled, started := condition(p, corev1.PodScheduled).LastTransitionTime, p.Status.StartTime
	if x.IsZero() || scheduled.IsZero() || started == nil {
		return time.Time{}
	}
	return x.Add(scheduled.Sub(started.Time))
}
