package kubectl

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func (f *follower) watchSuite(send func(change)) *objectWatch {
	return f.watch(send, &v1alpha1.LoadTestSuiteList{}, func(u *update, o client.Object) {
		m, _ := u.moment.(suiteMoment)
		m.suite, _ = o.(*v1alpha1.LoadTestSuite)
		m.instant = time.Now()
		u.moment = m
	})
}

// watchSuiteTests watches the suite's tests, so that the update says which are under way, and which have ended since. A
// person without the right to list tests sees the suite's counts alone.
func (f *follower) watchSuiteTests(send func(change)) *objectWatch {
	watched := &seenTests{start: time.Now(), tests: map[string]*v1alpha1.LoadTest{}, reported: map[types.UID]bool{}}
	sendTests := func(messages []string) {
		tests := sortTests(watched.tests)
		send(func(u *update) {
			m, _ := u.moment.(suiteMoment)
			m.tests, m.instant = tests, time.Now()
			u.moment, u.messages = m, messages
		})
	}
	return &objectWatch{
		source: f.cluster.client, key: client.ObjectKey{Namespace: f.key.Namespace}, list: &v1alpha1.LoadTestList{},
		patience:  f.patience,
		selector:  client.MatchingLabels{v1alpha1.LabelSuiteUID: string(f.uid)},
		onList:    func(objects []client.Object) { sendTests(watched.replace(objects)) },
		onObject:  func(o client.Object) { sendTests(watched.update(o)) },
		onDeleted: func(o client.Object) { delete(watched.tests, o.GetName()); sendTests(nil) },
	}
}

// seenTests are a suite's tests as the watch read them last.
type seenTests struct {
	start    time.Time // of the watch
	tests    map[string]*v1alpha1.LoadTest
	reported map[types.UID]bool // tests whose end was reported
	listed   bool
}

// replace takes the list of all tests. It returns a message for each that has ended since the last list, or since the
// watch began. The first list may come after the suite's status was shown, so a test may have ended in between.
func (s *seenTests) replace(objects []client.Object) (messages []string) {
	clear(s.tests)
	for _, o := range objects {
		messages = append(messages, s.update(o)...)
	}
	s.listed = true
	return messages
}

// update takes one test, and returns a message if it has ended since the last time.
func (s *seenTests) update(o client.Object) (messages []string) {
	test, ok := o.(*v1alpha1.LoadTest)
	if !ok {
		return nil
	}
	s.tests[test.Name] = test
	if endOf(test) == nil || s.reported[test.UID] {
		return nil
	}
	s.reported[test.UID] = true
	if !s.listed && s.endedBefore(test) {
		return nil
	}
	return []string{test.Name + ": " + testMoment{test: test}.sentence()}
}

// endedBefore reports whether a test ended before the watch began. The API has whole seconds.
func (s *seenTests) endedBefore(test *v1alpha1.LoadTest) bool {
	finished := test.Status.CompletionTime
	return finished == nil || finished.Add(time.Second).Before(s.start)
}
