package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const west, east = "intel.com/west", "intel.com/east"

// node is a node with so many devices of west.
func node(name string, n int64) queue.Node {
	return queue.Node{Name: name, Resources: queue.Resources{west: n}}
}

// claim is a test that waits for pods, each with so many devices of west; its age follows from the letter that its name begins with.
func claim(name string, each ...int64) queue.Claim {
	c := queue.Claim{ID: name, Test: "lab/" + name, Created: noon.Add(time.Duration(name[0]) * time.Minute)}
	for _, n := range each {
		c.Pods = append(c.Pods, queue.Pod{Resources: queue.Resources{west: n}})
	}
	return c
}

// on puts a claim's pods on nodes; it is settled if all have one.
func on(c queue.Claim, nodes ...string) queue.Claim {
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

func of(c queue.Claim, resource string) queue.Claim {
	for i, p := range c.Pods {
		c.Pods[i].Resources = queue.Resources{resource: p.Resources[west]}
	}
	return c
}

func stage(c queue.Claim, s queue.Stage) queue.Claim { c.Stage = s; return c }

// apart keeps the other pods off the first one's node.
func apart(c queue.Claim) queue.Claim {
	for i := range c.Pods {
		if c.Pods[i].Name = fmt.Sprint(i); i > 0 {
			c.Pods[i].Apart = []string{"0"}
		}
	}
	return c
}

// pairs keeps each two pods apart.
func pairs(c queue.Claim) queue.Claim {
	for i := range c.Pods {
		c.Pods[i].Name, c.Pods[i].Apart = fmt.Sprint(i), []string{fmt.Sprint(i ^ 1)}
	}
	return c
}

// in lets a claim's pods be on some nodes only.
func in(c queue.Claim, where string) queue.Claim {
	for i := range c.Pods {
		c.Pods[i].Where = where
	}
	return c
}

// busy gives each of a claim's pods CPUs.
func busy(c queue.Claim, cpus int64) queue.Claim {
	for i := range c.Pods {
		c.Pods[i].Resources[queue.CPU] = cpus
	}
	return c
}

func withCPU(n queue.Node, cpus int64) queue.Node { n.Resources[queue.CPU] = cpus; return n }

func renamed(c queue.Claim, test string) queue.Claim { c.Test = test; return c }

func gaveBack(c queue.Claim, ago, until time.Duration) queue.Claim {
	c.GivenBack, c.RetryAt = noon.Add(-ago), noon.Add(until)
	return c
}

// refusedBy is a test that a node refused a pod of.
func refusedBy(c queue.Claim, node string) queue.Claim {
	c.Avoid = []string{node}
	return c
}

func TestTurns(t *testing.T) {
	four, two := []queue.Node{node("n1", 4)}, []queue.Node{node("n1", 4), node("n2", 4)}
	racks := map[string]queue.Where{"r1": {Nodes: []string{"n1"}}, "r2": {Nodes: []string{"n2"}}, "nowhere": {}, "tainted": {Tainted: []string{"n1", "n2"}}}
	for name, of := range map[string]struct {
		lab  queue.Lab
		goes string   // the tests whose turn it is
		says []string // a part of what each of the others is told, in the order of the claims
	}{
		"an empty lab is for the oldest": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{claim("b", 4), claim("a", 4)}}, "a",
			[]string{"1st in line for intel.com/west: lab/a is about to get 4 of 4"},
		},
		"who was created in the same second stands by name": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{{ID: "1", Test: "lab/y", Pods: claim("b", 4).Pods}, {ID: "2", Test: "lab/x", Pods: claim("b", 4).Pods}}}, "2",
			[]string{"1st in line"},
		},
		"both go where there is room for both": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{claim("a", 2), claim("b", 2)}}, "a b", nil,
		},
		"places are counted, and holders named": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{on(claim("a", 2), "n1"), claim("b", 4), claim("c", 4), claim("d", 4)}}, "a",
			[]string{"1st in line for intel.com/west: lab/a holds 2 of 4", "2nd in line", "3rd in line for intel.com/west: lab/a holds 2 of 4"},
		},
		"a small younger one doesn't take what an older one is to have": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{on(claim("a", 2), "n1"), claim("b", 4), claim("c", 2)}}, "a",
			[]string{"1st in line", "2nd in line"},
		},
		"a small younger one fits beside": {
			queue.Lab{Nodes: []queue.Node{node("n1", 4), node("n2", 4)}, Claims: []queue.Claim{on(claim("a", 2), "n1"), claim("b", 4), claim("c", 2)}}, "a b c", nil,
		},
		"an older one that could never be placed blocks nobody": {
			queue.Lab{Nodes: []queue.Node{node("n1", 3), node("n2", 3)}, Claims: []queue.Claim{claim("a", 2, 2, 2), claim("b", 2, 2)}}, "b",
			[]string{"no choice of nodes has room for its pods' devices of intel.com/west side by side"},
		},
		"generators and device that may not share a node need two": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{apart(claim("a", 2, 2)), claim("b", 2, 2)}}, "b",
			[]string{"with those apart that can't share a node"},
		},
		"a test that something else keeps stands in nobody's way": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{stage(claim("a", 4), queue.Stuck), claim("b", 4)}}, "a b", nil,
		},
		"of several that something else kept the oldest goes first": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{stage(claim("b", 4), queue.Stuck), stage(claim("a", 4), queue.Stuck), of(stage(claim("c", 4), queue.Stuck), "lab/other")}}, "a",
			[]string{"1st in line for intel.com/west", "no choice of nodes"},
		},
		"a test whose last pod has no place any more says nothing of others": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{on(apart(claim("a", 2, 2)), "n1"), claim("b", 2)}}, "a!", []string{"1st in line for intel.com/west: lab/a holds 2 of 4"},
		},
		"tests of other devices know nothing of one another": {
			queue.Lab{Nodes: []queue.Node{{Name: "n1", Resources: queue.Resources{west: 2, east: 2}}}, Claims: []queue.Claim{claim("a", 2), claim("b", 2), of(claim("c", 2), east)}}, "a c",
			[]string{"1st in line for intel.com/west"},
		},
		"enough in all and not side by side": {
			queue.Lab{Nodes: []queue.Node{node("n1", 2), node("n2", 2)}, Claims: []queue.Claim{on(claim("a", 1), "n1"), on(claim("b", 1), "n2"), claim("c", 2), claim("d", 1)}}, "a b",
			[]string{"1st in line for intel.com/west: 2 of 4 are free, and not on the nodes where its pods need them together; lab/a holds 1 of 4, lab/b holds 1", "2nd in line"},
		},
		"what is left over goes to nobody while an older one needs nodes to grow empty": {
			queue.Lab{Nodes: []queue.Node{node("n1", 4), node("n2", 4), node("n3", 4)}, Claims: []queue.Claim{on(claim("a", 2, 2, 2), "n1", "n2", "n3"), claim("b", 4), claim("c", 1)}}, "a",
			[]string{"1st in line for intel.com/west: 6 of 12 are free", "2nd in line"},
		},
		"pods of a test that was deleted hold until they are gone": {
			queue.Lab{Nodes: four, Held: []queue.Holding{{Test: "lab/z", Node: "n1", Resources: queue.Resources{west: 4}}}, Claims: []queue.Claim{claim("a", 4)}}, "",
			[]string{"1st in line for intel.com/west: lab/z holds 4 of 4"},
		},
		"what is being placed is reserved for, and told that others wait": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{on(claim("b", 2, 2), "n1"), claim("a", 4)}}, "b!",
			[]string{"1st in line for intel.com/west: lab/b holds 2 of 4, lab/b is about to get 2"},
		},
		"who gave its pods back lets others go first": {
			queue.Lab{Nodes: four, Now: noon, Claims: []queue.Claim{gaveBack(claim("a", 4), time.Minute, time.Minute), claim("b", 4)}}, "b",
			[]string{"its pods were given back at 11:59:00, as not all of them could be placed or started: it tries again at 12:01:00, or as soon as"},
		},
		"who gave its pods back is first again in time": {
			queue.Lab{Nodes: four, Now: noon, Claims: []queue.Claim{gaveBack(claim("a", 4), time.Minute, 0), claim("b", 4)}}, "a", []string{"1st in line"},
		},
		"who gave its pods back is first again when a test lets devices go": {
			queue.Lab{Nodes: four, Now: noon, Released: map[string]time.Time{west: noon}, Claims: []queue.Claim{gaveBack(claim("a", 4), time.Minute, time.Minute), claim("b", 4)}}, "a",
			[]string{"1st in line"},
		},
		"pods on a node that can't be used count for nothing": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{on(claim("a", 4), "cordoned"), claim("b", 4)}}, "a b", nil,
		},
		"a node that refused a pod isn't counted on": {
			queue.Lab{Nodes: []queue.Node{node("n1", 4), node("n2", 2)}, Claims: []queue.Claim{refusedBy(claim("a", 4), "n1"), claim("b", 4)}}, "b",
			[]string{"lower generator.replicas in a new LoadTest; n1 may be tried again after spec.suspend was set to true and to false again"},
		},
		"who was refused by every node may try them again": {
			queue.Lab{Nodes: []queue.Node{node("n1", 4)}, Claims: []queue.Claim{refusedBy(claim("a", 4), "n1")}}, "",
			[]string{"correct them in a new LoadTest; n1 may be tried again after spec.suspend was set to true and to false again"},
		},
		"who may be on one node only doesn't wait for the devices of another": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{on(claim("a", 4), "n1"), in(claim("b", 4), "r1"), in(claim("c", 4), "r2")}}, "a c",
			[]string{"1st in line for intel.com/west: lab/a holds 4 of 4"},
		},
		"free devices of a node that it may not be on are none": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{on(claim("a", 2), "n1"), in(claim("b", 4), "r1")}}, "a", []string{"1st in line for intel.com/west: lab/a holds 2 of 4"},
		},
		"who may be anywhere goes where an older one can't be": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{on(claim("a", 4), "n1"), in(claim("b", 4), "r1"), claim("c", 4)}}, "a c", []string{"1st in line"},
		},
		"who might be put where an older one waits keeps off": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{on(claim("a", 2), "n1"), in(claim("b", 4), "r1"), claim("c", 2), in(claim("d", 2), "r2")}}, "a d",
			[]string{"1st in line", "2nd in line"},
		},
		"what a test elsewhere is short of keeps nobody here": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{on(claim("a", 4), "n1"), in(claim("b", 4), "r1"), in(claim("c", 4), "r1"), in(claim("d", 4), "r1"), claim("e", 4)}}, "a e",
			[]string{"1st in line", "2nd in line", "3rd in line for intel.com/west: lab/a holds 4 of 4"},
		},
		"a selector that no node with devices matches": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{in(claim("a", 1), "nowhere"), claim("b", 4)}}, "b",
			[]string{"by its node selector, affinity and tolerations, and by what refused a pod of the test: label or untaint a node for it"},
		},
		"a selector whose nodes have too few devices": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{in(claim("a", 5), "r1"), claim("b", 4)}}, "b",
			[]string{"no choice of nodes of those that its node selectors, affinities and tolerations leave"},
		},
		"where taints leave nothing the scheduler is asked: admission may add what tolerates them": {
			queue.Lab{Nodes: two, Where: racks, Claims: []queue.Claim{in(claim("a", 4), "tainted")}}, "a", nil,
		},
		"a taint leaves the other nodes": {
			queue.Lab{Nodes: two, Where: map[string]queue.Where{"half": {Nodes: []string{"n1"}, Tainted: []string{"n2"}}}, Claims: []queue.Claim{on(claim("a", 4), "n1"), in(claim("b", 4), "half")}}, "a",
			[]string{"1st in line for intel.com/west: lab/a holds 4 of 4"},
		},
		"ends of a direction that can't share a node, and generators that can": {
			queue.Lab{Nodes: two, Claims: []queue.Claim{pairs(claim("a", 1, 1, 1, 1)), pairs(claim("b", 2, 2)), pairs(claim("c", 2, 2))}}, "a b", []string{"1st in line"},
		},
		"ends that can't share the only node": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{pairs(claim("a", 1, 1)), claim("b", 4)}}, "b", []string{"both ends of a direction with layout PerLink"},
		},
		"devices are free, and the CPUs beside them aren't": {
			queue.Lab{Nodes: []queue.Node{withCPU(node("n1", 4), 8)}, Claims: []queue.Claim{busy(on(claim("a", 2), "n1"), 6), busy(claim("b", 2), 6)}}, "a",
			[]string{"1st in line for intel.com/west: 2 of 4 are free, and not enough cpu on the nodes that have them; lab/a holds 2 of 4"},
		},
		"CPUs enough in all, and not beside the devices": {
			queue.Lab{Nodes: []queue.Node{withCPU(node("n1", 4), 8), withCPU(node("n2", 4), 8)}, Claims: []queue.Claim{
				busy(on(claim("a", 1), "n1"), 6), busy(on(claim("b", 1), "n2"), 6), busy(claim("c", 2), 4),
			}}, "a b", []string{"6 of 8 are free, and not on nodes that have the CPUs, memory and huge pages, too"},
		},
		"no node has as many CPUs": {
			queue.Lab{Nodes: []queue.Node{withCPU(node("n1", 4), 8)}, Claims: []queue.Claim{busy(claim("a", 2), 9)}}, "", []string{"with the CPUs, memory and huge pages that they need there, too"},
		},
		"who waits for devices keeps no CPUs from those that want others": {
			queue.Lab{
				Nodes:  []queue.Node{{Name: "n1", Resources: queue.Resources{west: 2, east: 2, queue.CPU: 16}}},
				Claims: []queue.Claim{busy(on(claim("a", 2), "n1"), 6), busy(claim("b", 2), 6), busy(claim("c", 2), 6), busy(of(claim("d", 2), east), 6)},
			}, "a d", []string{"1st in line", "2nd in line"},
		},
		"who waits for CPUs keeps them from younger ones": {
			queue.Lab{
				Nodes:  []queue.Node{{Name: "n1", Resources: queue.Resources{west: 4, east: 2, queue.CPU: 16}}},
				Claims: []queue.Claim{busy(on(claim("a", 2), "n1"), 6), busy(claim("b", 2), 12), busy(of(claim("d", 2), east), 6)},
			}, "a", []string{"not enough cpu", "1st in line for intel.com/east: those before it are to have what is free of cpu"},
		},
		"tests of other namespaces aren't named": {
			queue.Lab{Nodes: four, Claims: []queue.Claim{
				on(renamed(claim("a", 1), "secret/x"), "n1"), on(renamed(claim("b", 1), "secret/y"), "n1"), on(claim("c", 1), "n1"), claim("d", 4),
			}}, "a b c", []string{"1st in line for intel.com/west: lab/c holds 1 of 4, tests of other namespaces hold 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := queue.Arrange(of.lab)
			var goes, said []string
			for _, c := range of.lab.Claims {
				turn := line.Turns[c.ID]
				switch {
				case turn.Waits:
					said = append(said, turn.Message)
				case turn.Wanted:
					goes = append(goes, c.ID+"!")
				default:
					goes = append(goes, c.ID)
				}
			}
			if got := strings.Join(goes, " "); got != of.goes {
				t.Errorf("it is the turn of %q, want %q", got, of.goes)
			}
			if len(said) != len(of.says) {
				t.Fatalf("%d wait, want %d:\n%s", len(said), len(of.says), strings.Join(said, "\n"))
			}
			for i, want := range of.says {
				if !strings.Contains(said[i], want) {
					t.Errorf("told %q, want %q", said[i], want)
				}
			}
		})
	}
}

