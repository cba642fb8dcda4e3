package kubectl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

type suitePart func(*v1alpha1.LoadTestSuite)

func newSuite(name string, ago time.Duration, parts ...suitePart) v1alpha1.LoadTestSuite {
	s := v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "lab", UID: types.UID(name),
		CreationTimestamp: metav1.Time{Time: noon().Add(-ago)}}}
	s.Spec.Parallelism = 1
	for _, p := range parts {
		p(&s)
	}
	if len(s.Status.Conditions) > 0 {
		suite.SetPhase(&s.Status)
	}
	return s
}

func suiteSays(status metav1.ConditionStatus, reason, message string) suitePart {
	return func(s *v1alpha1.LoadTestSuite) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete,
			Status: status, Reason: reason, Message: message,
			LastTransitionTime: metav1.Time{Time: noon().Add(-time.Minute)}})
	}
}

func counting(tests, running, measured, notMeasured int32) suitePart {
	return func(s *v1alpha1.LoadTestSuite) {
		s.Status.Counts = v1alpha1.SuiteCounts{Cells: tests, Tests: tests, Running: running, Measured: measured,
			NotMeasured: notMeasured, Waiting: tests - running - measured - notMeasured}
	}
}

// of makes a test one of a suite's.
func inSuite(suite string) part {
	return func(test *v1alpha1.LoadTest) {
		test.UID = types.UID(test.Name)
		test.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.LoadTestSuiteKind, Name: suite,
			UID: types.UID(suite), Controller: new(true)}}
	}
}

// took is when a test ended, and so how long it took.
func took(d time.Duration) part {
	return func(test *v1alpha1.LoadTest) {
		test.Status.CompletionTime = &metav1.Time{Time: test.CreationTimestamp.Add(d)}
	}
}

