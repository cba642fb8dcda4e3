package loadtest

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// A Role and a RoleBinding take the API server about a tenth of a second each: it makes sure that the operator grants no more than it has, and
// lists for that all the bindings there are as they are now. So a controller of its own makes them, and a pass of a test only asks for it:
//
//	pass of a test ──asked──▶ access: ServiceAccount and Role, then RoleBinding ──▶ API server
//	      ▲ └─ goes on to the next test                    │                           │
//	      ├──────────────── answered: it is refused ◀──────┘                           │
//	      └──────────────── watch: the RoleBinding is there ◀──────────────────────────┘

// accessController gives runners their access.
type accessController struct {
	tests *Reconciler
	// asked are the tests whose runners need it, answered those that it was refused to.
	asked, answered chan event.GenericEvent
}

func newAccessController(tests *Reconciler) *accessController {
	return &accessController{tests: tests, asked: make(chan event.GenericEvent), answered: make(chan event.GenericEvent)}
}

func (a *accessController) setUp(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("access").
		WatchesRawSource(source.Channel(a.asked, &handler.EnqueueRequestForObject{})).
		WithOptions(a.tests.controllerOptions()).
		Complete(pass.Orderly(a))
}

// askForAccess has the runner given what it needs. Again says that it was refused at once, which is to be decided upon.
func (r *Reconciler) askForAccess(ctx context.Context, seen *observation) (again bool, err error) {
	if r.access != nil {
		return false, r.access.ask(ctx, seen.Test)
	}
	if err := r.grant(ctx, seen.Test); err != nil {
		return false, err
	}
	seen.Access = r.memory.accessOf(seen.Test)
	taken := len(seen.Children.Foreign)
	err = r.checkTakenNames(ctx, seen.Test, &seen.Children)
	return len(seen.Access.Refusals) > 0 || len(seen.Children.Foreign) > taken, err
}

// ask has a test's runner given its access, if nobody has asked for it yet.
func (a *accessController) ask(ctx context.Context, test *v1alpha1.LoadTest) error {
	if !a.tests.memory.accessAsked(test) {
		return nil
	}
	err := pass.Hand(ctx, a.asked, test)
	if err != nil {
		a.tests.memory.accessAnswered(test, lifecycle.Access{})
	}
	return err
}

// Reconcile gives the runner of one LoadTest its access.
func (a *accessController) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	test := &v1alpha1.LoadTest{}
	if err := a.tests.client.Get(ctx, request.NamespacedName, test); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !a.tests.memory.accessAwaited(test) {
		return ctrl.Result{}, nil // a later test has the name of the one that asked
	}
	if test.DeletionTimestamp != nil || meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		a.tests.memory.accessAnswered(test, lifecycle.Access{})
		return ctrl.Result{}, nil
	}
	log := ctrl.LoggerFrom(ctx).WithValues("attempt", max(test.Status.Attempt, 1), "rule", "accessNeeded")
	ctx = ctrl.LoggerInto(ctx, log)
	err := a.tests.grant(ctx, test)
	if err == nil && a.tests.memory.accessRefused(test) {
		err = pass.Hand(ctx, a.answered, test)
	}
	return a.tests.outcome(ctx, nil, lifecycle.Decision{}, err)
}

// grant creates what isn't there of the runner's access, and remembers what was refused.
func (r *Reconciler) grant(ctx context.Context, test *v1alpha1.LoadTest) error {
	family := newFamily(test)
	if err := r.listMetadata(ctx, family, client.InNamespace(test.Namespace), r.ofTest(test.UID)); err != nil {
		return err
	}
	made := r.memory.madeJustNow(test)
	missing := slices.DeleteFunc(manifests.Access(manifests.Input{Test: test}), func(o manifests.Object) bool {
		name := fmt.Sprintf("%s/%s", o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
		return family.children.Present[name] || made[name]
	})
	seen := &observation{Observed: lifecycle.Observed{Test: test}, family: family}
	if _, _, err := r.create(ctx, seen, missing); err != nil {
		return err
	}
	r.memory.accessAnswered(test, lifecycle.Access{Refusals: seen.Refusals, At: r.now()})
	return nil
}
