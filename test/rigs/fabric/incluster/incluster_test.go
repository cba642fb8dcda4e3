package incluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

func TestParseState(t *testing.T) {
	t.Run("nodes are all boxes but the control plane's", func(t *testing.T) {
		got, err := parseState([]byte(`{"name": "linerate", "boxes": [
			{"name": "control", "init": {"pid": 18318, "start": 1}}, {"name": "node-1", "init": {"pid": 18325, "start": 1}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		want := []fabric.Node{{Name: "node-1", Namespace: "/proc/18325/ns/net", Root: "/proc/18325/root"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a cluster without nodes is an error", func(t *testing.T) {
		for _, text := range []string{`{}`, `{"boxes": [{"name": "control", "init": {"pid": 1}}]}`, `[`} {
			if nodes, err := parseState([]byte(text)); err == nil {
				t.Errorf("%s: %v", text, nodes)
			}
		}
	})
	t.Run("a missing cluster is an error", func(t *testing.T) {
		if _, err := (Cluster{Dir: t.TempDir()}).Nodes(); err == nil {
			t.Error("no error")
		}
	})
}
