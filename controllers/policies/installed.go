package policies

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// Options are which policies are installed. The zero value installs none.
type Options struct {
	NetworkPolicies, DisruptionBudgets bool
	// Namespace is the operator's own, whose runners may reach generators.
	Namespace string
	// Clock is the current time.
	Clock func() time.Time
}

// checkInterval is how often the policies of a namespace are checked, since an administrator may have deleted them,
// or the namespace.
const checkInterval = 10 * time.Minute

// Installer remembers which namespaces have their policies. It is safe for concurrent use.
type Installer struct {
	client  client.Client
	options Options

	mu sync.Mutex
	// checkAt is when the policies of a namespace, or of a test by its UID, are checked again.
	checkAt map[string]time.Time
}

// New makes an installer that uses a client.
func New(c client.Client, options Options) *Installer {
	return &Installer{client: c, options: options, checkAt: map[string]time.Time{}}
}

// Ensure creates the policies that a namespace lacks. Existing objects of these names aren't changed, since the
// namespace's administrator may have changed them. A policy that can't be created at all, because the operator lacks
// the right or the cluster the kind, is logged, and delays no test. A returned error may be transient.
func (i *Installer) Ensure(ctx context.Context, namespace string) error {
	var objects []manifests.Object
	if i.options.NetworkPolicies {
		objects = manifests.NetworkPolicies(namespace, i.options.Namespace)
	}
	if i.options.DisruptionBudgets {
		objects = append(objects, manifests.DisruptionBudget(namespace))
	}
	err := i.install(ctx, namespace, objects)
	// Runners are in the operator's own namespace.
	if operatorNamespace := i.options.Namespace; err == nil && i.options.DisruptionBudgets && operatorNamespace != "" {
		err = i.install(ctx, operatorNamespace, []manifests.Object{manifests.DisruptionBudget(operatorNamespace)})
	}
	return err
}

// NotCreatedError is the API server's answer to a test's own NetworkPolicy that it refused.
type NotCreatedError struct {
	Policy manifests.Object
	Err    error
}

func (e *NotCreatedError) Error() string {
	return fmt.Sprintf("make NetworkPolicy %s: %v", e.Policy.GetName(), e.Err)
}

// Unwrap returns the API server's error.
func (e *NotCreatedError) Unwrap() error { return e.Err }

// EnsureForTest creates the NetworkPolicy of a test whose pods admit their own runner alone, unless it was created
// recently. A *NotCreatedError means that the API server refused it, and that no runner would reach the test's pods.
func (i *Installer) EnsureForTest(ctx context.Context, test *v1alpha1.LoadTest) error {
	if !i.options.NetworkPolicies {
		return nil
	}
	policy, needed := manifests.OwnRunnerPolicy(test, i.options.Namespace)
	key := "test/" + string(test.UID) // no namespace has a slash in its name
	if !needed || i.installed(key) {
		return nil
	}
	err := i.client.Create(ctx, policy.DeepCopyObject().(client.Object))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return &NotCreatedError{policy, err}
	}
	i.recordInstalled(key)
	return nil
}

func (i *Installer) install(ctx context.Context, namespace string, objects []manifests.Object) error {
	if i.installed(namespace) {
		return nil
	}
	log := ctrl.LoggerFrom(ctx).WithValues("namespace", namespace)
	for _, o := range objects {
		err := i.client.Create(ctx, o)
		switch {
		case err == nil:
			log.Info("policy installed", "kind", o.GetObjectKind().GroupVersionKind().Kind, "name", o.GetName())
		case apierrors.IsAlreadyExists(err):
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			return nil
		case pass.RefusedForGood(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) ||
			meta.IsNoMatchError(err):
			log.Error(err, "a policy can't be installed, and docs/security.md says what it is for", "name", o.GetName())
		default:
			return fmt.Errorf("make %s of namespace %s: %w", o.GetName(), namespace, err)
		}
	}
	i.recordInstalled(namespace)
	return nil
}

func (i *Installer) installed(key string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.options.Clock().Before(i.checkAt[key])
}

func (i *Installer) recordInstalled(key string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.options.Clock()
	maps.DeleteFunc(i.checkAt, func(_ string, due time.Time) bool { return !now.Before(due) })
	i.checkAt[key] = now.Add(checkInterval)
}
