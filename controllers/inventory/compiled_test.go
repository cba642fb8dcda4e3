package inventory

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

// stored is a test as an API server stores it.
func stored(uid string, generation int64) *v1alpha1.LoadTest {
	test := &v1alpha1.LoadTest{}
	test.Namespace, test.Name, test.UID, test.Generation = "lab", uid, types.UID(uid), generation
	return test
}

// A test is compiled once for each generation of its spec, whether that succeeds or fails, however often and
// from wherever it is requested.
func TestATestIsCompiledOnceForEachGeneration(t *testing.T) {
	for name, compiled := range map[string]compile.Compiled{"it compiles": {Cluster: &compile.Cluster{}},
		"it is refused": {Errs: field.ErrorList{field.Required(nil, "")}}} {
		t.Run(name, func(t *testing.T) {
			tests, times := newCompiledTests(compile.Bounds{}), 0
			tests.compile = func(*v1alpha1.LoadTest) compile.Compiled { times++; return compiled }
			var asked sync.WaitGroup
			for range 16 {
				asked.Go(func() { tests.get(stored("a", 1)) })
			}
			asked.Wait()
			if got := tests.get(stored("a", 1)); times != 1 || got.Cluster != compiled.Cluster ||
				len(got.Errs) != len(compiled.Errs) {
				t.Errorf("it was compiled %d times, to %+v", times, got)
			}
			if tests.get(stored("a", 2)); times != 2 {
				t.Errorf("of two generations it was compiled %d times", times)
			}
			labelled := stored("a", 2)
			// the Plan has it, and no generation says that it changed
			labelled.Labels = map[string]string{v1alpha1.LabelProduct: "apu6"}
			if tests.get(labelled); times != 3 {
				t.Errorf("with another label it was compiled %d times", times)
			}
			if tests.get(stored("b", 1)); times != 4 {
				t.Errorf("with another test it was compiled %d times", times)
			}
		})
	}
}

// While one test is compiled, no request for another one waits.
func TestNobodyWaitsWhileAnotherTestIsCompiled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tests, release := newCompiledTests(compile.Bounds{}), make(chan struct{})
		tests.compile = func(test *v1alpha1.LoadTest) (c compile.Compiled) {
			if test.Name == "hostile" {
				<-release
			}
			return c
		}
		go tests.get(stored("hostile", 1))
		synctest.Wait()
		answered := false
		go func() { tests.get(stored("innocent", 1)); answered = true }()
		synctest.Wait()
		if !answered {
			t.Error("the innocent test waits for the hostile one")
		}
		close(release)
	})
}

// However many and large the tests are, compiled tests take bounded memory, and the most recent are kept.
func TestCompiledTestsTakeNoMoreMemoryThanTheyMay(t *testing.T) {
	tests := newCompiledTests(compile.Bounds{})
	tests.compile = func(*v1alpha1.LoadTest) (c compile.Compiled) { return c }
	for i := range 5000 {
		test := stored(fmt.Sprint(i), 1)
		if i%2 == 0 {
			list := "[" + strings.Repeat("{},", 15) + "{}]"
			template := v1alpha1.Freeform{"spec": apiextensionsv1.JSON{Raw: []byte(list)}}
			test.Spec.DUT.Pod = &v1alpha1.DUTPodSpec{Template: template}
		}
		tests.get(test)
	}
	var bytes int64
	for e := tests.recent.Front(); e != nil; e = e.Next() {
		bytes += e.Value.(*compiledTest).bytes
	}
	if bytes != tests.bytes || bytes > maxCompiled || bytes < maxCompiled/2 ||
		tests.recent.Len() != len(tests.elements) {
		t.Errorf("%d tests of %d bytes are kept, counted as %d", tests.recent.Len(), bytes, tests.bytes)
	}
	if tests.elements["4999"] == nil || tests.elements["0"] != nil {
		t.Error("what was asked for last isn't kept, or what was asked for first is")
	}
	tests.forget("4999")
	if tests.elements["4999"] != nil {
		t.Error("a test that is gone is kept")
	}
}

// A changed network wakes the tests that name it, and a change of all networks wakes all tests.
func TestTheTestsThatNameANetworkAreKnown(t *testing.T) {
	inventory := New(networks{"bridge", ""}, Bounds{})
	for _, network := range []string{"north", "south"} {
		test := aTest(t, network)
		test.Name, test.UID, test.Generation = network, types.UID(network), 1
		if _, err := inventory.NetworksOf(t.Context(), test); err != nil {
			t.Fatal(err)
		}
	}
	for network, want := range map[compile.NetworkKey]int{{Namespace: "lab", Name: "north"}: 1,
		{Namespace: "lab", Name: "east"}: 2, {Namespace: "other", Name: "north"}: 0, {}: 2} {
		if tests := inventory.NamedBy(network); len(tests) != want {
			t.Errorf("%v name %s, want %d", tests, network, want)
		}
	}
}
