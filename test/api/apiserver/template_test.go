package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

// What is stored as it stands can be anything that is a mapping: it must be listed, be the same for admission, and be read or refused.
func TestATemplatesContentIsListedAndRead(t *testing.T) {
	namespace, admit := newNamespace(t), newAdmission(t)
	taken := 0
	for i, text := range []string{
		`{}`, `{spec: {}}`, `{spec: []}`, `{spec: null}`, `{spec: 5, metadata: text}`, `{"": {"": ""}}`, `{"a b.c/d": [[], {}, [null]]}`,
		`{spec: {containers: {}}}`, `{spec: {containers: [null]}}`, `{spec: {containers: [{name: 5}]}}`, `{metadata: {labels: {a: 1}}}`,
		`{spec: {activeDeadlineSeconds: 9223372036854775807}}`, `{spec: {activeDeadlineSeconds: 9223372036854775808}}`, `{spec: {priority: 1e30}}`,
		`{spec: {containers: [{name: a, image: b, resources: {limits: {cpu: 1.5, memory: 1e3, "x/y": "9999999999999999999999"}}}]}}`,
		`{metadata: {creationTimestamp: yesterday}}`, `{spec: {containers: [{name: "\u0000", image: "\ud83d\ude00"}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: b}]}, status: {phase: Failed}}`,
		`[]`, `null`, `text`, `5`, `true`,
	} {
		name := fmt.Sprintf("template-%d", i)
		document := fmt.Appendf(nil, "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: %s}\nspec:\n  dut: {type: Pod, pod: {template: %s}, setup: {template: %s}}\n"+
			"  generator: {engine: TRex, trex: {image: a, config: %s}, pod: {affinity: %s}}\n  links: [{name: a, network: x}, {name: b, network: x}]\n", name, text, text, text, text)
		object, ok := judgedAlike(t, admit, namespace, document)
		if !ok {
			continue
		}
		taken++
		test := stored(t, namespace, name)
		same(t, rawOf(t, test.Spec.DUT.Pod.Template), rawOf(t, object.LoadTest.Spec.DUT.Pod.Template))
		if _, errs := compile.ForCluster(test); len(errs) == 0 {
			t.Errorf("%s was taken as a template, an affinity and TRex's settings", text)
		}
	}
	var list v1alpha1.LoadTestList
	if err := typed.List(t.Context(), &list, client.InNamespace(namespace)); err != nil || len(list.Items) != taken || taken < 15 {
		t.Errorf("%d were taken, %d are listed (%v)", taken, len(list.Items), err)
	}
}

func rawOf(t *testing.T, form v1alpha1.Freeform) []byte {
	t.Helper()
	text, err := form.Raw()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// same compares two texts as JSON.
func same(t *testing.T, a, b []byte) {
	t.Helper()
	var left, right any
	for text, into := range map[*[]byte]*any{&a: &left, &b: &right} {
		decoder := json.NewDecoder(bytes.NewReader(*text))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			t.Error(err)
		}
	}
	if !reflect.DeepEqual(left, right) {
		t.Errorf("stored as %s, admission has %s", a, b)
	}
}
