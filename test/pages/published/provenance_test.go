package published

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestProcessors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	text := "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n\nprocessor\t: 1\nmodel name\t: Some CPU @ 2 GHz\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if count, model := processors(file); count != 2 || model != "Some CPU @ 2 GHz" {
		t.Errorf("%d of %q", count, model)
	}
	if count, model := processors(file + "s"); count != 0 || model != "" {
		t.Errorf("%d of %q where nothing is known", count, model)
	}
}

func TestProvenance(t *testing.T) {
	got := Provenance(time.Date(2026, 3, 2, 23, 59, 0, 0, time.UTC))
	if !regexp.MustCompile(`^Measured on 2 March 2026, with linerate .+, on \d+ (of \d+ )?processors`).MatchString(got) {
		t.Error(got)
	}
}
