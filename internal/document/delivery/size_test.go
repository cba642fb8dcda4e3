package delivery

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// A sheet's copy is a ConfigMap of the tenant's namespace: whoever makes one instead fills no memory with it.
func TestASheetThatWasMadeToFillMemoryTakesNone(t *testing.T) {
	head := `{"version":"v","suite":"x","runs":{`
	for name, c := range map[string]struct {
		packed []byte
		says   string
	}{
		"millions of runs":    {bomb(t, head, `"a":{},`, "}}", 15<<20), "more than 30000 elements"},
		"a run of windows":    {bomb(t, head+`"a":{"evidence":{"windows":[`, "{},", "]}}}}", 2<<20), "more than 30000 elements"},
		"one long word":       {bomb(t, head+`"a":{"message":"`, "aaaa", `"}}}`, 17<<20), "more than 16 MiB"},
		"runs that are lists": {bomb(t, head+`"a":`, "[", "}}", 1<<20), "nested more than 64 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			data := map[string][]byte{KeyRuns: c.packed}
			taken := allocated(func() {
				var into map[string]any
				if err := DecodeRuns(data, "v", &into); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("it ends with %v", err)
				}
				if _, err := RunsMemory(data); err == nil {
					t.Error("it has a size that may be decoded")
				}
			})
			if taken > 1<<20 {
				t.Errorf("refusing it takes %d bytes of memory", taken)
			}
		})
	}
}

// The largest sheet that isn't refused has room among the 260 MiB for what all passes decode (controllers/caches).
func TestTheLargestSheetIsDecodedSomeTime(t *testing.T) {
	if most := (Size{Bytes: maxRunsUnpacked, Elements: mostRunElements}).runsMemory(); most > 260<<20 {
		t.Errorf("it takes %d bytes", most)
	}
}

// bomb packs so many bytes of a list's elements; it never holds them unpacked.
func bomb(t *testing.T, before, element, after string, bytesUnpacked int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	chunk := strings.Repeat(element, 1<<16/len(element))
	_, err := io.WriteString(w, before)
	for written := 0; written < bytesUnpacked && err == nil; written += len(chunk) {
		_, err = io.WriteString(w, chunk)
	}
	if err == nil {
		_, err = io.WriteString(w, strings.TrimSuffix(element, ",")+after)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// 66 kB of a Report, packed, were 22 million windows and some gigabytes of memory, decoded.
func TestADocumentThatWasMadeToFillMemoryTakesNone(t *testing.T) {
	head := fmt.Sprintf(`{"version":%q,"ending":"Completed","plan":{},`, report.Version)
	for name, c := range map[string]struct {
		packed []byte
		says   string
	}{
		"22 million windows":        {bomb(t, head+`"windows":[`, "{},", "]}", 64<<20), "more than 100000 elements"},
		"windows within 2 MiB":      {bomb(t, head+`"windows":[`, "{},", "]}", 2<<20), "more than 100000 elements"},
		"lists of lists of nothing": {bomb(t, head+`"windows":[{"directions":[]`, `},{"directions":[{}]`, "}]}", 8<<20), "more than 100000 elements"},
		"one long word":             {bomb(t, head+`"notes":["`, "aaaa", `"]}`, 65<<20), "more than 32 MiB"},
		"brackets":                  {bomb(t, head+`"windows":`, "[", "}", 8<<20), "nested more than 64 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.packed) > 70<<10 {
				t.Errorf("it takes %d bytes packed", len(c.packed))
			}
			e := Envelope{Digest: "sha256:0", Ending: "Completed", Attempt: 1, Final: true}
			taken := allocated(func() {
				if _, _, err := DecodeReport(map[string][]byte{KeyReport: c.packed}, e.Annotations()); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("it ends with %v", err)
				}
			})
			if taken > 1<<20 {
				t.Errorf("refusing it takes %d bytes of memory", taken)
			}
		})
	}
}

