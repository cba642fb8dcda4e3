package loadtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// observation is what a decision is made from.
type observation struct {
	lifecycle.Observed
	childList *childList
	// tried are the objects of this pass's dry run, and tryTook is how long that took.
	tried   []manifests.Object
	tryTook time.Duration
	// giveBack returns the memory of the Reports in the observation. It is nil if the observation has none.
	giveBack func()
}

// releaseMemory returns the memory of Reports. The observation must not be used afterwards.
func (o *observation) releaseMemory() {
	if o.giveBack != nil {
		o.giveBack()
		o.giveBack = nil
	}
}

// observe reads the caches. It returns nil without an error where the LoadTest doesn't exist any more.
func (r *Reconciler) observe(ctx context.Context, name types.NamespacedName) (*observation, error) {
	test := &v1alpha1.LoadTest{}
	if !r.options.Namespaces.Contains(name.Namespace) { // another operator's runs may share this one's namespace
		return nil, nil
	}
	if err := r.client.Get(ctx, name, test); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.memory.forget(name)
			r.inventory.Forget(name)
			// a deleted LoadTest is no error
			return nil, errors.Join(r.clearRuns(ctx, name), r.portClaims.ReleaseOf(ctx, name))
		}
		return nil, fmt.Errorf("get the LoadTest: %w", err)
	}
	childList, err := r.children(ctx, test)
	if err != nil {
		return nil, err
	}
	now := pass.AsStored(r.options.Clock())
	if atMost := r.memory.behind(test, childList.refs, now); atMost > 0 {
		return nil, pass.Wait("the caches lack what was written last", atMost)
	}
	if err := r.checkTakenNames(ctx, test, &childList.children); err != nil {
		return nil, err
	}
	lab, labErr := r.lab(ctx, test)
	ports, portsErr := r.portClaims.Observe(ctx, test, childList.children.Pods)
	if err := errors.Join(labErr, portsErr); err != nil {
		return nil, err
	}
	observed := lifecycle.Observed{
		Test: test, ObservedAt: now, Settings: r.options.Settings, Inventory: lab, Children: childList.children,
		Ports: ports,
	}
	if !meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		observed.Compiled = r.inventory.Compiled(test)
	}
	if placing(test) && len(lab.Networks) > 0 {
		hasPods := len(test.Status.Pods) > 0 // pods of this attempt, since an earlier attempt's don't count as a turn
		if observed.Turn, err = r.turns.TurnOf(ctx, test, hasPods, now); err != nil {
			return nil, err
		}
	}
	return &observation{Observed: observed, childList: childList}, nil
}

// lab is what the cluster has for the test. It is empty for a complete test.
func (r *Reconciler) lab(ctx context.Context, test *v1alpha1.LoadTest) (lifecycle.Inventory, error) {
	if meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		return lifecycle.Inventory{}, nil
	}
	nodes, err := r.inventory.Nodes(ctx)
	if err != nil {
		return lifecycle.Inventory{}, err
	}
	lab, err := r.inventory.NetworksOf(ctx, test)
	if errors.Is(err, inventory.ErrListing) && !placing(test) {
		err = nil
	}
	lab.Nodes, lab.Grows = nodes, r.options.NodesGrow
	return lab, err
}

// placing says that pods may have to be made, for which networks must be known. A test that runs, stops or is
// suspended doesn't wait until networks are listed, which may never happen.
func placing(test *v1alpha1.LoadTest) bool {
	return test.Status.StartTime == nil && !test.Spec.Stop && !test.Spec.Suspend
}
