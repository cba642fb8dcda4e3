package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The schema lets anything through, and a list of LoadTests is decoded as a whole: one that can't be read would keep
// the operator from all others.
func TestAMemoryThatCantBeReadKeepsNobodyFromTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want TestMemory
	}{
		"nothing":                    {`{}`, TestMemory{}},
		"null":                       {`null`, TestMemory{}},
		"a member of another type":   {`{"excludedNodes": 5, "lostRuns": 2}`, TestMemory{LostRuns: 2}},
		"half a list":                {`{"excludedNodes": ["a", 5]}`, TestMemory{}},
		"a number out of range":      {`{"lostRuns": 1e30, "excludedNodes": ["a"]}`, TestMemory{ExcludedNodes: []string{"a"}}},
		"a time that is none":        {`{"givenBack": {"times": 1, "lastTime": "noon"}, "admissionTime": 3}`, TestMemory{}},
		"a later version's member":   {`{"mood": "good", "awaitedPorts": [{"node": "n", "port": "p", "since": 1}]}`, TestMemory{AwaitedPorts: []NodePort{{"n", "p"}}}},
		"a list instead of a member": {`[1]`, TestMemory{}},
	} {
		t.Run(name, func(t *testing.T) {
			var list LoadTestList
			if err := json.Unmarshal([]byte(`{"items": [{"status": {"attempt": 3, "operator": `+c.text+`}}]}`), &list); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(LoadTestStatus{Attempt: 3, Operator: c.want}, list.Items[0].Status); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
	var suites LoadTestSuiteList
	if err := json.Unmarshal([]byte(`{"items": [{"status": {"operator": {"storedRuns": "all", "startedTests": [{"test": "a", "runs": 1}]}}}]}`), &suites); err != nil {
		t.Fatal(err)
	}
	if got := suites.Items[0].Status.Operator; got.StoredRuns != nil || len(got.StartedTests) != 1 || got.StartedTests[0].Test != "a" {
		t.Errorf("of a suite it reads %+v", got)
	}
}
