package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Wire is a physical port whose Lease is held by a test of another operator's namespaces. The Lease's own
// operator can't see when that test ends.
type Wire struct {
	Lease      types.NamespacedName
	Node, Port string
	// Test is the test that holds the Lease. Empty means that the Lease names none. UID is the test's UID.
	Test types.NamespacedName
	UID  types.UID
	// Pods are the UIDs of the test's generators; empty where they run outside the cluster.
	Pods []types.UID
	// Holder is the LoadTest of the name in Test.
	Holder Answer[*v1alpha1.LoadTest]
}

// maxWires is how many Leases of a namespace are read and reported.
const maxWires = 20

// readWires reads the Leases of physical ports that no operator gives back.
func (lab *Lab) readWires(ctx context.Context, c client.Client) {
	lab.Wires = map[string]Answer[[]Wire]{}
	for i := range lab.Operators.Value {
		namespace := leasesOf(&lab.Operators.Value[i])
		if _, isRead := lab.Wires[namespace]; isRead {
			continue
		}
		leases := &coordinationv1.LeaseList{}
		err := list(ctx, c, leases, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelWire})
		answer := Answer[[]Wire]{Err: err}
		for i := range leases.Items {
			w := wireOf(&leases.Items[i])
			if len(answer.Value) == maxWires || w.Test.Name != "" && lab.watches(namespace, w.Test.Namespace) {
				continue
			}
			if w.Test.Name != "" {
				w.Holder = get(ctx, c, &v1alpha1.LoadTest{}, w.Test)
			}
			answer.Value = append(answer.Value, w)
		}
		lab.Wires[namespace] = answer
	}
}

// wireOf parses a Lease, whose holder is NAMESPACE/NAME/UID/ATTEMPT.
func wireOf(lease *coordinationv1.Lease) Wire {
	w := Wire{
		Lease: client.ObjectKeyFromObject(lease), Node: lease.Annotations[v1alpha1.AnnotationWireNode],
		Port: lease.Annotations[v1alpha1.AnnotationWirePort],
	}
	for pod := range strings.SplitSeq(lease.Annotations[v1alpha1.AnnotationWirePods], ",") {
		if _, uid, ok := strings.Cut(pod, "/"); ok {
			w.Pods = append(w.Pods, types.UID(uid))
		}
	}
	if lease.Spec.HolderIdentity == nil {
		return w
	}
	if parts := strings.Split(*lease.Spec.HolderIdentity, "/"); len(parts) == 4 {
		w.Test, w.UID = types.NamespacedName{Namespace: parts[0], Name: parts[1]}, types.UID(parts[2])
	}
	return w
}

// watches reports whether an operator that keeps its Leases in namespace leases runs the LoadTests of the other
// namespace.
func (lab *Lab) watches(leases, namespace string) bool {
	return slices.ContainsFunc(lab.Operators.Value, func(d appsv1.Deployment) bool {
		namespaces := namespacesOf(&d)
		return leasesOf(&d) == leases && (len(namespaces) == 0 || slices.Contains(namespaces, namespace))
	})
}

// leasesOf is the namespace in which an operator keeps the Leases of physical ports. The default is its own.
func leasesOf(d *appsv1.Deployment) string {
	namespace, _ := settingOf(d, "--port-leases-namespace", "LINERATE_PORT_LEASES_NAMESPACE")
	return cmp.Or(namespace, d.Namespace)
}

// namespacesOf are the namespaces whose LoadTests an operator runs (--namespaces). Empty means all.
func namespacesOf(d *appsv1.Deployment) []string {
	names, _ := settingOf(d, "--namespaces", "LINERATE_NAMESPACES")
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
}

// settingOf is an operator's setting by a flag, or by the flag's environment variable.
func settingOf(d *appsv1.Deployment, flag, variable string) (value string, isSet bool) {
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == variable {
				value = e.Value
			}
		}
		for i, arg := range c.Args {
			if text, ok := strings.CutPrefix(arg, flag+"="); ok {
				value = text
			}
			if arg == flag && i+1 < len(c.Args) {
				value = c.Args[i+1]
			}
		}
	}
	return value, value != ""
}

