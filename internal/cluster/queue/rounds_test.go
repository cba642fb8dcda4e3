package queue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// waiting are claims for one device of west each, by their names: the namespace's letter, and a number that tells their age among all.
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

func TestTheLineGoesRoundByNamespace(t *testing.T) {
	full := []queue.Node{node("n1", 1)}
	at := func(namespace string, age int, at time.Duration) queue.Had {
		return queue.Had{Namespace: namespace, Resource: west, Created: noon.Add(time.Duration(age) * time.Second), At: noon.Add(at)}
	}
	changed := func(claims []queue.Claim, name string, change func(*queue.Claim)) []queue.Claim {
		change(&claims[slices.IndexFunc(claims, func(c queue.Claim) bool { return c.ID == name })])
		return claims
	}
	stuck := func(c *queue.Claim) { c.Stage = queue.Stuck }
	yields := func(c *queue.Claim) { c.RetryAt = noon.Add(time.Hour) }
	for name, c := range map[string]struct {
		claims []queue.Claim
		had    []queue.Had
		want   string
	}{
		"one namespace stands by age":                           {waiting("a3", "a1", "a2"), nil, "a1 a2 a3"},
		"a namespace with many keeps another waiting for one":   {waiting("a1", "a2", "a3", "a4", "b9"), nil, "a1 b9 a2 a3 a4"},
		"each has one before any has its second":                {waiting("a1", "a2", "a3", "b4", "b5", "c6"), nil, "a1 b4 c6 a2 b5 a3"},
		"who had its turn last is the last of a round":          {waiting("a2", "a3", "b4", "c5"), []queue.Had{at("a", 1, time.Hour)}, "b4 c5 a2 a3"},
		"who had it longest ago is the first":                   {waiting("a2", "b4", "c5"), []queue.Had{at("a", 1, 3*time.Hour), at("b", 1, time.Hour), at("c", 1, 2*time.Hour)}, "b4 c5 a2"},
		"the oldest one's turn may have been the last":          {waiting("a3", "b4"), []queue.Had{at("a", 1, 3*time.Hour), at("a", 2, time.Hour), at("b", 1, 2*time.Hour)}, "b4 a3"},
		"the turn of a younger one that passed costs nothing":   {waiting("a2", "b4"), []queue.Had{at("a", 3, time.Hour), at("b", 1, 0)}, "a2 b4"},
		"one that had its turn and is back had it":              {waiting("a2", "b4"), []queue.Had{at("a", 2, time.Hour)}, "b4 a2"},
		"a turn for other devices was in another line":          {waiting("a2", "b4"), []queue.Had{{Namespace: "a", Resource: east, Created: noon, At: noon}}, "a2 b4"},
		"what something else keeps takes no place from its own": {changed(waiting("a1", "a2", "b3", "b4"), "a1", stuck), nil, "a1 a2 b3 b4"},
		"nor does one that lets others go first":                {changed(waiting("a1", "a2", "b3", "b4"), "a1", yields), nil, "a1 a2 b3 b4"},
	} {
		t.Run(name, func(t *testing.T) {
			line := queue.Arrange(queue.Lab{Now: noon, Nodes: full, Claims: c.claims, Had: c.had})
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

// wantOneOf leaves two in three tests one of two resources, and the others both.
func (s *sim) wantOneOf(a, b string) {
	for i, test := range s.tests {
		for _, p := range test.claim.Pods {
			n := p.Resources[a] + p.Resources[b]
			switch {
			case n == 0:
			case i%3 == 1:
				p.Resources[a] = n
				delete(p.Resources, b)
			case i%3 == 2:
				p.Resources[b] = n
				delete(p.Resources, a)
			}
		}
	}
}

// As long as several namespaces wait for the same, none has two turns more than another: of any part of the line from its beginning, and in what order tests start.
func TestNoNamespaceIsTwoTurnsAhead(t *testing.T) {
	for seed := range uint64(12) {
		chance := rand.New(rand.NewPCG(seed, 7))
		var claims []queue.Claim
		for i := range 60 {
			c := claim("x", 1)
			namespace := min(chance.IntN(8), 3) // one has most of them
			c.ID, c.Test, c.Created = fmt.Sprint(i), fmt.Sprintf("tenant-%d/%d", namespace, i), noon.Add(time.Duration(chance.IntN(3600))*time.Second)
			claims = append(claims, c)
		}
		of, left := map[string]string{}, map[string]int{}
		for _, c := range claims {
			of[c.ID], _, _ = strings.Cut(c.Test, "/")
			left[of[c.ID]]++
		}
		turns := map[string]int{}
		for i, id := range queue.Arrange(queue.Lab{Nodes: []queue.Node{node("n1", 1)}, Claims: claims}).Order {
			turns[of[id]]++
			for namespace, n := range left {
				if turns[namespace] < n && turns[of[id]] > turns[namespace]+1 {
					t.Fatalf("seed %d: after %d in line %s has %d places, and %s has %d and wants more", seed, i+1, of[id], turns[of[id]], namespace, turns[namespace])
				}
			}
		}
	}
}

// A tenant who comes with one test, where others have hundreds that are older, waits for one of each of theirs at most.
func TestATenantWithOneTestWaitsForOneOfEachOther(t *testing.T) {
	for seed := range uint64(6) {
		s := &sim{t: t, chance: rand.New(rand.NewPCG(seed, 3)), now: noon, nodes: []queue.Node{node("n1", 1)}, released: map[string]time.Time{}}
		for i := range 120 {
			c := claim("x", 1)
			c.ID, c.Test, c.Created = fmt.Sprint(i), fmt.Sprintf("tenant-%d/t%d", i%3, i), noon.Add(time.Duration(i)*time.Second)
			s.tests = append(s.tests, &simTest{claim: c, comes: c.Created, takes: time.Minute})
		}
		late := &simTest{claim: claim("x", 1), comes: noon.Add(20 * time.Minute), takes: time.Minute}
		late.claim.ID, late.claim.Test, late.claim.Created = "late", "late/it", late.comes
		s.tests = append(s.tests, late)
		s.runUntil(6*time.Hour, late)
		started := s.startedBetween(late.comes, late.ends.Add(-late.takes))
		if len(started) > 3 {
			t.Errorf("seed %d: %d tests of others start before it: %v", seed, len(started), started)
		}
	}
}

// Whoever has tests in line, of whatever sizes, all have their turn, though the others never stop.
func TestNoNamespaceStarvesOthers(t *testing.T) {
	for seed := range uint64(tier.Times(4, 12)) {
		s := newSim(t, seed)
		s.tenants(4)
		awaited := s.tests
		for i := range 150 { // one of them never stops
			c := claim("s", 1)
			c.ID, c.Test, c.Created = fmt.Sprint("stream-", i), fmt.Sprintf("stream/%d", i), noon.Add(-time.Hour+time.Duration(i)*time.Second)
			s.tests = append(s.tests, &simTest{claim: c, comes: c.Created, takes: time.Minute})
		}
		s.runUntil(12*time.Hour, awaited...)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// startedBetween are the tests that started in some time, but for the last.
func (s *sim) startedBetween(from, to time.Time) (names []string) {
	for _, test := range s.started {
		if at := test.ends.Add(-test.takes); !at.Before(from) && at.Before(to) {
			names = append(names, test.claim.Test)
		}
	}
	return names
}

// What is remembered of turns doesn't grow with them, and the line is the same.
func TestTurnsOfLongAgoAreOneTurn(t *testing.T) {
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 11))
		claims, oldest := []queue.Claim{}, map[string]time.Time{}
		for i := range 12 {
			c := claim("x", 1)
			c.ID, c.Test = fmt.Sprint(i), fmt.Sprintf("tenant-%d/%d", chance.IntN(3), i)
			c.Created = noon.Add(time.Duration(chance.IntN(100)) * time.Second)
			claims = append(claims, c)
			namespace, _, _ := strings.Cut(c.Test, "/")
			if first, any := oldest[namespace]; !any || c.Created.Before(first) {
				oldest[namespace] = c.Created
			}
		}
		var all []queue.Had
		for range 200 {
			all = append(all, queue.Had{
				Namespace: fmt.Sprint("tenant-", chance.IntN(4)), Resource: west,
				Created: noon.Add(time.Duration(chance.IntN(200)-100) * time.Second), At: noon.Add(time.Duration(chance.IntN(10_000)) * time.Second),
			})
		}
		lab := queue.Lab{Nodes: []queue.Node{node("n1", 1)}, Claims: claims, Had: all}
		want := queue.Arrange(lab).Order
		lab.Had = queue.Folded(all, oldest)
		if got := queue.Arrange(lab).Order; !slices.Equal(got, want) {
			t.Errorf("seed %d: of %d turns the line is %v, and of %d %v", seed, len(all), want, len(lab.Had), got)
		}
		if again := queue.Folded(lab.Had, oldest); len(again) != len(lab.Had) || len(again) >= len(all) {
			t.Errorf("seed %d: %d turns are %d, and then %d", seed, len(all), len(lab.Had), len(again))
		}
	}
}
