package turns

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// always has a line drawn, however good the last one is.
func always() (needless bool) { return false }

// ask is the turn of a test, as its pass reads it.
func (l *lineLab) ask(line *Line, name string, hasPods bool) queue.Turn {
	l.mu.Lock()
	test := l.tests[name]
	l.mu.Unlock()
	turn, err := line.TurnOf(l.t.Context(), test, hasPods, pass.AsStored(line.clock()))
	if err != nil {
		l.t.Error(err)
	}
	return turn
}

// A line from remembered findings equals a line from the caches, whatever changed.
func TestALineFromWhatIsKeptIsTheSame(t *testing.T) {
	tier.Plain(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random, l := rand.New(rand.NewPCG(seed, 1)), newLineLab(t)
			watched, anew := l.line(true), l.line(false)
			waited, went := 0, 0
			for step := range 200 {
				change := l.happen(random, step, watched)
				for _, line := range []*Line{watched, anew} {
					if err := line.draw(t.Context(), nil, always); err != nil {
						t.Fatal(err)
					}
				}
				if got, want := watched.line, anew.line; !reflect.DeepEqual(got, want) {
					t.Fatalf("after %s (step %d)\n%+v\nnot\n%+v", change, step, got, want)
				}
				for _, turn := range watched.line.Turns {
					if turn.Waits {
						waited++
					} else {
						went++
					}
				}
			}
			if waited == 0 || went == 0 {
				t.Errorf("%d waited and %d went: the lab is too large or too small to tell anything", waited, went)
			}
		})
	}
}

// happen lets something happen to one of twelve tests.
func (l *lineLab) happen(random *rand.Rand, step int, line *Line) string {
	name := fmt.Sprintf("t%d", random.IntN(12))
	node := []string{"", "rack-1", "rack-2"}[random.IntN(3)]
	l.now = l.now.Add(time.Second)
	switch random.IntN(11) {
	case 0, 1:
		if l.tests[name] == nil {
			l.add(name, step)
		}
		return name + " is there"
	case 2:
		delete(l.tests, name)
		return name + " is gone"
	case 3, 4:
		if test := l.tests[name]; test != nil {
			l.place(name, int(max(test.Status.Attempt, 1)), node)
		}
		return name + " is placed on " + node
	case 5:
		for pod := range l.pods {
			if l.pods[pod].Labels[v1alpha1.LabelTest] == name {
				delete(l.pods, pod)
			}
		}
		return name + " has no pods any more"
	case 6:
		for key, pod := range l.pods {
			if pod.Labels[v1alpha1.LabelTest] == name {
				ended := pod.DeepCopy()
				ended.Status.Phase, ended.ResourceVersion = corev1.PodSucceeded, l.next()
				l.pods[key] = ended
			}
		}
		return "the pods of " + name + " end"
	case 7:
		l.change(name, func(test *v1alpha1.LoadTest) { test.Spec.Suspend = !test.Spec.Suspend })
		return name + " is suspended, or not any more"
	case 8:
		l.change(name, func(test *v1alpha1.LoadTest) {
			test.Status.Attempt = max(test.Status.Attempt, 1) + 1
			test.Status.Operator.GivenBack = &v1alpha1.GivenBack{LastTime: metav1.NewTime(l.now),
				RetryTime: metav1.NewTime(l.now.Add(10 * time.Second)), Times: 1}
		})
		return name + " gives its pods back"
	case 9:
		l.change(name, func(test *v1alpha1.LoadTest) { test.Status.StartTime = &metav1.Time{Time: l.now} })
		return name + " starts"
	}
	l.resource = map[string]string{"lab.example/a": "lab.example/b", "lab.example/b": "lab.example/a"}[l.resource]
	line.NetworkChanged(compile.NetworkKey{})
	return "networks have devices of " + l.resource
}

