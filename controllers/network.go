package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/compile"
)

// networkKind is Multus' (Kubernetes Network Custom Resource Definition De-facto Standard, version 1.3).
var networkKind = schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"}

// networkReader reads NetworkAttachmentDefinitions in a cluster that may not know them.
type networkReader interface {
	// known says whether the cluster knows the kind.
	known(ctx context.Context) (bool, error)
	// get returns nil without an error where there is no such network.
	get(ctx context.Context, key compile.NetworkKey) (*unstructured.Unstructured, error)
}

// liveNetworks asks the API server each time.
type liveNetworks struct{ reader client.Reader }

func (l liveNetworks) known(ctx context.Context) (bool, error) {
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
