package apiserver

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// shortest is the shortest LoadTest there is.
const shortest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: shortest}
spec:
  dut: {type: Reference}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
`

// newShortest stores the shortest LoadTest, with more lines if wanted.
func newShortest(t *testing.T, more ...string) *v1alpha1.LoadTest {
	t.Helper()
	namespace := newNamespace(t)
	name, err := create(t, namespace, []byte(shortest+strings.Join(more, "")))
	if err != nil {
		t.Fatal(err)
	}
	return stored(t, namespace, name)
}

// merge patches an object, and leaves in it what the server answered.
func merge(t *testing.T, test *v1alpha1.LoadTest, patch string) error {
	t.Helper()
	return typed.Patch(t.Context(), test, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// unchangeable is how a rule says that a field of the spec stays, or can't be added or removed.
var unchangeable = regexp.MustCompile(`spec(\.\w+)?: Invalid value: .*can't be (changed|added or removed): create a new LoadTest`)

func TestASpecCannotBeChanged(t *testing.T) {
	const links = `"links": [{"name": "west", "lineRate": "1gbps"}, {"name": "east", "lineRate": "1gbps"}]`
	for name, patch := range map[string]string{
		"a value that was given":                         `{"links": [{"name": "west", "lineRate": "10gbps"}, {"name": "east", "lineRate": "1gbps"}]}`,
		"a value that was a default":                     `{"procedure": {"ramp": {"targetRate": "50%"}}}`,
		"a procedure of another type":                    `{"procedure": {"type": "FrameLoss", "ramp": null}}`,
		"a list that was not there":                      `{"criteria": [{"name": "a", "metric": "LossRatio", "max": "0%"}]}`,
		"a list that was not there, empty":               `{"criteria": []}`,
		"an object that was not there":                   `{"generator": {"pod": {}}}`,
		"a field that was not there":                     `{"generator": {"coresPerPortPair": 1}}`,
		"a layout that is the default":                   `{"generator": {"layout": "Paired"}}`,
		"a hook that was not there":                      `{"dut": {"setup": {"template": {}}}}`,
		"a network that was not there":                   `{"links": [{"name": "west", "lineRate": "1gbps", "network": "a"}, {"name": "east", "lineRate": "1gbps"}]}`,
		"the order of links":                             `{"links": [{"name": "east", "lineRate": "1gbps"}, {"name": "west", "lineRate": "1gbps"}]}`,
		"a rate that means the same one":                 `{"links": [{"name": "west", "lineRate": "1000mbps"}, {"name": "east", "lineRate": "1gbps"}]}`,
		"a field that may not change, with one that may": `{"suspend": true, "traffic": {"profile": "FixedSize", "frameSize": 64}}`,
		"a shared port that is the default":              `{"sharedPort": "Refused"}`,
		"a shared port":                                  `{"sharedPort": "Allowed"}`,
		"a baseline that was not there":                  `{"baseline": {"loadTest": "vpp-main"}}`,
		"another link between the two":                   `{"links": [{"name": "west", "lineRate": "1gbps"}, {"name": "north", "lineRate": "1gbps"}, {"name": "east", "lineRate": "1gbps"}]}`,
		"another name of a link":                         `{"links": [{"name": "west", "lineRate": "1gbps"}, {"name": "north", "lineRate": "1gbps"}]}`,
		"all at once":                                    `{"dut": {"type": "Device"}, ` + links + `, "generator": {"replicas": 2}}`,
	} {
		t.Run(name, func(t *testing.T) {
			refusedChange(t, newShortest(t), patch)
		})
	}
}

// refusedChange patches a spec, which the server must refuse.
func refusedChange(t *testing.T, test *v1alpha1.LoadTest, patch string) {
	t.Helper()
	err := merge(t, test, `{"spec": `+patch+`}`)
	if !apierrors.IsInvalid(err) || !unchangeable.MatchString(err.Error()) {
		t.Errorf("the server says %v", err)
	}
}

// everything has a value in each place where the schema lets anything stand.
const everything = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: everything}
spec:
  generator:
    engine: TRex
    trex: {image: "trex:1", config: {rx_desc: 4096, memory: {mbuf_9k: 0}}, args: [--no-hw-flow-stat]}
    pod:
      labels: {team: datapath}
      tolerations: [{key: lab, operator: Exists}]
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}
  dut:
    type: Pod
    pod: {template: {metadata: {labels: {app: vpp}}, spec: {containers: [{name: vpp, image: "vpp:1", env: [{name: A, value: b}]}]}}}
    setup: {template: {spec: {containers: [{name: setup, image: "a:1", args: [x, y]}]}}}
    teardown: {template: {spec: {containers: [{name: teardown, image: "a:1"}]}}}
  links: [{name: west, network: a}, {name: east, network: b, dut: {network: c}}]
  sharedPort: Allowed
  criteria: [{name: a, metric: LossRatio, max: 0%}]
  baseline: {loadTest: vpp-main}
