package queue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// waiting are claims for one device of west each, by their names: the namespace's letter, and a number that tells their
// age among all.
func waiting(names ...string) (claims []queue.Claim) {
	for _, name := range names {
		c := claim(name, 1)
		var age int
		fmt.Sscan(name[1:], &age) //nolint:errcheck // the names are below
		c.Test, c.Created = name[:1]+"/"+name, noon.Add(time.Duration(age)*time.Second)
		claims = append(claims, c)
	}
	return claims
}

func TestNamespacesTakeTurns(t *testing.T) {
	began := func(namespace, device string, ago time.Duration) map[queue.Tenant]time.Time {
		return map[queue.Tenant]time.Time{{Namespace: namespace, Device: device}: noon.Add(-ago)}
	}
	runs := func(c *queue.Claim) { c.Stage, c.Pods[0].Node, c.Began = queue.Settled, "n1", noon }
	stuck := func(c *queue.Claim) { c.Stage = queue.Stuck }
	yields := func(c *queue.Claim) { c.RetryAt = noon.Add(time.Hour) }
	impossible := func(c *queue.Claim) { c.Pods[0].Devices = queue.Devices{west: 2} }
	elsewhere := func(c *queue.Claim) { c.Pods[0].Devices = queue.Devices{east: 1} }
	for name, c := range map[string]struct {
		claims  string
		changed map[string]func(*queue.Claim)
		began   map[queue.Tenant]time.Time
		want    string
	}{
		"one namespace stands by age": {claims: "a3 a1 a2", want: "a1 a2 a3"},
		"a namespace with many keeps another waiting for one": {claims: "a1 a2 a3 a4 b9",
			want: "a1 b9 a2 a3 a4"},
		"each has one before any has its second": {claims: "a1 a2 a3 b4 b5 c6",
			want: "a1 b4 c6 a2 b5 a3"},
		"the namespace with the fewest running tests is first": {"a1 a2 a3 b4 b5 b6 c7",
			map[string]func(*queue.Claim){"a1": runs, "a2": runs, "b4": runs}, nil, "c7 b5 a3 b6"},
		"a younger test that overtook costs an older one nothing": {"a1 a2 b3",
			map[string]func(*queue.Claim){"a2": runs}, nil, "a1 b3"},
		"a test that runs on other devices costs nothing": {"a1 a2 b3",
			map[string]func(*queue.Claim){"a1": func(c *queue.Claim) { elsewhere(c); runs(c) }}, nil, "a2 b3"},
		"of equal ones who began a test last is last": {"a1 a2 b3 c4", nil,
			began("a", west, time.Hour), "b3 c4 a1 a2"},
		"a test that began on other devices costs nothing": {"a1 b3", nil, began("a", east, time.Hour),
			"a1 b3"},
		"what began two days ago is forgotten": {"a1 b3", nil, began("a", west, 48*time.Hour),
			"a1 b3"},
		"what something else keeps costs its namespace nothing": {"a1 a2 b3 b4",
			map[string]func(*queue.Claim){"a1": stuck}, nil, "a1 a2 b3 b4"},
		"nor does one that lets others go first": {"a1 a2 b3 b4",
			map[string]func(*queue.Claim){"a1": yields}, nil, "a1 a2 b3 b4"},
		"nor does one that the nodes never have enough for": {"a1 a2 b3 b4",
			map[string]func(*queue.Claim){"a1": impossible}, nil, "a1 a2 b3 b4"},
		"of the same second the namespace and then the name decide it": {claims: "b1 a1 c1", want: "a1 b1 c1"},
	} {
		t.Run(name, func(t *testing.T) {
			claims := waiting(strings.Fields(c.claims)...)
			for i := range claims {
				if change := c.changed[claims[i].ID]; change != nil {
					change(&claims[i])
				}
			}
			line := queue.Arrange(queue.Snapshot{Time: noon,
				Nodes: []queue.Node{{Name: "n1", Devices: queue.Devices{west: 1, east: 1}}}, Claims: claims,
				Began: c.began})
			if got := strings.Join(line.Order, " "); got != c.want {
				t.Errorf("the line is %s, want %s", got, c.want)
			}
		})
	}
}

// tenants gives each test of a lab of chance one of so many namespaces.
func (s *sim) tenants(n int) {
	for i, test := range s.tests {
		test.claim.Test = fmt.Sprintf("tenant-%d/t%d", s.chance.IntN(n), i)
	}
}

// wantOneOf leaves two in three tests one of two devices, and the others both.
func (s *sim) wantOneOf(a, b string) {
	for i, test := range s.tests {
		for _, p := range test.claim.Pods {
			n := p.Devices[a] + p.Devices[b]
			switch {
			case n == 0:
			case i%3 == 1:
				p.Devices[a] = n
				delete(p.Devices, b)
			case i%3 == 2:
				p.Devices[b] = n
				delete(p.Devices, a)
			}
		}
	}
}

