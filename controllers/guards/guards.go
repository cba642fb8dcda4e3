package guards

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

// Options are which guards there are. The zero value has none.
type Options struct {
	NetworkPolicies, DisruptionBudgets bool
	// Namespace is the operator's own, whose runners may reach generators.
	Namespace string
	// Clock tells the time.
	Clock func() time.Time
}

// again is how often the guards of a namespace are checked: somebody may have deleted them, or the namespace.
const again = 10 * time.Minute

// Guards remembers which namespaces have their guards. It is safe for concurrent use.
type Guards struct {
	client  client.Client
	options Options

	mu sync.Mutex
	// up is until when the guards of a namespace, and of a test by its UID, aren't checked again.
	up map[string]time.Time
}

// New makes guards through a client.
func New(c client.Client, options Options) *Guards {
	return &Guards{client: c, options: options, up: map[string]time.Time{}}
}

// Ensure creates the guards that a namespace lacks. Existing objects of these names stay as they are: the namespace's administrator may have changed them. A guard that can't be created at all,
// because the operator lacks the right or the cluster the kind, is logged, and holds up no test; an error may pass.
func (g *Guards) Ensure(ctx context.Context, namespace string) error {
	if g == nil {
		return nil
	}
	if err := g.putUp(ctx, namespace, g.of(namespace)); err != nil || !g.options.DisruptionBudgets || g.options.Namespace == "" {
		return err
	}
	return g.putUp(ctx, g.options.Namespace, []manifests.Object{manifests.DisruptionBudget(g.options.Namespace)}) // where the runners are
}

// UnmadeError is the API server's answer to a test's own NetworkPolicy that it didn't take.
type UnmadeError struct {
	Policy manifests.Object
	Err    error
}

func (e *UnmadeError) Error() string {
	return fmt.Sprintf("make NetworkPolicy %s: %v", e.Policy.GetName(), e.Err)
}

// Unwrap gives the server's words.
func (e *UnmadeError) Unwrap() error { return e.Err }

// EnsureFor creates the NetworkPolicy of a test whose pods admit their own runner alone, unless it was there a short while ago. Where the API server doesn't take it, an *UnmadeError, nobody
// would reach the test's pods.
func (g *Guards) EnsureFor(ctx context.Context, test *v1alpha1.LoadTest) error {
	if g == nil || !g.options.NetworkPolicies {
		return nil
	}
	policy, needed := manifests.OwnRunnerPolicy(test, g.options.Namespace)
	key := "test/" + string(test.UID) // as no namespace is named
	if !needed || g.standing(key) {
		return nil
	}
	if err := g.client.Create(ctx, policy.DeepCopyObject().(client.Object)); err != nil && !apierrors.IsAlreadyExists(err) {
		return &UnmadeError{policy, err}
	}
	g.stand(key)
	return nil
}

func (g *Guards) putUp(ctx context.Context, namespace string, guards []manifests.Object) error {
	if g.standing(namespace) {
		return nil
	}
	for _, o := range guards {
		err := g.client.Create(ctx, o)
		switch {
		case err == nil:
			ctrl.LoggerFrom(ctx).Info("guard made", "kind", o.GetObjectKind().GroupVersionKind().Kind, "name", o.GetName(), "namespace", namespace)
		case apierrors.IsAlreadyExists(err):
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			return nil
		case pass.RefusedForGood(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			ctrl.LoggerFrom(ctx).Error(err, "a guard can't be made: docs/security.md says what it is for", "name", o.GetName(), "namespace", namespace)
		default:
			return fmt.Errorf("make %s of namespace %s: %w", o.GetName(), namespace, err)
		}
	}
	g.stand(namespace)
	return nil
}

// of are a namespace's guards.
func (g *Guards) of(namespace string) (all []manifests.Object) {
	if g.options.NetworkPolicies {
		all = manifests.NetworkPolicies(namespace, g.options.Namespace)
	}
	if g.options.DisruptionBudgets {
		all = append(all, manifests.DisruptionBudget(namespace))
	}
	return all
}

func (g *Guards) standing(namespace string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.options.Clock().Before(g.up[namespace])
}

func (g *Guards) stand(namespace string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.options.Clock()
	maps.DeleteFunc(g.up, func(_ string, until time.Time) bool { return !now.Before(until) })
	g.up[namespace] = now.Add(again)
}
