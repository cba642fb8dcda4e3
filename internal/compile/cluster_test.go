package compile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
)

// clusterSamples are those that need a cluster.
func clusterSamples(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, file := range examples(t, "samples") {
		if strings.HasPrefix(filepath.Base(file), "loadtest_") {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		t.Fatal("no samples for a cluster")
	}
	return files
}

func TestSamplesAreTakenByACluster(t *testing.T) {
	server := newServer(t)
	for _, file := range clusterSamples(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := server.Load(file, bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				cluster, errs := compile.ForCluster(o.LoadTest)
				if err := o.Faults(errs); err != nil {
					t.Fatal(err)
				}
				if len(cluster.Networks) != len(o.LoadTest.Spec.Links) {
					t.Errorf("%d links, networks %v", len(o.LoadTest.Spec.Links), cluster.Networks)
				}
			}
		})
	}
}