func TestASuitesSentence(t *testing.T) {
	isFalse, isTrue := metav1.ConditionFalse, metav1.ConditionTrue
	measures := running("Ramping", 42)
	running := suiteSays(isFalse, v1alpha1.ReasonRunning, "3 of 8 tests measured, 1 under way")
	for name, c := range map[string]struct {
		suite v1alpha1.LoadTestSuite
		tests suiteTests
		want  string
	}{
		"before the operator's first look": {newSuite("s", 0), suiteTests{}, notProcessed},
		"waiting": {newSuite("s", 0, suiteSays(isFalse, v1alpha1.ReasonWaiting,
			"0 of 8 tests measured; 8 tests can't be made: quota")), suiteTests{},
			"waiting: 0 of 8 tests measured; 8 tests can't be made: quota"},
		"running": {newSuite("s", 0, counting(8, 1, 3, 0), running), suiteTests{},
			"3 of 8 tests measured, 1 under way"},
		"how long it will take": {newSuite("s", 0, counting(8, 1, 3, 0), running),
			suiteTests{ended: 3, sum: 30 * time.Minute}, "3 of 8 tests measured, 1 under way, about 50m left"},
		"with several at once": {newSuite("s", 0, counting(8, 1, 2, 0), running,
			func(s *v1alpha1.LoadTestSuite) { s.Spec.Parallelism = 3 }),
			suiteTests{ended: 2, sum: 20 * time.Minute}, "3 of 8 tests measured, 1 under way, about 20m left"},
		"the last one, half over": {newSuite("s", 0, counting(8, 1, 7, 0), running),
			suiteTests{ended: 7, sum: 70 * time.Minute,
				underWay: []*v1alpha1.LoadTest{new(newLoadTest("t", 5*time.Minute))}},
			"3 of 8 tests measured, 1 under way, about 5m left"},
		"one test is too few to tell": {newSuite("s", 0, counting(8, 1, 1, 0), running),
			suiteTests{ended: 1, sum: time.Minute}, "3 of 8 tests measured, 1 under way"},
		"who is to be suspended goes on for nobody knows how long": {newSuite("s", 0, counting(8, 1, 3, 0), running,
			func(s *v1alpha1.LoadTestSuite) { s.Spec.Suspend = true }),
			suiteTests{ended: 3, sum: 30 * time.Minute}, "3 of 8 tests measured, 1 under way"},
		"what waits for somebody's help": {newSuite("s", 0, counting(8, 0, 3, 0), running),
			suiteTests{ended: 3, sum: 30 * time.Minute, underWay: []*v1alpha1.LoadTest{
				new(newLoadTest("a", 0, waiting(v1alpha1.ReasonQueued, "in line"))),
				new(newLoadTest("b", 0, waiting(v1alpha1.ReasonResourceMissing, "no node has lab/west"))),
			}}, "3 of 8 tests measured, 1 under way; b is waiting (ResourceMissing): no node has lab/west"},
		"what waits for help while another one runs": {newSuite("s", 0, counting(8, 1, 3, 0), running),
			suiteTests{ended: 3, sum: 30 * time.Minute, underWay: []*v1alpha1.LoadTest{
				new(newLoadTest("a", 0, measures)), new(newLoadTest("b", 0, waiting(v1alpha1.ReasonResourceMissing,
					"no node has lab/west"))),
			}}, "3 of 8 tests measured, 1 under way, about 50m left"},
		"suspended": {newSuite("s", 0, suiteSays(isFalse, v1alpha1.ReasonSuspended, "3 of 8")), suiteTests{},
			"suspended: 3 of 8"},
		"being stopped": {newSuite("s", 0, suiteSays(isFalse, v1alpha1.ReasonStopped, "3 of 8")), suiteTests{},
			"ending as Stopped: 3 of 8"},
		"measured": {newSuite("s", 0, suiteSays(isTrue, v1alpha1.ReasonMeasured, "8 of 8 tests measured")),
			suiteTests{}, "all measured: 8 of 8 tests measured"},
		"measured, and judged": {newSuite("s", 0, suiteSays(isTrue, v1alpha1.ReasonMeasured, "8 of 8 tests measured"),
			func(s *v1alpha1.LoadTestSuite) {
				s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed,
					Status: isFalse, Reason: v1alpha1.ReasonCriteriaNotMet,
					Message: "3 of 4 cells passed, 1 failed, 0 undecided; linux-imix: too slow"})
			}), suiteTests{}, "all measured: 8 of 8 tests measured; 3 of 4 cells passed, 1 failed, 0 undecided"},
		"invalid": {newSuite("s", 0, suiteSays(isTrue, v1alpha1.ReasonInvalid, "cell linux-imix: no")),
			suiteTests{}, "ended as Invalid: cell linux-imix: no"},
		"measured partly": {newSuite("s", 0, suiteSays(isTrue, v1alpha1.ReasonPartlyMeasured,
			"7 of 8 tests measured")), suiteTests{}, "ended as PartlyMeasured: 7 of 8 tests measured"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (suiteMoment{suite: &c.suite, tests: c.tests, instant: noon()}).sentence(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A gate with a baseline from elsewhere passes suites of which the cluster knows no verdict: their own words
// would say the opposite.
func TestAGateTellsOfNoVerdictButItsOwn(t *testing.T) {
	suite := newSuite("s", 0, suiteSays(metav1.ConditionTrue, v1alpha1.ReasonMeasured, "5 of 5 tests measured"),
		func(s *v1alpha1.LoadTestSuite) {
			s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed,
				Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonUndecided,
				Message: "0 of 1 cells passed, 0 failed, 1 undecided; s: it has no baseline"})
		})
	for judges, want := range map[bool]string{true: "s: all measured: 5 of 5 tests measured\n",
		false: "s: all measured: 5 of 5 tests measured; 0 of 1 cells passed, 0 failed, 1 undecided\n"} {
		var stderr strings.Builder
		s := newSession(nil, Options{Stderr: &stderr}, []client.Object{&suite}, nil)
		s.judges = judges
		s.handle(update{moment: suiteMoment{suite: &suite}})
		if stderr.String() != want {
			t.Errorf("it says %q, want %q", stderr.String(), want)
		}
	}
}

