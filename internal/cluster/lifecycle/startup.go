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
	test       *v1alpha1.LoadTest
	attempt    *attempt
	blueprint  *blueprint
	deadlines  *deadlines
	placement  *placement
	queueing   *queueing
	setup      *setup
	observers  *observers
	observedAt time.Time
}

// unobserved is the rule for a pod that reads for observers and isn't ready yet. Such pods are made once all measuring
// pods run, and the test waits for them only a moment, since a missing observer never holds up a measurement. Readings
// that are missing when the run begins are missing in the Report, with the reason.
func (st *startup) unobserved() *step {
	if st.attempt.hasBegun() {
		return nil
	}
	pods := []observerPod{st.observers.vitals(), st.observers.collector()}
	for _, o := range pods {
		if o.pod != nil && st.attempt.pod(o.pod.Name) == nil && st.observers.refusal(o.pod.Name) == "" &&
			len(st.attempt.recordedPods(o.role)) == 0 {
			return &step{reason: v1alpha1.ReasonStarting, activity: activityStarting,
				message: fmt.Sprintf("pod %s is made, which %s", o.pod.Name, o.task),
				create:  []manifests.Object{o.pod}}
		}
	}
	for _, o := range pods {
		if o.pod == nil {
			continue
		}
		p := st.attempt.pod(o.pod.Name)
		if p == nil || hasStopped(p) || !st.observedAt.Before(st.observers.vitalsUntil(p)) || ready(p) {
			continue
		}
		s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting,
			message: fmt.Sprintf("pod %s, which %s, isn't ready yet (%s); the run begins without it at %s", p.Name,
				o.task,
				wording.JoinNonEmpty(": ",
					stateOf(p), vitalsTrouble(p)),
				st.observers.vitalsUntil(p).UTC().Format(time.TimeOnly))}
		return s.waitUntil(st.observers.vitalsUntil(p)).waitUntil(st.deadlines.placedUntil()).waitUntil(
			st.queueing.givesBackAt())
	}
	return nil
}

// weakQoS is the rule for generators' pods without CPUs of their own, which an engine that polls devices needs, and
// only pods of class Guaranteed get. A LimitRange or an injected container can lower a pod's class. Such a pod would
// measure its neighbours.
func (st *startup) weakQoS() *step {
	if st.attempt.hasBegun() || !manifests.OwnsCPUs(st.test) {
		return nil
	}
	for _, p := range st.attempt.podsWithRole(v1alpha1.RoleGenerator) {
		class := p.Status.QOSClass
		if class == "" || class == corev1.PodQOSGuaranteed || !onDevices(p) {
			continue
		}
		return fail(v1alpha1.ReasonGeneratorFailed,
			"pod %s is of QoS class %s, and needs Guaranteed for CPUs of its own: "+
				"keep injected containers and LimitRanges off it, or give every container limits that equal its "+
				"requests", p.Name, class)
	}
	return nil
}

// starting is the rule for pods that have nodes, and aren't all ready.
func (st *startup) starting() *step {
	var waiting, words []string
	s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting}
	for _, p := range st.attempt.measuringPods() {
		if ready(p) {
			continue
		}
		waiting = append(waiting, p.Name)
		if w := troubleOf(p); w != "" {
			words = append(words, w)
		} else if w := st.unattached(p); w != "" {
			words = append(words, w)
		}
		if deadline := attachedUntil(p); st.observedAt.Before(deadline) {
			s.waitUntil(deadline)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if problem, deadline := st.gatewaysApart(); problem != "" {
		words, s.dut = append(words, problem), isFalse(v1alpha1.ReasonNoTunnel, problem)
	} else if st.observedAt.Before(deadline) {
		s.waitUntil(deadline)
	}
	s.message = wording.JoinNonEmpty("; ", words...)
	if len(words) == 0 {
		s.message = "pods aren't ready yet: " + listed(waiting)
	}
	return s.waitUntil(st.deadlines.placedUntil()).waitUntil(st.queueing.givesBackAt())
}

// unattached says that a pod has had no sandbox for long. Its events say what Multus, a CNI plugin or a volume lacks.
// Empty means that it has a sandbox, or hasn't waited long.
func (st *startup) unattached(p *corev1.Pod) string {
	if deadline := attachedUntil(p); deadline.IsZero() || st.observedAt.Before(deadline) {
		return ""
	}
	return fmt.Sprintf("pod %s on node %s is still without its networks and volumes: kubectl describe pod %s tells "+
		"why "+
		"(Multus, CNI, device plugin)",
		p.Name, p.Spec.NodeName, p.Name)
}

// gatewaysApart says that both gateways of a tunnel run and haven't both become ready, for which each has to meet the
// other. deadline is when they should have met. Empty and zero mean that they have met, or that there is no tunnel.
func (st *startup) gatewaysApart() (problem string, deadline time.Time) {
	pods, cables := st.attempt.podsWithRole(v1alpha1.RoleDUT), st.blueprint.cluster().Networks
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
		deadline = latest(deadline, st.clusterTime(p, runningFrom).Add(meetGrace))
	}
	if st.observedAt.Before(deadline) {
		return "", deadline
	}
	return fmt.Sprintf("the tunnel's gateways run in pods %s and %s, and don't reach each other over network %s: it "+
		"has "+
		"to join the two, and nobody else, as a cable would: kubectl logs %s tells what came of it",
		pods[0].Name, pods[1].Name, cables[i].DUT, pods[1].Name), deadline
}

