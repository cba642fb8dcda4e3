package inventory

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/compile"
)

// networkKind is Multus' kind (Kubernetes Network Custom Resource Definition De-facto Standard, version 1.3).
var networkKind = schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"}

// networkReader reads NetworkAttachmentDefinitions in a cluster that may not know them.
type networkReader interface {
	// kindServed says that the cluster knows the kind.
	kindServed(ctx context.Context) (bool, error)
	// get returns nil without an error where there is no such network.
	get(ctx context.Context, key compile.NetworkKey) (*unstructured.Unstructured, error)
}

// liveNetworks reads from the API server each time.
type liveNetworks struct{ reader client.Reader }

func (l liveNetworks) kindServed(ctx context.Context) (bool, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(networkKind)
	err := l.reader.List(ctx, list, client.Limit(1))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (l liveNetworks) get(ctx context.Context, key compile.NetworkKey) (*unstructured.Unstructured, error) {
	definition := newNetwork()
	if err := l.reader.Get(ctx, client.ObjectKey(key), definition); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return definition, nil
}

func newNetwork() *unstructured.Unstructured {
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(networkKind)
	return definition
}

// ErrListing means that the networks aren't listed yet.
var ErrListing = pass.Wait("the networks are being listed", 10*time.Second)

// networkWatch watches NetworkAttachmentDefinitions while the cluster knows the kind. It makes no request that
// must fail while the cluster doesn't.
//
//	              the CRD appears                     all are listed
//	networksUnknown ───────────▶ listed by an informer ──────────────▶ networksKnown ─┐
//	   │  ▲ start                          ▲                                          │ the CRD is deleted
//	   ▼                                   └── the CRD appears ── networksAbsent ◀────┘
//	networksAbsent: there is no CRD
//
// It has a cache of its own, since a kind that comes and goes must not delay the others. Each change wakes the
// tests that wait for that network.
type networkWatch struct {
	definitions client.Reader // of CRDs, as metadata
	cache       cache.Cache
	// wake is called with the network that changed, or with the zero value if all may have changed.
	wake      func(compile.NetworkKey)
	state     atomic.Int32
	listening bool // only the controller's single worker uses it
}

// The states of a networkWatch.
const (
	networksUnknown int32 = iota
	networksAbsent
	networksKnown
)

// listTimeout bounds how long listing networks may take before it is begun again.
const listTimeout = 10 * time.Second

func (w *networkWatch) kindServed(context.Context) (bool, error) {
	switch w.state.Load() {
	case networksKnown:
		return true, nil
	case networksAbsent:
		return false, nil
	}
	return false, ErrListing
}

func (w *networkWatch) get(ctx context.Context, key compile.NetworkKey) (*unstructured.Unstructured, error) {
	definition, err := liveNetworks{w.cache}.get(ctx, key)
	if w.state.Load() != networksKnown {
		return nil, ErrListing // the kind was deleted meanwhile
	}
	return definition, err
}

// Watch gives the inventory the manager's cache, and one of its own for networks. changed is called with each
// network that changed, or with the zero value if all may have changed.
func (i *Inventory) Watch(mgr ctrl.Manager, changed func(compile.NetworkKey)) error {
	networks, err := caches.NewNetworks(mgr, i.bounds.Namespaces)
	if err != nil {
		return err
	}
	watch := &networkWatch{definitions: mgr.GetClient(), cache: networks, wake: changed}
	i.networks = watch
	return watch.setUp(mgr)
}

// setUp makes the watch a controller, which reconciles once at the start and whenever the CRD changes.
func (w *networkWatch) setUp(mgr ctrl.Manager) error {
	definition := caches.NetworkDefinition()
	atStart := source.Func(func(_ context.Context,
		queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(definition)})
		return nil
	})
	return ctrl.NewControllerManagedBy(mgr).Named("networks").
		WatchesMetadata(definition, &handler.EnqueueRequestForObject{}).
		WatchesRawSource(atStart).
		Complete(pass.Orderly(w))
}

// Reconcile starts or ends the watch of networks.
func (w *networkWatch) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	definition := caches.NetworkDefinition()
	err := w.definitions.Get(ctx, client.ObjectKeyFromObject(definition), definition)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, fmt.Errorf("get the definition of networks: %w", err)
	case err != nil || definition.DeletionTimestamp != nil:
		return ctrl.Result{}, w.end(ctx)
	}
	return ctrl.Result{}, w.begin(ctx)
}

func (w *networkWatch) end(ctx context.Context) error {
	if w.state.Swap(networksAbsent) == networksAbsent {
		return nil
	}
	w.listening = false
	err := w.cache.RemoveInformer(ctx, newNetwork())
	w.wake(compile.NetworkKey{})
	return err
}

// begin starts the informer. It fails while the new kind isn't served yet, and is then tried again.
func (w *networkWatch) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	informer, err := w.cache.GetInformer(ctx, newNetwork())
	if err != nil {
		return fmt.Errorf("list networks: %w", err)
	}
	if !w.listening {
		if err := w.listen(informer); err != nil {
			return err
		}
	}
	if w.state.Swap(networksKnown) != networksKnown {
		w.wake(compile.NetworkKey{})
	}
	return nil
}

func (w *networkWatch) listen(informer cache.Informer) error {
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(network any) { w.wake(keyOf(network)) },
		UpdateFunc: func(_, network any) { w.wake(keyOf(network)) },
		DeleteFunc: func(network any) { w.wake(keyOf(network)) },
	})
	w.listening = err == nil
	return err
}

// keyOf is the network of an event. The zero value, which stands for all, means that the event doesn't name
// one.
func keyOf(object any) compile.NetworkKey {
	name, err := toolscache.DeletionHandlingObjectToName(object)
	if err != nil {
		return compile.NetworkKey{}
	}
	return compile.NetworkKey{Namespace: name.Namespace, Name: name.Name}
}
