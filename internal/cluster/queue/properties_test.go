package queue_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// moment is a lab of chance half-way through its work.
type moment struct {
	seed uint64
	lab  queue.Snapshot
}

// played are the moments of so many labs, five of each. They are played once for all properties.
var played = sync.OnceValue(func() (moments []moment) {
	for seed := range uint64(tier.Times(24, 100)) {
		s := newSim(nil, seed)
		if seed%2 == 1 {
			s.tenants(3)
			s.wantOneOf(west, east)
		}
		for range 5 {
			for range s.chance.IntN(100) {
				s.tick()
			}
			s.clock = s.clock.Add(time.Duration(s.chance.IntN(60)) * time.Second)
			s.end() // and who comes next isn't placed yet
			moments = append(moments, moment{seed, copied(s.lab())})
		}
	}
	return moments
})

// copied is a lab that nobody else changes.
func copied(lab queue.Snapshot) queue.Snapshot {
	lab.Claims, lab.Nodes, lab.Began = slices.Clone(lab.Claims), slices.Clone(lab.Nodes), maps.Clone(lab.Began)
	for i := range lab.Claims {
		lab.Claims[i].Pods = slices.Clone(lab.Claims[i].Pods)
	}
	for i := range lab.Nodes {
		lab.Nodes[i].Devices = maps.Clone(lab.Nodes[i].Devices)
	}
	return lab
}

// moments holds a property to each moment.
func moments(t *testing.T, check func(*testing.T, *rand.Rand, queue.Snapshot)) {
	t.Helper()
	for i, m := range played() {
		if check(t, rand.New(rand.NewPCG(m.seed, uint64(i))), copied(m.lab)); t.Failed() {
			t.Fatalf("seed %d, moment %d", m.seed, i)
		}
	}
}

func TestTheLineDoesNotDependOnTheOrderOfWhatIsSeen(t *testing.T) {
	moments(t, func(t *testing.T, chance *rand.Rand, lab queue.Snapshot) {
		t.Helper()
		want := queue.Arrange(lab)
		chance.Shuffle(len(lab.Claims), func(i, j int) { lab.Claims[i], lab.Claims[j] = lab.Claims[j], lab.Claims[i] })
		chance.Shuffle(len(lab.Nodes), func(i, j int) { lab.Nodes[i], lab.Nodes[j] = lab.Nodes[j], lab.Nodes[i] })
		if got := queue.Arrange(lab); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nnot\n%+v", got, want)
		}
	})
}

// This is why no test starves. A test further back may take only what is left over.
func TestWhoStandsBehindChangesNothing(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Snapshot) {
		t.Helper()
		line := queue.Arrange(lab)
		for i, id := range line.Order {
			earlier := lab
			earlier.Claims = slices.DeleteFunc(slices.Clone(lab.Claims),
				func(claim queue.Claim) bool { return slices.Contains(line.Order[i+1:], claim.ID) })
			if got, want := queue.Arrange(earlier).Turns[id], line.Turns[id]; got != want {
				t.Errorf("number %d, %s: without those behind it %+v, with them %+v", i, id, got, want)
			}
		}
	})
}

func TestWhoWantsNoneOfTheSameDevicesChangesNothing(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Snapshot) {
		t.Helper()
		want := queue.Arrange(lab)
		for i := range lab.Nodes {
			lab.Nodes[i].Devices["other.io/nic"] = 2
		}
		stranger := claim("a", 2, 2)
		for i := range stranger.Pods {
			stranger.Pods[i].Devices = queue.Devices{"other.io/nic": 2}
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

// A test waits only where there is no room for it beside those that have devices or go, or one before it wants the same
// devices.
func TestATestWaitsOnlyForWhatOthersHaveOrWantBeforeIt(t *testing.T) {
	went := 0
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Snapshot) {
		t.Helper()
		line, free := queue.Arrange(lab), freeIn(lab)
		awaited := queue.Devices{} // by tests before
		for _, c := range lab.Claims {
			if c.Stage == queue.Placing && slices.ContainsFunc(c.Pods, func(p queue.Pod) bool { return p.Node == "" }) {
				maps.Copy(awaited, wantedBy(&c))
			}
		}
		for _, id := range line.Order {
			c, turn := claimOf(lab, id), line.Turns[id]
			if turn.Impossible || !turn.Due.IsZero() {
				continue
			}
			wanted := wantedBy(c)
			uncontended := !slices.ContainsFunc(slices.Collect(maps.Keys(wanted)),
				func(name string) bool { return awaited[name] > 0 })
			if uncontended && turn.Waits && placed(lab, free, c.Pods) {
				t.Errorf("there is room for %s, nobody before it wants the same, and it waits: %+v", c.Test, turn)
			}
			if uncontended && !turn.Waits {
				went++
			}
			maps.Copy(awaited, wanted)
		}
	})
	if went < 10 {
		t.Errorf("only %d went", went)
	}
}

