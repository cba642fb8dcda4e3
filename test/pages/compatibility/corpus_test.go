package compatibility

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// stored is what the release before v1alpha2 wrote.
const stored = "testdata/v1alpha1"

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(stored, file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func unpacked(t *testing.T, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// named are the files of a directory that end like this, by the names before that end.
func named(t *testing.T, dir, end string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(stored, dir, "*"+end))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s: %v", end, dir, err)
	}
	var names []string
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), end); !strings.HasSuffix(name, ".suite") {
			names = append(names, name)
		}
	}
	return names
}

// reports are those of a file of Reports.
func reports(t *testing.T, name string) []*report.Report {
	t.Helper()
	all, err := report.Read(bytes.NewReader(unpacked(t, read(t, "reports/"+name+".json.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func configMap(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	c := new(corev1.ConfigMap)
	if err := yaml.UnmarshalStrict(read(t, "configmaps/"+name+".yaml"), c); err != nil {
		t.Fatal(err)
	}
	return c
}