// A namespace whose test was placed has had its turn, also when that test is gone. The next turn is another
// namespace's, though its tests are younger.
func TestANamespaceWhoseTestIsGoneHasHadItsTurn(t *testing.T) {
	l := newLineLab(t)
	line := l.line(true)
	for i, name := range []string{"first", "second", "third"} {
		l.add(name, i)
	}
	l.add("neighbour", 30)
	l.change("neighbour", func(test *v1alpha1.LoadTest) { test.Namespace = "beside" })
	l.place("first", 1, "rack-1")
	for _, pod := range l.pods {
		pod.CreationTimestamp = metav1.NewTime(l.now.Add(time.Minute))
	}
	order := func() []string {
		t.Helper()
		l.now = l.now.Add(time.Second)
		if err := line.draw(t.Context(), nil, always); err != nil {
			t.Fatal(err)
		}
		return line.line.Order
	}
	want := []string{"uid-neighbour", "uid-second", "uid-third"}
	if got := order(); !slices.Equal(got, want) {
		t.Errorf("while the first has its devices the line is %v, want %v", got, want)
	}
	delete(l.tests, "first")
	clear(l.pods)
	if got := order(); !slices.Equal(got, want) {
		t.Errorf("when the first is gone the line is %v, want %v", got, want)
	}
}

func TestWhoMayBeToldDoesNotWaitForADrawing(t *testing.T) {
	l := newLineLab(t)
	synctest.Test(t, func(t *testing.T) {
		l.t = t
		line := l.line(true)
		l.add("placed", 1)
		l.place("placed", 1, "rack-1")
		l.add("next", 2)
		l.add("last", 3)
		if l.ask(line, "next", false).Waits || !l.ask(line, "last", false).Waits || l.drawn() != 1 {
			t.Fatalf("the line isn't as it should be: %+v, drawn %d times", line.line, l.drawn())
		}
		release := l.hold()
		line.mark()
		go line.woken(t.Context())
		synctest.Wait() // it is being drawn
		if l.drawn() != 2 {
			t.Fatalf("it was drawn %d times", l.drawn())
		}
		l.ask(line, "placed", true)
		if !l.ask(line, "last", false).Waits {
			t.Error("the last one goes")
		}
		var asking sync.WaitGroup
		answered := make(chan queue.Turn, 10)
		for range 10 {
			asking.Go(func() { answered <- l.ask(line, "next", false) })
		}
		synctest.Wait()
		if len(answered) > 0 {
			t.Error("it goes by a line that is behind")
		}
		release()
		asking.Wait()
		if turn := <-answered; turn.Waits {
			t.Errorf("it waits: %+v", turn)
		}
		if l.drawn() != 2 {
			t.Errorf("it was drawn %d times: all ten are told from the one that was being drawn", l.drawn())
		}
	})
}

// A line that was begun before a change, and is complete after it, is behind.
func TestATestIsNotToldToGoByALineThatLacksAChange(t *testing.T) {
	l := newLineLab(t)
	synctest.Test(t, func(t *testing.T) {
		l.t = t
		line := l.line(true)
		l.add("placed", 1)
		l.place("placed", 1, "rack-1")
		l.add("next", 3)
		l.ask(line, "next", false)
		release := l.hold()
		line.mark()
		go line.woken(t.Context())
		synctest.Wait() // it has looked
		l.add("older", 2)
		line.mark()
		var asking sync.WaitGroup
		for range 10 {
			asking.Go(func() {
				if !l.ask(line, "next", false).Waits {
					t.Error("it goes before an older one that was there when it asked")
				}
			})
		}
		synctest.Wait()
		release()
		asking.Wait()
		// before they ask, twice; once for all ten; and once if the line was drawn without the older one while it was
		// found out what that wants
		if l.drawn() > 4 {
			t.Errorf("the caches were read %d times: once or twice for all ten", l.drawn())
		}
	})
}

// Wants are remembered, and a change of networks during their search must not be lost.
func TestNetworksThatChangeWhileItIsFoundOutWhatTestsWant(t *testing.T) {
	for name, changed := range map[string]compile.NetworkKey{"one": {Namespace: "lab", Name: "west"}, "all": {}} {
		t.Run(name, func(t *testing.T) {
			l := newLineLab(t)
			synctest.Test(t, func(t *testing.T) {
				l.t = t
				line := l.line(true)
				for i, name := range []string{"a", "b", "c"} {
					l.add(name, i)
				}
				release := l.holdNetwork("west")
				go line.woken(t.Context())
				synctest.Wait() // it has read the network as it was
				l.mu.Lock()
				l.resource = "lab.example/nobody-has"
				l.mu.Unlock()
				line.NetworkChanged(changed)
				release()
				synctest.Wait()
				line.woken(t.Context())
				if l.ask(line, "a", false); !line.Drawn().Turns["uid-a"].Impossible {
					t.Errorf("%+v", line.Drawn().Turns["uid-a"])
				}
			})
		})
	}
}

