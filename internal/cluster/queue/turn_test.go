package queue_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const west, east = "intel.com/west", "intel.com/east"

// node is a node with so many devices of west.
func node(name string, n int64) queue.Node {
	return queue.Node{Name: name, Devices: queue.Devices{west: n}}
}

// claim is a test that waits for pods, each with so many devices of west. Its age follows from the letter that its name
// begins with.
func claim(name string, counts ...int64) queue.Claim {
	c := queue.Claim{ID: name, Test: "lab/" + name, Created: noon.Add(time.Duration(name[0]) * time.Minute)}
	for _, n := range counts {
		c.Pods = append(c.Pods, queue.Pod{Devices: queue.Devices{west: n}})
	}
	return c
}

// onNodes puts a claim's pods on nodes. The claim is settled if all have one.
func onNodes(c queue.Claim, nodes ...string) queue.Claim {
	c.Stage = queue.Settled
	for i := range c.Pods {
		if c.Pods[i].Node = ""; i < len(nodes) {
			c.Pods[i].Node = nodes[i]
		} else {
			c.Stage = queue.Placing
		}
	}
	return c
}

// withDevice has a claim's pods want other devices than west.
func withDevice(c queue.Claim, device string) queue.Claim {
	for i, p := range c.Pods {
		c.Pods[i].Devices = queue.Devices{device: p.Devices[west]}
	}
	return c
}

func stage(c queue.Claim, s queue.Stage) queue.Claim { c.Stage = s; return c }

func renamed(c queue.Claim, test string) queue.Claim { c.Test = test; return c }

func gaveBack(c queue.Claim, ago, delay time.Duration) queue.Claim {
	c.GivenBack, c.RetryAt = noon.Add(-ago), noon.Add(delay)
	return c
}

func TestTurns(t *testing.T) {
	four := []queue.Node{node("n1", 4)}
	for name, of := range map[string]struct {
		lab  queue.Snapshot
		goes string   // the tests whose turn it is
		want []string // a part of what each of the others is told, in the order of the claims
	}{
		"an empty lab is for the oldest": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{claim("b", 4), claim("a", 4)}}, "a",
			[]string{"1st in line for intel.com/west: lab/a is about to get 4 of 4"},
		},
		"who was created in the same second stands by name": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{{ID: "1", Test: "lab/y", Pods: claim("b", 4).Pods},
				{ID: "2", Test: "lab/x", Pods: claim("b", 4).Pods}}}, "2",
			[]string{"1st in line"},
		},
		"both go where there is room for both": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{claim("a", 2), claim("b", 2)}}, "a b", nil,
		},
		"places are counted, and holders named": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{onNodes(claim("a", 2), "n1"), claim("b", 4),
				claim("c", 4), claim("d", 4)}}, "a",
			[]string{"1st in line for intel.com/west: lab/a holds 2 of 4", "2nd in line",
				"3rd in line for intel.com/west: lab/a holds 2 of 4"},
		},
		"a small younger one doesn't take what an older one is to have": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{onNodes(claim("a", 2), "n1"), claim("b", 4),
				claim("c", 2)}}, "a",
			[]string{"1st in line", "2nd in line"},
		},
		"a small younger one fits beside": {
			queue.Snapshot{Nodes: []queue.Node{node("n1", 4), node("n2", 4)},
				Claims: []queue.Claim{onNodes(claim("a", 2), "n1"), claim("b", 4), claim("c", 2)}}, "a b c", nil,
		},
		"an older one that could never be placed blocks nobody": {
			queue.Snapshot{Nodes: []queue.Node{node("n1", 3), node("n2", 3)}, Claims: []queue.Claim{claim("a", 2, 2, 2),
				claim("b", 2, 2)}}, "b",
			[]string{"the nodes that are ready and take pods don't have its pods' devices of intel.com/west, those " +
				"of each pod on one node"},
		},
		"a test that something else keeps stands in nobody's way": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{stage(claim("a", 4), queue.Stuck), claim("b", 4)}}, "b",
			[]string{"it joins the line"},
		},
		"tests of other devices know nothing of one another": {
			queue.Snapshot{Nodes: []queue.Node{{Name: "n1", Devices: queue.Devices{west: 2, east: 2}}},
				Claims: []queue.Claim{claim("a", 2), claim("b", 2), withDevice(claim("c", 2), east)}}, "a c",
			[]string{"1st in line for intel.com/west"},
		},
		"enough in all and not side by side": {
			queue.Snapshot{Nodes: []queue.Node{node("n1", 2), node("n2", 2)},
				Claims: []queue.Claim{onNodes(claim("a", 1), "n1"), onNodes(claim("b", 1), "n2"), claim("c", 2),
					claim("d", 1)}}, "a b",
			[]string{"1st in line for intel.com/west: 2 of 4 are free, and not on the nodes where its pods need them " +
				"together; lab/a holds 1 of 4, lab/b holds 1", "2nd in line"},
		},
		"what is left over goes to nobody while an older one needs nodes to grow empty": {
			queue.Snapshot{Nodes: []queue.Node{node("n1", 4), node("n2", 4), node("n3", 4)},
				Claims: []queue.Claim{onNodes(claim("a", 2, 2, 2), "n1", "n2", "n3"), claim("b", 4), claim("c", 1)}},
			"a",
			[]string{"1st in line for intel.com/west: 6 of 12 are free", "2nd in line"},
		},
		"pods of a test that was deleted hold until they are gone": {
			queue.Snapshot{Nodes: four, Holdings: []queue.Holding{{Test: "lab/z", Node: "n1",
				Devices: queue.Devices{west: 4}}}, Claims: []queue.Claim{claim("a", 4)}}, "",
			[]string{"1st in line for intel.com/west: lab/z holds 4 of 4"},
		},
		"what is being placed is reserved for, and told that others wait": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{onNodes(claim("b", 2, 2), "n1"), claim("a", 4)}}, "b!",
			[]string{"1st in line for intel.com/west: lab/b holds 2 of 4, lab/b is about to get 2"},
		},
		"who gave its pods back lets others go first": {
			queue.Snapshot{Nodes: four, Time: noon, Claims: []queue.Claim{gaveBack(claim("a", 4), time.Minute,
				time.Minute), claim("b", 4)}}, "b",
			[]string{"its pods were given back at 11:59:00, as not all of them could be placed or started: it tries " +
				"again at 12:01:00; until then others may use what is free"},
		},
		"who gave its pods back is first again in time": {
			queue.Snapshot{Nodes: four, Time: noon, Claims: []queue.Claim{gaveBack(claim("a", 4), time.Minute, 0),
				claim("b", 4)}}, "a", []string{"1st in line"},
		},
		"pods on a node that can't be used count for nothing": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{onNodes(claim("a", 4), "cordoned"), claim("b", 4)}},
			"a b", nil,
		},
		"tests of other namespaces aren't named": {
			queue.Snapshot{Nodes: four, Claims: []queue.Claim{
				onNodes(renamed(claim("a", 1), "secret/x"), "n1"), onNodes(renamed(claim("b", 1), "secret/y"), "n1"),
				onNodes(claim("c", 1), "n1"), claim("d", 4),
			}}, "a b c", []string{"1st in line for intel.com/west: lab/c holds 1 of 4, tests of other namespaces " +
				"hold 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := queue.Arrange(of.lab)
			var goes, messages []string
			for _, c := range of.lab.Claims {
				turn := line.Turns[c.ID]
				switch {
				case turn.Waits:
					messages = append(messages, turn.Message)
				case turn.Wanted:
					goes = append(goes, c.ID+"!")
				default:
					goes = append(goes, c.ID)
				}
			}
			if got := strings.Join(goes, " "); got != of.goes {
				t.Errorf("it is the turn of %q, want %q", got, of.goes)
			}
			if len(messages) != len(of.want) {
				t.Fatalf("%d wait, want %d:\n%s", len(messages), len(of.want), strings.Join(messages, "\n"))
			}
			for i, want := range of.want {
				if !strings.Contains(messages[i], want) {
					t.Errorf("told %q, want %q", messages[i], want)
				}
			}
		})
	}
}

