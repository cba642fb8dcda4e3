package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

const root = "../../"

// published reads the schemas that are published, by the versions of their documents.
func published(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	all := map[string]*jsonschema.Resolved{}
	for _, d := range documents() {
		text, err := os.ReadFile(root + "docs/schemas/" + d.name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		s := new(jsonschema.Schema)
		if err := json.Unmarshal(text, s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		all[d.version] = resolved
	}
	return all
}

// validate holds each document of an input against the schema of its kind, and counts them.
func validate(schemas map[string]*jsonschema.Resolved, in io.Reader, seen map[string]int) error {
	for dec := json.NewDecoder(in); ; {
		var document map[string]any
		if err := dec.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		version, _ := document["version"].(string)
		schema := schemas[version]
		if schema == nil {
			return errors.New("there is no schema of " + version)
		}
		seen[version]++
		if err := schema.Validate(document); err != nil {
			return err
		}
	}
}

func TestEveryDocumentThatIsStoredHereIsValid(t *testing.T) {
	schemas, seen := published(t), map[string]int{}
	for _, pattern := range []string{
		"internal/render/testdata/gate.json", "internal/render/testdata/heatmap.json", "internal/render/testdata/one-direction.json", "internal/render/testdata/rfc2544.json", "internal/render/testdata/search.json", "internal/render/testdata/table-*.json", "internal/result/history/testdata/*.json", "internal/cli/kubectl/testdata/list.json", "internal/cli/qualify/testdata/qualification.json",
		"internal/compile/testdata/*.plan.json",
	} {
		files, err := filepath.Glob(root + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if err := validate(schemas, opened(t, file), seen); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, d := range documents() {
		if slices.Contains([]string{"iperf3", "suite", "verification", "doctor"}, d.name) {
			continue // none is stored, as each names its linerate or its cluster; TestADocumentWithAllMembersIsValid has them
		}
		if seen[d.version] == 0 {
			t.Errorf("no %s was looked at", d.name)
		}
	}
}

func opened(t *testing.T, file string) io.Reader {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(text)
}

func TestThePlanOfEverySampleIsValid(t *testing.T) {
	schemas, seen := published(t), map[string]int{}
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(root + "config/samples/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		objects, err := server.LoadFile(nil, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			p, errs := compile.Compile(o.LoadTest)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			document, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(schemas, bytes.NewReader(document), seen); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func TestEveryKindOfReportIsValid(t *testing.T) {
	schemas := published(t)
	for _, s := range append(reporttest.Scenarios(), reporttest.Scenario{Name: "sessions", Report: reporttest.Sessions(46_500_000)}, reporttest.Scenario{Name: "datagrams", Report: reporttest.Datagrams(40_000_000)}) {
		var document bytes.Buffer
		if err := report.JSON(&document, s.Report); err != nil {
			t.Fatal(err)
		}
		if err := validate(schemas, &document, map[string]int{}); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

// Each member of each type, in the form in which it is written.
func TestADocumentWithAllMembersIsValid(t *testing.T) {
	schemas := published(t)
	for _, d := range documents() {
		whole := reflect.New(d.goType)
		fill(whole.Elem())
		whole.Elem().FieldByName("Version").SetString(d.version)
		document, err := json.Marshal(whole.Interface())
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(schemas, bytes.NewReader(document), map[string]int{}); err != nil {
			t.Errorf("%s: %v\n%s", d.name, err, document)
		}
	}
}

// forms are values of the types that have a form of their own.
func forms() map[reflect.Type]any {
	return map[reflect.Type]any{
		reflect.TypeFor[units.Ratio](): units.One / 3, reflect.TypeFor[units.Percent](): -units.Hundred / 7, reflect.TypeFor[units.PacketRate](): units.PacketPerSecond / 3,
		reflect.TypeFor[units.Rate](): units.Rate{Kind: units.Layer1Bits, Micros: 2_500_000_000_000_001}, reflect.TypeFor[plan.Duration](): plan.Duration(90*time.Second + 1500*time.Microsecond),
		reflect.TypeFor[report.Number](): report.Number("-0.5"), reflect.TypeFor[netip.Prefix](): netip.MustParsePrefix("2001:db8::1/64"),
		reflect.TypeFor[time.Time](): time.Date(2026, 3, 14, 15, 9, 26, 535, time.UTC), reflect.TypeFor[metav1.Time](): metav1.NewTime(time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)),
	}
}

// fill gives a value, and all that is in it, another value than its zero.
func fill(v reflect.Value) {
	if form := forms()[v.Type()]; form != nil {
		v.Set(reflect.ValueOf(form))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Map:
		key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, element)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[report.GoalAnswer]() { // a result has goals, each with a result
			v.FieldByName("Name").SetString("NDR")
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
		if v.Type() == reflect.TypeFor[plan.Plan]() || v.Type() == reflect.TypeFor[report.Report]() || v.Type() == reflect.TypeFor[report.Suite]() {
			v.FieldByName("Version").SetString(versionOf(v.Type()))
		}
	case reflect.String:
		v.SetString("a word")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.1)
	default:
		if v.CanInt() {
			v.SetInt(7)
		} else {
			v.SetUint(7)
		}
	}
}

// versionOf is the version of a document within another one.
func versionOf(t reflect.Type) string {
	for _, d := range documents() {
		if d.goType == t {
			return d.version
		}
	}
	return ""
}

func TestWhatASchemaAcceptsAndRefuses(t *testing.T) {
	schemas := published(t)
	var good bytes.Buffer
	if err := report.JSON(&good, reporttest.Measured(reporttest.Limited(150_000))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		taken  bool
	}{
		"an unknown member": {func(r map[string]any) { r["answer"].(map[string]any)["ofTheFuture"] = 1 }, true},
		"an unknown reason": {func(r map[string]any) { r["answer"].(map[string]any)["reason"] = "OfTheFuture" }, true},
		"a direction of neither frames nor sessions": {func(r map[string]any) {
			delete(r["answer"].(map[string]any)["directions"].([]any)[0].(map[string]any), "offered")
		}, false},
		"a later version":             {func(r map[string]any) { r["version"] = "linerate.dev/report.v1alpha9" }, false},
		"a Plan of a later version":   {func(r map[string]any) { r["plan"].(map[string]any)["version"] = "linerate.dev/plan.v1alpha9" }, false},
		"a ratio that is a number":    {func(r map[string]any) { r["answer"].(map[string]any)["resolution"] = 0.5 }, false},
		"a ratio in percent":          {func(r map[string]any) { r["answer"].(map[string]any)["resolution"] = "50%" }, false},
		"a Report without a Plan":     {func(r map[string]any) { delete(r, "plan") }, false},
		"a Plan that is null":         {func(r map[string]any) { r["plan"] = nil }, false},
		"windows that aren't a list":  {func(r map[string]any) { r["windows"] = "none" }, false},
		"a result without its reason": {func(r map[string]any) { delete(r["answer"].(map[string]any), "reason") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r map[string]any
			if err := json.Unmarshal(good.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			c.change(r)
			if err := schemas[report.Version].Validate(r); (err == nil) != c.taken {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestASchemaIsMadeOfAWordOfTheSources(t *testing.T) {
	text, err := documents()[1].schema(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"description": "LossRatio is (sent − returned) ÷ sent, and LossRatioMin the part that is surely the DUT's, without the generator's own drops (at either end), EdgeFrames and DisturbedFrames."`,
		`"description": "what was seen, such as \"8 of 8 frames on east, source MAC 02:…, TTL 63\""`,
		`"Good",`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it doesn't say %s", want)
		}
	}
	stored, err := os.ReadFile(root + "docs/schemas/report.json")
	if err != nil || !bytes.Equal(stored, text) {
		t.Errorf("docs/schemas/report.json isn't what the types say (%v): run 'make generate'", err)
	}
}
