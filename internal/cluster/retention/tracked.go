package retention

// tracker is a tool that creates a deleted object again, as long as its source has the object.
type tracker struct {
	name                string
	labels, annotations []string // each of these shows that the tool tracks the object
}

// trackers are the known tools, by the labels and annotations that they put on objects.
//
//	Argo CD  its tracking-id, or the label that it tracks by (app.kubernetes.io/instance by default before version 3)
//	Flux     kustomize-controller's and helm-controller's labels
//	Fleet    the hash of the bundle
//	kpt, Config Sync  the inventory that owns the object
func trackers() []tracker {
	return []tracker{
		{"Argo CD", []string{"argocd.argoproj.io/instance"}, []string{"argocd.argoproj.io/tracking-id"}},
		{"Flux", []string{"kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"}, nil},
		{"Fleet", []string{"objectset.rio.cattle.io/hash"}, nil},
		{"kpt or Config Sync", nil, []string{"config.k8s.io/owning-inventory"}},
		{"who manages app.kubernetes.io/instance, as Argo CD does,", []string{"app.kubernetes.io/instance"}, nil},
	}
}

// TrackedBy names the tool that would create an object with these labels and annotations again if it were deleted.
// Empty means that no known tool would. A LoadTest that is created again loads its network again.
func TrackedBy(labels, annotations map[string]string) string {
	for _, t := range trackers() {
		if anyOf(t.labels, labels) || anyOf(t.annotations, annotations) {
			return t.name
		}
	}
	return ""
}

// Tracks says whether TrackedBy reads a label or an annotation of this name.
func Tracks(key string) bool {
	single := map[string]string{key: ""}
	return TrackedBy(single, single) != ""
}

func anyOf(keys []string, present map[string]string) bool {
	for _, key := range keys {
		if _, exists := present[key]; exists {
			return true
		}
	}
	return false
}
