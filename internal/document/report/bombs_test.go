package report_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// packed writes a file of so many bytes of something that repeats, packed with gzip; it never holds it unpacked.
func packed(t *testing.T, before, element, after string, bytesUnpacked int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bomb.json.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(f)
	chunk := strings.Repeat(element, max(1, 1<<16/len(element)))
	_, err = io.WriteString(w, before)
	for written := 0; written < bytesUnpacked && err == nil; written += len(chunk) {
		_, err = io.WriteString(w, chunk)
	}
	if err == nil {
		_, err = io.WriteString(w, strings.TrimSuffix(element, ",")+after)
	}
	if err != nil || w.Close() != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return name
}

// allocated is how many bytes something takes, whether they are given back or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func readFile(name string) (report.Documents, error) {
	in, err := intake.Open(name, report.MaxDocument)
	if err != nil {
		return report.Documents{}, err
	}
	defer func() { _ = in.Close() }()
	return report.ReadDocuments(in)
}

// 17 kB of a Report, packed, were six million windows and 4 GB of memory. What is refused takes no more than what
// an honest Report of some hours does.
func TestAFileThatWasMadeToFillMemoryIsRefusedBeforeItIsDecoded(t *testing.T) {
	head := fmt.Sprintf(`{"version":%q,"ending":"Completed","plan":{"version":%q},`, report.Version, plan.Version)
	suite := fmt.Sprintf(`{"version":%q,"name":"s",`, report.SuiteVersion)
	for name, c := range map[string]struct{ file, says string }{
		"six million windows":             {packed(t, head+`"windows":[`, "{},", "]}", 18<<20), "more than 256 MiB of memory"},
		"windows under another case":      {packed(t, head+`"WINDOWS":[`, "{},", "]}", 18<<20), "more than 256 MiB of memory"},
		"windows behind an escape":        {packed(t, head+`"w\u0069ndows":[`, "{},", "]}", 18<<20), "more than 256 MiB of memory"},
		"goals":                           {packed(t, head+`"answer":{"goals":[`, "{},", "]}}", 4<<20), "more than 256 MiB of memory"},
		"runs of a baseline":              {packed(t, head+`"baseline":{"runs":[`, "{},", "]}}", 4<<20), "more than 256 MiB of memory"},
		"lists in lists":                  {packed(t, head+`"windows":[`, `{"directions":[{},{},{}]},`, "]}", 18<<20), "more than 256 MiB of memory"},
		"a member given again and again":  {packed(t, head, `"windows":[{}],"windows":null,`, `,"notes":[]}`, 40<<20), "two members \"windows\""},
		"names without end":               {packed(t, strings.TrimSuffix(head, "},")+`,"names":{`, `"a":"",`, `}}}`, 18<<20), "two members \"a\""},
		"one long word":                   {packed(t, head+`"notes":["`, "aaaa", `"]}`, 65<<20), "more than 64 MiB"},
		"lists in each other":             {packed(t, head+`"windows":`, "[", "}", 8<<20), "nested more than 64 deep"},
		"objects in each other":           {packed(t, head+`"x":`, `{"a":`, "}", 8<<20), "nested more than 64 deep"},
		"runs of a suite":                 {packed(t, suite+`"cells":[{"runs":[`, `{"evidence":{}},`, "]}]}", 8<<20), "more than 256 MiB of memory"},
		"many small Reports":              {packed(t, "", head+`"windows":[{},{},{},{},{},{}]}`, "", 60<<20), "more than 256 MiB of memory"},
		"many small files, packed as one": {members(t, head+`"windows":[`, `{},{},{},{},{},{},`, 300_000), "more than 256 MiB of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			if info, err := os.Stat(c.file); err != nil || info.Size() > 12<<20 {
				t.Errorf("it takes %d bytes packed (%v)", info.Size(), err)
			}
			var err error
			taken := allocated(func() { _, err = readFile(c.file) })
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ends with %v, want %q", err, c.says)
			}
			t.Logf("refusing it takes %d bytes", taken)
			if taken > 200<<20 {
				t.Errorf("refusing it takes %d bytes of memory", taken)
			}
		})
	}
}

// members is a document that was packed a few bytes at a time.
func members(t *testing.T, before, element string, times int) string {
	t.Helper()
	one := func(text string) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	name := filepath.Join(t.TempDir(), "members.json.gz")
	if err := os.WriteFile(name, append(one(before), bytes.Repeat(one(element), times)...), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The largest documents that are read take as much memory as they are weighed with, and three times that with what
// is given back at once.
func TestTheHeaviestDocumentsThatAreReadTakeNoMoreThanTheirBound(t *testing.T) {
	const most = 256 << 20
	head := fmt.Sprintf(`{"version":%q,"ending":"Completed","plan":{"version":%q},`, report.Version, plan.Version)
	for name, c := range map[string]struct {
		before, element, after string
		times                  int
	}{
		"windows":           {head + `"windows":[`, "{},", "{}]}", 300_000},
		"windows with more": {head + `"windows":[`, `{"evidence":{},"disturbance":{"waits":[{}]}},`, "{}]}", 190_000},
		"goals":             {head + `"answer":{"goals":[`, `{},`, "{}]}}", 130_000},
		"samples":           {head + `"samples":[`, `{"directions":[]},`, "{}]}", 1_100_000},
		"words":             {head + `"notes":[`, `{"text":"x"},`, "{}]}", 2_500_000},
		"names":             {fmt.Sprintf(`{"version":%q,"ending":"Completed","plan":{"version":%q,"names":{`, report.Version, plan.Version), `"%d":"x",`, `"":""}}}`, 1_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			text.WriteString(c.before)
			for i := range c.times {
				if strings.Contains(c.element, "%d") {
					fmt.Fprintf(&text, c.element, i)
					continue
				}
				text.WriteString(c.element)
			}
			text.WriteString(c.after)
			document := text.Bytes()
			size, err := intake.Measure(document, intake.Limits{Memory: most}, reflect.TypeFor[report.Report]())
			if err != nil || size.Memory < most*6/10 {
				t.Fatalf("it is weighed as %+v (%v): it has to be near the bound", size, err)
			}
			var r *report.Report
			taken := allocated(func() { r, err = report.Decode(document) })
			if err != nil {
				t.Fatal(err)
			}
			var with, without runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&with)
			runtime.KeepAlive(r)
			r = nil
			runtime.GC()
			runtime.ReadMemStats(&without)
			held := int64(with.HeapAlloc) - int64(without.HeapAlloc)
			t.Logf("%d bytes of text are weighed as %d bytes, hold %d, and took %d", len(document), size.Memory, held, taken)
			if held > size.Memory || taken > 3*uint64(size.Memory) {
				t.Errorf("it holds %d bytes, and took %d, and is weighed as %d", held, taken, size.Memory)
			}
		})
	}
}

// Text and memory of an honest Report are so much alike that the bound of text is the only one that it can meet.
func TestAnHonestReportIsBoundedByItsTextAlone(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		var text bytes.Buffer
		if err := report.JSON(&text, s.Report); err != nil {
			t.Fatal(err)
		}
		size, err := intake.Measure(text.Bytes(), intake.Limits{}, reflect.TypeFor[report.Report]())
		if err != nil || size.Memory*report.MaxDocument > size.Bytes*(256<<20) {
			t.Errorf("%s: %+v, %v: as large as a file may be, it would take too much memory", s.Name, size, err)
		}
	}
}
