package doctor

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// enforceLabel is the label of Pod Security Admission's (Kubernetes, "Pod Security Admission").
const enforceLabel = "pod-security.kubernetes.io/enforce"

func podSecurity(lab Lab) []Finding {
	check := "namespace " + lab.Namespace
	fix := fmt.Sprintf("kubectl label namespace %s %s=privileged --overwrite (docs/security.md says what for)",
		lab.Namespace, enforceLabel)
	switch err := lab.Home.Err; {
	case apierrors.IsNotFound(err):
		return single(Fail, check, "doesn't exist", "kubectl create namespace "+lab.Namespace+
			", or choose another with -n")
	case err != nil:
		return unreadable(check, "its Pod Security level", err, "kubectl get namespace "+lab.Namespace+
			" --show-labels; baseline and restricted refuse generators")
	}
	switch level := lab.Home.Value.Labels[enforceLabel]; level {
	case "privileged":
		return single(OK, check, "Pod Security lets generators in (privileged)", "")
	case "":
		return single(OK, check, "enforces no Pod Security level of its own; where the cluster's default is baseline "+
			"or restricted, the test's condition Scheduled says PodRefused", "")
	default:
		return single(Fail, check, "Pod Security "+level+" refuses generators, which need NET_ADMIN and NET_RAW", fix)
	}
}
