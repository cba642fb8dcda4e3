package queue_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// sim is a lab played in ticks. Tests come, get their turn, are placed by a scheduler that knows nothing of the line,
// measure and end. Other people's pods come and go unseen by the line.
type sim struct {
	t       *testing.T
	chance  *rand.Rand
	clock   time.Time
	nodes   []queue.Node
	tests   []*simTest
	foreign []foreign
	began   map[queue.Tenant]time.Time
	started []*simTest // in the order in which they were placed
	backs   int
}

type simTest struct {
	claim       queue.Claim
	comes, ends time.Time
	takes       time.Duration
	ended       bool
	attempt     int
}

// foreign is somebody else's pod, from the beginning until it ends.
type foreign struct {
	node   string
	holds  queue.Devices
	endsAt time.Time
}

// placeBound is how long a test's pods may be without nodes before all are given back.
const placeBound = 60 * time.Second

func (s *sim) lab() queue.Snapshot {
	lab := queue.Snapshot{Nodes: s.nodes, Began: s.began, Time: s.clock}
	for _, test := range s.tests {
		if !test.ended && !test.comes.After(s.clock) {
			lab.Claims = append(lab.Claims, test.claim)
		}
	}
	return lab
}

// tick is three seconds of the lab's life.
func (s *sim) tick() {
	s.clock = s.clock.Add(3 * time.Second)
	s.end()
	line := queue.Arrange(s.lab())
	s.began = line.Began
	for _, test := range s.tests {
		turn, inLine := line.Turns[test.claim.ID]
		if inLine && test.claim.Stage == queue.Waiting && !turn.Waits {
			test.claim.Stage, test.claim.Began = queue.Placing, s.clock
		}
	}
	s.schedule()
	s.giveBack()
}

func (s *sim) end() {
	for _, test := range s.tests {
		if test.claim.Stage == queue.Settled && !test.ended && !test.ends.After(s.clock) {
			test.ended = true
			s.release(test)
		}
	}
}

// release frees what a test's pods hold.
func (s *sim) release(test *simTest) {
	for i := range test.claim.Pods {
		test.claim.Pods[i].Node = ""
	}
}

// schedule gives pods nodes in an order of chance, on any node that has room.
func (s *sim) schedule() {
	for _, i := range s.chance.Perm(len(s.tests)) {
		test := s.tests[i]
		if test.claim.Stage != queue.Placing {
			continue
		}
		placed := true
		for p := range test.claim.Pods {
			placed = s.scheduled(&test.claim.Pods[p]) && placed
		}
		if placed {
			test.claim.Stage, test.ends = queue.Settled, s.clock.Add(test.takes)
			s.started = append(s.started, test)
		}
	}
}

func (s *sim) scheduled(p *queue.Pod) bool {
	if p.Node != "" {
		return true
	}
	for _, n := range s.chance.Perm(len(s.nodes)) {
		if s.room(s.nodes[n], p) {
			p.Node = s.nodes[n].Name
			return true
		}
	}
	return false
}

// room says whether a pod fits on a node beside all that are there.
func (s *sim) room(n queue.Node, p *queue.Pod) bool {
	free := maps.Clone(n.Devices)
	for _, rival := range s.tests {
		for _, inLine := range rival.claim.Pods {
			if inLine.Node == n.Name && !rival.ended {
				subtract(free, inLine.Devices)
			}
		}
	}
	for _, f := range s.foreign {
		if f.node == n.Name && f.endsAt.After(s.clock) {
			subtract(free, f.holds)
		}
	}
	return fits(free, p.Devices)
}

func subtract(free, devices queue.Devices) {
	for name, n := range devices {
		free[name] -= n
	}
}

func fits(free, wanted queue.Devices) bool {
	for name, n := range wanted {
		if free[name] < n {
			return false
		}
	}
	return true
}

// giveBack takes all pods from tests that don't get all of theirs.
func (s *sim) giveBack() {
	for i, test := range s.tests {
		if test.claim.Stage != queue.Placing || s.clock.Sub(test.claim.Began) < placeBound {
			continue
		}
		s.backs++
		test.attempt++
		test.claim.GivenBack, test.claim.Stage, test.claim.Began = s.clock, queue.Waiting, time.Time{}
		s.release(test)
		test.claim.RetryAt = s.clock.Add(queue.Delay(fmt.Sprint(i), test.attempt))
	}
}

// run plays until all is over, or for too long.
func (s *sim) run(atMost time.Duration) {
	s.t.Helper()
	s.runUntil(atMost, s.tests...)
}

// runUntil plays until these tests are over, or for too long. In the full tier all others must end as well.
func (s *sim) runUntil(atMost time.Duration, awaited ...*simTest) {
	s.t.Helper()
	if toTheEnd {
		awaited = s.tests
	}
	for end := s.clock.Add(atMost); s.clock.Before(end); {
		if !slices.ContainsFunc(awaited, func(test *simTest) bool { return !test.ended }) {
			return
		}
		s.tick()
	}
	for _, test := range awaited {
		if !test.ended {
			s.t.Errorf("%s is at stage %d after %v (attempt %d, %d times given back in all): %+v", test.claim.Test,
				test.claim.Stage, atMost, test.attempt, s.backs, queue.Arrange(s.lab()).Turns[test.claim.ID])
		}
	}
}

// newSim is a lab with tests of chance that come within the first minutes. All of them could be placed if they were
// alone.
func newSim(t *testing.T, seed uint64) *sim {
	chance := rand.New(rand.NewPCG(seed, 1))
	s := &sim{t: t, chance: chance, clock: noon}
	for i := range 2 + chance.IntN(4) {
		s.nodes = append(s.nodes, queue.Node{Name: fmt.Sprintf("n%d", i), Devices: queue.Devices{west: 2 +
			chance.Int64N(5), east: 2 + chance.Int64N(5)}})
	}
	for i := range 5 + chance.IntN(40) {
		s.tests = append(s.tests, s.anyTest(i))
	}
	return s
}

