package kubectl

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func (f *follower) suite(send func(change)) *objectWatch {
	return f.object(send, &v1alpha1.LoadTestSuiteList{}, func(n *news, o client.Object) {
		m, _ := n.moment.(suiteMoment)
		m.suite, _ = o.(*v1alpha1.LoadTestSuite)
		m.now = time.Now()
		n.moment = m
	})
}

// suiteTests watches the suite's tests: which are under way, and which have ended since. Without the right to list tests there are only the suite's counts.
func (f *follower) suiteTests(send func(change)) *objectWatch {
	seen := &lastTests{tests: map[string]*v1alpha1.LoadTest{}, ended: map[types.UID]bool{}}
	told := func(words []string) {
		tests := sortTests(seen.tests)
		send(func(n *news) {
			m, _ := n.moment.(suiteMoment)
			m.tests, m.now = tests, time.Now()
			n.moment, n.told = m, words
		})
	}
	return &objectWatch{
		source: f.cluster.client, at: client.ObjectKey{Namespace: f.at.Namespace}, list: &v1alpha1.LoadTestList{}, patience: f.patience,
		chosen: client.MatchingLabels{v1alpha1.LabelSuiteUID: string(f.uid)},
		all:    func(objects []client.Object) { told(seen.all(objects)) },
		seen:   func(o client.Object) { told(seen.one(o)) },
		lost:   func(o client.Object) { seen.lost(o); told(nil) },
	}
}

// lastTests are a suite's tests as they were read last.
type lastTests struct {
	tests  map[string]*v1alpha1.LoadTest
	ended  map[types.UID]bool // those whose end was reported
	looked bool
}

// all takes all tests, and returns a message for each that has ended since the last time; the first time there is none.
func (s *lastTests) all(objects []client.Object) (told []string) {
	clear(s.tests)
	for _, o := range objects {
		told = append(told, s.one(o)...)
	}
	if !s.looked {
		s.looked, told = true, nil
	}
	return told
}

// one takes one test, and returns a message if it has ended since the last time.
func (s *lastTests) one(o client.Object) (told []string) {
	test, is := o.(*v1alpha1.LoadTest)
	if !is {
		return nil
	}
	s.tests[test.Name] = test
	if endOf(test) == nil || s.ended[test.UID] {
		return nil
	}
	s.ended[test.UID] = true
	return []string{test.Name + ": " + testMoment{test: test}.sentence()}
}

func (s *lastTests) lost(o client.Object) { delete(s.tests, o.GetName()) }