// portGuards finds operators that don't keep tests off each other's physical ports. Several may keep their
// Leases in different namespaces, or one doesn't know the namespace and hands out no devices that share a port.
func portGuards(lab Lab) []Finding {
	const check = "physical ports"
	var findings []Finding
	var namespaces []string
	for i := range lab.Operators.Value {
		d := &lab.Operators.Value[i]
		if _, isSet := settingOf(d, "--port-leases-namespace", "LINERATE_PORT_LEASES_NAMESPACE"); !isSet &&
			len(namespacesOf(d)) > 0 {
			findings = append(findings, Finding{Fail, check,
				fmt.Sprintf("operator %s/%s looks after some namespaces only, and doesn't know in which namespace "+
					"all operators keep the Leases of physical ports: its tests get no devices that share a port",
					d.Namespace, d.Name),
				fmt.Sprintf("helm upgrade with physicalPorts.namespace: %s where it is the only operator; else the "+
					"namespace that the others have", d.Namespace)})
			continue
		}
		if namespace := leasesOf(d); !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
		}
	}
	if len(namespaces) > 1 {
		findings = append(findings, Finding{Fail, check,
			fmt.Sprintf("operators keep the Leases of physical ports in different namespaces (%s): tests of "+
				"different operators may be put on one port at the same time",
				strings.Join(namespaces, ", ")),
			"helm upgrade them with one physicalPorts.namespace"})
	}
	return findings
}

// wires finds physical ports whose Leases are held although no test may need them.
func wires(lab Lab) []Finding {
	findings := portGuards(lab)
	for _, namespace := range slices.Sorted(maps.Keys(lab.Wires)) {
		answer := lab.Wires[namespace]
		if answer.Err != nil {
			findings = append(findings, unreadable("physical ports", "the Leases of namespace "+namespace, answer.Err,
				"kubectl get leases -n "+namespace+" -l "+v1alpha1.LabelWire)...)
		}
		for _, w := range answer.Value {
			findings = append(findings, lab.wire(w))
		}
	}
	return findings
}

// wire judges one port. A port on which a pod may still send isn't free.
func (lab *Lab) wire(w Wire) Finding {
	remove := fmt.Sprintf("kubectl delete lease -n %s %s", w.Lease.Namespace, w.Lease.Name)
	port := fmt.Sprintf("port %s of node %s", w.Port, w.Node)
	if w.Test.Name == "" {
		return Finding{Warn, "physical ports",
			fmt.Sprintf("%s is held by Lease %s, which doesn't say for which test: no test gets it", port, w.Lease),
			"if nothing sends on it: " + remove}
	}
	message, ended := w.state()
	sending := lab.sending(w)
	switch {
	case !ended:
		remove = "wait for its end, or delete it; then: " + remove
	case lab.Pods.Err != nil:
		message += ", and whether pods of it may still send can't be read"
		remove = fmt.Sprintf("when kubectl get pods -n %s -l %s=%s shows none: %s", w.Test.Namespace, v1alpha1.LabelUID,
			w.UID, remove)
	case len(sending) > 0:
		message += ", and may still send: " + strings.Join(sending, ", ")
		remove = "delete these pods; then: " + remove
	default:
		message += ", and nothing of it can send"
	}
	return Finding{Warn, "physical ports", fmt.Sprintf("%s is held for LoadTest %s, whose namespace the operator in "+
		"%s doesn't look after: "+
		"it is never given back, and no other test gets it; %s", port, w.Test, w.Lease.Namespace, message), remove}
}

// state describes the test that holds the Lease, and reports whether it has ended.
func (w Wire) state() (description string, ended bool) {
	switch test := w.Holder.Value; {
	case apierrors.IsNotFound(w.Holder.Err) || meta.IsNoMatchError(w.Holder.Err):
		return "that test is gone", true
	case w.Holder.Err != nil:
		return "whether that test is over can't be read: " + w.Holder.Err.Error(), false
	case test.UID != w.UID:
		return "that test is gone (another one has its name)", true
	case meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete):
		return "that test is complete", true
	}
	return "that test isn't complete", false
}

// sending are the pods that may still send on the port. They are the generators that the Lease names, or else
// the pods with the labels of the test's generators and runners.
func (lab *Lab) sending(w Wire) (pods []string) {
	for _, p := range lab.Pods.Value {
		role := p.Labels[v1alpha1.LabelRole]
		sends := p.Labels[v1alpha1.LabelUID] == string(w.UID) && (role == "generator" || role == "runner" ||
			role == "external-runner")
		if len(w.Pods) > 0 {
			sends = slices.Contains(w.Pods, p.UID)
		}
		if sends && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			pods = append(pods, p.Namespace+"/"+p.Name)
		}
	}
	return pods
}