func claimOf(lab queue.Snapshot, id string) *queue.Claim {
	return &lab.Claims[slices.IndexFunc(lab.Claims, func(c queue.Claim) bool { return c.ID == id })]
}

func wantedBy(c *queue.Claim) queue.Devices {
	wanted := queue.Devices{}
	for _, p := range c.Pods {
		for name, n := range p.Devices {
			wanted[name] += n
		}
	}
	return wanted
}

// All whose turn it is fit beside what is held, and beside one another.
func TestWhoGoesAtOnceFitsAtOnce(t *testing.T) {
	combined := 0
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Snapshot) {
		t.Helper()
		combined += goAtOnce(t, lab)
	})
	if combined < tier.Times(10, 20) {
		t.Errorf("only %d went in all moments", combined)
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
		s.clock = s.clock.Add(time.Duration(seconds) * time.Second)
		s.end()
		goAtOnce(t, s.lab())
	})
}

// goAtOnce is how many tests' turn it is.
func goAtOnce(t *testing.T, lab queue.Snapshot) (n int) {
	t.Helper()
	turns, pods := queue.Arrange(lab).Turns, []queue.Pod(nil)
	for _, c := range lab.Claims {
		if c.Stage == queue.Placing && slices.ContainsFunc(c.Pods, func(p queue.Pod) bool { return p.Node == "" }) {
			return 0 // it was put somewhere by a scheduler that may have spoilt it
		}
		if c.Stage == queue.Waiting && !turns[c.ID].Waits {
			pods = append(pods, c.Pods...)
			n++
		}
	}
	if !placed(lab, freeIn(lab), pods) {
		t.Errorf("%d pods go, and don't fit", len(pods))
	}
	return n
}

// Whoever goes before one that waits before it leaves as many devices as that one, and all others before it, want.
func TestNobodyTakesWhatOneBeforeItIsToHave(t *testing.T) {
	tried := 0
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Snapshot) {
		t.Helper()
		line, spare := queue.Arrange(lab), queue.Devices{}
		for _, free := range freeIn(lab) {
			for name, n := range free {
				spare[name] += n
			}
		}
		for _, c := range lab.Claims {
			for _, p := range c.Pods {
				if c.Stage == queue.Placing && p.Node == "" {
					subtract(spare, p.Devices)
				}
			}
		}
		waited := false
		for _, id := range line.Order {
			turn, wanted := line.Turns[id], wantedBy(claimOf(lab, id))
			switch {
			case turn.Impossible || !turn.Due.IsZero():
				continue
			case turn.Waits:
				waited = true
			case !fits(spare, wanted):
				t.Errorf("%s goes with %v, and %v is left over by those before it", id, wanted, spare)
			case waited:
				tried++
			}
			subtract(spare, wanted)
		}
	})
	if tried < 3 {
		t.Errorf("only %d went before one that waits before them", tried)
	}
}

// freeIn is what no pod holds, by node.
func freeIn(lab queue.Snapshot) map[string]queue.Devices {
	free := map[string]queue.Devices{}
	for _, n := range lab.Nodes {
		free[n.Name] = maps.Clone(n.Devices)
	}
	for _, c := range lab.Claims {
		for _, p := range c.Pods {
			if p.Node != "" {
				subtract(free[p.Node], p.Devices)
			}
		}
	}
	return free
}

// placed tries all nodes for all pods, the plain way.
func placed(lab queue.Snapshot, free map[string]queue.Devices, pods []queue.Pod) bool {
	if len(pods) == 0 {
		return true
	}
	for _, n := range lab.Nodes {
		earlier := free[n.Name]
		if !fits(earlier, pods[0].Devices) {
			continue
		}
		free[n.Name] = maps.Clone(earlier)
		subtract(free[n.Name], pods[0].Devices)
		fits := placed(lab, free, pods[1:])
		free[n.Name] = earlier
		if fits {
			return true
		}
	}
	return false
}
