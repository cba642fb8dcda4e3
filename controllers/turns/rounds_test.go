package turns

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// A namespace whose test was placed has had its turn, also when that test is gone: the next is another namespace's, though its tests are younger.
func TestNamespacesTakeTurns(t *testing.T) {
	l := newLineLab(t)
	line := l.line(true)
	at := func(pod string, age time.Duration) {
		l.pods[pod].CreationTimestamp = metav1.NewTime(l.now.Add(age))
	}
	of := func(name, namespace string) {
		l.change(name, func(test *v1alpha1.LoadTest) { test.Namespace = namespace })
	}
	for i, name := range []string{"first", "second", "third"} {
		l.add(name, i)
	}
	l.add("neighbour", 30)
	of("neighbour", "beside")
	l.place("first", 1, "rack-1")
	at("first-1-dut", time.Minute)
	at("first-1-generator-0", 2*time.Minute)
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
	if len(line.found.had) == 0 {
		t.Fatal("no turn is remembered")
	}
	for i := range 100 { // and what is remembered doesn't grow with the turns that were had
		name := fmt.Sprint("quick-", i)
		l.add(name, -1)
		l.place(name, 1, "rack-2")
		order()
		delete(l.tests, name)
		clear(l.pods)
		order()
	}
	if n := len(line.found.had); n > 4 {
		t.Errorf("%d turns are remembered of two namespaces", n)
	}
	clear(l.tests)
	l.now = l.now.Add(turnsRemembered + time.Hour)
	if order(); len(line.found.had) > 0 {
		t.Errorf("nobody is left, and remembered is %v", line.found.had)
	}
}
