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
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// observation is what a decision is made from, and whose the objects in it are.
type observation struct {
	lifecycle.Observed
	family *family
	// giveBack gives back the memory of the Reports in it; nil: there are none.
	giveBack func()
}

// letGo gives back the memory of Reports. Nobody may look at the observation any more.
func (o *observation) letGo() {
	if o.giveBack != nil {
		o.giveBack()
		o.giveBack = nil
	}
}

// errRoom is that a pass has a Report in memory, and would wait for room for another one.
var errRoom = pass.Wait("a pass reads one Report at a time", time.Second)

// errBusy is that there is no room for a baseline's Reports while others' are read.
var errBusy = pass.Wait("other tests' Reports are read first", time.Second)

// makeRoom waits until there is memory for what is to be decoded for an observation.
func (r *Reconciler) makeRoom(ctx context.Context, o *observation, bytes int64) (err error) {
	if o.giveBack != nil {
		return errRoom
	}
	o.giveBack, err = r.options.Decoded.Take(ctx, bytes)
	return err
}

// now is the time as the API server would store it.
func (r *Reconciler) now() time.Time { return pass.AsStored(r.options.Clock()) }

// observe reads the caches; nil without an error where the LoadTest doesn't exist any more.
func (r *Reconciler) observe(ctx context.Context, name types.NamespacedName) (*observation, error) {
	test := &v1alpha1.LoadTest{}
	if !r.options.Namespaces.Has(name.Namespace) { // what runs of it are there is another operator's, which may share this one's own namespace
		return nil, nil
	}
	if err := r.client.Get(ctx, name, test); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.memory.forget(name)
			r.inventory.Forget(name)
			return nil, errors.Join(r.clearRuns(ctx, name), r.wires.GiveBackOf(ctx, name)) // nothing is there, and nothing is wrong
		}
		return nil, fmt.Errorf("get the LoadTest: %w", err)
	}
	family, err := r.children(ctx, test)
	if err != nil {
		return nil, err
	}
	now := r.now()
	if atMost := r.memory.behind(test, family.refs, now); atMost > 0 {
		return nil, pass.Wait("the caches lack what was written last", atMost)
	}
	if err := r.checkTakenNames(ctx, test, &family.children); err != nil {
		return nil, err
	}
	lab, labErr := r.lab(ctx, test)
	wires, wiresErr := r.wires.Of(ctx, test, family.children.Pods)
	if err := errors.Join(labErr, wiresErr); err != nil {
		return nil, err
	}
	observed := lifecycle.Observed{
		Test: test, Now: now, Settings: r.options.Settings, Lab: lab, Children: family.children, Wires: wires,
	}
	if placing(test) && len(lab.Networks) > 0 {
		hasPods := len(test.Status.Pods) > 0 // of this attempt: what is left of an earlier one is nobody's turn
		if observed.Turn, err = r.turns.Of(ctx, test, hasPods, now); err != nil {
			return nil, err
		}
	}
	return &observation{Observed: observed, family: family}, nil
}

// lab looks at what the cluster has; a test that is over needs nothing of it.
func (r *Reconciler) lab(ctx context.Context, test *v1alpha1.LoadTest) (lifecycle.Lab, error) {
	if meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		return lifecycle.Lab{}, nil
	}
	nodes, err := r.inventory.Nodes(ctx)
	if err != nil {
		return lifecycle.Lab{}, err
	}
	lab, err := r.inventory.NetworksOf(ctx, test)
	if errors.Is(err, inventory.ErrListing) && !placing(test) {
		err = nil
	}
	lab.Nodes, lab.Grows = nodes, r.options.NodesGrow
	return lab, err
}

// placing says whether pods may have to be made from networks. A test that runs, is to stop or to let go needs none of them: it doesn't wait until
// they are listed, which may take for ever where they can't be.
func placing(test *v1alpha1.LoadTest) bool {
	return test.Status.StartedAt == nil && !test.Spec.Stop && !test.Spec.Suspend
}
