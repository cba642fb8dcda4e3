package compile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// admitted is a LoadTest with a pod under test, as the API server stores it.
var admitted = sync.OnceValues(func() (*v1alpha1.LoadTest, error) {
	server, err := admission.NewServer()
	if err != nil {
		return nil, err
	}
	objects, err := server.Load("test.yaml", strings.NewReader(`
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {namespace: lab, name: hostile}
spec: {dut: {type: Pod, pod: {template: {spec: {}}}}, links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]}
`))
	if err != nil {
		return nil, err
	}
	return objects[0].LoadTest, nil
})

// ofTemplate is a LoadTest whose device is a pod of this template, in JSON; false: the API server would take no
// such template.
func ofTemplate(t testing.TB, template string) (*v1alpha1.LoadTest, bool) {
	form := v1alpha1.Freeform{}
	if json.Unmarshal([]byte(template), &form) != nil {
		return nil, false
	}
	for key, value := range form { // null, which isn't kept
		if len(value.Raw) == 0 {
			form[key] = apiextensionsv1.JSON{Raw: []byte("null")}
		}
	}
	test, err := admitted()
	if err != nil {
		t.Fatal(err)
	}
	test = test.DeepCopy()
	test.Spec.DUT.Pod.Template = form
	return test, true
}

// env is a template whose only variable is this.
func env(variable string) string {
	return `{"spec": {"containers": [{"name": "vpp", "image": "vpp:1", "env": ` + variable + `}]}}`
}

// hostileTemplates are what people who mean ill make of a template, of about so many bytes.
func hostileTemplates(bytes int) map[string]string {
	nested := func(open, inside, closed string, count int) string {
		n := bytes / count
		return strings.Repeat(open, n) + inside + strings.Repeat(closed, n)
	}
	repeat := func(element string) string {
		return strings.TrimSuffix(strings.Repeat(element+",", bytes/(len(element)+1)), ",")
	}
	keys := func(form string) string {
		var elements []string
		for i := 0; len(elements)*(len(form)+3) < bytes; i++ {
			elements = append(elements, fmt.Sprintf(form, i))
		}
		return strings.Join(elements, ",")
	}
	return map[string]string{
		"lists in lists":            env(nested("[", "", "]", 2)),
		"mappings in mappings":      env(nested(`{"a":`, "1", "}", 6)),
		"both in turns":             env(nested(`[{"a":`, "1", "}]", 8)),
		"lists in a quantity":       `{"spec": {"containers": [{"name": "vpp", "image": "vpp:1", "resources": {"limits": {"cpu": ` + nested("[", "", "]", 2) + `}}}]}}`,
		"lists where none is known": `{"nobody": ` + nested("[", "", "]", 2) + `}`,
		"empty variables":           env("[" + repeat("{}") + "]"),
		"empty lists":               env("[" + repeat("[]") + "]"),
		"numbers for variables":     env("[" + repeat("1") + "]"),
		"a wrong one, the last":     env("[" + repeat(`{"name":"a"}`) + `,1]`),
		"a wrong amount, the " +
			"last": `{"spec": {"containers": [{"name": "vpp", "image": "vpp:1", "resources": {"limits": {` +
			keys(`"x.y/%d":"1"`) + `,"cpu":"4 GB"}}}]}}`,
		"containers of one name":   `{"spec": {"containers": [` + repeat(`{"name":"a","image":"a"}`) + `]}}`,
		"containers without names": `{"spec": {"containers": [` + repeat(`{}`) + `]}}`,
		"fields nobody knows": `{"spec": {"containers": [{"name": "vpp", "image": "vpp:1"}], ` + keys(`"x%d":1`) +
			`}}`,
		"a field again and again": `{"spec": {"containers": [{"name": "vpp", "image": "vpp:1"}], ` +
			repeat(`"hostname":"a"`) + `}}`,
		"labels that aren't valid": `{"metadata": {"labels": {` + keys(`"-%d":"-"`) +
			`}}, "spec": {"containers": [{"name": "vpp", "image": "vpp:1"}]}}`,
		"brackets in a text": env(`[{"name": "a", "value": "` + strings.Repeat("[{", bytes/2) + `"}]`),
		"networks in a short form": `{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "` +
			strings.Repeat("a,", bytes/2) + `"}}, "spec": {"containers": [{"name": "vpp", "image": "vpp:1"}]}}`,
		"networks in brackets": `{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "` +
			strings.Repeat("[", bytes) + `"}}, "spec": {"containers": [{"name": "vpp", "image": "vpp:1"}]}}`,
	}
}

