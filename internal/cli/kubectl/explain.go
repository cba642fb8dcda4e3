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

// explain says what went wrong with a LoadTest, and the way out; nil stays nil.
func (c *cluster) explain(verb string, at client.ObjectKey, err error) error {
	return c.explainOf(v1alpha1.LoadTestKind, verb, at, err)
}

// explainOf is explain for objects of a kind.
func (c *cluster) explainOf(kind, verb string, at client.ObjectKey, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return exit.Interrupted("interrupted")
	case meta.IsNoMatchError(err), unknownKind(err):
		return exit.NotMeasured("the cluster %s knows no %ss: install linerate there (docs/install.md), or choose another with --context", c.host(), kind)
	case ofKind(err, "namespaces"):
		return exit.BadInput("there is no namespace %s: kubectl create namespace %s, or choose another with -n", at.Namespace, at.Namespace)
	case apierrors.IsNotFound(err) && at.Name != "":
		return notThere("no %s %s in namespace %s: kubectl linerate list -A shows all", kind, at.Name, at.Namespace)
	case denied(err):
		return exit.BadInput("%w", err)
	case apierrors.IsForbidden(err):
		return exit.NotMeasured("you may not %s %ss in namespace %s: ask its admin for the role edit there (view is enough to look); the server says: %w", verb, kind, at.Namespace, err)
	case apierrors.IsUnauthorized(err):
		return exit.NotMeasured("the cluster %s doesn't know you: log in again, or choose another context with --context", c.host())
	case apierrors.IsConflict(err):
		return exit.NotMeasured("%s: it was deleted and made anew meanwhile: look at it with kubectl linerate list, and try again", at.Name)
	case apierrors.IsInvalid(err):
		return exit.BadInput("%w", err)
	case unreachable(err):
		return exit.NotMeasured("the cluster %s can't be reached: %w; kubectl cluster-info asks the same server, --context chooses another", c.host(), request(err))
	}
	return exit.NotMeasured("%s: %w", verb, err)
}

func (c *cluster) host() string {
	if c.config == nil {
		return "of the kubeconfig"
	}
	return c.config.Host
}

// explainReport says why a Report can't be had.
func (c *cluster) explainReport(at client.ObjectKey, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return exit.NotMeasured("ConfigMap %s in namespace %s is gone, and the Report with it: status.summary has the result in one line; create the test anew for more", at.Name, at.Namespace)
	case apierrors.IsForbidden(err):
		return exit.NotMeasured("you may not read ConfigMap %s in namespace %s, which holds the Report: ask its admin for the role view there; the server says: %w", at.Name, at.Namespace, err)
	}
	return c.explain("read the Report of", client.ObjectKey{Namespace: at.Namespace}, err)
}

// overloaded is a server's answer that it can't do what is asked for at the moment.
func overloaded(err error) bool {
	return apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err)
}

// unknownKind is a server's answer for a kind that it doesn't serve, which is a "not found" without a name.
func unknownKind(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && (status.Status().Details == nil || status.Status().Details.Name == "")
}

// ofKind says that what wasn't found is of another kind than what was asked for.
func ofKind(err error, kind string) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Kind == kind
}

// denied says that a policy or webhook of the cluster's refuses the object, in words of its own.
func denied(err error) bool {
	_, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && strings.Contains(err.Error(), "denied")
}

// unreachable says that no API server answered.
func unreachable(err error) bool {
	if _, answered := errors.AsType[*apierrors.StatusError](err); answered {
		return false
	}
	_, transport := errors.AsType[*url.Error](err)
	_, network := errors.AsType[net.Error](err)
	return transport || network
}

// request is the error of the request itself, without what a library was about to do with its answer.
func request(err error) error {
	if asked, ok := errors.AsType[*url.Error](err); ok {
		return asked
	}
	return err
}

// noReport says why a test or a suite has none.
func noReport(o client.Object) error {
	name := o.GetName()
	if ended := endOf(o); ended != nil {
		return fmt.Errorf("%s ended without a Report, as %s: %s", name, ended.Reason, ended.Message)
	}
	return fmt.Errorf("%s has no Report yet (%s): kubectl linerate watch %s -n %s follows it to its end", name, momentOf(o).sentence(), name, o.GetNamespace())
}
