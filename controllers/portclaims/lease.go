package portclaims

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// Each port that a test has claimed has a Lease, in one namespace for all operators of the cluster. Names are unique,
// so no second test can claim the port, even across a restart of the operator. The Lease isn't renewed, since
// the operator observes the holder itself to find out whether it still needs the port.
const leasePrefix = "linerate-wire-"

// leaseName is the name of a port's Lease, whichever test claims it.
func leaseName(w lifecycle.Port) string {
	sum := sha256.Sum256([]byte(w.Node + "\n" + w.Name))
	return fmt.Sprintf("%s%x", leasePrefix, sum[:10])
}

// leaseOf is the Lease by which a test claims a port.
func leaseOf(namespace string, request lifecycle.PortRequest, now time.Time) *coordinationv1.Lease {
	h := request.Holder
	annotations := map[string]string{v1alpha1.AnnotationWireNode: request.Port.Node,
		v1alpha1.AnnotationWirePort: request.Port.Name}
	if len(request.Senders) > 0 {
		annotations[v1alpha1.AnnotationWirePods] = writeSenders(request.Senders)
	}
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: leaseName(request.Port),
			Labels:      map[string]string{"app.kubernetes.io/managed-by": "linerate", v1alpha1.LabelWire: "true"},
			Annotations: annotations,
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(strings.Join([]string{h.Namespace, h.Name, string(h.UID), strconv.Itoa(int(h.Attempt))},
				"/")),
			AcquireTime: &metav1.MicroTime{Time: now},
		},
	}
}

// writeSenders and readSenders convert a holder's generators to and from a Lease's annotation, which is a list
// of NAME/UID, separated by commas.
func writeSenders(senders []lifecycle.Sender) string {
	named := make([]string, 0, len(senders))
	for _, s := range senders {
		named = append(named, s.Name+"/"+string(s.UID))
	}
	return strings.Join(named, ",")
}

func readSenders(text string) (senders []lifecycle.Sender) {
	for named := range strings.SplitSeq(text, ",") {
		if name, uid, ok := strings.Cut(named, "/"); ok {
			senders = append(senders, lifecycle.Sender{Name: name, UID: types.UID(uid)})
		}
	}
	return senders
}

// holderOf reads the holder of a Lease. It is false if the Lease isn't linerate's, or can't be read.
func holderOf(lease *coordinationv1.Lease) (h lifecycle.Holder, ok bool) {
	if lease.Spec.HolderIdentity == nil {
		return h, false
	}
	parts := strings.Split(*lease.Spec.HolderIdentity, "/")
	if len(parts) != 4 {
		return h, false
	}
	attempt, err := strconv.ParseInt(parts[3], 10, 32)
	return lifecycle.Holder{Namespace: parts[0], Name: parts[1], UID: types.UID(parts[2]), Attempt: int32(attempt)},
		err == nil
}

// claimOf reads a Lease. It is false if the Lease isn't linerate's, or can't be read.
func claimOf(ctx context.Context, lease *coordinationv1.Lease) (claim lifecycle.PortClaim, ok bool) {
	holder, ok := holderOf(lease)
	if !ok {
		ctrl.LoggerFrom(ctx).Info("a Lease of a physical port has no holder that can be read, and is let be", "lease",
			lease.Name)
		return claim, false
	}
	return lifecycle.PortClaim{
		Port: lifecycle.Port{Node: lease.Annotations[v1alpha1.AnnotationWireNode],
			Name: lease.Annotations[v1alpha1.AnnotationWirePort]},
		Holder: holder, Lease: lease.Namespace + "/" + lease.Name, UID: lease.UID,
		Senders: readSenders(lease.Annotations[v1alpha1.AnnotationWirePods]),
	}, true
}

func nameOf(h lifecycle.Holder) types.NamespacedName {
	return types.NamespacedName{Namespace: h.Namespace, Name: h.Name}
}