func TestASuiteOnTheBoard(t *testing.T) {
	suite := newSuite("night", time.Hour, counting(40, 8, 12, 0), suiteSays(metav1.ConditionFalse,
		v1alpha1.ReasonRunning, "12 of 40 tests measured, 8 under way"))
	tests := map[string]*v1alpha1.LoadTest{}
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		state := waiting(v1alpha1.ReasonQueued, "in line")
		if i%3 == 1 {
			state = running("Ramping", 42)
		}
		tests[name] = new(newLoadTest("night-"+name+"-r1", time.Duration(10-i)*time.Minute, state, inSuite("night")))
	}
	m := suiteMoment{suite: &suite, tests: sortTests(tests), instant: noon()}
	t.Run("on a terminal, with the tests under way below it", func(t *testing.T) {
		var stderr strings.Builder
		b := newBoard(Options{Stderr: &stderr}, false, []string{"night"})
		b.live = true
		b.show(0, m)
		b.print("night-z-r1: measured: 654.40 kpps")
		golden(t, "board-suite-live.txt", strings.ReplaceAll(stderr.String(), "\x1b", "ESC"))
	})
	t.Run("piped, when tests end, and each minute", func(t *testing.T) {
		var stderr strings.Builder
		instant := noon()
		b := newBoard(Options{Stderr: &stderr}, false, []string{"night"})
		b.clock = func() time.Time { return instant }
		for range 90 {
			b.show(0, m)
			instant = instant.Add(time.Second)
		}
		b.print("night-z-r1: measured: 654.40 kpps")
		counting(40, 8, 13, 0)(&suite)
		b.show(0, m)
		golden(t, "board-suite-piped.txt", stderr.String())
	})
}

func TestEndsOfASuitesTestsAreToldOnce(t *testing.T) {
	s := seenTests{start: noon(), tests: map[string]*v1alpha1.LoadTest{}, reported: map[types.UID]bool{}}
	ended, going := newLoadTest("old-r1", time.Hour, complete(v1alpha1.ReasonMeasured, "x"), inSuite("old"),
		took(time.Minute)), newLoadTest("new-r1", 0, inSuite("old"))
	if messages := s.replace([]client.Object{&ended, &going}); len(messages) > 0 {
		t.Errorf("who has just begun to look is told %q", messages)
	}
	complete(v1alpha1.ReasonDUTFailed, "out of memory")(&going)
	if messages := s.update(&going); len(messages) != 1 || messages[0] != "new-r1: ended as DUTFailed: out of memory" {
		t.Errorf("told %q", messages)
	}
	if messages := s.update(&going); len(messages) > 0 {
		t.Errorf("told again: %q", messages)
	}
	late := newLoadTest("late-r1", 0, complete(v1alpha1.ReasonMeasured, "y"), inSuite("old"))
	if messages := s.replace([]client.Object{&going, &late}); len(messages) != 1 ||
		!strings.HasPrefix(messages[0], "late-r1: measured") {
		t.Errorf("of what ended while nobody looked is told %q", messages)
	}
	if got := sortTests(s.tests); got.ended != 0 || len(got.underWay) != 0 { // neither has told when it ended
		t.Errorf("sortTests %+v", got)
	}
	delete(s.tests, late.Name)
	if len(s.tests) != 1 {
		t.Errorf("%d are left", len(s.tests))
	}
}

// aNight has suites in each state, and 1 000 tests of one.
func aNight() (suites []v1alpha1.LoadTestSuite, tests []v1alpha1.LoadTest) {
	suites = []v1alpha1.LoadTestSuite{
		newSuite("last-night", 30*time.Hour, counting(8, 0, 7, 1), suiteSays(metav1.ConditionTrue,
			v1alpha1.ReasonPartlyMeasured, "7 of 8 tests measured, 1 without a measurement"),
			func(s *v1alpha1.LoadTestSuite) {
				s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed,
					Status: metav1.ConditionFalse})
			}),
		newSuite("new", time.Second),
		newSuite("night", time.Hour, counting(1000, 2, 890, 4), suiteSays(metav1.ConditionFalse,
			v1alpha1.ReasonRunning, "890 of 1000 tests measured, 4 without a measurement, 8 under way")),
	}
	for i := range 1000 {
		name := "night-c" + string(rune('a'+i/100)) + string(rune('a'+i/10%10)) + string(rune('a'+i%10)) + "-r1"
		switch {
		case i < 894:
			tests = append(tests, newLoadTest(name, time.Hour, complete(v1alpha1.ReasonMeasured, "x"),
				inSuite("night")))
		case i < 896:
			tests = append(tests, newLoadTest(name, 2*time.Minute, running("Ramping", int32(i-850)), inSuite("night")))
		case i < 902:
			tests = append(tests, newLoadTest(name, time.Minute, waiting(v1alpha1.ReasonQueued,
				"in line for lab.dev/west"),
				inSuite("night")))
		}
	}
	return suites, append(tests, newLoadTest("vpp-imix", 4*time.Minute, running("Ramping", 42)))
}

