package kubectl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

// explain adds advice to an API error about a LoadTest. It returns nil for nil.
func (c *cluster) explain(verb string, key client.ObjectKey, err error) error {
	return c.explainOf(v1alpha1.LoadTestKind, verb, key, err)
}

// explainOf adds advice to an API error about an object of a kind.
func (c *cluster) explainOf(kind, verb string, key client.ObjectKey, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return exit.Interrupted("interrupted")
	case meta.IsNoMatchError(err), unknownKind(err):
		return exit.NotMeasured("the cluster %s knows no %ss: install linerate there (docs/install.md), or choose "+
			"another with --context",
			c.host(), kind)
	case isAbout(err, "namespaces"):
		return exit.BadInput("there is no namespace %[1]s: kubectl create namespace %[1]s, or choose another with -n",
			key.Namespace)
	case apierrors.IsNotFound(err) && key.Name != "":
		return notFound("no %s %s in namespace %s: kubectl linerate list -A shows all", kind, key.Name, key.Namespace)
	case denied(err):
		return exit.BadInput("%w", err)
	case apierrors.IsForbidden(err):
		return exit.NotMeasured("you may not %s %ss in namespace %s: ask its admin for the role edit there (view is "+
			"enough to look); the server says: %w",
			verb, kind, key.Namespace, err)
	case apierrors.IsUnauthorized(err):
		return exit.NotMeasured("the cluster %s doesn't know you: log in again, or choose another context with "+
			"--context", c.host())
	case apierrors.IsConflict(err):
		return exit.NotMeasured("%s %s was deleted and made anew meanwhile: kubectl linerate list shows it; try again",
			kind, key.Name)
	case apierrors.IsInvalid(err):
		return exit.BadInput("%w", err)
	case unreachable(err):
		if urlErr, ok := errors.AsType[*url.Error](err); ok { // without the words of a library around the request
			err = urlErr
		}
		return exit.NotMeasured("the cluster %s can't be reached: %w; kubectl cluster-info asks the same server, "+
			"--context chooses another",
			c.host(), err)
	}
	return exit.NotMeasured("%s: %w", verb, err)
}

func (c *cluster) host() string {
	if c.config == nil {
		return "of the kubeconfig"
	}
	return c.config.Host
}

// overloaded reports whether a server answered that it can't handle the request at the moment.
func overloaded(err error) bool {
	return apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err)
}

// unknownKind reports whether a server doesn't serve the kind. Its answer is a "not found" without a name.
func unknownKind(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && (status.Status().Details == nil || status.Status().Details.Name == "")
}

// isAbout reports whether an object of this resource wasn't found, such as the namespace of the requested object.
func isAbout(err error, kind string) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Kind == kind
}

// denied reports whether a policy or a webhook of the cluster refuses the object. The error has its words.
func denied(err error) bool {
	_, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && strings.Contains(err.Error(), "denied")
}

// unreachable reports whether no API server answered.
func unreachable(err error) bool {
	if _, answered := errors.AsType[*apierrors.StatusError](err); answered {
		return false
	}
	_, transport := errors.AsType[*url.Error](err)
	_, network := errors.AsType[net.Error](err)
	return transport || network
}

// noReport says why a test or a suite has no Report.
func noReport(o client.Object) error {
	name := o.GetName()
	if ended := endOf(o); ended != nil {
		return fmt.Errorf("%s ended without a Report, as %s: %s", name, ended.Reason, ended.Message)
	}
	return fmt.Errorf("%[1]s has no Report yet (%[2]s): kubectl linerate watch %[1]s -n %[3]s follows it to its end",
		name, momentOf(o).sentence(), o.GetNamespace())
}