// Finding out what a large test wants takes long. Only the test itself waits for that, and only younger tests
// of its namespace are kept out of the line.
func TestNobodyWaitsWhileItIsFoundOutWhatAHostileTestWants(t *testing.T) {
	l := newLineLab(t)
	synctest.Test(t, func(t *testing.T) {
		l.t = t
		line := l.line(true)
		release := l.holdNetwork("slow")
		l.addTo("hostile", "large", "slow", 1)
		l.addTo("hostile", "younger", "fast", 2)
		go l.ask(line, "large", false)
		synctest.Wait() // it is being found out
		l.addTo("lab", "innocent", "fast", 3)
		line.mark()
		answered := make(chan queue.Turn, 1)
		go func() { answered <- l.ask(line, "innocent", false) }()
		synctest.Wait()
		select {
		case turn := <-answered:
			if turn.Waits {
				t.Errorf("devices are free, and the innocent test waits: %+v", turn)
			}
		default:
			t.Error("the innocent test waits for what the hostile one wants to be found out")
		}
		if turn := l.ask(line, "younger", false); !turn.Waits {
			t.Error("a younger test of its own namespace overtakes the large one")
		}
		release()
		synctest.Wait()
		line.woken(t.Context())
		if turn := l.ask(line, "large", false); turn.Waits {
			t.Errorf("what it wants is found out, and it waits: %+v", turn)
		}
	})
}

// The wants of a namespace's many tests are found out a few at a time, so a drawing waits for few of them.
func TestWhatManyTestsWantIsFoundOutSomeAtATime(t *testing.T) {
	l := newLineLab(t)
	line := l.line(true)
	for i := range 500 {
		l.addTo("hostile", fmt.Sprintf("t%04d", i), "many", i)
	}
	l.addTo("lab", "innocent", "one", 3000)
	if turn := l.ask(line, "innocent", false); turn.Waits {
		t.Errorf("the innocent one waits: %+v", turn)
	}
	found := func() (n int) {
		line.wants.mu.Lock()
		defer line.wants.mu.Unlock()
		return len(line.wants.found)
	}
	if found() > maxFoundOut+1 {
		t.Errorf("it was found out what %d tests want before the innocent one was answered, and %d is the most of "+
			"a namespace", found()-1, maxFoundOut)
	}
	for i := 0; found() < 501; i++ {
		if i > 500/maxFoundOut+1 {
			t.Fatalf("after %d drawings it is known what %d of 501 tests want", i, found())
		}
		line.woken(t.Context())
	}
}

// A tenant who changes a network repeatedly has only the wants of the tests that name it found out again.
func TestAChangedNetworkConcernsOnlyTheTestsThatNameIt(t *testing.T) {
	l := newLineLab(t)
	line := l.line(true)
	l.addTo("hostile", "a", "hostile-net", 1)
	l.addTo("lab", "b", "lab-net", 2)
	l.ask(line, "b", false)
	l.reads()
	line.NetworkChanged(compile.NetworkKey{Namespace: "hostile", Name: "hostile-net"})
	l.ask(line, "b", false)
	line.woken(t.Context())
	if reads := l.reads(); slices.Contains(reads, "lab-net") || !slices.Contains(reads, "hostile-net") {
		t.Errorf("%v are read after hostile-net changed", reads)
	}
	if turn := line.Drawn().Turns["uid-b"]; turn.Waits {
		t.Errorf("%+v", turn)
	}
}