func TestListingOfSuites(t *testing.T) {
	l := newListing(aNight())
	for name, allTests := range map[string]bool{"list-suites.txt": false, "": true} {
		var stderr strings.Builder
		l.allTests = allTests
		if err := l.write(&stderr, "text", 0, noon()); err != nil {
			t.Fatal(err)
		}
		if allTests {
			if lines := strings.Count(stderr.String(), "\n"); lines < 903 ||
				strings.Contains(stderr.String(), "more tests") {
				t.Errorf("--all has %d lines", lines)
			}
			continue
		}
		golden(t, name, stderr.String())
	}
}

// TestSuitesInOrder: those that run, those that wait, and those that have ended, the newest of these first.
func TestSuitesInOrder(t *testing.T) {
	suiteOfAge := func(name string, ago time.Duration, ended metav1.ConditionStatus,
		reason string) v1alpha1.LoadTestSuite {
		return newSuite(name, ago, suiteSays(ended, reason, ""))
	}
	l := newListing([]v1alpha1.LoadTestSuite{
		suiteOfAge("last-week", 200*time.Hour, metav1.ConditionTrue, v1alpha1.ReasonMeasured),
		suiteOfAge("held", 3*time.Hour, metav1.ConditionFalse, v1alpha1.ReasonSuspended),
		suiteOfAge("yesterday", 30*time.Hour, metav1.ConditionTrue, v1alpha1.ReasonMeasured),
		suiteOfAge("runs", time.Hour, metav1.ConditionFalse, v1alpha1.ReasonRunning),
		newSuite("new", time.Second), suiteOfAge("runs-longer", 2*time.Hour, metav1.ConditionFalse,
			v1alpha1.ReasonRunning),
	}, nil)
	var names []string
	for _, s := range l.Suites {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "runs-longer runs held new yesterday last-week" {
		t.Errorf("the order is %s", got)
	}
}

// TestSuitesOfOneNameInTwoNamespaces each have their own first tests shown.
func TestSuitesOfOneNameInTwoNamespaces(t *testing.T) {
	var tests []v1alpha1.LoadTest
	for _, namespace := range []string{"lab", "other"} {
		for i := range maxWaiting + 1 {
			test := newLoadTest(fmt.Sprintf("night-%d", i), time.Minute, waiting(v1alpha1.ReasonQueued, "in line"),
				inSuite("night"))
			test.Namespace = namespace
			tests = append(tests, test)
		}
	}
	if rows, hidden := newListing(nil, tests).shown(); len(rows) != 2*maxWaiting || hidden != 2 {
		t.Errorf("%d are shown, and %d are not", len(rows), hidden)
	}
}

func TestWhatIsOfferedToWhoTypes(t *testing.T) {
	suites := []v1alpha1.LoadTestSuite{newSuite("night", 0), newSuite("vpp", 0)}
	tests := []v1alpha1.LoadTest{newLoadTest("vpp", 0), newLoadTest("night-a-r1", 0, inSuite("night")),
		newLoadTest("alone", 0)}
	for begun, want := range map[string]string{
		"":       "loadtest/vpp alone night suite/vpp",
		"night-": "loadtest/vpp night-a-r1 alone night suite/vpp",
		"suite/": "loadtest/vpp alone suite/night suite/vpp",
	} {
		var got []string
		for _, c := range choices(suites, tests, begun) {
			name, _, _ := strings.Cut(c, "\t")
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("after %q %q is offered, want %q", begun, got, want)
		}
	}
}
