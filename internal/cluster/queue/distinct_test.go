package queue

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// distinctLab has waiting tests, of two namespaces, no two of which want the same: other amounts, or other nodes.
func distinctLab(tests int, kind string) Lab {
	const nodes = 12
	lab := Lab{Now: time.Unix(1e9, 0), Where: map[string]Where{}}
	for n := range nodes {
		lab.Nodes = append(lab.Nodes, Node{Name: fmt.Sprintf("n%03d", n), Resources: Resources{CPU: 64000, "lab.example/a": 64}})
	}
	for i := range tests {
		p := Pod{Name: "p", Resources: Resources{CPU: 1000, "lab.example/a": 32}}
		switch kind {
		case "amounts":
			p.Resources[CPU] += int64(i)
		case "nodes":
			p.Where = fmt.Sprint("w", i)
			var on []string
			for n := range nodes {
				if (i+1)>>n&1 == 1 {
					on = append(on, lab.Nodes[n].Name)
				}
			}
			lab.Where[p.Where] = Where{Nodes: on}
		}
		lab.Claims = append(lab.Claims, Shaped(Claim{ID: fmt.Sprint(i), Test: fmt.Sprintf("ns%d/t%d", i%2, i), Created: time.Unix(int64(i), 0), Pods: []Pod{p}}))
	}
	return lab
}

// workOf is how many bytes arranging a line allocates: unlike time, that doesn't depend on what else the machine does.
func workOf(lab Lab) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Arrange(lab)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Five hundred tests whose node selectors all differ took more than a minute: the work grew with the third power of their number.
func TestTheWorkOfALineGrowsAsItsTestsDoThoughNoTwoWantTheSame(t *testing.T) {
	for _, kind := range []string{"amounts", "nodes"} {
		few, many := workOf(distinctLab(1000, kind)), workOf(distinctLab(4000, kind))
		t.Logf("%s: %d kB for 1000 tests, %d kB for 4000", kind, few>>10, many>>10)
		if many > 6*few {
			t.Errorf("%s: 1000 tests take %d bytes, 4000 take %d: want four times as many, and six at most", kind, few, many)
		}
	}
}

// A namespace whose tests all name other nodes keeps no other namespace's test waiting, and its own go on as those before them are gone.
func TestWhoNamesManyChoicesOfNodesKeepsOnlyItsOwnWaiting(t *testing.T) {
	lab := distinctLab(400, "nodes")
	for i := range lab.Claims {
		lab.Claims[i].Test = fmt.Sprintf("hostile/t%d", i)
	}
	lab.Nodes = append(lab.Nodes, Node{Name: "innocent", Resources: Resources{"lab.example/b": 1}})
	lab.Claims = append(lab.Claims, Claim{ID: "innocent", Test: "other/t", Created: time.Unix(1000, 0), Pods: []Pod{{Name: "p", Resources: Resources{"lab.example/b": 1}}}})
	line := Arrange(lab)
	if turn := line.Turns["innocent"]; turn.Waits {
		t.Errorf("the innocent one waits: %+v", turn)
	}
	if turn := line.Turns["399"]; !turn.Waits || turn.Message != beyondWords {
		t.Errorf("the last of the hostile ones: %+v", turn)
	}
	if len(line.Order) != len(lab.Claims) {
		t.Errorf("%d of %d have a place", len(line.Order), len(lab.Claims))
	}
	lab.Claims = lab.Claims[399:]
	if turn := Arrange(lab).Turns["399"]; turn.Waits {
		t.Errorf("all before it are gone, and it waits: %+v", turn)
	}
}