func TestFurtherBackThePlaceIsARoundNumberThatIsTrue(t *testing.T) {
	lab := queue.Snapshot{Nodes: []queue.Node{node("n1", 1)}}
	for i := range 1000 {
		c := claim("x", 1)
		c.ID, c.Created = string(rune('a'+i)), noon.Add(time.Duration(i)*time.Second)
		lab.Claims = append(lab.Claims, c)
	}
	line := queue.Arrange(lab)
	for i, want := range map[int]string{10: "10th in line", 11: "behind 10 others", 20: "behind 10 others",
		21: "behind 20 others", 99: "behind 50 others", 500: "behind 200 others", 999: "behind 500 others"} {
		if got := line.Turns[lab.Claims[i].ID].Brief; !strings.HasPrefix(got, want) {
			t.Errorf("number %d is told %q, want %q", i, got, want)
		}
	}
	waiting := 0
	for _, turn := range line.Turns {
		if turn.Lacks == west {
			waiting++
		}
	}
	if waiting != 999 {
		t.Errorf("%d stand in line, want 999", waiting)
	}
}

func TestTheLineSaysWhenTimeAloneChangesIt(t *testing.T) {
	lab := queue.Snapshot{Nodes: []queue.Node{node("n1", 4)}, Time: noon, Claims: []queue.Claim{
		gaveBack(claim("a", 4), 0, 2*time.Minute), gaveBack(claim("b", 4), 0, time.Minute), claim("c", 4),
	}}
	if got := queue.Arrange(lab).Due; !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("due at %v", got)
	}
}