// The most that compiling may allocate: for any test, and for each byte of its template. A decoder that is
// asked again at each level allocates megabytes for each byte.
const (
	mostForATest = 1 << 20
	mostForAByte = 512
)

// workOf is how many bytes compiling a test allocates. Unlike time, that doesn't depend on what else the machine does.
func workOf(test *v1alpha1.LoadTest) uint64 {
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	compile.ForCluster(test)
	runtime.ReadMemStats(&end)
	return end.TotalAlloc - start.TotalAlloc
}

func holdWork(t *testing.T, template string) {
	test, ok := ofTemplate(t, template)
	if !ok {
		return
	}
	budget := uint64(mostForATest + mostForAByte*len(template))
	if work := workOf(test); work > budget {
		t.Errorf("compiling a template of %d bytes allocates %d bytes, and %d is the most: %.200s", len(template), work,
			budget, template)
	}
}

// A LoadTest of 6 kB took ten seconds of the operator, and one of 16 kB 22 s: the field that can't be read was
// looked for by decoding again at each level.
func TestATemplateThatIsMadeToTakeLongTakesNotMuchMoreThanOthersOfItsSize(t *testing.T) {
	for _, bytes := range []int{6 << 10, 16 << 10, 250 << 10} {
		for name, template := range hostileTemplates(bytes) {
			t.Run(fmt.Sprintf("%s, %d", name, bytes), func(t *testing.T) { holdWork(t, template) })
		}
	}
}

// FuzzTheWorkOfATemplate holds the work of compiling any template to a multiple of its bytes.
func FuzzTheWorkOfATemplate(f *testing.F) {
	for _, template := range hostileTemplates(1 << 10) {
		f.Add(template)
	}
	f.Fuzz(holdWork)
}

func TestDeepAndWideTemplatesAreRefusedBeforeTheyAreDecoded(t *testing.T) {
	wide := `[` + strings.TrimSuffix(strings.Repeat(`{"name":"A"},`, 2100), ",") + `]`
	for name, c := range map[string]struct{ template, reason string }{
		"3000 lists in each other": {env(strings.Repeat("[", 3000) + strings.Repeat("]", 3000)),
			"levels of lists and mappings in each other, and 32 is the most"},
		"as deep, in mappings": {env(strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000)),
			"levels of lists and mappings in each other, and 32 is the most"},
		"2100 mappings": {env(wide), "lists and mappings, and 2048 is the most"},
		"20000 texts": {env(`[{"name": "A", "command": [` +
			strings.TrimSuffix(strings.Repeat(`"",`, 20000), ",") + `]}]`), "values, and 16384 is the most"},
	} {
		t.Run(name, func(t *testing.T) {
			test, _ := ofTemplate(t, c.template)
			_, errs := compile.ForCluster(test)
			if len(errs) != 1 || errs[0].Field != "spec" || !strings.Contains(errs[0].Detail, c.reason) {
				t.Errorf("%.300v", errs)
			}
		})
	}
}

// Brackets and commas in texts count for nothing: a variable may hold a script.
func TestAScriptInATemplateIsNotTakenForStructure(t *testing.T) {
	script, err := json.Marshal(strings.Repeat(`if [[ "$a" ]]; then f() { echo "{,}\\"; }; fi; `, 1000))
	if err != nil {
		t.Fatal(err)
	}
	test, _ := ofTemplate(t, env(`[{"name": "SCRIPT", "value": `+string(script)+`}]`))
	if _, errs := compile.ForCluster(test); len(errs) > 0 {
		t.Errorf("%.300v", errs)
	}
}

