package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

const (
	// keyName is the ConfigMap with the operator's own secret, in its own namespace. The operator has no right to
	// Secrets, and whoever reads ConfigMaps there can read the Plans of all runs, too.
	keyName = "linerate-key"
	keyData = "key"
)

// ownKey reads the operator's own secret, from which it derives the keys of all attempts. The operator makes
// the secret once, so that after a restart it makes the same pods and the same Plan of an attempt.
func ownKey(ctx context.Context, c client.Client, namespace string) (key credential.Key, err error) {
	object := &corev1.ConfigMap{}
	lookup := client.ObjectKey{Namespace: namespace, Name: keyName}
	err = c.Get(ctx, lookup, object)
	if apierrors.IsNotFound(err) {
		text, _ := credential.New().MarshalText() // never fails
		object = &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: keyName},
			Immutable:  new(true), Data: map[string]string{keyData: string(text)},
		}
		if err = c.Create(ctx, object); apierrors.IsAlreadyExists(err) { // another replica was first
			err = c.Get(ctx, lookup, object)
		}
	}
	if err != nil {
		return key, fmt.Errorf("the operator's own secret: %w", err)
	}
	if err = key.UnmarshalText([]byte(object.Data[keyData])); err == nil && key.IsZero() {
		err = errors.New("it is all zeros")
	}
	if err != nil {
		return credential.Key{}, fmt.Errorf("ConfigMap %s/%s holds no key: delete it, and start the operator again; "+
			"attempts whose pods have begun to start will be void (%w)", namespace, keyName, err)
	}
	return key, nil
}
