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
)

type suitePart func(*v1alpha1.LoadTestSuite)

func madeSuite(name string, ago time.Duration, parts ...suitePart) v1alpha1.LoadTestSuite {
	s := v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "lab", UID: types.UID(name), CreationTimestamp: metav1.Time{Time: noon().Add(-ago)}}}
	s.Spec.Parallelism = 1
	for _, p := range parts {
		p(&s)
	}
	return s
}

func suiteSays(status metav1.ConditionStatus, reason, message string) suitePart {
	return func(s *v1alpha1.LoadTestSuite) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: status, Reason: reason, Message: message,
			LastTransitionTime: metav1.Time{Time: noon().Add(-time.Minute)}})
	}
}

func counting(tests, running, measured, not int32) suitePart {
	return func(s *v1alpha1.LoadTestSuite) {
		s.Status.Counts = v1alpha1.SuiteCounts{Cells: tests, Tests: tests, Running: running, Measured: measured, NotMeasured: not, Waiting: tests - running - measured - not}
	}
}

// of makes a test one of a suite's.
func of(suite string) part {
	return func(test *v1alpha1.LoadTest) {
		test.UID = types.UID(test.Name)
		test.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.LoadTestSuiteKind, Name: suite, UID: types.UID(suite), Controller: new(true)}}
	}
}

// took is when a test ended, and so how long it took.
func took(d time.Duration) part {
	return func(test *v1alpha1.LoadTest) {
		test.Status.FinishedAt = &metav1.Time{Time: test.CreationTimestamp.Add(d)}
	}
}

func TestASuitesSentence(t *testing.T) {
	no, yes := metav1.ConditionFalse, metav1.ConditionTrue
	measures := running("Ramping", 42)
	running := suiteSays(no, v1alpha1.ReasonRunning, "3 of 8 tests measured, 1 under way")
	for name, c := range map[string]struct {
		suite v1alpha1.LoadTestSuite
		tests suiteTests
		want  string
	}{
		"before the operator's first look": {madeSuite("s", 0), suiteTests{}, notProcessed},
		"waiting":                          {madeSuite("s", 0, suiteSays(no, v1alpha1.ReasonWaiting, "0 of 8 tests measured; 8 tests can't be made: quota")), suiteTests{}, "waiting: 0 of 8 tests measured; 8 tests can't be made: quota"},
		"running":                          {madeSuite("s", 0, counting(8, 1, 3, 0), running), suiteTests{}, "3 of 8 tests measured, 1 under way"},
		"how long it will take":            {madeSuite("s", 0, counting(8, 1, 3, 0), running), suiteTests{over: 3, took: 30 * time.Minute}, "3 of 8 tests measured, 1 under way, about 50m left"},
		"with several at once": {madeSuite("s", 0, counting(8, 1, 2, 0), running, func(s *v1alpha1.LoadTestSuite) { s.Spec.Parallelism = 3 }),
			suiteTests{over: 2, took: 20 * time.Minute}, "3 of 8 tests measured, 1 under way, about 20m left"},
		"the last one, half over": {madeSuite("s", 0, counting(8, 1, 7, 0), running),
			suiteTests{over: 7, took: 70 * time.Minute, underWay: []*v1alpha1.LoadTest{new(made("t", 5*time.Minute))}}, "3 of 8 tests measured, 1 under way, about 5m left"},
		"one test is too few to tell": {madeSuite("s", 0, counting(8, 1, 1, 0), running), suiteTests{over: 1, took: time.Minute}, "3 of 8 tests measured, 1 under way"},
		"who is to be suspended goes on for nobody knows how long": {madeSuite("s", 0, counting(8, 1, 3, 0), running, func(s *v1alpha1.LoadTestSuite) { s.Spec.Suspend = true }),
			suiteTests{over: 3, took: 30 * time.Minute}, "3 of 8 tests measured, 1 under way"},
		"what waits for somebody's help": {madeSuite("s", 0, counting(8, 0, 3, 0), running), suiteTests{over: 3, took: 30 * time.Minute, underWay: []*v1alpha1.LoadTest{
			new(made("a", 0, waiting(v1alpha1.ReasonQueued, "in line"))), new(made("b", 0, waiting(v1alpha1.ReasonResourceMissing, "no node has lab/west"))),
		}}, "3 of 8 tests measured, 1 under way; b is waiting (ResourceMissing): no node has lab/west"},
		"what waits for help while another one runs": {madeSuite("s", 0, counting(8, 1, 3, 0), running), suiteTests{over: 3, took: 30 * time.Minute, underWay: []*v1alpha1.LoadTest{
			new(made("a", 0, measures)), new(made("b", 0, waiting(v1alpha1.ReasonResourceMissing, "no node has lab/west"))),
		}}, "3 of 8 tests measured, 1 under way, about 50m left"},
		"suspended":     {madeSuite("s", 0, suiteSays(no, v1alpha1.ReasonSuspended, "3 of 8")), suiteTests{}, "suspended: 3 of 8"},
		"being stopped": {madeSuite("s", 0, suiteSays(no, v1alpha1.ReasonStopped, "3 of 8")), suiteTests{}, "ending as Stopped: 3 of 8"},
		"measured":      {madeSuite("s", 0, suiteSays(yes, v1alpha1.ReasonMeasured, "8 of 8 tests measured")), suiteTests{}, "all measured: 8 of 8 tests measured"},
		"measured, and judged": {madeSuite("s", 0, suiteSays(yes, v1alpha1.ReasonMeasured, "8 of 8 tests measured"), func(s *v1alpha1.LoadTestSuite) {
			s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: no, Reason: v1alpha1.ReasonCriteriaNotMet,
				Message: "3 of 4 cells passed, 1 failed, 0 undecided; linux-imix: too slow"})
		}), suiteTests{}, "all measured: 8 of 8 tests measured; 3 of 4 cells passed, 1 failed, 0 undecided"},
		"invalid":         {madeSuite("s", 0, suiteSays(yes, v1alpha1.ReasonInvalid, "cell linux-imix: no")), suiteTests{}, "ended as Invalid: cell linux-imix: no"},
		"measured partly": {madeSuite("s", 0, suiteSays(yes, v1alpha1.ReasonPartlyMeasured, "7 of 8 tests measured")), suiteTests{}, "ended as PartlyMeasured: 7 of 8 tests measured"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (suiteMoment{suite: &c.suite, tests: c.tests, now: noon()}).sentence(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A gate with a baseline from elsewhere passes suites of which the cluster knows no verdict: their own words would say the opposite.
func TestAGateTellsOfNoVerdictButItsOwn(t *testing.T) {
	suite := madeSuite("s", 0, suiteSays(metav1.ConditionTrue, v1alpha1.ReasonMeasured, "5 of 5 tests measured"), func(s *v1alpha1.LoadTestSuite) {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonUndecided,
			Message: "0 of 1 cells passed, 0 failed, 1 undecided; s: it has no baseline"})
	})
	for judges, want := range map[bool]string{true: "s: all measured: 5 of 5 tests measured\n", false: "s: all measured: 5 of 5 tests measured; 0 of 1 cells passed, 0 failed, 1 undecided\n"} {
		var out strings.Builder
		s := newSession(nil, Options{Err: &out}, []client.Object{&suite}, nil)
		s.judges = judges
		s.take(news{moment: suiteMoment{suite: &suite}})
		if out.String() != want {
			t.Errorf("it says %q, want %q", out.String(), want)
		}
	}
}

