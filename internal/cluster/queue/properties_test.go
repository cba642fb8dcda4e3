package queue_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// moment is a lab of chance half-way through its work.
type moment struct {
	seed uint64
	lab  queue.Lab
}

// played are the moments of so many labs, five of each. They are played once for all properties.
var played = sync.OnceValue(func() (all []moment) {
	for seed := range uint64(tier.Times(12, 24)) {
		s := newSim(nil, seed)
		if seed%2 == 1 {
			s.tenants(3)
			s.wantOneOf(west, east)
		}
		for range 5 {
			for range s.chance.IntN(100) {
				s.tick()
			}
			s.now = s.now.Add(time.Duration(s.chance.IntN(60)) * time.Second)
			s.end() // and who comes next isn't placed yet
			all = append(all, moment{seed, copied(s.lab())})
		}
	}
	return all
})

// copied is a lab that nobody else changes.
func copied(lab queue.Lab) queue.Lab {
	lab.Claims, lab.Nodes, lab.Had, lab.Released = slices.Clone(lab.Claims), slices.Clone(lab.Nodes), slices.Clone(lab.Had), maps.Clone(lab.Released)
	for i := range lab.Claims {
		lab.Claims[i].Pods = slices.Clone(lab.Claims[i].Pods)
	}
	for i := range lab.Nodes {
		lab.Nodes[i].Resources = maps.Clone(lab.Nodes[i].Resources)
	}
	return lab
}

// moments holds a property to each moment.
func moments(t *testing.T, each func(*testing.T, *rand.Rand, queue.Lab)) {
	t.Helper()
	for i, m := range played() {
		if each(t, rand.New(rand.NewPCG(m.seed, uint64(i))), copied(m.lab)); t.Failed() {
			t.Fatalf("seed %d, moment %d", m.seed, i)
		}
	}
}

func TestTheLineDoesNotDependOnTheOrderOfWhatIsSeen(t *testing.T) {
	moments(t, func(t *testing.T, chance *rand.Rand, lab queue.Lab) {
		t.Helper()
		want := queue.Arrange(lab)
		chance.Shuffle(len(lab.Claims), func(i, j int) { lab.Claims[i], lab.Claims[j] = lab.Claims[j], lab.Claims[i] })
		chance.Shuffle(len(lab.Nodes), func(i, j int) { lab.Nodes[i], lab.Nodes[j] = lab.Nodes[j], lab.Nodes[i] })
		if got := queue.Arrange(lab); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nnot\n%+v", got, want)
		}
	})
}

// This is why nobody starves: all that a test further back may take is what is left over.
func TestWhoStandsBehindChangesNothing(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Lab) {
		t.Helper()
		all := queue.Arrange(lab)
		for i, id := range all.Order {
			before := lab
			before.Claims = slices.DeleteFunc(slices.Clone(lab.Claims), func(other queue.Claim) bool { return slices.Contains(all.Order[i+1:], other.ID) })
			if got, want := queue.Arrange(before).Turns[id], all.Turns[id]; got != want {
				t.Errorf("number %d, %s: without those behind it %+v, with them %+v", i, id, got, want)
			}
		}
	})
}

func TestWhoWantsNoneOfTheSameDevicesChangesNothing(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Lab) {
		t.Helper()
		want := queue.Arrange(lab)
		for i := range lab.Nodes {
			lab.Nodes[i].Resources["other.io/nic"] = 2
		}
		stranger := claim("a", 2, 2)
		for i := range stranger.Pods {
			stranger.Pods[i].Resources = queue.Resources{"other.io/nic": 2}
		}
		stranger.ID, stranger.Created = "stranger", noon.Add(-time.Hour)
		second := stranger
		second.ID = "second"
		lab.Claims = append(lab.Claims, stranger, second)
		got := queue.Arrange(lab)
		delete(got.Turns, "stranger")
		delete(got.Turns, "second")
		if !reflect.DeepEqual(got.Turns, want.Turns) {
			t.Errorf("%+v\nnot\n%+v", got.Turns, want.Turns)
		}
		got.Order = slices.DeleteFunc(got.Order, func(id string) bool { return id == "stranger" || id == "second" })
		if !slices.Equal(got.Order, want.Order) {
			t.Errorf("the line is %v, and was %v", got.Order, want.Order)
		}
	})
}

// The first in line waits only where there is no room for it: as the line it would stand in alone says.
func TestTheFirstWaitsOnlyForWhatOthersHaveAlready(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Lab) {
		t.Helper()
		line := queue.Arrange(lab)
		for _, id := range line.Order {
			if !line.Turns[id].Until.IsZero() {
				continue // it lets others go first
			}
			if c := claimOf(lab, id); line.Turns[id].Waits && roomFor(lab, *c) {
				t.Errorf("%s is the first, there is room for it, and it waits: %+v", c.Test, line.Turns[id])
			}
			return
		}
	})
}

func claimOf(lab queue.Lab, id string) *queue.Claim {
	return &lab.Claims[slices.IndexFunc(lab.Claims, func(c queue.Claim) bool { return c.ID == id })]
}