// A test that waits for a time reads a new line when the time has come. The other tests read the last line, and
// the new one wakes them.
func TestATimeThatHasComeDrawsTheLine(t *testing.T) {
	l := newLineLab(t)
	line := l.line(true)
	l.add("placed", 1)
	l.place("placed", 1, "rack-1")
	l.add("back", 2)
	l.change("back", func(test *v1alpha1.LoadTest) {
		test.Status.Operator.GivenBack = &v1alpha1.GivenBack{LastTime: metav1.NewTime(l.now),
			RetryTime: metav1.NewTime(l.now.Add(time.Minute)), Times: 1}
	})
	l.add("next", 3)
	l.add("last", 4)
	if !l.ask(line, "back", false).Waits || l.ask(line, "next", false).Waits || !l.ask(line, "last", false).Waits ||
		l.drawn() != 1 {
		t.Fatalf("the line isn't as it should be: %+v, drawn %d times", line.line, l.drawn())
	}
	l.now = l.now.Add(time.Minute)
	if !l.ask(line, "last", false).Waits || l.drawn() != 1 {
		t.Errorf("the last one waited for the line, which was drawn %d times", l.drawn())
	}
	if l.ask(line, "next", false); !line.line.Turns["uid-next"].Waits || l.drawn() != 2 {
		t.Errorf("%+v, drawn %d times", line.line, l.drawn())
	}
	if l.ask(line, "back", false).Waits {
		t.Error("its time has come, and it waits")
	}
	if names := line.woken(t.Context()); len(names) != 1 || names[0].Name != "next" {
		t.Errorf("%v are woken, and the next one has to let the one before it go", names)
	}
	if names := line.toBegin(time.Now()); len(names) != 1 || names[0].Name != "back" {
		t.Errorf("%v are to begin, and it is the turn of the one that came back", names)
	}
	if names := line.toNotify(noticeEvery); len(names) != 1 || names[0].Name != "last" {
		t.Errorf("%v stand elsewhere in line, and the last one does", names)
	}
}

func TestWhoEndsStandsInNoLine(t *testing.T) {
	l := newLineLab(t)
	line := l.line(true)
	l.add("ends", 1)
	l.change("ends", func(test *v1alpha1.LoadTest) {
		test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse,
			Reason: v1alpha1.ReasonStopped}}
	})
	if turn := l.ask(line, "ends", false); turn != (queue.Turn{}) || l.drawn() != 0 {
		t.Errorf("it is told %+v, and the line was drawn %d times", turn, l.drawn())
	}
}

// Anyone who may make pods may put a test's label on them, and name an owner. That gives no test a place in
// line, and takes none.
func TestAPodThatOnlySaysItIsATestsIsNoTests(t *testing.T) {
	for name, forge := range map[string]func(*corev1.Pod){
		"its label":                 func(p *corev1.Pod) { p.OwnerReferences = nil },
		"its label, elsewhere":      func(p *corev1.Pod) { p.OwnerReferences, p.Namespace = nil, "stranger" },
		"its label and its UID":     func(p *corev1.Pod) { p.Namespace = "stranger" },
		"an owner of a test's kind": func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "stranger.dev/v1" },
		"an owner of their own": func(p *corev1.Pod) {
			p.OwnerReferences[0].APIVersion,
				p.OwnerReferences[0].Kind = "v1", "ConfigMap"
		},
		"an owner, but no controller": func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLineLab(t)
			line := l.line(false)
			for i, name := range []string{"a", "b", "c", "d"} {
				l.add(name, i)
			}
			forged := func(test, node string) {
				l.place(test, 1, node)
				l.mu.Lock()
				defer l.mu.Unlock()
				for name, pod := range l.pods {
					if pod.Labels[v1alpha1.LabelTest] == test {
						pod = pod.DeepCopy()
						forge(pod)
						l.pods[name] = pod
					}
				}
			}
			l.place("a", 1, "rack-1")
			if turn := l.ask(line, "b", false); turn.Waits {
				t.Fatalf("one half of the lab is free, and b waits: %+v", turn)
			}
			waits := l.ask(line, "c", false)
			if !waits.Waits {
				t.Fatalf("there is room for three: %+v", waits)
			}
			forged("d", "rack-2") // of one that waits, which has devices then
			forged("c", "")       // of another one, which has begun then
			if turn := l.ask(line, "b", false); turn.Waits {
				t.Errorf("b waits for what a stranger's pods say they have: %+v", turn)
			}
			if got := l.ask(line, "c", false); !reflect.DeepEqual(got, waits) {
				t.Errorf("with pods of a stranger's c is told %+v, without them %+v", got, waits)
			}
		})
	}
}

func TestDrawingsForWhichNobodyWaitsTakeAFifthOfTheTime(t *testing.T) {
	for drawing, want := range map[time.Duration]time.Duration{0: drawPause, time.Millisecond: drawPause,
		100 * time.Millisecond: 400 * time.Millisecond, time.Minute: longestDrawPause} {
		if got := pauseAfter(drawing); got != want {
			t.Errorf("after a drawing of %s the pause is %s, want %s", drawing, got, want)
		}
	}
}