// The value that can't be read is named, also in lists and where a type reads its own JSON, and by the
// decoder's own words.
func TestTheFaultOfATemplateIsNamed(t *testing.T) {
	for template, want := range map[string]string{
		env(`[{"name": "A"}, {"name": "B", "value": 1}]`):                                                                          `spec.dut.pod.template.spec.containers[0].env[1].value: Invalid value: a number stands where Kubernetes wants a string`,
		env(`[{"name": "A"}, []]`):                                                                                                 `spec.dut.pod.template.spec.containers[0].env[1]: Invalid value: a array stands where Kubernetes wants a mapping`,
		`{"spec": {"containers": [{"ports": [{"containerPort": 99999999999}]}]}}`:                                                  `spec.dut.pod.template.spec.containers[0].ports[0].containerPort: Invalid value: a number 99999999999 stands where Kubernetes wants a whole number`,
		`{"spec": {"containers": [{"livenessProbe": {"httpGet": {"port": []}}}]}}`:                                                 `spec.dut.pod.template.spec.containers[0].livenessProbe.httpGet.port: Invalid value: a array stands where Kubernetes wants a whole number`,
		`{"spec": {"containers": [{"resources": {"limits": {"memory": "1Gi", "cpu": "4 GB"}}}]}}`:                                  `spec.dut.pod.template.spec.containers[0].resources.limits.cpu: Invalid value: Kubernetes can't read it: quantities must match`,
		`{"spec": {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "1"}}, {"name": "b", "emptyDir": {"sizeLimit": "many"}}]}}`: `spec.dut.pod.template.spec.volumes[1].emptyDir.sizeLimit: Invalid value: Kubernetes can't read it: quantities must match`,
		`{"metadata": {"creationTimestamp": "yesterday"}}`:                                                                         `spec.dut.pod.template.metadata.creationTimestamp: Invalid value: Kubernetes can't read it: parsing time`,
		`{"metadata": {"labels": {"a": "b", "c": 1}}}`:                                                                             `spec.dut.pod.template.metadata.labels.c: Invalid value: a number stands where Kubernetes wants a string`,
	} {
		test, _ := ofTemplate(t, template)
		_, errs := compile.ForCluster(test)
		var texts []string
		for _, err := range errs {
			texts = append(texts, err.Error())
		}
		if err := errors.New(strings.Join(texts, "\n")); !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %s\nwant %s", template, err, want)
		}
	}
}

// No template that Kubernetes can read needs more levels than the bound.
func TestTheBoundOfDepthLeavesRoomForAllThatKubernetesReads(t *testing.T) {
	if deepest := depthOf(reflect.TypeFor[corev1.PodTemplateSpec](), map[reflect.Type]bool{}); deepest > 16 {
		t.Errorf("a template may have %d levels, and the comment on the bound says 16", deepest)
	}
}

// depthOf is how many lists and mappings are in each other in a type's JSON, at most.
func depthOf(goType reflect.Type, ancestors map[reflect.Type]bool) (deepest int) {
	switch goType.Kind() {
	case reflect.Pointer:
		return depthOf(goType.Elem(), ancestors)
	case reflect.Slice, reflect.Map:
		return 1 + depthOf(goType.Elem(), ancestors)
	case reflect.Struct:
		if ancestors[goType] || reflect.PointerTo(goType).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return 0
		}
		ancestors[goType] = true
		defer delete(ancestors, goType)
		for i := range goType.NumField() {
			inside := depthOf(goType.Field(i).Type, ancestors)
			if goType.Field(i).Anonymous {
				inside--
			}
			deepest = max(deepest, inside)
		}
		return 1 + deepest
	default:
		return 0
	}
}