// All whose turn it is fit beside what is held, and beside one another.
func TestWhoGoesAtOnceFitsAtOnce(t *testing.T) {
	together := 0
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Lab) {
		t.Helper()
		together += goAtOnce(t, lab)
	})
	if together < tier.Times(10, 20) {
		t.Errorf("only %d went in all moments", together)
	}
}

func FuzzWhoGoesAtOnceFitsAtOnce(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, uint8(40*seed), uint8(10*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, ticks, seconds uint8) {
		s := newSim(t, seed)
		for range ticks {
			s.tick()
		}
		s.now = s.now.Add(time.Duration(seconds) * time.Second)
		s.end()
		goAtOnce(t, s.lab())
	})
}

// goAtOnce is how many tests' turn it is.
func goAtOnce(t *testing.T, lab queue.Lab) (n int) {
	t.Helper()
	turns, all := queue.Arrange(lab).Turns, queue.Claim{}
	for i, c := range lab.Claims {
		if c.Stage == queue.Placing && slices.ContainsFunc(c.Pods, func(p queue.Pod) bool { return p.Node == "" }) {
			return 0 // it was put somewhere by a scheduler that may have spoilt it
		}
		if c.Stage != queue.Waiting || turns[c.ID].Waits {
			continue
		}
		for _, p := range c.Pods {
			p.Name, p.Apart = fmt.Sprint(i, p.Name), slices.Clone(p.Apart)
			for j := range p.Apart {
				p.Apart[j] = fmt.Sprint(i, p.Apart[j])
			}
			all.Pods = append(all.Pods, p)
		}
		n++
	}
	if !roomForPods(lab, freeIn(lab), all, 0) {
		t.Errorf("%d pods go, and don't fit", len(all.Pods))
	}
	return n
}

// Wherever the scheduler puts a test, those that wait before it lack no more of any device than they did before.
func TestNobodyTakesWhatOneBeforeItIsToHave(t *testing.T) {
	tried := 0
	moments(t, func(t *testing.T, chance *rand.Rand, lab queue.Lab) {
		t.Helper()
		line := queue.Arrange(lab)
		for i, id := range line.Order {
			turn := line.Turns[id]
			if turn.Waits && turn.Until.IsZero() && !turn.Impossible {
				tried += takesNothing(t, chance, lab, *claimOf(lab, id), line.Order[i+1:], line)
			}
		}
	})
	if tried < 3 {
		t.Errorf("only %d went before one that waits before them", tried)
	}
}

// takesNothing is how many of those behind a test that waits go at once.
func takesNothing(t *testing.T, chance *rand.Rand, lab queue.Lab, waits queue.Claim, behind []string, line queue.Line) (tried int) {
	t.Helper()
	for _, id := range behind {
		if line.Turns[id].Waits {
			continue
		}
		tried++
		c := *claimOf(lab, id)
		was, free := shortOf(lab, freeIn(lab), waits), freeIn(lab)
		for i := range c.Pods { // anywhere that it fits: as a scheduler would that knows nothing
			for _, n := range chance.Perm(len(lab.Nodes)) {
				name := lab.Nodes[n].Name
				if c.Pods[i].Node == "" && allowed(lab, free[name], c, c.Pods[i], name) {
					c.Pods = slices.Clone(c.Pods)
					c.Pods[i].Node = name
					for resource, want := range c.Pods[i].Resources {
						free[name][resource] -= want
					}
				}
			}
		}
		for what, n := range shortOf(lab, free, waits) {
			if n > was[what] && n > 0 {
				t.Errorf("%s is short of %d of %s, and was of %d before %s went", waits.Test, n, what, was[what], c.Test)
			}
		}
	}
	return tried
}

// shortOf is of how many devices a test is short, by where its pods may be: of what they can have there, what can be had by those of its pods that
// may be nowhere else isn't theirs.
func shortOf(lab queue.Lab, free map[string]queue.Resources, c queue.Claim) map[string]int64 {
	wants, there, of := map[string]int64{}, map[string]int64{}, map[string][]string{}
	for _, p := range c.Pods {
		nodes := nodesOf(lab, p)
		for _, resource := range []string{west, east} {
			key := resource + " on " + strings.Join(nodes, ",")
			if wants[key] == 0 {
				for _, n := range nodes {
					there[key] += free[n][resource]
				}
			}
			wants[key] += p.Resources[resource]
			of[key] = nodes
		}
	}
	short := map[string]int64{}
	for key := range wants {
		short[key] = wants[key] - there[key]
		for other := range wants {
			if len(of[other]) < len(of[key]) && other[:len(west)] == key[:len(west)] { // racks are within all nodes
				short[key] += min(wants[other], max(there[other], 0))
			}
		}
	}
	return short
}