func TestASuiteOnTheBoard(t *testing.T) {
	suite := madeSuite("night", time.Hour, counting(40, 8, 12, 0), suiteSays(metav1.ConditionFalse, v1alpha1.ReasonRunning, "12 of 40 tests measured, 8 under way"))
	tests := map[string]*v1alpha1.LoadTest{}
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		state := waiting(v1alpha1.ReasonQueued, "in line")
		if i%3 == 1 {
			state = running("Ramping", 42)
		}
		tests[name] = new(made("night-"+name+"-r1", time.Duration(10-i)*time.Minute, state, of("night")))
	}
	m := suiteMoment{suite: &suite, tests: sortTests(tests), now: noon()}
	t.Run("on a terminal, with the tests under way below it", func(t *testing.T) {
		var out strings.Builder
		b := newBoard(Options{Err: &out}, false, []string{"night"})
		b.live = true
		b.show(0, m)
		b.tell("night-z-r1: measured: 654.40 Kpps")
		golden(t, "board-suite-live.txt", strings.ReplaceAll(out.String(), "\x1b", "ESC"))
	})
	t.Run("piped, when tests end, and each minute", func(t *testing.T) {
		var out strings.Builder
		now := noon()
		b := newBoard(Options{Err: &out}, false, []string{"night"})
		b.now = func() time.Time { return now }
		for range 90 {
			b.show(0, m)
			now = now.Add(time.Second)
		}
		b.tell("night-z-r1: measured: 654.40 Kpps")
		counting(40, 8, 13, 0)(&suite)
		b.show(0, m)
		golden(t, "board-suite-piped.txt", out.String())
	})
}