`

func newEverything(t *testing.T) *v1alpha1.LoadTest {
	t.Helper()
	namespace := newNamespace(t)
	if _, err := create(t, namespace, []byte(everything)); err != nil {
		t.Fatal(err)
	}
	return stored(t, namespace, "everything")
}

func TestFieldsThatKubernetesDescribesCannotBeChangedEither(t *testing.T) {
	for name, patch := range map[string]string{
		"a container's image":           `{"dut": {"pod": {"template": {"spec": {"containers": [{"name": "vpp", "image": "vpp:2", "env": [{"name": "A", "value": "b"}]}]}}}}}`,
		"a variable deep in it":         `{"dut": {"pod": {"template": {"spec": {"containers": [{"name": "vpp", "image": "vpp:1", "env": [{"name": "A", "value": "c"}]}]}}}}}`,
		"an unknown field":              `{"dut": {"pod": {"template": {"spec": {"colour": "blue"}}}}}`,
		"a label that is taken away":    `{"dut": {"pod": {"template": {"metadata": {"labels": {"app": null}}}}}}`,
		"the order of arguments":        `{"dut": {"setup": {"template": {"spec": {"containers": [{"name": "setup", "image": "a:1", "args": ["y", "x"]}]}}}}}`,
		"a hook that is taken away":     `{"dut": {"teardown": null}}`,
		"a hook's deadline":             `{"dut": {"teardown": {"deadline": "1m"}}}`,
		"an affinity's value":           `{"generator": {"pod": {"affinity": {"nodeAffinity": null}}}}`,
		"TRex's setting":                `{"generator": {"trex": {"config": {"memory": {"mbuf_9k": 1}}}}}`,
		"a setting's kind":              `{"generator": {"trex": {"config": {"rx_desc": "4096"}}}}`,
		"a toleration":                  `{"generator": {"pod": {"tolerations": []}}}`,
		"a label of generator pods":     `{"generator": {"pod": {"labels": {"team": "control"}}}}`,
		"criteria that are taken away":  `{"criteria": null}`,
		"a criterion's bound":           `{"criteria": [{"name": "a", "metric": "LossRatio", "max": "10%"}]}`,
		"a baseline that is taken away": `{"baseline": null}`,
		"another baseline":              `{"baseline": {"loadTest": "vpp-next"}}`,
		"a shared port taken away":      `{"sharedPort": null}`,
		"another word on shared ports":  `{"sharedPort": "Refused"}`,
		"the device's end of a link":    `{"links": [{"name": "west", "network": "a"}, {"name": "east", "network": "b", "dut": {"network": "d"}}]}`,
		"an end that is taken away":     `{"links": [{"name": "west", "network": "a"}, {"name": "east", "network": "b"}]}`,
		"the order of links":            `{"links": [{"name": "east", "network": "b", "dut": {"network": "c"}}, {"name": "west", "network": "a"}]}`,
		"TRex's setting for another":    `{"generator": {"trex": {"config": {"rx_desc": null, "tx_desc": 4096}}}}`,
		"a setting within for another":  `{"generator": {"trex": {"config": {"memory": {"mbuf_9k": null, "mbuf_64": 0}}}}}`,
		"an affinity for another":       `{"generator": {"pod": {"affinity": {"nodeAffinity": null, "podAffinity": {}}}}}`,
		"a template's part for another": `{"dut": {"pod": {"template": {"metadata": null, "colour": "blue"}}}}`,
		"a label for another":           `{"dut": {"pod": {"template": {"metadata": {"labels": {"app": null, "application": "vpp"}}}}}}`,
		"a hook's part for another":     `{"dut": {"setup": {"template": {"spec": null, "metadata": {"labels": {"a": "b"}}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			refusedChange(t, newEverything(t), patch)
		})
	}
}