// One waits for devices of west, and those of east that it wants are there. They are kept for it, and no more than
// these.
func TestAsManyDevicesAsAWaitingTestWantsAreKeptForIt(t *testing.T) {
	mixed := claim("b", 0)
	mixed.Pods[0].Devices = queue.Devices{west: 2, east: 2}
	lab := queue.Snapshot{
		Nodes: []queue.Node{{Name: "n1", Devices: queue.Devices{west: 2, east: 5}}},
		Claims: []queue.Claim{onNodes(claim("a", 1), "n1"), mixed, withDevice(claim("c", 3), east),
			withDevice(claim("d", 1), east), claim("e", 1)},
	}
	turns := queue.Arrange(lab).Turns
	for name, waits := range map[string]bool{"b": true, "c": false, "d": true, "e": true} {
		if turns[name].Waits != waits {
			t.Errorf("%s waits: %v, want %v: %s", name, turns[name].Waits, waits, turns[name].Message)
		}
	}
}

// A device plugin tells of fewer devices than pods have. They are sick, or their card is gone. The other nodes have no
// fewer for it.
func TestANodeThatLostDevicesTakesNoneFromOthers(t *testing.T) {
	lab := queue.Snapshot{Nodes: []queue.Node{node("a", 1), node("b", 2)},
		Claims: []queue.Claim{onNodes(claim("a", 4), "a"), claim("b", 1, 1)}}
	if turn := queue.Arrange(lab).Turns["b"]; turn.Waits {
		t.Errorf("it waits for what is free: %s", turn.Message)
	}
}

// The scheduler is asked where a search for places takes too long.
func TestWhoseSearchForPlacesTakesTooLongIsLeftToTheScheduler(t *testing.T) {
	lab := queue.Snapshot{Claims: []queue.Claim{claim("a", 51)}}
	for i := range int64(30) { // and each pod wants more than half of a node, and another amount than the others
		lab.Nodes = append(lab.Nodes, node(fmt.Sprint("n", i), 100))
		lab.Claims[0].Pods = append(lab.Claims[0].Pods, queue.Pod{Devices: queue.Devices{west: 52 + i}})
	}
	if turn := queue.Arrange(lab).Turns["a"]; turn.Waits {
		t.Errorf("it waits: %+v", turn)
	}
}

// distinctLab has waiting tests, of two namespaces, no two of which want the same.
func distinctLab(tests int) queue.Snapshot {
	lab := queue.Snapshot{Time: noon}
	for n := range 12 {
		lab.Nodes = append(lab.Nodes, node(fmt.Sprint("n", n), 4+int64(tests)))
	}
	for i := range tests {
		c := claim("x", 1+int64(i), 3)
		c.ID, c.Test, c.Created = fmt.Sprint(i), fmt.Sprintf("ns%d/t%d", i%2, i), noon.Add(time.Duration(i)*time.Second)
		lab.Claims = append(lab.Claims, queue.Summed(c))
	}
	return lab
}

// workOf is how many bytes arranging a line allocates. Unlike time, that doesn't depend on what else the machine does.
func workOf(lab queue.Snapshot) uint64 {
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	queue.Arrange(lab)
	runtime.ReadMemStats(&end)
	return end.TotalAlloc - start.TotalAlloc
}

func TestTheWorkOfALineGrowsAsItsTestsDoThoughNoTwoWantTheSame(t *testing.T) {
	small, large := workOf(distinctLab(1000)), workOf(distinctLab(4000))
	t.Logf("%d kB for 1000 tests, %d kB for 4000", small>>10, large>>10)
	if large > 6*small {
		t.Errorf("1000 tests take %d bytes, 4000 take %d: want four times as many, and six at most", small, large)
	}
}

func TestTheDelayFollowsFromTheUIDAndGrows(t *testing.T) {
	delays := map[time.Duration]int{}
	for times := 1; times <= 6; times++ {
		for _, uid := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			d := queue.Delay(uid, times)
			if d != queue.Delay(uid, times) {
				t.Fatal("it isn't the same twice")
			}
			if low := min(15*time.Second<<(times-1), 4*time.Minute); d < low || d >= 2*low {
				t.Errorf("the delay number %d is %v", times, d)
			}
			delays[d]++
		}
	}
	if len(delays) < 30 {
		t.Errorf("of 48 delays %d differ", len(delays))
	}
}

func BenchmarkFourThousandWaiting(b *testing.B) {
	lab := queue.Snapshot{}
	for i := range 100 {
		lab.Nodes = append(lab.Nodes, queue.Node{Name: fmt.Sprintf("node-%03d", i), Devices: queue.Devices{west: 2,
			east: 2}})
	}
	for i := range 4000 {
		c := queue.Claim{ID: fmt.Sprint(i), Test: fmt.Sprint("lab/", i),
			Created: noon.Add(time.Duration(i) * time.Second), Pods: []queue.Pod{
				{Devices: queue.Devices{west: 1, east: 1}}, {Devices: queue.Devices{west: 1, east: 1}},
			}}
		if i < 100 {
			c = onNodes(c, lab.Nodes[i].Name, lab.Nodes[i].Name)
		}
		lab.Claims = append(lab.Claims, queue.Summed(c))
	}
	for b.Loop() {
		queue.Arrange(lab)
	}
}