// allocated is how many bytes something takes, whether they are given back or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What the largest document takes that isn't refused follows from its size: who decodes several at a time counts
// with that.
func TestADocumentTakesNoMoreMemoryThanItsSizeSays(t *testing.T) {
	head := fmt.Sprintf(`{"version":%q,"ending":"Completed","plan":{"version":%q},`, report.Version, plan.Version)
	for name, packed := range map[string][]byte{
		"windows":    bomb(t, head+`"windows":[`, "{},", "]}", 250<<10),
		"generators": bomb(t, head+`"generators":[`, "{},", "]}", 250<<10),
		"directions": bomb(t, head+`"answer":{"directions":[{}`, `,{"limit":{},"limiter":{},"sessions":{}}`, "]}}", 3<<20),
	} {
		t.Run(name, func(t *testing.T) {
			size, err := SizeOf(packed)
			if err != nil || size.Elements < mostElements*8/10 {
				t.Fatalf("%+v, %v", size, err)
			}
			document, err := unpack(packed)
			if err != nil {
				t.Fatal(err)
			}
			decoded := new(report.Report)
			if err := json.Unmarshal(document, decoded); err != nil {
				t.Fatal(err)
			}
			if kept := held(t, &decoded); kept > uint64(size.Memory()) {
				t.Errorf("it holds %d bytes of memory, and its size %+v says %d", kept, size, size.Memory())
			}
		})
	}
}

// held is how many bytes a report takes that is let go here.
func held(t *testing.T, decoded **report.Report) uint64 {
	t.Helper()
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	runtime.KeepAlive(*decoded)
	*decoded = nil
	runtime.GC()
	runtime.ReadMemStats(&without)
	return with.HeapAlloc - without.HeapAlloc
}

// Whatever is added to a document, no element of a list may take more than it is counted with.
func TestNoElementIsLargerThanItIsCountedWith(t *testing.T) {
	for of, atMost := range map[reflect.Type]uintptr{reflect.TypeFor[report.Report](): elementBytes, reflect.TypeFor[report.Suite](): runElementBytes} {
		element, size := largestElement(of)
		t.Logf("the largest element of a %s is a %s, with %d bytes", of, element, size)
		if size > atMost {
			t.Errorf("a %s of a %s takes %d bytes, and is counted with %d", element, of, size, atMost)
		}
	}
}

// largestElement is what takes most of all that the lists of a document's type have.
func largestElement(document reflect.Type) (largest reflect.Type, size uintptr) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Slice, reflect.Array:
			if whole := with(of.Elem()); whole > size {
				largest, size = of.Elem(), whole
			}
			walk(of.Elem())
		case reflect.Pointer, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				walk(of.Field(i).Type)
			}
		default: // a plain value
		}
	}
	walk(document)
	return largest, size
}

// with is the size of a type with all that its pointers lead to.
func with(of reflect.Type) (size uintptr) {
	size = of.Size()
	var pointees func(reflect.Type)
	pointees = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer:
			size += of.Elem().Size()
			pointees(of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				pointees(of.Field(i).Type)
			}
		default: // it is in the size already, or a list's
		}
	}
	pointees(of)
	return size
}

// A run of days has more than anybody may unpack: its Report is thinned until it can be read.
func TestAReportThatPacksWellIsThinnedUntilItCanBeRead(t *testing.T) {
	p := &plan.Plan{Version: plan.Version}
	r := &report.Report{Version: report.Version, Plan: p, Ending: report.Completed, Samples: make([]report.Sample, 300_000), Windows: make([]report.Window, 4)}
	data, annotations, err := EncodeReport(r, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := DecodeReport(data, annotations)
	if err != nil {
		t.Fatal(err)
	}
	if got.Thinned == nil || got.Thinned.Samples != 300_000 || len(got.Samples) != 75_001 || len(got.Windows) != 4 {
		t.Errorf("%d samples and %d windows are left, and it says %+v", len(got.Samples), len(got.Windows), got.Thinned)
	}
}