func TestWhichFieldsMayChange(t *testing.T) {
	for name, patch := range map[string]string{
		"suspend":                       `{"suspend": true}`,
		"activeDeadline":                `{"activeDeadline": "2h"}`,
		"schedulingDeadline":            `{"schedulingDeadline": "2h"}`,
		"ttlAfterFinished":              `{"ttlAfterFinished": "0s"}`,
		"podRetention":                  `{"podRetention": "OnFailure"}`,
		"reportRetention":               `{"reportRetention": "Keep"}`,
		"stop":                          `{"stop": true}`,
		"all of it, and what stays too": `{"suspend": false, "stop": false, "schedulingDeadline": "1m", "ttlAfterFinished": "1h", "podRetention": "Never", "dut": {"type": "Pod"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			test := newEverything(t)
			if err := merge(t, test, `{"spec": `+patch+`}`); err != nil || test.Generation != 2 {
				t.Errorf("generation %d (%v)", test.Generation, err)
			}
		})
	}
	t.Run("suspend, and back again", func(t *testing.T) {
		test := newShortest(t, "  suspend: true\n")
		for _, patch := range []string{`{"spec": {"suspend": false}}`, `{"spec": {"suspend": true}}`, `{"spec": {"suspend": null}}`} {
			if err := merge(t, test, patch); err != nil {
				t.Errorf("%s: %v", patch, err)
			}
		}
	})
}

// The rules that compare the old spec with the new one cost the more the larger they are, and the server bounds what they may cost: the largest
// object that it stores must still be one that can be stopped.
func TestTheLargestLoadTestCanBeStopped(t *testing.T) {
	var variables []string
	for i := range 8000 {
		variables = append(variables, fmt.Sprintf(`{"name": "VARIABLE_%d", "value": "%s"}`, i, strings.Repeat("x", 20)))
	}
	template := fmt.Sprintf(`{"template": {"spec": {"containers": [{"name": "a", "image": "b", "env": [%s]}]}}}`, strings.Join(variables, ","))
	namespace := newNamespace(t)
	name, err := create(t, namespace, []byte(strings.Replace(shortest, "{type: Reference}", "{type: Pod, pod: "+template+", setup: "+template+"}", 1)+
		"  traffic: {profile: Streams, streams: {json: '["+strings.Repeat(" ", 200<<10)+"]'}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	test := stored(t, namespace, name)
	if size := len(rawOf(t, test.Spec.DUT.Pod.Template)) + len(rawOf(t, test.Spec.DUT.Setup.Template)) + len(test.Spec.Traffic.Streams.JSON); size < 1<<20 {
		t.Errorf("only %d bytes", size)
	}
	if err := merge(t, test, `{"spec": {"stop": true}}`); err != nil || !test.Spec.Stop {
		t.Errorf("stop is %v (%v)", test.Spec.Stop, err)
	}
	refusedChange(t, test, `{"traffic": {"streams": {"json": "[]"}}}`)
}

func TestAStoppedTestStaysStopped(t *testing.T) {
	for name, patch := range map[string]string{
		"false":      `{"spec": {"stop": false}}`,
		"taken away": `{"spec": {"stop": null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			test := newShortest(t)
			if err := merge(t, test, `{"spec": {"stop": true}}`); err != nil {
				t.Fatal(err)
			}
			err := merge(t, test, patch)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "a stopped test can't be continued: create a new LoadTest") {
				t.Errorf("the server says %v", err)
			}
		})
	}
	t.Run("other things may still change", func(t *testing.T) {
		test := newShortest(t, "  stop: true\n")
		if err := merge(t, test, `{"spec": {"ttlAfterFinished": "1m"}}`); err != nil {
			t.Error(err)
		}
	})
}

func TestMetadataMayChange(t *testing.T) {
	t.Run("labels", func(t *testing.T) {
		test := newShortest(t)
		if err := merge(t, test, `{"metadata": {"labels": {"linerate.dev/product": "Linux"}}}`); err != nil || test.Labels["linerate.dev/product"] != "Linux" {
			t.Errorf("labels are %v (%v)", test.Labels, err)
		}
	})
	t.Run("a default that is taken away comes back, so nothing changes", func(t *testing.T) {
		test := newShortest(t)
		if err := merge(t, test, `{"spec": {"traffic": null}}`); err != nil || test.Generation != 1 || test.Spec.Traffic.Profile != "IMIX" {
			t.Errorf("traffic %+v, generation %d (%v)", test.Spec.Traffic, test.Generation, err)
		}
	})
}

func TestApplyingAFileTwiceChangesNothing(t *testing.T) {
	namespace := newNamespace(t)
	var generation int64
	for range 2 {
		err := raw.Patch(types.ApplyPatchType).Namespace(namespace).Resource("loadtests").Name("shortest").
			Param("fieldManager", "test").Param("fieldValidation", "Strict").Body([]byte(shortest)).Do(t.Context()).Error()
		if err != nil {
			t.Fatal(err)
		}
		generation = stored(t, namespace, "shortest").Generation
	}
	if generation != 1 {
		t.Errorf("generation is %d", generation)
	}
}
