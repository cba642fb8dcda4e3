package doctor

import (
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
	// Holder is the LoadTest of that name.
	Holder Answer[*v1alpha1.LoadTest]
}

// mostWires is how many Leases are looked into, and told of.
const mostWires = 20

// lookAtWires reads the Leases of physical ports that no operator gives back.
func (lab *Lab) lookAtWires(ctx context.Context, c client.Client) {
	lab.Wires = map[string]Answer[[]Wire]{}
	for _, o := range lab.Operators.Value {
		if _, seen := lab.Wires[o.Namespace]; seen {
			continue
		}
		leases := &coordinationv1.LeaseList{}
		err := list(ctx, c, leases, client.InNamespace(o.Namespace), client.HasLabels{v1alpha1.LabelWire})
		answer := Answer[[]Wire]{Err: err}
		for i := range leases.Items {
			w := wireOf(&leases.Items[i])
			if len(answer.Value) == mostWires || w.Test.Name != "" && lab.lookedAfter(o.Namespace, w.Test.Namespace) {
				continue
			}
			if w.Test.Name != "" {
				w.Holder = get(ctx, c, &v1alpha1.LoadTest{}, w.Test)
			}
			answer.Value = append(answer.Value, w)
		}
		lab.Wires[o.Namespace] = answer
	}
}

// wireOf reads a Lease: its holder is NAMESPACE/NAME/UID/ATTEMPT.
func wireOf(lease *coordinationv1.Lease) Wire {
	w := Wire{
		Lease: client.ObjectKeyFromObject(lease), Node: lease.Annotations[v1alpha1.AnnotationWireNode], Port: lease.Annotations[v1alpha1.AnnotationWirePort],
	}
	if lease.Spec.HolderIdentity == nil {
		return w
	}
	if parts := strings.Split(*lease.Spec.HolderIdentity, "/"); len(parts) == 4 {
		w.Test, w.UID = types.NamespacedName{Namespace: parts[0], Name: parts[1]}, types.UID(parts[2])
	}
	return w
}

// lookedAfter says whether an operator in the one namespace looks after the LoadTests of the other.
func (lab *Lab) lookedAfter(operator, namespace string) bool {
	return slices.ContainsFunc(lab.Operators.Value, func(d appsv1.Deployment) bool {
		own := namespacesOf(&d)
		return d.Namespace == operator && (len(own) == 0 || slices.Contains(own, namespace))
	})
}

// namespacesOf are those that an operator was told to look after (--namespaces, or its environment); none: all.
func namespacesOf(d *appsv1.Deployment) []string {
	const flag, variable = "--namespaces", "LINERATE_NAMESPACES"
	var told string
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
	return strings.FieldsFunc(told, func(r rune) bool { return r == ',' || r == ' ' })
}

// wires are told of only where something is wrong: ports that stay held though nobody may need them.
func wires(lab Lab) []Finding {
	var findings []Finding
	told := map[string]bool{}
	for _, o := range lab.Operators.Value {
		if told[o.Namespace] {
			continue
		}
		told[o.Namespace] = true
		answer := lab.Wires[o.Namespace]
		if answer.Err != nil {
			findings = append(findings, unseen("physical ports", "the Leases of namespace "+o.Namespace, answer.Err, "kubectl get leases -n "+o.Namespace+" -l "+v1alpha1.LabelWire)...)
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
	said := fmt.Sprintf("%s is held for LoadTest %s, whose namespace the operator in %s doesn't look after: nobody gives it back, and no other test gets it; ", port, w.Test, w.Lease.Namespace)
	state, over := w.state()
	sending := lab.sending(w.UID)
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

// sending are the pods of a test that could be sending, or tell others to: generators and runners that haven't ended.
func (lab *Lab) sending(test types.UID) (pods []string) {
	for _, p := range lab.Pods.Value {
		role := p.Labels[v1alpha1.LabelRole]
		sends := role == "generator" || role == "runner"
		if p.Labels[v1alpha1.LabelUID] == string(test) && sends && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			pods = append(pods, p.Namespace+"/"+p.Name)
		}
	}
	return pods
}
