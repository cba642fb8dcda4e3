package doctor

import (
	"cmp"
	"context"
	"fmt"
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

// Wire is a physical port that a Lease keeps for a test which the Lease's own operator can't see: it doesn't know when that is over.
type Wire struct {
	Lease      types.NamespacedName
	Node, Port string
	// Test is the holder; empty where the Lease doesn't say. UID is its UID.
	Test types.NamespacedName
	UID  types.UID
	// Pods are the test's generators, by their UIDs. None are named where they run outside the cluster.
	Pods []types.UID
	// Holder is the LoadTest of that name.
	Holder Answer[*v1alpha1.LoadTest]
}

// mostWires is how many Leases are looked into, and told of.
const mostWires = 20

// lookAtWires reads the Leases of physical ports that no operator gives back.
func (lab *Lab) lookAtWires(ctx context.Context, c client.Client) {
	lab.Wires = map[string]Answer[[]Wire]{}
	for i := range lab.Operators.Value {
		namespace := leasesOf(&lab.Operators.Value[i])
		if _, seen := lab.Wires[namespace]; seen {
			continue
		}
		leases := &coordinationv1.LeaseList{}
		err := list(ctx, c, leases, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelWire})
		answer := Answer[[]Wire]{Err: err}
		for i := range leases.Items {
			w := wireOf(&leases.Items[i])
			if len(answer.Value) == mostWires || w.Test.Name != "" && lab.lookedAfter(namespace, w.Test.Namespace) {
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

// wireOf reads a Lease: its holder is NAMESPACE/NAME/UID/ATTEMPT.
func wireOf(lease *coordinationv1.Lease) Wire {
	w := Wire{
		Lease: client.ObjectKeyFromObject(lease), Node: lease.Annotations[v1alpha1.AnnotationWireNode], Port: lease.Annotations[v1alpha1.AnnotationWirePort],
	}
	for named := range strings.SplitSeq(lease.Annotations[v1alpha1.AnnotationWirePods], ",") {
		if _, uid, ok := strings.Cut(named, "/"); ok {
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

// lookedAfter says whether an operator that keeps its Leases in the one namespace looks after the LoadTests of the other.
func (lab *Lab) lookedAfter(leases, namespace string) bool {
	return slices.ContainsFunc(lab.Operators.Value, func(d appsv1.Deployment) bool {
		own := namespacesOf(&d)
		return leasesOf(&d) == leases && (len(own) == 0 || slices.Contains(own, namespace))
	})
}

// leasesOf is where an operator keeps the Leases of physical ports: its own namespace, unless it was told another.
func leasesOf(d *appsv1.Deployment) string {
	namespace, _ := toldOf(d, "--port-leases-namespace", "LINERATE_PORT_LEASES_NAMESPACE")
	return cmp.Or(namespace, d.Namespace)
}

// namespacesOf are those that an operator was told to look after (--namespaces, or its environment); none: all.
func namespacesOf(d *appsv1.Deployment) []string {
	told, _ := toldOf(d, "--namespaces", "LINERATE_NAMESPACES")
	return strings.FieldsFunc(told, func(r rune) bool { return r == ',' || r == ' ' })
}

// toldOf is what an operator was told by a flag, or its environment.
func toldOf(d *appsv1.Deployment, flag, variable string) (told string, any bool) {
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == variable {
				told = e.Value
			}
		}
		for i, arg := range c.Args {
			if value, is := strings.CutPrefix(arg, flag+"="); is {
				told = value
			}
			if arg == flag && i+1 < len(c.Args) {
				told = c.Args[i+1]
			}
		}
	}
	return told, told != ""
}

// guards finds operators that don't keep tests off each other's physical ports: several that keep their Leases in different namespaces, or one that therefore
// hands out no such devices.
func guards(lab Lab) []Finding {
	const check = "physical ports"
	var findings []Finding
	var places []string
	for i := range lab.Operators.Value {
		d := &lab.Operators.Value[i]
		if _, told := toldOf(d, "--port-leases-namespace", "LINERATE_PORT_LEASES_NAMESPACE"); !told && len(namespacesOf(d)) > 0 {
			findings = append(findings, Finding{Fail, check, fmt.Sprintf("operator %s/%s looks after some namespaces only, and doesn't know in which namespace all operators keep the Leases of physical ports: its tests get no devices that share a port", d.Namespace, d.Name),
				fmt.Sprintf("helm upgrade with physicalPorts.namespace: %s where it is the only operator; else the namespace that the others have", d.Namespace)})
			continue
		}
		if place := leasesOf(d); !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	if len(places) > 1 {
		findings = append(findings, Finding{Fail, check, fmt.Sprintf("operators keep the Leases of physical ports in different namespaces (%s): tests of different operators may be put on one port at the same time", strings.Join(places, ", ")),
			"helm upgrade them with one physicalPorts.namespace"})
	}
	return findings
}

// wires finds physical ports whose Leases are held although no test may need them. Nothing is reported where all is well.
func wires(lab Lab) []Finding {
	findings := guards(lab)
	told := map[string]bool{}
	for i := range lab.Operators.Value {
		namespace := leasesOf(&lab.Operators.Value[i])
		if told[namespace] {
			continue
		}
		told[namespace] = true
		answer := lab.Wires[namespace]
		if answer.Err != nil {
			findings = append(findings, unseen("physical ports", "the Leases of namespace "+namespace, answer.Err, "kubectl get leases -n "+namespace+" -l "+v1alpha1.LabelWire)...)
		}
		for _, w := range answer.Value {
			findings = append(findings, lab.wire(w))
		}
	}
	return findings
}

// wire judges one. A port on which something may still be sent isn't free, whatever its Lease says.
func (lab *Lab) wire(w Wire) Finding {
	remove := fmt.Sprintf("kubectl delete lease -n %s %s", w.Lease.Namespace, w.Lease.Name)
	port := fmt.Sprintf("port %s of node %s", w.Port, w.Node)
	if w.Test.Name == "" {
		return Finding{Warn, "physical ports", fmt.Sprintf("%s is held by Lease %s, which doesn't say for which test: no test gets it", port, w.Lease), "if nothing sends on it: " + remove}
	}
	said := fmt.Sprintf("%s is held for LoadTest %s, whose namespace the operator in %s doesn't look after: it is never given back, and no other test gets it; ", port, w.Test, w.Lease.Namespace)
	state, over := w.state()
	sending := lab.sending(w)
	switch {
	case !over:
		said, remove = said+state, "wait for its end, or delete it; then: "+remove
	case lab.Pods.Err != nil:
		said, remove = said+state+", and whether pods of it may still send can't be read", fmt.Sprintf("when kubectl get pods -n %s -l %s=%s shows none: %s", w.Test.Namespace, v1alpha1.LabelUID, w.UID, remove)
	case len(sending) > 0:
		said, remove = said+state+", and may still send: "+strings.Join(sending, ", "), "delete these pods; then: "+remove
	default:
		said += state + ", and nothing of it can send"
	}
	return Finding{Warn, "physical ports", said, remove}
}

// state is what is known of the holder, and whether it is over.
func (w Wire) state() (words string, over bool) {
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

// sending are the pods of a test that could be sending, and haven't ended: the generators that the Lease names. Where it names none, those that say that they are
// the test's generators or runners.
func (lab *Lab) sending(w Wire) (pods []string) {
	for _, p := range lab.Pods.Value {
		role := p.Labels[v1alpha1.LabelRole]
		sends := p.Labels[v1alpha1.LabelUID] == string(w.UID) && (role == "generator" || role == "runner" || role == "external-runner")
		if len(w.Pods) > 0 {
			sends = slices.Contains(w.Pods, p.UID)
		}
		if sends && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			pods = append(pods, p.Namespace+"/"+p.Name)
		}
	}
	return pods
}