func (s *sim) anyTest(i int) *simTest {
	comes := noon.Add(time.Duration(s.chance.IntN(600)) * time.Second)
	test := &simTest{comes: comes, takes: time.Duration(10+s.chance.IntN(200)) * time.Second}
	test.claim = queue.Claim{ID: fmt.Sprint(i), Test: fmt.Sprintf("lab/t%d", i), Created: comes}
	for p := range 1 + s.chance.IntN(4) {
		pod := queue.Pod{Devices: queue.Devices{}}
		for _, name := range []string{west, east} {
			if s.chance.IntN(3) > 0 || p == 0 && name == west {
				pod.Devices[name] = 1 + s.chance.Int64N(2)
			}
		}
		test.claim.Pods = append(test.claim.Pods, pod)
	}
	snapshot := queue.Snapshot{Nodes: s.nodes, Claims: []queue.Claim{test.claim}}
	if queue.Arrange(snapshot).Turns[test.claim.ID].Waits {
		return s.anyTest(i)
	}
	return test
}

func TestAllTestsComeToTheirEnd(t *testing.T) {
	for seed := range uint64(tier.Times(24, 200)) {
		s := newSim(t, seed)
		if seed%2 == 1 {
			s.tenants(3)
		}
		s.run(8 * time.Hour)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Other people's pods take devices that the line believes to be free, and let them go at some time.
func TestAllTestsComeToTheirEndThoughOthersHoldDevicesForAWhile(t *testing.T) {
	var backs int
	for seed := range uint64(tier.Times(8, 16)) {
		s := newSim(t, seed)
		for _, n := range s.nodes {
			s.foreign = append(s.foreign, foreign{n.Name, queue.Devices{west: 1 + s.chance.Int64N(n.Devices[west]),
				east: s.chance.Int64N(n.Devices[east])}, noon.Add(time.Duration(s.chance.IntN(3600)) * time.Second)})
		}
		s.run(12 * time.Hour)
		if backs += s.backs; t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if backs == 0 {
		t.Error("nothing was ever given back: nothing was tried")
	}
}

// Two tests that would deadlock half-placed, as each got half of what both want.
func TestTwoHalfPlacedTestsBothEnd(t *testing.T) {
	s := &sim{t: t, chance: rand.New(rand.NewPCG(1, 1)), clock: noon, nodes: []queue.Node{node("n1", 2), node("n2", 2)}}
	for _, name := range []string{"a", "b"} {
		c := onNodes(claim(name, 2, 2), map[string]string{"a": "n1", "b": "n2"}[name])
		c.Began = noon
		s.tests = append(s.tests, &simTest{claim: c, comes: noon, takes: time.Minute})
	}
	s.run(30 * time.Minute)
	if s.backs == 0 {
		t.Error("they weren't half-placed")
	}
}

func TestTestsThatWantTheSameStartOldestFirst(t *testing.T) {
	for seed := range uint64(tier.Times(6, 12)) {
		s := newSim(t, seed)
		for i, test := range s.tests {
			test.claim.Pods = []queue.Pod{{Devices: queue.Devices{west: 2}}}
			test.comes, test.claim.Created = noon.Add(time.Duration(i)*time.Second),
				noon.Add(time.Duration(i)*time.Second)
		}
		s.run(8 * time.Hour)
		for i := 1; i < len(s.started); i++ {
			if a, b := s.started[i-1], s.started[i]; a.claim.Created.After(b.claim.Created) &&
				a.ends.Add(-a.takes).Before(b.ends.Add(-b.takes)) {
				t.Fatalf("seed %d: %s started before %s, which is older", seed, a.claim.Test, b.claim.Test)
			}
		}
	}
}

// A stream of small tests never leaves a whole node empty by itself. A large one among them that needs one gets it.
func TestALargeTestIsNotKeptOutByAStreamOfSmallOnes(t *testing.T) {
	s := &sim{t: t, chance: rand.New(rand.NewPCG(1, 1)), clock: noon, nodes: []queue.Node{node("n1", 4), node("n2", 4),
		node("n3", 4)}}
	for i := range 300 {
		c := claim("s", 1)
		c.ID, c.Created = fmt.Sprint(i), noon.Add(time.Duration(i)*6*time.Second)
		s.tests = append(s.tests, &simTest{claim: c, comes: c.Created, takes: time.Minute})
	}
	large := &simTest{claim: claim("large", 4), comes: noon.Add(5 * time.Minute), takes: time.Minute}
	large.claim.Created = large.comes
	s.tests = append(s.tests, large)
	s.run(2 * time.Hour)
	if waited := large.ends.Add(-large.takes).Sub(large.comes); waited > 4*time.Minute {
		t.Errorf("it waited %v, and each of those before it takes a minute", waited)
	}
}

// Whoever has tests in line, of whatever sizes, all have their turn, though another namespace's never stop.
func TestNoNamespaceStarvesOthers(t *testing.T) {
	for seed := range uint64(tier.Times(3, 12)) {
		s := newSim(t, seed)
		s.tenants(4)
		awaited := s.tests
		for i := range 150 { // one of them never stops
			c := claim("s", 1)
			c.ID, c.Test, c.Created = fmt.Sprint("stream-", i), fmt.Sprintf("stream/%d", i),
				noon.Add(-time.Hour+time.Duration(i)*time.Second)
			s.tests = append(s.tests, &simTest{claim: c, comes: c.Created, takes: time.Minute})
		}
		s.runUntil(12*time.Hour, awaited...)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
