package sidebyside_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestABaselineInADirectory(t *testing.T) {
	dir := t.TempDir()
	var document bytes.Buffer
	if err := report.JSON(&document, &report.Report{Version: report.Version, Ending: report.Completed,
		Plan: &plan.Plan{Version: plan.Version}}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"main.json": document.Bytes(), "nightly/main.json.gz": packed(t, document.Bytes()),
		"all.suite.json": []byte("{"), "nightly/all.suite.json.gz": packed(t, []byte("{")), "page.html": []byte("<p>"),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("is all its Reports, packed or not", func(t *testing.T) {
		var found suite.Reference
		if err := sidebyside.AddBaselineDocuments(nil, dir, &found); err != nil || len(found.Reports) != 2 {
			t.Errorf("%d Reports: %v", len(found.Reports), err)
		}
	})
	t.Run("is none where a Report's name promises what it isn't", func(t *testing.T) {
		broken := filepath.Join(dir, "broken.json.gz")
		if err := os.WriteFile(broken, document.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := sidebyside.AddBaselineDocuments(nil, dir, new(suite.Reference)); err == nil ||
			!strings.Contains(err.Error(), "broken.json.gz: not packed with gzip") {
			t.Error(err)
		}
	})
}

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var stdout bytes.Buffer
	w := gzip.NewWriter(&stdout)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return stdout.Bytes()
}
