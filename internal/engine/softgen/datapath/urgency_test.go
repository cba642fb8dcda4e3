package datapath

import "testing"

func TestUrgency(t *testing.T) {
	changes := func(u *urgency, busy float64, accounts int) (n int) {
		for range accounts {
			if u.judge(busy) {
				n++
			}
		}
		return n
	}
	t.Run("a thread with time to spare stays a real-time one", func(t *testing.T) {
		u := &urgency{}
		if n := changes(u, 0.5, 1000); n != 0 || u.ordinary {
			t.Errorf("%d changes, ordinary %v", n, u.ordinary)
		}
	})
	t.Run("a thread that needs its whole processor becomes ordinary soon, and stays ordinary", func(t *testing.T) {
		u := &urgency{}
		if n := changes(u, 1, highLoadAccounts); n != 1 || !u.ordinary {
			t.Errorf("%d changes, ordinary %v", n, u.ordinary)
		}
		if n := changes(u, 1, 1000); n != 0 {
			t.Errorf("%d changes more", n)
		}
	})
	t.Run("a busy moment changes nothing", func(t *testing.T) {
		u := &urgency{}
		for range 100 {
			if changes(u, 1, highLoadAccounts-1)+changes(u, 0.5, 1) != 0 {
				t.Fatal("its class changed")
			}
		}
	})
	t.Run("an ordinary thread becomes a real-time one after a second of low load", func(t *testing.T) {
		u := &urgency{ordinary: true}
		if n := changes(u, 0.3, lowLoadAccounts); n != 1 || u.ordinary {
			t.Errorf("%d changes, ordinary %v", n, u.ordinary)
		}
	})
	t.Run("a thread between the two bounds keeps its class", func(t *testing.T) {
		for _, ordinary := range []bool{true, false} {
			u := &urgency{ordinary: ordinary}
			if n := changes(u, (highLoad+lowLoad)/2, 1000); n != 0 {
				t.Errorf("%d changes", n)
			}
		}
	})
}

// TestThreadsOfOneProcessorAreCounted: two threads of half a processor each leave nothing of it.
func TestThreadsOfOneProcessorAreCounted(t *testing.T) {
	counts := threadCounts{count: map[int]int{}}
	if n := counts.sharing(1); n != 1 {
		t.Errorf("%d threads share a processor that none is bound to", n)
	}
	first, second := counts.add(1), counts.add(1)
	if n, other := counts.sharing(1), counts.sharing(0); n != 2 || other != 1 {
		t.Errorf("%d threads share processor 1, and %d processor 0", n, other)
	}
	first()
	second()
	if n := counts.sharing(1); n != 1 {
		t.Errorf("%d threads share a processor that both left", n)
	}
}