func TestFurtherBackThePlaceIsARoundNumberThatIsTrue(t *testing.T) {
	lab := queue.Lab{Nodes: []queue.Node{node("n1", 1)}}
	for i := range 1000 {
		c := claim("x", 1)
		c.ID, c.Created = string(rune('a'+i)), noon.Add(time.Duration(i)*time.Second)
		lab.Claims = append(lab.Claims, c)
	}
	line := queue.Arrange(lab)
	for i, want := range map[int]string{10: "10th in line", 11: "behind 10 others", 20: "behind 10 others", 21: "behind 20 others", 99: "behind 50 others", 500: "behind 200 others", 999: "behind 500 others"} {
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
	lab := queue.Lab{Nodes: []queue.Node{node("n1", 4)}, Now: noon, Claims: []queue.Claim{
		gaveBack(claim("a", 4), 0, 2*time.Minute), gaveBack(claim("b", 4), 0, time.Minute), claim("c", 4),
	}}
	if got := queue.Arrange(lab).Due; !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("due at %v", got)
	}
}

// Three that wait, each for what it lacks besides: two devices of node a are claimed by the first and by the second, and can be had once. A fourth may
// have what the third leaves of node c.
func TestDevicesThatSeveralClaimAreCountedOnce(t *testing.T) {
	both := func(name string, west1, east1 int64) queue.Pod {
		return queue.Pod{Name: name, Resources: queue.Resources{west: west1, east: east1}}
	}
	claims := func(name, where string, pods ...queue.Pod) queue.Claim {
		c := claim(name)
		c.Pods = pods
		return in(c, where)
	}
	lab := queue.Lab{Where: map[string]queue.Where{"a": {Nodes: []string{"a"}}, "a or b": {Nodes: []string{"a", "b"}}}}
	for name, n := range map[string]int64{"a": 2, "b": 2, "c": 5} {
		lab.Nodes = append(lab.Nodes, queue.Node{Name: name, Resources: queue.Resources{west: n, east: 1}})
	}
	lab.Claims = []queue.Claim{
		on(claims("h", "", both("1", 0, 1), both("2", 2, 1), both("3", 0, 1)), "a", "b", "c"),
		claims("i", "a", both("1", 2, 1)), claims("j", "a or b", both("1", 1, 1), both("2", 1, 1)), claims("k", "", both("1", 2, 1)),
		claims("l", "", both("1", 3, 0)), claims("m", "", both("1", 3, 0)),
	}
	turns := queue.Arrange(lab).Turns
	for name, waits := range map[string]bool{"i": true, "j": true, "k": true, "l": false, "m": true} {
		if turns[name].Waits != waits {
			t.Errorf("%s waits: %v, want %v: %s", name, turns[name].Waits, waits, turns[name].Message)
		}
	}
}

// A device plugin tells of fewer devices than pods have: they are sick, or their card is gone. The other nodes have no fewer for it.
func TestANodeThatLostDevicesTakesNoneFromOthers(t *testing.T) {
	lab := queue.Lab{Nodes: []queue.Node{node("a", 1), node("b", 2)}, Claims: []queue.Claim{on(claim("a", 4), "a"), claim("b", 1, 1)}}
	if turn := queue.Arrange(lab).Turns["b"]; turn.Waits {
		t.Errorf("it waits for what is free: %s", turn.Message)
	}
}