func nodesOf(lab queue.Lab, p queue.Pod) (nodes []string) {
	for _, n := range lab.Nodes {
		if w, narrow := lab.Where[p.Where]; !narrow || slices.Contains(w.Nodes, n.Name) {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes
}

// roomFor tries all nodes for all pods, the plain way. What is being placed by others has its nodes, or none is looked for.
func roomFor(lab queue.Lab, c queue.Claim) bool {
	for _, other := range lab.Claims {
		if other.Stage == queue.Placing && slices.ContainsFunc(other.Pods, func(p queue.Pod) bool { return p.Node == "" }) {
			return false
		}
	}
	return roomForPods(lab, freeIn(lab), c, 0)
}

// freeIn is what no pod holds, by node.
func freeIn(lab queue.Lab) map[string]queue.Resources {
	free := map[string]queue.Resources{}
	for _, n := range lab.Nodes {
		free[n.Name] = maps.Clone(n.Resources)
	}
	for _, other := range lab.Claims {
		for _, p := range other.Pods {
			for name, n := range p.Resources {
				if p.Node != "" {
					free[p.Node][name] -= n
				}
			}
		}
	}
	return free
}

func roomForPods(lab queue.Lab, free map[string]queue.Resources, c queue.Claim, i int) bool {
	for ; i < len(c.Pods) && c.Pods[i].Node != ""; i++ {
	}
	if i == len(c.Pods) {
		return true
	}
	p := &c.Pods[i]
	for _, n := range lab.Nodes {
		if !allowed(lab, free[n.Name], c, *p, n.Name) {
			continue
		}
		for name, want := range p.Resources {
			free[n.Name][name] -= want
		}
		p.Node = n.Name
		fits := roomForPods(lab, free, c, i+1)
		p.Node = ""
		for name, want := range p.Resources {
			free[n.Name][name] += want
		}
		if fits {
			return true
		}
	}
	return false
}

func allowed(lab queue.Lab, free queue.Resources, c queue.Claim, p queue.Pod, node string) bool {
	if w, narrow := lab.Where[p.Where]; narrow && !slices.Contains(w.Nodes, node) || slices.Contains(c.Avoid, node) {
		return false
	}
	for _, other := range c.Pods {
		if other.Node == node && (slices.Contains(other.Apart, p.Name) || slices.Contains(p.Apart, other.Name)) {
			return false
		}
	}
	for name, want := range p.Resources {
		if free[name] < want {
			return false
		}
	}
	return true
}

func TestTheDelayFollowsFromTheUIDAndGrows(t *testing.T) {
	seen := map[time.Duration]int{}
	for times := 1; times <= 6; times++ {
		for _, uid := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			d := queue.Delay(uid, times)
			if d != queue.Delay(uid, times) {
				t.Fatal("it isn't the same twice")
			}
			if low := min(15*time.Second<<(times-1), 4*time.Minute); d < low || d >= 2*low {
				t.Errorf("the delay number %d is %v", times, d)
			}
			seen[d]++
		}
	}
	if len(seen) < 30 {
		t.Errorf("of 48 delays %d differ", len(seen))
	}
}

func BenchmarkAThousandWaiting(b *testing.B) {
	lab := queue.Lab{}
	for i := range 20 {
		lab.Nodes = append(lab.Nodes, node(string(rune('a'+i)), 4))
	}
	for i := range 1000 {
		c := claim("x", 2, 2)
		c.ID, c.Created = string(rune('a'+i)), noon.Add(time.Duration(i)*time.Second)
		lab.Claims = append(lab.Claims, queue.Shaped(c))
	}
	for b.Loop() {
		queue.Arrange(lab)
	}
}

// On a hundred nodes, with CPUs and memory, tests of a few kinds, of which some are for some nodes only.
func BenchmarkAThousandWaitingForSomeNodes(b *testing.B) {
	lab := queue.Lab{Where: map[string]queue.Where{}}
	for i := range 100 {
		n := queue.Node{Name: fmt.Sprintf("node-%03d", i), Resources: queue.Resources{west: 2, east: 2, queue.CPU: 64000, queue.Memory: 1 << 38}}
		lab.Nodes = append(lab.Nodes, n)
		rack := fmt.Sprint("rack-", i/20)
		lab.Where[rack] = queue.Where{Nodes: append(lab.Where[rack].Nodes, n.Name)}
	}
	for i := range 1000 {
		c := queue.Claim{ID: fmt.Sprint(i), Test: fmt.Sprint("lab/", i), Created: noon.Add(time.Duration(i) * time.Second)}
		for p := range 2 {
			pod := queue.Pod{Name: fmt.Sprint(c.ID, p), Resources: queue.Resources{west: 1, east: 1, queue.CPU: 4000, queue.Memory: 1 << 30}}
			if i%3 == 0 {
				pod.Where = fmt.Sprint("rack-", i%5)
			}
			c.Pods = append(c.Pods, pod)
		}
		if i < 100 {
			c.Stage = queue.Settled
			c.Pods[0].Node, c.Pods[1].Node = lab.Nodes[i].Name, lab.Nodes[i].Name
		}
		lab.Claims = append(lab.Claims, queue.Shaped(c))
	}
	for b.Loop() {
		queue.Arrange(lab)
	}
}