func TestEndsOfASuitesTestsAreToldOnce(t *testing.T) {
	s := lastTests{tests: map[string]*v1alpha1.LoadTest{}, ended: map[types.UID]bool{}}
	ended, going := made("old-r1", time.Hour, complete(v1alpha1.ReasonMeasured, "x"), of("old"), took(time.Minute)), made("new-r1", 0, of("old"))
	if told := s.all([]client.Object{&ended, &going}); len(told) > 0 {
		t.Errorf("who has just begun to look is told %q", told)
	}
	complete(v1alpha1.ReasonDUTFailed, "out of memory")(&going)
	if told := s.one(&going); len(told) != 1 || told[0] != "new-r1: ended as DUTFailed: out of memory" {
		t.Errorf("told %q", told)
	}
	if told := s.one(&going); len(told) > 0 {
		t.Errorf("told again: %q", told)
	}
	late := made("late-r1", 0, complete(v1alpha1.ReasonMeasured, "y"), of("old"))
	if told := s.all([]client.Object{&going, &late}); len(told) != 1 || !strings.HasPrefix(told[0], "late-r1: measured") {
		t.Errorf("of what ended while nobody looked is told %q", told)
	}
	if got := sortTests(s.tests); got.over != 0 || len(got.underWay) != 0 { // neither has told when it ended
		t.Errorf("sortTests %+v", got)
	}
	s.lost(&late)
	if len(s.tests) != 1 {
		t.Errorf("%d are left", len(s.tests))
	}
}

// aNight has suites in each state, and 1 000 tests of one.
func aNight() (suites []v1alpha1.LoadTestSuite, tests []v1alpha1.LoadTest) {
	suites = []v1alpha1.LoadTestSuite{
		madeSuite("last-night", 30*time.Hour, counting(8, 0, 7, 1), suiteSays(metav1.ConditionTrue, v1alpha1.ReasonPartlyMeasured, "7 of 8 tests measured, 1 without a measurement"),
			func(s *v1alpha1.LoadTestSuite) {
				s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse})
			}),
		madeSuite("new", time.Second),
		madeSuite("night", time.Hour, counting(1000, 2, 890, 4), suiteSays(metav1.ConditionFalse, v1alpha1.ReasonRunning, "890 of 1000 tests measured, 4 without a measurement, 8 under way")),
	}
	for i := range 1000 {
		name := "night-c" + string(rune('a'+i/100)) + string(rune('a'+i/10%10)) + string(rune('a'+i%10)) + "-r1"
		switch {
		case i < 894:
			tests = append(tests, made(name, time.Hour, complete(v1alpha1.ReasonMeasured, "x"), of("night")))
		case i < 896:
			tests = append(tests, made(name, 2*time.Minute, running("Ramping", int32(i-850)), of("night")))
		case i < 902:
			tests = append(tests, made(name, time.Minute, waiting(v1alpha1.ReasonQueued, "in line for lab.dev/west"), of("night")))
		}
	}
	return suites, append(tests, made("vpp-imix", 4*time.Minute, running("Ramping", 42)))
}

func TestListingOfSuites(t *testing.T) {
	l := listOf(aNight())
	for name, all := range map[string]bool{"list-suites.txt": false, "": true} {
		var out strings.Builder
		l.everything = all
		if err := l.write(&out, "text", 0, noon()); err != nil {
			t.Fatal(err)
		}
		if all {
			if lines := strings.Count(out.String(), "\n"); lines < 903 || strings.Contains(out.String(), "more tests") {
				t.Errorf("--all has %d lines", lines)
			}
			continue
		}
		golden(t, name, out.String())
	}
}

// TestSuitesInOrder: those that run, those that wait, and those that have ended, the newest of these first.
func TestSuitesInOrder(t *testing.T) {
	says := func(name string, ago time.Duration, ended metav1.ConditionStatus, reason string) v1alpha1.LoadTestSuite {
		return madeSuite(name, ago, suiteSays(ended, reason, ""))
	}
	l := listOf([]v1alpha1.LoadTestSuite{
		says("last-week", 200*time.Hour, metav1.ConditionTrue, v1alpha1.ReasonMeasured), says("held", 3*time.Hour, metav1.ConditionFalse, v1alpha1.ReasonSuspended),
		says("yesterday", 30*time.Hour, metav1.ConditionTrue, v1alpha1.ReasonMeasured), says("runs", time.Hour, metav1.ConditionFalse, v1alpha1.ReasonRunning),
		madeSuite("new", time.Second), says("runs-longer", 2*time.Hour, metav1.ConditionFalse, v1alpha1.ReasonRunning),
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
		for i := range shownWaiting + 1 {
			test := made(fmt.Sprintf("night-%d", i), time.Minute, waiting(v1alpha1.ReasonQueued, "in line"), of("night"))
			test.Namespace = namespace
			tests = append(tests, test)
		}
	}
	if rows, leftOut := listOf(nil, tests).shown(false); len(rows) != 2*shownWaiting || leftOut != 2 {
		t.Errorf("%d are shown, and %d are not", len(rows), leftOut)
	}
}

func TestWhatIsOfferedToWhoTypes(t *testing.T) {
	suites := []v1alpha1.LoadTestSuite{madeSuite("night", 0), madeSuite("vpp", 0)}
	tests := []v1alpha1.LoadTest{made("vpp", 0), made("night-a-r1", 0, of("night")), made("alone", 0)}
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
