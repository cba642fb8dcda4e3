package retention_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cluster/retention"
)

func TestWhoWouldMakeAnObjectAgain(t *testing.T) {
	for name, c := range map[string]struct{ label, annotation, want string }{
		"nobody":                          {"", "", ""},
		"a label of somebody else's":      {"app.kubernetes.io/name", "", ""},
		"Argo CD by its annotation":       {"", "argocd.argoproj.io/tracking-id", "Argo CD"},
		"Argo CD by a label of its own":   {"argocd.argoproj.io/instance", "", "Argo CD"},
		"Argo CD by the label of old":     {"app.kubernetes.io/instance", "", "Argo CD"},
		"Flux' kustomizations":            {"kustomize.toolkit.fluxcd.io/name", "", "Flux"},
		"Flux' releases":                  {"helm.toolkit.fluxcd.io/name", "", "Flux"},
		"Fleet":                           {"objectset.rio.cattle.io/hash", "", "Fleet"},
		"Config Sync":                     {"", "config.k8s.io/owning-inventory", "Config Sync"},
		"a label where Argo CD annotates": {"argocd.argoproj.io/tracking-id", "", ""},
		"an annotation where Flux labels": {"", "kustomize.toolkit.fluxcd.io/name", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := retention.TrackedBy(map[string]string{c.label: "x"}, map[string]string{c.annotation: "x"})
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got != "" && !retention.Tracks(c.label+c.annotation) {
				t.Error("and whoever keeps only what is looked at leaves it out")
			}
		})
	}
}
