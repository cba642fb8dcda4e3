package queue_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/queue"
)

// moments are labs of chance half-way through their work.
func moments(t *testing.T, each func(*testing.T, *rand.Rand, queue.Lab)) {
	t.Helper()
	for seed := range uint64(60) {
		s := newSim(t, seed)
		for range s.chance.IntN(300) {
			s.tick()
		}
		each(t, s.chance, s.lab())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
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

// This is why nobody starves: all that a younger test may take is what is left over.
func TestAYoungerTestChangesNoOlderOnesTurn(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Lab) {
		t.Helper()
		all := queue.Arrange(lab)
		slices.SortFunc(lab.Claims, func(a, b queue.Claim) int { return a.Created.Compare(b.Created) })
		for i, c := range lab.Claims {
			if c.Stage != queue.Waiting {
				continue
			}
			older := lab
			older.Claims = slices.DeleteFunc(slices.Clone(lab.Claims), func(other queue.Claim) bool {
				return other.Stage == queue.Waiting && other.Created.After(c.Created)
			})
			if got, want := queue.Arrange(older).Turns[c.ID], all.Turns[c.ID]; got != want {
				t.Errorf("number %d, %s: without the younger ones %+v, with them %+v", i, c.Test, got, want)
			}
		}
	})
}

func TestWhoWantsNoneOfTheSameDevicesChangesNothing(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Lab) {
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
	})
}

// The oldest of those that wait does so only where there is no room for it: as the line it would stand in alone says.
func TestTheOldestWaitsOnlyForWhatOthersHaveAlready(t *testing.T) {
	moments(t, func(t *testing.T, _ *rand.Rand, lab queue.Lab) {
		t.Helper()
		turns := queue.Arrange(lab).Turns
		first := -1
		for i, c := range lab.Claims {
			if c.Stage == queue.Waiting && turns[c.ID].Until.IsZero() && (first < 0 || before(c, lab.Claims[first])) {
				first = i
			}
		}
		if first < 0 || !turns[lab.Claims[first].ID].Waits {
			return
		}
		if roomFor(lab, lab.Claims[first]) {
			t.Errorf("%s is the oldest, there is room for it, and it waits: %+v", lab.Claims[first].Test, turns[lab.Claims[first].ID])
		}
	})
}

func before(a, b queue.Claim) bool {
	return a.Created.Before(b.Created) || a.Created.Equal(b.Created) && a.Test < b.Test
}

// roomFor tries all nodes for all pods, the plain way. What is being placed by others has its nodes, or none is looked for.
func roomFor(lab queue.Lab, c queue.Claim) bool {
	free := map[string]queue.Devices{}
	for _, n := range lab.Nodes {
		free[n.Name] = queue.Devices{west: n.Devices[west], east: n.Devices[east]}
	}
	for _, other := range lab.Claims {
		for _, p := range other.Pods {
			if other.Stage == queue.Placing && p.Node == "" {
				return false
			}
			for name, n := range p.Devices {
				if p.Node != "" {
					free[p.Node][name] -= n
				}
			}
		}
	}
	return roomForPods(lab.Nodes, free, c, 0, map[string]string{})
}

func roomForPods(nodes []queue.Node, free map[string]queue.Devices, c queue.Claim, i int, sides map[string]string) bool {
	if i == len(c.Pods) {
		return true
	}
	p := c.Pods[i]
	for _, n := range nodes {
		side, taken := sides[n.Name]
		f := free[n.Name]
		if f[west] < p.Devices[west] || f[east] < p.Devices[east] || c.Apart && taken && side != p.Side {
			continue
		}
		f[west], f[east], sides[n.Name] = f[west]-p.Devices[west], f[east]-p.Devices[east], p.Side
		if roomForPods(nodes, free, c, i+1, sides) {
			return true
		}
		f[west], f[east] = f[west]+p.Devices[west], f[east]+p.Devices[east]
		if sides[n.Name] = side; !taken {
			delete(sides, n.Name)
		}
	}
	return false
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
		lab.Claims = append(lab.Claims, c)
	}
	for b.Loop() {
		queue.Arrange(lab)
	}
}