// readyDelay is the rule for pods that are ready while the DUT is given its time.
func (st *startup) readyDelay() *step {
	due := st.delayedUntil()
	if due.IsZero() || !st.observedAt.Before(due) {
		return nil
	}
	message := fmt.Sprintf("the device under test is given spec.dut.readyDelay (%s)", st.test.Spec.DUT.ReadyDelay)
	s := &step{reason: v1alpha1.ReasonDelayed, message: message, activity: activityStarting,
		dut: isFalse(v1alpha1.ReasonDelayed, message)}
	return s.waitUntil(due).waitUntil(st.deadlines.placedUntil())
}

// clusterTime corrects a time by the clock of a pod's node to the cluster's clock, as far as the node's clock
// is known to be behind or ahead.
func (st *startup) clusterTime(p *corev1.Pod, moment time.Time) time.Time {
	corrected := earliestClusterTime(p, moment)
	if moment.After(st.observedAt) && !corrected.IsZero() {
		return corrected
	}
	return latest(moment, corrected)
}

// delayedUntil is when readyDelay is over. Zero means that there is no delay. A node's clock that is ahead doesn't
// make it longer than readyDelay from now, and one that is behind doesn't make it shorter.
func (st *startup) delayedUntil() time.Time {
	delay := duration(st.test.Spec.DUT.ReadyDelay)
	if delay == 0 || st.attempt.hasBegun() {
		return time.Time{}
	}
	var readyAt time.Time
	for _, p := range st.attempt.podsWithRole(v1alpha1.RoleSetup) {
		readyAt = latest(readyAt, st.clusterTime(p, endedAt(p)))
	}
	for _, p := range st.attempt.podsWithRole(v1alpha1.RoleDUT) {
		readyAt = latest(readyAt, st.clusterTime(p, readySince(p)))
	}
	if readyAt.IsZero() {
		return time.Time{}
	}
	if readyAt.After(st.observedAt) {
		readyAt = st.observedAt
	}
	return readyAt.Add(delay)
}

// settingUp is the rule for a setup pod, which runs to its end before any other pod is made.
func (st *startup) settingUp() *step {
	if st.setup.isDone() {
		return nil
	}
	notYet := isFalse(v1alpha1.ReasonNotStarted, "the setup pod comes first")
	pods := st.attempt.podsWithRole(v1alpha1.RoleSetup)
	if len(pods) == 0 {
		s := st.placement.createMissing("SettingUp", manifests.Links(st.blueprint.input()),
			manifests.Setup(st.blueprint.input()))
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
	return s.waitUntil(st.setup.deadline(p)).waitUntil(st.deadlines.placedUntil()).waitUntil(st.queueing.givesBackAt())
}

// activityStarting is the step of a test whose pods have nodes.
const activityStarting = "Starting"

// troubleOf says what keeps a pod's containers from starting and won't pass by waiting. Empty means that
// nothing is known.
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

// startProblem is what to do about the reason for which a container waits. Empty means that the container is starting.
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

// attachedUntil is when a pod should have had its networks and volumes. Zero means that the pod has them, or has no
// node.
func attachedUntil(p *corev1.Pod) time.Time {
	scheduled := condition(p, corev1.PodScheduled)
	if p.Status.Phase != corev1.PodPending || scheduled.Status != corev1.ConditionTrue ||
		condition(p, corev1.PodReadyToStartContainers).Status == corev1.ConditionTrue {
		return time.Time{}
	}
	return scheduled.LastTransitionTime.Add(attachGrace)
}

// runningSince is when the last of a pod's containers started, by its node's clock. Zero means that a container doesn't
// run.
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

// earliestClusterTime converts a time x by the clock of a pod's node into the earliest time that it can be by
// the cluster's clock (API server, scheduler, controllers). Zero means unknown. A kubelet starts a pod after
// the scheduler placed it, so the node's clock is ahead by at most what its own reading says lay between the
// two.
//
//	cluster  scheduled ─┬───────────── ≥ x − (started − scheduled)
//	node                └─ started ─── x
func earliestClusterTime(p *corev1.Pod, x time.Time) time.Time {
	scheduled, started := condition(p, corev1.PodScheduled).LastTransitionTime, p.Status.StartTime
	if x.IsZero() || scheduled.IsZero() || started == nil {
		return time.Time{}
	}
	return x.Add(scheduled.Sub(started.Time))
}