// As long as several namespaces wait for the same, none has two turns more than another. Of any part of the line from
// its beginning.
func TestNoNamespaceIsTwoTurnsAhead(t *testing.T) {
	for seed := range uint64(12) {
		chance := rand.New(rand.NewPCG(seed, 7))
		var claims []queue.Claim
		for i := range 60 {
			c := claim("x", 1)
			namespace := min(chance.IntN(8), 3) // one has most of them
			c.ID, c.Test, c.Created = fmt.Sprint(i), fmt.Sprintf("tenant-%d/%d", namespace, i),
				noon.Add(time.Duration(chance.IntN(3600))*time.Second)
			claims = append(claims, c)
		}
		tenantOf, remaining := map[string]string{}, map[string]int{}
		for _, c := range claims {
			tenantOf[c.ID], _, _ = strings.Cut(c.Test, "/")
			remaining[tenantOf[c.ID]]++
		}
		turns := map[string]int{}
		line := queue.Arrange(queue.Snapshot{Nodes: []queue.Node{node("n1", 1)}, Claims: claims}).Order
		if len(line) != len(claims) || len(slices.Compact(slices.Sorted(slices.Values(line)))) != len(claims) {
			t.Fatalf("seed %d: the line isn't all claims, each once: %v", seed, line)
		}
		for i, id := range line {
			turns[tenantOf[id]]++
			for namespace, n := range remaining {
				if turns[namespace] < n && turns[tenantOf[id]] > turns[namespace]+1 {
					t.Fatalf("seed %d: after %d in line %s has %d places, and %s has %d and wants more", seed, i+1,
						tenantOf[id], turns[tenantOf[id]], namespace, turns[namespace])
				}
			}
		}
	}
}

// A tenant who comes with one test, where others have hundreds that are older, waits for one of each of theirs at most.
func TestATenantWithOneTestWaitsForOneOfEachOther(t *testing.T) {
	for seed := range uint64(6) {
		s := &sim{t: t, chance: rand.New(rand.NewPCG(seed, 3)), clock: noon, nodes: []queue.Node{node("n1", 1)}}
		for i := range 120 {
			c := claim("x", 1)
			c.ID, c.Test, c.Created = fmt.Sprint(i), fmt.Sprintf("tenant-%d/t%d", i%3, i),
				noon.Add(time.Duration(i)*time.Second)
			s.tests = append(s.tests, &simTest{claim: c, comes: c.Created, takes: time.Minute})
		}
		late := &simTest{claim: claim("x", 1), comes: noon.Add(20 * time.Minute), takes: time.Minute}
		late.claim.ID, late.claim.Test, late.claim.Created = "late", "late/it", late.comes
		s.tests = append(s.tests, late)
		s.runUntil(6*time.Hour, late)
		if started := s.startedBetween(late.comes, late.ends.Add(-late.takes)); len(started) > 3 {
			t.Errorf("seed %d: %d tests of others start before it: %v", seed, len(started), started)
		}
	}
}

// Of namespaces that all have old tests in line for one device, each starts one before any starts its second, though
// one has a hundred that are older than all others.
func TestABacklogThatIsOlderThanAllOthersIsNotServedFirst(t *testing.T) {
	s := &sim{t: t, chance: rand.New(rand.NewPCG(1, 3)), clock: noon, nodes: []queue.Node{node("n1", 1)}}
	for i := range 112 {
		c := claim("x", 1)
		namespace := "backlog"
		if i >= 100 {
			namespace = fmt.Sprint("tenant-", i%3)
		}
		c.ID, c.Test, c.Created = fmt.Sprint(i), fmt.Sprintf("%s/t%d", namespace, i),
			noon.Add(time.Duration(i-200)*time.Second)
		s.tests = append(s.tests, &simTest{claim: c, comes: c.Created, takes: time.Minute})
	}
	s.runUntil(time.Hour, s.tests[100:]...)
	for i := 0; i < 16; i += 4 {
		round := map[string]bool{}
		for _, test := range s.started[i : i+4] {
			namespace, _, _ := strings.Cut(test.claim.Test, "/")
			round[namespace] = true
		}
		if len(round) < 4 {
			t.Errorf("tests %d to %d to start are of %v, want one of each namespace", i, i+3, round)
		}
	}
}

// startedBetween are the tests that started in some time, but for the last.
func (s *sim) startedBetween(start, end time.Time) (names []string) {
	for _, test := range s.started {
		if began := test.ends.Add(-test.takes); !began.Before(start) && began.Before(end) {
			names = append(names, test.claim.Test)
		}
	}
	return names
}
